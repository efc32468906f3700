"""Parameters, warnings, and the rule of early stopping."""
