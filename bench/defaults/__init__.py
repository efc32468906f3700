"""How good the models are that boosting libraries fit when nobody tunes them."""
