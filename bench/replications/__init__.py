"""Published experiments on ensembles, run again: see `bench.replications.run`."""
