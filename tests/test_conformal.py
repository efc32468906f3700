"""Conformal intervals of every regressor, and quantiles of boosting, on new rows."""

import pickle
from math import ceil, floor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold

from weald import (
    AdaBoostRegressor,
    BaggingRegressor,
    BlendingRegressor,
    ConditionalRegressor,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    NaiveEnsembleRegressor,
    RandomForestRegressor,
    StackingRegressor,
    SuperLearnerRegressor,
)
from weald.intervals import Calibration, interval_coverage
from weald.intervals.copies import ENOUGH, FEWEST

TREE = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
MEMBERS = [("linear", LinearRegression()), ("tree", TREE)]
BOOSTED = {"n_estimators": 30, "max_leaf_nodes": 4, "random_state": 0}
QUANTILES = {"loss": "quantile", "alpha": [0.1, 0.5, 0.9], **BOOSTED}
MODELS = {
    "boosting, folds": GradientBoostingRegressor(calibration=5, **BOOSTED),
    "boosting, early stopping": GradientBoostingRegressor(
        n_iter_no_change=5, validation_fraction=0.3, **BOOSTED
    ),
    "boosting, quantiles": GradientBoostingRegressor(**QUANTILES),
    "adaboost, folds": AdaBoostRegressor(n_estimators=10, calibration=5, random_state=0),
    "adaboost, early stopping": AdaBoostRegressor(
        n_estimators=10, n_iter_no_change=3, validation_fraction=0.3, random_state=0
    ),
    "bagging": BaggingRegressor(TREE, 40, oob_score=True, random_state=0),
    "stacking": StackingRegressor(MEMBERS, calibration=5),
    "stacking, a tree on top": StackingRegressor(MEMBERS, DecisionTreeRegressor(), calibration=5),
    "super learner": SuperLearnerRegressor(MEMBERS, random_state=0),
    "blending": BlendingRegressor(MEMBERS, validation_fraction=0.4, random_state=0),
    "conditional": ConditionalRegressor(
        MEMBERS, gate=DecisionTreeRegressor(max_depth=2), random_state=0
    ),
}
WITHOUT = {
    "boosting": GradientBoostingRegressor(**BOOSTED),
    "boosting, None": GradientBoostingRegressor(calibration=None, **QUANTILES),
    "adaboost": AdaBoostRegressor(n_estimators=5, random_state=0),
    "bagging": BaggingRegressor(TREE, 5, random_state=0),
    "naive": NaiveEnsembleRegressor(TREE, n_estimators=2, random_state=0),
    "stacking": StackingRegressor(MEMBERS),
    "forest": RandomForestRegressor(5, random_state=0),
}


def problem(n, noise="both", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    error = rng.exponential(size=n) if noise != "spread" else rng.normal(size=n)
    if noise != "skewed":
        error *= 0.3 + np.abs(X[:, 2])
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + error


# --- ranks --------------------------------------------------------------------------------------


def test_a_bound_is_the_score_of_its_rank():
    scores = np.random.default_rng(0).permutation(np.arange(1.0, 20))  # 19 of them
    known = Calibration(scores[:, None], None, "rows")
    for tenths in range(1, 10):
        expected = ceil(20 * tenths / 10)
        assert known.bound(scores[:, None], tenths / 10)[0] == expected
        # whole weights of one size are no weights
        weighed = Calibration(scores[:, None], np.full(19, 3.0), "rows")
        assert weighed.bound(scores[:, None], tenths / 10)[0] == expected
    assert known.bound(scores[:, None], 0.95)[0] == 19
    with pytest.raises(ValueError, match=r"coverage=0\.96 needs at least 24 rows, but there"):
        known.bound(scores[:, None], 0.96)


def test_weights_move_a_bound():
    scores = np.arange(1.0, 101)
    heavy_below = Calibration(scores[:, None], np.where(scores <= 50, 3.0, 1.0), "rows")
    # 3 * 50 of 200 lie up to 50: the rank 101 * 0.5 in rows of mean weight 2
    assert heavy_below.bound(scores[:, None], 0.5)[0] == ceil(101 * 0.5 * 2 / 3)


def test_a_shift_goes_away_from_the_middle():
    errors = np.arange(1.0, 13)[:, None]
    known = Calibration(np.tile(errors, 3), None, "rows")
    low, middle, high = known.shift([0.1, 0.5, 0.9])
    assert (low, middle, high) == (floor(13 * 0.1), 6.5, ceil(13 * 0.9))
    assert known.shift([0.01, 0.5, 0.99])[[0, 2]].tolist() == [1, 12]  # the last there are
    np.testing.assert_array_equal(known.moved(np.ones(3)).errors, known.errors - 1)


# --- coverage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["spread", "skewed", "both"])
@pytest.mark.parametrize("name", MODELS)
def test_intervals_cover_what_they_say(name, noise):
    """On average over samples; the standard error of the mean is about 0.012."""
    shares = []
    for seed in range(6):
        X, y = problem(900, noise, seed)
        model = clone(MODELS[name]).fit(X[:300], y[:300])
        shares.append(interval_coverage(y[300:], model.predict_interval(X[300:], 0.8)).coverage)
    assert np.mean(shares) == pytest.approx(0.81, abs=0.045)


@pytest.mark.parametrize("noise", ["spread", "skewed", "both"])
def test_default_quantiles_hold_on_new_rows(noise):
    """Without calibration about 60 % lie between the outer two, see the last line."""
    shares, plain = [], []
    for seed in range(3):
        X, y = problem(1600, noise, seed)
        settings = {"loss": "quantile", "alpha": [0.1, 0.5, 0.9], "random_state": seed}
        for found, calibration in ((shares, "auto"), (plain, None)):
            model = GradientBoostingRegressor(n_estimators=150, calibration=calibration, **settings)
            said = model.fit(X[:400], y[:400]).predict(X[400:])
            found.append((y[400:, None] <= said).mean(axis=0))
    np.testing.assert_allclose(np.mean(shares, axis=0), [0.1, 0.5, 0.9], atol=0.035)
    low, _, high = np.mean(plain, axis=0)
    assert high - low < 0.74


def test_intervals_of_quantiles_are_wide_where_the_target_scatters():
    X, y = problem(1500, "spread")
    model = GradientBoostingRegressor(**{**QUANTILES, "n_estimators": 100}).fit(X, y)
    low, high = model.predict_interval([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], 0.9).T
    assert 1.4 * (high - low)[0] < (high - low)[1]
    low, high = model.predict_interval(X, 0.01).T  # the ends would meet
    assert (low <= high).all()


# --- where errors come from ---------------------------------------------------------------------


@pytest.mark.parametrize("name", WITHOUT)
def test_without_errors_to_learn_from(name):
    X, y = problem(600)
    model = clone(WITHOUT[name]).fit(X[:200], y[:200])
    with pytest.raises(ValueError, match=r"call calibrate\(X, y\) with such rows") as told:
        model.predict_interval(X)
    remedy = {"boosting": "calibration=5", "bagging": "oob_score=True", "naive": "call calibrate"}
    assert remedy.get(name, "") in str(told.value)
    assert model.calibrate(X[200:400], y[200:400]) is model
    found = interval_coverage(y[400:], model.predict_interval(X[400:], 0.8))
    assert found.coverage == pytest.approx(0.8, abs=0.1)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_interval(X), model.predict_interval(X))
    model.fit(X[:200], y[:200])  # a new model has other errors
    with pytest.raises(ValueError, match="calibrate"):
        model.predict_interval(X)


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, AdaBoostRegressor])
def test_folds_by_hand(kind):
    X, y = problem(120)
    w = np.random.default_rng(0).integers(0, 3, 120).astype(float)
    folds = list(KFold(4).split(X))
    settings = {"n_estimators": 5, "random_state": 0}
    model = kind(calibration=folds, **settings).fit(X, y, w)
    errors, weights = [], []
    for train, test in folds:
        train, test = train[w[train] > 0], test[w[test] > 0]
        copy = kind(**settings).fit(X[train], y[train], w[train])
        errors += list(y[test] - copy.predict(X[test]))
        weights += list(w[test])
    np.testing.assert_array_equal(model._calibration.errors[:, 0], errors)
    np.testing.assert_array_equal(model._calibration.weights, weights)
    np.testing.assert_array_equal(
        model.predict(X), kind(calibration=None, **settings).fit(X, y, w).predict(X)
    )


def test_validation_rows_are_used_if_there_are_any():
    X, y = problem(300)
    settings = {**QUANTILES, "calibration": None}
    plain = GradientBoostingRegressor(**settings).fit(X[:200], y[:200])
    model = GradientBoostingRegressor(**QUANTILES)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    expected = Calibration.of(y[200:], plain.predict(X[200:]), source="rows")
    np.testing.assert_allclose(model.quantile_shift_, expected.shift([0.1, 0.5, 0.9]))
    assert len(model._calibration) == 100
    plain.calibrate(X[200:], y[200:])
    np.testing.assert_allclose(plain.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, AdaBoostRegressor])
def test_copies_have_no_callbacks_but_as_many_rounds(kind):
    X, y = problem(100)
    rounds = []
    stop = [lambda state: rounds.append(state.round) or len(rounds) == 3]
    folds = list(KFold(2).split(X))
    settings = {"random_state": 0, "calibration": folds}
    model = kind(n_estimators=9, callbacks=stop, **settings).fit(X, y)
    assert model.n_estimators_ == len(rounds) == 3
    three = kind(n_estimators=3, **settings).fit(X, y)
    np.testing.assert_array_equal(model._calibration.errors, three._calibration.errors)


def test_ctrl_c_while_copies_are_fitted(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    X, y = problem(100)
    monkeypatch.setattr("weald.intervals.copies._cross_fitted", interrupted)
    model = GradientBoostingRegressor(**QUANTILES)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "n_estimators_")
    with pytest.warns(UserWarning, match="the model is not calibrated"):
        model.set_params(keep_partial=True).fit(X, y)
    assert model.n_estimators_ == 30
    assert not hasattr(model, "quantile_shift_")


def test_copies_are_made_until_there_are_enough_rows():
    X, y = problem(3 * ENOUGH)
    settings = {"loss": "quantile", "n_estimators": 2, "max_leaf_nodes": 2, "random_state": 0}
    model = GradientBoostingRegressor(**settings).fit(X, y)
    assert ENOUGH <= len(model._calibration) < ENOUGH + len(y) / 5
    few = GradientBoostingRegressor(**settings).fit(X[: FEWEST - 1], y[: FEWEST - 1])
    assert not hasattr(few, "quantile_shift_")
    all_rows = GradientBoostingRegressor(**settings, calibration=2).fit(X, y)
    assert len(all_rows._calibration) == len(y)


def test_groups_stay_together_in_stacks():
    """A group has one target, which a tree knows as soon as it has seen a row of it."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    X, y = groups[:, None] + rng.uniform(0, 0.1, (300, 1)), rng.normal(size=60)[groups]
    stack = StackingRegressor([("tree", DecisionTreeRegressor())], calibration=4)
    apart, mixed = clone(stack), clone(stack)
    apart.set_params(cv=GroupKFold(4)).fit(X, y, groups=groups)
    mixed.set_params(cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    wide, narrow = (np.diff(one.predict_interval(X, 0.8), axis=1)[0, 0] for one in (apart, mixed))
    assert wide > 1.5 > narrow


def test_offsets_and_outputs_have_intervals():
    rng = np.random.default_rng(0)
    X, years = rng.uniform(size=(400, 2)), rng.uniform(1, 5, 400)
    y = rng.poisson(years * np.exp(X[:, 0])).astype(float)
    prices = {"l2_regularization": 1.0, "min_gain": 0.2}  # else the few rounds learn their rows
    model = GradientBoostingRegressor(loss="poisson", calibration=3, **prices, **BOOSTED)
    model.fit(X, y, offset=np.log(years))
    found = model.predict_interval(X, 0.8, offset=np.log(years))
    assert interval_coverage(y, found).coverage == pytest.approx(0.82, abs=0.06)
    model.calibrate(X[:200], y[:200], offset=np.log(years[:200]))
    assert len(model._calibration) == 200
    both = GradientBoostingRegressor(calibration=3, **BOOSTED).fit(X, np.c_[y, 9 * y])
    narrow, wide = np.diff(both.predict_interval(X), axis=-1)[0, :, 0]
    assert wide > 5 * narrow


def test_categories_that_a_fold_lacks():
    import pandas as pd

    X, y = problem(60)
    table = pd.DataFrame({"a": X[:, 0], "b": [f"level {i}" for i in range(60)]})
    model = GradientBoostingRegressor(calibration=5, **BOOSTED).fit(table, y)
    assert np.isfinite(model.predict_interval(table)).all()


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, AdaBoostRegressor, StackingRegressor])
def test_what_calibration_cannot_be(kind):
    X, y = problem(50)
    make = (
        (lambda value: kind(MEMBERS, calibration=value))
        if kind is StackingRegressor
        else (lambda value: kind(calibration=value, n_estimators=2))
    )
    for wrong in ("always", 1, 0.5, True, -3):
        with pytest.raises(ValueError, match="calibration must be None, 'auto', a number of folds"):
            make(wrong).fit(X, y)


def test_folds_that_cannot_be():
    X, y = problem(50)
    rows = np.arange(50)
    for folds, what in (
        ([(rows, rows)], "the same row"),
        ([(rows[:0], rows)], "without rows"),
        ([], "without rows"),
    ):
        with pytest.raises(ValueError, match=what):
            GradientBoostingRegressor(calibration=folds, n_estimators=2).fit(X, y)


def test_leaves_of_quantiles_have_rows_beyond_them():
    X, y = problem(1000)
    settings = {"loss": "quantile", "n_estimators": 3, "calibration": None, "random_state": 0}
    for alpha, least in ((0.9, 30), ([0.02, 0.5], 100), (0.5, 6)):  # at most a tenth of the rows
        trees = GradientBoostingRegressor(alpha=alpha, **settings).fit(X, y).estimators_
        sizes = [tree.tree_.n_node_samples[tree.tree_.children_left < 0] for tree in trees[:, 0]]
        assert np.concatenate(sizes).min() >= least
        assert trees[0, 0].min_samples_leaf == least
    asked = GradientBoostingRegressor(alpha=0.9, min_samples_leaf=2, **settings).fit(X, y)
    assert asked.estimators_[0, 0].min_samples_leaf == 2


def test_a_warm_start_goes_on_from_quantiles_that_were_not_moved():
    X, y = problem(200)
    # Of a model that may go on the number of rounds has no say in what "auto" stands for.
    whole = GradientBoostingRegressor(**QUANTILES, warm_start=True).fit(X, y)
    parts = GradientBoostingRegressor(**{**QUANTILES, "n_estimators": 10}, warm_start=True)
    parts.fit(X, y).set_params(n_estimators=30).fit(X, y)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    *_, last = whole.staged_predict(X)
    np.testing.assert_array_equal(last, whole.predict(X))


def test_a_calibration_from_a_broken_file():
    known = Calibration(np.ones((3, 1)), np.ones(3), "rows")
    for name, wrong in (("errors", np.full((3, 1), np.nan)), ("weights", np.zeros(3))):
        state = {**vars(known), name: wrong}
        with pytest.raises(ValueError, match="Not a valid Calibration"):
            Calibration.__new__(Calibration).__setstate__(state)
