"""The oracle itself: the worked numbers of the textbook, and scikit-learn on easy data."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from oracle.cart import (
    CLASSIFICATION,
    Node,
    Rules,
    Split,
    Table,
    apply,
    candidate_splits,
    gain,
    grow,
    impurity,
    median_interval,
    midpoint,
    two_group_partitions,
    valid_splits,
)

HEIGHTS = np.array([175, 180, 175, 172, 165, 169, 170.0])
AGES = np.array([20, 32, 40, 28, 22, 40, 70.0])
SEXES = np.array([0, 1, 1, 1, 0, 0, 0])


def table(X, y, w=None, categorical=None, n_classes=None):
    X = np.asarray(X, dtype=float).reshape(len(y), -1)
    Y = np.asarray(y).reshape(len(y), -1)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    return Table(X, Y, w, categorical or (False,) * X.shape[1], n_classes)


# --- worked numbers ---------------------------------------------------------------------------


def test_root_variance_of_the_ages():
    ages = table(HEIGHTS, AGES)
    assert impurity(ages, ages.rows, "squared_error") == pytest.approx(245.714, abs=5e-4)


@pytest.mark.parametrize(
    ("height", "left_variance", "right_variance", "expected_gain"),
    [(169, 81, 297.6, 10), (170, 392, 52, 48), (172, 342, 67.556, 21.333)],
)
def test_child_variances_and_gains(height, left_variance, right_variance, expected_gain):
    ages = table(HEIGHTS, AGES)
    split = Split(0, threshold=height)
    left = split.goes_left(ages.X)
    assert impurity(ages, ages.rows[left], "squared_error") == pytest.approx(left_variance)
    right_impurity = impurity(ages, ages.rows[~left], "squared_error")
    assert right_impurity == pytest.approx(right_variance, abs=5e-4)
    assert gain(ages, ages.rows, split, "squared_error") == pytest.approx(expected_gain, abs=5e-4)


def test_all_five_gains_and_the_best_threshold():
    ages = table(HEIGHTS, AGES)
    found = {
        split.threshold: g for split, g in valid_splits(ages, ages.rows, Rules("squared_error"))
    }
    expected = {167.0: 32.667, 169.5: 10.0, 171.0: 48.0, 173.5: 21.333, 177.5: 2.667}
    assert found == pytest.approx(expected, abs=5e-4)
    assert grow(ages, Rules("squared_error", max_depth=1)).split.threshold == 171


def test_gini_gain_of_the_sexes():
    sexes = table(HEIGHTS, SEXES, n_classes=(2,))
    root = grow(sexes, Rules("gini", max_depth=1))
    assert root.split.threshold == 171
    assert root.improvement == pytest.approx(0.27551, abs=5e-6)


def test_error_rates_of_the_eight_buyers():
    student = [0, 0, 0, 0, 1, 1, 1, 0]
    credit = [0, 1, 0, 0, 0, 1, 1, 1]
    buys = [0, 0, 1, 1, 1, 0, 1, 0]
    buyers = table(np.c_[student, credit], buys, categorical=(True, True), n_classes=(2,))
    rates = {
        split.feature: 0.5 - g
        for split, g in valid_splits(buyers, buyers.rows, Rules("misclassification"))
    }
    assert rates == pytest.approx({0: 3 / 8, 1: 1 / 4})


@pytest.mark.parametrize(
    ("criterion", "first", "second"),
    [
        ("misclassification", 0.25, 0.25),
        ("gini", 0.375, 0.3333),
        ("entropy", 0.8113, 0.6887),
    ],
)
def test_misclassification_ties_where_the_others_decide(criterion, first, second):
    classes = [0, 0, 0, 0, 1, 1, 1, 1]
    even = [0, 0, 0, 1, 0, 1, 1, 1]  # (3,1) and (1,3)
    skewed = [0, 0, 1, 1, 0, 0, 0, 0]  # (2,4) and (2,0)
    rows = table(np.c_[even, skewed], classes, n_classes=(2,))
    root = impurity(rows, rows.rows, criterion)
    left = [root - gain(rows, rows.rows, Split(j, threshold=0.5), criterion) for j in (0, 1)]
    assert left == pytest.approx([first, second], abs=5e-5)


def test_four_classes_have_two_bits():
    four = table([0, 0, 1, 1], [0, 1, 2, 3], n_classes=(4,))
    assert impurity(four, four.rows, "entropy") == pytest.approx(2)
    assert gain(four, four.rows, Split(0, threshold=0.5), "entropy") == pytest.approx(1)


# --- small parts ------------------------------------------------------------------------------


def test_median_interval():
    assert median_interval(np.array([3.0, 1, 2]), np.ones(3)) == (2, 2)
    assert median_interval(np.array([4.0, 1, 2, 3]), np.ones(4)) == (2, 3)
    assert median_interval(np.array([1.0, 5]), np.array([2.0, 1])) == (1, 1)


def test_midpoint_between_neighbouring_floats_is_the_lower():
    one = 1.0
    assert midpoint(one, np.nextafter(one, 2)) == one
    assert midpoint(-1e308, 1.5e308) == 0.25e308
    assert midpoint(169, 170) == 169.5


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_number_of_partitions(k):
    partitions = set(two_group_partitions(np.arange(k)))
    assert len(partitions) == 2 ** (k - 1) - 1


def test_missing_values_are_tried_on_both_sides_and_apart():
    x = np.array([1.0, 3.0, np.nan])
    w = np.ones(3)
    found = [(s.threshold, s.missing_left) for s in candidate_splits(x, w, 0, False)]
    assert found == [(2.0, False), (np.inf, False), (2.0, True)]
    codes = [(s.left_codes, s.missing_left) for s in candidate_splits(x, w, 0, True)]
    assert codes == [({1}, False), ({1, 3}, False), ({1}, True)]
    assert list(candidate_splits(np.full(3, np.nan), w, 0, False)) == []


def test_without_missing_values_the_larger_side_takes_them():
    x = np.array([1.0, 2.0, 3.0])
    splits = candidate_splits(x, np.ones(len(x)), 0, False)
    assert [s.missing_left for s in splits] == [False, True]


def test_weight_is_repetition_and_zero_is_absence():
    rng = np.random.default_rng(0)
    X, y, w = rng.random((12, 2)), rng.random(12), rng.integers(0, 4, 12)
    weighted = grow(table(X, y, w), Rules("squared_error"))
    repeated = grow(table(np.repeat(X, w, 0), np.repeat(y, w)), Rules("squared_error"))
    values = [[float(n.value[0, 0]) for n in root.preorder()] for root in (weighted, repeated)]
    assert values[0] == pytest.approx(values[1])


# --- scikit-learn on data without ties --------------------------------------------------------


def compare(root: Node, peer, X):
    """Node by node; scikit-learn numbers best-first trees by expansion, hence the walk."""
    tree = peer.tree_

    def walk(node: Node, i: int):
        assert len(node.rows) == tree.n_node_samples[i]
        assert node.weight == pytest.approx(tree.weighted_n_node_samples[i])
        assert node.impurity == pytest.approx(tree.impurity[i], rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(node.value, tree.value[i], rtol=1e-9, atol=1e-12)
        assert bool(node.children) == (tree.children_left[i] != -1)
        if node.children:
            assert node.split.feature == tree.feature[i]
            assert node.split.threshold == tree.threshold[i]
            # Where no missing value decides, scikit-learn follows the rows, we their weight.
            left, right = node.children
            if (len(left.rows) > len(right.rows)) == (left.weight > right.weight):
                assert node.split.missing_left == bool(tree.missing_go_to_left[i])
            walk(node.children[0], tree.children_left[i])
            walk(node.children[1], tree.children_right[i])

    walk(root, 0)
    leaf_of = apply(root, X)
    peer_leaf = peer.apply(X)
    assert len(set(zip(leaf_of, peer_leaf, strict=True))) == len(set(leaf_of))


SETTINGS = [
    {},
    {"max_depth": 3},
    {"min_samples_leaf": 4},
    {"min_samples_split": 9},
    {"min_weight_fraction_leaf": 0.12},
    {"min_impurity_decrease": 0.02},
    {"max_leaf_nodes": 5},
]


@pytest.mark.peers
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"]
)
def test_against_scikit_learn(criterion, missing, settings):
    # One column: scikit-learn draws the order of the columns at random, so equal gains on two
    # columns would be decided by its dice. Uneven weights keep thresholds from tying; they are
    # multiples of 1/64 so that its running sums are exact and a pure node is exactly pure.
    rng = np.random.default_rng(5)
    X = rng.random((40, 1)).astype(np.float32)
    if missing:
        X[rng.random(40) < 0.2] = np.nan
    w = rng.integers(32, 128, 40) / 64
    w[:3] = 0
    n_classes = None
    if criterion in CLASSIFICATION:
        y, n_classes = rng.integers(0, 3, 40), (3,)
        peer = DecisionTreeClassifier(criterion=criterion, random_state=0, **settings)
    else:
        y = rng.gamma(2.0, size=40)
        peer = DecisionTreeRegressor(criterion=criterion, random_state=0, **settings)
    root = grow(table(X, y, w, n_classes=n_classes), Rules(criterion, **settings))
    compare(root, peer.fit(X, y, sample_weight=w), X)


@pytest.mark.peers
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_against_scikit_learn_two_outputs(criterion):
    rng = np.random.default_rng(3)
    X, w = rng.random((50, 3)).astype(np.float32), rng.integers(32, 128, 50) / 64
    n_classes = None
    if criterion == "gini":
        Y, n_classes = np.c_[rng.integers(0, 2, 50), rng.integers(0, 3, 50)], (2, 3)
        peer = DecisionTreeClassifier(random_state=0, min_samples_leaf=6)
    else:
        Y = rng.random((50, 2))
        peer = DecisionTreeRegressor(random_state=0, min_samples_leaf=6)
    root = grow(table(X, Y, w, n_classes=n_classes), Rules(criterion, min_samples_leaf=6))
    compare(root, peer.fit(X, Y, sample_weight=w), X)
