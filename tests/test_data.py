"""The data door: every container, type and mistake, and what comes out of it."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import subprocess
import sys
import timeit
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import estimator_checks

from weald._data import (
    Table,
    check_target,
    check_weights,
    check_X_fit,
    check_X_predict,
    encode_labels,
)

NAN = float("nan")
NUMBERS = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


class Reader(BaseEstimator):
    """An estimator that does nothing but read its table."""

    def fit(self, X, **options):
        self.table_ = check_X_fit(self, X, **options)
        self.categories_ = list(self.table_.categories)
        return self


def fit(X, **options) -> Table:
    return Reader().fit(X, **options).table_


def assert_sound(X, shape) -> None:
    """Whatever the door lets through is a clean matrix."""
    assert type(X) is np.ndarray
    assert X.dtype in (np.float32, np.float64)
    assert X.shape == shape
    assert X.flags.c_contiguous
    assert X.flags.aligned
    assert not np.isinf(X).any()


def categories(table) -> list:
    return [None if labels is None else labels.tolist() for labels in table.categories]


# ---------------------------------------------------------------- tables of numbers


@pytest.mark.parametrize("dtype", [*NUMBERS, ">f8", "longdouble", "object"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_of_any_type_keep_their_values(dtype, order):
    values = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype, order=order)
    table = fit(values)
    assert_sound(table.X, (2, 3))
    assert table.categories == (None, None, None)
    assert not table.is_categorical.any()
    np.testing.assert_array_equal(table.X, values.astype(float))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int16", "uint8", "bool"])
def test_float32_is_kept_where_it_holds_every_value(dtype):
    assert fit(np.ones((2, 2), dtype=dtype)).X.dtype == np.float32
    assert fit(np.ones((2, 2), dtype="int32")).X.dtype == np.float64
    assert fit(pd.DataFrame({"a": np.ones(2, dtype), "b": ["x", "y"]})).X.dtype == np.float32


def test_a_clean_matrix_is_not_copied_and_an_unaligned_one_is():
    clean = np.ones((3, 2))
    assert fit(clean).X is clean
    raw = np.zeros(3 * 8 + 1, dtype=np.uint8)[1:].view(np.float64).reshape(3, 1)
    assert not raw.flags.aligned
    assert_sound(fit(raw).X, (3, 1))


FRAME = {"a": [1, 2, 3], "b": [1.5, None, 2.5], "c": [True, False, None], "d": ["y", None, "x"]}
EXPECTED = [[1, 1.5, 1, 1], [2, NAN, 0, NAN], [3, 2.5, NAN, 0]]
CONTAINERS = {
    "pandas": lambda: pd.DataFrame(FRAME),
    "pandas objects": lambda: pd.DataFrame(FRAME, dtype=object),
    "pandas nullable": lambda: pd.DataFrame(FRAME).convert_dtypes(),
    "pandas arrow": lambda: pd.DataFrame(FRAME).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categorical": lambda: pd.DataFrame(FRAME).astype({"d": "category"}),
    "polars": lambda: pl.DataFrame(FRAME),
    "polars categorical": lambda: pl.DataFrame(FRAME).cast({"d": pl.Categorical}),
    "polars enum": lambda: pl.DataFrame(FRAME).cast({"d": pl.Enum(["z", "x", "y"])}),
    "arrow": lambda: pa.table(FRAME),
    "arrow batch": lambda: pa.record_batch(FRAME),
    "arrow dictionary": lambda: pa.table({**FRAME, "d": pa.array(FRAME["d"]).dictionary_encode()}),
    "narwhals": lambda: nw.from_native(pl.DataFrame(FRAME)),
    "list of lists": lambda: [list(row) for row in zip(*FRAME.values(), strict=True)],
    "tuple of tuples": lambda: tuple(zip(*FRAME.values(), strict=True)),
    "object array": lambda: np.array(list(zip(*FRAME.values(), strict=True)), dtype=object),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_table(container):
    reader = Reader().fit(CONTAINERS[container]())
    assert_sound(reader.table_.X, (3, 4))
    np.testing.assert_array_equal(reader.table_.X, EXPECTED)
    assert categories(reader.table_) == [None, None, None, ["x", "y"]]
    assert reader.table_.is_categorical.tolist() == [False, False, False, True]
    assert reader.n_features_in_ == 4
    if "list" in container or "tuple" in container or "array" in container:
        assert not hasattr(reader, "feature_names_in_")
    else:
        assert reader.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(check_X_predict(reader, CONTAINERS[container]()), EXPECTED)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "bool"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_sparse_data_become_dense_with_zeros(form, dtype, kind):
    dense = np.array([[1, 0, 0], [0, 0, 1]]).astype(dtype)
    reader = Reader().fit(kind(dense).asformat(form))
    assert_sound(reader.table_.X, (2, 3))
    np.testing.assert_array_equal(reader.table_.X, dense.astype(float))
    np.testing.assert_array_equal(check_X_predict(reader, kind(dense).asformat(form)), dense)


def test_a_masked_cell_is_missing():
    table = fit(np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]))
    np.testing.assert_array_equal(table.X, [[1, NAN], [3, 4]])


@pytest.mark.parametrize("nothing", [None, NAN, pd.NA, pd.NaT, np.float32("nan")])
def test_every_mark_of_absence_is_nan_and_a_column_of_them_is_accepted(nothing):
    table = fit(np.array([[nothing, 1], [nothing, 2.5]], dtype=object))
    np.testing.assert_array_equal(table.X, [[NAN, 1], [NAN, 2.5]])
    assert table.categories == (None, None)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.Series([None, None], dtype="string")}),
        pl.DataFrame({"a": pl.Series([None, None], dtype=pl.String)}),
        pa.table({"a": pa.array([None, None], type=pa.string())}),
    ],
)
def test_text_that_is_missing_throughout_has_no_labels(frame):
    reader = Reader().fit(frame)
    assert categories(reader.table_) == [[]]
    assert np.isnan(reader.table_.X).all()
    assert np.isnan(check_X_predict(reader, frame)).all()


def test_odd_numbers_and_texts_are_read_as_what_they_say():
    class Colour(enum.StrEnum):
        RED = "red"

    row = [decimal.Decimal("1.5"), np.float32(2), np.True_, np.str_("s"), Colour.RED, np.int8(4)]
    table = fit(np.array([row, [1, 2, 3, "s", "red", 5]], dtype=object))
    np.testing.assert_array_equal(table.X, [[1.5, 2, 1, 0, 0, 4], [1, 2, 3, 0, 0, 5]])
    assert categories(table)[3:5] == [["s"], ["red"]]


CHUNKS = [pa.array(["b"]).dictionary_encode(), pa.array(["a", "b", None]).dictionary_encode()]


@pytest.mark.parametrize(
    ("frame", "labels"),
    [
        (pd.DataFrame({"a": pd.Categorical(["b", "a"], categories=["z", "b", "a"])}), ["a", "b"]),
        (pd.DataFrame({"a": pd.Categorical([3, 1, None])}), [1, 3]),
        (pd.DataFrame({"a": pd.cut([1.0, 2.0, 9.0], [0, 5, 10])}), ["(0, 5]", "(5, 10]"]),
        (pa.table({"a": pa.array([3, 1, None]).dictionary_encode()}), [1, 3]),
        (pa.table({"a": pa.chunked_array(CHUNKS)}), ["a", "b"]),
    ],
)
def test_categoricals_keep_the_labels_that_occur(frame, labels):
    reader = Reader().fit(frame)
    assert categories(reader.table_) == [labels]
    assert np.nanmax(reader.table_.X) == len(labels) - 1
    np.testing.assert_array_equal(check_X_predict(reader, frame), reader.table_.X)


# ---------------------------------------------------------------- categorical_features


@pytest.mark.parametrize(
    "asked", [[0, 2], ["a", "c"], [True, False, True], np.array([0, 2]), {0, 2}]
)
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_named_as_categories_become_labels(asked, library):
    frame = library({"a": [7, 3, None], "b": [1, 2, 3], "c": [True, False, True]})
    reader = Reader().fit(frame, categorical_features=asked)
    assert categories(reader.table_) == [[3, 7], None, [False, True]]
    np.testing.assert_array_equal(reader.table_.X, [[1, 1, 1], [0, 2, 0], [NAN, 3, 1]])
    np.testing.assert_array_equal(check_X_predict(reader, frame), reader.table_.X)


def test_large_integers_stay_apart_as_categories():
    big = [[2**53 + 1], [2**53], [10**30]]
    reader = Reader().fit(big, categorical_features=[0])
    assert reader.table_.X.ravel().tolist() == [1, 0, 2]
    assert check_X_predict(reader, big).ravel().tolist() == [1, 0, 2]
    assert np.isnan(check_X_predict(reader, [[2**53 + 2], [float(10**30)]])).tolist() == [
        [True],
        [float(10**30) != 10**30],
    ]


@pytest.mark.parametrize("asked", [None, [], ["b"], [1], [False, True]])
def test_text_outside_categorical_features_is_refused(asked):
    frame = pd.DataFrame({"town": ["x", "y"], "b": [1, 2]})
    with pytest.raises(ValueError, match=r"Column 'town' .*categorical_features.*'from_dtype'"):
        fit(frame, categorical_features=asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("dtype", "not 'dtype'"),
        (b"a", "not b'a'"),
        (3, "not 3"),
        ([5], "index 5, but the columns are 0 to 1"),
        ([-1], "index -1"),
        (["q"], "'q', but X has no such column"),
        ([True], "one entry for each of the 2 columns, not 1"),
        (["a", 1], "a list of int and str values"),
        ([1.5], "a list of float values"),
        ([[1]], "a list of list values"),
    ],
)
def test_a_bad_categorical_features_is_explained(asked, message):
    with pytest.raises(ValueError, match=f"categorical_features.*{message}"):
        fit(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), categorical_features=asked)


def test_names_need_named_columns():
    with pytest.raises(ValueError, match="'a', but X has no column names: give indices"):
        fit(np.ones((2, 2)), categorical_features=["a"])


# ---------------------------------------------------------------- tables that are refused

TIME, NESTED, KIND = "holds dates or times: .*weekday", "neither numbers nor text", "of type '{}'"
REFUSED = [
    (pd.DataFrame({"Day": pd.to_datetime(["2020"])}), ValueError, f"'Day' {TIME}"),
    (pd.DataFrame({"Day": pd.to_datetime(["2020"], utc=True)}), ValueError, f"'Day' {TIME}"),
    (pd.DataFrame({"a": pd.to_timedelta(["1D"])}), ValueError, f"'a' {TIME}"),
    (pd.DataFrame({"a": [dt.date(2020, 1, 1)]}), ValueError, f"'a' {TIME}"),
    (pl.DataFrame({"a": [dt.date(2020, 1, 1)]}), ValueError, f"'a' {TIME}"),
    (pl.DataFrame({"a": [dt.time(1)]}), ValueError, f"'a' {TIME}"),
    (pl.DataFrame({"a": [dt.timedelta(1)]}), ValueError, f"'a' {TIME}"),
    (pa.table({"a": [dt.datetime(2020, 1, 1)]}), ValueError, f"'a' {TIME}"),
    (np.array([["2020-01-01"]], dtype="M8[D]"), ValueError, f"Column 0 {TIME}"),
    (pd.DataFrame({"a": pd.period_range("2020", periods=1)}), TypeError, KIND.format("Period")),
    (pd.DataFrame({"a": [[1]]}), TypeError, f"'a' .*{KIND.format('list')}"),
    (pl.DataFrame({"a": [[1]]}), ValueError, f"'a' .*{NESTED}"),
    (pl.DataFrame({"a": [{"x": 1}]}), ValueError, f"'a' .*{NESTED}"),
    (pa.table({"a": [b"x"]}), ValueError, f"'a' .*{NESTED}"),
    (np.array([[b"x"]]), ValueError, f"Column 0 .*{NESTED}"),
    (np.array([[1, {"x": 1}]], dtype=object), TypeError, "Column 1 .*argument must be .* string"),
    (np.array([[1j, 2]]), ValueError, "Complex data not supported.*Column 0"),
    (np.array([[1, 2j]], dtype=object), ValueError, "Complex data not supported.*Column 1"),
    (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported.*Column 'a'"),
    (sp.csr_array(np.array([[1j]])), ValueError, "Complex data not supported.*Column 0"),
    ([[1, 2], ["x", 3]], ValueError, "Column 0 mixes numbers and text"),
    (pd.DataFrame({"a": [*["x"] * 200, 1]}, dtype=object), ValueError, "Column 'a' mixes"),
    (pd.DataFrame({"a": pd.Categorical(["x", 1])}), ValueError, "Column 'a' mixes"),
    (pd.DataFrame({"a": pd.Categorical([("x", 1)])}), ValueError, "Column 'a' has categories of"),
    (np.array([[1, np.inf]]), ValueError, "Column 1 contains infinity"),
    (pd.DataFrame({"Big one": [-np.inf], "s": ["x"]}), ValueError, "Column 'Big one' .*infinity"),
    (pl.DataFrame({"a": [float("inf")]}), ValueError, "Column 'a' contains infinity"),
    (np.array([["1e4000"]]).astype("longdouble"), ValueError, "Column 0 contains infinity"),
    (np.array([[1, 2**53 + 1]]), ValueError, "Column 1 .*beyond 2.*categorical_features"),
    (np.array([[1, -(2**60)]]), ValueError, "Column 1 .*beyond 2.*categorical_features"),
    (np.array([[2**63]], dtype="uint64"), ValueError, "Column 0 .*beyond 2"),
    ([[2**53 + 1, 0.5]], ValueError, "Column 0 .*beyond 2"),
    ([[10**400]], ValueError, "Column 0 .*beyond 2"),
    (sp.csr_array(np.array([[2**60]])), ValueError, "Column 0 .*beyond 2"),
    (pd.DataFrame({"a": [2**60, None]}, dtype="Int64"), ValueError, "Column 'a' .*beyond 2"),
    (pl.DataFrame({"a": pl.Series([2**70], dtype=pl.Int128)}), ValueError, "Column 'a' .*beyond 2"),
    (pa.table({"a": [2**60, None]}), ValueError, "Column 'a' .*beyond 2"),
    (np.ones(3), ValueError, "Expected 2D array, got 1D array instead.*Reshape your data"),
    (pd.Series([1, 2]), ValueError, "Expected 2D array, got 1D array instead"),
    (sp.coo_array(np.ones(3)), ValueError, "Expected 2D array, got 1D array instead"),
    ([], ValueError, "Expected 2D array, got 1D array instead"),
    (None, ValueError, "scalar array instead: X is a single NoneType"),
    ({"a": [1]}, ValueError, "scalar array instead: X is a single dict"),
    ("text", ValueError, "scalar array instead: X is a single str"),
    (np.ones((2, 2, 2)), ValueError, "Found array with dim 3"),
    ([[1, 2], [3]], ValueError, "rows of X have different lengths"),
    (np.empty((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
    (np.empty((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
    (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\)"),
    (pl.DataFrame(schema={"a": pl.Int8}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "several columns named 'a'"),
    (pl.LazyFrame({"a": [1]}), TypeError, "call collect"),
]


@pytest.mark.parametrize(("X", "error", "message"), REFUSED)
def test_what_cannot_be_used_is_refused_by_name(X, error, message):
    with pytest.raises(error, match=message):
        fit(X)


# ---------------------------------------------------------------- new rows

MIXED = pd.DataFrame({"n": [1.0, 2.0], "t": ["a", "b"], "k": [10, 20]})


def mixed_reader() -> Reader:
    return Reader().fit(MIXED, categorical_features=["t", "k"])


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


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array, tuple])
def test_weights_of_any_container(kind):
    got = check_weights(kind([0, 1, 2]), 3)
    assert got.dtype == np.float64
    assert got.tolist() == [0, 1, 2]


def test_weights_that_are_one_number_or_none():
    assert check_weights(None, 3) is None
    assert check_weights(2, 3).tolist() == [2, 2, 2]
    assert check_weights(np.float32(0.5), 2).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "a negative weight in row 1"),
        ([NAN, 1], "NaN .* in row 0"),
        ([None, 1], "NaN .* in row 0"),
        ([np.inf, 1], "infinity in row 0"),
        ([0, 0], "zero in every row"),
        (0, "zero in every row"),
        ([1e308, 1e308], "sums to inf"),
        ([1], r"shape \(2,\), one weight per row of X, not \(1,\)"),
        (np.ones((2, 1)), r"not \(2, 1\)"),
        (pd.DataFrame({"w": [1, 1]}), r"not \(2, 1\)"),
        (["a", "b"], "holds text"),
        ([1j, 1], "Complex data"),
        ([10**400, 1], "too large"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, 2)


# ---------------------------------------------------------------- class labels


@pytest.mark.parametrize(
    ("y", "classes", "dtype"),
    [
        (np.array([3, 1, 3], dtype="int32"), [1, 3], "int32"),
        (np.array([3, 1, 3], dtype="uint8"), [1, 3], "uint8"),
        (np.array([True, False, True]), [False, True], "bool"),
        (np.array([2.0, 1.0, 2.0]), [1.0, 2.0], "float64"),
        (np.array(["no", "maybe", "no"]), ["maybe", "no"], "<U5"),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"], "object"),
        (np.array([2, 1, 2], dtype=object), [1, 2], "int64"),
        (["b", "a", "b"], ["a", "b"], "<U1"),
        (["b\0", "a", "b\0"], ["a", "b\0"], "object"),
        ([2, 1, 2], [1, 2], "int64"),
        ((True, False, True), [False, True], "bool"),
        ([2**70, 1, 2**70], [1, 2**70], "object"),
        (pd.Series([2, 1, 2], dtype="int8"), [1, 2], "int8"),
        (pd.Series([2, 1, 2], dtype="Int64"), [1, 2], "int64"),
        (pd.Series(["b", "a", "b"]), ["a", "b"], "object"),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"], "object"),
        (pd.Series(pd.Categorical([2, 1, 2], categories=[9, 2, 1])), [1, 2], "int64"),
        (pl.Series(["b", "a", "b"]), ["a", "b"], "object"),
        (pl.Series([True, False, True]), [False, True], "bool"),
        (pl.Series(["b", "a", "b"], dtype=pl.Enum(["c", "b", "a"])), ["a", "b"], "object"),
        (pa.array(["b", "a", "b"]), ["a", "b"], "object"),
        (pa.chunked_array([["b", "a", "b"]]), ["a", "b"], "object"),
        (sp.csr_array(np.array([[1], [0], [1]])), [0, 1], "int64"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_labels_of_any_type(y, classes, dtype):
    labels = encode_labels(y, 3)
    assert labels.codes.dtype == np.int32
    assert labels.codes.tolist() == [[1], [0], [1]]
    assert labels.codes.flags.c_contiguous
    assert not labels.multi_output
    assert [c.tolist() for c in labels.classes] == [classes]
    assert labels.classes[0].dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    "y",
    [
        [[1, "b"], [0, "a"], [1, "a"]],
        pd.DataFrame({"p": [1, 0, 1], "q": ["b", "a", "a"]}),
        pl.DataFrame({"p": [1, 0, 1], "q": ["b", "a", "a"]}),
        pa.table({"p": [1, 0, 1], "q": ["b", "a", "a"]}),
    ],
)
def test_labels_of_several_outputs(y):
    labels = encode_labels(y, 3)
    assert labels.multi_output
    assert labels.codes.tolist() == [[1, 1], [0, 0], [1, 0]]
    assert [c.tolist() for c in labels.classes] == [[0, 1], ["a", "b"]]


@pytest.mark.parametrize("y", [np.array([[0], [1]]), pd.DataFrame({"y": [0, 1]}), [[0], [1]]])
@pytest.mark.parametrize("read", [encode_labels, check_target])
def test_a_column_vector_is_taken_with_a_warning(y, read):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        got = read(y, 2)
    assert (got.codes if read is encode_labels else got).tolist() == [[0], [1]]


BAD_SHAPES = [
    (None, "requires y to be passed, but the target y is None"),
    ([1, 2], "y has 2 rows but X has 3"),
    (5, "y should be a 1d array .* not a single value"),
    (np.ones((3, 0)), r"y should be a 1d array .* shape \(3, 0\)"),
    (np.ones((3, 1, 1)), r"y should be a 1d array .* shape \(3, 1, 1\)"),
    ([[1, 2], [1], [2]], "rows of y have different lengths"),
    ([1, NAN, 2], "y contains missing values"),
    ([1, None, 2], "y contains missing values"),
    ([1, np.inf, 2], "y contains infinity"),
    ([1j, 1, 2], "Complex data not supported"),
    (np.array(["2020"] * 3, dtype="M8[D]"), "y holds dates or times"),
    ([[1, 2], [1, NAN], [1, 2]], r"y \(output 1\) contains missing values"),
    (pd.Series([1, None, 2], dtype="Int64"), "y contains missing values"),
    (pl.Series([1, None, 2]), "y contains missing values"),
]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        *BAD_SHAPES,
        ([0.5, 1, 2], "Unknown label type: continuous"),
        (np.array([0.5, 1, 2], dtype=object), "Unknown label type: continuous"),
        ([[1, 0.5], [1, 1], [1, 2]], r"continuous. y \(output 1\)"),
        (["a", 1, 2], "y mixes numbers and text"),
        (["a", None, "b"], "y contains missing values"),
        (pd.Series(["a", None, "b"], dtype="category"), "y contains missing values"),
        ([{"a": 1}, 1, 2], "Unknown label type: y holds a value of type 'dict'"),
        ([b"a", b"b", b"c"], "Unknown label type: y holds a value of type 'bytes'"),
    ],
)
def test_labels_that_are_no_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(y, 3)


def test_too_many_classes_are_suspicious():
    with pytest.warns(UserWarning, match="40 classes in 40 rows: .*regressor"):
        encode_labels(np.arange(40), 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_labels(np.arange(40) % 20, 40)
        encode_labels(np.arange(3), 3)


# ---------------------------------------------------------------- regression targets


@pytest.mark.parametrize(
    "y",
    [
        [1, 2.5],
        ["1", "2.5"],
        np.array([1, 2.5], dtype="float32"),
        np.array([1, 2.5], dtype=object),
        pd.Series([1, 2.5], dtype="Float64"),
        pd.Series(["1", "2.5"], dtype="category"),
        pl.Series([decimal.Decimal("1"), decimal.Decimal("2.5")]),
        pa.array([1, 2.5]),
    ],
)
def test_targets_of_any_type(y):
    target = check_target(y, 2)
    assert target.dtype == np.float64
    assert target.flags.c_contiguous
    assert target.tolist() == [[1], [2.5]]


@pytest.mark.parametrize("kind", [np.array, pd.DataFrame, list])
def test_targets_of_several_outputs(kind):
    target = check_target(kind([[1, 2.5], [3, 4], [5, 6]]), 3)
    assert target.flags.c_contiguous
    assert target.tolist() == [[1, 2.5], [3, 4], [5, 6]]


def test_large_integers_are_rounded_as_targets():
    assert check_target([2**60 + 1, 2**80], 2).tolist() == [[2.0**60], [2.0**80]]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        *BAD_SHAPES,
        (["1", "two", "3"], "y holds text that is not a number .*'two'.*use a classifier"),
        ([10**400, 1, 2], "y contains infinity or a value too large"),
    ],
)
def test_targets_that_are_no_numbers_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_target(y, 3)


# ---------------------------------------------------------------- laws

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.complex_numbers(),
    st.binary(max_size=2),
    st.dates(),
    st.decimals(allow_nan=False),
    st.sampled_from(
        [pd.NA, pd.NaT, np.int8(3), np.float32(2.5), np.str_("q"), frozenset(), {"a": 1}]
    ),
)
CELLS = hnp.arrays(object, hnp.array_shapes(max_dims=3, max_side=4), elements=SCALARS)
TYPED = hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(max_dims=3, max_side=4))
ASKED = st.one_of(st.sampled_from(["from_dtype", None]), st.lists(st.integers(0, 3), max_size=3))


def attempt(call):
    """Give the result, or None after an error of the right kind with a message worth reading."""
    try:
        return call()
    except (ValueError, TypeError) as error:
        if " " not in str(error)[10:]:
            pytest.fail(f"unclear: {error!r}")
        return None


@settings(max_examples=300, deadline=None)
@given(X=st.one_of(CELLS, TYPED), asked=ASKED, as_list=st.booleans())
def test_junk_is_a_clean_table_or_a_clear_error(X, asked, as_list):
    X_given = X.tolist() if as_list else X
    reader = attempt(lambda: Reader().fit(X_given, categorical_features=asked))
    if reader is None:
        return
    table = reader.table_
    assert_sound(table.X, X.shape)
    for labels, values in zip(table.categories, table.X.T, strict=True):
        if labels is not None:
            assert sorted(labels.tolist()) == labels.tolist()
            assert set(values[~np.isnan(values)]) == set(range(len(labels)))
    np.testing.assert_array_equal(check_X_predict(reader, X_given), table.X)


@settings(max_examples=200, deadline=None)
@given(
    y=st.one_of(CELLS, TYPED), read=st.sampled_from([encode_labels, check_target, check_weights])
)
def test_junk_beside_the_table_is_clean_or_a_clear_error(y, read):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        got = attempt(lambda: read(y, len(y)))
    if got is None:
        return
    if read is encode_labels:
        for codes, classes in zip(got.codes.T, got.classes, strict=True):
            assert set(codes) == set(range(len(classes)))
    else:
        assert np.isfinite(got).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1, max_size=30))
def test_text_survives_the_round_trip_in_every_library(cells):
    columns = {
        "objects": np.array(cells, dtype=object)[:, None],
        "pandas": pd.DataFrame({"a": pd.Series(cells, dtype="string")}),
        "polars": pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)}),
        "arrow": pa.table({"a": pa.array(cells, type=pa.string())}),
    }
    known = sorted({cell for cell in cells if cell is not None})
    for name, frame in columns.items():
        table = fit(frame)
        labels = table.categories[0]
        if known or name != "objects":  # an object column of None says nothing about its kind
            assert labels.tolist() == known
            codes = table.X[:, 0]
            assert [None if np.isnan(c) else labels[int(c)] for c in codes] == cells


def test_the_door_needs_no_data_frame_library():
    code = """
import sys
sys.modules.update(dict.fromkeys(["pandas", "polars", "pyarrow"]))  # importing them now fails
from sklearn.base import BaseEstimator
from weald._data import check_X_fit, encode_labels
table = check_X_fit(BaseEstimator(), [["b", 1], ["a", None]])
print(table.X.tolist(), table.categories[0].tolist(), encode_labels(["y", "x"], 2).codes.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[[1.0, 1.0], [0.0, nan]] ['a', 'b'] [[1], [0]]"


# ---------------------------------------------------------------- scikit-learn's own checks


class Probe(BaseEstimator):
    """A tree of scikit-learn behind our door, so that only the door is on trial."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags

    def read(self, X, sample_weight):
        table = check_X_fit(self, X)
        self.categories_ = list(table.categories)
        return table.X, check_weights(sample_weight, len(table.X))


class ProbeClassifier(ClassifierMixin, Probe):
    def fit(self, X, y, sample_weight=None):
        X, weights = self.read(X, sample_weight)
        labels = encode_labels(y, len(X))
        self.classes_ = labels.classes if labels.multi_output else labels.classes[0]
        codes = labels.codes if labels.multi_output else labels.codes[:, 0]
        self.tree_ = DecisionTreeClassifier(random_state=0).fit(X, codes, weights)
        return self

    def predict(self, X):
        X = check_X_predict(self, X)
        codes = self.tree_.predict(X)
        if codes.ndim == 1:
            return self.classes_[codes]
        return np.stack([c[k] for c, k in zip(self.classes_, codes.T, strict=True)], axis=1)

    def predict_proba(self, X):
        X = check_X_predict(self, X)
        return self.tree_.predict_proba(X)


class ProbeRegressor(RegressorMixin, Probe):
    def fit(self, X, y, sample_weight=None):
        X, weights = self.read(X, sample_weight)
        self.tree_ = DecisionTreeRegressor(random_state=0).fit(X, check_target(y, len(X)), weights)
        return self

    def predict(self, X):
        X = check_X_predict(self, X)
        return self.tree_.predict(X)


CHECKS = [
    (estimator, check)
    for probe in (ProbeClassifier(), ProbeRegressor())
    for estimator, check in estimator_checks.estimator_checks_generator(probe)
    if "array_api" not in str(check)  # runs only under a setting of the environment
]
NAMES = [f"{type(e).__name__}-{getattr(c, 'func', c).__name__}" for e, c in CHECKS]


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=NAMES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_the_door_satisfies_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [ProbeClassifier(), ProbeRegressor()])
def test_names_of_columns_are_handled_as_scikit_learn_does(estimator):
    estimator_checks.check_dataframe_column_names_consistency(type(estimator).__name__, estimator)
