"""Columns of nine or more categories: the price of a cut, single rows, and who goes where.

Every node of a tree is held against the rules in plain NumPy (:mod:`oracle.categories`), with all
cuts of all columns tried one by one.
"""

import pickle

import numpy as np
import pandas as pd
import pytest

from gate import some
from oracle.cart import Rules, Table, class_shares, gain, impurity, split_of, valid_splits, walk
from oracle.categories import FREE, merged, noise, price, row_weight
from tree.test_oracle import ordered_category_splits
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
)

CRITERIA = ("gini", "entropy", "misclassification", "squared_error", "poisson")


def problem(seed, criterion):
    """A numeric column, one of some categories, one of many, both with an effect and gaps."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 70))
    X = np.column_stack(
        [
            rng.integers(0, 6, n),
            rng.integers(0, rng.integers(9, 14), n),
            rng.integers(0, rng.integers(2, 9), n),
        ]
    ).astype(float)
    signal = rng.normal(size=20)[X[:, 1].astype(int)] * rng.choice([0, 1, 4]) + X[:, 0] / 4
    if rng.random() < 0.5:
        X[rng.random(n) < 0.15, 1] = np.nan
    noisy = signal + rng.normal(size=n)
    if criterion == "poisson":
        y = rng.poisson(np.exp(np.clip(signal / 3, -2, 2))).astype(float) + rng.random(n) / 8
    elif criterion == "squared_error":
        y = noisy + 50  # all means of one sign, for `ordered_category_splits`
    else:
        y = (noisy > np.median(noisy)).astype(int)
    kind = rng.integers(3)
    w = [np.ones(n), rng.integers(0, 4, n).astype(float), rng.gamma(2.0, size=n) * 1e-3][kind]
    if w.sum() == 0:
        w[:] = 1
    return X, y, w


def fitted(X, y, w, criterion, **more):
    kind = DecisionTreeRegressor
    if criterion in ("gini", "entropy", "misclassification"):
        kind = DecisionTreeClassifier
    more = {"categorical_features": [1, 2], **more}
    return kind(criterion=criterion, **more).fit(X, y, sample_weight=w)


def table_of(model, X, y, w):
    """Codes of the fitted model, in which categories of a single row are one."""
    X = X.copy()
    for j in (1, 2):
        labels = np.asarray(model.categories_[j], dtype=float)
        known = np.isin(X[:, j], labels)
        codes = np.where(known, np.searchsorted(labels, X[:, j]), np.nan)
        X[:, j] = np.where(w > 0, merged(codes, len(labels), w), codes)
    classes = (len(model.classes_),) if hasattr(model, "classes_") else None
    return Table(X, y[:, None], w, (False, True, True), classes)


def noise_of(table, rows, criterion):
    y, w = table.Y[rows], table.w[rows]
    shares = None
    if criterion == "gini":
        shares = [class_shares(y[:, 0], w, table.n_classes[0])]
    return noise(criterion, impurity(table, rows, criterion), 1, y, w, shares)


def net_gains(table, rows, criterion, counts, row):
    """(column, gain less price) of all cuts that pay, in units of impurity."""
    rules = Rules(criterion)
    W = table.w[rows].sum()
    found = [(split.feature, g) for split, g in valid_splits(table, rows, rules, [0])]
    for j in (1, 2):
        x = table.X[rows, j]
        codes = np.unique(x[~np.isnan(x)])
        for split in ordered_category_splits(table, rows, j):
            g = gain(table, rows, split, criterion)
            parted = len(split.left_codes) < len(codes)
            if counts[j] > FREE and parted:
                g -= price(len(codes), noise_of(table, rows, criterion), row) / W
                if g <= 0:
                    continue
            found.append((j, g))
    return found


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", some(list(range(60)), 3))
def test_every_split_is_the_best_that_pays(seed, criterion):
    X, y, w = problem(seed, criterion)
    model = fitted(X, y, w, criterion)
    table = table_of(model, X, y, w)
    counts = [0 if labels is None else len(labels) for labels in model.categories_]
    row = row_weight(w)
    codes = table_codes(model, X)
    for i, _, rows in walk(model.tree_, codes, table.rows):
        split = split_of(model.tree_, i)
        gains = net_gains(table, rows, criterion, counts, row)
        best = max((g for _, g in gains), default=-np.inf)
        slack = 1e-9 * max(impurity(table, rows, criterion), 1e-300)
        if split is None:
            pure = impurity(table, rows, criterion) <= 1e-12
            assert pure or len(rows) < 2 or best == -np.inf or best < slack
            continue
        left = split.goes_left(codes[rows])
        here = gain_of_sides(table, rows, left, criterion)
        x = table.X[rows, split.feature]
        there = ~np.isnan(x)
        parted = counts[split.feature] > FREE and 0 < left[there].sum() < there.sum()
        if parted:
            each = noise_of(table, rows, criterion)
            here -= price(len(np.unique(x[there])), each, row) / table.w[rows].sum()
            assert here > -slack
        assert here >= best - slack, f"node {i}: {here} not {best}"


def table_codes(model, X):
    """The rows with the codes of the fitted model."""
    X = X.copy()
    for j in (1, 2):
        labels = np.asarray(model.categories_[j], dtype=float)
        known = np.isin(X[:, j], labels)
        X[:, j] = np.where(known, np.searchsorted(labels, X[:, j]), np.nan)
    return X


def gain_of_sides(table, rows, left, criterion):
    W = table.w[rows].sum()
    sides = (rows[left], rows[~left])
    after = sum(table.w[s].sum() / W * impurity(table, s, criterion) for s in sides)
    return impurity(table, rows, criterion) - after


def test_an_effect_of_many_categories_is_found():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 50, 2000)
    y = rng.normal(size=50)[city] + 0.1 * rng.normal(size=2000)
    X = pd.DataFrame({"city": [f"c{c}" for c in city]})
    model = DecisionTreeRegressor(max_depth=4).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.8


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_of_many_classes_an_effect_is_found_and_noise_is_not(kind):
    rng = np.random.default_rng(6)
    n, levels, classes = 3000, 40, 15
    city, street = rng.integers(0, levels, n), rng.integers(0, 200, n)
    number = rng.normal(size=n)
    effects = 2 * rng.normal(size=(levels, classes))
    y = (effects[city] + rng.gumbel(size=(n, classes))).argmax(axis=1)
    X, half = np.column_stack([number, city, street]), n // 2

    def error(categorical, columns):
        model = kind(max_features=None, min_samples_leaf=10, random_state=0)
        model.set_params(categorical_features=categorical).fit(X[:half, columns], y[:half])
        return (model.predict(X[half:, columns]) != y[half:]).mean()

    codes, alone, with_noise = error(None, [0, 1]), error([1], [0, 1]), error([1, 2], [0, 1, 2])
    assert alone < codes + 0.02  # 0.28 more if the price were that of two classes
    assert with_noise < alone + 0.02


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_a_row_of_weight_k_is_k_rows(criterion):
    rng = np.random.default_rng(1)
    n = 120
    X = np.column_stack([rng.normal(size=n).round(1), rng.integers(0, 30, n)])
    y = rng.normal(size=30)[X[:, 1].astype(int)] + rng.normal(size=n)
    if criterion in ("gini", "entropy"):
        y = (y > 0).astype(int)
    w = rng.integers(1, 4, n)
    kind = DecisionTreeClassifier if y.dtype == int else DecisionTreeRegressor
    model = kind(criterion=criterion, categorical_features=[1], min_samples_split=2)
    weighted = model.fit(X, y, sample_weight=w).tree_
    repeated = kind(criterion=criterion, categorical_features=[1]).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    assert (weighted.feature == 1).any()
    np.testing.assert_array_equal(weighted.feature, repeated.tree_.feature)
    np.testing.assert_array_equal(weighted.threshold, repeated.tree_.threshold)


@pytest.mark.parametrize("factor", [0.3, 1 / 7, 1e-6, 2.5e5])
def test_weights_without_a_scale_of_their_own_have_none(factor):
    rng = np.random.default_rng(2)
    n = 400
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 40, n)])
    y = rng.normal(size=40)[X[:, 1].astype(int)] + rng.normal(size=n)
    w = rng.gamma(4.0, size=n)
    one, other = (
        DecisionTreeRegressor(categorical_features=[1], max_leaf_nodes=20).fit(
            X, y, sample_weight=weights
        )
        for weights in (w, factor * w)
    )
    np.testing.assert_array_equal(one.tree_.feature, other.tree_.feature)


def test_the_unit_of_the_target_does_not_matter():
    rng = np.random.default_rng(3)
    n = 400
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 40, n)])
    y = np.exp(rng.normal(size=40)[X[:, 1].astype(int)] + rng.normal(size=n))
    for criterion in ("squared_error", "absolute_error", "poisson"):
        one, other = (
            DecisionTreeRegressor(
                criterion=criterion, categorical_features=[1], max_leaf_nodes=12
            ).fit(X, target)
            for target in (y, 1024 * y)
        )
        np.testing.assert_array_equal(one.tree_.feature, other.tree_.feature)


@pytest.mark.parametrize("bins", [None, 255])
def test_missing_names_are_told_from_names(bins):
    rng = np.random.default_rng(4)
    n = 500
    name = np.array([f"n{i}" for i in range(n)], dtype=object)
    gone = rng.random(n) < 0.4
    name[gone] = None
    y = gone + 0.1 * rng.normal(size=n)
    model = DecisionTreeRegressor(max_depth=2, max_bins=bins).fit(pd.DataFrame({"name": name}), y)
    assert model.score(pd.DataFrame({"name": name}), y) > 0.9
    new = pd.DataFrame({"name": [None, name[~gone][0], "somebody new"]})
    without, known, unknown = model.predict(new)
    assert without > 0.9
    assert known < 0.1
    assert unknown < 0.1  # a name, if one that nobody has seen
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    model._newcomers = {0: 10_000}
    with pytest.raises(ValueError, match="a new category"):
        pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, ExtraTreesRegressor])
def test_a_category_that_a_node_has_not_seen_goes_where_most_rows_go(kind):
    rng = np.random.default_rng(5)
    n = 3000
    group, number = rng.integers(0, 12, n), rng.normal(size=n)
    number[group == 11] = -9.0  # category 11 is never right of a cut of the number
    y = np.where(number > 0, 3.0, 0.0) + np.where((group == 0) & (number > 0), 5.0, 0.0)
    X = np.column_stack([number, group])
    model = kind(random_state=0, categorical_features=[1]).fit(X, y)
    assert model.predict([[1.0, 11]])[0] < 4  # not with category 0, though its mean is the largest
