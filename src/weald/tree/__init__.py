"""Decision trees (CART) and extremely randomised trees.

A drop-in for :mod:`sklearn.tree`: the same classes, parameters, attributes and methods, on weald's
engine, with native categories and missing values, pruning chosen by cross-validation, a histogram
mode and a cost matrix besides.
"""

from weald.tree.classifier import DecisionTreeClassifier, ExtraTreeClassifier
from weald.tree.regressor import DecisionTreeRegressor, ExtraTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
]
