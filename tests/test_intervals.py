"""Quantile forests against a naive twin in fractions, and intervals that cover what they say."""

import os
import pickle
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from weald import ExtraTreesRegressor, RandomForestRegressor, intervals
from weald.intervals import Calibration, interval_coverage, quantile_forest

DATA = Path(os.environ.get("WEALD_DATA", Path(__file__).parents[2] / "shared" / "data"))
LEVELS = (0.0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 0.8, 0.95, 1.0)


def problem(seed=0, n=80, d=3, n_outputs=1, new=25):
    """Targets with ties, so that sums of shares meet the levels exactly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + new, d)).round(1)
    y = np.round(X[:, :1] + rng.normal(size=(n + new, n_outputs)), 1)
    y = y[:, 0] if n_outputs == 1 else y
    return X[:n], y[:n], X[n:], y[n:]


# --- the naive twin ---------------------------------------------------------------------------


def naive_weights(forest, X_train, row, mass):
    """Meinshausen's weights, term by term, as exact fractions."""
    here, there = forest.apply(X_train), forest.apply(row[None])[0]
    weights = [Fraction(0)] * len(X_train)
    for t, leaf in enumerate(there):
        inside = np.flatnonzero((here[:, t] == leaf) & (mass[t] > 0))
        total = sum(Fraction(int(mass[t, i])) for i in inside)
        for i in inside:
            weights[i] += Fraction(int(mass[t, i])) / total / len(there)
    return weights


def naive_quantile(weights, y, level):
    """The least target whose share of weight at or below it is at least `level`."""
    met = Fraction(0)
    present = [i for i in np.argsort(y, kind="stable") if weights[i] > 0]
    for i in present:
        met += weights[i]
        if met >= Fraction(str(level)):
            return y[i]
    raise AssertionError


def assert_like_the_twin(forest, X, y, X_new, mass):
    found = forest.predict_quantiles(X_new, LEVELS)
    outputs = y.reshape(len(y), -1)
    assert found.shape == (len(X_new), *y.shape[1:], len(LEVELS))
    found = found.reshape(len(X_new), -1, len(LEVELS))
    for r, row in enumerate(X_new):
        weights = naive_weights(forest, X, row, mass)
        assert sum(weights) == 1
        for k in range(outputs.shape[1]):
            expected = [naive_quantile(weights, outputs[:, k], level) for level in LEVELS]
            np.testing.assert_array_equal(found[r, k], expected)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"min_samples_leaf": 10},
        {"max_depth": 1, "max_samples": 0.5},
        {"max_features": 1, "max_bins": None},
        {"criterion": "absolute_error", "min_samples_leaf": 5},
        {"ccp_alpha": 0.05},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_quantiles_like_the_twin(settings, n_outputs):
    X, y, X_new, _ = problem(n_outputs=n_outputs)
    forest = RandomForestRegressor(7, keep_targets=True, random_state=1, **settings).fit(X, y)
    assert_like_the_twin(forest, X, y, X_new, forest.in_bag_)


def test_weights_that_draw_do_not_count_again():
    X, y, X_new, _ = problem()
    w = np.random.default_rng(3).integers(0, 4, len(y))
    forest = RandomForestRegressor(7, keep_targets=True, min_samples_leaf=4, random_state=1)
    forest.fit(X, y, sample_weight=w)
    assert (forest.in_bag_[:, w == 0] == 0).all()
    assert_like_the_twin(forest, X, y, X_new, forest.in_bag_)


def test_weights_count_where_rows_are_not_drawn_by_them():
    X, y, X_new, _ = problem()
    rng = np.random.default_rng(3)
    w, groups = rng.integers(0, 4, len(y)), rng.integers(0, 20, len(y))
    whole = ExtraTreesRegressor(7, keep_targets=True, min_samples_leaf=4, random_state=1)
    whole.fit(X, y, sample_weight=w)
    assert_like_the_twin(whole, X, y, X_new, np.tile(w, (7, 1)))
    grouped = RandomForestRegressor(7, keep_targets=True, min_samples_leaf=4, random_state=1)
    grouped.fit(X, y, sample_weight=w, groups=groups)
    assert_like_the_twin(grouped, X, y, X_new, grouped.in_bag_ * w.astype(int))


def test_missing_values_and_categories():
    X, y, X_new, _ = problem(d=2)
    tables = []
    for part in (X, X_new):
        table = pd.DataFrame({"a": part[:, 0], "b": np.where(part[:, 1] > 0, "up", "down")})
        table.loc[::7, "a"] = np.nan
        tables.append(table)
    forest = RandomForestRegressor(5, keep_targets=True, random_state=0).fit(tables[0], y)
    found = forest.predict_quantiles(tables[1], [0.5])
    here, there = forest.apply(tables[0]), forest.apply(tables[1])
    for r, row in enumerate(there):
        mass = (here == row) * forest.in_bag_.T
        weights = (mass / mass.sum(axis=0)).mean(axis=1)
        order = np.argsort(y, kind="stable")
        assert found[r, 0] == y[order][np.searchsorted(weights[order].cumsum(), 0.5 - 1e-9)]


def test_a_single_leaf_gives_the_quantiles_of_the_sample():
    X, y, X_new, _ = problem()
    stump = ExtraTreesRegressor(3, keep_targets=True, min_samples_leaf=len(y)).fit(X, y)
    expected = np.quantile(y, LEVELS, method="inverted_cdf")
    found = stump.predict_quantiles(X_new, LEVELS)
    np.testing.assert_array_equal(found, np.tile(expected, (len(X_new), 1)))


def test_the_weights_make_the_forests_prediction():
    X, y, X_new, _ = problem()
    forest = RandomForestRegressor(20, keep_targets=True, min_samples_leaf=3, random_state=0)
    forest.fit(X, y)
    leaves = quantile_forest._ReachedLeaves.of(forest, X_new)
    weights = (
        leaves.reached(np.arange(len(X_new))) @ leaves.shares
    ).toarray() / quantile_forest._UNIT
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(weights @ y, forest.predict(X_new), rtol=1e-9, atol=1e-9)


def test_blocks_and_threads_change_nothing(monkeypatch):
    X, y, X_new, _ = problem(n_outputs=2)
    settings = {"keep_targets": True, "min_samples_leaf": 3, "random_state": 0}
    one = RandomForestRegressor(9, n_jobs=1, **settings).fit(X, y)
    whole = one.predict_quantiles(X_new, LEVELS)
    monkeypatch.setattr(quantile_forest, "_ROWS", 7)
    monkeypatch.setattr(quantile_forest, "_PAIRS", 100)
    many = RandomForestRegressor(9, n_jobs=3, **settings).fit(X, y)
    np.testing.assert_array_equal(many.predict_quantiles(X_new, LEVELS), whole)


def test_quantiles_rise_and_one_may_be_asked_for():
    X, y, X_new, _ = problem()
    forest = RandomForestRegressor(10, keep_targets=True, random_state=0).fit(X, y)
    rising = forest.predict_quantiles(X_new, LEVELS)
    assert (np.diff(rising, axis=1) >= 0).all()
    np.testing.assert_array_equal(forest.predict_quantiles(X_new, 0.5), rising[:, [5]])
    ends = forest.predict_interval(X_new, coverage=0.9, method="quantile")
    np.testing.assert_array_equal(ends, rising[:, [1, 8]])


def test_a_forest_from_a_file_has_the_same_quantiles_and_intervals():
    X, y, X_new, _ = problem()
    settings = {"keep_targets": True, "oob_score": True, "random_state": 0}
    forest = RandomForestRegressor(30, **settings).fit(X, y)
    back = pickle.loads(pickle.dumps(forest))
    for method in intervals.INTERVALS:
        one, two = (model.predict_interval(X_new, 0.8, method) for model in (forest, back))
        np.testing.assert_array_equal(one, two)


def test_quantiles_that_cannot_be():
    X, y, X_new, _ = problem()
    plain = RandomForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="refit it with keep_targets=True"):
        plain.predict_quantiles(X_new)
    forest = RandomForestRegressor(3, keep_targets=True, random_state=0).fit(X, y)
    for wrong in ([0.5, 1.1], [-0.1], [], [np.nan], "half", [[0.1, 0.2]]):
        with pytest.raises(ValueError, match="quantiles must be one or more numbers between 0"):
            forest.predict_quantiles(X_new, wrong)


# --- conformal intervals ----------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_conformal_interval_by_hand(n_outputs):
    X, y, X_new, _ = problem(n_outputs=n_outputs)
    forest = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    errors = np.sort(np.abs(y - forest.oob_prediction_), axis=0)
    for coverage in (0.1, 0.5, 0.7, 0.9):
        half = errors[ceil(Fraction(str(coverage)) * (len(y) + 1)) - 1]
        middle = forest.predict(X_new)
        found = forest.predict_interval(X_new, coverage)
        assert found.shape == (*middle.shape, 2)
        np.testing.assert_array_equal(found, np.stack([middle - half, middle + half], axis=-1))


def test_rows_without_an_out_of_bag_prediction_or_weight_do_not_count():
    y = np.array([1.0, 2.0, 3.0, 4.0])
    said = np.array([0.0, np.nan, 5.0, 4.5])
    found = Calibration.of(y, said, np.array([1.0, 1, 1, 0]), source="rows")
    np.testing.assert_array_equal(found.errors, [[1.0], [-2.0]])
    assert found.weights is None
    both = np.array([[0, 3], [np.nan, 2], [5, 3], [4.5, 4]])
    found = Calibration.of(np.c_[y, y], both, np.array([2.0, 1, 1, 3]), source="rows")
    np.testing.assert_array_equal(found.errors, [[1, -2], [-2, 0], [-0.5, 0]])
    np.testing.assert_array_equal(found.weights, [2, 1, 3])
    X, y, _, _ = problem()
    w = (np.arange(len(y)) % 3 > 0).astype(float)
    forest = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y, sample_weight=w)
    assert len(forest._calibration) == (w > 0).sum()


def test_conformal_intervals_that_cannot_be():
    X, y, X_new, _ = problem()
    plain = RandomForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="refit it with oob_score=True"):
        plain.predict_interval(X_new)
    forest = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="needs at least 99 out-of-bag predictions, but there are"):
        forest.predict_interval(X_new, 0.99)
    for wrong in (0, 1, 1.5, -1, "all", None):
        with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
            forest.predict_interval(X_new, wrong)


@pytest.mark.parametrize("noise", ["normal", "skewed"])
def test_conformal_coverage_over_many_samples(noise):
    """The mean over samples is what is promised, in small samples too."""
    rng = np.random.default_rng(0)
    shares = []
    for seed in range(30):
        X = rng.uniform(-2, 2, size=(460, 3))
        error = rng.normal(size=460) if noise == "normal" else rng.exponential(size=460)
        y = X[:, 0] + np.sin(3 * X[:, 1]) + error
        forest = RandomForestRegressor(50, oob_score=True, min_samples_leaf=3, random_state=seed)
        forest.fit(X[:60], y[:60])
        shares.append(interval_coverage(y[60:], forest.predict_interval(X[60:], 0.8)).coverage)
    assert 0.785 < np.mean(shares) < 0.84
    assert np.std(shares) < 0.08


@pytest.mark.parametrize("name", ["abalone", "kin8nm", "california"])
def test_conformal_coverage_on_real_sets(name):
    path = DATA / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip("the real sets are not here")
    table = pd.read_csv(path, keep_default_na=False, na_values=[""]).sample(4000, random_state=0)
    X, y = table.drop(columns="target"), table["target"].to_numpy()
    forest = RandomForestRegressor(oob_score=True, random_state=0).fit(X[:2000], y[:2000])
    held_out = interval_coverage(y[2000:], forest.predict_interval(X[2000:], 0.9))
    assert held_out.coverage == pytest.approx(0.9, abs=0.02)


# --- measuring --------------------------------------------------------------------------------


def test_interval_coverage():
    found = interval_coverage([1.0, 2.0, 3.0, 9.0], [[1, 2], [1, 2], [2, 4], [3, 7]])
    assert (found.n, found.coverage, found.mean_width) == (4, 0.75, 2.0)
    assert found.standard_error == pytest.approx(np.sqrt(0.75 * 0.25 / 4))
    assert str(found) == found.reading
    assert "3 of 4 targets (75.0%) lie in their intervals, which are 2 wide on average" in str(
        found
    )
    with pytest.raises(AttributeError):
        found.coverage = 1.0
    both = interval_coverage([[1.0, 5.0], [2.0, 6.0]], [[[0, 2], [0, 2]], [[0, 2], [6, 8]]])
    assert (both.n, both.coverage) == (4, 0.75)


def test_interval_coverage_of_things_that_do_not_fit():
    with pytest.raises(ValueError, match=r"interval must have shape \(n, 2\)"):
        interval_coverage([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="2 rows"):
        interval_coverage([1.0, 2.0], [[1, 2], [1, 2], [1, 2]])
    with pytest.raises(ValueError, match="interval has 2 pairs of ends but y has 4 values"):
        interval_coverage([[1.0, 2.0], [3.0, 4.0]], [[1, 2], [1, 2]])
