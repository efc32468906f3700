"""Data and helpers that the laws of trees share."""

import numpy as np

from weald import DecisionTreeClassifier, DecisionTreeRegressor

CLASSIFICATION = ("gini", "entropy", "log_loss", "misclassification")
REGRESSION = ("squared_error", "absolute_error", "poisson")
CRITERIA = CLASSIFICATION + REGRESSION


def model(criterion, **settings):
    kind = DecisionTreeClassifier if criterion in CLASSIFICATION else DecisionTreeRegressor
    return kind(criterion=criterion, **settings)


def target(criterion, rng, signal, n_classes=3):
    noisy = signal + rng.normal(size=len(signal))
    if criterion in CLASSIFICATION:
        return noisy.argsort().argsort() * n_classes // len(noisy)
    return rng.poisson(np.exp(np.clip(noisy, -2, 2))) + 0.1 if criterion == "poisson" else noisy


def mixed_table(rng, n):
    """Columns with real numbers, with few values, with gaps, and with categories (the last)."""
    X = np.c_[rng.normal(size=(n, 2)), rng.integers(0, 4, n), rng.integers(0, 6, n)]
    X[rng.random(n) < 0.2, 1] = np.nan
    X[rng.random(n) < 0.1, 3] = np.nan
    return X


def continuous(criterion, seed=0, n=200, d=4):
    """Data on which no two splits tie: real columns, and real weights for the counts of classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, target(criterion, rng, X[:, 0] - X[:, 1] * X[:, 2]), rng.uniform(0.5, 2, n)


def left_codes(tree):
    return [tuple(tree.left_categories(i)) for i in np.flatnonzero(tree.is_categorical)]


def assert_same_tree(one, two, value_tolerance=1e-12):
    a, b = one.tree_, two.tree_
    for name in ("feature", "children_left", "children_right", "is_categorical"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.threshold, b.threshold)
    assert left_codes(a) == left_codes(b)
    np.testing.assert_allclose(a.value, b.value, rtol=value_tolerance, atol=value_tolerance)


def training_impurity(est):
    """Weighted mean impurity of the leaves."""
    tree = est.tree_
    leaf = tree.children_left == -1
    return np.average(tree.impurity[leaf], weights=tree.weighted_n_node_samples[leaf])
