"""The compiled core by itself: what it refuses, and orders of growth no estimator asks for yet."""

import numpy as np
import pytest

from weald import DecisionTreeClassifier, _engine


def small_tree(**changes):
    arrays = {
        "right": np.array([2, -1, -1]),
        "feature": np.array([0, -2, -2]),
        "threshold": np.array([0.5, -2.0, -2.0]),
        "missing": np.zeros(3, dtype=np.uint8),
        "set_begin": np.full(3, -1),
        "sets": np.zeros(0, dtype=np.uint32),
        "n_categories": [0],
    }
    return _engine._core.Forest.from_arrays(*(arrays | changes).values())


def test_a_sound_tree_routes():
    X = np.array([[0.0], [1.0], [np.nan]])
    np.testing.assert_array_equal(small_tree().apply(X, 1), [[1], [2], [2]])
    np.testing.assert_array_equal(small_tree().apply(X.astype(np.float32), 2), [[1], [2], [2]])


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"right": np.array([3, -1, -1])}, "out of range"),
        ({"right": np.array([1, -1, -1])}, "out of range"),
        ({"right": np.array([-1, -1, -1])}, "pre-order"),
        ({"right": np.array([2, 2, -1])}, "out of range"),
        ({"right": np.zeros(0, dtype=np.int64)}, "no nodes"),
        ({"feature": np.array([1, -2, -2])}, "column"),
        ({"feature": np.array([-1, -2, -2])}, "column"),
        ({"feature": np.array([0, -2])}, "length"),
        ({"threshold": np.array([np.nan, 0, 0])}, "threshold"),
        ({"set_begin": np.array([0, -1, -1])}, "numeric column"),
        ({"set_begin": np.array([0, -1, -1]), "n_categories": [2**32 - 1]}, "set of categories"),
        ({"set_begin": np.array([2**40, -1, -1]), "n_categories": [3]}, "set of categories"),
        ({"n_categories": []}, "columns"),
    ],
)
def test_damaged_trees_are_refused(changes, what):
    with pytest.raises(ValueError, match=f"not a valid tree: .*{what}"):
        small_tree(**changes)


def test_a_table_of_another_width_is_refused():
    with pytest.raises(ValueError, match="number of columns"):
        small_tree().apply(np.zeros((2, 3)), 1)


@pytest.mark.parametrize("right", [[2, 2, -1], [5, -1, -1], [-1, -1]])
def test_pruning_refuses_what_is_no_tree(right):
    with pytest.raises(ValueError, match="not a valid tree"):
        _engine.pruning_path(np.array(right), np.ones(len(right)))


def test_growth_by_level_is_the_same_tree_and_spends_leaves_from_the_top():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, (300, 1)).astype(np.int32)
    matrix = _engine.bin_table(X, [0] * 4, 0, False, None, 1)
    assert (matrix.n_rows, matrix.n_codes) == (300, [300] * 4)
    target = _engine.labels(y, [2], None)
    grown = {}
    for frontier in ("depth_first", "by_level"):
        rules = _engine.Rules()
        rules.frontier = frontier
        grown[frontier] = _engine.grow(matrix, target, target, "gini", rules, 1)
    np.testing.assert_array_equal(*(grown[f]["threshold"] for f in grown))
    rules.max_leaves = 8
    few = _engine.Tree(_engine.grow(matrix, target, target, "gini", rules, 1), [0] * 4, [2])
    assert few.n_leaves == 8
    assert few.max_depth <= 4  # level after level, not one branch to its end


def test_a_chain_of_twenty_thousand_nodes_is_no_trouble():
    n = 20_000
    tree = DecisionTreeClassifier().fit(2.0 ** -np.arange(60)[:, None], np.arange(60) % 2)
    assert tree.get_depth() >= 5
    right = np.r_[np.arange(2, 2 * n + 1, 2).repeat(2), -1]
    right[1::2] = -1  # every left child is a leaf
    depth = _engine._core.node_depths(right)
    assert depth.max() == n


def test_too_many_threads_are_capped():
    assert _engine.resolve_threads(10**9) <= 1024
    X = np.arange(2000.0)[:, None]
    tree = DecisionTreeClassifier(n_jobs=10**9).fit(X, np.arange(2000) % 2)
    assert tree.get_n_leaves() == 2000


@pytest.mark.parametrize("n", [0, 1, 50, 20_000])
def test_the_order_of_numbers_is_that_of_a_stable_sort(n):
    rng = np.random.default_rng(n)
    for values in (
        rng.normal(size=n),
        np.round(rng.normal(size=n), 1),
        rng.integers(-1, 2, n) * 0.0,
    ):
        expected = np.argsort(values, kind="stable")
        np.testing.assert_array_equal(_engine.order_of(values), expected)


def test_codes_of_hundreds_of_values_take_two_bytes():
    X = np.random.default_rng(0).normal(size=(300, 4))
    assert _engine.bin_table(X, [0] * 4, 0, False, None, 1).nbytes == 300 * 4 * 2
