"""Tables that cannot be used are refused by the name of the column."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from input.cases import Reader, fit
from weald.input.table import check_X_predict

TIME, NESTED, KIND = "holds dates or times: .*weekday", "neither numbers nor text", "of type '{}'"
LENGTH, PARTS = "holds lengths of time: .*seconds", "make a plain column of each of its parts"
REFUSED = [
    (pd.DataFrame({"Day": pd.to_datetime(["2020"])}), ValueError, f"'Day' {TIME}"),
    (pd.DataFrame({"Day": pd.to_datetime(["2020"], utc=True)}), ValueError, f"'Day' {TIME}"),
    (pd.DataFrame({"a": pd.to_timedelta(["1D"])}), ValueError, f"'a' {LENGTH}"),
    (pd.DataFrame({"a": [dt.date(2020, 1, 1)]}), ValueError, f"'a' {TIME}"),
    (pl.DataFrame({"a": [dt.date(2020, 1, 1)]}), ValueError, f"'a' {TIME}"),
    (pl.DataFrame({"a": [dt.time(1)]}), ValueError, f"'a' {TIME}"),
    (pl.DataFrame({"a": [dt.timedelta(1)]}), ValueError, f"'a' {LENGTH}"),
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


# --- cells of odd types: the column is named, and what to do ------------------------------------

MONTH = pd.Period("2020-01", freq="M")
CELLS = {
    "period": (MONTH, "Period.*year and month"),
    "interval": (pd.Interval(0, 1), "Interval.*middle"),
    "list": ([1, 2], PARTS),
    "tuple": ((1, 2), PARTS),
    "dict": ({"x": 1}, PARTS),
    "set": ({1}, PARTS),
    "array": (np.arange(2), PARTS),
    "bytes": (b"x", "decode it to text"),
    "date": (dt.date(2020, 1, 1), TIME),
    "datetime": (dt.datetime(2020, 1, 1), TIME),
    "time": (dt.time(1), TIME),
    "timedelta": (dt.timedelta(1), LENGTH),
    "timestamp": (pd.Timestamp("2020"), TIME),
    "long": (pd.Timedelta("1D"), LENGTH),
    "numpy time": (np.datetime64("2020"), TIME),
    "numpy length": (np.timedelta64(1, "D"), LENGTH),
}
EMPTY = [False, True]  # a missing cell beside it


def objects(cell, missing):
    column = np.empty(3, dtype=object)
    for i in range(3):
        column[i] = None if missing and i == 0 else cell
    return column


@pytest.mark.parametrize("listed", ["from_dtype", ["odd"]], ids=["by type", "listed"])
@pytest.mark.parametrize("missing", EMPTY)
@pytest.mark.parametrize("name", CELLS)
def test_odd_cells_in_pandas_and_polars_objects(name, missing, listed):
    cell, message = CELLS[name]
    column = objects(cell, missing)
    frames = [pd.DataFrame({"fine": [1, 2, 3], "odd": pd.Series(column, dtype=object)})]
    frames.append(
        pl.DataFrame({"fine": [1, 2, 3], "odd": pl.Series(list(column), dtype=pl.Object)})
    )
    for frame in frames:
        with pytest.raises((TypeError, ValueError), match=rf"^Column 'odd' .*{message}"):
            fit(frame, categorical_features=listed)
    rows = np.empty((3, 2), dtype=object)
    rows[:, 0], rows[:, 1] = 1, column
    with pytest.raises((TypeError, ValueError), match=rf"^Column 1 .*{message}"):
        fit(rows, categorical_features=listed if listed == "from_dtype" else [1])


TYPED = {
    "period": (pd.period_range("2020", periods=3, freq="D"), "Period.*year and month"),
    "interval": (pd.interval_range(0, 3), "Interval.*middle"),
    "date": (pl.Series([dt.date(2020, 1, 1)] * 3), TIME),
    "datetime": (pl.Series([dt.datetime(2020, 1, 1)] * 3), TIME),
    "zone": (pd.date_range("2020", periods=3, tz="Europe/Berlin"), TIME),
    "time": (pl.Series([dt.time(1)] * 3), TIME),
    "length": (pl.Series([dt.timedelta(1)] * 3), LENGTH),
    "list": (pl.Series([[1], [2], None]), PARTS),
    "struct": (pl.Series([{"x": 1}] * 3), PARTS),
    "fixed": (pl.Series([[1, 2]] * 3, dtype=pl.Array(pl.Int64, 2)), PARTS),
    "bytes": (pl.Series([b"x"] * 3), "decode it to text"),
}


@pytest.mark.parametrize("listed", ["from_dtype", ["odd"]], ids=["by type", "listed"])
@pytest.mark.parametrize("name", TYPED)
def test_odd_types_in_pandas_polars_and_arrow(name, listed):
    column, message = TYPED[name]
    if isinstance(column, pl.Series):
        arrow = pl.DataFrame({"fine": [1, 2, 3], "odd": column}).to_arrow()
        frames = [pl.from_arrow(arrow), arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)]
        frames.append(arrow.to_pandas())
    else:
        frames = [pd.DataFrame({"fine": [1, 2, 3], "odd": column})]
    for frame in frames:
        with pytest.raises((TypeError, ValueError), match=rf"^Column 'odd' .*{message}"):
            fit(frame, categorical_features=listed)


def test_odd_types_of_arrow_alone():
    months = pa.array([(1, 2, 3)] * 3, type=pa.month_day_nano_interval())
    pairs = pa.array([[("a", 1)]] * 3, type=pa.map_(pa.string(), pa.int64()))
    for column, message in ((months, "days or seconds"), (pairs, PARTS)):
        with pytest.raises((TypeError, ValueError), match=rf"^Column 'odd' .*{message}"):
            fit(pa.table({"odd": column}))


def test_the_same_cells_as_categories_go_by_their_text():
    frame = pd.DataFrame({"month": pd.Categorical([MONTH, MONTH + 1, None])})
    assert fit(frame).categories[0].tolist() == ["2020-01", "2020-02"]


@pytest.mark.parametrize("name", ["period", "list", "date"])
def test_new_rows_of_odd_cells_are_refused_too(name):
    reader = Reader().fit(pd.DataFrame({"odd": [1, 2, 3]}))
    frame = pd.DataFrame({"odd": pd.Series(objects(CELLS[name][0], False), dtype=object)})
    with pytest.raises((TypeError, ValueError), match=rf"^Column 'odd' .*{CELLS[name][1]}"):
        check_X_predict(reader, frame)
