"""The engine against the oracle, node by node, in a way that no tie can upset.

The engine's tree is walked with the training rows. At every node the oracle recomputes the
statistics, looks through every possible split, and asks: is the engine's split allowed, is it as
good as the best there is, and if there is no split, is there a lawful reason?
"""

from dataclasses import replace

import numpy as np
import pytest

from gate import some
from oracle.cart import (
    CLASSIFICATION,
    EPS,
    REGRESSION,
    Rules,
    Split,
    Table,
    forbidden,
    gain,
    impurity,
    median_interval,
    midpoint,
    must_be_leaf,
    node_value,
    split_of,
    valid_splits,
    walk,
)
from oracle.random_tables import Case, cases, make_problem
from weald import DecisionTreeClassifier, DecisionTreeRegressor

# --- engine and oracle on one table -----------------------------------------------------------


def fit(case, X, Y, w, kinds, **more):
    model = DecisionTreeClassifier if case.criterion in CLASSIFICATION else DecisionTreeRegressor
    columns = [j for j, kind in enumerate(kinds) if kind] or None
    est = model(criterion=case.criterion, categorical_features=columns, **case.stop, **more)
    return est.fit(X, Y if Y.shape[1] > 1 else Y[:, 0], sample_weight=w)


def as_table(est, X, Y, w, kinds):
    """The oracle's view: category labels replaced by the codes of the fitted model."""
    X = np.asarray(X, dtype=float).copy()
    for j in np.flatnonzero(kinds):
        labels = np.asarray(est.categories_[j], dtype=float)
        code = np.searchsorted(labels, X[:, j])
        known = np.isin(X[:, j], labels)
        X[:, j] = np.where(known, code, np.nan)
    n_classes = None
    if hasattr(est, "classes_"):
        n_classes = tuple(int(k) for k in np.atleast_1d(est.n_classes_))
    return Table(X, Y, np.ones(len(X)) if w is None else w, kinds, n_classes)


# --- one node ---------------------------------------------------------------------------------


def check_statistics(tree, i, table, rows, criterion):
    assert tree.n_node_samples[i] == len(rows)
    assert tree.weighted_n_node_samples[i] == pytest.approx(table.w[rows].sum(), rel=1e-12)
    scale = max(1.0, float(np.abs(table.Y[rows]).max()))
    expected = impurity(table, rows, criterion)
    assert tree.impurity[i] == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale**2)
    value = node_value(table, rows, criterion)
    if criterion == "absolute_error":
        for k in range(table.Y.shape[1]):
            low, high = median_interval(table.Y[rows, k], table.w[rows])
            assert low - 1e-12 * scale <= tree.value[i, k, 0] <= high + 1e-12 * scale
        if not np.all(table.w[rows] == np.round(table.w[rows])):
            return  # with real weights, rounding decides whether half the weight is met exactly
    np.testing.assert_allclose(tree.value[i], value, rtol=1e-11, atol=1e-12 * scale)


def check_threshold(split, x, categorical):
    """A numeric threshold is the midpoint of neighbouring values present in the node."""
    present = x[~np.isnan(x)]
    assert (split.left_codes is not None) == categorical
    if categorical:
        assert np.isnan(split.threshold)
        return
    low, above = present[present <= split.threshold].max(), present[present > split.threshold]
    if len(above) == 0:
        assert split.threshold == np.inf
        assert not split.missing_left
        assert np.isnan(x).any()
    else:
        assert low <= split.threshold < above.min()
        expected = midpoint(low, above.min())
        assert split.threshold == pytest.approx(expected, rel=1e-15, abs=0)


def check_missing_side(split, x, w):
    """Without missing values in the node, they follow the larger weight."""
    left = split.sends_left(x)
    if not np.isnan(x).any() and not np.isclose(w[left].sum(), w[~left].sum()):
        assert split.missing_left == (w[left].sum() > w[~left].sum())


# --- the bounds on the best gain --------------------------------------------------------------


def ordered_category_splits(table, rows, j):
    """Cuts of the categories sorted by mean target, never between equal means."""
    x, y, w = table.X[rows, j], table.Y[rows, 0], table.w[rows]
    codes = np.unique(x[~np.isnan(x)])
    means = {int(c): np.average(y[x == c], weights=w[x == c]) for c in codes}
    for cut in sorted(set(means.values()))[:-1]:
        left = frozenset(c for c, mean in means.items() if mean <= cut * (1 + 1e-12))
        if len(left) < len(codes):
            yield Split(j, left_codes=left)
            if np.isnan(x).any():
                yield Split(j, left_codes=left, missing_left=True)
    if np.isnan(x).any() and len(codes):
        yield Split(j, left_codes=frozenset(int(c) for c in codes))


def ordering_is_optimal(table, rules):
    """Sorting the categories by mean loses nothing: two classes, or a mean as the leaf."""
    if table.Y.shape[1] > 1:
        return False
    if table.n_classes is not None:
        return table.n_classes[0] == 2
    return rules.criterion in ("squared_error", "poisson")


def without_minimum(rules):
    return rules.min_samples_leaf == 1 and rules.min_weight_fraction_leaf == 0


def best_gain_bounds(table, rows, rules):
    """The least and the greatest gain the engine's split may have; -inf where none is valid.

    Both are the exhaustive best wherever the sorted order is provably optimal. A minimum leaf
    size (or a Poisson leaf of sum zero) voids the proof, so there the engine must reach at least
    the best sorted cut; with several outputs, more classes or medians, the best numeric split.
    """
    greatest = max((g for _, g in valid_splits(table, rows, rules)), default=-np.inf)
    if not any(table.categorical):
        return greatest, greatest
    numeric = [j for j, kind in enumerate(table.categorical) if not kind]
    least = max((g for _, g in valid_splits(table, rows, rules, numeric)), default=-np.inf)
    if not ordering_is_optimal(table, rules):
        return least, greatest
    if without_minimum(rules) and (rules.criterion != "poisson" or np.all(table.Y[rows] > 0)):
        return greatest, greatest
    for j in np.flatnonzero(table.categorical):
        for split in ordered_category_splits(table, rows, j):
            if forbidden(table, rows, split, rules) is None:
                least = max(least, gain(table, rows, split, rules.criterion))
    return least, greatest


# --- the verdict ------------------------------------------------------------------------------


def check_tree(est, table, rules):
    tree = est.tree_
    free = replace(rules, max_leaf_nodes=None)
    expanded, waiting = {}, {}  # node -> improvement, of inner nodes and of leaves
    for i, depth, rows in walk(tree, table.X, table.rows):
        check_statistics(tree, i, table, rows, rules.criterion)
        share = table.w[rows].sum() / table.total_weight
        slack = 1e-9 * impurity(table, rows, rules.criterion)
        split, stop = split_of(tree, i), must_be_leaf(table, rows, depth, free)
        if split is None:
            assert tree.feature[i] == -2
            assert tree.threshold[i] == -2.0
            assert tree.children_right[i] == -1
            if stop is None:
                least, greatest = best_gain_bounds(table, rows, free)
                waiting[i] = least * share
                if without_minimum(rules) and rules == Rules(rules.criterion):
                    assert greatest == -np.inf, f"leaf {i} could have been split"
            continue
        assert stop is None, f"node {i} was split although: {stop}"
        assert forbidden(table, rows, split, rules) is None
        x = table.X[rows, split.feature]
        check_threshold(split, x, table.categorical[split.feature])
        check_missing_side(split, x, table.w[rows])
        least, greatest = best_gain_bounds(table, rows, rules)
        here = gain(table, rows, split, rules.criterion)
        assert least - slack <= here <= greatest + slack, f"node {i}: {here} not {least}"
        assert here * share >= rules.min_impurity_decrease - 1e-9
        expanded[i] = here * share
    check_leaves(tree, expanded, waiting, rules)


def check_leaves(tree, expanded, waiting, rules):
    """Leaves that could have been split are lawful: too little gain, or better nodes came first."""
    least = rules.min_impurity_decrease
    if rules.max_leaf_nodes is None or tree.n_leaves < rules.max_leaf_nodes:
        for i, improvement in waiting.items():
            too_little = least > 0 and improvement < least + 1e-9
            assert too_little or improvement == -np.inf, f"leaf {i} could have been split"
        return
    assert tree.n_leaves == rules.max_leaf_nodes

    def lawful(frontier):
        """Could the rest have been grown from here, best node first? Ties in any order."""
        left_to_do = frontier & expanded.keys()
        if not left_to_do:
            return True
        best = max(expanded[i] for i in left_to_do)
        passed_over = max((waiting.get(i, -np.inf) for i in frontier), default=-np.inf)
        if passed_over + EPS >= least and passed_over > best + 1e-9:
            return False
        tied = [i for i in left_to_do if expanded[i] >= best - 1e-9]
        children = (tree.children_left, tree.children_right)
        return any(lawful(frontier - {i} | {int(side[i]) for side in children}) for i in tied)

    assert lawful(frozenset({0})), "a worse node was split before a better one"


def check_routing(est, X, table_X):
    """apply() and decision_path() follow the arrays of the tree."""
    tree, n = est.tree_, len(X)
    leaf, path = np.empty(n, dtype=int), np.zeros((n, tree.node_count), dtype=bool)
    for i, _, rows in walk(tree, table_X, np.arange(n)):
        leaf[rows] = i
        path[rows, i] = True
    assert np.array_equal(est.apply(X), leaf)
    assert np.array_equal(est.decision_path(X).toarray().astype(bool), path)
    assert est.get_n_leaves() == tree.n_leaves == np.sum(tree.children_left == -1)
    assert est.get_depth() == tree.max_depth


@pytest.mark.parametrize("case", some(cases()), ids=str)
def test_engine_against_oracle(case):
    X, Y, w, kinds = make_problem(case)
    est = fit(case, X, Y, w, kinds)
    table = as_table(est, X, Y, w, kinds)
    check_tree(est, table, Rules(case.criterion, **case.stop))
    check_routing(est, X, table.X)


@pytest.mark.parametrize("more", [{"max_bins": 4}, {"splitter": "random"}, {"max_features": 1}])
@pytest.mark.parametrize("case", list(cases())[::8], ids=str)
def test_trees_that_do_not_try_every_split(case, more):
    """Bins, dice or fewer columns: the split need not be the best, but all else must be true."""
    X, Y, w, kinds = make_problem(case)
    est = fit(case, X, Y, w, kinds, random_state=case.seed, **more)
    table, rules = as_table(est, X, Y, w, kinds), Rules(case.criterion, **case.stop)
    for i, depth, rows in walk(est.tree_, table.X, table.rows):
        check_statistics(est.tree_, i, table, rows, case.criterion)
        split = split_of(est.tree_, i)
        if split is not None:
            assert must_be_leaf(table, rows, depth, rules) is None
            assert forbidden(table, rows, split, rules) is None
            check_missing_side(split, table.X[rows, split.feature], table.w[rows])
    assert rules.max_leaf_nodes is None or est.get_n_leaves() <= rules.max_leaf_nodes
    check_routing(est, X, table.X)


@pytest.mark.parametrize("k", [4, 6, 8])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "misclassification", "squared_error", "poisson"]
)
def test_the_best_of_all_category_partitions(criterion, missing, k):
    rng = np.random.default_rng(k)
    n = 60
    X = rng.integers(0, k, (n, 1)).astype(float)
    effect = rng.normal(size=k)[X[:, 0].astype(int)]
    if missing:
        X[rng.random(n) < 0.15] = np.nan
    case = Case(0, criterion, "real", missing, True, True, {"max_depth": 2}, 1, 2, "float64")
    if criterion in CLASSIFICATION:
        Y = (rng.random(n) < 1 / (1 + np.exp(-effect))).astype(int)[:, None]
    else:
        Y = rng.gamma(np.exp(effect))[:, None]
    w = rng.uniform(0.5, 2, n)
    est = fit(case, X, Y, w, (True,))
    check_tree(est, as_table(est, X, Y, w, (True,)), Rules(criterion, max_depth=2))
    assert est.get_depth() == 2


@pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)
def test_neighbouring_floats_are_separated(criterion):
    x = np.array([1.0, np.nextafter(1.0, 2)])
    y = [1, 2]
    model = DecisionTreeClassifier if criterion in CLASSIFICATION else DecisionTreeRegressor
    est = model(criterion=criterion).fit(x[:, None], y)
    assert est.tree_.threshold[0] == 1.0
    assert list(est.predict(x[:, None])) == y


def small_problem(criterion, seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(24, 2)), rng.uniform(0.5, 2, 24)
    if criterion in CLASSIFICATION:
        return X, rng.permutation(24) % 3, w, (3,)
    return X, rng.gamma(2.0, size=24), w, None


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e9])
@pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)
def test_the_scale_of_the_weights_does_no_harm(criterion, scale):
    model = DecisionTreeClassifier if criterion in CLASSIFICATION else DecisionTreeRegressor
    for seed in range(5):
        X, y, w, n_classes = small_problem(criterion, seed)
        est = model(criterion=criterion).fit(X, y, sample_weight=scale * w)
        table = Table(X, y[:, None], scale * w, (False, False), n_classes)
        check_tree(est, table, Rules(criterion))


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("criterion", REGRESSION)
def test_one_large_target_blurs_no_other_node(criterion, size):
    for seed in range(5):
        X, y, w, _ = small_problem(criterion, seed)
        y[0] = size
        est = DecisionTreeRegressor(criterion=criterion).fit(X, y, sample_weight=w)
        check_tree(est, Table(X, y[:, None], w, (False, False)), Rules(criterion))
