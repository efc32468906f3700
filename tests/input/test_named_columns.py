"""Columns that parameters name: the same for every estimator and every kind of table."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import Ridge

import weald
from input.cases import Reader, categories, fit
from weald.input.table import check_X_predict

TREES = {"max_depth": 4, "random_state": 0}
KINDS = {
    "tree": lambda **c: weald.DecisionTreeRegressor(**TREES, **c),
    "extra-tree": lambda **c: weald.ExtraTreeRegressor(**TREES, **c),
    "forest": lambda **c: weald.RandomForestRegressor(5, **TREES, **c),
    "extra-trees": lambda **c: weald.ExtraTreesRegressor(5, **TREES, **c),
    "boosting": lambda **c: weald.GradientBoostingRegressor(n_estimators=5, **TREES, **c),
    "bag": lambda **c: weald.BaggingRegressor(
        weald.DecisionTreeRegressor(**TREES, **c), 5, random_state=0
    ),
    "subspaces": lambda **c: weald.BaggingRegressor(
        weald.DecisionTreeRegressor(**TREES, **c), 5, max_features=2, random_state=0
    ),
    "naive": lambda **c: weald.NaiveEnsembleRegressor(
        weald.DecisionTreeRegressor(max_depth=3, **c), n_estimators=3, random_state=0
    ),
    "AdaBoost": lambda **c: weald.AdaBoostRegressor(
        weald.DecisionTreeRegressor(**TREES, **c), n_estimators=5, random_state=0
    ),
    "stagewise": lambda **c: weald.StagewiseRegressor(
        weald.DecisionTreeRegressor(**TREES, **c), n_estimators=5, random_state=0
    ),
}
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]


def rows(n=120):
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, n)
    town = np.array(["Bonn", "Trier", "Aachen"])[rng.integers(0, 3, n)]
    size = rng.normal(size=n)
    y = np.array([0.0, 3.0, 1.0, -2.0, 4.0, 0.5])[code] + (town == "Trier") + 0.1 * size
    return {"code": code, "size": size, "town": town.tolist()}, y


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", KINDS)
def test_listed_columns_are_categories_too(kind, library):
    table, y = rows()
    X = library(table)
    by_name = KINDS[kind](categorical_features=["code"]).fit(X, y)
    assert [labels is not None for labels in by_name.categories_] == [True, False, True]
    for same in ([0], [True, False, False], ["code", "town"], ["code", "code"], {0, 2}):
        other = KINDS[kind](categorical_features=same).fit(X, y)
        assert np.array_equal(other.predict(X), by_name.predict(X))
    for nothing_more in ("from_dtype", [], [False] * 3, ["town"]):
        other = KINDS[kind](categorical_features=nothing_more).fit(X, y)
        assert [labels is not None for labels in other.categories_] == [False, False, True]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_name_is_named_with_its_neighbours(kind, library):
    table, y = rows()
    with pytest.raises(
        ValueError,
        match=r"^categorical_features names 'twon', but X has no such column: did you mean 'town'",
    ):
        KINDS[kind](categorical_features=["code", "twon"]).fit(library(table), y)
    with pytest.raises(ValueError, match=r"^categorical_features has the index 3, .* 0 to 2"):
        KINDS[kind](categorical_features=[3]).fit(library(table), y)
    with pytest.raises(ValueError, match=r"^categorical_features.* each of the 3 columns, not 2"):
        KINDS[kind](categorical_features=[True, False]).fit(library(table), y)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        (" Size ", "did you mean 'size'?"),
        ("TOWN", "did you mean 'town'?"),
        ("codes", "did you mean 'code'?"),
        ("zzz", "it has 'code', 'size', 'town'."),
    ],
)
def test_near_names_are_found(name, near):
    with pytest.raises(ValueError, match=re.escape(near) + "$"):
        fit(pd.DataFrame(rows()[0]), categorical_features=[name])


def test_of_many_columns_a_few_are_listed():
    frame = pd.DataFrame(np.zeros((2, 30)), columns=[f"c{j}" for j in range(30)])
    with pytest.raises(ValueError, match=r"it has 'c0', .*'c4' and 25 more\.$"):
        fit(frame, categorical_features=["weight"])


@pytest.mark.parametrize(
    "dtype", ["int8", "int64", "float32", "float64", "bool", "object", "Int16"]
)
def test_numbers_of_any_type_can_be_listed(dtype):
    frame = pd.DataFrame({"a": pd.Series([0, 1, 0, 1]).astype(dtype), "t": list("xyxy")})
    assert categories(fit(frame, categorical_features=["a"])) == [[0, 1], ["x", "y"]]


def test_a_name_alone_is_no_list():
    with pytest.raises(ValueError, match=r"not 'code': give \['code'\]\.$"):
        fit(pd.DataFrame(rows()[0]), categorical_features="code")


# --- integer names ------------------------------------------------------------------------------


def test_whole_numbers_are_indices_whatever_the_names():
    frame = pd.DataFrame({10: [1, 2], 20: [3, 4]})
    assert categories(fit(frame, categorical_features=[1])) == [None, [3, 4]]
    with pytest.raises(
        ValueError, match=r"index 20, .* 0 to 1 \(the column named 20 has the index 1\)"
    ):
        fit(frame, categorical_features=[20])


def test_a_number_that_is_another_columns_name_is_taken_with_a_warning():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=[1, 0])
    with pytest.warns(UserWarning, match="index 0, which is column 1, while the column named 0"):
        assert categories(fit(frame, categorical_features=[0])) == [[1, 3], None]
    same = pd.DataFrame([[1, 2], [3, 4]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert categories(fit(same, categorical_features=[0])) == [[1, 3], None]


def test_text_is_a_name_even_if_it_looks_like_an_index():
    frame = pl.DataFrame({"1": [1, 2], "0": [3, 4]})
    assert categories(fit(frame, categorical_features=["0"])) == [None, [3, 4]]
    assert categories(fit(frame, categorical_features=[0])) == [[1, 2], None]


@pytest.mark.parametrize("kind", KINDS)
def test_equal_names_are_refused(kind):
    frame = pd.DataFrame(np.zeros((4, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="several columns named 'a'"):
        KINDS[kind](categorical_features=["a"]).fit(frame, [0.0, 1.0, 2.0, 3.0])


# --- None: no categories, as in scikit-learn ----------------------------------------------------


def test_without_categories_those_of_numbers_are_numbers():
    frame = pd.DataFrame({"a": pd.Categorical([3, 1, None, 7])})
    reader = Reader().fit(frame, categorical_features=None)
    assert categories(reader.table_) == [None]
    np.testing.assert_array_equal(reader.table_.X.ravel(), [3, 1, np.nan, 7])
    np.testing.assert_array_equal(check_X_predict(reader, frame), reader.table_.X)


# --- constraints --------------------------------------------------------------------------------

NAMED = pd.DataFrame(np.random.default_rng(1).normal(size=(200, 3)), columns=["a", "b", "c"])
TARGET = NAMED["a"] * NAMED["b"] + NAMED["b"] * NAMED["c"] + NAMED["a"]
SHORT = {"n_estimators": 10, "max_leaf_nodes": 8, "random_state": 0}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_interactions_by_name(library):
    X, y = library(NAMED), TARGET.to_numpy()
    said = [
        weald.GradientBoostingRegressor(interaction_cst=groups, **SHORT).fit(X, y).predict(X)
        for groups in ([{"a", "b"}, {"c"}], [{0, 1}, {2}], [["a", 1]], (("b", "a", "b"),))
    ]
    assert all(np.array_equal(one, said[0]) for one in said)
    free = weald.GradientBoostingRegressor(**SHORT).fit(X, y).predict(X)
    assert not np.array_equal(free, said[0])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([{"aa"}], "^interaction_cst names 'aa', .*no such column: did you mean 'a'"),
        ([{3}], "^interaction_cst has the index 3, but the columns are 0 to 2"),
        (["ab"], "^interaction_cst must be None, 'pairwise'.* by name or index"),
        ([[True]], "^interaction_cst has True for a column"),
    ],
)
def test_wrong_interactions_are_explained(groups, message):
    with pytest.raises(ValueError, match=message):
        weald.GradientBoostingRegressor(interaction_cst=groups).fit(NAMED, TARGET)


@pytest.mark.parametrize("kind", KINDS)
def test_directions_by_name(kind):
    X, y = NAMED, TARGET
    listed = KINDS[kind](monotonic_cst=[1, 0, -1]).fit(X, y)
    for given in ({"a": 1, "c": -1}, {"a": 1, "b": 0, 2: -1}):
        assert np.array_equal(
            KINDS[kind](monotonic_cst=given).fit(X, y).predict(X), listed.predict(X)
        )
    with pytest.raises(ValueError, match=r"^monotonic_cst names 'd', but X has no such column"):
        KINDS[kind](monotonic_cst={"d": 1}).fit(X, y)
    with pytest.raises(ValueError, match=r"^monotonic_cst must be.*column 'a' has 'up'"):
        KINDS[kind](monotonic_cst={"a": "up"}).fit(X, y)
    with pytest.raises(ValueError, match=r"^monotonic_cst constrains column 'a', .*categorical"):
        KINDS[kind](monotonic_cst={"a": 1}, categorical_features=["a"]).fit(X.round(), y)


def test_foreign_members_of_boosting_read_their_columns_themselves():
    with pytest.raises(ValueError, match=r"^categorical_features is for weald's own trees"):
        weald.GradientBoostingRegressor(estimator=Ridge(), categorical_features=[0]).fit(
            NAMED, TARGET
        )


# --- members that are fitted to some of the columns, one by one --------------------------------

GIVEN = [
    {"categorical_features": ["a"], "monotonic_cst": {"c": 1}},
    {"categorical_features": [0], "monotonic_cst": [0, 0, 1]},
    {"categorical_features": [True, False, False], "monotonic_cst": {2: 1}},
]


@pytest.mark.parametrize("draw", [{}, {"bootstrap_features": True}], ids=["apart", "repeated"])
def test_drawn_columns_keep_what_parameters_say_of_them(draw):
    X = NAMED.assign(a=(3 * NAMED["a"]).round())
    found = []
    for given in GIVEN:
        # Pruned by cross-validation, which the engine does not do for all members at once.
        tree = weald.DecisionTreeRegressor(ccp_alpha="cv", random_state=0, **given)
        bag = weald.BaggingRegressor(tree, 8, max_features=2, random_state=0, **draw)
        found.append(bag.fit(X, TARGET).predict(X))
        for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
            kinds = [labels is not None for labels in member.categories_]
            assert kinds == [j == 0 for j in columns]
            assert member.monotonic_cst == [int(j == 2) for j in columns]
    assert all(np.array_equal(one, found[0]) for one in found)
    wrong = weald.DecisionTreeRegressor(ccp_alpha="cv", categorical_features=["d"])
    with pytest.raises(ValueError, match="'d', but X has no such column: it has 'a', 'b', 'c'"):
        weald.BaggingRegressor(wrong, 2, max_features=2).fit(X, TARGET)


def test_drawn_columns_keep_their_interactions():
    boosted = weald.GradientBoostingRegressor(interaction_cst=[{"a", "b"}], **SHORT)
    bag = weald.BaggingRegressor(boosted, 6, max_features=2, random_state=0).fit(NAMED, TARGET)
    for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        together = [[0, 1], []] if list(columns) == [0, 1] else [[0], [1]]
        assert member.interaction_cst == together
