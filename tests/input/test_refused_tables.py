"""Tables that cannot be used are refused by the name of the column."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from input.cases import fit

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
