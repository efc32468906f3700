"""Trees are walked, asked by masks, or gone down in step: the same bits, whatever the way."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from weald import _engine as engine
from weald.input.sparse_table import read_sparse

N = 4200  # above twice the rows from which deep trees are gone down in step


def table(dtype=np.float32, *, missing=False, columns=5):
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(N, columns)).astype(dtype)
    X[:, 1] = rng.integers(0, 6, N)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def target_of(kind, X):
    rng = np.random.default_rng(5)
    F = np.nan_to_num(X[:, :1].astype(np.float64)) + rng.normal(size=(len(X), 1))
    if kind == "number":
        return engine.reals(F, None), "squared_error"
    if kind == "three numbers":
        return engine.reals(F + rng.integers(0, 2, (len(X), 3)), None), "squared_error"
    if kind == "two outputs":
        y = np.concatenate([F > 0, np.digitize(F, [-1, 0, 1])], axis=1).astype(np.int32)
        return engine.labels(y, [2, 4], None), "gini"
    n = int(kind.split()[0])
    cuts = np.quantile(F, np.arange(1, n) / n)
    return engine.labels(np.digitize(F, cuts).astype(np.int32), [n], None), "gini"


def grown(kind, X, leaves, *, categories=0, trees=6, seed=1):
    n_categories = [0, categories, *[0] * (X.shape[1] - 2)]
    matrix = engine.bin_table(X, n_categories, 255, False, None, 1)
    target, criterion = target_of(kind, X)
    rules = engine.Rules()
    rules.max_leaves = leaves
    draw = engine.Draw()
    draw.kind, draw.size = "bootstrap", len(X)
    return engine.grow_forest(matrix, target, criterion, rules, draw, False, seed, 0, trees, 2)


def one_by_one(forests, X, weights, vote, start):
    """Two rows at a time, which are always walked."""
    last = forests[0].n_trees
    parts = [
        engine.sums_of(
            forests,
            X[i : i + 2],
            1,
            0,
            last,
            weights,
            vote,
            None if start is None else start[i:][:2],
        )
        for i in range(0, len(X), 2)
    ]
    return np.concatenate(parts)


KINDS = ["2 classes", "7 classes", "20 classes", "number", "three numbers", "two outputs"]


@pytest.mark.parametrize("leaves", [2, 31, 33, 64, 65, 0])  # 0: deep
@pytest.mark.parametrize("kind", KINDS)
def test_all_ways_give_the_same_sums(kind, leaves):
    classes = "number" not in kind
    weights = np.random.default_rng(0).random(6)
    for dtype, missing, categories in [
        (np.float32, False, 0),
        (np.float64, False, 0),
        (np.float32, True, 0),
        (np.float64, True, 0),
        (np.float32, False, 6),
    ]:
        X = table(dtype, missing=missing)
        forest = grown(kind, X, leaves, categories=categories)
        for vote in [False, True][: 1 + classes]:
            truth = one_by_one([forest], X, weights, vote, None)
            for rows, threads in [(63, 1), (65, 1), (2047, 2), (2100, 1), (N, 1), (N, 3)]:
                said = forest.values(X[:rows], threads, weights=weights, vote=vote)
                np.testing.assert_array_equal(said, truth[:rows])
        columns_apart = np.asfortranarray(X)  # and a table that is not stored row by row
        said = forest.values(columns_apart, 1, weights=weights)
        np.testing.assert_array_equal(said, one_by_one([forest], X, weights, False, None))


@pytest.mark.parametrize("leaves", [31, 64, 0])
@pytest.mark.parametrize("levels", [255, 256, 257, 4100])  # 4100: walked where there are 64 rows
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_categories_of_all_tests_of_a_tree_are_looked_up_at_once(dtype, levels, leaves):
    rng = np.random.default_rng(levels)
    X = table(dtype, missing=True)
    X[:, 1] = np.minimum(levels * rng.random(N) ** 8, levels - 1).astype(int)
    X[rng.random(N) < 0.05, 1] = np.nan
    y = rng.normal(size=levels)[np.nan_to_num(X[:, 1]).astype(int)]
    y = 3 * y[:, None] + rng.normal(size=(N, 1))
    n_categories = [0, levels, 0, 0, 0]
    rules = engine.Rules()
    rules.max_leaves = leaves
    draw = engine.Draw()
    draw.kind, draw.size = "bootstrap", N
    for max_bins in (255, 0):
        matrix = engine.bin_table(X, n_categories, max_bins, False, None, 1)
        target = engine.reals(y, None)
        forest = engine.grow_forest(matrix, target, "squared_error", rules, draw, False, 1, 0, 6, 2)
        assert any(forest.tree(t).is_categorical.sum() > 1 for t in range(6))
        Z = X.copy()
        Z[::50, 1], Z[1::50, 1] = levels, -1  # unknown
        truth = one_by_one([forest], Z, None, False, None)
        for rows, threads in [(64, 1), (65, 1), (2047, 2), (2100, 1), (N, 3)]:
            np.testing.assert_array_equal(forest.values(Z[:rows], threads), truth[:rows])


@pytest.mark.parametrize("missing", [False, True])
def test_few_trees_of_a_table_with_more_columns_than_steps(missing):
    X = table(missing=missing, columns=200)
    for trees, leaves in [(1, 8), (6, 0)]:
        forest = grown("number", X, leaves, trees=trees)
        truth = one_by_one([forest], X, None, False, None)
        for rows, threads in [(63, 1), (300, 1), (2100, 1), (N, 3)]:
            np.testing.assert_array_equal(forest.values(X[:rows], threads), truth[:rows])


@pytest.mark.parametrize("share", [0.01, 0.9])
@pytest.mark.parametrize("rows", [1, 3, 700, N])
def test_leaves_of_sparse_rows_are_those_of_dense_ones(rows, share):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((N, 60)) < share, rng.normal(size=(N, 60)), 0.0)
    X[rng.random(X.shape) < share / 20] = np.nan
    forest = grown("number", X, 0, trees=2)
    table = read_sparse(csr_matrix(X[:rows]), str)
    np.testing.assert_array_equal(forest.apply(table, 2), forest.apply(X[:rows], 1))


@pytest.mark.parametrize("leaves", [31, 0])
@pytest.mark.parametrize("kind", ["number", "three numbers", "2 classes"])
def test_forests_side_by_side_are_the_forests(kind, leaves):
    X = table()
    forests = [grown(kind, X, leaves, seed=seed) for seed in range(3)]
    width = forests[0].n_outputs * forests[0].max_n_classes
    start = np.random.default_rng(0).normal(size=(N, 3 * width))
    start[::3] = -0.0  # the sign of a zero is a bit as well
    for rows in (2, 100, N):
        each = [
            forest.values(
                X[:rows], start=np.ascontiguousarray(start[:rows, k * width :][:, :width])
            )
            for k, forest in enumerate(forests)
        ]
        together = engine.sums_of(forests, X[:rows], 2, 0, 6, start=start[:rows])
        assert together.tobytes() == np.concatenate(each, axis=1).tobytes()
    assert together.tobytes() == one_by_one(forests, X, None, False, start).tobytes()
    part = engine.sums_of(forests, X, 1, 2, 5)
    np.testing.assert_array_equal(part[:, : len(part[0]) // 3], forests[0].values(X, 1, 2, 5))


def test_forests_of_another_kind_are_refused():
    X = table()
    forests = [grown("number", X, 8), grown("2 classes", X, 8)]
    with pytest.raises(ValueError, match="same kind"):
        engine.sums_of(forests, X, 1, 0, 6)
    with pytest.raises(ValueError, match="so many trees"):
        engine.sums_of([forests[0], grown("number", X, 8, trees=2)], X, 1, 0, 6)


@pytest.mark.parametrize("leaves", [31, 0])
def test_leaves_and_out_of_bag_rows_are_found_in_every_way(leaves):
    X = table(missing=True)
    forest = grown("7 classes", X, leaves)
    leaf = np.concatenate([forest.apply(X[i : i + 2]) for i in range(0, N, 2)])
    np.testing.assert_array_equal(forest.apply(X, 2), leaf)
    draw = engine.Draw()
    draw.kind, draw.size = "bootstrap", N
    sums, votes = np.zeros((N, 1, 7)), np.zeros(N, dtype=np.int64)
    forest.add_out_of_bag(X, draw, 1, 0, 6, sums, votes, 2)
    members = forest.member_values(X)
    truth, count = np.zeros_like(sums), np.zeros_like(votes)
    for t in range(6):
        out = engine.draw_rows(draw, N, 1, t) == 0
        truth[out] += members[t][out]
        count += out
    np.testing.assert_array_equal(sums, truth)
    np.testing.assert_array_equal(votes, count)
