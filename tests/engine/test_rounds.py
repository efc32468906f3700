"""Boosting rounds in the engine: leaves, class weights and reweighting against NumPy."""

import numpy as np
import pytest

from weald import _engine as engine


def make(n=600, d=5, k=2, *, depth=2, seed=0, weights=None, threads=1, max_bins=255):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0] + X[:, 1]) + rng.normal(size=n) > 0).astype(np.int32)
    y = y if k == 2 else rng.integers(0, k, n).astype(np.int32)
    rules = engine.Rules()
    rules.max_depth = depth
    matrix = engine.bin_table(X, [0] * d, max_bins, False, None, threads)
    target = engine.labels(y[:, None], [k], None)
    weights = rng.exponential(size=n) if weights is None else weights
    return X, y, engine.make_rounds(matrix, target, "gini", rules, weights, threads)


def leaf_numbers(rounds, X):
    tree = engine.Forest(rounds.tree())
    number = np.cumsum(tree.tree(0).is_leaf) - 1
    return number[tree.apply(X)[:, 0]]


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("n", [1, 2, 50, 20_000])
def test_leaves_weights_and_factors(n, resample, k):
    X, y, rounds = make(n, k=k, depth=3)
    rng = np.random.default_rng(1)
    for t in range(3):
        before = rounds.weights
        assert before.sum() == pytest.approx(1, abs=1e-12)
        rounds.grow(7, t, resample)
        leaf = rounds.leaf_of
        np.testing.assert_array_equal(leaf, leaf_numbers(rounds, X))
        sums = np.zeros((leaf.max() + 1, k))
        np.add.at(sums, (leaf, y), before)
        np.testing.assert_allclose(rounds.class_weights[: len(sums)], sums, rtol=1e-12)
        if not resample:  # the leaves' own shares are those of the weights
            shares = sums / sums.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(rounds.leaf_values, shares, rtol=1e-12)
        factors = rng.uniform(0.5, 2, size=rounds.class_weights.shape)
        total = rounds.reweight(factors)
        wanted = before * factors[leaf, y]
        assert total == pytest.approx(wanted.sum(), rel=1e-12)
        np.testing.assert_allclose(rounds.weights, wanted / wanted.sum(), rtol=1e-12)


@pytest.mark.parametrize("n", [300, 40_000])
@pytest.mark.parametrize("resample", [False, True])
def test_the_same_bits_for_any_number_of_threads(n, resample):
    grown = []
    for threads in (1, 2, 8):
        _, _, rounds = make(n, threads=threads)
        for t in range(4):
            rounds.grow(3, t, resample)
            rounds.reweight(np.exp(np.linspace(-1, 1, rounds.class_weights.size)).reshape(-1, 2))
        grown.append((rounds.weights, rounds.leaf_values, rounds.leaf_of))
    for other in grown[1:]:
        for ours, theirs in zip(grown[0], other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_rows_that_lose_their_weight_leave_no_trace():
    """Their leaf must be a leaf of the tree at hand, not of one before."""
    _, _, rounds = make(200, depth=4)
    rounds.grow(0, 0, False)
    assert rounds.leaf_of.max() > 3
    kept = np.zeros(200)
    kept[:5] = 1
    rounds.set_factors(kept)
    rounds.grow(0, 1, False)
    assert rounds.leaf_of.max() < len(rounds.leaf_values)
    assert rounds.class_weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
def test_only_the_ratio_of_weights_counts(scale):
    weights = np.random.default_rng(0).exponential(size=600)
    reference, scaled = (make(weights=w)[2] for w in (weights, weights * scale))
    for rounds in (reference, scaled):
        rounds.grow(0, 0, False)
    np.testing.assert_array_equal(reference.leaf_of, scaled.leaf_of)
    np.testing.assert_allclose(reference.weights, scaled.weights, rtol=1e-12)


def test_many_rows_are_split_as_few_are():
    """From 16,384 rows on weights are cut to a word: the split is the one of finer weights."""
    X, y, rounds = make(20_000, depth=1, seed=3)
    rounds.grow(0, 0, False)
    target = engine.labels(y[:, None], [2], rounds.weights)
    rules = engine.Rules()
    rules.max_depth = 1
    matrix = engine.bin_table(X, [0] * 5, 255, False, None, 1)
    fine = engine.grow(matrix, target, target, "gini", rules, 1)
    tree = engine.Forest(rounds.tree()).tree(0)
    assert tree.feature[0] == fine["feature"][0]
    assert tree.threshold[0] == fine["threshold"][0]


def test_bad_input_is_refused():
    _, y, rounds = make(50)
    for ask in ("leaf_of", "leaf_values", "class_weights"):
        with pytest.raises(ValueError, match="no tree was grown yet"):
            getattr(rounds, ask)
    with pytest.raises(ValueError, match="no tree was grown yet"):
        rounds.tree()
    rounds.grow(0, 0, False)
    with pytest.raises(ValueError, match="one factor per leaf and class"):
        rounds.reweight(np.ones((1, 2)))
    shape = rounds.class_weights.shape
    for factor in (0.0, np.inf, np.nan):
        _, _, other = make(50)
        other.grow(0, 0, False)
        with pytest.raises(ValueError, match="vanish or overflow"):
            other.reweight(np.full(shape, factor))
    for weights, of_factors, of_weights in (
        (np.ones(49), "one factor per row", "one weight per row"),
        (np.zeros(50), "no row has a positive weight", "no row has a positive weight"),
        (np.full(50, np.nan), "factors must be finite and >= 0", "weights must be finite and >= 0"),
        (np.full(50, -1.0), "factors must be finite and >= 0", "weights must be finite and >= 0"),
    ):
        with pytest.raises(ValueError, match=of_factors):
            rounds.set_factors(weights)
        with pytest.raises(ValueError, match=of_weights):
            make(50, weights=weights)
    X = np.zeros((50, 2))
    matrix = engine.bin_table(X, [0, 0], 255, False, None, 1)
    weighted = engine.labels(y[:, None], [2], np.ones(50))
    with pytest.raises(ValueError, match="without weights"):
        engine.make_rounds(matrix, weighted, "gini", engine.Rules(), np.ones(50), 1)
    numbers = engine.make_rounds(
        matrix,
        engine.reals(np.zeros((50, 1)), None),
        "squared_error",
        engine.Rules(),
        np.ones(50),
        1,
    )
    numbers.grow(0, 0, False)
    assert numbers.leaf_values.tolist() == [[0.0]]
    with pytest.raises(ValueError, match="no classes"):
        _ = numbers.class_weights
    with pytest.raises(ValueError, match="no classes"):
        numbers.reweight(np.ones((1, 2)))
