"""What is in a file, told without building the model."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald
from weald.models import decoding, describe

from .cases import mixed, numbers, table_pipeline
from .mutations import put_together, taken_apart


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.weald"


@pytest.fixture
def nothing_is_built(monkeypatch):
    def build(*_):
        raise AssertionError("a model was built")

    monkeypatch.setattr(decoding, "_with_state", build)
    monkeypatch.setattr(decoding.Decoder, "build", build)


@pytest.mark.usefixtures("nothing_is_built")
def test_a_forest_of_a_mixed_table(path):
    X, real = mixed()
    y = np.array(["low", "high"])[(real > 2).astype(int)]
    scores = {"accuracy": 0.9, "folds": [0.8, float("nan")], "target": "größe"}
    forest = weald.RandomForestClassifier(7, max_depth=2, random_state=0).fit(X, y)
    forest.save(path, info=scores)
    told = describe(path)
    assert (told.format, told.weald_version) == (1, weald.__version__)
    assert (told.class_name, told.n_members) == ("RandomForestClassifier", 7)
    assert told.parameters == forest.get_params()
    assert [column.name for column in told.columns] == list(X.columns)
    kinds = {column.name: column.kind for column in told.columns}
    assert kinds["height in cm"] == "number"
    assert kinds["town"] == kinds["word"] == "category"
    categories = {column.name: column.categories for column in told.columns}
    assert categories["town"] == ["Bern", "Köln", "Ulm"]
    assert categories["height in cm"] is None
    assert told.classes == ["high", "low"]
    assert told.info["accuracy"] == 0.9
    assert np.isnan(told.info["folds"][1])
    assert told.info["target"] == "größe"
    assert told.sizes["file"] == path.stat().st_size
    assert told.sizes["arrays"] + told.sizes["document"] < told.sizes["file"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        told.info = None


@pytest.mark.usefixtures("nothing_is_built")
def test_other_models(path):
    X, real, codes = numbers()
    weald.BaggingRegressor(LinearRegression(), 4, random_state=0).fit(X, real).save(path)
    told = describe(path)
    assert told.parameters["estimator"] == "<sklearn.LinearRegression>"
    assert told.n_members == 4
    assert told.classes is None
    assert [column.name for column in told.columns] == ["x0", "x1", "x2"]
    weald.DecisionTreeClassifier().fit(X, np.column_stack([codes, codes > 0])).save(path)
    told = describe(path)
    assert told.n_members is None
    assert told.classes == [[0, 1, 2], [False, True]] or told.classes == [[0, 1, 2], [0, 1]]
    X, real = mixed()
    weald.save(table_pipeline(LinearRegression()).fit(X, real), path)
    told = describe(path)
    assert told.class_name == "sklearn.Pipeline"
    assert {column.kind for column in told.columns} == {"any"}
    weald.RandomForestRegressor().save(path)
    assert describe(path).columns is None


def test_ordered_categories(path):
    X, real = mixed()
    X["level"] = pd.Categorical(["low", "high"] * 45, categories=["low", "high"], ordered=True)
    weald.DecisionTreeRegressor(max_depth=2).fit(X, real).save(path)
    *_, member, level = describe(path).columns
    assert (level.kind, level.categories) == ("ordered category", ["low", "high"])
    assert (member.kind, member.categories) == ("number", None)
    document, arrays = taken_apart(path.read_bytes())
    del document["about"]["dict"]["_ordered_columns"]  # as early builds wrote it
    path.write_bytes(put_together(document, arrays))
    assert describe(path).columns[-1].kind == "number"


@pytest.mark.parametrize(
    "member",
    [
        LinearRegression(),
        weald.RandomForestRegressor(3, random_state=0),
        make_pipeline(StandardScaler(), StandardScaler(), LinearRegression()),
    ],
)
def test_members_that_have_parts_themselves(path, member):
    """A forest can be taken for a list of its trees, and a pipeline for one of its steps."""
    X, real, _ = numbers()
    weald.save(MultiOutputRegressor(member).fit(X, np.column_stack([real, -real])), path)
    assert describe(path).n_members == 2


@pytest.mark.parametrize("name", ["about", "objects", "class", "members", "weald", "values"])
def test_damage(path, name):
    X, real = mixed()
    weald.RandomForestRegressor(2).fit(X, real).save(path)
    document, arrays = taken_apart(path.read_bytes())
    for odd in (None, 7, "x", [], {}, [7], {"dict": {}}):
        path.write_bytes(put_together({**document, name: odd}, arrays))
        fine = (name in ("class", "weald") and odd == "x") or (
            name == "members" and odd in (None, 7)
        )
        if not fine:
            with pytest.raises(weald.ModelFileError, match=r"^Not a valid model file[^\n]*\.$"):
                describe(path)
