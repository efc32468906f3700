"""What CONTRIBUTING says about adding a loss, a criterion, a sampler and a combiner holds."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

from test_examples import ROOT, run_page
from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
    StagewiseRegressor,
)
from weald.combining import mean, weighted_vote
from weald.losses import LOSSES, Huber, Loss, Quantile, SquaredError
from weald.params.criteria import CRITERIA

X, Y = load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def added():
    """What the page adds, after it was run and printed what it shows."""
    return run_page(ROOT / "CONTRIBUTING.md", "## Add a loss", "## Add a benchmark row")


# --- losses ---------------------------------------------------------------------------------------


def test_a_loss_from_outside_is_that_of_squares_in_the_middle(added):
    settings = {"n_estimators": 5, "min_hessian": 0, "l2_regularization": 0, "random_state": 0}
    own, squares = (
        GradientBoostingRegressor(loss=loss, **settings).fit(X, Y).predict(X)
        for loss in (added["Expectile"](0.5), SquaredError())
    )
    np.testing.assert_allclose(own, squares, rtol=1e-9)
    StagewiseRegressor(loss=added["Expectile"](0.9), n_estimators=3).fit(X, Y)


def test_what_a_loss_says_of_itself_does_not_hold_for_variations_of_it():
    class Twice(Huber):
        def gradient(self, y, F):
            return 2 * super().gradient(y, F)

    assert Huber().built_in
    assert Huber().engine_parameters == ("delta",)
    assert not Huber().newton
    for name in ("built_in", "engine_parameters", "newton", "hessian_floor", "of_difference"):
        assert getattr(Twice(), name) == getattr(Loss, name)
    assert Twice.leaf_steps is Loss.leaf_steps
    assert type("Other", (Quantile,), {}).line_step is Loss.line_step
    with pytest.raises(ValueError, match="gradient of huber is"):  # it is checked like any other
        GradientBoostingRegressor(loss=Twice()).fit(X, Y)


def test_every_registered_loss_has_a_name_of_its_own():
    assert all(loss.built_in and loss.name == name for name, loss in LOSSES.items())
    assert all(
        getattr(loss(), name) > 0 for loss in LOSSES.values() for name in loss.engine_parameters
    )


# --- criteria -------------------------------------------------------------------------------------


def test_the_tables_of_criteria_agree():
    table = (ROOT / "cpp" / "weald" / "stats" / "statistics.hpp").read_text()
    rows = re.findall(r'ROW\(\w+, "(\w+)"\)', table)
    assert set(rows) == {row.engine for row in CRITERIA.values()}


def test_a_criterion_is_no_object():
    with pytest.raises(ValueError, match=r"criterion must be one of 'gini', .* got <object"):
        DecisionTreeClassifier(criterion=object()).fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match=r"criterion must be one of 'squared_error', .* got Crit"):
        RandomForestRegressor(criterion=CRITERIA["poisson"]).fit(X, Y)


# --- samplers -------------------------------------------------------------------------------------


class EveryRow:
    def rows(self, n, random):
        return np.ones(n, dtype=int)


class Given:
    def __init__(self, counts):
        self.counts = counts

    def rows(self, n, random):
        return self.counts


def test_a_sampler_that_draws_every_row_is_none():
    same = BaggingRegressor(bootstrap=EveryRow(), n_estimators=2, random_state=0).fit(X, Y)
    plain = BaggingRegressor(bootstrap=False, n_estimators=2, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(same.predict(X), plain.predict(X))
    assert (same.in_bag_ == 1).all()


def test_draws_are_made_again(added):
    bag = BaggingRegressor(
        bootstrap=added["BlockBootstrap"](7), n_estimators=4, max_features=0.5, random_state=1
    )
    first = bag.fit(X, Y)
    again = clone(bag).fit(X, Y)
    np.testing.assert_array_equal(first.in_bag_, again.in_bag_)
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    more = clone(bag).set_params(warm_start=True, n_estimators=2).fit(X, Y)
    more.set_params(n_estimators=4).fit(X, Y)
    np.testing.assert_array_equal(first.predict(X), more.predict(X))
    with pytest.raises(ValueError, match=r"bootstrap .* changed"):
        more.set_params(bootstrap=added["BlockBootstrap"](8), n_estimators=5).fit(X, Y)


def test_drawn_rows_keep_their_weights_and_absent_ones_stay_out():
    counts = np.arange(len(Y)) % 3
    w = np.arange(len(Y)) % 2
    bag = BaggingRegressor(bootstrap=Given(counts), n_estimators=1, random_state=0)
    weighted = pickle.loads(pickle.dumps(bag.fit(X, Y, sample_weight=w)))
    np.testing.assert_array_equal(weighted.in_bag_[0], counts * w)
    both = clone(bag).set_params(bootstrap=Given(counts * w)).fit(X, Y)
    np.testing.assert_array_equal(weighted.predict(X), both.predict(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bootstrap": Given(np.ones(3, int))}, "rows of Given must return 442 whole numbers"),
        ({"bootstrap": Given(np.ones(442))}, "must return 442 whole .* got float64 of shape"),
        ({"bootstrap": Given(np.full(442, -1))}, "must return 442 whole numbers >= 0"),
        ({"bootstrap": Given(np.zeros(442, int))}, "rows of Given draws no row"),
        ({"bootstrap": EveryRow}, "an object with rows.n, random., got <class"),
        ({"bootstrap": EveryRow(), "max_samples": 5}, "in its own way: leave out max_samples"),
        ({"combine": "median"}, "combine must be None or a function"),
        ({"combine": mean, "oob_score": True}, "Out-of-bag predictions are means"),
    ],
)
def test_wrong_parts_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        BaggingRegressor(**settings).fit(X, Y)


# --- combiners ------------------------------------------------------------------------------------


def test_the_usual_ways_to_combine_are_combiners():
    weights = np.arange(1.0, 6.0)
    settings = {"n_estimators": 5, "weighting": weights, "random_state": 0}
    for y in (Y, np.column_stack([Y, -Y])):
        usual, given = (
            BaggingRegressor(combine=how, **settings).fit(X, y).predict(X) for how in (None, mean)
        )
        np.testing.assert_allclose(given, usual)
    X_iris, y_iris = load_iris(return_X_y=True)
    usual = BaggingClassifier(voting="hard", **settings).fit(X_iris, y_iris)
    for how, voting in ((weighted_vote, "soft"), (mean, "hard")):
        given = BaggingClassifier(combine=how, voting=voting, **settings).fit(X_iris, y_iris)
        np.testing.assert_allclose(given.predict_proba(X_iris), usual.predict_proba(X_iris))
        assert np.exp(given.predict_log_proba(X_iris)).sum() == pytest.approx(len(X_iris))


def test_a_combiner_must_give_one_answer_for_each_row():
    bag = BaggingRegressor(combine=lambda answers, weights: answers.mean(), random_state=0)
    with pytest.raises(ValueError, match=r"combine must return an array of shape \(442,\)"):
        bag.fit(X, Y).predict(X)
