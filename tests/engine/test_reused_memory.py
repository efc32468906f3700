"""Histograms go from node to node: what one node left in them must not reach another.

Tables of small whole numbers keep histograms down to small nodes, so that a tree needs far more of
them than the pool keeps. One thread grows the whole tree with one pool.
"""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from weald import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
)


def whole_numbers(seed, n, d, classes=2):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 2)
    noisy = X[:, -1] + rng.normal(size=n)
    return X, np.digitize(noisy, np.linspace(-1, 1, classes + 1)[1:-1])


def assert_leaves_hold_their_rows(tree, X, y):
    """Each leaf's value is the mean of the rows that reach it, and its count is theirs."""
    targets = np.eye(tree.n_classes_)[y] if hasattr(tree, "classes_") else y[:, None]
    leaf = tree.apply(X)
    for m in np.unique(leaf):
        np.testing.assert_allclose(
            tree.tree_.value[m].ravel(), targets[leaf == m].mean(axis=0), rtol=1e-9, atol=1e-12
        )
    np.testing.assert_array_equal(
        tree.tree_.n_node_samples[np.unique(leaf)], np.unique(leaf, return_counts=True)[1]
    )


def assert_same_trees(a, b):
    for field in ("children_left", "feature", "threshold", "value", "n_node_samples"):
        np.testing.assert_array_equal(getattr(a.tree_, field), getattr(b.tree_, field))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "settings", [{}, {"criterion": "entropy"}, {"max_leaf_nodes": 900}], ids=str
)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_full_tree_of_whole_numbers(seed, settings, classes):
    X, y = whole_numbers(seed, 4000, 3, classes)
    one = DecisionTreeClassifier(max_bins=255, n_jobs=1, **settings).fit(X, y)
    assert_leaves_hold_their_rows(one, X, y)
    assert_same_trees(one, DecisionTreeClassifier(max_bins=255, n_jobs=2, **settings).fit(X, y))
    exact = DecisionTreeClassifier(max_bins=None, n_jobs=1, **settings).fit(X, y)
    assert_same_trees(one, exact)  # every value has a bin of its own


@pytest.mark.parametrize("seed", range(6))
def test_a_regression_tree_of_few_bins(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(6000, 6)) * 2)
    y = np.round(X @ rng.normal(size=6) + rng.normal(size=6000))
    settings = {"max_bins": 16, "min_samples_leaf": 4}
    one = DecisionTreeRegressor(**settings, n_jobs=1).fit(X, y)
    assert_leaves_hold_their_rows(one, X, y)
    assert one.tree_.n_node_samples[one.tree_.children_left == -1].min() >= 4
    assert_same_trees(one, DecisionTreeRegressor(**settings, n_jobs=2).fit(X, y))


@pytest.mark.parametrize(
    "make",
    [
        lambda jobs: BaggingClassifier(n_estimators=3, random_state=0, n_jobs=jobs),
        lambda jobs: RandomForestClassifier(5, max_features=None, random_state=0, n_jobs=jobs),
        lambda jobs: AdaBoostClassifier(
            DecisionTreeClassifier(n_jobs=1), n_estimators=5, random_state=0, n_jobs=jobs
        ),
    ],
    ids=["bagging", "forest", "adaboost"],
)
@pytest.mark.parametrize("seed", range(3))
def test_ensembles_of_full_trees_on_whole_numbers(make, seed):
    X, y = whole_numbers(seed, 20_000, 5)
    shares = make(1).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(shares, make(2).fit(X, y).predict_proba(X))
    assert np.mean(shares.argmax(axis=1) == y) > 0.7


def test_exact_boosting_is_the_same_for_any_number_of_threads():
    X, y = load_diabetes(return_X_y=True)

    def last_loss(jobs):
        model = GradientBoostingRegressor(
            n_estimators=150,
            learning_rate=0.1,
            max_leaf_nodes=31,
            max_bins=None,
            max_features=None,
            random_state=0,
            n_jobs=jobs,
        )
        return model.fit(X, y).train_score_[-1]

    assert last_loss(1) == last_loss(2) == last_loss(8)
