"""Candidates fitted on folds: what each says of rows it has not seen, and what follows from it."""
