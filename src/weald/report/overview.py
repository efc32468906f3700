"""What the data look like, and what may be wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.explain._view import number_words
from weald.input.ids import id_of_numbers, is_near_unique, near_unique_words
from weald.params.warnings import NearUniqueWarning
from weald.report.table_rows import TableRows
from weald.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["ColumnFacts", "DataFacts", "data_facts", "single_column_skill"]

_ROWS = 200_000  # looked at
_SKILL_ROWS = 4_000  # to learn the target from one column, and to judge that
_SKILL_COLUMNS = 500
_LEAK = 0.97  # part of the error that one column alone takes away
_MISSING = 0.5  # share of missing values that is worth a warning
_RARE = 0.1  # share of a class, of an even one, that is worth a warning
_FEW = 10  # rows of a class
_BARS = 12
_LEVELS = 8  # ordered categories that are named


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """One column.

    Attributes
    ----------
    name : str
    kind : "number", "category" or "ordered category"
    missing : float
        Share of the rows.
    distinct : int
        Values there are, missing ones apart.
    summary : str
        Smallest, median and largest number, or the most frequent categories.
    bars : array
        Rows in equal ranges of numbers, or of the most frequent categories.
    """

    name: str
    kind: str
    missing: float
    distinct: int
    summary: str
    bars: npt.NDArray[np.intp]


@dataclass(frozen=True)
class DataFacts:
    """The table, its target and what may be wrong with them.

    Attributes
    ----------
    n_rows, n_columns : int
    columns : tuple of ColumnFacts
    target : str
        What is to be predicted, in a sentence.
    warnings : tuple of str
    """

    n_rows: int
    n_columns: int
    columns: tuple[ColumnFacts, ...]
    target: str
    warnings: tuple[str, ...]


def data_facts(rows: TableRows, seed: int = 0) -> DataFacts:
    """Look at the data.

    Parameters
    ----------
    rows : TableRows
    seed : int
        For the rows that are looked at in large tables.
    """
    some = rows if len(rows) <= _ROWS else rows.take(rows.some(_ROWS, seed))
    columns = tuple(_column(some, j) for j in range(some.X.shape[1]))
    warnings = [
        *_constant_target(rows),
        *_leaks(some, seed),
        *_plain_columns(columns),
        *_duplicates(some, columns),
        *_ids(rows),
        *_imbalance(rows),
        *_repeated_rows(some),
    ]
    if some is not rows:
        warnings.append(f"The columns were looked at on {_ROWS} of the {len(rows)} rows.")
    return DataFacts(len(rows), rows.X.shape[1], columns, _target(rows), tuple(warnings))


def _column(rows: TableRows, j: int) -> ColumnFacts:
    column, labels = rows.X[:, j], rows.categories[j]
    present = column[~np.isnan(column)].astype(np.float64)
    missing = 1 - len(present) / len(column)
    if labels is not None:
        count = np.bincount(present.astype(np.intp), minlength=len(labels))
        order = np.argsort(-count, kind="stable")
        shown = [f"{labels[k]} ({count[k] / len(column):.0%})" for k in order[:3] if count[k]]
        more = np.count_nonzero(count) - len(shown)
        words = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
        distinct = int(np.count_nonzero(count))
        return ColumnFacts(
            rows.names[j], "category", missing, distinct, words or "-", count[order[:_BARS]]
        )
    if j in rows.ordered:
        # With their numbers, which charts show.
        names = rows.ordered[j]
        count = np.bincount(present.astype(np.intp), minlength=len(names))
        shown = [f"{k}: {names[k]} ({count[k] / len(column):.0%})" for k in range(len(names))]
        words = ", ".join(shown[:_LEVELS])
        words += f" and {len(shown) - _LEVELS} more" if len(shown) > _LEVELS else ""
        distinct = int(np.count_nonzero(count))
        return ColumnFacts(
            rows.names[j], "ordered category", missing, distinct, words, count[:_BARS]
        )
    if len(present) == 0:
        return ColumnFacts(rows.names[j], "number", missing, 0, "-", np.zeros(1, dtype=np.intp))
    low, middle, high = np.min(present), np.median(present), np.max(present)
    values, count = np.unique(present, return_counts=True)
    distinct = len(values)
    bars = _histogram(present) if distinct > _BARS else count
    words = _range(low, middle, high) if distinct > 1 else number_words(float(low), 4)
    return ColumnFacts(rows.names[j], "number", missing, distinct, words, bars)


def _range(low: float, middle: float, high: float) -> str:
    low_, middle_, high_ = (number_words(float(x), 4) for x in (low, middle, high))
    return f"{low_} to {high_}, median {middle_}"


def _histogram(values: FloatArray) -> npt.NDArray[np.intp]:
    low, high = float(values.min()), float(values.max())
    # Halved first, as the distance of two large numbers may not be a number.
    width = high / 2 - low / 2
    if not width > 0:
        return np.array([len(values)])
    place = ((values / 2 - low / 2) / width * _BARS).astype(np.intp)
    return np.bincount(np.minimum(place, _BARS - 1), minlength=_BARS)


def _target(rows: TableRows) -> str:
    if rows.classes is None:
        low, middle, high = np.quantile(rows.y, [0, 0.5, 1])
        return f"A number from {_range(low, middle, high)}."
    count = np.bincount(rows.y, minlength=len(rows.classes))
    order = np.argsort(-count, kind="stable")
    shown = [f"{rows.classes[k]} ({count[k] / len(rows):.1%})" for k in order[:8]]
    more = f" and {len(order) - 8} more" if len(order) > 8 else ""
    there_are = "One class" if len(count) == 1 else f"One of {len(count)} classes"
    return f"{there_are}: {', '.join(shown)}{more}."


# --- what may be wrong ---------------------------------------------------------------------------


def single_column_skill(rows: TableRows, j: int, seed: int = 0) -> float:
    """Part of the error that a small tree of one column takes away, on rows it did not see.

    1: the column alone predicts the target without error; 0: no better than the most frequent class
    or the mean.
    """
    some = rows.some(_SKILL_ROWS, seed)
    x, y = rows.X[some, j : j + 1], rows.y[some]
    half = np.random.default_rng(seed).random(len(y)) < 0.5
    kind = DecisionTreeRegressor if rows.classes is None else DecisionTreeClassifier
    loss = base = 0.0
    for train, test in ((half, ~half), (~half, half)):
        if not train.any() or not test.any():
            return 0.0
        listed = None if rows.categories[j] is None else [0]
        tree = kind(max_leaf_nodes=16, min_samples_leaf=5, categorical_features=listed, n_jobs=1)
        with catch_warnings():
            simplefilter("ignore", NearUniqueWarning)  # the page has its own words for it
            said = tree.fit(x[train], y[train]).predict(x[test])
        if rows.classes is None:
            loss += float(((said - y[test]) ** 2).sum())
            base += float(((y[train].mean() - y[test]) ** 2).sum())
        else:
            loss += float((said != y[test]).sum())
            base += float((np.bincount(y[train]).argmax() != y[test]).sum())
    return 1 - loss / base if base > 0 else 0.0


def _constant_target(rows: TableRows) -> Iterator[str]:
    if len(np.unique(rows.y)) == 1:
        yield "The target is the same in all rows: there is nothing to learn or to judge by."


def _leaks(rows: TableRows, seed: int) -> Iterator[str]:
    for j in range(min(rows.X.shape[1], _SKILL_COLUMNS)):
        skill = single_column_skill(rows, j, seed)
        if skill >= _LEAK:
            yield (
                f"Likely leak: column {rows.names[j]!r} alone takes away {skill:.1%} of the error. "
                "Check that its value is known before the target is."
            )


def _plain_columns(columns: tuple[ColumnFacts, ...]) -> Iterator[str]:
    for column in columns:
        if column.distinct == 0:
            yield f"Column {column.name!r} has no values at all: leave it out."
        elif column.distinct == 1 and column.missing == 0:
            yield f"Column {column.name!r} is constant: leave it out."
        elif column.missing > _MISSING:
            yield f"Column {column.name!r} is missing in {column.missing:.0%} of the rows."


def _duplicates(rows: TableRows, columns: tuple[ColumnFacts, ...]) -> Iterator[str]:
    first: dict[tuple[bool, bytes], str] = {}
    for j, labels in enumerate(rows.categories):
        if columns[j].distinct < 2:
            continue
        column = rows.X[:, j].astype(np.float64)
        if labels is not None:  # by the order in which they come: other names do not matter
            seen, place, code = np.unique(column, return_index=True, return_inverse=True)
            column = np.where(np.isnan(seen), np.nan, place.astype(np.float64))[code]
        column[np.isnan(column)] = np.nan  # one of the many forms of NaN
        key = labels is None, blake2b((column + 0.0).data).digest()
        if key in first:
            yield f"Column {rows.names[j]!r} holds the same as {first[key]!r}: leave one out."
        else:
            first[key] = rows.names[j]


def _ids(rows: TableRows) -> Iterator[str]:
    for j, name in enumerate(rows.names):
        column, labels = rows.X[:, j], rows.categories[j]
        if labels is None:
            why = id_of_numbers(name, column.astype(np.float64))
            if why is not None:
                yield f"Column {name!r} looks like an id: {why}. It cannot help with new rows."
            continue
        present = column[~np.isnan(column)]
        distinct = len(np.unique(present))
        if is_near_unique(distinct, len(present)):
            yield (
                f"Column {name!r} has {near_unique_words(distinct, len(present))}: new rows will "
                "have others, of which nothing is known."
            )


def _imbalance(rows: TableRows) -> Iterator[str]:
    if rows.classes is None:
        return
    count = np.bincount(rows.y, minlength=len(rows.classes))
    for k in np.argsort(count, kind="stable")[:3]:
        share = count[k] / len(rows)
        if count[k] < _FEW:
            there_are = "no rows" if count[k] == 0 else f"only {count[k]} rows"
            there_are = "only one row" if count[k] == 1 else there_are
            yield f"Class {rows.classes[k]!r} has {there_are}."
        elif share < _RARE * 2 / len(count):
            yield (
                f"Imbalance: class {rows.classes[k]!r} has {share:.1%} of the rows. Accuracy says "
                "little about it; look at the confusion matrix."
            )


def _repeated_rows(rows: TableRows) -> Iterator[str]:
    cells = np.c_[rows.X.astype(np.float64), rows.y.astype(np.float64)]
    cells[np.isnan(cells)] = np.nan
    packed = np.ascontiguousarray(cells + 0.0).view(np.dtype((np.void, cells.shape[1] * 8)))
    repeated = 1 - len(np.unique(packed)) / len(rows)
    if repeated > 0.01:
        yield (
            f"{repeated:.1%} of the rows repeat another row, target included: scores on rows held "
            "out are too good if their copies were learned."
        )
