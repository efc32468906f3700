"""The compiled forest: its draws, its state, and arrays that were damaged on the way."""

import copy
import pickle

import numpy as np
import pytest

from weald import _engine as engine


def grown(n_classes=2, *, n=200, trees=3, categories=(0, 0, 4), keep_rows=False, draw=None):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 3))
    X[:, 2] = rng.integers(0, 4, n)
    matrix = engine.bin_table(X, list(categories), 255, False, None, 1)
    if n_classes:
        y = rng.integers(0, n_classes, (n, 1)).astype(np.int32)
        target, criterion = engine.labels(y, [n_classes], None), "gini"
    else:
        target, criterion = engine.reals(rng.normal(size=(n, 1)), None), "squared_error"
    rules = engine.Rules()
    draw = draw or bootstrap(n)
    forest = engine.grow_forest(
        matrix, target, criterion, rules, draw, False, 1, 0, trees, 2, keep_rows
    )
    return forest, X


def bootstrap(size):
    draw = engine.Draw()
    draw.kind, draw.size = "bootstrap", size
    return draw


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_forest_comes_back_from_its_state(n_classes):
    forest, X = grown(n_classes, keep_rows=True)
    again = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(again.values(X), forest.values(X))
    np.testing.assert_array_equal(again.apply(X), forest.apply(X))
    np.testing.assert_array_equal(again.importances, forest.importances)
    for a, b in zip(again.leaf_rows(1), forest.leaf_rows(1), strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("impurity", "value", "n_node_samples", "weighted_n_node_samples"):
        np.testing.assert_array_equal(getattr(again.tree(2), name), getattr(forest.tree(2), name))


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_damaged_state_is_refused_or_harmless(n_classes):
    """Whatever happens to the bytes: an error, or a forest that answers. Never a crash."""
    forest, X = grown(n_classes)
    state = forest.__getstate__()
    rng = np.random.default_rng(0)
    arrays = [name for name, value in state.items() if isinstance(value, np.ndarray) and value.size]
    refused = 0
    for _ in range(600):
        bad = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in state.items()}
        name = arrays[rng.integers(len(arrays))]
        if rng.random() < 0.2:
            bad[name] = bad[name][: rng.integers(len(bad[name]))]
        else:
            raw = bad[name].view(np.uint8)
            raw[rng.integers(len(raw))] ^= 1 << rng.integers(8)
        broken = copy.copy(forest)
        try:
            broken.__setstate__(bad)
        except ValueError as error:
            message = str(error)
            refused += 1
        else:
            message = ""
        if message:
            assert "not a valid" in message
            continue
        broken.values(X)
        broken.apply(X)
        broken.tree(0)
    assert refused > 100


def test_the_sizes_in_a_state_are_checked():
    forest, _ = grown()
    for change in (
        {"n_trees": 2},
        {"n_trees": 0},
        {"n_outputs": 0},
        {"n_classes": [2, 2]},
        {"n_classes": [0]},
        {"n_categories": []},
        {"criterion": "squared_error"},
    ):
        with pytest.raises(ValueError, match="not a valid forest"):
            copy.copy(forest).__setstate__(forest.__getstate__() | change)


def test_draws_are_a_function_of_seed_and_member():
    draw = bootstrap(50)
    first = engine.draw_rows(draw, 50, 3, 0)
    np.testing.assert_array_equal(first, engine.draw_rows(draw, 50, 3, 0))
    assert first.sum() == 50
    assert (first != engine.draw_rows(draw, 50, 3, 1)).any()
    assert (first != engine.draw_rows(draw, 50, 4, 0)).any()


def test_rows_are_drawn_in_proportion_to_weight():
    weights = np.array([0.0, 1.0, 2.0, 5.0])
    draw = bootstrap(8000)
    draw.set_weights(weights)
    counts = engine.draw_rows(draw, 4, 0, 0)
    assert counts[0] == 0
    np.testing.assert_allclose(counts / 8000, weights / 8, atol=0.02)
    draw.kind, draw.size = "pasting", 3
    assert list(engine.draw_rows(draw, 4, 0, 0)) == [0, 1, 1, 1]


def test_pasting_draws_every_row_equally_often():
    draw = engine.Draw()
    draw.kind, draw.size = "pasting", 3
    total = sum(engine.draw_rows(draw, 10, 0, t).astype(int) for t in range(3000))
    np.testing.assert_allclose(total / 3000, 0.3, atol=0.04)


def test_strata_are_drawn_on_their_own():
    draw = bootstrap(4)
    draw.set_strata(np.array([0] * 90 + [1] * 10, dtype=np.int32), 2)
    counts = engine.draw_rows(draw, 100, 0, 0)
    assert counts[:90].sum() == counts[90:].sum() == 4


def test_columns_are_drawn_without_or_with_replacement():
    draw = engine.Draw()
    draw.columns = 3
    for t in range(50):
        columns = engine.draw_columns(draw, 5, 0, t)
        assert len(set(columns)) == 3
        assert list(columns) == sorted(columns)
    draw.columns_replace = True
    assert any(len(set(engine.draw_columns(draw, 5, 0, t))) < 3 for t in range(50))


@pytest.mark.parametrize("kind", ["bootstrap", "pasting"])
def test_a_draw_that_makes_no_sense_is_refused(kind):
    draw = engine.Draw()
    draw.kind, draw.size = kind, 5
    draw.set_weights(np.ones(3))
    with pytest.raises(ValueError, match="one weight per row"):
        engine.draw_rows(draw, 5, 0, 0)
    draw.set_weights(np.zeros(5))
    with pytest.raises(ValueError, match="positive weight"):
        engine.draw_rows(draw, 5, 0, 0)
    with pytest.raises(ValueError, match="out of range"):
        draw.set_units(np.array([0, 7], dtype=np.int32), 2)


def test_sums_do_not_depend_on_threads_blocks_or_order_of_rows():
    forest, X = grown(3, n=5000, trees=7)
    whole = forest.values(X, 1)
    np.testing.assert_array_equal(whole, forest.values(X, 3))
    np.testing.assert_array_equal(whole[::-1], forest.values(X[::-1].copy(), 2))
    by_row = np.concatenate([forest.values(X[i : i + 1], 2) for i in range(0, 5000, 97)])
    np.testing.assert_array_equal(whole[::97], by_row)
    members = forest.member_values(X, 2)
    np.testing.assert_array_equal(whole, np.add.accumulate(members, axis=0)[-1])
    votes = forest.values(X, 2, vote=True)
    truth = sum(np.eye(3)[m[:, 0].argmax(axis=1)] for m in members)
    np.testing.assert_array_equal(votes[:, 0], truth)
    weights = np.arange(1.0, 8.0)
    np.testing.assert_allclose(forest.values(X, weights=weights), np.tensordot(weights, members, 1))


def test_nodes_take_sixteen_bytes():
    forest, _ = grown(2, n=20_000, trees=2, categories=(0, 0, 0))
    assert forest.nbytes < 16.5 * forest.node_counts.sum()
    many, _ = grown(20, n=20_000, trees=2, categories=(0, 0, 0))
    assert many.nbytes < (16 + 20) * many.node_counts.sum()
