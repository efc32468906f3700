"""What the columns of a training file are: numbers, categories, dates, or nothing to learn from."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from weald.dataset.cells import NUMBER_BLANKS, Cells, Coded, FloatArray, finite, infinite_words
from weald.dataset.dates import PARTS, find_pattern, in_words, parts
from weald.dataset.recipe import ColumnRule, LeftOut
from weald.input.ids import id_of_numbers, is_near_unique, near_unique_words
from weald.params.words import listed

__all__ = ["Judged", "judge", "mixed_words"]

_OWN_VALUE = 0.95  # of the rows: text with more different values identifies rows
_FEW = 20  # rows, of which fewer different texts identify none
_ODD_WORDS, _ODD_CELLS = 3, 0.05  # words, and share of cells, that do not make numbers text
_SOME_WORDS = 20  # different cells of text, from which on it is asked whether they are numbers
_LOOKED = 100  # cells that are looked at for marks
# Numbers with marks: of thousands, of currencies, of percent, or with a short unit.
_MARKED = re.compile(r"[-+(]?[$€£¥]?\s?[\d.,'\s]*\d[\d.,'\s]*\)?\s?(%|[$€£¥]|[^\W\d_]{1,3}[²³]?)?")
_SOME_DATES = 10  # different numbers yyyymmdd, from which on they are taken for dates


@dataclass(frozen=True, eq=False)
class Judged:
    """A column after a look at its cells.

    Attributes
    ----------
    rule : ColumnRule or None
        How it is used.
    left_out : LeftOut or None
        Why it is not.
    values : list
        The columns that the model sees.
    notes : list of str
    """

    rule: ColumnRule | None
    left_out: LeftOut | None
    values: list[FloatArray | Coded]
    notes: list[str]


def judge(name: str, cells: Cells, *, keep: bool = False) -> Judged:
    """Say what a column is.

    Parameters
    ----------
    name : str
    cells : Cells
    keep : bool
        Use it even if it looks like nothing to learn from.
    """
    numbers, blanks = _numbers(cells)
    infinite = 0
    if numbers is not None:
        numbers, infinite = finite(numbers)
    if numbers is not None and not _whole_dates(numbers):
        reason = None if keep else _useless_numbers(name, numbers)
        if reason is not None and infinite:
            reason = "it has no finite numbers"
        if reason is not None:
            return Judged(None, LeftOut(name, reason), [], [])
        notes = []
        if blanks:
            shown = listed([repr(one) for one in blanks])
            are = "is" if len(blanks) == 1 else "are"
            notes.append(f"{name}: {shown} among its numbers {are} read as missing.")
        if infinite:
            notes.append(infinite_words(name, infinite))
        return Judged(ColumnRule(name, "number", blanks), None, [numbers], notes)
    coded = cells.coded()
    n, present = len(cells), [label for label in coded.labels if label]
    pattern = find_pattern(present)
    if pattern is not None and len(present) > 1:
        dated = _dated(name, coded, pattern)
        if dated is not None:
            return dated
    reason = None
    if len(present) < 2 and not keep and not (len(present) == 1 and (coded.codes < 0).any()):
        reason = _constant(present)
    elif len(present) > _OWN_VALUE * max(n, _FEW) and not keep:
        reason = f"nearly every row has its own value ({len(present):,} in {n:,} rows)"
        mixed = mixed_words(cells)
        reason += f"; {mixed}" if mixed else f", such as {_cut(present[0])!r}"
    if reason is not None:
        return Judged(None, LeftOut(name, reason), [], [])
    there = int(np.count_nonzero(coded.codes >= 0))
    notes = []
    mixed = mixed_words(cells) if len(present) > _SOME_WORDS else ""
    if mixed:
        notes.append(f"{name} is read as text; {mixed}.")
    elif is_near_unique(len(present), there):
        notes.append(
            f"{name} has {near_unique_words(len(present), there)}: those of a single row count as "
            "one. Leave it out with --drop, or put in place what several rows share, such as a "
            "prefix, a group or a date."
        )
    return Judged(ColumnRule(name, "category"), None, [coded], notes)


def _numbers(cells: Cells) -> tuple[FloatArray | None, tuple[str, ...]]:
    """The numbers, and the cells that stand for missing ones; None if there is more than numbers.

    A few cells of a few words among many numbers are taken for missing ones, too.
    """
    numbers = cells.numbers()
    if numbers is not None:
        return numbers, ()
    coded, odd = cells.not_numbers(NUMBER_BLANKS)
    counts = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.labels))
    if len(odd) > _ODD_WORDS or counts[odd].sum() > _ODD_CELLS * counts.sum():
        return None, ()
    words = {coded.labels[k] for k in odd}
    blanks = [one for one in coded.labels if one in words or one in NUMBER_BLANKS]
    numbers = cells.numbers(blanks)
    if numbers is None or np.isnan(numbers).all():
        return None, ()
    return numbers, tuple(blanks)


def mixed_words(cells: Cells) -> str:
    """What most cells are, if they are numbers of some kind but the column is none of numbers."""
    coded, odd = cells.not_numbers(NUMBER_BLANKS)
    there, labels = coded.codes[coded.codes >= 0], coded.labels
    counts = np.bincount(there, minlength=len(labels))
    others = int(counts[odd].sum())
    if 0 < 2 * others < len(there):
        first = int(np.flatnonzero(np.isin(coded.codes, odd))[0])
        are = "is none" if others == 1 else "are none"
        return (
            f"{len(there) - others:,} cells are numbers but {others:,} {are}, such as "
            f"{labels[coded.codes[first]]!r} in row {first + 1}: correct or empty these if it is a "
            "quantity"
        )
    if len(labels) > 2 and all(_MARKED.fullmatch(label) for label in labels[:_LOOKED]):
        return f"if cells such as {labels[0]!r} are numbers, write them without marks and units"
    return ""


def _whole_dates(numbers: FloatArray) -> bool:
    """Whether whole numbers are dates written yyyymmdd."""
    low, high = np.nanmin(numbers, initial=np.inf), np.nanmax(numbers, initial=-np.inf)
    if not (18000101 <= low <= high <= 21991231):
        return False
    distinct = np.unique(numbers[~np.isnan(numbers)])
    if len(distinct) < _SOME_DATES or (distinct % 1 != 0).any():
        return False
    return find_pattern([str(int(value)) for value in distinct]) == "yyyymmdd"


def _useless_numbers(name: str, numbers: FloatArray) -> str | None:
    present = numbers[~np.isnan(numbers)]
    if not len(present):
        return "it is empty"
    low, high, n = float(present.min()), float(present.max()), len(numbers)
    if low == high:
        # A number here and nothing there may say something.
        return _constant([f"{low:g}"]) if len(present) == n else None
    return id_of_numbers(name, numbers)


def _cut(text: str) -> str:
    return text if len(text) <= 30 else text[:27] + "..."


def _constant(labels: list[str]) -> str:
    return f"it is always {labels[0]}" if labels else "it is empty"


def _dated(name: str, coded: Coded, pattern: str) -> Judged | None:
    """A column of dates, as those of their parts that differ between rows; None if none does."""
    whole = ColumnRule(name, "date", pattern=pattern, parts=tuple(PARTS))
    times = whole._times(coded, 0)
    made = dict(zip(PARTS, parts(times, tuple(PARTS)), strict=True))
    kept = tuple(part for part, numbers in made.items() if np.nanmin(numbers) < np.nanmax(numbers))
    if not kept:  # parts of a second, or two ways to write one day
        return None
    rule = ColumnRule(name, "date", pattern=pattern, parts=kept)
    note = f"{name}: dates written {pattern}, turned into {in_words(kept)}."
    return Judged(rule, None, [made[part] for part in kept], [note])
