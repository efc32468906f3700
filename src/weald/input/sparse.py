"""Sparse data on their way in.

SciPy's loops trust the indices of a matrix, which anybody may have filled in: with one out of range
they would read, or write, beyond the end of an array. So indices are looked at before SciPy does
anything with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_sparse", "make_dense"]


def make_dense(data: Any, what: str) -> NDArray[Any]:
    """Check sparse data and make them dense; entries of the same cell are added up."""
    check_sparse(data, what)
    array: NDArray[Any] = data.toarray()
    return array


def check_sparse(data: Any, what: str) -> None:
    """Refuse sparse data whose parts do not fit together.

    Raises
    ------
    ValueError
        With one sentence that says which part it is.
    """
    if data.format in ("csr", "csc", "bsr"):
        _check_compressed(data, what)
    elif data.format == "coo":
        coords = getattr(data, "coords", None) or (data.row, data.col)  # SciPy before 1.13
        for indices, size in zip(coords, data.shape, strict=True):
            _check_indices(indices, len(data.data), size, what)
    elif data.format == "dia":
        _require(
            data.data.ndim == 2 and data.offsets.shape == data.data.shape[:1],
            what,
            "has not one offset for each of its diagonals",
        )
    elif data.format == "lil":
        _require(
            data.rows.shape == data.data.shape == data.shape[:1]
            and all(len(a) == len(b) for a, b in zip(data.rows, data.data, strict=True)),
            what,
            "has not one value for each of its indices",
        )
        for row in data.rows:
            _check_indices(row, len(row), data.shape[1], what)


def _check_compressed(data: Any, what: str) -> None:
    """Refuse rows (or columns) of entries that are not one after another, or reach too far."""
    shape = data.shape if data.ndim == 2 else (1, *data.shape)
    block = data.data.shape[1:] if data.format == "bsr" else (1, 1)
    _require(
        data.data.ndim == (3 if data.format == "bsr" else 1)
        and all(side > 0 and n % side == 0 for n, side in zip(shape, block, strict=True)),
        what,
        f"holds values of the shape {data.data.shape}",
    )
    major = 1 if data.format == "csc" else 0
    n_major, n_minor = shape[major] // block[major], shape[1 - major] // block[1 - major]
    indptr = np.asarray(data.indptr)
    _require(
        indptr.ndim == 1 and indptr.dtype.kind in "iu" and len(indptr) == n_major + 1,
        what,
        f"needs {n_major + 1} whole numbers as indptr",
    )
    _require(
        int(indptr[0]) == 0 and bool((indptr[1:] >= indptr[:-1]).all()),
        what,
        "has an indptr that does not start at 0 and rise",
    )
    n_entries = int(indptr[-1])
    _require(
        n_entries <= len(data.indices) and n_entries <= len(data.data),
        what,
        "has fewer indices or values than its indptr says",
    )
    _check_indices(data.indices[:n_entries], n_entries, n_minor, what)


def _check_indices(indices: Any, n_entries: int, size: int, what: str) -> None:
    found = np.asarray(indices)
    _require(found.shape == (n_entries,), what, "has not one value for each of its indices")
    if n_entries == 0:  # NumPy takes an empty list for floats
        return
    _require(found.dtype.kind in "iu", what, "has indices that are not whole numbers")
    _require(
        int(found.min()) >= 0 and int(found.max()) < size,
        what,
        f"has an index outside 0 to {size - 1}",
    )


def _require(condition: bool, what: str, problem: str) -> None:
    if not condition:
        raise ValueError(f"{what} is a damaged sparse matrix: it {problem}.")
