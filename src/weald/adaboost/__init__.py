"""AdaBoost: members made one after another, each on what those before it got wrong.

A drop-in for scikit-learn's classes of the same names, with the confidence-rated and robust kinds
beside the discrete one, and weald's trees on a fast path: the table is binned once, and a round of
stumps is one pass over it.
"""

from weald.adaboost.classifier import AdaBoostClassifier
from weald.adaboost.regressor import AdaBoostRegressor

__all__ = ["AdaBoostClassifier", "AdaBoostRegressor"]
