"""Bagging, pasting, random subspaces and random patches, of any members.

A drop-in for scikit-learn's classes of the same names. Every member is fitted to its own draw of
the rows and columns, and their mean or vote is less variable than any of them. weald's trees are
grown all at once by the engine; any other estimator is fitted as it is.
"""

from weald.bagging.bagging import BaggingClassifier, BaggingRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]
