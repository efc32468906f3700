"""Laws of AdaBoost.R2: weights are repetitions, perfect members decide, all numbers are finite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1

from oracle.scripted import Scripted, scripted
from weald import AdaBoostRegressor, DecisionTreeRegressor

X, Y = make_friedman1(300, noise=1.0, random_state=0)
NEW, NEW_Y = make_friedman1(200, noise=1.0, random_state=1)
LOSSES = ("linear", "square", "exponential")


def all_finite(model):
    numbers = (model.errors_, model.edges_, model.alphas_, model.normalizers_)
    return all(np.isfinite(each).all() for each in numbers)


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_weight_is_repetition(loss):
    times = np.random.default_rng(1).integers(0, 4, len(Y))
    rows = np.repeat(np.arange(len(Y)), times)
    weighted, repeated = (
        AdaBoostRegressor(n_estimators=12, loss=loss, resample=False).fit(*given)
        for given in ((X, Y, times), (X[rows], Y[rows]))
    )
    np.testing.assert_allclose(weighted.errors_, repeated.errors_, rtol=1e-9)
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), rtol=1e-9)


def test_weight_is_repetition_in_distribution():
    """With drawn rows the same holds for the mean over many seeds."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(40, 2))
    y = inputs[:, 0] + rng.normal(size=40)
    times = rng.integers(0, 4, 40)
    rows = np.repeat(np.arange(40), times)
    weighted, repeated = (
        np.array(
            [
                AdaBoostRegressor(n_estimators=4, random_state=seed, n_jobs=1)
                .fit(*given)
                .predict(inputs)
                for seed in seeds
            ]
        )
        for given, seeds in (
            ((inputs, y, times), range(300)),
            ((inputs[rows], y[rows]), range(300, 600)),
        )
    )
    error = np.sqrt((weighted.var(axis=0) + repeated.var(axis=0)) / 300)
    z = (weighted.mean(axis=0) - repeated.mean(axis=0)) / np.maximum(error, 1e-9)
    assert np.abs(z).max() < 5
    assert np.sqrt((z**2).mean()) < 2


def test_a_row_without_weight_is_absent():
    absent = np.arange(len(Y)) % 5 == 0
    wild = np.where(absent, 1e6, Y)
    a = AdaBoostRegressor(n_estimators=8, resample=False).fit(X, wild, ~absent)
    b = AdaBoostRegressor(n_estimators=8, resample=False).fit(X[~absent], Y[~absent])
    np.testing.assert_allclose(a.predict(NEW), b.predict(NEW), rtol=1e-9)
    np.testing.assert_allclose(a.errors_, b.errors_, rtol=1e-9)
    drawn = AdaBoostRegressor(random_state=0).fit(X, wild, ~absent)
    assert drawn.predict(NEW).max() <= Y.max()


def test_weights_stay_weights():
    model = AdaBoostRegressor(random_state=0, keep_weights=True).fit(X, Y)
    assert model.weights_.shape == (model.n_estimators_ + 1, len(Y))
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    assert (model.weights_ > 0).all()
    assert not hasattr(AdaBoostRegressor(n_estimators=2).fit(X, Y), "weights_")


# --- nothing that is not finite -------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 25),
    levels=st.integers(1, 6),
    spread=st.sampled_from([0, 12]),
    loss=st.sampled_from(LOSSES),
    resample=st.booleans(),
    rate=st.sampled_from([1e-3, 1.0, 10.0]),
    depth=st.sampled_from([1, 3, None]),
    when_worse=st.sampled_from(["stop", "skip"]),
)
@pytest.mark.filterwarnings("ignore:No member")
def test_always_finite(seed, n, levels, spread, loss, resample, rate, depth, when_worse):
    rng = np.random.default_rng(seed)
    inputs = rng.integers(0, levels, size=(n, 3)).astype(float)
    y = rng.integers(0, levels, n) * 10.0 ** rng.integers(-spread, spread + 1)
    weights = 10.0 ** rng.uniform(-spread, spread, n)
    weights[1:][rng.random(n - 1) < 0.2] = 0
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=depth),
        n_estimators=12,
        loss=loss,
        resample=resample,
        learning_rate=rate,
        random_state=seed,
        when_worse=when_worse,
        keep_weights=True,
    ).fit(inputs, y, weights)
    assert all_finite(model)
    assert np.isfinite(model.weights_).all()
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    said = model.predict(inputs)
    assert np.isfinite(said).all()
    there = weights > 0
    slack = 1e-9 * np.abs(y[there]).max()
    assert y[there].min() - slack <= said.min() <= said.max() <= y[there].max() + slack
    assert np.isfinite(model.feature_importances_).all()
    if model.stop_reason_ == "perfect":
        last = model.estimators_[-1].predict(inputs)
        np.testing.assert_allclose(last[there], y[there], atol=slack)


def test_a_perfect_member_stops_and_decides():
    grid = np.arange(40.0)[:, None]
    y = np.repeat([0.0, 1.0, 5.0, 2.0], 10)
    model = AdaBoostRegressor(resample=False).fit(grid, y)
    assert (model.n_estimators_, model.stop_reason_, model.errors_[0]) == (1, "perfect", 0)
    np.testing.assert_array_equal(model.predict(grid), y)


def test_a_perfect_member_counts_like_the_best_before_it():
    rng = np.random.default_rng(0)
    y = rng.normal(size=20)
    script = np.stack([y + 0.1 * rng.normal(size=20) for _ in range(6)])
    script[4] = y
    model, _ = scripted(AdaBoostRegressor(Scripted(), n_estimators=6), y, script, None)
    assert (model.n_estimators_, model.stop_reason_) == (5, "perfect")
    assert model.alphas_[4] == max(2.0, *model.alphas_[:4])


@pytest.mark.parametrize("y", [np.full(30, 0.1), np.zeros(30), np.full(1, 7.0)])
@pytest.mark.parametrize("resample", [False, True])
def test_constant_targets_and_one_row(y, resample):
    model = AdaBoostRegressor(resample=resample).fit(X[: len(y)], y)
    assert model.stop_reason_ == "perfect"
    np.testing.assert_array_equal(model.predict(NEW), np.full(len(NEW), y[0]))
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(X.shape[1]))
