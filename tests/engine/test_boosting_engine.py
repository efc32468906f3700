"""The engine of gradient boosting: losses, sums, bundles, row counts, prediction by masks."""

from __future__ import annotations

import numpy as np
import pytest

import weald
from weald import _engine as engine
from weald import losses

PARAMETERS = {
    "squared_error": ({}, 0.0),
    "absolute_error": ({}, 0.0),
    "quantile": ({"quantile": 0.3}, 0.3),
    "huber": ({"delta": 0.7}, 0.7),
    "log_cosh": ({}, 0.0),
    "poisson": ({}, 0.0),
    "gamma": ({}, 0.0),
    "tweedie": ({"power": 1.4}, 1.4),
    "log_loss": ({}, 0.0),
    "exponential": ({}, 0.0),
    "smooth_hinge": ({"smoothness": 0.8}, 0.8),
    "focal": ({"gamma": 1.5}, 1.5),
}
CONSTANT = ("absolute_error", "quantile")  # no second derivative: the engine says 1


def boosting(X, n_scores=1, weights=None, threads=1, max_bins=255, **rules):
    """Boosting on a table of numbers."""
    given = engine.Rules()
    given.max_leaves, given.frontier = 15, "best_first"
    for name, value in rules.items():
        setattr(given, name, value)
    matrix = engine.bin_table(X, [0] * X.shape[1], max_bins, False, weights, threads, True)
    return engine.make_boosting(matrix, given, n_scores, weights, threads)


def table(n, seed=0):
    """Normal numbers."""
    return np.random.default_rng(seed).standard_normal((n, 5))


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_those_of_python(name, weighted):
    params, parameter = PARAMETERS[name]
    rng = np.random.default_rng(1)
    n = 1003
    loss = losses.get_loss(name, **params)
    y = rng.gamma(1.0, 1.0, n) if loss.kind == "regression" else (rng.random(n) < 0.4) * 1.0
    F = 3 * rng.standard_normal(n)
    F[:6] = [0.0, -40.0, 40.0, -350.0, 350.0, y[5]]
    if name in ("poisson", "gamma", "tweedie", "exponential"):
        F[:6] /= 10
    w = rng.random(n) if weighted else None
    b = boosting(table(n), weights=w)
    b.scores[0] = F
    told = b.differentiate(name, y, parameter)
    np.testing.assert_allclose(b.gradients[0], loss.gradient(y, F), rtol=1e-12, atol=1e-14)
    hessian = np.ones(n) if name in CONSTANT else loss.hessian(y, F)
    np.testing.assert_allclose(b.hessians[0], hessian, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(told, loss.mean(y, F, w), rtol=1e-12)
    assert b.mean_loss(name, y, parameter) == told


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_softmax_is_that_of_python(n_classes):
    rng = np.random.default_rng(2)
    n = 700
    y = rng.integers(0, n_classes, n).astype(float)
    F = 4 * rng.standard_normal((n, n_classes))
    F[0], F[1] = 500.0, -500.0
    F[2, 0] = 700.0
    loss = losses.Softmax(n_classes)
    b = boosting(table(n), n_classes)
    b.scores[:] = F.T
    told = b.differentiate("softmax", y)
    np.testing.assert_allclose(b.gradients.T, loss.gradient(y, F), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(b.hessians.T, loss.hessian(y, F), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(told, loss.mean(y, F), rtol=1e-12)


def test_unknown_losses_and_wrong_shapes_are_refused():
    b = boosting(table(20))
    with pytest.raises(ValueError, match="not a built-in loss"):
        b.differentiate("cubic", np.zeros(20))
    with pytest.raises(ValueError, match="one target per row"):
        b.differentiate("squared_error", np.zeros(19))
    with pytest.raises(ValueError, match="no tree was grown"):
        b.leaf_of(0)
    with pytest.raises(ValueError, match="one score"):
        boosting(table(20), 3).differentiate("log_loss", np.zeros(20))
    with pytest.raises(ValueError, match="class code"):
        boosting(table(20), 3).differentiate("softmax", np.full(20, 3.0))
    b.gradients[0, 3] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        b.grow(0, 0, 2, 0.0)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("order", [1, 2])
def test_leaf_sums_and_quantiles(weights, order):
    rng = np.random.default_rng(3)
    n = 900
    X = table(n, 3)
    w = {"none": None, "whole": rng.integers(0, 4, n) * 1.0, "real": rng.random(n) * 7}[weights]
    b = boosting(X, weights=w, threads=2)
    y = X[:, 0] + rng.standard_normal(n)
    b.gradients[0], b.hessians[0] = -y, rng.random(n)
    times = rng.integers(0, 3, n) * 1.0
    b.grow(0, 0, order, 1.0, times)
    leaf, counted = b.leaf_of(0), times * (1.0 if w is None else w)
    sums = b.leaf_sums(0)
    for k in range(b.n_leaves(0)):
        inside = (leaf == k) & (counted > 0)
        c = counted[inside]
        expected = [(c * -y[inside]).sum(), (c * b.hessians[0, inside]).sum(), c.sum()]
        np.testing.assert_allclose(sums[k], expected, rtol=1e-9, atol=1e-9)
        quantile = losses.search.weighted_quantile(y[inside], c, 0.3)
        np.testing.assert_allclose(b.leaf_quantiles(0, y, 0.3)[k], quantile, rtol=1e-12)
    before = b.scores.copy()
    values = np.arange(b.n_leaves(0)) / 7
    b.add(0, values)
    np.testing.assert_array_equal(b.scores[0], before[0] + values[leaf])
    [core] = b.trees()
    said = engine.Forest(core).values(X)[:, 0, 0]
    np.testing.assert_array_equal(said, values[leaf])


def test_the_order_of_rows_and_the_number_of_threads_are_nothing():
    rng = np.random.default_rng(4)
    n = 50_000
    X = rng.standard_normal((n, 6)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + rng.standard_normal(n) > 0) * 1.0
    shuffled = rng.permutation(n)

    def scores(rows, threads):
        b = boosting(X[rows], threads=threads)
        for t in range(5):
            b.differentiate("log_loss", y[rows])
            b.grow(7, t, 2, 1.0)
            sums = b.leaf_sums(0)
            b.add(0, -0.3 * sums[:, 0] / (sums[:, 1] + 1))
        return b.scores[0].copy()

    plain = scores(np.arange(n), 1)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(scores(np.arange(n), threads), plain)
    np.testing.assert_array_equal(scores(shuffled, 2), plain[shuffled])


def one_hot(n, rng):
    """Numbers, ten columns of which one is 1, and one that is mostly 0."""
    code = rng.integers(0, 10, n)
    rare = np.where(rng.random(n) < 0.9, 0, rng.integers(1, 6, n))
    X = np.column_stack(
        [np.round(rng.standard_normal((n, 2)), 1), code[:, None] == np.arange(10), rare]
    )
    return X.astype(float), code


@pytest.mark.parametrize("case", range(12))
def test_bundled_columns_give_the_same_trees(case):
    rng = np.random.default_rng(case)
    X, code = one_hot(int(rng.integers(100, 900)), rng)
    if case % 2:
        X[rng.random(len(X)) < 0.05, 5] = np.nan
    y = X[:, 0] + code % 3 + rng.standard_normal(len(X)) > 1
    settings = {"n_estimators": 6, "learning_rate": 0.3, "max_leaf_nodes": 15, "max_features": None}
    settings |= {"min_samples_leaf": 1 + case % 5, "random_state": 0}
    settings["subsample"] = 0.7 if case % 3 == 0 else 1.0
    bundled, apart = (
        weald.GradientBoostingClassifier(max_bins=bins, **settings).fit(X, y)
        for bins in (255, None)
    )
    np.testing.assert_allclose(
        bundled.decision_function(X), apart.decision_function(X), rtol=1e-9, atol=1e-9
    )


FEW = {
    "two": lambda rng, n: rng.integers(0, 2, (n, 12)),
    "rarely": lambda rng, n: rng.random((n, 12)) < 0.1,
    "two to nine": lambda rng, n: rng.integers(0, np.arange(2, 14) % 8 + 2, (n, 12)),
    "and more": lambda rng, n: rng.integers(0, [2, 3, 2, 40, 250, 2, 3, 2, 16, 17, 1, 5], (n, 12)),
}


@pytest.mark.parametrize("n", [140, 700, 2500, 17_000])  # of 2, 8, 32 and 256 codes in a byte
@pytest.mark.parametrize("kind", FEW)
@pytest.mark.parametrize("gaps", [False, True])
def test_columns_of_few_values_share_bytes(kind, n, gaps):
    rng = np.random.default_rng(n)
    X = FEW[kind](rng, n).astype(float)
    y = X[:, 0] + X[:, 1] * X[:, 2] + X[:, 11] + rng.standard_normal(n)
    if gaps:
        X[rng.random(X.shape) < 0.05] = np.nan
    settings = {"n_estimators": 5, "learning_rate": 0.3, "max_leaf_nodes": 15, "random_state": 0}
    settings["min_samples_leaf"] = 5
    # A share of the columns is drawn per node, so that some are unpacked in vain.
    for more in ({"max_features": None}, {"max_features": 0.5, "subsample": 0.7}):
        shared, twice, apart = (
            weald.GradientBoostingRegressor(max_bins=bins, n_jobs=jobs, **settings, **more)
            .fit(X, y)
            .predict(X)
            for bins, jobs in ((255, 1), (255, 2), (None, 1))
        )
        np.testing.assert_array_equal(shared, twice)
        np.testing.assert_allclose(shared, apart, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", range(15))
def test_leaves_have_enough_rows_whatever_they_weigh(case):
    rng = np.random.default_rng(case)
    n = int(rng.integers(60, 250))
    X = np.round(rng.standard_normal((n, 4)), 1)
    X[rng.random((n, 4)) < 0.1] = np.nan
    X[:, 3] = rng.integers(0, 8, n)
    y = np.nan_to_num(X[:, 0]) + rng.standard_normal(n) > 0
    w = [None, rng.integers(0, 3, n) * 1.0, rng.random(n)][case % 3]
    least = int(rng.integers(2, 25))
    settings = {"n_estimators": 5, "learning_rate": 0.3, "min_samples_leaf": least}
    settings |= {"min_hessian": 0.0, "categorical_features": [3], "max_features": None}
    quick, counted = (
        weald.GradientBoostingClassifier(max_bins=bins, **settings).fit(X, y, w)
        for bins in (255, None)
    )
    leaves = quick.apply(X).reshape(n, -1)[np.ones(n, bool) if w is None else w > 0]
    assert min(np.unique(tree, return_counts=True)[1].min() for tree in leaves.T) >= least
    # Counting beside the pairs, as is done without bins, finds the same trees.
    np.testing.assert_allclose(
        quick.decision_function(X), counted.decision_function(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("leaves", [2, 31, 32, 33, 64, 65])
def test_prediction_by_masks_is_prediction_by_walking(dtype, leaves):
    rng = np.random.default_rng(leaves)
    X = rng.standard_normal((1000, 6)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = rng.integers(0, 40, 1000)
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + X[:, 3] % 3 + rng.standard_normal(1000)
    model = weald.RandomForestRegressor(
        5, max_leaf_nodes=leaves, max_bins=255, categorical_features=[3], random_state=0
    ).fit(X, y)
    X[:5, 3] = [np.nan, 40, 77, -1, 39]  # some never seen
    X[5, 0], X[6, 1] = 1e30, -1e30
    few = [model.predict(X[i : i + 50]) for i in range(0, 1000, 50)]  # too few rows for masks
    np.testing.assert_array_equal(model.predict(X), np.concatenate(few))


def test_rare_categories_do_not_choose_their_side():
    rng = np.random.default_rng(5)
    n = 2000
    code = np.where(rng.random(n) < 0.5, rng.integers(0, 4, n), rng.integers(4, 200, n))
    y = (code % 2 == 0) * (code < 4) + 0.5 * rng.standard_normal(n)
    X = code[:, None].astype(float)
    settings = {"n_estimators": 1, "learning_rate": 1.0, "max_leaf_nodes": 2, "max_features": None}
    settings |= {"l2_regularization": 0.0, "categorical_features": [0]}
    smooth = weald.GradientBoostingRegressor(categorical_smoothing=30.0, **settings).fit(X, y)
    free = weald.GradientBoostingRegressor(categorical_smoothing=0.0, **settings).fit(X, y)
    seen_rare = np.unique(code[code >= 4])[:, None].astype(float)
    assert len(np.unique(smooth.predict(seen_rare))) == 1
    assert len(np.unique(free.predict(seen_rare))) == 2


@pytest.mark.parametrize("weight", [1e-20, 1e-90, 1.0, 1e90])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_weights_have_no_scale(weight, loss):
    rng = np.random.default_rng(6)
    X = table(300, 6)
    y = X[:, 0] + 0.1 * rng.standard_normal(300)
    settings = {"loss": loss, "n_estimators": 5, "learning_rate": 0.3, "l2_regularization": 0.0}
    settings |= {"max_features": None, "max_leaf_nodes": 8, "min_hessian": 0.0}
    plain = weald.GradientBoostingRegressor(**settings).fit(X, y, np.full(300, 0.7))
    scaled = weald.GradientBoostingRegressor(**settings).fit(X, y, np.full(300, 0.7 * weight))
    np.testing.assert_allclose(scaled.predict(X), plain.predict(X), rtol=1e-6, atol=1e-6)


def test_rows_of_no_weight_may_have_any_gradient():
    n = 200
    X = table(n, 7)
    w = np.ones(n)
    w[::3] = 0
    b = boosting(X, weights=w)
    b.gradients[0], b.hessians[0] = X[:, 0], 1.0
    b.grow(0, 0, 2, 1.0)
    expected = b.leaf_sums(0)
    b.gradients[0, ::3], b.hessians[0, ::3] = np.inf, np.nan
    b.grow(0, 0, 2, 1.0)
    np.testing.assert_array_equal(b.leaf_sums(0), expected)
