"""The path of a row: true conditions, merged into a readable sentence."""

import operator

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.tree
from sklearn.datasets import load_iris

import weald
from weald.explain import Condition, RowPath, explain_path

COMPARE = {"<=": operator.le, ">": operator.gt}


def holds(condition: Condition) -> bool:
    """Whether a condition is true of the row's own value."""
    if condition.operator == "is missing":
        return condition.value is None
    if condition.operator == "is present":
        return condition.value is not None
    if condition.operator == "in":
        return condition.value in condition.categories
    if condition.operator == "not in":
        return condition.value not in condition.categories
    return COMPARE[condition.operator](condition.value, condition.threshold)


def mixed_table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.15, np.nan, rng.normal(size=n).round(2)),
            "color": rng.choice(["red", "blue", "green", "grey"], n),
            "count": rng.integers(0, 9, n),
        }
    )
    table.loc[rng.random(n) < 0.1, "color"] = None
    y = (
        table["color"].isin(["red", "grey"]).astype(int)
        + (table["size"].fillna(1.0) > 0.3).astype(int)
        + rng.integers(0, 2, n)
    )
    return table, y.to_numpy()


@pytest.mark.parametrize("seed", range(5))
def test_every_condition_is_true_of_its_row(seed):
    table, y = mixed_table(200, seed)
    tree = weald.DecisionTreeClassifier(max_depth=6, random_state=0).fit(table, y)
    paths = explain_path(tree, table)
    assert [path.prediction for path in paths] == tree.predict(table).tolist()
    assert [path.leaf for path in paths] == tree.apply(table).tolist()
    shares = tree.predict_proba(table)
    depth = np.asarray(tree.decision_path(table).sum(axis=1)).ravel() - 1
    for i, path in enumerate(paths):
        assert all(holds(condition) for condition in path.conditions), path
        assert len(path.conditions) == depth[i]
        np.testing.assert_allclose(path.value, shares[i])
        # One reason per column, however often it was asked.
        n_columns = len({condition.column for condition in path.conditions})
        assert str(path).count(" and ") == n_columns - 1


def test_the_kind_of_table_does_not_matter():
    table, y = mixed_table(120, 0)
    tree = weald.DecisionTreeClassifier(max_depth=5, random_state=0).fit(table, y)
    from_pandas = explain_path(tree, table)
    frame = pl.from_pandas(table)
    assert explain_path(tree, frame) == from_pandas
    assert explain_path(tree, frame.to_arrow()) == from_pandas
    nameless = weald.DecisionTreeClassifier(max_depth=5, random_state=0)
    nameless.fit(table.to_numpy(dtype=object), y)
    names = list(table.columns)
    cells = explain_path(nameless, table.to_numpy(dtype=object), feature_names=names)
    assert [str(path) for path in cells] == [str(path) for path in from_pandas]
    rows = explain_path(nameless, table.to_numpy(dtype=object).tolist(), feature_names=names)
    assert rows == cells


def test_sparse_rows():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 4)) < 0.6, 0.0, rng.normal(size=(60, 4)))
    y = (X[:, 1] + X[:, 2] > 0).astype(int)
    tree = weald.DecisionTreeClassifier(max_depth=4).fit(X, y)
    assert explain_path(tree, sp.csr_matrix(X)) == explain_path(tree, X)


def test_sentence_names_categories_and_numbers():
    table = pd.DataFrame(
        {
            "height": [150.0, 165, 168, 171, 173, 180, 185, 190] * 4,
            "sex": ["F", "M"] * 16,
        }
    )
    y = np.where(table["height"] < 172, "a", np.where(table["sex"] == "F", "b", "c"))
    tree = weald.DecisionTreeClassifier().fit(table, y)
    row = pd.DataFrame({"height": [183.0], "sex": ["F"]})
    (path,) = explain_path(tree, row, class_names=["small", "F", "M"])
    sentence = str(path)
    assert sentence in (
        "predicts F because height > 172 and sex in {F}",
        "predicts F because sex in {F} and height > 172",
    )
    assert path.prediction == "b"
    assert [str(c) for c in path.conditions] == sentence.split(" because ")[1].split(" and ")


def test_conditions_on_one_column_are_merged():
    X = np.array([[140.0], [150], [152], [170], [172], [190]])
    y = np.array([0, 0, 1, 1, 2, 2])
    tree = weald.DecisionTreeClassifier().fit(X, y)
    paths = explain_path(tree, X, feature_names=["height"])
    assert [str(p) for p in paths] == (
        ["predicts 0 because height <= 151"] * 2
        + ["predicts 1 because 151 < height <= 171"] * 2
        + ["predicts 2 because height > 171"] * 2
    )


def test_category_conditions_are_merged():
    def condition(sign: str, *labels: str) -> Condition:
        return Condition(0, 0, "color", sign, None, labels, "red")

    def sentence(*conditions: Condition) -> str:
        return str(RowPath(1, conditions, 3, (1.0,), "1")).removeprefix("predicts 1 because ")

    wide, narrow = condition("in", "red", "blue", "grey"), condition("in", "red", "grey")
    assert sentence(wide, narrow) == "color in {red, grey}"
    assert sentence(wide, condition("not in", "blue")) == "color in {red, grey}"
    barred = sentence(condition("not in", "blue"), condition("not in", "blue", "white"))
    assert barred == "color not in {blue, white}"


def test_close_thresholds_never_read_as_the_same_number():
    low = Condition(0, 0, "x", ">", 1.00000001, None, 1.000000015)
    high = Condition(1, 0, "x", "<=", 1.00000002, None, 1.000000015)
    sentence = str(RowPath(1, (low, high), 2, (1.0,), "1"))
    assert sentence == "predicts 1 because 1.00000001 < x <= 1.00000002"


def test_missing_and_unknown_values_are_named():
    table = pd.DataFrame({"color": ["red", "blue", "green"] * 6})
    y = np.array([1, 0, 0] * 6)
    tree = weald.DecisionTreeClassifier().fit(table, y)
    rows = pd.DataFrame({"color": ["red", None, "purple"]})
    known, missing, unknown = explain_path(tree, rows)
    assert str(known) == "predicts 1 because color in {red}"
    assert str(missing).endswith(" because color is missing")
    assert missing.conditions[0].value is None
    assert str(unknown).endswith(" because color is unknown (purple)")
    assert unknown.conditions[0].value == "purple"

    X = np.array([[1.0], [2], [np.nan], [np.nan]])
    tree = weald.DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    present, gone = explain_path(tree, [[5.0], [np.nan]], feature_names=["height"])
    assert str(present) == "predicts 0 because height is present"
    assert str(gone) == "predicts 1 because height is missing"


def test_regression_and_several_outputs():
    X = np.array([[1.0], [2.0]])
    tree = weald.DecisionTreeRegressor().fit(X, [0.125, 1e6])
    sentences = [str(path) for path in explain_path(tree, X)]
    assert sentences == [
        "predicts 0.125 because feature_0 <= 1.5",
        "predicts 1000000 because feature_0 > 1.5",
    ]
    two = weald.DecisionTreeRegressor().fit(X, [[1.0, 10.0], [2.0, 20.0]])
    path = explain_path(two, X)[0]
    assert str(path) == "predicts (1, 10) because feature_0 <= 1.5"
    assert path.prediction == (1.0, 10.0)
    assert path.value == ((1.0,), (10.0,))


def test_a_tree_without_a_test_and_no_rows_to_explain():
    tree = weald.DecisionTreeClassifier().fit([[1.0], [2.0]], ["x", "x"])
    (path,) = explain_path(tree, [[3.0]])
    assert path.conditions == ()
    assert str(path) == "predicts x for every row because the tree has no test"


def test_a_path_cannot_be_changed():
    tree = weald.DecisionTreeClassifier().fit([[1.0], [2.0]], ["x", "y"])
    (path,) = explain_path(tree, [[3.0]])
    with pytest.raises(AttributeError):
        path.leaf = 7
    assert hash(path) == hash(explain_path(tree, [[3.0]])[0])


def test_estimators_offer_it_as_a_method():
    tree = weald.DecisionTreeClassifier().fit([[1.0], [2.0]], ["x", "y"])
    assert tree.explain_path([[3.0]]) == explain_path(tree, [[3.0]])


@pytest.mark.peers
def test_scikit_learn_trees_are_read_too():
    X, y = load_iris(return_X_y=True)
    tree = sklearn.tree.DecisionTreeClassifier(random_state=0).fit(X, y)
    # Thresholds are met by single-precision values there.
    paths = explain_path(tree, X.astype(np.float32))
    assert all(holds(condition) for path in paths for condition in path.conditions)
    assert [path.prediction for path in paths] == tree.predict(X).tolist()
