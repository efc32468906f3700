"""Naive ensembles: same data for everybody, and therefore little to gain."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeRegressor as PeerTree

from weald import (
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
    NaiveEnsembleClassifier,
    NaiveEnsembleRegressor,
    combining,
)

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def test_a_tree_without_randomness_gains_nothing():
    X, y = DIABETES
    for member in (DecisionTreeRegressor(max_depth=4), Ridge()):
        naive = NaiveEnsembleRegressor(member, random_state=0).fit(X, y)
        assert naive.n_estimators_ == 10
        said = naive.member_predictions(X)
        assert (said == said[0]).all()
        np.testing.assert_allclose(naive.predict(X), member.fit(X, y).predict(X))


def test_drawing_rows_gains_more_than_seeds_do():
    """The same member and as many of them: less correlated errors make the better mean."""
    X, y = DIABETES
    member = DecisionTreeRegressor(max_features=0.7)
    naive, bagged, correlation = [], [], []
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(len(y))
        train, test = rows[:220], rows[220:]
        for kind, scores in ((NaiveEnsembleRegressor, naive), (BaggingRegressor, bagged)):
            model = kind(member, 30, random_state=seed).fit(X[train], y[train])
            scores.append(model.score(X[test], y[test]))
            errors = model.member_predictions(X[test]) - y[test]
            correlation.append(np.corrcoef(errors).mean())
    assert np.mean(bagged) > np.mean(naive) + 0.03
    assert np.mean(correlation[0::2]) > np.mean(correlation[1::2])


@pytest.mark.parametrize(
    "member", [ExtraTreeRegressor(max_depth=3), PeerTree(max_features=1, max_depth=4)]
)
def test_seeds_differ_and_follow_from_one(member):
    X, y = DIABETES
    naive = NaiveEnsembleRegressor(member, 6, random_state=3).fit(X, y)
    said = naive.member_predictions(X)
    assert len({row.tobytes() for row in said}) == 6
    np.testing.assert_allclose(naive.predict(X), said.mean(axis=0))
    with parallel_config(backend="threading"):  # processes take long to start
        again = NaiveEnsembleRegressor(member, 4, random_state=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.member_predictions(X), said[:4])
    assert (naive.in_bag_ == 1).all()
    assert naive.member_params_ == [{}] * 6
    np.testing.assert_array_equal(naive.member_weights_, np.ones(6))


GRID = {"max_depth": [1, 3, 5], "min_samples_leaf": [1, 10]}


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (None, [(1, 1), (1, 10), (3, 1), (3, 10), (5, 1), (5, 10)]),
        (2, [(1, 1), (5, 10)]),
        (3, [(1, 1), (3, 1), (5, 10)]),
        (7, [(1, 1), (1, 10), (3, 1), (3, 10), (5, 1), (5, 10), (1, 1)]),
    ],
)
def test_hyper_parameters_from_a_grid(n, expected):
    X, y = CANCER
    naive = NaiveEnsembleClassifier(n_estimators=n, param_grid=GRID, random_state=0).fit(X, y)
    got = [(one.max_depth, one.min_samples_leaf) for one in naive.estimators_]
    assert got == expected
    assert [(p["max_depth"], p["min_samples_leaf"]) for p in naive.member_params_] == expected
    for one in naive.estimators_:
        alone = DecisionTreeClassifier(**{**one.get_params(), "random_state": None}).fit(X, y)
        np.testing.assert_array_equal(alone.predict(X), one.predict(X))


def test_a_grid_inside_the_members():
    X, y = CANCER
    grid = [{"n_neighbors": [1, 3]}, {"n_neighbors": [9], "weights": ["distance"]}]
    soft = NaiveEnsembleClassifier(KNeighborsClassifier(), param_grid=grid).fit(X, y)
    hard = NaiveEnsembleClassifier(KNeighborsClassifier(), param_grid=grid, voting="hard").fit(X, y)
    said = soft.member_predictions(X)
    np.testing.assert_allclose(soft.predict_proba(X), combining.soft_vote(said))
    np.testing.assert_allclose(hard.predict_proba(X), combining.weighted_vote(said))


def test_networks_of_different_seeds():
    X, y = DIABETES
    network = MLPRegressor(hidden_layer_sizes=(4,), max_iter=20)
    with pytest.warns(match="converge"):
        naive = NaiveEnsembleRegressor(network, 3, random_state=0).fit(X, y)
    assert len({one.random_state for one in naive.estimators_}) == 3


def test_weights_go_to_the_members():
    X, y = DIABETES
    w = np.random.default_rng(0).integers(0, 3, len(y))
    for member in (DecisionTreeRegressor(max_depth=3), Ridge(solver="cholesky")):
        naive = NaiveEnsembleRegressor(member, 2).fit(X, y, sample_weight=w)
        member.fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        np.testing.assert_allclose(naive.predict(X), member.predict(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"param_grid": {"max_depth": []}}, "param_grid"),
        ({"param_grid": []}, "param_grid"),
        ({"param_grid": "max_depth"}, "param_grid"),
        ({"param_grid": {"max_depth": 3}}, "param_grid"),
        ({"param_grid": {"depth": [3]}}, "Invalid parameter 'depth'"),
        ({"voting": "loud"}, "voting must be one of"),
        ({"verbose": "yes"}, "verbose"),
        ({"estimator": Ridge()}, "is a regressor"),
    ],
    ids=str,
)
def test_bad_parameters(settings, message):
    X, y = CANCER
    with pytest.raises(ValueError, match=message):
        NaiveEnsembleClassifier(**settings).fit(X, y)


def test_fractions_for_a_member_that_takes_no_weights():
    X, y = CANCER
    naive = NaiveEnsembleClassifier(KNeighborsClassifier(), 2)
    plain = naive.fit(X, y).predict_proba(X)
    equal = naive.fit(X, y, sample_weight=np.full(len(y), 0.5)).predict_proba(X)
    np.testing.assert_array_equal(equal, plain)
    with pytest.raises(ValueError, match="whole weights, a member that takes weights, or bagging"):
        naive.fit(X, y, sample_weight=np.linspace(0.5, 1, len(y)))


def test_weights_of_classes_are_given_by_label():
    X, y = CANCER
    names = np.array(["good", "bad"])[y]
    tree = DecisionTreeClassifier(class_weight={"bad": 1, "good": 20})
    naive = NaiveEnsembleClassifier(tree, param_grid={"max_depth": [2, 3]}).fit(X, names)
    alone = [tree.set_params(max_depth=d).fit(X, names).predict_proba(X) for d in (2, 3)]
    np.testing.assert_allclose(naive.predict_proba(X), np.mean(alone, axis=0))
    given = [{"bad": 1, "good": 20}, None]
    by_grid = NaiveEnsembleClassifier(param_grid={"class_weight": given}).fit(X, names)
    assert by_grid.n_estimators_ == 2


def test_costs_that_all_members_share():
    X, y = CANCER
    costs = np.array([[0, 1], [50, 0]])
    tree = DecisionTreeClassifier(cost_matrix=costs)
    naive = NaiveEnsembleClassifier(tree, param_grid={"max_depth": [1, 2]}).fit(X, y)
    cheapest = (naive.predict_proba(X) @ costs).argmin(axis=1)
    np.testing.assert_array_equal(naive.predict(X), cheapest)
    grid = {"cost_matrix": [costs, costs.T], "max_depth": [2]}
    mixed = NaiveEnsembleClassifier(DecisionTreeClassifier(), param_grid=grid).fit(X, y)
    np.testing.assert_array_equal(mixed.predict(X), mixed.predict_proba(X).argmax(axis=1))
