"""Text rules: scikit-learn's format for numbers, plain words for the rest."""

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import weald
from weald.explain import export_text

HEIGHTS = np.array([[175.0], [180], [175], [172], [165], [169], [170]])
AGES = np.array([20.0, 32, 40, 28, 22, 40, 70])
SEXES = np.array(["F", "M", "M", "M", "F", "F", "F"])


@pytest.fixture(scope="module")
def peer_trees():
    X, y = load_iris(return_X_y=True)
    weights = np.linspace(0, 1, len(y))
    numbers, targets = load_diabetes(return_X_y=True)
    kind, regressor = sklearn.tree.DecisionTreeClassifier, sklearn.tree.DecisionTreeRegressor
    return [
        kind(random_state=0).fit(X, y),
        kind(max_leaf_nodes=6, random_state=0).fit(X, y, sample_weight=weights),
        kind(max_depth=2, random_state=0).fit(X, np.where(y == 0, "a", "b")),
        regressor(max_depth=4, random_state=0).fit(numbers, targets),
        regressor(max_depth=3, random_state=0).fit(numbers, np.c_[targets, -targets]),
        regressor().fit(X, np.ones(len(y))),
    ]


@pytest.mark.peers
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_depth": 0},
        {"max_depth": 2, "decimals": 0},
        {"spacing": 1, "decimals": 5},
        {"show_weights": True, "spacing": 6},
    ],
)
def test_numeric_trees_read_as_in_scikit_learn(peer_trees, options):
    for tree in peer_trees:
        assert export_text(tree, **options) == sklearn.tree.export_text(tree, **options)


@pytest.mark.peers
def test_names_are_used_as_in_scikit_learn(peer_trees):
    names = {"feature_names": list("wxyz"), "class_names": ["A", "B", "C"]}
    tree = peer_trees[0]
    assert export_text(tree, **names) == sklearn.tree.export_text(tree, **names)


def test_own_regression_tree():
    tree = weald.DecisionTreeRegressor(max_depth=1).fit(HEIGHTS, AGES)
    assert export_text(tree, feature_names=["height"]) == (
        "|--- height <= 171.00\n"
        "|   |--- value: [44.00]\n"
        "|--- height >  171.00\n"
        "|   |--- value: [30.00]\n"
    )


def test_own_classification_tree_with_weights_and_labels():
    tree = weald.DecisionTreeClassifier(max_depth=1).fit(HEIGHTS, SEXES)
    assert export_text(tree, show_weights=True, decimals=0) == (
        "|--- feature_0 <= 171\n"
        "|   |--- weights: [3, 0] class: F\n"
        "|--- feature_0 >  171\n"
        "|   |--- weights: [1, 3] class: M\n"
    )


def test_columns_keep_the_names_they_had_in_fit():
    table = pd.DataFrame({"height": HEIGHTS[:, 0]})
    tree = weald.DecisionTreeRegressor(max_depth=1).fit(table, AGES)
    assert export_text(tree).startswith("|--- height <= 171.00\n")


def test_categories_read_as_sets():
    table = pd.DataFrame({"color": ["blue", "green", "red", "grey"] * 5})
    y = table["color"].isin(["red", "blue"]).astype(int)
    text = export_text(weald.DecisionTreeClassifier().fit(table, y))
    one = "{blue, red}" if "color in {blue" in text else "{green, grey}"
    lines = text.splitlines()
    assert lines[0] == f"|--- color in {one}"
    assert lines[2] == f"|--- color not in {one}"
    assert len(lines) == 4


def test_long_category_sets_are_cut_short_with_a_count():
    labels = [f"c{i:02}" for i in range(40)] * 4
    y = np.arange(160) % 2
    tree = weald.DecisionTreeClassifier().fit(pd.DataFrame({"code": labels}), y)
    first = export_text(tree).splitlines()[0]
    assert first in (
        "|--- code in {c00, c02, c04, c06, +16 more}",
        "|--- code in {c01, c03, c05, c07, +16 more}",
    )


def test_a_long_set_is_named_by_what_it_leaves_out():
    labels = [f"c{i:02}" for i in range(20)] * 4
    for rare in (0, 1):  # whichever side the one odd category is on
        y = np.where(np.arange(80) % 20 == 7, rare, 1 - rare)
        tree = weald.DecisionTreeClassifier().fit(pd.DataFrame({"code": labels}), y)
        lines = export_text(tree).splitlines()
        assert {lines[0], lines[2]} == {"|--- code in {c07}", "|--- code not in {c07}"}


def test_labels_that_could_be_misread_are_quoted():
    table = pd.DataFrame({"city": ["a, b", "", "{x}", "plain"] * 3})
    y = table["city"].eq("plain").astype(int)
    tree = weald.DecisionTreeClassifier().fit(table, y)
    first = export_text(tree).splitlines()[0]
    assert first in ("|--- city in {plain}", "|--- city in {'', 'a, b', '{x}'}")


def test_missing_side_is_shown_on_request():
    X = np.array([[1.0], [2], [3], [4], [np.nan], [np.nan]])
    y = np.array([0, 0, 1, 1, 1, 1])
    tree = weald.DecisionTreeClassifier().fit(X, y)
    assert "missing" not in export_text(tree)
    lines = export_text(tree, show_missing=True).splitlines()
    assert lines[0] == "|--- feature_0 <= 2.50"
    assert lines[2] == "|--- feature_0 >  2.50 or missing"


def test_a_test_for_missingness_says_so():
    X = np.array([[1.0], [2], [1], [2], [np.nan], [np.nan]])
    y = np.array([0, 0, 0, 0, 1, 1])
    tree = weald.DecisionTreeClassifier().fit(X, y)
    for show_missing in (False, True):
        lines = export_text(tree, show_missing=show_missing).splitlines()
        assert lines[0] == "|--- feature_0 is present"
        assert lines[2] == "|--- feature_0 is missing"


def test_several_outputs():
    y = np.c_[SEXES, SEXES[::-1]]
    tree = weald.DecisionTreeClassifier(max_depth=1).fit(HEIGHTS, y)
    leaf = export_text(tree, class_names=[["woman", "man"], ["w", "m"]]).splitlines()[1]
    first, second = tree.predict(HEIGHTS[[5]])[0]
    names = {"F": "woman", "M": "man"}[first], {"F": "w", "M": "m"}[second]
    assert leaf == f"|   |--- class: {names[0]}, {names[1]}"


def test_leaf_class_is_the_predicted_one_under_costs():
    X, y = np.array([[0.0]] * 10 + [[1.0]] * 10), np.array([0] * 8 + [1] * 2 + [1] * 10)
    costly = [[0, 1], [20, 0]]  # to miss class 1 costs twenty times as much
    tree = weald.DecisionTreeClassifier(cost_matrix=costly).fit(X, y)
    assert tree.predict([[0.0]])[0] == 1
    assert "class: 0" not in export_text(tree)


def test_a_tree_without_a_test():
    tree = weald.DecisionTreeClassifier().fit([[1.0], [2.0]], ["x", "x"])
    assert export_text(tree) == "|--- class: x\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth must be a whole number >= 0, got -1"),
        ({"max_depth": 1.5}, "max_depth must be a whole number"),
        ({"spacing": 0}, "spacing must be a whole number >= 1, got 0"),
        ({"decimals": True}, "decimals must be a whole number"),
        ({"feature_names": ["a", "b"]}, "feature_names must hold one name for each of the 1 col"),
        ({"class_names": ["a"]}, "class_names must hold one name for each of the 2 classes"),
    ],
)
def test_bad_options_get_a_clear_sentence(options, message):
    tree = weald.DecisionTreeClassifier(max_depth=1).fit(HEIGHTS, SEXES)
    with pytest.raises(ValueError, match=message):
        export_text(tree, **options)


def test_only_a_fitted_tree_will_do():
    with pytest.raises(NotFittedError):
        export_text(weald.DecisionTreeClassifier())
    with pytest.raises(TypeError, match="must be a single tree, got LinearRegression"):
        export_text(LinearRegression().fit(HEIGHTS, AGES))
    with pytest.raises(TypeError, match="must be a fitted tree estimator, got str"):
        export_text("tree")
