"""Laws that hold for every member and draw."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bagging.cases import BOTH, DIABETES, DRAWS, MEMBERS, WINE, data_of, say
from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)


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
