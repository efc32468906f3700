"""The members of ensembles: trees of the engine, or estimators of any kind."""
