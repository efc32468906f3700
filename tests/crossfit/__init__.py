"""Candidates on folds: folds, risks, weights and fits."""
