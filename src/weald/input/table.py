"""The data door: every table enters the library here and nowhere else.

``fit`` turns what the user has into one matrix of floats (:func:`check_X_fit`), the other methods
turn new rows into a matrix of the same meaning (:func:`check_X_predict`).  In that matrix a missing
value is NaN and a categorical column holds the positions of its labels in a sorted array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import repeat
from operator import is_
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from weald import _engine as engine
from weald._engine import FloatArray, SparseTable
from weald.input.bad_values import infinite_values, wide_integers
from weald.input.columns import (
    Column,
    as_array,
    first_wide,
    float_type,
    match_labels,
    match_ordered,
    read_array,
    read_ordered,
    read_series,
    sort_labels,
)
from weald.input.ids import FREE_CATEGORIES, is_near_unique
from weald.input.sparse import check_sparse, make_dense
from weald.input.sparse_table import read_sparse
from weald.params.columns import Columns
from weald.params.growth import GrowthParams

__all__ = [
    "Table",
    "TableArray",
    "blocks_of",
    "check_X_fit",
    "check_X_predict",
    "check_shape",
    "contiguous",
]

TableArray: TypeAlias = NDArray[np.float32] | NDArray[np.float64] | SparseTable

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_FLOAT32_CODES = 2**24  # float32 holds every integer up to here
_BLOCK = 8192  # rows copied at a time, so that a block of the matrix stays in the cache
_CELLS = 2**18  # looked at at a time


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """A training table: one float matrix and the meaning of its categorical columns.

    Attributes
    ----------
    X : ndarray of shape (n, d), float32 or float64, C-contiguous; or SparseTable
        Numbers, or positions in `categories` as floats; NaN is missing.  It is float32 when that
        holds every value (float16 and float32, integers of up to 16 bits, booleans, codes).  It may
        be the user's own memory: never write to it.
    categories : tuple of length d
        Per column None for numbers, else the sorted array of labels.  A column that is missing
        throughout is accepted; as all its rows are alike no tree can split on it.
    names : list, optional
        Names of the columns, of any type.
    """

    X: TableArray
    categories: tuple[NDArray[Any] | None, ...]
    names: list[Any] | None = None

    @property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Say for every column whether it is categorical."""
        return np.array([labels is not None for labels in self.categories], dtype=bool)

    @property
    def columns(self) -> Columns:
        """What parameters can name."""
        return Columns(self.is_categorical, self.names)

    @property
    def n_categories(self) -> list[int]:
        """Number of categories of every column, as the engine wants it: 0 for numbers."""
        return [0 if labels is None else max(len(labels), 1) for labels in self.categories]

    def _many_categories(self) -> list[tuple[int, int]]:
        """The columns of many categories, and how many these are."""
        return [(j, n) for j, n in enumerate(self.n_categories) if n > FREE_CATEGORIES]

    def near_unique(self, weights: FloatArray | None) -> list[int]:
        """Give the columns that have more than half as many categories as rows.

        A row of weight k is k rows. Up to eight categories are few, however few rows there are.
        """
        found = []
        if weights is not None and not _are_whole(weights):
            weights = None
        for j, count in self._many_categories():
            there = ~np.isnan(self.X[:, j])
            rows = there.sum() if weights is None else weights[there].sum()
            if is_near_unique(count, rows):
                found.append(j)
        return found

    def newcomers(self, weights: FloatArray | None) -> dict[int, int]:
        """Give, for columns with several categories of a single row, the code of one of these.

        The engine takes them for one, and new categories are like them: seen for the first time.
        """
        found = {}
        row = 1.0
        if weights is not None and not _are_whole(weights):
            row = float(weights.sum() / np.count_nonzero(weights))
        for j, count in self._many_categories():
            column = self.X[:, j]
            codes = np.where(np.isnan(column), count, column).astype(np.intp)
            sums = np.bincount(codes, weights, minlength=count + 1)[:count]
            if np.count_nonzero(sums < 1.5 * row) > 1:
                found[j] = int(sums.argmin())
        return found

    def binned(
        self,
        growth: GrowthParams,
        weights: FloatArray | None,
        threads: int,
        *,
        bundled: bool = False,
    ) -> engine.Binned:
        """The table as codes, from which the engine grows; `bundled`: sparse columns may share."""
        return engine.bin_table(
            engine.rows_for_core(self.X),
            self.n_categories,
            growth.max_bins,
            growth.keys,
            weights,
            threads,
            bundled=bundled,
        )

    def without_weightless_categories(self, weights: FloatArray | None) -> Table:
        """Forget categories that only rows of weight 0 have: such rows count as absent."""
        if weights is None or weights.all() or not self.is_categorical.any():
            return self
        X, categories = np.array(self.X), list(self.categories)
        for j in np.flatnonzero(self.is_categorical):
            labels = categories[j]
            codes = X[weights > 0, j]
            kept = np.unique(codes[~np.isnan(codes)]).astype(np.intp)
            assert labels is not None
            new_code = np.full(len(labels) + 1, np.nan)
            new_code[kept] = np.arange(len(kept))
            X[:, j] = new_code[np.where(np.isnan(X[:, j]), len(labels), X[:, j]).astype(np.intp)]
            categories[j] = labels[kept]
        return replace(self, X=X, categories=tuple(categories))


def _are_whole(weights: FloatArray) -> bool:
    return bool((weights == np.floor(weights)).all())


def contiguous(X: Any) -> Any:
    """A checked table in memory without gaps, as the engine reads it fastest."""
    return X if isinstance(X, SparseTable) else np.ascontiguousarray(X)


def blocks_of(X: Any) -> Iterable[NDArray[Any]]:
    """The rows of a checked table as dense arrays: at once, or of a sparse one some at a time."""
    return X.blocks() if isinstance(X, SparseTable) else (X,)


def check_X_fit(  # noqa: N802 (X is the name users know)
    estimator: Any, X: Any, *, categorical_features: str | Iterable[Any] | None = "from_dtype"
) -> Table:
    """Read a training table and note the number and the names of its columns on the estimator.

    Parameters
    ----------
    estimator : estimator
        Gets `n_features_in_`, and `feature_names_in_` when all columns have text as names.
    X : array-like, data frame (pandas, polars, Arrow) or scipy sparse of shape (n, d)
        Numbers and booleans become numbers; text and categoricals become categories; ordered
        categoricals and enums become numbers, the places of their labels; None, NaN and NA are
        missing.  Sparse data stay sparse, with 0 for what is absent, unless some of their columns
        are categories.
    categorical_features : "from_dtype", None, or a list of indices, of names, or a boolean mask
        The columns that are categories: those of a text or categorical type; none (categoricals of
        numbers are numbers then, and text is refused); or those of such a type and the listed ones
        too, whose numbers then count as labels.

    Returns
    -------
    Table

    Raises
    ------
    ValueError, TypeError
        With one sentence that names the column and says what to do.
    """
    source = _open(X, estimator)
    validate_data(estimator, source.native, reset=True, skip_check_array=True)
    d = source.shape[1]
    as_labels = np.zeros(d, dtype=bool)
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    if categorical_features is not None and not by_type:
        listed = Columns(as_labels, source.names).listed
        as_labels = listed("categorical_features", categorical_features)
    if not as_labels.any():
        matrix = source.matrix()
        if matrix is not None:
            estimator._blank_columns, estimator._ordered_columns = _blank(matrix), {}
            return Table(matrix, (None,) * d, source.names)

    columns: list[NDArray[Any]] = []
    categories: list[NDArray[Any] | None] = []
    ordered: dict[int, list[Any]] = {}
    for j, (column, where) in enumerate(source.columns(as_labels, ordered)):
        values, labels = column.values, None
        if column.labels is None or j in ordered:
            pass  # numbers as they are
        elif categorical_features is None:
            values = _as_numbers(column, where)
        else:
            labels, values = sort_labels(column, where)
        columns.append(values)
        categories.append(labels)
    matrix = _assemble(columns, source)
    estimator._blank_columns, estimator._ordered_columns = _blank(matrix), ordered
    return Table(matrix, tuple(categories), source.names)


def check_X_predict(estimator: Any, X: Any) -> TableArray:  # noqa: N802
    """Read new rows for a fitted estimator, with its columns and its categories.

    Parameters
    ----------
    estimator : estimator
        Fitted: has `n_features_in_`, `categories_` and perhaps `feature_names_in_`.
    X : array-like, data frame or scipy sparse of shape (n, d)

    Returns
    -------
    ndarray of shape (n, d), float32 or float64, C-contiguous; or SparseTable
        A label that was not there in fit is NaN like a missing one; in a column of many labels of
        a single row, it is one of these.
    """
    try:
        categories = estimator.categories_
    except AttributeError:
        check_is_fitted(estimator)
        raise
    if (
        # The common case in a few microseconds; whatever is amiss falls through to the full check.
        type(X) is np.ndarray
        and X.dtype in _FLOATS
        and X.ndim == 2
        and X.shape[1] == estimator.n_features_in_
        and X.shape[0] > 0
        and X.flags.c_contiguous
        and X.flags.aligned
        and not hasattr(estimator, "feature_names_in_")
        and not getattr(estimator, "_ordered_columns", None)
        and all(map(is_, categories, repeat(None)))
        and not _has_infinity(X)
    ):
        return X

    source = _open(X, estimator)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or source.names != names.tolist():  # what is amiss, scikit-learn can say
        validate_data(estimator, source.native, reset=False, skip_check_array=True)
    ordered = getattr(estimator, "_ordered_columns", {})
    if not ordered and all(map(is_, categories, repeat(None))):
        matrix = source.matrix()
        if matrix is not None:
            return matrix

    as_labels = np.array([labels is not None for labels in categories], dtype=bool)
    newcomers = getattr(estimator, "_newcomers", {})
    as_labels[list(ordered)] = True
    columns: list[NDArray[Any]] = []
    for j, (column, where) in enumerate(source.columns(as_labels)):
        if j in ordered:
            columns.append(match_ordered(column, ordered[j], where))
        elif as_labels[j]:
            codes = match_labels(column, categories[j], where)
            if j in newcomers:
                codes[(codes < 0) & (column.values >= 0)] = newcomers[j]
            columns.append(codes)
        elif not column.labels:  # numbers, or text that is missing throughout
            columns.append(column.values)
        elif not any(isinstance(label, str) for label in column.labels):
            columns.append(_as_numbers(column, where))
        else:
            blank = j in getattr(estimator, "_blank_columns", ())
            was = "only missing values" if blank else "numbers"
            raise ValueError(
                f"{where} held {was} in fit but holds text or categories now: check the order of "
                "the columns, or convert it to numbers."
            )
    return _assemble(columns, source)


@dataclass(frozen=True, eq=False, slots=True)
class _Source:
    """An opened table: something with columns, either an array or a data frame.

    `native` is what scikit-learn should look at for the number and the names of the columns.
    """

    native: Any
    data: Any
    shape: tuple[int, int]
    names: list[Any] | None

    def where(self, j: int) -> str:
        """Name a column in a message."""
        return f"Column {j if self.names is None else self.names[j]!r}"

    def matrix(self) -> TableArray | None:
        """Give all columns at once if they are plain numbers of one type, else None."""
        data = self.data
        if sp.issparse(data):
            return read_sparse(data, self.where)
        if isinstance(data, nw.DataFrame):
            # Arrow and polars keep their columns apart, so they gain nothing here.
            if not data.implementation.is_pandas_like():
                return None
            types = set(data.to_native().dtypes)
            if len(types) > 1 or not isinstance(types.pop(), np.dtype):
                return None
            data = data.to_native().to_numpy()
        if data.dtype.kind not in "biuf":
            return None
        wide = first_wide(data)
        if wide is not None:
            raise wide_integers(self.where(wide))
        with np.errstate(over="ignore"):
            floats = data.astype(float_type(data.dtype), copy=False)
        return _finite(np.require(floats, requirements=["C", "A"]), self)

    def columns(
        self, as_labels: NDArray[np.bool_], ordered: dict[int, list[Any]] | None = None
    ) -> Iterable[tuple[Column, str]]:
        """Read the columns one by one; numbers count as labels where `as_labels` says so.

        Where it does not, columns of ordered categories are noted in `ordered`, if given: their
        values are the places of their labels.
        """
        is_frame = isinstance(self.data, nw.DataFrame)
        read: Any = read_series if is_frame else read_array
        data: Any = make_dense(self.data, "X") if sp.issparse(self.data) else self.data
        columns: Any = data.iter_columns() if is_frame else data.T
        of_pandas = is_frame and data.implementation.is_pandas_like()
        if of_pandas:  # to wrap a column of numbers would take longer than to read it
            columns = (column for _, column in data.to_native().items())
        for j, column in enumerate(columns):
            where = self.where(j)
            if of_pandas:
                if isinstance(column.dtype, np.dtype):
                    values = column.to_numpy()
                    yield read_array(values, where, as_labels=bool(as_labels[j])), where
                    continue
                column = data.get_column(column.name)
            if is_frame and ordered is not None and not as_labels[j]:
                found = read_ordered(column, where)
                if found is not None:
                    ordered[j] = found.labels or []
                    yield found, where
                    continue
            yield read(column, where, as_labels=bool(as_labels[j])), where


def _open(X: Any, estimator: Any) -> _Source:
    """Find out what X is and check that it is a table with rows and columns."""
    names: list[Any] | None = None
    data: Any
    X = nw.to_native(X, pass_through=True)
    if not isinstance(X, np.ndarray) and not sp.issparse(X) and not _is_eager(X):
        if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
            raise TypeError("X is a lazy frame without rows yet: call collect() on it first.")
        if hasattr(X, "__arrow_c_stream__"):
            X = nw.from_arrow(X, backend="pyarrow").to_native()  # such as an Arrow record batch
    if not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X):
        try:
            data = nw.from_native(X, eager_only=True)
            names = list(data.columns)
        except DuplicateError as error:
            same = [str(name) for name in getattr(X, "column_names", X.columns)]
            twice = next(name for name in same if same.count(name) > 1)
            raise ValueError(f"X has several columns named {twice!r}: rename them.") from error
    elif sp.issparse(X):
        check_sparse(X, "X")
        data = X
    else:
        data = as_array(X, "X")
    check_shape(data.shape, type(X).__name__, estimator)
    # A list is known by its array; a frame and sparse data know their own columns.
    native = data if isinstance(data, np.ndarray) and not sp.issparse(X) else X
    return _Source(native, data, (data.shape[0], data.shape[1]), names)


def _is_eager(X: Any) -> bool:
    return bool(nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X))


def check_shape(shape: tuple[int, ...], kind: str, estimator: Any) -> None:
    """Refuse what is not a table, in words that name the way out."""
    name = type(estimator).__name__
    if len(shape) == 0:
        raise ValueError(
            f"Expected 2D array, got scalar array instead: X is a single {kind}, but {name} needs "
            "a table such as an array, a list of rows or a data frame."
        )
    if len(shape) == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array instead: {name} needs a table. Reshape your data "
            "with X.reshape(-1, 1) if it is one column, or X.reshape(1, -1) if it is one row."
        )
    if len(shape) > 2:
        raise ValueError(
            f"Found array with dim {len(shape)}, while dim <= 2 is required by {name}: pass one "
            "row per sample and one column per feature."
        )
    for count, unit in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {unit}(s) (shape={shape}) while a minimum of 1 is required "
                f"by {name}."
            )


def _as_numbers(column: Column, where: str) -> NDArray[Any]:
    """Categories that are numbers as these, where no column is to be categorical."""
    labels = column.labels or []
    if any(isinstance(label, str) for label in labels):
        raise ValueError(
            f"{where} holds text or categories, but categorical_features=None has none: use "
            "categorical_features='from_dtype', or convert it to numbers."
        )
    known = np.array([*labels, np.nan], dtype=np.float64)  # code -1 picks the last entry
    values: NDArray[np.float64] = known[column.values]
    return values


def _assemble(columns: list[NDArray[Any]], source: _Source) -> TableArray:
    """Put columns side by side: floats as they are, integers as codes with NaN for -1."""
    narrow = all(
        values.dtype == np.float32 if values.dtype.kind == "f" else values.max() < _FLOAT32_CODES
        for values in columns
    )
    matrix: Any = np.empty(source.shape, dtype=np.float32 if narrow else np.float64)
    for start in range(0, source.shape[0], _BLOCK):
        rows = slice(start, start + _BLOCK)
        for j, values in enumerate(columns):
            part = values[rows]
            matrix[rows, j] = part if part.dtype.kind == "f" else np.where(part < 0, np.nan, part)
    return _finite(matrix, source)


def _blank(matrix: TableArray) -> list[int]:
    """Give the columns that are missing throughout; most are ruled out by a few rows."""
    if isinstance(matrix, SparseTable):
        return [int(j) for j in np.flatnonzero(matrix.missing_counts == len(matrix))]
    doubtful = np.flatnonzero(np.isnan(matrix[:100]).all(axis=0))
    return [int(j) for j in doubtful if np.isnan(matrix[:, j]).all()]


def _finite(matrix: NDArray[Any], source: _Source) -> NDArray[Any]:
    """Refuse infinity by the name of its column."""
    if _has_infinity(matrix):
        raise infinite_values(source.where(int(np.isinf(matrix).any(axis=0).argmax())))
    return matrix


def _has_infinity(matrix: NDArray[Any]) -> bool:
    """Look block by block, so that the check takes no memory to speak of."""
    if matrix.size <= _CELLS:
        return bool(np.count_nonzero(np.isinf(matrix)))
    step = max(1, _CELLS // matrix.shape[1])
    return any(np.isinf(matrix[i : i + step]).any() for i in range(0, len(matrix), step))
