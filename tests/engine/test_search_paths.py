"""The ways to search a node must find the same splits.

Two classes of small whole weights go through kernels of their own, chosen by the size of the node.
A third class that never occurs sends the same problem through the general search.
"""

import numpy as np
import pytest

from weald import _engine as engine

SIZES = [2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 64, 100, 255, 256, 300, 700, 1500, 4000, 4097, 9000]


def forest(X, y, n_classes, *, max_features, random_split, weights=None, **rest):
    matrix = engine.bin_table(X, [0] * X.shape[1], 255, False, None, 1)
    rules = engine.Rules()
    rules.max_depth = 1
    rules.max_features = max_features
    rules.random_split = random_split
    for name, value in rest.items():
        setattr(rules, name, value)
    target = engine.labels(y[:, None], [n_classes], weights)
    draw = engine.Draw()
    return engine.grow_forest(matrix, target, "gini", rules, draw, False, 5, 0, 4, 1)


def leaf_impurity(tree):
    leaf = tree.is_leaf
    weight = tree.weighted_n_node_samples
    return float((weight * tree.impurity)[leaf].sum() / weight[0])


@pytest.mark.parametrize("random_split", [False, True])
@pytest.mark.parametrize("max_features", [0, 3])
@pytest.mark.parametrize("values", ["real", "few", "missing"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_two_classes_are_split_as_three_of_which_one_is_empty(
    n, weighted, values, max_features, random_split
):
    rng = np.random.default_rng(n)
    for _ in range(3):
        X = rng.normal(size=(n, 7))
        if values == "few":
            X = np.round(X)
        elif values == "missing":
            X[rng.random(X.shape) < 0.2] = np.nan
        y = (np.nan_to_num(X[:, 0] + X[:, 1]) + rng.normal(size=n) > 0).astype(np.int32)
        weights = rng.integers(1, 6, n).astype(float) if weighted else None
        settings = {
            "max_features": max_features,
            "random_split": random_split,
            "weights": weights,
        }
        two, three = (forest(X, y, k, **settings) for k in (2, 3))
        for t in range(two.n_trees):
            a, b = two.tree(t), three.tree(t)
            np.testing.assert_allclose(a.impurity[0], b.impurity[0], rtol=1e-12)
            assert leaf_impurity(a) == pytest.approx(leaf_impurity(b), abs=1e-12)


@pytest.mark.parametrize("random_split", [False, True])
@pytest.mark.parametrize("max_features", [0, 3])
@pytest.mark.parametrize("values", ["real", "few", "missing", "constant"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [*SIZES[:12], 257, 1000])
def test_subtrees_of_few_rows_grow_as_level_by_level(
    n, weighted, values, max_features, random_split
):
    """Depth first they are finished in one go; level by level, node after node like any other."""
    rng = np.random.default_rng(n)
    for limits in ({}, {"max_depth": 4}, {"min_samples_split": 5}, {"min_decrease": 0.02 * n}):
        X = rng.normal(size=(n, 7))
        if values == "few":
            X = np.round(X)
        elif values == "missing":
            X[rng.random(X.shape) < 0.02] = np.nan
        elif values == "constant":
            X[:, 1:] = 3.0
        y = rng.integers(0, 2, n).astype(np.int32)
        settings = {
            "max_depth": 1000,
            "max_features": max_features,
            "random_split": random_split,
            "random_ties": bool(rng.integers(2)),
            "weights": rng.integers(1, 6, n).astype(float) if weighted else None,
        } | limits
        grown = [
            forest(X, y, 2, **settings, frontier=order) for order in ("depth_first", "by_level")
        ]
        for t in range(grown[0].n_trees):
            ours, theirs = (one.tree(t) for one in grown)
            for part in ("feature", "threshold", "children_right", "n_node_samples", "value"):
                np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part), part)
            np.testing.assert_array_equal(ours.missing_go_to_left, theirs.missing_go_to_left)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("d", [1, 15, 16, 31, 32, 33, 40, 70])
def test_random_cuts_count_every_column_right(n_classes, d):
    """Columns in all places of a vector of bytes, more rows than a byte can count."""
    rng = np.random.default_rng(d)
    for n in (40, 509, 510, 511, 2000):
        X = rng.normal(size=(n, d))
        y = rng.integers(0, n_classes, n).astype(np.int32)
        grown = forest(X, y, n_classes, max_features=0, random_split=True)
        for t in range(grown.n_trees):
            tree = grown.tree(t)
            goes_left = X[:, tree.feature[0]] <= tree.threshold[0]
            assert tree.n_node_samples[1] == goes_left.sum()
            shares = np.bincount(y[goes_left], minlength=n_classes) / goes_left.sum()
            np.testing.assert_allclose(tree.value[1, 0], shares, rtol=1e-12)


def test_the_best_of_the_random_cuts_is_taken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20))
    y = (X[:, 7] + 0.1 * rng.normal(size=600) > 0).astype(np.int32)
    rules = {"max_features": 0, "random_split": True}
    grown = forest(X, y, 2, **rules)
    assert all(grown.tree(t).feature[0] == 7 for t in range(grown.n_trees))
