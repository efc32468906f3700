"""One column of a table: plain numbers, or labels with a code for every row.

Every input the library takes is cut into columns and read here, so that a NumPy array, a list, a
pandas, polars or Arrow column with the same content give the same numbers, the same labels and the
same complaints.  A column knows nothing about its table: the caller says in ``where`` how a message
should call it, for instance ``"Column 'age'"``.
"""

from __future__ import annotations

import datetime as dt
import decimal
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from weald.input.bad_values import (
    complex_values,
    infinite_values,
    mixed_values,
    nested_values,
    odd_values,
    time_values,
    wide_integers,
)
from weald.input.sparse import make_dense

__all__ = [
    "Column",
    "as_array",
    "first_wide",
    "float_type",
    "label_array",
    "match_labels",
    "match_ordered",
    "read_array",
    "read_ordered",
    "read_series",
    "sort_labels",
]

# Up to here float64 holds every integer; beyond it neighbours would silently become equal.
EXACT = 2**53
_SMALL_RANGE = 2**16  # integers spread no wider than this are numbered by counting

# float32 holds all values of these, so a table made of them needs no more than four bytes a cell.
_NARROW_NUMPY = frozenset(np.dtype(c) for c in ("?", "b", "B", "h", "H", "e", "f"))
_NARROW_FRAME = (nw.Boolean, nw.Int8, nw.UInt8, nw.Int16, nw.UInt16, nw.Float32)
_WIDE_FRAME = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)
_TEXT_FRAME = (nw.String, nw.Categorical, nw.Enum)

_PIECE = 2**20  # cells looked up at once: Ctrl-C is heard between two calls of NumPy
_FEW_OF = 8  # labels are few beside so many times as many: a search is over before all are hashed
_TIMES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
_PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """A column after reading.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Floats with NaN for missing when `labels` is None, else integer codes with -1 for missing.
    labels : list or None
        The distinct labels in the order of their codes: Python strings, ints, floats or bools.
    """

    values: NDArray[Any]
    labels: list[Any] | None


def as_array(data: Any, what: str) -> NDArray[Any]:
    """Turn whatever is not a data frame into an array, without changing a single value.

    A list becomes an array of objects, because NumPy would turn ``[1, "a"]`` into two strings and
    ``[2**60 + 1, 0.5]`` into rounded floats.  Masked cells become None; sparse data become dense.
    """
    array: NDArray[Any]
    if sp.issparse(data):
        return make_dense(data, what)
    if isinstance(data, np.ma.MaskedArray):
        # Objects, so that a masked cell of an integer array can be missing too.
        array = np.array(data.data, dtype=object)
        array[np.ma.getmaskarray(data)] = None
        return array
    if isinstance(data, list | tuple):
        ragged = f"The rows of {what} have different lengths: make them equal."
        try:
            array = np.array(data, dtype=object)
        except ValueError as error:
            raise ValueError(ragged) from error
        if array.ndim == 1 and len({len(row) for row in data if isinstance(row, list | tuple)}) > 1:
            raise ValueError(ragged)
        return array
    return np.asarray(data)


def float_type(dtype: np.dtype[Any]) -> type[np.float32 | np.float64]:
    """Give float32 if that holds every value of a NumPy type, else float64."""
    return np.float32 if dtype in _NARROW_NUMPY else np.float64


def first_wide(matrix: NDArray[Any]) -> int | None:
    """Give the first column with integers that float64 cannot hold, or None."""
    if matrix.dtype.kind not in "iu" or matrix.dtype.itemsize < 8 or not matrix.size:
        return None
    wide = (matrix.max(axis=0) > EXACT) | (matrix.min(axis=0) < -EXACT)
    return int(wide.argmax()) if wide.any() else None


def read_array(
    values: NDArray[Any], where: str, *, as_labels: bool = False, exact: bool = True
) -> Column:
    """Read a one-dimensional array of any type.

    Parameters
    ----------
    values : ndarray of shape (n,)
    where : str
        How a message calls the column.
    as_labels : bool
        Treat numbers as labels too; text is read as labels in any case.
    exact : bool
        Refuse integers that float64 has to round.
    """
    kind = values.dtype.kind
    if kind in "OUT":
        return _read_cells(values.tolist(), where, as_labels, exact)
    if kind in "Mm":
        raise time_values(where, length=kind == "m")
    if kind == "c":
        raise complex_values(where)
    if kind not in "biuf":
        raise ValueError(
            f"{where} has the type {values.dtype}, which is neither numbers nor text: "
            "decode bytes with np.char.decode, and pass records as a data frame."
        )
    if as_labels:
        return _code_numbers(values, where)
    if exact and first_wide(values[:, None]) is not None:
        raise wide_integers(where)
    with np.errstate(over="ignore"):  # a long double may overflow; infinity is refused later on
        return Column(values.astype(float_type(values.dtype), copy=False), None)


def read_series(
    series: nw.Series[Any], where: str, *, as_labels: bool = False, exact: bool = True
) -> Column:
    """Read a column of a data frame; the parameters are those of :func:`read_array`."""
    if series.implementation.is_pandas_like():
        native: Any = series.to_native()
        if isinstance(native.dtype, np.dtype):
            # No detour; and the type of an object column would be a guess from its first rows.
            return read_array(native.to_numpy(), where, as_labels=as_labels, exact=exact)
    dtype = series.dtype
    if dtype.is_temporal():
        raise time_values(where, length=dtype == nw.Duration)
    if dtype.is_nested():
        raise nested_values(where, dtype)
    if dtype == nw.Binary:
        raise ValueError(
            f"{where} has the type {dtype}, which is neither numbers nor text: decode it to text, "
            "or leave it out."
        )
    if dtype in _TEXT_FRAME:
        return _code_text(series, where)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        return read_array(np.asarray(series.to_numpy()), where, as_labels=as_labels, exact=exact)
    if as_labels:
        if dtype in (nw.Int128, nw.UInt128) or dtype.is_decimal():
            return _read_cells(series.to_list(), where, as_labels, exact)
        present = ~series.is_null().to_numpy()
        coded = _code_numbers(np.asarray(series.drop_nulls().to_numpy()), where)
        codes = np.full(len(present), -1, dtype=np.intp)
        codes[present] = coded.values
        return Column(codes, coded.labels)
    if exact and dtype in _WIDE_FRAME:
        low, high = series.min(), series.max()
        # Without a number both are None, or pandas.NA.
        if isinstance(low, numbers.Real) and (low < -EXACT or high > EXACT):
            raise wide_integers(where)
    floats = series.cast(nw.Float32() if dtype in _NARROW_FRAME else nw.Float64()).to_numpy()
    return Column(np.asarray(floats), None)


def read_ordered(series: nw.Series[Any], where: str) -> Column | None:
    """Read a column of ordered categories, with all its labels in their order; None if it is none.

    These are pandas' ordered categoricals, polars' enums and Arrow's ordered dictionaries.
    """
    native: Any = series.to_native()
    if series.implementation.is_pandas_like():
        if not getattr(native.dtype, "ordered", False):
            return None
        codes, labels = native.cat.codes.to_numpy(), native.cat.categories.tolist()
    elif series.implementation.is_polars():
        if series.dtype != nw.Enum:
            return None
        labels = list(native.dtype.categories)
        codes = native.to_physical().cast(int).fill_null(-1).to_numpy()
    else:
        if not getattr(native.type, "ordered", False):
            return None
        parts = native.unify_dictionaries().chunks
        labels = parts[0].dictionary.to_pylist() if parts else []
        found = [part.indices.fill_null(-1).to_numpy(zero_copy_only=False) for part in parts]
        codes = np.concatenate(found) if found else np.empty(0)
    return Column(np.asarray(codes, dtype=np.intp), _plain_labels(labels, where))


def sort_labels(column: Column, where: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Give the labels in sorted order and the codes that go with it.

    Raises
    ------
    ValueError
        When the labels are partly numbers and partly text.
    """
    labels = column.labels or []
    if len({issubclass(kind, str) for kind in set(map(type, labels))}) > 1:
        raise mixed_values(where)
    order = sorted(range(len(labels)), key=labels.__getitem__)
    if order == list(range(len(labels))):  # as numbers come; saves a pass over the rows
        return label_array(labels), column.values.astype(np.int32, copy=False)
    rank = np.full(len(labels) + 1, -1, dtype=np.int32)  # code -1 picks the last entry, -1 again
    rank[order] = np.arange(len(labels))
    return label_array([labels[i] for i in order]), rank[column.values]


def label_array(labels: Sequence[Any]) -> NDArray[Any]:
    """Pack labels into an array: text as objects, numbers in the type that keeps them exactly."""
    packed = np.empty(len(labels), dtype=object)
    packed[:] = labels
    if labels and not isinstance(labels[0], str):
        typed = np.array(labels)
        if typed.tolist() == list(labels):
            return typed
    return packed


def match_labels(column: Column, fitted: NDArray[Any], where: str) -> NDArray[np.intp]:
    """Give for every row the position of its label in the sorted `fitted`, -1 if it is not there.

    Raises
    ------
    ValueError
        When `fitted` is text and the whole column is numbers, or the other way round: that is a
        mix-up of columns, not a set of new labels.
    """
    labels = column.labels or []
    lookup = np.full(len(labels) + 1, -1, dtype=np.intp)
    if fitted.size and labels:
        text = isinstance(fitted[0], str)
        if text not in {issubclass(kind, str) for kind in set(map(type, labels))}:
            was, now = ("text", "numbers") if text else ("numbers", "text")
            raise ValueError(
                f"{where} held {was} as categories in fit but holds {now} now: "
                f"check the order of the columns, or convert the column to {was}."
            )
        # Objects, because a float64 search would confuse neighbouring large integers.
        if _FEW_OF * len(labels) < fitted.size:
            known = fitted.astype(object, copy=False)
            same = [k for k, label in enumerate(labels) if isinstance(label, str) == text]
            sought = np.empty(len(same), dtype=object)
            sought[:] = [labels[k] for k in same]
            position = np.minimum(np.searchsorted(known, sought), fitted.size - 1)
            lookup[same] = np.where(known[position] == sought, position, -1)
        else:  # by hash, in a third of the time
            place = dict(zip(fitted.tolist(), range(fitted.size), strict=True)).get
            found = map(place, labels, repeat(-1))
            lookup[:-1] = np.fromiter(found, dtype=np.intp, count=len(labels))
    codes: NDArray[np.intp] = lookup[column.values]
    return codes


def match_ordered(column: Column, ordered: Sequence[Any], where: str) -> NDArray[np.intp]:
    """Give for every row the position of its label in `ordered`, -1 if it is not there."""
    order = sorted(range(len(ordered)), key=ordered.__getitem__)
    found = match_labels(column, label_array([ordered[k] for k in order]), where)
    position = np.array([*order, -1], dtype=np.intp)  # what is not there picks the last entry
    matched: NDArray[np.intp] = position[found]
    return matched


def _read_cells(cells: list[Any], where: str, as_labels: bool, exact: bool) -> Column:
    """Read Python objects: numbers and missing values, or text and missing values."""
    types = set(map(type, cells))
    kinds = {_kind_of(kind, where) for kind in types}
    if kinds >= {"text", "number"} and not as_labels and any(map(_is_number, cells)):
        raise mixed_values(where)
    try:
        if not types <= _PLAIN_TYPES:
            cells = [_plain(cell) for cell in cells]
        if as_labels or "text" in kinds:
            return _code_cells(cells, where)
        floats = np.array(cells, dtype=np.float64)  # None becomes NaN
    except OverflowError as error:
        raise (wide_integers if exact else infinite_values)(where) from error
    suspects = np.flatnonzero(np.abs(floats) >= EXACT) if exact else ()
    if any(isinstance(cells[i], int) and abs(cells[i]) > EXACT for i in suspects):
        raise wide_integers(where)
    return Column(floats, None)


def _is_number(cell: Any) -> bool:
    """Whether a cell is a number, NaN not counted."""
    return isinstance(cell, numbers.Real | decimal.Decimal | np.bool_) and bool(cell == cell)


def _kind_of(kind: type, where: str) -> str:
    """Sort a Python type into text, number or missing, or say why it cannot be used."""
    if issubclass(kind, str):
        return "text"
    # pandas' markers are known by name, so that pandas need not be there.
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
        return "missing"
    if issubclass(kind, _TIMES):  # before numbers: a length of time of NumPy counts as one
        raise time_values(where, length=issubclass(kind, dt.timedelta | np.timedelta64))
    if issubclass(kind, numbers.Real | decimal.Decimal | np.bool_):
        return "number"
    if issubclass(kind, numbers.Complex):
        raise complex_values(where)
    raise odd_values(where, kind)


def _plain(cell: Any) -> Any:
    """Turn a cell into a plain Python value that hashes and compares by what it says."""
    if isinstance(cell, str):
        return str.__str__(cell)
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, numbers.Integral):
        return int(cell)
    if isinstance(cell, numbers.Real | decimal.Decimal):
        return float(cell)
    return None


def _code_cells(cells: list[Any], where: str) -> Column:
    """Number the distinct plain values; one hash look-up per cell."""
    lookup: dict[Any, int] = dict.fromkeys(cells, -1)
    labels = [cell for cell in lookup if cell is not None and cell == cell]  # NaN is missing
    if any(isinstance(label, float) and np.isinf(label) for label in labels):
        raise infinite_values(where)
    lookup.update(zip(labels, range(len(labels)), strict=True))
    codes = np.empty(len(cells), dtype=np.intp)
    for first in range(0, len(cells), _PIECE):
        piece = cells[first : first + _PIECE]
        found = map(lookup.__getitem__, piece)
        codes[first : first + _PIECE] = np.fromiter(found, dtype=np.intp, count=len(piece))
    return Column(codes, labels)


def _code_numbers(values: NDArray[Any], where: str) -> Column:
    """Number the distinct values of a numeric array; NaN is missing."""
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            values = values.astype(np.float64, copy=False)
        if np.isinf(values).any():
            raise infinite_values(where)
        present = ~np.isnan(values)
    elif len(values) and int(values.max()) - int(values.min()) < _SMALL_RANGE:
        return _count_integers(values)
    else:
        present = np.ones(len(values), dtype=bool)
    labels, inverse = np.unique(values[present], return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[present] = inverse
    return Column(codes, labels.tolist())


def _count_integers(values: NDArray[Any]) -> Column:
    """Number distinct integers that lie close together: by counting, which needs no sorting."""
    low = int(values.min())
    spread = int(values.max()) - low + 1

    def offsets(rows: slice) -> NDArray[np.int64]:
        block = values[rows]
        if block.dtype.kind == "u":  # may be beyond the signed range, and cannot go below zero
            block, origin = block - block.dtype.type(low), 0
        else:
            origin = low
        shifted: NDArray[np.int64] = block.astype(np.int64) - origin
        return shifted

    # In blocks, so that beside the codes themselves hardly any memory is used.
    blocks = [slice(i, i + _SMALL_RANGE) for i in range(0, len(values), _SMALL_RANGE)]
    count = np.zeros(spread, dtype=np.int64)
    for rows in blocks:
        count += np.bincount(offsets(rows), minlength=spread)
    seen = np.flatnonzero(count)
    code = np.zeros(spread, dtype=np.int32)
    code[seen] = np.arange(len(seen))
    codes = np.empty(len(values), dtype=np.int32)
    for rows in blocks:
        codes[rows] = code.take(offsets(rows))
    labels = [low + int(k) for k in seen]
    return Column(codes, [bool(k) for k in labels] if values.dtype.kind == "b" else labels)


def _code_text(series: nw.Series[Any], where: str) -> Column:
    """Number the distinct labels of a text or categorical column with its library's own means."""
    native: Any = series.to_native()
    if series.implementation.is_pandas_like():
        if series.dtype == nw.String:
            codes, distinct = native.factorize()
        else:
            codes, distinct = _present(native.cat.codes.to_numpy(), native.cat.categories)
        labels = distinct.tolist()
    elif series.implementation.is_pyarrow():
        if hasattr(native.type, "value_type"):  # dictionaries may differ from chunk to chunk
            native = native.cast(native.type.value_type)
        encoded = native.dictionary_encode().unify_dictionaries()
        parts = [
            part.indices.fill_null(-1).to_numpy(zero_copy_only=False) for part in encoded.chunks
        ]
        codes = np.concatenate(parts) if parts else np.empty(0)
        labels = encoded.chunk(0).dictionary.to_pylist() if parts else []
    else:
        text = series.cast(nw.String())
        labels = text.drop_nulls().unique().to_list()
        codes = (
            text.cast(nw.Enum(labels)).to_native().to_physical().cast(int).fill_null(-1).to_numpy()
        )
    return Column(np.asarray(codes, dtype=np.intp), _plain_labels(labels, where))


def _present(codes: NDArray[Any], categories: Any) -> tuple[NDArray[Any], Any]:
    """Forget categories that no row has."""
    seen = np.zeros(len(categories) + 1, dtype=bool)
    seen[codes] = True
    if seen[:-1].all():
        return codes, categories
    kept = np.flatnonzero(seen[:-1])
    rank = np.full(len(seen), -1, dtype=np.intp)  # code -1 picks the last entry, -1 again
    rank[kept] = np.arange(len(kept))
    return rank[codes], categories.take(kept)


def _plain_labels(labels: list[Any], where: str) -> list[Any]:
    """Make labels plain values; intervals, dates and other odd types are named by their text."""
    types = set(map(type, labels))
    odd = [t for t in types if not issubclass(t, str | numbers.Real | decimal.Decimal | np.bool_)]
    if not odd:
        return labels if types <= _PLAIN_TYPES else [_plain(label) for label in labels]
    # A type without words of its own would be named by an address that changes with every run.
    if len(types) > 1 or odd[0].__str__ is object.__str__ or odd[0] is bytes:
        raise ValueError(
            f"{where} has categories of type {', '.join(sorted(t.__name__ for t in types))}: "
            "rename its categories to text or to numbers."
        )
    return [str(label) for label in labels]
