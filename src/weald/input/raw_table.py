"""Tables for members that read them themselves.

weald's own trees go through :mod:`weald.input.table`. Any other estimator gets the user's table as
it is, a data frame with its names and types, sparse data as sparse; here only its shape is checked,
and rows and columns are taken out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from weald._engine import SparseTable
from weald.input.columns import as_array
from weald.input.sparse import check_sparse
from weald.input.table import check_shape

__all__ = [
    "column_names",
    "gather_cells",
    "keep_X_fit",
    "keep_X_predict",
    "take_columns",
    "take_rows",
]


def keep_X_fit(estimator: Any, X: Any) -> Any:  # noqa: N802 (X is the name users know)
    """Check that X is a table, and note number and names of its columns on the estimator."""
    table = _as_table(estimator, X)
    validate_data(estimator, table, reset=True, skip_check_array=True)
    return table


def keep_X_predict(estimator: Any, X: Any) -> Any:  # noqa: N802
    """Check that X is a table with the columns that were there in fit."""
    table = _as_table(estimator, X)
    validate_data(estimator, table, reset=False, skip_check_array=True)
    return table


def column_names(table: Any) -> list[Any] | None:
    """Names of the columns, of any type, if it is a table that has such."""
    if isinstance(table, np.ndarray) or not nw.dependencies.is_into_dataframe(table):
        return None
    return list(nw.from_native(table, eager_only=True).columns)


def take_rows(table: Any, rows: npt.NDArray[Any]) -> Any:
    """The given rows, in the table's own kind."""
    return table[rows] if isinstance(table, SparseTable) else _safe_indexing(table, rows, axis=0)


def take_columns(table: Any, columns: npt.NDArray[Any]) -> Any:
    """The given columns, in the table's own kind; the table itself if it is all of them."""
    if len(columns) == table.shape[1] and (np.diff(columns) == 1).all():
        return table
    if isinstance(table, np.ndarray) or sp.issparse(table):
        return table[:, columns]  # type: ignore[index]
    if len(np.unique(columns)) < len(columns):
        return _repeated(table, columns)
    return _safe_indexing(table, columns, axis=1)


def gather_cells(table: Any, rows: Sequence[npt.NDArray[Any] | None]) -> Any:
    """A table of the same kind whose column j holds the rows ``rows[j]`` of this one's column j.

    None stands for all rows as they are. Columns that share an array are taken together.

    Examples
    --------
    >>> gather_cells(np.array([[1, 10], [2, 20]]), [None, np.array([1, 0])])
    array([[ 1, 20],
           [ 2, 10]])
    """
    if isinstance(table, np.ndarray) or sp.issparse(table):
        together: dict[int, list[int]] = {}
        for j, some in enumerate(rows):
            together.setdefault(id(some), []).append(j)
        parts = [(rows[columns[0]], columns) for columns in together.values()]
        of: Any = _of_array if isinstance(table, np.ndarray) else _of_sparse
        return of(table, parts)
    frame = nw.from_native(table, eager_only=True)
    moved = [
        frame.get_column(name)[some]
        for name, some in zip(frame.columns, rows, strict=True)
        if some is not None
    ]
    if len(moved) < len(rows):
        return frame.with_columns(*moved).to_native()
    columns = {column.name: column.to_native() for column in moved}
    if frame.implementation.is_pandas_like():  # which would match rows by their index
        columns = {name: column.reset_index(drop=True) for name, column in columns.items()}
    return nw.from_dict(columns, backend=frame.implementation).to_native()


def _of_array(table: npt.NDArray[Any], parts: list[tuple[Any, list[int]]]) -> npt.NDArray[Any]:
    some = any(rows is None for rows, _ in parts)
    gathered = table.copy() if some else np.empty((len(parts[0][0]), table.shape[1]), table.dtype)
    for rows, columns in parts:
        if rows is not None:
            gathered[:, columns] = table[np.ix_(rows, columns)]
    return gathered


def _of_sparse(table: Any, parts: list[tuple[Any, list[int]]]) -> Any:
    by_column = table.asformat("csc")
    taken = [
        by_column[:, columns] if rows is None else by_column[:, columns].tocsr()[rows]
        for rows, columns in parts
    ]
    order = np.concatenate([columns for _, columns in parts])
    return sp.hstack(taken, "csc")[:, np.argsort(order)].tocsr()


def _repeated(table: Any, columns: npt.NDArray[Any]) -> Any:
    """Columns of a data frame, some more than once: it needs a new name each time."""
    frame = nw.from_native(table, eager_only=True)
    chosen = columns.tolist()
    parts = []
    for i, j in enumerate(chosen):
        times = chosen[: i + 1].count(j)
        name = str(frame.columns[j])
        parts.append(nw.nth(j).alias(name if times == 1 else f"{name} ({times})"))
    return frame.select(*parts).to_native()


def _as_table(estimator: Any, X: Any) -> Any:
    table: Any
    if sp.issparse(X):
        check_sparse(X, "X")
        table = X
        if table.format not in ("csr", "csc"):
            table = table.tocsr()  # the others cannot give out rows
    elif isinstance(X, np.ndarray) or nw.dependencies.is_into_dataframe(X):
        table = X
    elif isinstance(X, list | tuple):
        objects = as_array(X, "X")
        plain = np.asarray(X) if objects.ndim == 2 else objects
        # Numbers stay numbers; in a mixture NumPy would turn all of them into text.
        table = plain if plain.dtype.kind in "biufc" else objects
    else:
        table = as_array(X, "X")
    check_shape(table.shape, type(X).__name__, estimator)
    return table
