"""Members of ensembles, as everybody asks them."""
