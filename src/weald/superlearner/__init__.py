"""Super learner: the mixture of candidates with the least cross-validated risk."""

from weald.superlearner.classifier import SuperLearnerClassifier
from weald.superlearner.regressor import SuperLearnerRegressor
from weald.superlearner.risk_table import RiskTable

__all__ = ["RiskTable", "SuperLearnerClassifier", "SuperLearnerRegressor"]
