"""A row of weight k is k rows, to the bit; order and units do not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.naive import leave_one_out
from weald import KernelClassifier, KernelRegressor
from weald.kernel import bandwidth

KERNELS = ("gaussian", "box")
BOTH = (KernelClassifier, KernelRegressor)


def says(model, X):
    return model.predict_proba(X) if isinstance(model, KernelClassifier) else model.predict(X)


def same(one, two, X):
    assert one.bandwidth_ == two.bandwidth_
    if hasattr(one, "loo_risks_"):
        np.testing.assert_array_equal(one.bandwidths_, two.bandwidths_)
        np.testing.assert_array_equal(one.loo_risks_, two.loo_risks_)
    np.testing.assert_array_equal(says(one, X), says(two, X))


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(BOTH),
    st.sampled_from(KERNELS),
    st.sampled_from(["loo", "scott", 0.3]),
    st.booleans(),
)
def test_weight_is_repetition(seed, kind, kernel, h, scale):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 60))
    X = np.round(rng.normal(size=(n, 2)), int(rng.integers(0, 3)))
    y, times = rng.integers(0, 3, n), rng.integers(0, 4, n)
    y[:3] = 0, 1, 2  # the same classes on both sides
    times[:3] = np.maximum(times[:3], 1)
    mixed = rng.permutation(times.sum())
    model = kind(h, kernel=kernel, scale=scale)
    weighted = model.fit(X, y, sample_weight=times)
    rows, targets = X.repeat(times, axis=0)[mixed], y.repeat(times)[mixed]
    same(weighted, kind(h, kernel=kernel, scale=scale).fit(rows, targets), X)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", BOTH)
def test_weight_is_repetition_where_only_some_rows_are_left_out(kind, kernel, monkeypatch):
    monkeypatch.setattr(bandwidth, "_MOST_PAIRS", 0)
    monkeypatch.setattr(bandwidth, "_LEAST_ROWS", 50)
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(300, 3)), rng.integers(1, 4, 300)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    repeated = kind(kernel=kernel).fit(X.repeat(times, axis=0), y.repeat(times))
    same(kind(kernel=kernel).fit(X, y, sample_weight=times), repeated, X)


@pytest.mark.parametrize("kernel", KERNELS)
def test_one_of_k_rows_is_left_out(kernel):
    rng = np.random.default_rng(3)
    X, y, times = rng.normal(size=(30, 2)), rng.normal(size=30), rng.integers(1, 4, 30)
    model = KernelRegressor(kernel=kernel).fit(X, y, sample_weight=times)
    rows, targets = X.repeat(times, axis=0), y.repeat(times)[:, None]
    naive = [leave_one_out(rows, targets, kernel, h, True) for h in model.bandwidths_]
    np.testing.assert_allclose(model.loo_risks_, naive, rtol=1e-10)


def test_light_rows_are_left_out_as_a_whole():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    one = KernelRegressor().fit(X, y)
    light = KernelRegressor().fit(X, y, sample_weight=np.full(50, 0.25))
    assert light.bandwidth_ == pytest.approx(one.bandwidth_)
    np.testing.assert_allclose(light.loo_risks_, one.loo_risks_)


@pytest.mark.parametrize("kernel", KERNELS)
def test_units_do_not_matter(kernel):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    X_new = rng.normal(size=(20, 3))
    stretch, shift = np.array([1e-6, 3.0, 1e9]), np.array([1e-6, -20.0, 5e9])
    one = KernelRegressor(kernel=kernel).fit(X, y)
    two = KernelRegressor(kernel=kernel).fit(X * stretch + shift, y)
    assert one.bandwidth_ == pytest.approx(two.bandwidth_)
    np.testing.assert_allclose(one.predict(X_new), two.predict(X_new * stretch + shift), rtol=1e-8)
    raw, far = (
        KernelRegressor(kernel=kernel, scale=False).fit(X * unit, y) for unit in (1.0, 1e200)
    )
    assert raw.bandwidth_ == pytest.approx(far.bandwidth_ / 1e200)
    np.testing.assert_allclose(raw.predict(X_new), far.predict(X_new * 1e200), rtol=1e-10)
