"""Small subtrees are those that the general way grows.

Growth by the best node first never takes the short way for subtrees of few rows, and draws the same
columns and cuts. Rows that were not fitted tell whether a column or a threshold differs.
"""

import numpy as np
import pandas as pd
import pytest

import weald

N = 1_500


def numbers(rng, columns):
    return rng.normal(size=(N, columns))


def with_gaps(rng, columns):
    X = numbers(rng, columns)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def few_values(rng, columns):
    return rng.integers(3, size=(N, columns)).astype(float)


def with_categories(rng, columns, levels=12, lowest=-1):
    table = pd.DataFrame(numbers(rng, columns))
    for name in ("a", "b"):
        codes = rng.integers(lowest, levels, size=N)
        table[name] = pd.Categorical.from_codes(codes, [f"{name}{k}" for k in range(levels)])
    table.columns = table.columns.astype(str)
    return table


def with_many_categories(rng, columns):
    return with_categories(rng, columns, 400)


def with_few_categories(rng, columns):
    return with_categories(rng, columns, 7, lowest=0)


def without_gaps(rng, columns):
    return with_categories(rng, columns, 60, lowest=0)


def with_a_full_byte(rng, columns):
    """256 categories, none missing, beside numbers that may be."""
    table = pd.DataFrame(with_gaps(rng, columns))
    codes = np.r_[np.arange(256), rng.integers(256, size=N - 256)]
    table["a"] = pd.Categorical.from_codes(codes, [f"a{k}" for k in range(256)])
    table.columns = table.columns.astype(str)
    return table


METHODS = ("ExtraTrees", "RandomForest")
CATEGORIES = (with_categories, with_many_categories, with_few_categories, without_gaps)
TABLES = (numbers, with_gaps, few_values, *CATEGORIES)
TARGETS = {
    "two classes": lambda rng, s: (s > rng.normal(size=N)).astype(int),
    "many classes": lambda rng, s: np.digitize(s + rng.normal(size=N), np.linspace(-2, 2, 11)),
    "numbers": lambda rng, s: s + rng.normal(size=N),
    "outputs": lambda rng, s: s[:, None] + rng.normal(size=(N, 3)),
}
WEIGHTS = {
    "none": lambda rng: None,
    "whole": lambda rng: rng.integers(1, 60, size=N).astype(float),
    "real": lambda rng: rng.random(N) + 0.1,
}


def first(X, rows):
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("table", TABLES, ids=lambda make: make.__name__)
@pytest.mark.parametrize(("columns", "tried"), [(6, 3), (40, 34), (20, None)])
@pytest.mark.parametrize("method", METHODS)
def test_the_short_way_grows_the_same_trees(method, table, target, weights, columns, tried):
    rng = np.random.default_rng(len(target) + columns)
    X = table(rng, columns)
    s = np.nan_to_num(
        np.asarray(first(X, slice(None)).iloc[:, 0] if hasattr(X, "iloc") else X[:, 0])
    )
    y, w = TARGETS[target](rng, s), WEIGHTS[weights](rng)
    kind = getattr(weald, method + ("Classifier" if "classes" in target else "Regressor"))
    fitted, asked = slice(0, 1_300), slice(1_300, N)
    answers = []
    for leaves in (None, 10**6):
        model = kind(2, max_features=tried, max_leaf_nodes=leaves, random_state=3, n_jobs=1)
        model.fit(first(X, fitted), y[fitted], sample_weight=None if w is None else w[fitted])
        answers.append(getattr(model, "predict_proba", model.predict)(first(X, asked)))
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize("target", TARGETS)
def test_a_byte_full_of_categories(target, max_bins):
    rng = np.random.default_rng(5)
    X = with_a_full_byte(rng, 3)
    y = TARGETS[target](rng, np.nan_to_num(X["0"].to_numpy()))
    kind = getattr(weald, "ExtraTrees" + ("Classifier" if "classes" in target else "Regressor"))
    answers = []
    for leaves in (None, 10**6):
        model = kind(3, max_bins=max_bins, max_leaf_nodes=leaves, random_state=3, max_features=3)
        model.fit(X.iloc[:1_300], y[:1_300])
        answers.append(getattr(model, "predict_proba", model.predict)(X.iloc[1_300:]))
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("levels", [5, 400, 900])
@pytest.mark.parametrize("max_bins", [255, None])
def test_the_short_way_draws_the_same_categories(max_bins, levels, target):
    """Codes of a byte and of more, by one thread and by two."""
    rng = np.random.default_rng(levels)
    X = with_categories(rng, 1, levels)
    y = TARGETS[target](rng, X["0"].to_numpy())
    kind = getattr(weald, "ExtraTrees" + ("Classifier" if "classes" in target else "Regressor"))
    answers = []
    for leaves, jobs in ((None, 1), (10**6, 1), (None, 2), (None, 8)):
        model = kind(3, max_bins=max_bins, max_leaf_nodes=leaves, random_state=3, n_jobs=jobs)
        model.fit(X.iloc[:1_300], y[:1_300])
        answers.append(getattr(model, "predict_proba", model.predict)(X.iloc[1_300:]))
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0], other)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", METHODS)
def test_splits_that_gain_too_little_are_left_out(method, target):
    rng = np.random.default_rng(1)
    X = numbers(rng, 5)
    y = TARGETS[target](rng, X[:, 0])
    kind = getattr(weald, method + ("Classifier" if "classes" in target else "Regressor"))
    models = [
        kind(2, min_impurity_decrease=1e-4, max_leaf_nodes=leaves, random_state=3).fit(X, y)
        for leaves in (None, 10**6)
    ]
    assert models[0].estimators_[0].tree_.node_count == models[1].estimators_[0].tree_.node_count
