"""A table that is mostly 0, as the engine takes it: only the cells that are filled."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from weald._engine import _core
from weald._engine._arrays import IntArray

__all__ = ["SparseTable", "rows_for_core"]

_DENSE_BYTES = 2**25  # of rows made dense at a time


class SparseTable:
    """Rows of numbers of which most are 0.

    It has what the library asks of a checked matrix: `shape`, `dtype`, a length, and rows by a
    slice, by numbers or by a mask. Where all cells are needed, ``np.asarray`` makes it dense.

    Parameters
    ----------
    cells : csr_array of float32 or float64
        With the columns of each row in ascending order, each at most once. It may be the user's
        own memory: never write to it.
    """

    ndim = 2

    def __init__(self, cells: csr_array[Any]) -> None:
        self.cells = cells
        self.shape: tuple[int, int] = (cells.shape[0], cells.shape[1])
        self.dtype: np.dtype[Any] = cells.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        """Some of the rows, as a table; one row, or some cells of rows and columns, as an array."""
        if isinstance(rows, tuple):
            return np.asarray(self[rows[0]])[(..., *rows[1:])]
        if isinstance(rows, int | np.integer):
            return np.asarray(self[np.array([rows])])[0]
        return SparseTable(self.cells[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        dense: npt.NDArray[Any] = self.cells.toarray()
        return dense if dtype is None else dense.astype(dtype, copy=False)

    @cached_property
    def core(self) -> _core.SparseDoubles | _core.SparseFloats:
        """The rows as the engine knows them."""
        cells = self.cells
        columns = np.ascontiguousarray(cells.indices, dtype=np.int32)
        begin = np.ascontiguousarray(cells.indptr, dtype=np.int64)
        make: Any = _core.sparse_floats if self.dtype == np.float32 else _core.sparse_doubles
        rows: _core.SparseDoubles | _core.SparseFloats = make(
            np.ascontiguousarray(cells.data), columns, begin, self.shape[1]
        )
        return rows

    @property
    def missing_counts(self) -> IntArray:
        """How many values each column misses."""
        missing = self.cells.indices[np.isnan(self.cells.data)]
        return np.bincount(missing, minlength=self.shape[1])

    def blocks(self) -> Any:
        """The rows made dense, some after others."""
        step = max(1, _DENSE_BYTES // (self.dtype.itemsize * self.shape[1]))
        for first in range(0, len(self), step):
            yield np.asarray(self[first : first + step])


def rows_for_core(X: Any) -> Any:
    """A checked table as the compiled engine takes it."""
    return X.core if isinstance(X, SparseTable) else X
