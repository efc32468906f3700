"""scikit-learn's estimators in model files, by themselves and as members."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR

import weald
from weald.models import allowed

from .cases import (
    IsotonicRegression,
    answers,
    classifiers,
    mixed,
    numbers,
    positive,
    quietly,
    regressors,
    same_bits,
    table_pipeline,
    transformers,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "model-files.md"


def test_the_page_lists_the_classes():
    listed = PAGE.read_text().split("## What can be saved")[1].split("## Versions")[0]
    rows = [line.split("|")[2] for line in listed.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([A-Z]\w+)`", row)}
    classes = {
        name
        for module, names in allowed._FOREIGN.items()
        for name in names.split()
        if module != "sklearn.model_selection" and name[0] != "_"
    }
    assert named | {"make_column_selector"} == classes
    assert all(allowed.class_named(f"sklearn.{name}") is not None for name in classes)


def check(model, X, tmp_path):
    path = tmp_path / "model.weald"
    weald.save(model, path)
    loaded = weald.load(path)
    assert type(loaded) is type(model)
    same_bits(answers(model, X), answers(loaded, X))
    return loaded


def names(models):
    return [f"{k} {type(model).__name__}" for k, model in enumerate(models)]


# Rows that are no part of the table, or kernels would know them for the points themselves.
NEW = numbers(80)[0][60:]


@pytest.mark.parametrize("model", regressors(), ids=names(regressors()))
def test_regressors(model, tmp_path):
    X, real, _ = numbers()
    several = type(model).__name__ == "MultiOutputRegressor"
    quietly(model.fit, X, np.column_stack([real, -real]) if several else real)
    check(model, NEW, tmp_path)


@pytest.mark.parametrize("labels", [np.arange(3), np.array(["a", "bb", "c"])], ids=str)
@pytest.mark.parametrize("k", range(len(classifiers())), ids=names(classifiers()))
def test_classifiers(k, labels, tmp_path):
    X, _, codes = numbers()
    check(quietly(classifiers()[k].fit, X, labels[codes]), NEW, tmp_path)
    check(quietly(classifiers()[k].fit, X, labels[np.minimum(codes, 1)]), NEW, tmp_path)


@pytest.mark.parametrize("model", transformers(), ids=names(transformers()))
def test_transformers(model, tmp_path):
    X, _, codes = numbers()
    check(quietly(model.fit, X, codes), NEW, tmp_path)


@pytest.mark.parametrize("model", positive(), ids=names(positive()))
def test_losses_are_made_again(model, tmp_path):
    X, real, _ = numbers()
    check(model.fit(X, np.exp(real)), NEW, tmp_path)


def test_a_step_function(tmp_path):
    X, real, _ = numbers()
    check(IsotonicRegression(out_of_bounds="clip").fit(X[:, 0], real), NEW[:, :1], tmp_path)


@pytest.mark.parametrize("last", [Ridge(), weald.RandomForestRegressor(3, random_state=0)])
def test_a_pipeline_for_a_table(last, tmp_path):
    X, real = mixed()
    check(table_pipeline(last).fit(X, real), X, tmp_path)


def test_a_bag_of_pipelines(tmp_path):
    X, real, _ = numbers()
    member = make_pipeline(PolynomialFeatures(3), StandardScaler(), LinearRegression())
    bag = weald.BaggingRegressor(member, 4, max_features=2, random_state=0).fit(X, real)
    loaded = check(bag, NEW, tmp_path)
    assert np.array_equal(loaded.member_predictions(NEW), bag.member_predictions(NEW))


@pytest.mark.parametrize("kind", [weald.StackingClassifier, weald.VotingClassifier])
def test_members_of_many_kinds(kind, tmp_path):
    X, _, codes = numbers()
    members = [("line", LogisticRegression()), ("bayes", GaussianNB()), ("machine", SVC())]
    check(kind(members).fit(X, np.array(["u", "v", "w"])[codes]), NEW, tmp_path)


@pytest.mark.parametrize("model", [SVR(), SVC()])
def test_machines_of_sparse_tables(model, tmp_path):
    X, real, codes = numbers()
    model.fit(csr_matrix(np.round(X)), codes if isinstance(model, SVC) else real)
    check(model, csr_matrix(np.round(NEW)), tmp_path)


@pytest.mark.parametrize(
    "model", [SVC(kernel="precomputed"), KNeighborsClassifier(metric="precomputed")], ids=str
)
def test_tables_of_distances(model, tmp_path):
    X, _, codes = numbers()
    check(model.fit(np.abs(X @ X.T), codes), np.abs(NEW @ X.T), tmp_path)


@pytest.mark.parametrize("kind", [KNeighborsClassifier, RandomForestClassifier])
def test_several_outputs_of_classes(kind, tmp_path):
    X, _, codes = numbers()
    check(kind().fit(X, np.column_stack([codes, codes > 0])), NEW, tmp_path)


@pytest.mark.parametrize("kind", [KNeighborsRegressor, RandomForestRegressor, Ridge])
def test_several_outputs_of_numbers(kind, tmp_path):
    X, real, _ = numbers()
    check(kind().fit(X, np.column_stack([real, -real])), NEW, tmp_path)


def test_trees_of_missing_values(tmp_path):
    X, real, _ = numbers()
    X[::7, 0] = np.nan
    check(RandomForestRegressor(3, random_state=0).fit(X, real), X, tmp_path)


def test_sparse_parts(tmp_path):
    X, _, codes = numbers()
    sparse, new = csr_matrix(np.round(X)), csr_matrix(np.round(NEW))
    check(KNeighborsClassifier().fit(sparse, codes), new, tmp_path)
    check(LogisticRegression().fit(sparse, codes).sparsify(), new, tmp_path)


def test_columns_by_their_types(tmp_path):
    X, real = mixed()
    columns = make_column_transformer(
        (SimpleImputer(), make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
    )
    check(make_pipeline(columns, LinearRegression()).fit(X, real), X, tmp_path)


def test_an_encoder_of_dates(tmp_path):
    X = np.array([["2020-01-01"], ["2021-03-01"]] * 20, dtype="datetime64[D]")
    check(OneHotEncoder().fit(X), X, tmp_path)


def test_what_would_not_be_read_is_not_written(tmp_path):
    labels = np.empty(2, dtype=object)
    labels[:] = [("a",), ("b",)]
    with pytest.raises(weald.ModelFileError, match=r"OneHotEncoder.categories.*array of lists"):
        weald.save(OneHotEncoder(categories=[labels]), tmp_path / "model.weald")
