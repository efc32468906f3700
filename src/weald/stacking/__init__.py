"""Voting and stacking: members of any kinds, combined by a vote or by a model of what they say."""

from weald.stacking.stacking import StackingClassifier, StackingRegressor
from weald.stacking.voting import VotingClassifier, VotingRegressor

__all__ = ["StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor"]
