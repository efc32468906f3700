"""Rows to predict, held against the table of the fit."""

import timeit

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from input.cases import NAN, NUMBERS, Reader, assert_sound
from weald.input.table import check_X_predict

MIXED = pd.DataFrame({"n": [1.0, 2.0], "t": ["a", "b"], "k": [10, 20]})


def mixed_reader() -> Reader:
    return Reader().fit(MIXED, categorical_features=["t", "k"])


@pytest.mark.parametrize("rows", [1, 124, 126, 3000])  # few labels are searched for, many hashed
def test_labels_are_found_however_many_there_are(rows):
    known = np.arange(1000) * 3
    fitted = pd.DataFrame({"t": [f"level {k}" for k in known], "k": known + 2**53 // 2})
    reader = Reader().fit(fitted, categorical_features=["t", "k"])
    k = np.arange(rows)[::-1]
    new = pd.DataFrame({"t": [f"level {i}" for i in k], "k": k + 2**53 // 2})
    expected = np.where(k % 3 == 0, k // 3, NAN)
    found = check_X_predict(reader, new)
    texts = sorted(fitted["t"])
    places = [texts.index(t) if t in texts else NAN for t in new["t"]]
    np.testing.assert_array_equal(found[:, 0], places)
    np.testing.assert_array_equal(found[:, 1], expected)
    if rows > 1:
        new["t"] = new["t"].astype(object)
        new.loc[0, "t"] = 7  # a number among texts is unknown
        assert np.isnan(check_X_predict(reader, new)[0, 0])


@pytest.mark.parametrize(
    ("t", "k", "expected"),
    [
        (["b", "new"], [20, 15], [[1, 1], [NAN, NAN]]),
        (["b", None], [20.0, NAN], [[1, 1], [NAN, NAN]]),
        (["b", 3], ["10", 10], [[1, NAN], [NAN, 0]]),
        ([None, NAN], [None, None], [[NAN, NAN], [NAN, NAN]]),
        (pd.Categorical(["b", "z"]), pd.Series([20, 3], dtype="Int8"), [[1, 1], [NAN, NAN]]),
    ],
)
def test_a_label_unknown_at_fit_is_missing(t, k, expected):
    frame = pd.DataFrame({"n": [1, 2], "t": t, "k": k})
    np.testing.assert_array_equal(check_X_predict(mixed_reader(), frame)[:, 1:], expected)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("n", ["1", "2"], "Column 'n' held numbers in fit but holds text"),
        ("n", ["x", 2], "Column 'n' mixes numbers and text"),
        ("n", [1, np.inf], "Column 'n' contains infinity"),
        ("n", [1, 2**53 + 1], "Column 'n' .*beyond 2"),
        ("t", [1, 2], "Column 't' held text as categories in fit but holds numbers now"),
        ("k", ["10", "20"], "Column 'k' held numbers as categories in fit but holds text now"),
        ("k", [10, np.inf], "Column 'k' contains infinity"),
    ],
)
def test_a_column_of_another_kind_is_refused(name, values, message):
    with pytest.raises(ValueError, match=message):
        check_X_predict(mixed_reader(), MIXED.assign(**{name: values}))


def test_the_order_and_the_names_of_the_columns_are_checked():
    reader = mixed_reader()
    with pytest.raises(ValueError, match="same order as they were in fit"):
        check_X_predict(reader, MIXED[["t", "n", "k"]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- other"):
        check_X_predict(reader, MIXED.rename(columns={"n": "other"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but Reader"):
        check_X_predict(reader, MIXED.to_numpy())
    with pytest.warns(UserWarning, match="X has feature names, but Reader was fitted without"):
        check_X_predict(Reader().fit(np.ones((2, 1))), pd.DataFrame({"a": [1.0]}))


def test_a_second_fit_forgets_the_names_of_the_first():
    reader = mixed_reader().fit(np.ones((2, 5)))
    assert reader.n_features_in_ == 5
    assert not hasattr(reader, "feature_names_in_")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_new_rows_of_numbers(dtype):
    reader = Reader().fit(np.ones((2, 3)))
    rows = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    for variant in (rows, rows[::-1], np.asfortranarray(rows), rows[:1], rows.tolist()):
        got = check_X_predict(reader, variant)
        assert_sound(got, np.shape(variant))
        np.testing.assert_array_equal(got, np.asarray(variant, dtype=float))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((1, 2)), "X has 2 features, but Reader is expecting 3 features as input"),
        (np.ones((0, 3)), r"0 sample\(s\)"),
        (np.ones(3), "Reshape your data"),
        (np.array([[1, 2, np.inf]]), "Column 2 contains infinity"),
        (np.array([[1, 2, -np.inf]], dtype="float32"), "Column 2 contains infinity"),
    ],
)
def test_the_fast_path_checks_as_the_slow_one_does(rows, message):
    reader = Reader().fit(np.ones((2, 3)))
    for variant in (rows, rows.astype(object)):
        with pytest.raises(ValueError, match=message):
            check_X_predict(reader, variant)


def test_one_row_of_floats_takes_microseconds():
    reader, row = Reader().fit(np.ones((2, 28))), np.full((1, 28), NAN)
    assert check_X_predict(reader, row) is row
    seconds = min(timeit.repeat(lambda: check_X_predict(reader, row), number=200, repeat=20)) / 200
    assert seconds < 15e-6


def test_an_estimator_must_be_fitted_first():
    with pytest.raises(NotFittedError):
        check_X_predict(Reader(), np.ones((1, 1)))


@pytest.mark.parametrize("kind", ["Int64", "UInt64", "Float64", "boolean"])
def test_new_rows_without_any_number_in_a_column(kind):
    X = pd.DataFrame({"a": pd.array([1, 0, None, 1], dtype=kind), "b": [0.0, 1.0, 2.0, 3.0]})
    reader = Reader().fit(X)
    np.testing.assert_array_equal(check_X_predict(reader, X.iloc[[2, 2]]), [[NAN, 2.0], [NAN, 2.0]])
