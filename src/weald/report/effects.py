"""Which columns matter, and how the prediction moves with them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray, IntArray
from weald.explain.importance import Kind, column_importance
from weald.input.raw_table import gather_cells
from weald.report.honest import Fold, Honest, answers
from weald.report.table_rows import TableRows

__all__ = ["ColumnImportance", "Dependence", "dependence_of", "importance_of"]

_CHEAP = 30_000_000  # rows x members (x columns, if these are shuffled) that are asked out of bag
_KINDS: dict[Kind, str] = {
    "permutation": "Rise of each member's error ({unit}) on its out-of-bag rows when a column is "
    "shuffled.",
    "unbiased": "Impurity decrease as the out-of-bag rows see it.",
    "impurity": "Impurity decrease in the fit, which flatters columns of many values; the table is "
    "too large for other measures.",
}
_SECONDS = 8.0  # after which the columns of no other fold are shuffled
_HELD_OUT = 500  # rows of a fold in which columns are shuffled
_REPEATS = 2
_CELLS = 2_000_000  # of shuffled rows that are predicted at once
_COLUMNS = 100  # shuffled at most
_AVERAGED = 100  # rows whose predictions are averaged
_GRID = 20  # values of a column
_LABELS = 12  # categories of a column
_LINES = 4  # classes shown


@dataclass(frozen=True, eq=False)
class ColumnImportance:
    """How much columns matter, the most important first.

    Attributes
    ----------
    words : str
        What was measured, in a sentence.
    columns : array of shape (d,)
        Numbers of the columns.
    names : tuple of str
    mean, std_error : arrays of shape (d,)
    """

    words: str
    columns: IntArray
    names: tuple[str, ...]
    mean: FloatArray
    std_error: FloatArray


@dataclass(frozen=True, eq=False)
class Dependence:
    """How the mean prediction moves with a column, the others as they are (Friedman 2001).

    Attributes
    ----------
    column : int
    name : str
    values : array of shape (g,)
        Numbers, or places of categories.
    labels : tuple of str, optional
        Names of the categories; None for numbers.
    lines : tuple of str
        What is predicted: classes, or one number.
    mean : array of shape (g, lines)
    low, high : array of shape (g, lines)
        Between which 8 of 10 rows lie.
    """

    column: int
    name: str
    values: FloatArray
    labels: tuple[str, ...] | None
    lines: tuple[str, ...]
    mean: FloatArray
    low: FloatArray
    high: FloatArray


# --- importance ----------------------------------------------------------------------------------


def importance_of(
    model: Any, rows: TableRows, honest: Honest, seed: int = 0
) -> ColumnImportance | None:
    """Rise of the error when a column is shuffled among rows that were not seen.

    Parameters
    ----------
    model : fitted estimator
    rows : TableRows
    honest : Honest
        Whether there are out-of-bag rows, or copies fitted on folds.
    seed : int
    """
    unit = "share of wrong labels" if rows.labels is not None else "mean squared error"
    if honest.source == "out-of-bag":
        kind = _cheapest_kind(model, rows)
        found = column_importance(model, rows.table, rows.target, kind, random_state=seed)
        words = f"{_KINDS[kind].format(unit=unit)} Bars end at one standard error, over members."
        return _ranked(words, rows, np.arange(rows.X.shape[1]), found.mean, found.std_error)
    if not honest.folds:
        return None
    columns = np.arange(min(rows.X.shape[1], _COLUMNS))
    began, parts = time.monotonic(), []
    for fold in honest.folds:
        parts.append(_rises(fold, columns, seed))
        if time.monotonic() - began > _SECONDS:
            break
    each = np.concatenate(parts)
    error = each.std(axis=0, ddof=1) / np.sqrt(len(each))
    words = (
        f"Rise of the error ({unit}) on rows held out when a column is shuffled. Bars end at one "
        "standard error, over folds and shuffles."
    )
    if len(columns) < rows.X.shape[1]:
        words += f" Only the first {len(columns)} of {rows.X.shape[1]} columns were looked at."
    return _ranked(words, rows, columns, each.mean(axis=0), error)


def _cheapest_kind(model: Any, rows: TableRows) -> Kind:
    """The kind of importance that says most, of those that do not take too long."""
    size = len(rows) * len(model)
    if size * rows.X.shape[1] <= _CHEAP or not hasattr(model, "forest_"):
        return "permutation"
    return "unbiased" if size <= _CHEAP else "impurity"


def _ranked(
    words: str, rows: TableRows, columns: IntArray, mean: FloatArray, error: FloatArray
) -> ColumnImportance:
    order = np.argsort(-mean, kind="stable")
    names = tuple(rows.names[columns[j]] for j in order)
    return ColumnImportance(words, columns[order], names, mean[order], error[order])


def _rises(fold: Fold, columns: IntArray, seed: int) -> FloatArray:
    """Rise of the error for each shuffle and column.

    Many shuffled columns are predicted at once, in a third of the time that `column_importance`
    takes for gradient boosting of 30 columns.
    """
    held = fold.rows.take(fold.rows.some(_HELD_OUT, seed))
    m, d = held.X.shape
    draw = np.random.default_rng(seed)

    def errors(table: Any, times: int) -> FloatArray:
        """Of the rows, so many times one after the other."""
        chosen = answers(fold.model, table, held.labels)[1].reshape(times, m)
        wrong = chosen != held.y if held.labels is not None else (chosen - held.y) ** 2
        found: FloatArray = wrong.mean(axis=1)
        return found

    before = errors(held.table, 1)[0]
    rises = np.zeros((_REPEATS, len(columns)))
    at_once = max(1, _CELLS // (m * d))  # columns, each shuffled in a copy of the rows of its own
    for r in range(_REPEATS):
        order = draw.permutation(m)
        for begin in range(0, len(columns), at_once):
            some = columns[begin : begin + at_once]
            rows = [np.tile(np.arange(m), len(some))] * d
            for k, j in enumerate(some):
                rows[j] = rows[j].copy()
                rows[j][k * m : (k + 1) * m] = order
            found = errors(gather_cells(held.table, rows), len(some))
            rises[r, begin : begin + at_once] = found - before
    return rises


# --- dependence ----------------------------------------------------------------------------------


def dependence_of(
    model: Any, rows: TableRows, columns: Sequence[int], seed: int = 0
) -> tuple[Dependence, ...]:
    """How the prediction moves with some columns.

    Parameters
    ----------
    model : fitted estimator
    rows : TableRows
    columns : sequence of int
    seed : int
        For the rows whose predictions are averaged.
    """
    some = rows.some(_AVERAGED, seed)
    return tuple(
        found for j in columns if (found := _dependence(model, rows, int(j), some)) is not None
    )


def _dependence(model: Any, rows: TableRows, j: int, some: IntArray) -> Dependence | None:
    at, labels = _grid(rows, j)
    if len(at) < 2:
        return None
    g, m = len(at), len(some)
    taken = [np.tile(some, g)] * rows.X.shape[1]
    taken[j] = np.repeat(at, m)
    said = answers(model, gather_cells(rows.table, taken), rows.labels)[0].reshape(g, m, -1)
    lines, shown = _lines(rows)
    low, high = np.quantile(said[:, :, shown], [0.1, 0.9], axis=1)
    values = np.arange(float(g)) if labels is not None else rows.X[at, j].astype(np.float64)
    mean = said[:, :, shown].mean(axis=1)
    return Dependence(j, rows.names[j], values, labels, lines, mean, low, high)


def _lines(rows: TableRows) -> tuple[tuple[str, ...], list[int]]:
    """Which predictions are shown."""
    if rows.classes is None:
        return ("prediction",), [0]
    if len(rows.classes) <= 2:
        k = len(rows.classes) - 1
        return (f"share of {rows.classes[k]}",), [k]
    count = np.bincount(rows.y, minlength=len(rows.classes))
    shown = sorted(np.argsort(-count, kind="stable")[:_LINES].tolist())
    return tuple(f"share of {rows.classes[k]}" for k in shown), shown


def _grid(rows: TableRows, j: int) -> tuple[npt.NDArray[np.intp], tuple[str, ...] | None]:
    """Rows that have the values to try, in their order, and the names of categories."""
    column, known = rows.X[:, j], rows.categories[j]
    present = np.flatnonzero(~np.isnan(column))
    values, first, count = np.unique(column[present], return_index=True, return_counts=True)
    if known is not None:
        kept = np.sort(np.argsort(-count, kind="stable")[:_LABELS])
        labels = tuple(str(known[int(code)]) for code in values[kept])
        return present[first[kept]], labels
    if len(values) > _GRID:
        at = np.quantile(column[present], np.linspace(0.01, 0.99, _GRID), method="nearest")
        kept = np.unique(np.searchsorted(values, at))
        if len(kept) < _GRID // 2:  # most rows have one value: look at the others as well
            others = np.linspace(0, kept[-1], _GRID // 2).round().astype(np.intp)
            kept = np.union1d(kept, others)
    else:
        kept = np.arange(len(values))
    return present[first[kept]], None
