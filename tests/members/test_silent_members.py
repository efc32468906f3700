"""Members of other libraries, whose `fit` need not return anything."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.feature_selection import SelectKBest
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
from weald.crossfit.screening import Screened
from weald.members.foreign import spread
from weald.theory import bias_variance, rademacher, weak_learnability


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


THEORY = {
    "bias and variance": lambda line, bayes, X, y: (
        bias_variance(line, X, y, n_repeats=3, random_state=0).values
    ),
    "weak learning": lambda line, bayes, X, y: (
        weak_learnability(X, y, learner=bayes, max_rounds=3, random_state=0).upper
    ),
    "complexity of classifiers": lambda line, bayes, X, y: (
        rademacher(bayes, X, n_draws=3, random_state=0).value
    ),
    "complexity of regressors": lambda line, bayes, X, y: (
        rademacher(line, X, n_draws=3, random_state=0).value
    ),
}


@pytest.mark.parametrize("name", THEORY)
def test_the_theory_asks_the_estimator_and_not_what_fit_returns(name):
    X, y = make_classification(60, 4, random_state=0)
    silent = THEORY[name](SilentLine(), SilentBayes(), X, y)
    np.testing.assert_array_equal(silent, THEORY[name](LinearRegression(), GaussianNB(), X, y))


class SilentScreen(SelectKBest):
    def fit(self, X, y):
        super().fit(X, y)


def test_a_screen_is_asked_and_not_what_fit_returns():
    X, y = make_classification(60, 4, random_state=0)
    silent = Screened(GaussianNB(), SilentScreen(k=2)).fit(X, y)
    np.testing.assert_array_equal(
        silent.columns_, Screened(GaussianNB(), SelectKBest(k=2)).fit(X, y).columns_
    )


@pytest.mark.parametrize("labels", [None, np.array(["a", "b", "c", "d"])])
def test_columns_are_put_where_the_classes_are(labels):
    member = SimpleNamespace(classes_=np.array([1, 3] if labels is None else ["b", "d"]))
    shares = np.array([[0.25, 0.75], [1.0, 0.0]])
    wide = spread(shares, member, 4, -1.0, labels)
    np.testing.assert_array_equal(wide, [[-1, 0.25, -1, 0.75], [-1, 1, -1, 0]])
    assert spread(shares, member, 2, -1.0, labels) is shares


@pytest.mark.parametrize("kind", [BaggingRegressor, AdaBoostRegressor, StagewiseRegressor])
def test_members_that_take_no_weights(kind):
    X, y = make_regression(60, 4, random_state=0)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    model = kind(UnweighedLine(), n_estimators=3, random_state=0).fit(X, y, weights)
    assert np.isfinite(model.predict(X)).all()
