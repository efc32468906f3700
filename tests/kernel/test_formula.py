"""Predictions and leave-one-out risks are those of the formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris

from kernel.naive import estimates, leave_one_out, scaled
from weald import KernelClassifier, KernelRegressor
from weald.kernel import bandwidth, smoother

KERNELS = ("gaussian", "box")


@st.composite
def problems(draw):
    """Rows, numbers, labels, whole weights, and new rows: ties and duplicates are common."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, m = draw(st.integers(1, 40)), draw(st.integers(1, 4)), 7
    X, X_new = rng.normal(size=(n, d)), 2 * rng.normal(size=(m, d))
    if draw(st.booleans()):
        X, X_new = np.round(X), np.round(X_new)
    X[:, rng.random(d) < 0.1] = 3.0
    stretch = 10.0 ** rng.integers(-3, 4, d)
    y = np.round(rng.normal(size=n) * 10, draw(st.integers(0, 3)))
    return X * stretch, y, rng.integers(0, 3, n), rng.integers(1, 4, n), X_new * stretch


def near(ours, naive, size):
    np.testing.assert_allclose(ours, naive, rtol=1e-10, atol=1e-10 * size)


@settings(max_examples=300, deadline=None)
@given(problems(), st.sampled_from(KERNELS), st.floats(0.05, 5), st.booleans(), st.booleans())
def test_predictions_are_those_of_the_formula(problem, kernel, h, scale, always_tree):
    X, y, labels, w, X_new = problem
    h = h if scale else h * (np.abs(X).max() or 1.0)
    with pytest.MonkeyPatch.context() as patch:
        if always_tree:
            patch.setattr(smoother, "_SPARSE", 2.0)
        model = KernelRegressor(h, kernel=kernel, scale=scale).fit(X, y, w)
        assert (model._smoother._tree is not None) or not always_tree
        naive = estimates(X, y[:, None], w, X_new, kernel, h, scale)[:, 0]
        near(model.predict(X_new), naive, np.abs(y).max())
        shares = KernelClassifier(h, kernel=kernel, scale=scale).fit(X, labels, w)
        of_class = labels[:, None] == np.unique(labels)
        near(shares.predict_proba(X_new), estimates(X, of_class, w, X_new, kernel, h, scale), 1)


def naive_risks(model, X, Y, size):
    """Risks of all bandwidths, and how much they may be off.

    Squared distances are rounded, and the kernel divides them by h^2: a column of far larger
    numbers than the bandwidth leaves that much doubt.
    """
    risks = [leave_one_out(X, Y, model.kernel, h, model.scale) for h in model.bandwidths_]
    Z = scaled(X, X, np.ones(len(X)), model.scale)[0]
    rounding = np.finfo(float).eps * (np.ptp(Z, axis=0) ** 2).sum() / model.bandwidths_**2
    return np.array(risks), 1e-10 * np.array(risks) + size * (1e-10 + rounding)


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from(KERNELS), st.booleans())
def test_risks_are_those_of_leaving_out_each_row(problem, kernel, scale):
    X, y, labels, _, _ = problem
    if len(X) == 1:
        return
    model = KernelRegressor(kernel=kernel, scale=scale).fit(X, y)
    naive, doubt = naive_risks(model, X, y[:, None], (y**2).max())
    assert (np.abs(model.loo_risks_ - naive) <= doubt).all()
    chosen = model.bandwidths_ == model.bandwidth_
    assert model.loo_risks_[chosen] <= (naive * (1 + 1e-9) + 2 * doubt).min()
    model = KernelClassifier(kernel=kernel, scale=scale).fit(X, labels)
    naive, doubt = naive_risks(model, X, labels[:, None] == np.unique(labels), 1)
    assert (np.abs(model.loo_risks_ - naive) <= doubt).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sparse", [2.0, 0.0])
def test_blocks_change_no_bit(kernel, sparse, monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    monkeypatch.setattr(smoother, "_SPARSE", sparse)
    model = KernelRegressor(0.4, kernel=kernel).fit(X, y)
    assert (model._smoother._tree is None) == (sparse == 0)
    whole = model.predict(X)
    alone = [model.predict(row)[0] for row in X[:, None]]
    np.testing.assert_array_equal(whole, alone)
    for pairs in (1, 1000, 10**7):
        monkeypatch.setattr(smoother, "PAIRS", pairs)
        monkeypatch.setattr(smoother, "_NEAR_PAIRS", pairs)
        np.testing.assert_array_equal(whole, model.predict(X))


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_of_rows_left_out_change_nothing(kernel, monkeypatch):
    X, y = load_iris(return_X_y=True)
    one = KernelClassifier(kernel=kernel).fit(X, y)
    monkeypatch.setattr(bandwidth, "PAIRS", 1000)
    two = KernelClassifier(kernel=kernel).fit(X, y)
    assert one.bandwidth_ == two.bandwidth_
    np.testing.assert_allclose(one.loo_risks_, two.loo_risks_, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_tree_of_points_gives_what_a_scan_gives(kernel, monkeypatch):
    X = np.random.default_rng(0).normal(size=(2000, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    X_new = np.concatenate([1.5 * X[:500], [[50.0, -50.0]]])
    tree = KernelRegressor(0.05, kernel=kernel).fit(X, y)
    monkeypatch.setattr(smoother, "_SPARSE", 0.0)
    scan = KernelRegressor(0.05, kernel=kernel).fit(X, y)
    assert tree._smoother._tree is not None
    assert scan._smoother._tree is None
    np.testing.assert_allclose(tree.predict(X_new), scan.predict(X_new), rtol=1e-12, atol=1e-12)


def test_a_sample_of_rows_chooses_about_the_same(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 10, (1500, 1))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.3, 1500)
    all_rows = KernelRegressor().fit(X, y)
    monkeypatch.setattr(bandwidth, "_MOST_PAIRS", 0)
    some = KernelRegressor().fit(X, y)
    assert 0.5 < some.bandwidth_ / all_rows.bandwidth_ < 2
    np.testing.assert_allclose(some.loo_risks_.min(), all_rows.loo_risks_.min(), rtol=0.15)


def test_scott():
    X = np.random.default_rng(2).normal(size=(500, 3)) * 7
    h = 500 ** (-1 / 7)
    assert KernelRegressor("scott").fit(X, X[:, 0]).bandwidth_ == pytest.approx(h)
    box = KernelRegressor("scott", kernel="box").fit(X, X[:, 0])
    assert box.bandwidth_ == pytest.approx(h * np.sqrt(5))
    raw = KernelRegressor("scott", scale=False).fit(X, X[:, 0])
    assert raw.bandwidth_ == pytest.approx(7 * h, rel=0.1)
    assert not hasattr(raw, "loo_risks_")
