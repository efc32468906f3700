"""scikit-learn's AdaBoost: the same face, the same numbers, and its own checks of an estimator."""

import inspect

import numpy as np
import pytest
import sklearn.ensemble as peers
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_hastie_10_2
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as PeerTree

from peers.contract import contract
from weald import AdaBoostClassifier, DecisionTreeClassifier

pytestmark = pytest.mark.peers

ALL = ("samme", "confidence", "real", "gentle", "logit")


# --- the same face ------------------------------------------------------------------------------


def test_parameters_and_defaults():
    ours = inspect.signature(AdaBoostClassifier).parameters
    theirs = dict(inspect.signature(peers.AdaBoostClassifier).parameters)
    theirs.pop("algorithm", None)  # on its way out there
    assert list(ours)[: len(theirs)] == list(theirs)
    for parameter, expected in theirs.items():
        assert ours[parameter].default == expected.default
        assert ours[parameter].kind == expected.kind


def test_fitted_attributes_and_methods():
    X, y = load_iris(return_X_y=True)
    ours, theirs = (
        home(n_estimators=10, random_state=0).fit(X, y)
        for home in (AdaBoostClassifier, peers.AdaBoostClassifier)
    )
    public = {a for a in dir(type(theirs)) if not a.startswith("_")}
    fitted = {a for a in theirs.__dict__ if a.endswith("_") and not a.startswith("_")}
    beyond = {"estimator_params", "get_metadata_routing"}
    assert public | fitted <= set(dir(ours)) | beyond
    for name in ("estimator_weights_", "estimator_errors_", "feature_importances_"):
        assert getattr(ours, name).shape == getattr(theirs, name).shape
    assert len(ours) == len(theirs)
    assert [type(m) for m in ours] == [DecisionTreeClassifier] * 10
    for name in ("decision_function", "predict_proba", "predict_log_proba", "predict"):
        assert getattr(ours, name)(X).shape == getattr(theirs, name)(X).shape
    stages = [sum(1 for _ in model.staged_score(X, y)) for model in (ours, theirs)]
    assert stages == [10, 10]


# --- the same numbers ---------------------------------------------------------------------------


def no_ties(seed, k, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)).argsort().argsort() * k // n
    return X, y, rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_our_trees_against_theirs(depth, k, rate):
    X, y, w = no_ties(k, k)
    ours = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth), n_estimators=15, learning_rate=rate
    ).fit(X, y, w)
    theirs = peers.AdaBoostClassifier(
        PeerTree(max_depth=depth), n_estimators=15, learning_rate=rate, random_state=0
    ).fit(X, y, w)
    assert_same_numbers(ours, theirs, X, y)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("member", [PeerTree(max_depth=2), GaussianNB(), LogisticRegression()])
def test_their_members_in_both(member, k):
    X, y, w = no_ties(10 + k, k)
    settings = {"n_estimators": 8, "random_state": 0}
    ours = AdaBoostClassifier(member, **settings).fit(X, y, w)
    theirs = peers.AdaBoostClassifier(member, **settings).fit(X, y, w)
    assert_same_numbers(ours, theirs, X, y)


def assert_same_numbers(ours, theirs, X, y):
    kept = ours.n_estimators_  # scikit-learn keeps a last member that is worse than chance
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:kept], rtol=1e-6)
    weights = theirs.estimator_weights_[:kept]
    np.testing.assert_allclose(ours.estimator_weights_, weights, rtol=1e-6)
    if kept < len(theirs):
        return
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.999
    np.testing.assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)))
    double = 2 if ours.n_classes_ == 2 else 1
    mean = double * ours.decision_function(X) / ours.alphas_.sum()
    np.testing.assert_allclose(mean, theirs.decision_function(X), atol=1e-6)
    # In deeper trees columns may tie, between which scikit-learn draws.
    if getattr(ours[0], "max_depth", None) == 1:
        found, expected = ours.feature_importances_, theirs.feature_importances_
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits, load_iris])
def test_held_out_accuracy(load):
    X, y = load(return_X_y=True)
    halves = [np.random.default_rng(seed).permutation(len(y)) for seed in range(5)]
    scores = [
        np.mean([model.fit(X[h[::2]], y[h[::2]]).score(X[h[1::2]], y[h[1::2]]) for h in halves])
        for model in (
            AdaBoostClassifier(DecisionTreeClassifier(max_depth=3, max_bins=255)),
            peers.AdaBoostClassifier(PeerTree(max_depth=3), random_state=0),
        )
    ]
    assert scores[0] > scores[1] - 0.02


# --- ten Gaussian columns, and whether they lie outside a sphere ---------------------------------


def hastie(seed):
    X, y = make_hastie_10_2(12000, random_state=seed)
    return X[:2000], y[:2000], X[2000:], y[2000:]


def errors(algorithm, n_estimators, seeds):
    found = []
    for seed in seeds:
        X, y, X_new, y_new = hastie(seed)
        model = AdaBoostClassifier(n_estimators=n_estimators, algorithm=algorithm, n_jobs=1)
        found.append(1 - model.fit(X, y).score(X_new, y_new))
    return np.mean(found)


def test_one_stump_on_hastie_is_hardly_better_than_chance():
    assert errors("samme", 1, range(5)) == pytest.approx(0.458, abs=0.01)


@pytest.mark.slow
def test_400_stumps_on_hastie():
    assert errors("real", 400, range(3)) == pytest.approx(0.06, abs=0.01)
    theirs = []
    for seed in range(2):
        X, y, X_new, y_new = hastie(seed)
        peer = peers.AdaBoostClassifier(n_estimators=400, random_state=0).fit(X, y)
        theirs.append(1 - peer.score(X_new, y_new))
    assert errors("samme", 400, range(2)) == pytest.approx(np.mean(theirs), abs=0.006)


# --- scikit-learn's own checks ------------------------------------------------------------------


EXACT = [
    *(AdaBoostClassifier(n_estimators=5, algorithm=algorithm) for algorithm in ALL),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, when_worse="skip"),
    AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2), n_estimators=5, algorithm="real", keep_weights=True
    ),
    AdaBoostClassifier(LogisticRegression(), n_estimators=3),
    AdaBoostClassifier(PeerTree(max_depth=1), n_estimators=5, algorithm="confidence"),
]
DRAWN = [
    *(AdaBoostClassifier(n_estimators=5, algorithm=a, resample=True) for a in ALL),
    AdaBoostClassifier(n_estimators=5, resample=True, when_worse="redraw", min_edge=0.01),
    AdaBoostClassifier(n_estimators=5, n_iter_no_change=2),
]


@pytest.mark.filterwarnings("ignore:No member of")
@pytest.mark.parametrize(("estimator", "check"), contract(EXACT, DRAWN))
def test_estimator_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("algorithm", ["samme", "real"])
def test_weight_is_repetition_in_distribution(algorithm):
    """Rows are drawn at random, so not the models but their means over many seeds agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    times = rng.integers(1, 4, 60)
    rows = np.repeat(np.arange(60), times)
    new = rng.normal(size=(30, 3))
    settings = {"n_estimators": 3, "algorithm": algorithm, "resample": True, "when_worse": "skip"}
    absent = rng.integers(0, 60, 20)  # of weight 0
    given_rows = np.r_[np.arange(60), absent]
    weights = np.r_[times.astype(float), np.zeros(20)]
    one, two = (
        np.array(
            [
                AdaBoostClassifier(random_state=seed, **settings)
                .fit(X[these], y[these], given)
                .predict_proba(new)[:, 1]
                for seed in range(400)
            ]
        )
        for these, given in ((given_rows, weights), (rows, None))
    )
    error = np.sqrt((one.var(axis=0) + two.var(axis=0)) / 400)
    z = (one.mean(axis=0) - two.mean(axis=0)) / np.maximum(error, 1e-9)
    assert np.abs(z).max() < 5
    assert np.sqrt((z**2).mean()) < 2
