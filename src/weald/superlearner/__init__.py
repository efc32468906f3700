"""Super learner: the mixture of candidates with the least cross-validated risk."""

from weald.crossfit.risk_table import RiskTable
from weald.superlearner.classifier import SuperLearnerClassifier
from weald.superlearner.regressor import SuperLearnerRegressor

__all__ = ["RiskTable", "SuperLearnerClassifier", "SuperLearnerRegressor"]
