"""Random forests and extremely randomised trees.

A drop-in for the forests of :mod:`sklearn.ensemble`: the same classes, parameters, attributes and
methods, on weald's engine, with native categories and missing values, the out-of-bag score after
every tree, early stopping by it, draws by group or by class, and prediction intervals besides.
"""

from weald.forest.classifier import ExtraTreesClassifier, RandomForestClassifier
from weald.forest.regressor import ExtraTreesRegressor, RandomForestRegressor

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
