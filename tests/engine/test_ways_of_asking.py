"""Trees are walked, asked by masks, or gone down in step: the same bits, whatever the way."""

import numpy as np
import pytest

from weald import _engine as engine

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


def grown(kind, X, leaves, *, categories=False, trees=6, seed=1):
    n_categories = [0, 6 if categories else 0, *[0] * (X.shape[1] - 2)]
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
        (np.float32, False, False),
        (np.float64, False, False),
        (np.float32, True, False),
        (np.float64, True, False),
        (np.float32, False, True),
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
