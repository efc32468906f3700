"""Trees of thousands of rows, node by node: every split is as good as the best there is.

The engine goes other ways about large nodes than about small ones. Here NumPy looks through all
cuts of every node of its trees, with sums over sorted rows, and no tie can upset it.
"""

from itertools import product

import numpy as np
import pytest

from gate import some
from oracle.cart import split_of, walk
from weald import GradientBoostingClassifier, GradientBoostingRegressor, losses
from weald.boosting.units import row_scale

CLOSE = 1e-6  # of what single rows would gain: splits are searched with sums of 30 bits


def left_sums(key, c, h, start):
    """Sums of c and h and rows on the left, of all cuts between different keys in order.

    `start` is what lies on the left from the beginning: (c, h, rows), such as missing values.
    """
    order = np.argsort(key, kind="stable")
    key = key[order]
    last = np.r_[np.flatnonzero(np.diff(key) > 0), len(key) - 1]
    C, H = np.cumsum(c[order])[last] + start[0], np.cumsum(h[order])[last] + start[1]
    n = last + 1 + start[2]
    return C, H, n


def best_gain(x, c, h, categorical, settings):
    """The best allowed gain of a column in a node."""
    l2, least, least_h = settings
    there = ~np.isnan(x)
    if not there.any():
        return -np.inf
    total, whole, n_all = c.sum(), h.sum(), len(c)
    key = x
    if categorical:
        codes = x[there].astype(int)
        ratio = np.bincount(codes, c[there]) / np.maximum(np.bincount(codes, h[there]), 1e-300)
        key = np.where(there, ratio[np.where(there, x, 0).astype(int)], np.nan)
    sides = [(0.0, 0.0, 0)]
    if not there.all():
        sides.append((c[~there].sum(), h[~there].sum(), int((~there).sum())))
    best = -np.inf
    for start in sides:
        C, H, n = left_sums(key[there], c[there], h[there], start)
        ok = (n >= least) & (n_all - n >= least) & (least_h <= H) & (whole - H >= least_h)
        ok &= (n < n_all) & (H > 0) & (whole - H > 1e-12 * whole)
        if ok.any():
            gains = C**2 / (H + l2) + (total - C) ** 2 / np.where(ok, whole - H + l2, 1)
            best = max(best, gains[ok].max() - total**2 / (whole + l2))
    return best / 2


def gain_of(left, c, h, l2):
    parts = [(c[side].sum(), h[side].sum()) for side in (left, ~left)]
    whole = c.sum() ** 2 / (h.sum() + l2)
    return (sum(C**2 / (H + l2) for C, H in parts) - whole) / 2


def check_tree(tree, X, c, h, w, kinds, settings, limits):
    """Every split is allowed and as good as the best; every leaf has a reason."""
    l2, least, least_h = settings
    max_depth, max_leaves, min_gain = limits
    gains = np.full(tree.node_count, -np.inf)  # of the nodes' splits; of leaves, the best there is
    slacks = np.zeros(tree.node_count)
    for i, depth, rows in walk(tree, X, np.flatnonzero(w > 0)):
        here = c[rows], h[rows]
        slacks[i] = CLOSE * float((here[0] ** 2 / np.maximum(here[1], 1e-12)).sum())
        best = max(best_gain(X[rows, j], *here, kinds[j], settings) for j in range(X.shape[1]))
        split = split_of(tree, i)
        if split is None:
            gains[i] = best - min_gain if depth != max_depth else -np.inf
            continue
        left = split.goes_left(X[rows])
        assert min(left.sum(), (~left).sum()) >= least
        assert min(here[1][left].sum(), here[1][~left].sum()) >= least_h * (1 - 1e-6)
        gains[i] = gain_of(left, *here, l2) - min_gain
        assert gains[i] >= -slacks[i]
        # Equal categories in another order may be better.
        if not kinds[split.feature] or l2 == 0:
            assert gains[i] >= best - min_gain - slacks[i]
    inner = np.flatnonzero(tree.children_left >= 0)
    assert max_leaves is None or len(inner) < max_leaves
    full = max_leaves is not None and len(inner) + 1 == max_leaves
    check_order(tree, gains, slacks, full)
    return len(inner)


def check_order(tree, gains, slacks, full):
    """Best first: as long as there were leaves to spend, nothing better was left alone."""
    open_nodes, left_to_do = [0], int((tree.children_left >= 0).sum())
    while open_nodes:
        leaves = [i for i in open_nodes if tree.children_left[i] < 0]
        inner = [i for i in open_nodes if tree.children_left[i] >= 0]
        if left_to_do == 0:
            assert full or all(gains[i] <= slacks[i] for i in leaves)
            return
        best = max(inner, key=lambda i: gains[i])
        assert all(gains[i] <= max(gains[best], 0) + slacks[i] + slacks[best] for i in leaves)
        open_nodes.remove(best)
        open_nodes += [int(tree.children_left[best]), int(tree.children_right[best])]
        left_to_do -= 1


def table(rng, n, kind):
    """Columns that make the engine go different ways."""
    if kind == "real":
        return rng.normal(size=(n, 6)), [False] * 6
    if kind == "many columns":
        return np.round(rng.normal(size=(n, 40)), 1), [False] * 40
    if kind == "few values":
        return rng.integers(0, 4, (n, 6)).astype(float), [False] * 6
    X = np.c_[rng.normal(size=(n, 3)), rng.integers(0, 30, n), rng.integers(0, 4, n)]
    X[rng.random(X.shape) < 0.15] = np.nan
    X = np.round(X, 1)  # fewer values than bins
    return X, [False, False, False, True, True]


CASES = [
    *product(
        ["squared_error", "log_loss", "poisson", "absolute_error"],
        ["real", "many columns", "few values", "gaps and categories"],
        ["none", "whole", "real"],
    )
]
SHAPES = [
    {"max_depth": 5, "max_leaf_nodes": None},
    {"max_leaf_nodes": 20},
    {"max_leaf_nodes": 31, "min_samples_leaf": 20},
    {"max_depth": 4, "max_leaf_nodes": None, "min_hessian": 20.0},
    {"max_leaf_nodes": 40, "min_gain": 1.0},
]


@pytest.mark.parametrize("number", some(range(len(CASES))), ids=lambda i: "-".join(CASES[i]))
def test_splits_of_large_nodes(number):
    loss, kind, weights = CASES[number]
    rng = np.random.default_rng(number)
    n = int(rng.choice([600, 3000]))
    X, kinds = table(rng, n, kind)
    signal = np.nan_to_num(X[:, 0] - X[:, 1] * X[:, 2]) + np.nan_to_num(np.cos(X[:, -1]))
    y = signal + rng.normal(size=n)
    if loss == "log_loss":
        y = (y > 0).astype(int)
    if loss == "poisson":
        y = rng.poisson(np.exp(np.clip(y / 2, -2, 2)))
    w = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.uniform(0, 2, n)}[weights]
    w = None if w is None else row_scale(w) * w
    shape = SHAPES[number % len(SHAPES)]
    l2 = float(rng.choice([0.0, 1.0]))
    classes = loss == "log_loss"
    est = (GradientBoostingClassifier if classes else GradientBoostingRegressor)(
        loss=loss,
        n_estimators=2,
        learning_rate=0.5,
        l2_regularization=l2,
        categorical_smoothing=0.0,
        max_features=None,
        max_bins=None if kind == "real" else 255,
        categorical_features=[j for j, categorical in enumerate(kinds) if categorical] or None,
        **{"min_hessian": 0.0, "min_gain": 0.0} | shape,
    ).fit(X, y, w)
    known = losses.get_loss(loss)
    weight = np.ones(n) if w is None else np.asarray(w, dtype=float)
    F = np.full(n, float(est.init_))
    newton = loss != "absolute_error"
    settings = (
        l2,
        shape.get("min_samples_leaf", 1),
        shape.get("min_hessian", 0.0) if newton else 0.0,
    )
    limits = (shape.get("max_depth"), shape.get("max_leaf_nodes"), shape.get("min_gain", 0.0))
    made = 0
    for t in range(2):
        c = -weight * known.gradient(y, F)
        h = weight * (known.hessian(y, F) if newton else 1.0)
        made += check_tree(est.estimators_[t, 0].tree_, X, c, h, weight, kinds, settings, limits)
        F = F + est.estimators_[t, 0].predict(X)
    assert made > 5
