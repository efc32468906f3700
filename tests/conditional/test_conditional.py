"""Conditional mixtures: the gate finds regions where there are some, and does no harm elsewhere."""

import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import RepeatedKFold
from sklearn.neighbors import KNeighborsRegressor

from weald import (
    ConditionalClassifier,
    ConditionalRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    SuperLearnerRegressor,
)
from weald.conditional.gate import _most_cautious, mixed_by


def two_regions(seed, n=3000):
    """A line where the first column is negative, steps of the second elsewhere."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    steps = np.sign(np.sin(12 * X[:, 1]))
    y = np.where(X[:, 0] < 0, 4 * X[:, 1] + 2 * X[:, 2], steps) + rng.normal(0, 0.2, n)
    return X, y


MEMBERS = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(min_samples_leaf=20))]


@pytest.mark.parametrize("mode", ["mix", "choose"])
@pytest.mark.parametrize("outputs", [False, True])
def test_regions_are_found(mode, outputs):
    X, y = two_regions(0)
    # Each member is fitted to all rows, so that a line for half of them needs another column.
    members = [
        ("left", _Of(LinearRegression(), lambda X: X[:, 0] < 0)),
        ("right", _Of(DecisionTreeRegressor(min_samples_leaf=10), lambda X: X[:, 0] >= 0)),
    ]
    model = ConditionalRegressor(members, mode=mode, outputs=outputs, random_state=0)
    model.fit(X[:2000], y[:2000])
    rules = model.ruling_member(X[2000:])
    expected = np.where(X[2000:, 0] < 0, "left", "right")
    assert (rules == expected).mean() > 0.95
    flat = SuperLearnerRegressor(members, refit=True, random_state=0).fit(X[:2000], y[:2000])
    ours, theirs = (mean_squared_error(y[2000:], m.predict(X[2000:])) for m in (model, flat))
    assert ours < 0.5 * theirs
    assert model.risk_ < 0.5 * model.overall_risk_


class _Of(RegressorMixin, BaseEstimator):
    """An expert: it learns from one region, and knows nothing of the other."""

    def __init__(self, estimator=None, where=None):
        self.estimator, self.where = estimator, where

    def fit(self, X, y, sample_weight=None):
        rows = self.where(X)
        self.model_ = clone(self.estimator).fit(X[rows], y[rows])
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("seed", range(4))
def test_without_regions_it_is_as_good_as_weights_that_are_the_same_everywhere(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1500, 4))
    y = X @ [1, 2, 0, 0] + np.sin(3 * X[:, 2]) + rng.normal(size=1500)
    members = [("line", LinearRegression()), ("near", KNeighborsRegressor(20))]
    model = ConditionalRegressor(members, random_state=0).fit(X[:500], y[:500])
    flat = SuperLearnerRegressor(members, cv=5, refit=True, random_state=0).fit(X[:500], y[:500])
    ours, theirs = (mean_squared_error(y[500:], m.predict(X[500:])) for m in (model, flat))
    assert model.risk_ <= model.overall_risk_
    assert ours < 1.03 * theirs


def test_noise_is_not_taken_for_regions():
    """Some gate always looks better than weights that are the same everywhere, by chance."""
    members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(min_samples_leaf=5))]
    without_regions = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (400, 3))
        y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(0, 2, 400)
        model = ConditionalRegressor(members, random_state=seed).fit(X, y)
        without_regions += np.ptp(model.gate_weights(X), axis=0).max() < 1e-9
    assert without_regions >= 7


def test_the_cautious_setting_wins_unless_another_is_surely_better():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400) ** 2
    w = np.ones(400)
    chance = noise - np.tile([0.5, -0.46], 200)  # by 0.02 on average, with an error of 0.024
    better = noise - 0.2
    worse = noise + 0.1
    assert _most_cautious([noise, chance], w) == 0
    assert _most_cautious([noise, chance, better], w) == 2
    assert _most_cautious([noise, worse, better], w) == 2
    w[:200] = 0  # rows that do not count
    better[200:] = noise[200:] + 1
    assert _most_cautious([noise, better], w) == 0


def test_weights_of_the_gate():
    X, y = two_regions(1, 800)
    model = ConditionalRegressor(MEMBERS, random_state=0).fit(X, y)
    weights = model.gate_weights(X)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    mixed = np.einsum("nm,mn->n", weights, model.member_predictions(X))
    np.testing.assert_allclose(model.predict(X), mixed)
    np.testing.assert_allclose(model.weights_.sum(), 1)


def test_the_formula_of_the_weights():
    regrets = np.array([[1.0, -1.0], [0.0, 0.0]])
    prior = np.array([0.25, 0.75])
    np.testing.assert_allclose(mixed_by(regrets, prior, 1.0, np.inf), [prior, prior])
    np.testing.assert_array_equal(mixed_by(regrets, prior, 1.0, 0.0), [[0, 1], [1, 0]])
    odds = mixed_by(regrets, prior, 2.0, 0.5)
    assert odds[0, 1] / odds[0, 0] == pytest.approx(3 * np.exp(2))


def test_classes_and_a_gate_that_can_be_read():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(-1, 1, (1200, 2)), columns=["side", "height"])
    stripes = (8 * table["height"]).round() % 2 == 0
    y = np.where(table["side"] < 0, table["height"] > 0, stripes)
    y = np.where(y, "yes", "no")
    members = [
        ("linear", LogisticRegression()),
        ("tree", DecisionTreeClassifier(min_samples_leaf=10)),
    ]
    model = ConditionalClassifier(
        members, gate=DecisionTreeRegressor(max_leaf_nodes=6), random_state=0
    ).fit(table[:800], y[:800])
    shares = model.predict_proba(table[800:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert model.risk_ <= model.overall_risk_
    assert log_loss(y[800:], shares) < 0.6
    assert model.gate_.get_n_leaves() <= 6
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))


def test_a_picture_of_the_regions():
    import matplotlib as mpl

    mpl.use("Agg")
    X, y = two_regions(0, 600)
    model = ConditionalRegressor(MEMBERS, random_state=0).fit(X, y)
    ax = model.plot_regions(X)
    assert "rules" in ax.get_legend().get_texts()[0].get_text()
    assert model.plot_regions(X, columns=(0, 1)).get_xlabel() == "column 0"


def test_what_a_gate_cannot_learn_from():
    X, y = two_regions(0, 100)
    with pytest.raises(ValueError, match="not a mean over rows"):
        ConditionalRegressor(MEMBERS, risk="r2").fit(X, y)
    with pytest.raises(ValueError, match="mode"):
        ConditionalRegressor(MEMBERS, mode="vote").fit(X, y)
    with pytest.raises(ValueError, match="must be a list"):
        ConditionalRegressor(None).fit(X, y)


def test_a_gate_is_not_judged_on_rows_like_those_it_has_seen():
    """Nothing is to be learned but which groups, or rows, a member happens to be good for."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(80), 5)
    points = rng.normal(size=(80, 5))[groups] + 0.01 * rng.normal(size=(400, 5))
    members = [("mean", DummyRegressor()), ("near", KNeighborsRegressor(3))]
    y = rng.normal(size=80)[groups]
    model = ConditionalRegressor(members, random_state=0).fit(points, y, groups=groups)
    assert model.risk_ > 0.95 * model.overall_risk_
    y = rng.normal(size=400)
    often = RepeatedKFold(n_splits=3, n_repeats=5, random_state=0)
    model = ConditionalRegressor(members, cv=often, random_state=0).fit(points, y)
    assert model.risk_ > 0.95 * model.overall_risk_


class Counts(DecisionTreeRegressor):
    """Notes the weights it gets."""

    seen: ClassVar = []

    def fit(self, X, y, sample_weight=None):
        Counts.seen.append(sample_weight)
        return super().fit(X, y, sample_weight)


def test_weights_of_rows_reach_the_gate():
    X, y = two_regions(0, 200)
    w = np.random.default_rng(0).uniform(0.5, 2, 200)
    ConditionalRegressor(MEMBERS, gate=Counts(max_depth=2), random_state=0).fit(X, y, w)
    assert len(Counts.seen) == 6  # five parts, and all
    np.testing.assert_array_equal(Counts.seen[-1], w)


def test_a_picture_of_any_columns():
    import matplotlib as mpl

    mpl.use("Agg")
    X, y = two_regions(0, 400)
    table = pd.DataFrame({"side": np.where(X[:, 0] < 0, "left", "right"), "height": X[:, 1]})
    members = [
        ("steps", DecisionTreeRegressor(min_samples_leaf=20)),
        ("mean", DummyRegressor()),
    ]
    model = ConditionalRegressor(members, random_state=0).fit(table, y)
    ax = model.plot_regions(table)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "side")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["left", "right"]
    only = ConditionalRegressor(members, random_state=0).fit(table[["height"]], y)
    assert only.plot_regions(table[["height"]]).get_ylabel() == "weight of the member"
    for columns in (("side", "depth"), (0, 9), ("side",), "side"):
        with pytest.raises(ValueError, match="columns must be two columns of the table"):
            model.plot_regions(table, columns=columns)
