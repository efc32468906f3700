"""What bagging refuses."""

import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as PeerTree

from bagging.cases import WINE
from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    ExtraTreeClassifier,
)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"n_estimators": 2.5}, "^n_estimators must"),
        ({"max_samples": 0}, "^max_samples must"),
        ({"max_samples": -0.5}, "^max_samples must"),
        ({"max_samples": 10_000, "bootstrap": False}, "without replacement"),
        ({"max_features": 0}, "^max_features must"),
        ({"max_features": 99}, "^max_features=99 is more than the 13 columns of X"),
        ({"max_features": "sqrt"}, "^max_features must"),
        ({"bootstrap": "yes"}, "bootstrap must be True, False or an object"),
        ({"bootstrap": "balanced"}, "bootstrap must be True or False .'balanced' is for forests"),
        ({"bootstrap_features": 1}, "bootstrap_features must be True or False"),
        ({"oob_score": "yes"}, "oob_score must be True, False or a function metric"),
        ({"oob_score": True, "bootstrap": False}, "Out of bag"),
        ({"weighting": "oob", "bootstrap": False}, "Out of bag"),
        ({"weighting": "best"}, "weighting must be 'uniform', 'oob' or 3 numbers"),
        ({"weighting": None}, "^weighting must"),
        ({"weighting": [1, 2]}, "^weighting must"),
        ({"weighting": [1, 2, -1]}, "^weighting must"),
        ({"weighting": [0, 0, 0]}, "no weight"),
        ({"n_iter_no_change": 0}, "^n_iter_no_change must"),
        ({"tol": -1}, "^tol must"),
        ({"warm_start": 1}, "warm_start must be True or False"),
        ({"keep_partial": "no"}, "^keep_partial must"),
        ({"n_jobs": 0}, "^n_jobs must"),
        ({"n_jobs": 1.5}, "^n_jobs must"),
        ({"verbose": -1}, "^verbose must"),
        ({"random_state": "dice"}, "^random_state must"),
        ({"estimator": "tree"}, "estimator must be"),
        ({"estimator": GaussianNB}, "estimator must be"),
    ],
    ids=str,
)
@pytest.mark.parametrize("foreign", [False, True])
def test_bad_parameters(settings, message, foreign):
    X, y = WINE
    settings = {"n_estimators": 3, "estimator": GaussianNB() if foreign else None} | settings
    with pytest.raises(ValueError, match=message):
        BaggingClassifier(**settings).fit(X, y)


def test_other_bad_input():
    X, y = WINE
    with pytest.raises(ValueError, match="is a regressor: give a classifier"):
        BaggingClassifier(Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="is a classifier: give a regressor"):
        BaggingRegressor(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match="voting must be one of 'soft', 'hard'"):
        BaggingClassifier(voting="loud").fit(X, y)
    with pytest.raises(ValueError, match="groups are drawn as a whole"):
        BaggingClassifier(bootstrap=False).fit(X, y, groups=y)
    for member in (None, GaussianNB()):
        bag = BaggingClassifier(member, 3)
        with pytest.raises(ValueError, match="y has 5 rows but X has 178"):
            bag.fit(X, y[:5])
        with pytest.raises(ValueError, match="sample_weight must be"):
            bag.fit(X, y, sample_weight=[1, 2])
        with pytest.raises(ValueError, match="groups must have shape"):
            bag.fit(X, y, groups=[1, 2])
        with pytest.raises(ValueError, match="2D array"):
            bag.fit(X[:, 0], y)
        with pytest.raises(ValueError, match="0 sample"):
            bag.fit(X[:0], y[:0])
        bag.fit(X, y)
        with pytest.raises(ValueError, match="is expecting 13 features"):
            bag.predict(X[:, :2])


@pytest.mark.parametrize(
    "change",
    [
        {"max_samples": 0.4},
        {"estimator": GaussianNB()},
        {"estimator": ExtraTreeClassifier(max_bins=255)},
        {"estimator": DecisionTreeClassifier(criterion="entropy")},
        {"max_features": 3},
        "columns",
        "classes",
    ],
    ids=str,
)
def test_warm_start_needs_the_same_members(change):
    X, y = WINE
    bag = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    bag.set_params(n_estimators=5, **(change if isinstance(change, dict) else {}))
    X, y = (X[:, 1:] if change == "columns" else X), (y > 0 if change == "classes" else y)
    with pytest.raises(ValueError, match="fit a new ensemble"):
        bag.fit(X, y)


def test_a_warm_start_names_what_changed():
    X, y = WINE
    bag = BaggingClassifier(DecisionTreeClassifier(), 3, warm_start=True).fit(X, y)
    bag.set_params(n_estimators=6, estimator__criterion="entropy")
    with pytest.raises(ValueError, match="but estimator__criterion changed"):
        bag.fit(X, y)
    bag = BaggingClassifier(GaussianNB(), 3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="but estimator changed"):
        bag.set_params(n_estimators=6, estimator=PeerTree()).fit(X, y)
    bag.set_params(n_estimators=6, estimator=GaussianNB(var_smoothing=1e-8)).fit(X, y)
    assert bag.n_estimators_ == 6


def test_patience_without_draws_is_of_no_use():
    X, y = WINE
    with pytest.warns(UserWarning, match="no row is left out"):
        bag = BaggingClassifier(bootstrap=False, max_features=2, n_iter_no_change=2).fit(X, y)
    assert bag.n_estimators_ == 10
