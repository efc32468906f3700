"""PAC-Bayes bounds of forests on real tables, beside the published ones."""
