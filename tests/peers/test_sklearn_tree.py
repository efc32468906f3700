"""scikit-learn's trees, node by node, and its own checks of an estimator.

scikit-learn visits the columns in random order, so two equally good splits are decided by its
dice. Every comparison therefore first makes sure that the data leave it no choice: the peer must
grow the same tree from several seeds. Columns are float32, as scikit-learn would make them.
"""

import inspect

import numpy as np
import pytest
import sklearn.tree as peers
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_classification,
)

import weald
from peers.contract import contract

pytestmark = pytest.mark.peers

CLASSIFICATION = ("gini", "entropy", "log_loss")
REGRESSION = ("squared_error", "absolute_error", "poisson")
CRITERIA = CLASSIFICATION + REGRESSION
ESTIMATORS = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
)


def pair(criterion, **settings):
    name = "DecisionTreeClassifier" if criterion in CLASSIFICATION else "DecisionTreeRegressor"
    settings = {"criterion": criterion, **settings}
    return getattr(weald, name)(**settings), getattr(peers, name)(**settings)


def shape_of(tree):
    """The tests of a tree, in an order that does not depend on the numbering."""

    def walk(i):
        if tree.children_left[i] == -1:
            return [None]
        here = (int(tree.feature[i]), float(tree.threshold[i]), bool(tree.missing_go_to_left[i]))
        return [here, *walk(tree.children_left[i]), *walk(tree.children_right[i])]

    return walk(0)


def fit_peer(peer, X, y, w):
    fitted = [peer.set_params(random_state=seed).fit(X, y, w).tree_ for seed in range(8)]
    shapes = [shape_of(tree) for tree in fitted]
    assert all(shape == shapes[0] for shape in shapes), "ties: this data cannot be compared"
    return peer


def preorder(tree):
    def walk(i):
        if tree.children_left[i] == -1:
            return [i]
        return [i, *walk(tree.children_left[i]), *walk(tree.children_right[i])]

    return np.array(walk(0))


def assert_same_tree(ours, theirs):
    """scikit-learn's arrays, renumbered in pre-order where it grew best-first, equal ours."""
    a, b = ours.tree_, theirs.tree_
    order = preorder(b)
    number = np.empty(len(order) + 1, dtype=int)
    number[order], number[-1] = np.arange(len(order)), -1
    assert (a.node_count, a.n_leaves, a.max_depth) == (b.node_count, b.n_leaves, b.max_depth)
    np.testing.assert_array_equal(a.children_left, number[b.children_left[order]])
    np.testing.assert_array_equal(a.children_right, number[b.children_right[order]])
    for name in ("feature", "threshold", "n_node_samples"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name)[order], err_msg=name)
    inner = a.children_left != -1
    # A side that no missing value taught: scikit-learn follows the rows, weald their weight.
    left, right = a.children_left[inner], a.children_right[inner]
    more_rows = a.n_node_samples[left] > a.n_node_samples[right]
    heavier = a.weighted_n_node_samples[left] > a.weighted_n_node_samples[right]
    same = np.flatnonzero(inner)[more_rows == heavier]
    missing = b.missing_go_to_left[order].astype(bool)
    np.testing.assert_array_equal(a.missing_go_to_left[same], missing[same])
    for name in ("weighted_n_node_samples", "impurity", "value"):
        theirs_ordered = getattr(b, name)[order]
        scale = np.abs(theirs_ordered).max()
        np.testing.assert_allclose(
            getattr(a, name), theirs_ordered, rtol=1e-9, atol=1e-12 * scale, err_msg=name
        )
    assert a.value.shape == b.value.shape
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-10)
    return number


def assert_same_answers(ours, theirs, number, X):
    np.testing.assert_array_equal(ours.apply(X), number[theirs.apply(X)])
    paths = theirs.decision_path(X).toarray()
    renumbered = np.zeros_like(paths)
    renumbered[:, number[:-1]] = paths
    np.testing.assert_array_equal(ours.decision_path(X).toarray(), renumbered)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    if hasattr(theirs, "predict_proba"):
        expected = theirs.predict_proba(X)
        np.testing.assert_allclose(ours.predict_proba(X), expected, rtol=1e-9, atol=1e-12)
        with np.errstate(divide="ignore"):
            logarithms = ours.predict_log_proba(X)
        np.testing.assert_allclose(np.exp(logarithms), expected, rtol=1e-9, atol=1e-12)


def compare(criterion, X, y, w, **settings):
    ours, theirs = pair(criterion, **settings)
    fit_peer(theirs, X, y, w)
    ours.fit(X, y, sample_weight=w)
    number = assert_same_tree(ours, theirs)
    return ours, theirs, number


def table(criterion, seed=0, n=150, d=4, missing=False):
    """Real columns, uneven weights; as multiples of 1/64 their sums are exact."""
    rng = np.random.default_rng([17, seed])
    X = rng.normal(size=(n, d)).astype(np.float32)
    noisy = X[:, 0] + np.sin(3 * X[:, -1]) + rng.normal(size=n)
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    y = np.digitize(noisy, [-0.7, 0.7]) if criterion in CLASSIFICATION else np.exp(noisy / 2)
    return X, y, rng.integers(32, 128, n) / 64


SETTINGS = [
    {"min_samples_leaf": 8},
    {"max_depth": 3, "min_samples_leaf": 4},
    {"min_samples_leaf": 0.07},
    {"min_samples_split": 40, "min_samples_leaf": 5},
    {"min_samples_split": 0.3, "min_samples_leaf": 5},
    {"min_weight_fraction_leaf": 0.06},
    {"min_impurity_decrease": 0.02, "min_samples_leaf": 5},
    {"max_leaf_nodes": 7, "min_samples_leaf": 5},
    {"max_leaf_nodes": 12, "max_depth": 4, "min_samples_leaf": 5},
    {"ccp_alpha": 0.01, "min_samples_leaf": 6},
]


MEDIUM = [{"min_samples_leaf": 8}, {"min_samples_leaf": 6, "max_leaf_nodes": 7}]


# --- the same trees ---------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_random_tables(criterion, settings, missing):
    X, y, w = table(criterion, missing=missing)
    ours, theirs, number = compare(criterion, X, y, w, **settings)
    new = table(criterion, seed=9, missing=missing)[0]
    assert_same_answers(ours, theirs, number, X)
    assert_same_answers(ours, theirs, number, new)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_missing_values_that_were_not_there_in_fit(criterion):
    X, y, w = table(criterion)
    w = 1 + (w - 1) / 64  # enough to break ties between splits, too little to outweigh a row
    ours, theirs, number = compare(criterion, X, y, w, max_depth=2)
    inner = ours.tree_.children_left != -1
    left, right = ours.tree_.children_left[inner], ours.tree_.children_right[inner]
    assert (ours.tree_.n_node_samples[left] != ours.tree_.n_node_samples[right]).all()
    assert_same_answers(ours, theirs, number, table(criterion, seed=9, missing=True)[0])


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_full_trees_of_one_column(criterion, missing):
    for seed in range(5):
        X, y, w = table(criterion, seed=seed, n=80, d=1, missing=missing)
        compare(criterion, X, y, w)
        compare(criterion, X, y, w, max_leaf_nodes=15)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_without_weight(criterion):
    X, y, w = table(criterion)
    w[::4] = 0
    compare(criterion, X, y, w, min_samples_leaf=6)


@pytest.mark.parametrize("settings", MEDIUM, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_two_outputs(criterion, settings):
    X, y, w = table(criterion)
    Y = np.c_[y, table(criterion, seed=1)[1] % 2 if criterion in CLASSIFICATION else X[:, 2]]
    ours, theirs, number = compare(criterion, X, Y, w, **settings)
    np.testing.assert_array_equal(ours.apply(X), number[theirs.apply(X)])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    if criterion in CLASSIFICATION:
        for a, b in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
        assert [list(c) for c in ours.classes_] == [list(c) for c in theirs.classes_]
        assert list(ours.n_classes_) == list(theirs.n_classes_)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 3.0, 2: 0.5}], ids=str)
@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_class_weight(criterion, class_weight):
    X, y, w = table(criterion)
    compare(criterion, X, y, w, class_weight=class_weight, min_samples_leaf=8)
    compare(criterion, X, y, None, class_weight=class_weight, max_depth=2)


@pytest.mark.parametrize("settings", MEDIUM, ids=str)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_monotonic_constraints(criterion, settings):
    X, y, w = table(criterion)
    y = (y > 0).astype(int) if criterion in CLASSIFICATION else y
    compare(criterion, X, y, w, monotonic_cst=[1, 0, -1, 0], **settings)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_known_classification_data(criterion, load):
    X, y = load(return_X_y=True)
    if load is load_iris:
        X = X[:, :2]  # length and width of the petal separate one class equally well
    X = X.astype(np.float32)
    w = np.random.default_rng(0).integers(32, 128, len(y)) / 64
    ours, theirs, number = compare(criterion, X, y, w, max_depth=2, min_samples_leaf=12)
    assert_same_answers(ours, theirs, number, X)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_known_regression_data(criterion):
    X, y = load_diabetes(return_X_y=True)
    compare(criterion, X.astype(np.float32), y, None, min_samples_leaf=20)


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_made_classification_data(criterion):
    X, y = make_classification(1000, n_informative=6, n_classes=4, random_state=0)
    w = np.random.default_rng(0).integers(32, 128, len(y)) / 64
    compare(criterion, X.astype(np.float32), y, w, min_samples_leaf=25)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_pruning_path(criterion):
    X, y, w = table(criterion)
    ours, theirs = pair(criterion, min_samples_leaf=6)
    fit_peer(theirs, X, y, w)
    got = ours.cost_complexity_pruning_path(X, y, sample_weight=w)
    expected = theirs.cost_complexity_pruning_path(X, y, sample_weight=w)
    np.testing.assert_allclose(got.ccp_alphas, expected.ccp_alphas, atol=1e-10)
    np.testing.assert_allclose(got.impurities, expected.impurities, atol=1e-10)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_sparse_columns_are_the_dense_ones(criterion, kind):
    X, y, w = table(criterion)
    X[np.abs(X) < 0.8] = 0
    ours, theirs, _ = compare(criterion, X, y, w, min_samples_leaf=8)
    dense = ours.predict(X)
    again = pair(criterion, min_samples_leaf=8)[0].fit(kind(X), y, sample_weight=w)
    assert_same_tree(again, theirs)
    np.testing.assert_array_equal(again.predict(kind(X)), dense)


# --- the same surface -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_and_defaults(name):
    ours = inspect.signature(getattr(weald, name)).parameters
    theirs = inspect.signature(getattr(peers, name)).parameters
    assert set(theirs) <= set(ours)
    for parameter, expected in theirs.items():
        assert ours[parameter].default == expected.default
        assert ours[parameter].kind == expected.kind
    extra = {"categorical_features", "max_bins", "n_jobs"}
    extra |= {"cost_matrix"} if name.endswith("Classifier") else set()
    assert set(ours) - set(theirs) == extra


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_and_methods(name):
    X, y, _ = table("gini" if name.endswith("Classifier") else "squared_error")
    ours, theirs = (getattr(home, name)(random_state=0).fit(X, y) for home in (weald, peers))
    public = {a for a in dir(theirs) if not a.startswith("_")} - set(theirs.__dict__)
    fitted = {a for a in theirs.__dict__ if a.endswith("_")}
    assert public | fitted <= set(dir(ours))
    for attribute in ("n_features_in_", "n_outputs_", "max_features_"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    if name.endswith("Classifier"):
        assert ours.n_classes_ == theirs.n_classes_
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)


@pytest.mark.parametrize("max_features", [None, 1, 3, 0.5, 1.0, "sqrt", "log2"])
def test_number_of_columns_drawn(max_features):
    X, y, _ = table("gini", d=10)
    ours, theirs = pair("gini", max_features=max_features)
    assert ours.fit(X, y).max_features_ == theirs.fit(X, y).max_features_


COMMON = [
    {},
    {"max_depth": 3},
    {"max_leaf_nodes": 9},
    {"max_bins": 32},
    {"splitter": "random"},
    {"max_features": "sqrt", "random_state": 0},
    {"min_weight_fraction_leaf": 0.02, "n_jobs": 2},
    {"ccp_alpha": 0.01},
]
EXACT = [
    *(weald.DecisionTreeClassifier(**settings) for settings in COMMON),
    *(weald.DecisionTreeRegressor(**settings) for settings in COMMON),
    *(weald.DecisionTreeClassifier(criterion=c) for c in ("entropy", "misclassification")),
    weald.DecisionTreeRegressor(criterion="absolute_error"),
    weald.DecisionTreeClassifier(class_weight="balanced"),
    weald.ExtraTreeClassifier(),
    weald.ExtraTreeClassifier(criterion="entropy", random_state=1),
    weald.ExtraTreeRegressor(),
    weald.ExtraTreeRegressor(max_leaf_nodes=9),
]
DRAWN = [  # the folds, row by row
    kind(ccp_alpha=rule)
    for kind in (weald.DecisionTreeClassifier, weald.DecisionTreeRegressor)
    for rule in ("cv", "cv_1se")
]


@pytest.mark.parametrize(("estimator", "check"), contract(EXACT, DRAWN))
def test_estimator_contract(estimator, check):
    check(estimator)
