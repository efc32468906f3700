"""Cells of tables that are kept as they are."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from weald.input.raw_table import gather_cells

CELLS = np.arange(12.0).reshape(4, 3)
NAMES = ["a", "b", "c"]
KINDS = {
    "array": (lambda cells: cells, np.asarray),
    "object": (lambda cells: cells.astype(object), lambda found: found.astype(float)),
    "csr": (sp.csr_array, lambda found: found.toarray()),
    "csc": (sp.csc_matrix, lambda found: found.toarray()),
    "pandas": (
        lambda cells: pd.DataFrame(cells, columns=NAMES, index=[7, 7, 1, 0][: len(cells)]),
        lambda found: found.to_numpy(),
    ),
    "polars": (lambda cells: pl.DataFrame(cells, schema=NAMES), lambda found: found.to_numpy()),
    "arrow": (
        lambda cells: pa.table(dict(zip(NAMES, cells.T, strict=True))),
        lambda found: found.to_pandas().to_numpy(),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_taken_from_their_rows(kind):
    make, cells_of = KINDS[kind]
    table, shared = make(CELLS), np.array([3, 0])
    found = gather_cells(table, [shared, np.array([2, 2]), shared])
    assert type(found) is type(table) or kind == "csc"  # which becomes csr
    np.testing.assert_array_equal(cells_of(found), [[9, 7, 11], [0, 7, 2]])
    reversed_ = np.arange(4)[::-1]
    found = gather_cells(table, [None, reversed_, None])
    wanted = CELLS.copy()
    wanted[:, 1] = CELLS[::-1, 1]
    np.testing.assert_array_equal(cells_of(found), wanted)
    np.testing.assert_array_equal(cells_of(table), CELLS)  # as it was


def test_types_of_columns_stay():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", "y", "x"])}, index=[5, 5, 5])
    found = gather_cells(frame, [np.array([2, 1]), np.array([1, 0])])
    assert found.dtypes.tolist() == frame.dtypes.tolist()
    assert found["a"].tolist() == [3, 2]
    assert found["b"].tolist() == ["y", "x"]
