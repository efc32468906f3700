"""Weights, class labels and regression targets."""

import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from input.cases import NAN
from weald.input.labels import check_target, check_weights, encode_labels

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
