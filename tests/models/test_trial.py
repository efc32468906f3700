"""Damage that shows when a model is tried, and damage that must be found before."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.impute import KNNImputer, MissingIndicator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC

import weald

from .cases import IsotonicRegression, answers, mixed, numbers, same_bits, table_pipeline
from .mutations import put_together
from .test_hostile import path, refused, saved, state
from .test_hostile_members import replaced

__all__ = ["path"]  # a fixture


def bins():
    coarse = KBinsDiscretizer(3, encode="ordinal", quantile_method="linear")
    return make_pipeline(coarse, CategoricalNB(min_categories=3))


# --- without a row --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RobustScaler(), "scale_"),
        (MissingIndicator(), "features_"),
        (weald.ExtraTreeClassifier(max_depth=2), "tree_"),
    ],
)
def test_a_part_is_missing_and_so_is_the_row(path, model, name):
    X, _, codes = numbers()
    document, arrays = saved(model.fit(X, codes), path)
    document["row"] = None
    path.write_bytes(put_together(document, arrays))
    weald.load(path)
    del document["objects"][-1]["state"][name]
    refused(path, put_together(document, arrays), "AttributeError")


def test_indices_that_are_no_whole_numbers(path):
    document, arrays = saved(MissingIndicator().fit(numbers()[0]), path)
    document["row"] = None
    number = document["objects"][-1]["state"]["features_"]["array"]
    refused(path, put_together(document, replaced(arrays, number, np.empty(0))), "IndexError")


def test_a_model_that_cannot_be_tried_as_a_whole(path):
    """Its estimators are, one by one."""
    X = np.array([["2020-01-01"], ["2021-03-01"]] * 20, dtype="datetime64[D]")
    model = make_pipeline(OneHotEncoder(), StandardScaler(with_mean=False)).fit(X)
    document, arrays = saved(model, path)
    assert document["row"] is None
    same_bits(answers(weald.load(path), X), answers(model, X))
    del state(document, "sklearn.StandardScaler")["scale_"]
    refused(path, put_together(document, arrays), "AttributeError")


# --- for some rows only ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "part", "name", "change"),
    [
        (OneVsOneClassifier(LogisticRegression()), -2, "classes_", lambda a: a[:1]),
        (TargetEncoder(cv=2), -1, "categories_", lambda a: a[::-1]),
        (bins(), None, None, lambda a: np.append(a, a[-1] + 0.1)),
    ],
    ids=["classes", "categories", "bins"],
)
def test_damage_that_shows_for_some_rows(path, model, part, name, change):
    X, _, codes = numbers()
    document, arrays = saved(model.fit(X, codes), path)
    if name is None:
        given = document["values"][0]["items"][0]
    else:
        given = document["objects"][part]["state"][name]
    number = (given[0] if isinstance(given, list) else given)["array"]
    refused(path, put_together(document, replaced(arrays, number, change(arrays[number]))))


def test_errors_that_are_right(path):
    """`CategoricalNB` has an IndexError for a number that is no category."""
    X, _, codes = numbers()
    X = np.abs(np.round(X[:, :1]))
    model = CategoricalNB().fit(X, codes)
    document, arrays = saved(model, path)
    assert document["failures"] == ["IndexError"]
    same_bits(answers(weald.load(path), X), answers(model, X))
    document["failures"] = []
    refused(path, put_together(document, arrays), "IndexError")


# --- tables with names ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("StandardScaler", "scale_"),
        ("SimpleImputer", "statistics_"),
        ("ColumnTransformer", "_transformer_to_input_indices"),
        ("Ridge", "coef_"),
    ],
)
def test_pipelines_for_tables(path, kind, name):
    X, real = mixed()
    document, arrays = saved(table_pipeline(Ridge()).fit(X, real), path)
    assert document["named"]
    assert document["row"] == [0.0, "Bern", "?", 0.0, 0.0]
    del state(document, f"sklearn.{kind}")[name]
    refused(path, put_together(document, arrays))


@pytest.mark.parametrize("to", [False, None, 1, "yes"])
def test_no_word_about_names(path, to):
    X, real = mixed()
    document, arrays = saved(table_pipeline(Ridge()).fit(X, real), path)
    document["named"] = to
    refused(path, put_together(document, arrays))


def test_no_library_for_tables(path, monkeypatch):
    X, real = mixed()
    model = table_pipeline(Ridge()).fit(X, real)
    document, _ = saved(model, path)
    assert document["row"] is not None
    monkeypatch.setattr("weald.models.trial.find_spec", lambda name: None)
    same_bits(answers(weald.load(path), X), answers(model, X))
    assert saved(model, path)[0]["row"] is None
    same_bits(answers(weald.load(path), X), answers(model, X))


# --- what would lead to memory that is not there --------------------------------------------------


def rare_categories():
    rng = np.random.default_rng(0)
    X = rng.choice(9, (200, 2), p=np.arange(1, 10) / 45)
    return OneHotEncoder(max_categories=4, drop="first").fit(X)


@pytest.mark.parametrize("to", [-1, 4, 2**31])
def test_rare_categories_out_of_range(path, to):
    """A sparse table is made of them, and a dense one of that writes wherever they say."""
    document, arrays = saved(rare_categories(), path)
    number = document["objects"][-1]["state"]["_default_to_infrequent_mappings"][1]["array"]
    new = np.where(np.arange(9) == 3, to, arrays[number])
    refused(path, put_together(document, replaced(arrays, number, new)), "rare")


@pytest.mark.parametrize("to", [-1, 4, 0.5, "0"])
def test_dropped_categories_out_of_range(path, to):
    document, arrays = saved(rare_categories(), path)
    number = document["objects"][-1]["state"]["_drop_idx_after_grouping"]["values"]
    document["values"][number]["items"][1] = to
    refused(path, put_together(document, arrays), "dropped")


@pytest.mark.parametrize("to", [[3], [3, 2], [3, 2**31], [3, 3, 3], None])
def test_a_one_hot_encoder_of_other_columns(path, to):
    document, arrays = saved(rare_categories(), path)
    assert document["objects"][-1]["state"]["_n_features_outs"] == [3, 3]
    document["objects"][-1]["state"]["_n_features_outs"] = to
    refused(path, put_together(document, arrays), "columns of categories")


@pytest.mark.parametrize("kind", ["FoldMean", "ForeignMembers"])
@pytest.mark.parametrize("to", [1, 4, 2**31])
def test_classes_of_members_that_the_model_does_not_have(path, kind, to):
    """Memory would be taken for each of them."""
    X, real, _ = numbers()
    members = [("line", Ridge()), ("flat", Ridge(100.0))]
    document, arrays = saved(weald.SuperLearnerRegressor(members, cv=2).fit(X, real), path)
    for entry in document["objects"]:
        if entry.get("class") == kind:
            entry["params" if kind == "FoldMean" else "state"]["n_classes"] = to
    refused(path, put_together(document, arrays), "classes")


def test_probabilities_that_a_machine_does_not_have(path):
    """They would be read where there is nothing."""
    X, _, codes = numbers()
    document, arrays = saved(SVC().fit(csr_matrix(np.round(X)), codes), path)
    document["objects"][-1]["params"]["probability"] = True
    if "_effective_probability" in state(document, "sklearn.SVC"):  # since scikit-learn 1.9
        state(document, "sklearn.SVC")["_effective_probability"] = 60
    refused(path, put_together(document, arrays), "probabilities")


# --- what shows for missing values only -----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_fit_X", lambda a: a[:-1]),
        ("_fit_X", lambda a: a[:, 0]),
        ("_mask_fit_X", lambda a: a[:, :1]),
        ("_valid_mask", lambda a: a[:-1]),
    ],
)
def test_rows_that_fill_gaps(path, name, change):
    X, _, _ = numbers()
    document, arrays = saved(KNNImputer().fit(np.where(X > 1, np.nan, X)), path)
    number = document["objects"][-1]["state"][name]["array"]
    refused(path, put_together(document, replaced(arrays, number, change(arrays[number]))))


@pytest.mark.parametrize("name", ["X_min_", "X_max_", "X_thresholds_", "y_thresholds_"])
def test_a_step_function_without_a_part(path, name):
    """It does not say how many columns it takes, so it is not tried."""
    X, real, _ = numbers()
    document, arrays = saved(IsotonicRegression().fit(X[:, 0], real), path)
    del document["objects"][-1]["state"][name]
    refused(path, put_together(document, arrays))
