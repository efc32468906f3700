"""Conditional mixtures: which member counts how much depends on where a row lies."""

from weald.conditional.classifier import ConditionalClassifier
from weald.conditional.regressor import ConditionalRegressor

__all__ = ["ConditionalClassifier", "ConditionalRegressor"]
