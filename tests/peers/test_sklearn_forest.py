"""scikit-learn's forests: the same face, the same quality, and its own checks of an estimator."""

import inspect

import numpy as np
import pytest
import sklearn.ensemble as peers
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_friedman1,
)
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import train_test_split

import weald
from gate import some
from peers.contract import contract

pytestmark = pytest.mark.peers

CLASSIFIERS = ("RandomForestClassifier", "ExtraTreesClassifier")
REGRESSORS = ("RandomForestRegressor", "ExtraTreesRegressor")
ESTIMATORS = CLASSIFIERS + REGRESSORS


def both(name, *args, **settings):
    return [getattr(home, name)(*args, **settings) for home in (weald, peers)]


# --- the same face ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_and_defaults(name):
    ours = inspect.signature(getattr(weald, name)).parameters
    theirs = inspect.signature(getattr(peers, name)).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for parameter, expected in theirs.items():
        assert ours[parameter].default == expected.default
        assert ours[parameter].kind == expected.kind
    extra = {
        *("max_bins", "categorical_features", "n_iter_no_change", "tol", "keep_partial"),
        "callbacks",
    }
    extra |= {"keep_targets"} if name in REGRESSORS else set()
    assert set(ours) - set(theirs) == extra


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_and_methods(name):
    X, y = load_wine(return_X_y=True)
    ours, theirs = (
        forest.fit(X, y)
        for forest in both(name, 20, bootstrap=True, oob_score=True, random_state=0)
    )
    public = {a for a in dir(type(theirs)) if not a.startswith("_")}
    fitted = {a for a in theirs.__dict__ if a.endswith("_")}
    assert public | fitted <= set(dir(ours)) | {"estimator", "estimator_params", "base_estimator_"}
    for attribute in ("n_features_in_", "n_outputs_"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    for attribute in ("feature_importances_", "oob_decision_function_", "oob_prediction_"):
        if hasattr(theirs, attribute):
            assert getattr(ours, attribute).shape == getattr(theirs, attribute).shape
    assert len(ours.estimators_) == len(theirs.estimators_)
    assert len(ours.estimators_samples_[0]) == len(theirs.estimators_samples_[0])
    indicators = [forest.decision_path(X)[0].sum() for forest in (ours, theirs)]
    assert 0.5 < indicators[0] / indicators[1] < 2
    if name in CLASSIFIERS:
        assert ours.n_classes_ == theirs.n_classes_
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_several_labels_have_the_same_shapes(name):
    X, y = load_wine(return_X_y=True)
    Y = np.c_[y == 0, y == 1].astype(int)
    ours, theirs = (
        forest.fit(X, Y)
        for forest in both(name, 40, bootstrap=True, oob_score=True, random_state=0)
    )
    assert ours.oob_decision_function_.shape == theirs.oob_decision_function_.shape
    assert [p.shape for p in ours.predict_proba(X)] == [p.shape for p in theirs.predict_proba(X)]
    assert ours.predict(X).shape == theirs.predict(X).shape
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.06


@pytest.mark.parametrize("max_samples", [None, 60, 0.4, 1.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_draws_have_the_same_size(max_samples, weighted):
    X, y = load_wine(return_X_y=True)
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    sizes = [
        [len(rows) for rows in forest.fit(X, y, w).estimators_samples_]
        for forest in both("RandomForestClassifier", 3, max_samples=max_samples)
    ]
    assert sizes[0] == sizes[1]


# --- the same quality ---------------------------------------------------------------------------


SETS = {
    "breast cancer": (load_breast_cancer, {}),
    "digits": (load_digits, {}),
    "diabetes": (load_diabetes, {}),
    "friedman": (make_friedman1, {"n_samples": 600, "noise": 1.0, "random_state": 0}),
}


def losses(forest, X, y, seeds=range(4)):
    """Held-out losses over several splits: log loss, or 1 - R2."""
    found = []
    for seed in seeds:
        train, test = train_test_split(np.arange(len(y)), test_size=0.4, random_state=seed)
        forest.set_params(random_state=seed).fit(X[train], y[train])
        if hasattr(forest, "predict_proba"):
            shares = np.clip(forest.predict_proba(X[test]), 1e-3, None)
            found.append(log_loss(y[test], shares / shares.sum(axis=1, keepdims=True)))
        else:
            found.append(1 - r2_score(y[test], forest.predict(X[test])))
    return np.array(found)


@pytest.mark.parametrize("data", some(SETS))
@pytest.mark.parametrize("method", ["RandomForest", "ExtraTrees"])
def test_held_out_losses(method, data):
    load, arguments = SETS[data]
    X, y = load(return_X_y=True) if not arguments else load(**arguments)
    name = method + ("Classifier" if data in ("breast cancer", "digits") else "Regressor")
    ours, theirs = (losses(forest, X, y) for forest in both(name, 60, n_jobs=2))
    difference = ours - theirs
    noise = difference.std(ddof=1) / np.sqrt(len(difference)) + 0.02 * theirs.mean()
    assert difference.mean() < 2 * noise


def test_weight_is_repetition_in_distribution():
    """Rows are drawn at random, so not the forests but their means over many trees agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    times = rng.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), times)
    for name, y in (
        ("RandomForestClassifier", (X[:, 0] + rng.normal(size=60) > 0).astype(int)),
        ("RandomForestRegressor", X[:, 0] + rng.normal(size=60)),
    ):
        kind = getattr(weald, name)
        settings = {"max_samples": 50, "max_depth": 3, "max_features": 1.0}
        weighted = kind(1500, random_state=0, **settings).fit(X, y, sample_weight=times)
        repeated = kind(1500, random_state=1, **settings).fit(X[rows], y[rows])
        a, b = (forest.member_predictions(X) for forest in (weighted, repeated))
        error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 1500)
        z = (a.mean(axis=0) - b.mean(axis=0)) / np.maximum(error, 1e-9)
        assert np.abs(z).max() < 5
        assert np.sqrt((z**2).mean()) < 2


# --- scikit-learn's own checks ------------------------------------------------------------------


def forests(settings, names=ESTIMATORS):
    return [getattr(weald, name)(n_estimators=5, **settings) for name in names]


EXACT = [
    *forests({}, ("ExtraTreesClassifier", "ExtraTreesRegressor")),
    *forests(
        {"bootstrap": False, "max_depth": 3}, ("RandomForestClassifier", "RandomForestRegressor")
    ),
    *forests({"max_bins": None}, ("ExtraTreesClassifier", "ExtraTreesRegressor")),
    *forests({"class_weight": "balanced"}, ("ExtraTreesClassifier",)),
    *forests({"criterion": "absolute_error"}, ("ExtraTreesRegressor",)),
    *forests({"max_leaf_nodes": 9, "n_jobs": 2}, ("ExtraTreesClassifier",)),
]
DRAWN = [
    *forests({}, ("RandomForestClassifier", "RandomForestRegressor")),
    *forests({"bootstrap": True, "oob_score": True}),
    *forests({"bootstrap": "balanced"}, CLASSIFIERS[:1]),
    *forests({"class_weight": "balanced_subsample", "max_bins": None}, CLASSIFIERS[:1]),
    *forests({"n_iter_no_change": 3, "max_samples": 0.9}, ("RandomForestRegressor",)),
    *forests({"keep_targets": True, "ccp_alpha": 0.01}, ("RandomForestRegressor",)),
    *forests({"keep_partial": True, "warm_start": True}, ("RandomForestClassifier",)),
]


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.filterwarnings("ignore:max_samples=0.9")
@pytest.mark.parametrize(("estimator", "check"), contract(EXACT, DRAWN))
def test_estimator_contract(estimator, check):
    check(estimator)
