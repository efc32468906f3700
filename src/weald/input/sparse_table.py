"""Sparse data as a table of numbers that stays sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from weald._engine import SparseTable
from weald.input.bad_values import infinite_values, wide_integers
from weald.input.columns import first_wide, float_type

__all__ = ["read_sparse"]


def read_sparse(data: Any, where: Callable[[int], str]) -> SparseTable | None:
    """Take sparse data that were checked, if they are numbers; else None.

    Entries of the same cell are added up. Nothing is copied that has the right form already.

    Parameters
    ----------
    data : sparse matrix or array of two dimensions
    where : callable
        Names a column in a message.
    """
    if data.dtype.kind not in "biuf":
        return None
    cells = data.tocsr()
    if data.dtype.kind == "b":  # added up as they are: true and true is true
        cells = _canonical(cells, data)
    wide = first_wide(cells.data[:, None])
    if wide is not None:
        beyond = [first_wide(cells.data[k : k + 1, None]) is not None for k in range(cells.nnz)]
        raise wide_integers(where(int(cells.indices[np.flatnonzero(beyond)].min())))
    with np.errstate(over="ignore"):
        floats = _canonical(cells.astype(float_type(data.dtype), copy=False), data)
    infinite = np.isinf(floats.data)
    if infinite.any():
        raise infinite_values(where(int(floats.indices[infinite].min())))
    return SparseTable(csr_array((floats.data, floats.indices, floats.indptr), floats.shape))


def _canonical(cells: Any, given: Any) -> Any:
    """The cells of each row in ascending order, each once; what was given stays as it is."""
    # A new object looks for itself: what the old one remembers may have been changed since.
    cells = csr_array((cells.data, cells.indices, cells.indptr), cells.shape)
    if not cells.has_canonical_format:
        shared = getattr(given, "data", None)
        if np.shares_memory(cells.data, shared) if isinstance(shared, np.ndarray) else False:
            cells = cells.copy()
        cells.sum_duplicates()
    return cells
