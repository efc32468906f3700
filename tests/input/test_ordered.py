"""Ordered categoricals are numbers: the places of their labels."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import weald

SIZES = ["S", "M", "L", "XL", "XXL"]
rng = np.random.default_rng(0)
SIZE = rng.choice(SIZES[:4], 400)
PLACE = np.array([SIZES.index(size) for size in SIZE], dtype=float)
Y = (PLACE - 1) ** 2 + 0.1 * rng.normal(size=400)  # M and the order of labels are not in line

FRAMES = {
    "pandas": lambda size: pd.DataFrame({"size": pd.Categorical(size, SIZES, ordered=True)}),
    "polars": lambda size: pl.DataFrame({"size": pl.Series(size, dtype=pl.Enum(SIZES))}),
    "arrow": lambda size: pa.table(
        {
            "size": pa.DictionaryArray.from_arrays(
                pa.array([None if s is None else SIZES.index(s) for s in size], pa.int8()),
                pa.array(SIZES),
                ordered=True,
            )
        }
    ),
}
MODELS = [
    weald.DecisionTreeRegressor(max_depth=1),
    weald.RandomForestRegressor(5, random_state=0),
    weald.ExtraTreesRegressor(5, random_state=0),
    weald.BaggingRegressor(n_estimators=5, random_state=0),
    weald.AdaBoostRegressor(n_estimators=5, random_state=0),
    weald.StagewiseRegressor(n_estimators=5, random_state=0),
    weald.GradientBoostingRegressor(n_estimators=5, random_state=0),
]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_they_are_cut_as_numbers_are(model, frame):
    X = FRAMES[frame](SIZE)
    numbers = model.fit(PLACE[:, None], Y).predict(PLACE[:, None])
    fitted = model.fit(X, Y)
    np.testing.assert_array_equal(fitted.predict(X), numbers)
    assert fitted.categories_ == [None]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), numbers)
    members = np.ravel(fitted.estimators_) if hasattr(fitted, "estimators_") else []
    assert all(len(member.predict(X)) == len(Y) for member in members)


def test_labels_are_known_again_in_any_form():
    fitted = weald.DecisionTreeRegressor().fit(FRAMES["pandas"](SIZE), Y)
    size = ["XL", "S", "M", "L"]
    expected = fitted.predict(FRAMES["pandas"](size))
    assert len(set(expected)) == 4 - (expected[1] == expected[3])
    for X in (
        FRAMES["polars"](size),
        FRAMES["arrow"](size),
        pd.DataFrame({"size": size}),
        pd.DataFrame({"size": pd.Categorical(size)}),
    ):
        np.testing.assert_array_equal(fitted.predict(X), expected)
    np.testing.assert_array_equal(  # what is not known counts as missing
        fitted.predict(pd.DataFrame({"size": ["XS"]})),
        fitted.predict(pd.DataFrame({"size": np.array([None], dtype=object)})),
    )


def test_labels_that_are_not_there_have_a_place():
    fitted = weald.DecisionTreeRegressor().fit(FRAMES["pandas"](SIZE), Y)
    largest, beyond = fitted.predict(FRAMES["pandas"](["XL", "XXL"]))
    assert largest == beyond


def test_numbers_in_place_of_labels_are_refused():
    fitted = weald.DecisionTreeRegressor().fit(FRAMES["pandas"](SIZE), Y)
    with pytest.raises(ValueError, match="Column 'size' held text as categories in fit but holds"):
        fitted.predict(pd.DataFrame({"size": [1.0, 2.0]}))


def test_a_listed_column_is_one_of_categories():
    X = FRAMES["pandas"](SIZE)
    fitted = weald.DecisionTreeRegressor(categorical_features=["size"]).fit(X, Y)
    assert fitted.categories_[0].tolist() == ["L", "M", "S", "XL"]
    unlisted = weald.DecisionTreeRegressor(categorical_features=None).fit(X, Y)
    assert unlisted.categories_ == [None]


def test_a_damaged_order_is_refused():
    fitted = weald.DecisionTreeRegressor().fit(FRAMES["pandas"](SIZE), Y)
    fitted._ordered_columns = {7: ["S"]}
    with pytest.raises(ValueError, match="ordered categories"):
        pickle.loads(pickle.dumps(fitted))


def test_a_warm_start_asks_for_the_same_order():
    forest = weald.RandomForestRegressor(2, warm_start=True, random_state=0)
    forest.fit(FRAMES["pandas"](SIZE), Y).set_params(n_estimators=3)
    other = pd.DataFrame({"size": pd.Categorical(SIZE, SIZES[::-1], ordered=True)})
    with pytest.raises(ValueError, match="order of categories"):
        forest.fit(other, Y)
