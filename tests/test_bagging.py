"""Bagging: laws that hold for every member and draw, and what happens at the edges."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as PeerTree

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    combining,
)

WINE = load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)

DRAWS = {
    "bagging": {},
    "small bags": {"max_samples": 0.4},
    "pasting": {"bootstrap": False, "max_samples": 0.6},
    "subspaces": {"bootstrap": False, "max_features": 0.5},
    "patches": {"bootstrap": False, "max_samples": 0.5, "max_features": 0.5},
    "repeated columns": {"max_features": 0.7, "bootstrap_features": True},
}
MEMBERS = [
    (BaggingClassifier, None),
    (BaggingClassifier, ExtraTreeClassifier(max_depth=4)),
    (BaggingClassifier, PeerTree(max_features=2)),
    (BaggingClassifier, KNeighborsClassifier(3)),
    (BaggingRegressor, DecisionTreeRegressor(min_samples_leaf=3)),
    (BaggingRegressor, ExtraTreeRegressor()),
    (BaggingRegressor, Ridge()),
]
BOTH = [
    (BaggingClassifier, None),
    (BaggingClassifier, GaussianNB()),
    (BaggingRegressor, None),
    (BaggingRegressor, Ridge()),
]


def data_of(kind):
    return WINE if kind is BaggingClassifier else DIABETES


def say(bag, X):
    return bag.predict_proba(X) if hasattr(bag, "predict_proba") else bag.predict(X)


# --- laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(("kind", "member"), MEMBERS, ids=str)
def test_the_ensemble_is_the_mean_of_its_members(kind, member, draw):
    X, y = data_of(kind)
    bag = kind(member, 6, random_state=5, **DRAWS[draw]).fit(X, y)
    assert bag.n_estimators_ == len(bag.estimators_) == 6
    np.testing.assert_allclose(bag.member_predictions(X).mean(axis=0), say(bag, X), rtol=1e-12)
    for t, (one, columns) in enumerate(zip(bag.estimators_, bag.estimators_features_, strict=True)):
        np.testing.assert_allclose(say(one, X[:, columns]), bag.member_predictions(X)[t])


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(("kind", "member"), BOTH, ids=str)
def test_draws_are_what_they_are_called(kind, member, draw):
    X, y = data_of(kind)
    n, d = X.shape
    settings = DRAWS[draw]
    bag = kind(member, 20, random_state=5, **settings).fit(X, y)
    size = int(n * settings.get("max_samples", 1.0))
    assert (bag.in_bag_.sum(axis=1) == size).all()
    repeats = bag.in_bag_.max() > 1
    assert repeats == settings.get("bootstrap", True)
    for rows, counts in zip(bag.estimators_samples_, bag.in_bag_, strict=True):
        np.testing.assert_array_equal(np.bincount(rows, minlength=n), counts)
    columns = np.array(bag.estimators_features_)
    assert columns.shape == (20, int(d * settings.get("max_features", 1.0)))
    twice = any(len(set(c)) < len(c) for c in columns.tolist())
    assert twice == settings.get("bootstrap_features", False)
    if columns.shape[1] < d:
        assert len({tuple(c) for c in columns.tolist()}) > 10


@pytest.mark.parametrize(("kind", "member"), BOTH, ids=str)
def test_draws_do_not_depend_on_the_member(kind, member):
    X, y = data_of(kind)
    settings = {"n_estimators": 3, "max_samples": 0.5, "max_features": 0.5, "random_state": 7}
    here, there = kind(member, **settings).fit(X, y), kind(**settings).fit(X, y)
    np.testing.assert_array_equal(here.in_bag_, there.in_bag_)
    np.testing.assert_array_equal(here.estimators_features_, there.estimators_features_)


def test_a_row_is_left_out_with_probability_of_one_over_e():
    X, y = DIABETES
    bag = BaggingRegressor(n_estimators=200, random_state=0).fit(X, y)
    expected = (1 - 1 / len(X)) ** len(X)
    assert np.mean(bag.in_bag_ == 0) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (BaggingClassifier, DecisionTreeClassifier()),
        (BaggingClassifier, DecisionTreeClassifier(max_bins=16, class_weight="balanced")),
        (BaggingClassifier, DecisionTreeClassifier(ccp_alpha=0.02, criterion="entropy")),
        (BaggingClassifier, DecisionTreeClassifier(ccp_alpha="cv")),
        (BaggingClassifier, DecisionTreeClassifier(cost_matrix=[[0, 2, 1], [1, 0, 1], [5, 1, 0]])),
        (BaggingClassifier, KNeighborsClassifier(3)),
        (BaggingRegressor, DecisionTreeRegressor(min_samples_leaf=0.05)),
        (BaggingRegressor, DecisionTreeRegressor(min_impurity_decrease=20, max_leaf_nodes=9)),
        (BaggingRegressor, DecisionTreeRegressor(min_weight_fraction_leaf=0.05)),
        (BaggingRegressor, LinearRegression()),
    ],
    ids=str,
)
def test_one_member_without_draws_is_the_member(kind, member):
    X, y = data_of(kind)
    bag = kind(member, 1, bootstrap=False, random_state=0).fit(X, y)
    if hasattr(member, "random_state"):  # folds of pruning
        member = clone(member).set_params(random_state=bag.estimators_[0].random_state)
    np.testing.assert_array_equal(say(bag, X), say(clone(member).fit(X, y), X))


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (BaggingClassifier, DecisionTreeClassifier()),
        (BaggingClassifier, DecisionTreeClassifier(class_weight={0: 1, 1: 5, 2: 2}, max_depth=3)),
        (BaggingRegressor, DecisionTreeRegressor(min_samples_leaf=4)),
        (BaggingRegressor, DecisionTreeRegressor(criterion="absolute_error", max_depth=3)),
        (BaggingRegressor, DecisionTreeRegressor(min_weight_fraction_leaf=0.03)),
    ],
    ids=str,
)
@pytest.mark.parametrize("draw", ["bagging", "pasting", "patches"])
def test_a_member_is_the_tree_of_its_draw(kind, member, draw):
    """The engine's trees are those that one would fit to the drawn rows and columns one by one.

    From one column each: between equal columns the members of a bag choose at random.
    """
    X, y = data_of(kind)
    if draw != "patches":
        X = X[:, :1]
    bag = kind(member, 3, random_state=2, **DRAWS[draw]).set_params(max_features=1).fit(X, y)
    said = bag.member_predictions(X)
    for t, columns in enumerate(bag.estimators_features_):
        tree = clone(member).fit(X[:, columns], y, sample_weight=bag.in_bag_[t])
        np.testing.assert_allclose(said[t], say(tree, X[:, columns]), rtol=1e-12)
        assert bag.estimators_[t].get_n_leaves() == tree.get_n_leaves()


@pytest.mark.parametrize(("kind", "member"), MEMBERS, ids=str)
def test_the_same_bits_for_any_number_of_jobs_and_members(kind, member):
    X, y = data_of(kind)
    settings = {"max_samples": 0.7, "max_features": 0.8, "random_state": 1, "oob_score": True}
    bag = kind(member, 20, n_jobs=1, **settings).fit(X, y)
    with parallel_config(backend="threading"):  # processes take long to start
        threads = kind(member, 20, n_jobs=2, **settings).fit(X, y)
    np.testing.assert_array_equal(say(bag, X), say(threads, X))
    np.testing.assert_array_equal(bag.oob_score_curve_, threads.oob_score_curve_)
    fewer = kind(member, 14, **settings).fit(X, y)
    np.testing.assert_array_equal(bag.member_predictions(X)[:14], fewer.member_predictions(X))
    np.testing.assert_array_equal(bag.oob_error_curve_[:14], fewer.oob_error_curve_)
    grown = kind(member, 5, warm_start=True, **settings)
    with pytest.warns(UserWarning, match="OOB"):
        grown.fit(X, y)
    grown.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(say(bag, X), say(grown, X))
    np.testing.assert_array_equal(bag.oob_score_curve_, grown.oob_score_curve_)
    np.testing.assert_array_equal(bag.in_bag_, grown.in_bag_)


@pytest.mark.slow
def test_processes_fit_the_same_members():
    X, y = WINE
    frame = pd.DataFrame(X).add_prefix("x")
    for member in (GaussianNB(), make_pipeline(StandardScaler(), KNeighborsClassifier(2))):
        one = BaggingClassifier(member, 6, random_state=0, n_jobs=1).fit(frame, y)
        two = BaggingClassifier(member, 6, random_state=0, n_jobs=2).fit(frame, y)
        np.testing.assert_array_equal(one.predict_proba(frame), two.predict_proba(frame))


def test_ambiguity_identity():
    """Mean error of the members less the error of their mean is their mean spread, exactly."""
    X, y = DIABETES
    for member in (None, KNeighborsRegressor(2)):
        bag = BaggingRegressor(member, 15, random_state=0).fit(X[::2], y[::2])
        said, mean = bag.member_predictions(X), bag.predict(X)
        gain = np.mean((said - y) ** 2) - np.mean((mean - y) ** 2)
        assert gain == pytest.approx(np.mean((said - mean) ** 2))


# --- votes and weights --------------------------------------------------------------------------


@pytest.mark.parametrize("weighting", ["uniform", "oob", [1, 0, 2, 3, 0.5]], ids=str)
@pytest.mark.parametrize("member", [None, GaussianNB(), KNeighborsClassifier(2)], ids=str)
def test_votings(member, weighting):
    X, y = WINE
    settings = {"max_samples": 30, "max_features": 4, "random_state": 0, "weighting": weighting}
    soft = BaggingClassifier(member, 5, **settings).fit(X, y)
    hard = BaggingClassifier(member, 5, voting="hard", **settings).fit(X, y)
    said, weights = soft.member_predictions(X), soft.member_weights_
    assert weights.mean() == pytest.approx(1)
    np.testing.assert_allclose(soft.predict_proba(X), combining.soft_vote(said, weights))
    np.testing.assert_allclose(hard.predict_proba(X), combining.weighted_vote(said, weights))
    for bag in (soft, hard):
        shares = bag.predict_proba(X)
        np.testing.assert_array_equal(bag.predict(X), shares.argmax(axis=1))
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(bag.predict_log_proba(X), np.log(shares), atol=1e-9)


def test_members_without_shares_vote():
    class Plain(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.tree_ = PeerTree(max_depth=2).fit(X, y)
            self.classes_ = self.tree_.classes_
            return self

        def predict(self, X):
            return self.tree_.predict(X)

    X, y = WINE
    bag = BaggingClassifier(Plain(), 5, random_state=0, oob_score=False).fit(X, y)
    said = bag.member_predictions(X)
    assert set(np.unique(said)) == {0, 1}
    np.testing.assert_allclose(bag.predict_proba(X), said.mean(axis=0))
    assert not hasattr(bag, "decision_function")
    assert not hasattr(bag, "apply")


@pytest.mark.parametrize("member", [None, GaussianNB()], ids=str)
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_weights_from_out_of_bag_accuracy(member, voting):
    X, y = WINE
    bag = BaggingClassifier(
        member, 12, voting=voting, weighting="oob", max_features=2, random_state=0
    ).fit(X, y)
    out = bag.in_bag_ == 0
    right = bag.member_predictions(X).argmax(axis=2) == y
    accuracy = np.array([r[o].mean() for r, o in zip(right, out, strict=True)])
    weights = combining.weights_from_accuracy(accuracy, out.sum(axis=1), 3)
    np.testing.assert_allclose(bag.member_weights_, weights / weights.mean())
    values = bag.member_predictions(X)
    values = combining.votes(values) if voting == "hard" else values
    mass = (weights[:, None] * out)[:, :, None]
    expected = (values * mass).sum(axis=0) / mass.sum(axis=0)
    np.testing.assert_allclose(bag.oob_decision_function_, expected)
    assert bag.oob_score_ == np.mean(expected.argmax(axis=1) == y)


@pytest.mark.parametrize("member", [None, Ridge()], ids=str)
def test_weights_from_out_of_bag_errors(member):
    X, y = DIABETES
    for target in (y, np.c_[y, X[:, 2] * 1e-6]):
        bag = BaggingRegressor(member, 15, weighting="oob", max_features=3, random_state=0)
        bag.fit(X, target)
        out = bag.in_bag_ == 0
        squares = (bag.member_predictions(X) - target) ** 2 / target.var(axis=0)
        squares = squares if target.ndim == 1 else squares.mean(axis=2)
        error = np.array([s[o].mean() for s, o in zip(squares, out, strict=True)])
        weights = combining.weights_from_squared_error(error, out.sum(axis=1))
        np.testing.assert_allclose(bag.member_weights_, weights / weights.mean())
        assert bag.oob_prediction_.shape == target.shape


def test_weights_help_where_members_differ_in_quality():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=400)
    settings = {"n_estimators": 60, "max_features": 2, "random_state": 0}
    alike = BaggingRegressor(**settings).fit(X[:200], y[:200])
    weighed = BaggingRegressor(weighting="oob", **settings).fit(X[:200], y[:200])
    assert weighed.score(X[200:], y[200:]) > alike.score(X[200:], y[200:]) + 0.1


# --- out-of-bag ---------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", ["bagging", "pasting", "patches"])
@pytest.mark.parametrize(
    ("member", "voting"),
    [(None, "soft"), (None, "hard"), (GaussianNB(), "soft"), (KNeighborsClassifier(2), "hard")],
    ids=str,
)
def test_out_of_bag_classes(member, voting, draw):
    X, y = WINE
    y = np.array(["a", "b", "c"])[y]
    bag = BaggingClassifier(
        member, 25, voting=voting, oob_score=True, random_state=0, **DRAWS[draw]
    ).fit(X, y)
    values = bag.member_predictions(X)
    values = combining.votes(values) if voting == "hard" else values
    out = (bag.in_bag_ == 0)[:, :, None]
    for t in (3, 25):
        sums, count = (values * out)[:t].sum(axis=0), out[:t].sum(axis=0)
        scored = count[:, 0] > 0
        right = bag.classes_[sums.argmax(axis=1)] == y
        assert bag.oob_score_curve_[t - 1] == pytest.approx(right[scored].mean())
        assert bag.oob_error_curve_[t - 1] == pytest.approx(1 - right[scored].mean())
    np.testing.assert_allclose(bag.oob_decision_function_, sums / count)
    assert bag.oob_score_ == bag.oob_score_curve_[-1]


@pytest.mark.parametrize("member", [None, KNeighborsRegressor()], ids=str)
def test_out_of_bag_numbers(member):
    X, y = DIABETES
    bag = BaggingRegressor(member, 30, oob_score=True, random_state=0).fit(X, y)
    out = bag.in_bag_ == 0
    expected = (bag.member_predictions(X) * out).sum(axis=0) / out.sum(axis=0)
    np.testing.assert_allclose(bag.oob_prediction_, expected)
    error = np.mean((expected - y) ** 2)
    assert bag.oob_error_curve_[-1] == pytest.approx(error)
    assert bag.oob_score_ == pytest.approx(1 - error / y.var())


def test_out_of_bag_by_a_score_of_ones_own():
    X, y = CANCER
    for member in (None, GaussianNB()):
        bag = BaggingClassifier(member, 20, oob_score=balanced_accuracy_score, random_state=0)
        bag.fit(X, y)
        guess = bag.oob_decision_function_.argmax(axis=1)
        assert bag.oob_score_ == pytest.approx(balanced_accuracy_score(y, guess))


@pytest.mark.parametrize("settings", [{}, {"weighting": "oob"}])
@pytest.mark.parametrize(("kind", "member"), BOTH, ids=str)
def test_early_stop_is_a_prefix(kind, member, settings):
    X, y = data_of(kind)
    settings = {"random_state": 0, "max_samples": 0.5, **settings}
    short = kind(member, 200, n_iter_no_change=6, tol=1e-3, **settings).fit(X, y)
    long = kind(member, 120, oob_score=True, **settings).fit(X, y)
    n = short.n_estimators_
    assert 6 < n < 120
    assert len(short.oob_score_curve_) == len(short.member_weights_) == n
    np.testing.assert_array_equal(short.oob_score_curve_, long.oob_score_curve_[:n])
    np.testing.assert_array_equal(short.member_predictions(X), long.member_predictions(X)[:n])
    best = np.maximum.accumulate(short.oob_score_curve_)
    assert best[-1] <= best[-7] + 1e-3


def test_groups_are_drawn_as_a_whole():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 400)
    X = rng.normal(size=(40, 3))[groups] + 0.01 * rng.normal(size=(400, 3))
    y = rng.integers(0, 2, 40)[groups]  # nothing to learn but the group itself
    for member in (None, KNeighborsClassifier(1)):
        bag = BaggingClassifier(member, 30, oob_score=True, random_state=0)
        assert bag.fit(X, y).oob_score_ > 0.9
        assert bag.fit(X, y, groups=groups.astype(str)).oob_score_ < 0.75
        for group in range(40):
            inside = bag.in_bag_[:, groups == group]
            assert (inside == inside[:, :1]).all()


# --- weights of rows ----------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "member"), BOTH, ids=str)
def test_rows_are_drawn_by_weight(kind, member):
    X, y = data_of(kind)
    w = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    bag = kind(member, 300, random_state=0).fit(X, y, sample_weight=w)
    counts = bag.in_bag_
    assert (counts[:, w == 0] == 0).all()
    share = counts.sum(axis=0) / counts.sum()
    np.testing.assert_allclose(share, w / w.sum(), atol=5 * np.sqrt(3 / w.sum() / counts.sum()))


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (BaggingRegressor, None),
        (BaggingRegressor, Ridge()),
        (BaggingRegressor, KNeighborsRegressor(3)),
    ],
    ids=str,
)
def test_a_weight_is_a_repetition_on_average(kind, member):
    """Where rows are drawn, weight k and k copies give the same distribution of members."""
    X, y = DIABETES
    X, y = X[:60], y[:60]
    w = np.random.default_rng(1).integers(0, 4, len(y))
    settings = {"max_samples": 60, "random_state": 0}
    weighted = kind(member, 250, **settings).fit(X, y, sample_weight=w)
    repeated = kind(member, 250, **settings).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    a, b = weighted.member_predictions(X), repeated.member_predictions(X)
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 250)
    z = (a.mean(axis=0) - b.mean(axis=0)) / error
    assert abs(z).max() < 5
    assert np.sqrt((z**2).mean()) < 1.5
    np.testing.assert_allclose(a.std(axis=0).mean(), b.std(axis=0).mean(), rtol=0.1)


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (BaggingClassifier, DecisionTreeClassifier()),
        (BaggingClassifier, RidgeClassifier(solver="cholesky")),
        (BaggingClassifier, KNeighborsClassifier(3)),  # takes no weights: repeated
        (BaggingRegressor, DecisionTreeRegressor()),
        (BaggingRegressor, make_pipeline(StandardScaler(), LinearRegression())),
    ],
    ids=str,
)
def test_without_draws_a_weight_is_a_repetition(kind, member):
    X, y = data_of(kind)
    w = np.random.default_rng(1).integers(0, 4, len(y))
    settings = {"bootstrap": False, "max_features": 0.6, "random_state": 0}
    weighted = kind(member, 3, **settings).fit(X, y, sample_weight=w)
    repeated = kind(member, 3, **settings).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(say(weighted, X), say(repeated, X), rtol=1e-6)


def test_fractions_for_a_member_that_takes_no_weights():
    X, y = WINE
    bag = BaggingClassifier(KNeighborsClassifier(), bootstrap=False)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        bag.fit(X, y, sample_weight=np.linspace(0.5, 1, len(y)))
    bag.set_params(bootstrap=True).fit(X, y, sample_weight=np.linspace(0.5, 1, len(y)))


def test_pasting_by_weight_is_advised_against():
    X, y = WINE
    w = np.arange(len(y)) % 3 + 1.0
    with pytest.warns(UserWarning, match="recommended to use bootstrap=True"):
        BaggingClassifier(bootstrap=False, max_samples=50).fit(X, y, sample_weight=w)


def test_a_class_without_weight_is_absent():
    X, y = WINE
    tree = DecisionTreeClassifier(class_weight={0: 0, 1: 1, 2: 1})
    bag = BaggingClassifier(tree, 10, random_state=0, oob_score=True).fit(X, y)
    assert bag.predict_proba(X)[:, 0].max() == 0
    assert (bag.in_bag_[:, y == 0] == 0).all()
    with pytest.raises(ValueError, match="without weight"):
        bag.fit(X, y, sample_weight=(y == 0).astype(float))


# --- labels, tables, outputs --------------------------------------------------------------------


@pytest.mark.parametrize(
    "member", [None, KNeighborsClassifier(1), GaussianNB(), PeerTree()], ids=str
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # in GaussianNB
def test_a_class_that_some_members_never_saw(member):
    X, y = WINE
    y = np.array(["x", "y", "z"])[y]
    y[:2] = "a"
    bag = BaggingClassifier(member, 15, max_samples=25, random_state=0, oob_score=True).fit(X, y)
    shares = bag.predict_proba(X)
    assert shares.shape == (len(y), 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert set(bag.predict(X)) <= set("axyz")
    assert bag.score(X, y) > 0.6


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", None], 300)
    size = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))
    X = pd.DataFrame({"colour": colour, "size": size, "noise": rng.normal(size=300)})
    y = np.where(colour == "red", "yes", "no")
    bag = BaggingClassifier(n_estimators=20, max_features=2, random_state=0, oob_score=True)
    assert bag.fit(X, y).oob_score_ > 0.95
    assert set(bag.categories_[0]) == {"red", "green", "blue"}
    for one, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        part = X.iloc[:, columns]
        assert list(one.feature_names_in_) == list(part.columns)
        assert one.predict(part).shape == (300,)
        assert one.tree_.n_features == 2
    with pytest.raises(ValueError, match="held numbers in fit"):
        bag.predict(X.assign(size="much"))


def test_several_outputs():
    X, y = WINE
    Y = np.c_[y, y == 1]
    bag = BaggingClassifier(n_estimators=15, oob_score=True, random_state=0, weighting="oob")
    bag.fit(X, Y)
    assert bag.predict(X).shape == Y.shape
    assert [p.shape for p in bag.predict_proba(X)] == [(len(y), 3), (len(y), 2)]
    assert [p.shape for p in bag.member_predictions(X)] == [(15, len(y), 3), (15, len(y), 2)]
    assert [p.shape for p in bag.predict_log_proba(X)] == [(len(y), 3), (len(y), 2)]
    with pytest.raises(ValueError, match="1d array"):
        BaggingClassifier(GaussianNB()).fit(X, Y)
    X, y = DIABETES
    for member in (None, Ridge()):
        bag = BaggingRegressor(member, 15, oob_score=True, random_state=0).fit(X, np.c_[y, -y])
        np.testing.assert_allclose(bag.predict(X)[:, 0], -bag.predict(X)[:, 1])
        assert bag.member_predictions(X).shape == (15, len(y), 2)
        assert bag.oob_prediction_.shape == (len(y), 2)


def test_leaves():
    X, y = WINE
    bag = BaggingClassifier(n_estimators=4, random_state=0).fit(X, y)
    leaves = bag.leaf_index(X)
    np.testing.assert_array_equal(leaves, bag.apply(X))
    np.testing.assert_array_equal(leaves[:, 2], bag.estimators_[2].apply(X))
    assert bag.forest_.n_trees == 4
    other = BaggingClassifier(GaussianNB(), 4).fit(X, y)
    assert not hasattr(other, "apply")
    assert not hasattr(other, "leaf_index")
    assert not hasattr(other, "forest_")


def test_one_row():
    for member in (None, PeerTree()):
        bag = BaggingClassifier(member, 3).fit([[1.0, 2.0]], ["only"])
        assert bag.predict([[0.0, 0.0]]) == ["only"]
    assert BaggingRegressor(n_estimators=3).fit([[1.0]], [5.0]).predict([[9.0]]) == [5.0]


# --- members ------------------------------------------------------------------------------------


def test_members_have_seeds_of_their_own():
    X, y = WINE
    member = make_pipeline(StandardScaler(), PeerTree(max_features=1, random_state=3))
    bag = BaggingClassifier(member, 5, random_state=0).fit(X, y)
    seeds = [one[-1].random_state for one in bag.estimators_]
    assert len(set(seeds)) == 5
    assert member[-1].random_state == 3
    assert bag.estimator_ is member
    trees = BaggingClassifier(ExtraTreeClassifier(), 5, random_state=0).fit(X, y)
    assert len({one.random_state for one in trees.estimators_}) == 5


def test_pickles_and_clones():
    X, y = WINE
    for member in (None, GaussianNB()):
        bag = BaggingClassifier(member, 5, max_features=3, random_state=0, weighting="oob")
        bag.fit(X, y)
        again = pickle.loads(pickle.dumps(bag))
        np.testing.assert_array_equal(again.predict_proba(X), bag.predict_proba(X))
        np.testing.assert_array_equal(again.in_bag_, bag.in_bag_)
        np.testing.assert_array_equal(
            again.estimators_[1].predict(X[:, again.estimators_features_[1]]),
            bag.estimators_[1].predict(X[:, bag.estimators_features_[1]]),
        )
        assert not hasattr(clone(bag), "seed_")


class Fragile(GaussianNB):
    """Is interrupted, or breaks, at the fit of a given number."""

    fits = 0

    def __init__(self, at=5, error=KeyboardInterrupt):
        super().__init__()
        self.at = at
        self.error = error

    def fit(self, X, y, sample_weight=None):
        Fragile.fits += 1
        if Fragile.fits == self.at:
            raise self.error("stop")
        return super().fit(X, y, sample_weight)


def test_an_interrupted_fit_may_keep_what_there_is():
    X, y = WINE
    Fragile.fits = 0
    bag = BaggingClassifier(Fragile(), 20, random_state=0, keep_partial=True, oob_score=True)
    with pytest.warns(UserWarning, match="stopped"):
        bag.fit(X, y)
    assert 1 <= bag.n_estimators_ < 5
    whole = BaggingClassifier(GaussianNB(), 20, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        bag.member_predictions(X), whole.member_predictions(X)[: bag.n_estimators_]
    )
    assert len(bag.oob_score_curve_) == bag.n_estimators_


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_failed_fit_leaves_the_old_model(error):
    X, y = WINE
    Fragile.fits = -100
    bag = BaggingClassifier(Fragile(error=error), 3, random_state=0, oob_score=False).fit(X, y)
    before = bag.predict_proba(X)
    Fragile.fits = 0
    with pytest.raises(error):
        bag.set_params(n_estimators=9).fit(X[:, :5], y > 0)
    np.testing.assert_array_equal(bag.predict_proba(X), before)
    assert bag.n_features_in_ == 13


def test_progress_goes_to_standard_error(capfd):
    X, y = WINE
    for member in (None, GaussianNB()):
        BaggingClassifier(member, 5, verbose=1, max_samples=20, random_state=0).fit(X, y)
        out, err = capfd.readouterr()
        assert out == ""
        assert "BaggingClassifier" in err
        BaggingClassifier(member, 5).fit(X, y)
        assert capfd.readouterr() == ("", "")


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"n_estimators": 2.5}, "n_estimators"),
        ({"max_samples": 0}, "max_samples"),
        ({"max_samples": -0.5}, "max_samples"),
        ({"max_samples": 10_000, "bootstrap": False}, "without replacement"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": 99}, "max_features"),
        ({"max_features": "sqrt"}, "max_features"),
        ({"bootstrap": "yes"}, "bootstrap must be True or False"),
        ({"bootstrap_features": 1}, "bootstrap_features must be True or False"),
        ({"oob_score": "yes"}, "oob_score must be True or False"),
        ({"oob_score": True, "bootstrap": False}, "Out of bag"),
        ({"weighting": "oob", "bootstrap": False}, "Out of bag"),
        ({"weighting": "best"}, "weighting must be 'uniform', 'oob' or 3 numbers"),
        ({"weighting": None}, "weighting"),
        ({"weighting": [1, 2]}, "weighting"),
        ({"weighting": [1, 2, -1]}, "weighting"),
        ({"weighting": [0, 0, 0]}, "no weight"),
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
        ({"tol": -1}, "tol"),
        ({"warm_start": 1}, "warm_start must be True or False"),
        ({"keep_partial": "no"}, "keep_partial"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"verbose": -1}, "verbose"),
        ({"random_state": "dice"}, "random_state"),
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
    [{"max_samples": 0.4}, {"estimator": GaussianNB()}, {"max_features": 3}, "columns", "classes"],
    ids=str,
)
def test_warm_start_needs_the_same_members(change):
    X, y = WINE
    bag = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    bag.set_params(n_estimators=5, **(change if isinstance(change, dict) else {}))
    X, y = (X[:, 1:] if change == "columns" else X), (y > 0 if change == "classes" else y)
    with pytest.raises(ValueError, match="fit a new ensemble"):
        bag.fit(X, y)


def test_patience_without_draws_is_of_no_use():
    X, y = WINE
    with pytest.warns(UserWarning, match="no row is left out"):
        bag = BaggingClassifier(bootstrap=False, max_features=2, n_iter_no_change=2).fit(X, y)
    assert bag.n_estimators_ == 10
