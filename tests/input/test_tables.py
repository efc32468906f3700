"""Every container and type of column gives the same clean table."""

import decimal
import enum
import subprocess
import sys

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from input.cases import NAN, NUMBERS, Reader, assert_sound, categories, fit
from weald._engine import SparseTable
from weald.input.table import check_X_predict


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
def test_sparse_data_stay_sparse_with_zeros(form, dtype, kind):
    dense = np.array([[1, 0, 0], [0, 0, 1]]).astype(dtype)
    reader = Reader().fit(kind(dense).asformat(form))
    assert isinstance(reader.table_.X, SparseTable)
    assert len(reader.table_.X.cells.data) == 2 or form in ("bsr", "dia")
    assert_sound(np.asarray(reader.table_.X), (2, 3))
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
        (
            pd.DataFrame({"a": pd.cut([1.0, 2.0, 9.0], [0, 5, 10]).as_unordered()}),
            ["(0, 5]", "(5, 10]"],
        ),
        (pa.table({"a": pa.array([3, 1, None]).dictionary_encode()}), [1, 3]),
        (pa.table({"a": pa.chunked_array(CHUNKS)}), ["a", "b"]),
    ],
)
def test_categoricals_keep_the_labels_that_occur(frame, labels):
    reader = Reader().fit(frame)
    assert categories(reader.table_) == [labels]
    assert np.nanmax(reader.table_.X) == len(labels) - 1
    np.testing.assert_array_equal(check_X_predict(reader, frame), reader.table_.X)


def test_the_door_needs_no_data_frame_library():
    code = """
import sys
class Without:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("pandas", "polars", "pyarrow"):
            raise ImportError(name)
sys.meta_path.insert(0, Without())
from sklearn.base import BaseEstimator
from weald.input.labels import encode_labels
from weald.input.table import check_X_fit
table = check_X_fit(BaseEstimator(), [["b", 1], ["a", None]])
print(table.X.tolist(), table.categories[0].tolist(), encode_labels(["y", "x"], 2).codes.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[[1.0, 1.0], [0.0, nan]] ['a', 'b'] [[1], [0]]"


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


def test_text_is_refused_where_nothing_is_to_be_categorical():
    frame = pd.DataFrame({"town": ["x", "y"], "b": [1, 2]})
    with pytest.raises(ValueError, match=r"Column 'town' .*categorical_features.*'from_dtype'"):
        fit(frame, categorical_features=None)


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
