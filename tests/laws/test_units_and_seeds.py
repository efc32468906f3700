"""Laws that hold whatever the engine finds convenient: threads, blocks, histograms, streams."""

import numpy as np
import pytest
from scipy.stats import chisquare

from gate import some
from weald import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor


def assert_same_nodes(a, b):
    for name in ("feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(a.tree_, name), getattr(b.tree_, name), err_msg=name)


def rising_clusters(seed, chunks, m=625):
    """Targets of very different size with exact near-ties, one long column beside short ones."""
    rng = np.random.default_rng(seed)
    n = chunks * m
    chunk = np.repeat(np.arange(chunks), m)
    x0 = rng.normal(size=n).round(1) if chunks == 1 else rng.normal(size=n)
    y = chunk * 1e6 + rng.integers(0, 10, n) * 0.1
    for c in range(chunks):
        for g in range(8):
            r = c * m + 3 * g + np.arange(3)
            x0[r] = 100 + g + np.array([0, 0.1, 0.2])
            y[r] = c * 1e6 + 1000 * 3.0**g + np.array([0.1, 0.2, 0.3])
    few = [rng.integers(0, k, n) for k in (2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7)]
    return np.column_stack([x0, chunk, *few]).astype(float), y


@pytest.mark.parametrize("seed", range(2))
def test_threads_do_not_change_the_units_of_targets(seed):
    X, y = rising_clusters(seed, 32)
    one = DecisionTreeRegressor(n_jobs=1).fit(X, y)
    for n_jobs in (2, 3, 8):
        assert_same_nodes(one, DecisionTreeRegressor(n_jobs=n_jobs).fit(X, y))


@pytest.mark.parametrize("seed", range(6))
def test_weight_is_repetition_though_blocks_differ(seed):
    X, y = rising_clusters(seed, 1)
    weighted = DecisionTreeRegressor().fit(X, y, sample_weight=np.full(len(y), 3.0))
    repeated = DecisionTreeRegressor().fit(X.repeat(3, axis=0), y.repeat(3))
    for name in ("feature", "threshold"):
        got, expected = getattr(weighted.tree_, name), getattr(repeated.tree_, name)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("max_bins", [None, 63])
def test_threads_do_not_change_trees_of_plain_rows(criterion, n_classes, max_bins):
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=(6000, 3)), rng.integers(0, 5, (6000, 3))])
    y = np.digitize(X[:, 0] + rng.normal(size=6000), np.linspace(-1, 1, n_classes - 1))
    settings = {"criterion": criterion, "max_bins": max_bins}
    one = DecisionTreeClassifier(n_jobs=1, **settings).fit(X, y)
    for n_jobs in (2, 8):
        assert_same_nodes(one, DecisionTreeClassifier(n_jobs=n_jobs, **settings).fit(X, y))


def test_a_childs_columns_do_not_depend_on_its_parents_cut():
    d = 10
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(500, d))
    drawn = []
    for seed in range(1200):
        settings = {"max_features": 1, "max_depth": 2, "random_state": seed}
        tree = ExtraTreeRegressor(**settings).fit(X, X.sum(axis=1)).tree_
        column = X[:, tree.feature[0]]
        u = (tree.threshold[0] - column.min()) / np.ptp(column)
        drawn.append((tree.feature[1] - int(u * d)) % d)
    assert chisquare(np.bincount(drawn, minlength=d)).pvalue > 1e-4


def gap_to_the_best_split(tree, X, y, w):
    """How far, relatively, the score of any node's split falls short of the best there is."""
    worst, nodes = 0.0, [(0, np.arange(len(X)))]
    while nodes:
        i, rows = nodes.pop()
        assert len(rows) == tree.n_node_samples[i]
        if tree.children_right[i] < 0:
            continue
        best = -np.inf
        for x in X[rows].T:
            order = rows[np.argsort(x, kind="stable")]
            G, H = np.cumsum(w[order] * y[order]), np.cumsum(w[order])
            values = np.sort(x)
            g, h = (a[:-1][values[:-1] < values[1:]] for a in (G, H))
            if len(g):
                best = max(best, (g**2 / h + (G[-1] - g) ** 2 / (H[-1] - h)).max())
        left = X[rows, tree.feature[i]] <= tree.threshold[i]
        parts = rows[left], rows[~left]
        here = sum((w[p] * y[p]).sum() ** 2 / w[p].sum() for p in parts)
        worst = max(worst, (best - here) / abs(best))
        nodes += [(i + 1, parts[0]), (tree.children_right[i], parts[1])]
    return worst


@pytest.mark.parametrize("weights", ["unit", "whole", "real"])
@pytest.mark.parametrize("n_jobs", some([2, 1], one_in=9))
def test_every_split_of_a_larger_tree_is_the_best(weights, n_jobs):
    rng = np.random.default_rng(2)
    n = 4000
    columns = [rng.normal(size=n), rng.normal(size=n).round(2), rng.integers(0, 5, n)]
    X = np.column_stack([*columns, rng.exponential(size=n)])
    z = X[:, 0] * X[:, 1] + rng.normal(size=n)
    w = {"unit": np.ones(n), "whole": rng.integers(1, 4, n) * 1.0, "real": rng.uniform(1, 2, n)}
    for kind, y in ((DecisionTreeClassifier, z > 0), (DecisionTreeRegressor, z - z.mean())):
        tree = kind(n_jobs=n_jobs).fit(X, y, sample_weight=w[weights]).tree_
        assert gap_to_the_best_split(tree, X, y.astype(float), w[weights]) < 1e-9
