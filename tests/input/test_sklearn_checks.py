"""scikit-learn's own checks of estimators, on the door alone."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import estimator_checks

from weald.input.labels import check_target, check_weights, encode_labels
from weald.input.table import check_X_fit, check_X_predict


class Probe(BaseEstimator):
    """A tree of scikit-learn behind our door, so that only the door is on trial."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags

    def read(self, X, sample_weight):
        table = check_X_fit(self, X)
        self.categories_ = list(table.categories)
        return table.X, check_weights(sample_weight, len(table.X))


class ProbeClassifier(ClassifierMixin, Probe):
    def fit(self, X, y, sample_weight=None):
        X, weights = self.read(X, sample_weight)
        labels = encode_labels(y, len(X))
        self.classes_ = labels.classes if labels.multi_output else labels.classes[0]
        codes = labels.codes if labels.multi_output else labels.codes[:, 0]
        self.tree_ = DecisionTreeClassifier(random_state=0).fit(X, codes, weights)
        return self

    def predict(self, X):
        X = check_X_predict(self, X)
        codes = self.tree_.predict(X)
        if codes.ndim == 1:
            return self.classes_[codes]
        return np.stack([c[k] for c, k in zip(self.classes_, codes.T, strict=True)], axis=1)

    def predict_proba(self, X):
        X = check_X_predict(self, X)
        return self.tree_.predict_proba(X)


class ProbeRegressor(RegressorMixin, Probe):
    def fit(self, X, y, sample_weight=None):
        X, weights = self.read(X, sample_weight)
        self.tree_ = DecisionTreeRegressor(random_state=0).fit(X, check_target(y, len(X)), weights)
        return self

    def predict(self, X):
        X = check_X_predict(self, X)
        return self.tree_.predict(X)


CHECKS = [
    (estimator, check)
    for probe in (ProbeClassifier(), ProbeRegressor())
    for estimator, check in estimator_checks.estimator_checks_generator(probe)
    if "array_api" not in str(check)  # runs only under a setting of the environment
]
NAMES = [f"{type(e).__name__}-{getattr(c, 'func', c).__name__}" for e, c in CHECKS]


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=NAMES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_the_door_satisfies_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [ProbeClassifier(), ProbeRegressor()])
def test_names_of_columns_are_handled_as_scikit_learn_does(estimator):
    estimator_checks.check_dataframe_column_names_consistency(type(estimator).__name__, estimator)
