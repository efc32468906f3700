"""Effects of columns on the prediction of one row."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from weald import GradientBoostingRegressor, RandomForestClassifier
from weald.explain import row_effects


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=80),
            "kind": rng.choice(["book", "game"], 80),
            "noise": rng.normal(size=80),
        }
    )
    X.loc[3, "size"] = np.nan
    return X, np.where(X["kind"] == "book", 1, 0) * 2 + X["size"].fillna(0)


def test_effects_are_predictions_with_values_of_other_rows(shop):
    X, y = shop
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    found = row_effects(model, X, 5)
    said = model.predict(X)
    assert found.prediction == found.value == said[5]
    assert found.usual == pytest.approx(said.mean())
    for one in found.effects:
        changed = X.iloc[[5] * 80].reset_index(drop=True)
        changed[one.feature] = X[one.feature]
        assert one.effect == pytest.approx(said[5] - model.predict(changed).mean())
    sizes = [abs(one.effect) for one in found.effects]
    assert sizes == sorted(sizes, reverse=True)


def test_kinds_of_tables_agree(shop):
    X, y = shop
    model = RandomForestClassifier(20, random_state=0).fit(X, y > 1)
    first = row_effects(model, X, 3)
    assert next(one for one in first.effects if one.feature == "size").value is None
    assert "size is missing" in first.words(3)
    for other in (pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        assert str(row_effects(model, other, 3)) == str(first)
    array = X.astype(object).to_numpy()
    plain = RandomForestClassifier(20, random_state=0).fit(array, y > 1)
    assert str(row_effects(plain, array, 3, feature_names=list(X))) == str(first)


def test_missing_values_of_pandas_are_missing():
    X = pd.DataFrame({"a": pd.array([1, None, 3, 4] * 5, dtype="Int64"), "b": np.arange(20) % 3})
    model = GradientBoostingRegressor(n_estimators=5).fit(X, np.arange(20.0) % 4)
    found = {one.feature: one.value for one in row_effects(model, X, 1).effects}
    assert found == {"a": None, "b": 1}


def test_words():
    X = np.array([[0.0, 0.0], [0, 1], [1, 0], [1, 1]] * 5)
    model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0).fit(X, [7.0] * 20)
    assert (
        str(row_effects(model, X, 0)) == "predicts 7 (on average 7); no single column changes that"
    )
