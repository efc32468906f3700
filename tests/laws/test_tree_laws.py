"""Laws that every decision tree obeys, whatever the data."""

import numpy as np
import pytest

from laws.tree_cases import (
    CLASSIFICATION,
    CRITERIA,
    assert_same_tree,
    continuous,
    mixed_table,
    model,
    target,
    training_impurity,
)
from weald import DecisionTreeClassifier, DecisionTreeRegressor

# --- weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{}, {"max_bins": 5}, {"max_bins": 32}, {"max_leaf_nodes": 7}, {"max_depth": 3}],
    ids=str,
)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_weight_k_is_the_row_k_times(criterion, settings):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = mixed_table(rng, 80)
        y = target(criterion, rng, np.nan_to_num(X).sum(axis=1))
        k = rng.integers(1, 5, 80)
        settings = {**settings, "categorical_features": [3], "min_weight_fraction_leaf": 0.02}
        weighted = model(criterion, **settings).fit(X, y, sample_weight=k)
        repeated = model(criterion, **settings).fit(np.repeat(X, k, axis=0), np.repeat(y, k))
        assert_same_tree(weighted, repeated)
        counts = weighted.tree_.weighted_n_node_samples
        np.testing.assert_array_equal(counts, repeated.tree_.n_node_samples)


@pytest.mark.parametrize("max_bins", [None, 8])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_weight_zero_is_absence(criterion, max_bins):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = mixed_table(rng, 80)
        y = target(criterion, rng, np.nan_to_num(X).sum(axis=1))
        w = rng.uniform(0.5, 2, 80) * (rng.random(80) < 0.7)
        w[:4] = 0  # and these would matter much if they counted
        X[:4, 0] = 1e6
        settings = {"categorical_features": [3], "max_bins": max_bins}
        zeros = model(criterion, **settings).fit(X, y, sample_weight=w)
        absent = model(criterion, **settings).fit(X[w > 0], y[w > 0], sample_weight=w[w > 0])
        assert_same_tree(zeros, absent)
        for name in ("n_node_samples", "weighted_n_node_samples", "missing_go_to_left"):
            got, expected = getattr(zeros.tree_, name), getattr(absent.tree_, name)
            np.testing.assert_array_equal(got, expected, err_msg=name)


def test_a_category_without_weight_is_unknown():
    X = np.array([["a"], ["b"], ["c"], ["a"], ["a"]], dtype=object)
    y, w = np.array([0, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 1])
    zeros = DecisionTreeClassifier().fit(X, y, sample_weight=w)
    absent = DecisionTreeClassifier().fit(X[w > 0], y[w > 0])
    new = np.array([["a"], ["b"], ["c"], [None]], dtype=object)
    np.testing.assert_array_equal(zeros.predict_proba(new), absent.predict_proba(new))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_common_factor_of_the_weights_does_nothing(criterion):
    X, y, w = continuous(criterion)
    one = model(criterion).fit(X, y, sample_weight=w)
    assert_same_tree(one, model(criterion).fit(X, y, sample_weight=8 * w))
    if criterion != "absolute_error":  # its sums of real weights are rounded, so ties may fall anew
        assert_same_tree(one, model(criterion).fit(X, y, sample_weight=3 * w))


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_class_weight_is_sample_weight(criterion):
    X, y, w = continuous(criterion)
    factor = {0: 1.0, 1: 2.5, 2: 0.5}
    by_class = model(criterion, class_weight=factor).fit(X, y, sample_weight=w)
    by_row = model(criterion).fit(X, y, sample_weight=w * np.vectorize(factor.get)(y))
    assert_same_tree(by_class, by_row)


def test_a_weight_decides_where_unseen_missing_values_go():
    X, y, w = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 1]), np.array([5, 1, 1])
    weighted = DecisionTreeClassifier().fit(X, y, sample_weight=w)
    repeated = DecisionTreeClassifier().fit(X.repeat(w, axis=0), y.repeat(w))
    assert weighted.predict([[np.nan]]) == repeated.predict([[np.nan]]) == [0]


# --- columns ----------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [np.exp, np.arctan, lambda x: x**3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_rising_transform_changes_no_prediction(criterion, change):
    rng = np.random.default_rng(3)
    X = mixed_table(rng, 150)
    y = target(criterion, rng, np.nan_to_num(X).sum(axis=1))
    changed = X.copy()
    changed[:, :3] = change(X[:, :3])
    before = model(criterion, categorical_features=[3]).fit(X, y)
    after = model(criterion, categorical_features=[3]).fit(changed, y)
    np.testing.assert_array_equal(before.apply(X), after.apply(changed))
    np.testing.assert_allclose(before.tree_.value, after.tree_.value, rtol=1e-12)


@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c != "misclassification"])
def test_a_falling_transform_changes_no_prediction(criterion):
    # Not for misclassification, where neighbouring thresholds tie and the lowest one wins.
    X, y, w = continuous(criterion)
    changed = X.copy()
    changed[:, 1] = -(X[:, 1] ** 3)
    before = model(criterion, min_samples_leaf=12).fit(X, y, sample_weight=w)
    after = model(criterion, min_samples_leaf=12).fit(changed, y, sample_weight=w)
    if criterion in CLASSIFICATION:
        np.testing.assert_array_equal(before.predict(X), after.predict(changed))
    else:
        np.testing.assert_allclose(before.predict(X), after.predict(changed), rtol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_enough_bins_are_the_exact_tree(criterion):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = mixed_table(rng, 120)
        y = target(criterion, rng, np.nan_to_num(X).sum(axis=1))
        w = rng.uniform(0.5, 2, 120)
        exact = model(criterion, categorical_features=[3]).fit(X, y, sample_weight=w)
        binned = model(criterion, categorical_features=[3], max_bins=120)
        assert_same_tree(binned.fit(X, y, sample_weight=w), exact)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_order_of_the_columns_does_not_matter(criterion):
    X, y, w = continuous(criterion)
    order = np.array([2, 0, 3, 1])
    settings = {"min_samples_leaf": 12}  # small leaves are often cut alike by two columns
    if criterion == "misclassification":
        settings["max_depth"] = 1  # further down most gains are zero, and tie
    plain = model(criterion, **settings).fit(X, y, sample_weight=w).tree_
    moved = model(criterion, **settings).fit(X[:, order], y, sample_weight=w).tree_
    inner = plain.feature >= 0
    np.testing.assert_array_equal(inner, moved.feature >= 0)
    np.testing.assert_array_equal(plain.feature[inner], order[moved.feature[inner]])
    np.testing.assert_array_equal(plain.threshold, moved.threshold)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_order_of_the_rows_does_not_matter(criterion):
    rng = np.random.default_rng(1)
    X = mixed_table(rng, 120)
    y = target(criterion, rng, np.nan_to_num(X).sum(axis=1))
    order = rng.permutation(120)
    plain = model(criterion, categorical_features=[3]).fit(X, y)
    assert_same_tree(plain, model(criterion, categorical_features=[3]).fit(X[order], y[order]))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_drawn_column_is_split_as_if_alone(criterion):
    X, y, w = continuous(criterion)
    drawn = set()
    for seed in range(20):
        est = model(criterion, max_features=1, max_depth=1, random_state=seed)
        tree = est.fit(X, y, sample_weight=w).tree_
        j = int(tree.feature[0])
        alone = model(criterion, max_depth=1).fit(X[:, [j]], y, sample_weight=w)
        assert tree.threshold[0] == alone.tree_.threshold[0]
        drawn.add(j)
    assert drawn == {0, 1, 2, 3}


@pytest.mark.parametrize("criterion", CRITERIA)
def test_deeper_trees_fit_the_training_rows_no_worse(criterion):
    rng = np.random.default_rng(2)
    X = mixed_table(rng, 150)
    y = target(criterion, rng, np.nan_to_num(X).sum(axis=1))
    impurities = [
        training_impurity(model(criterion, max_depth=depth, categorical_features=[3]).fit(X, y))
        for depth in range(1, 9)
    ]
    assert np.all(np.diff(impurities) <= 1e-12)
    assert impurities[-1] < impurities[0]


# --- costs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_the_predicted_class_costs_least(criterion):
    X, y, _ = continuous(criterion)
    labels = np.array(["low", "mid", "top"])[y]
    costs = np.array([[0, 1, 5], [4, 0, 1], [9, 3, 0.0]])
    est = model(criterion, cost_matrix=costs, max_depth=3).fit(X, labels)
    expected = est.predict_proba(X) @ costs
    chosen = np.searchsorted(est.classes_, est.predict(X))
    paid = expected[np.arange(len(X)), chosen]
    np.testing.assert_allclose(paid, expected.min(axis=1), rtol=1e-12)
    plain = model(criterion, max_depth=3).fit(X, labels)
    assert np.any(est.predict(X) != plain.predict(X))


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_zero_one_costs_are_the_plain_tree(criterion):
    X, y, _ = continuous(criterion)
    plain = model(criterion, max_depth=3).fit(X, y)
    costly = model(criterion, max_depth=3, cost_matrix=1 - np.eye(3)).fit(X, y)
    assert_same_tree(plain, costly)
    np.testing.assert_array_equal(plain.predict(X), costly.predict(X))


# --- monotone constraints ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{}, {"max_leaf_nodes": 12}, {"max_bins": 16}, {"splitter": "random"}, {"max_features": 2}],
    ids=str,
)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_monotone_constraints_hold(criterion, settings):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 3))
    y = target(criterion, rng, X[:, 0] - X[:, 1] + np.sin(3 * X[:, 2]), n_classes=2)
    est = model(criterion, monotonic_cst=[1, -1, 0], random_state=0, **settings).fit(X, y)
    assert est.get_n_leaves() > 5
    points = np.repeat(rng.normal(size=(60, 3)), 40, axis=0)
    for j, sign in ((0, 1), (1, -1)):
        moved = points.copy()
        moved[:, j] = np.tile(np.linspace(-4, 4, 40), 60)
        says = est.predict_proba(moved)[:, 1] if criterion in CLASSIFICATION else est.predict(moved)
        assert np.all(sign * np.diff(says.reshape(60, 40), axis=1) >= 0)


def test_monotone_constraints_need_one_output_and_two_classes():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 2)), rng.integers(0, 3, (30, 2))
    with pytest.raises(ValueError, match=r"(?i)monoton.*multiclass"):
        DecisionTreeClassifier(monotonic_cst=[1, 0]).fit(X, Y[:, 0])
    for kind in (DecisionTreeClassifier, DecisionTreeRegressor):
        with pytest.raises(ValueError, match=r"(?i)monoton.*multiple outputs"):
            kind(monotonic_cst=[1, 0]).fit(X, Y % 2)
