"""Members of other libraries, whose `fit` need not return anything."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NaiveEnsembleClassifier,
    NaiveEnsembleRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
)


class SilentLine(LinearRegression):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class SilentBayes(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class UnweighedLine(LinearRegression):
    def fit(self, X, y):
        super().fit(X, y)


def models(line, bayes):
    """Every place where an estimator of somebody else is fitted."""
    few = {"n_estimators": 4, "random_state": 0}
    return {
        "bag of classifiers": BaggingClassifier(bayes, **few),
        "bag of classifiers, pasted": BaggingClassifier(bayes, bootstrap=False, **few),
        "bag of regressors": BaggingRegressor(line, **few),
        "naive classifiers": NaiveEnsembleClassifier(bayes, **few),
        "naive regressors": NaiveEnsembleRegressor(line, **few),
        "AdaBoost": AdaBoostClassifier(bayes, **few),
        "AdaBoost by shares": AdaBoostClassifier(bayes, algorithm="real", **few),
        "AdaBoost, drawn": AdaBoostClassifier(bayes, resample=True, **few),
        "LogitBoost": AdaBoostClassifier(line, algorithm="logit", **few),
        "AdaBoost.R2": AdaBoostRegressor(line, **few),
        "AdaBoost.R2, weighted": AdaBoostRegressor(line, resample=False, **few),
        "stagewise classes": StagewiseClassifier(bayes, **few),
        "stagewise numbers": StagewiseRegressor(line, **few),
        "boosted lines": GradientBoostingRegressor(estimator=line, **few),
        "boosted lines for classes": GradientBoostingClassifier(estimator=line, **few),
        "start of numbers": GradientBoostingRegressor(init=line, **few),
        "start of classes": GradientBoostingClassifier(init=bayes, **few),
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", list(models(SilentLine(), SilentBayes())))
def test_the_estimator_is_kept_and_not_what_fit_returns(name, weighted):
    silent = models(SilentLine(), SilentBayes())[name]
    usual = models(LinearRegression(), GaussianNB())[name]
    make = make_classification if hasattr(usual, "predict_proba") else make_regression
    X, y = make(60, 4, random_state=0)
    weights = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    for model in (silent, usual):
        model.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(silent.predict(X), usual.predict(X))
    np.testing.assert_array_equal(clone(silent).fit(X, y, weights).predict(X), usual.predict(X))


@pytest.mark.parametrize("kind", [BaggingRegressor, AdaBoostRegressor, StagewiseRegressor])
def test_members_that_take_no_weights(kind):
    X, y = make_regression(60, 4, random_state=0)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    model = kind(UnweighedLine(), n_estimators=3, random_state=0).fit(X, y, weights)
    assert np.isfinite(model.predict(X)).all()
