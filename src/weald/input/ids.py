"""Columns that tell one row from another rather than rows of one kind from those of another.

One rule each for text and for numbers, for the warnings of a fit, for what the command line leaves
out of a file, and for the warnings of a report.
"""

from __future__ import annotations

import re

import numpy as np

from weald._engine import FloatArray

__all__ = ["FREE_CATEGORIES", "id_of_numbers", "is_near_unique", "near_unique_words"]

FREE_CATEGORIES = 8  # kFreeCategories of the core: more are many
_ID_NAME = re.compile(
    r"(.*[_\s.-])?(id|uuid|guid|index|idx|rowid|row|no|nr|key)|column_1|Unnamed: 0|.*[a-z]I[dD]",
    re.I,
)
_FEW = 20  # rows, of which nothing is said about numbers


def is_near_unique(categories: int, rows: float) -> bool:
    """Whether there are more than half as many categories as rows that have one.

    Up to eight categories are few, however few rows there are.

    >>> is_near_unique(101, 200), is_near_unique(100, 200), is_near_unique(8, 8)
    (True, False, False)
    """
    return categories > FREE_CATEGORIES and 2 * categories > rows


def near_unique_words(categories: int, rows: int) -> str:
    """What is so of a near-unique column."""
    return f"a different category in nearly every row ({categories:,} in {rows:,} rows)"


def id_of_numbers(name: str, numbers: FloatArray) -> str | None:
    """Why a column of numbers identifies rows; None if it does not.

    It numbers them from 0 or 1, or it has a whole number of its own for each, and such a name.

    >>> id_of_numbers("x", np.arange(50.0))
    'it numbers the rows from 0 to 49'
    >>> id_of_numbers("year", np.arange(50.0) + 1970)
    >>> id_of_numbers("order no", np.arange(50.0) + 1970)
    'every row has its own value, as its name says'
    """
    n = len(numbers)
    if n < _FEW or not np.isfinite(numbers).all():
        return None
    low, high = float(numbers.min()), float(numbers.max())
    counted, named = high - low == n - 1 and low in (0, 1), bool(_ID_NAME.fullmatch(name))
    if not (counted or named) or high >= 2**53:
        return None
    if (numbers % 1 != 0).any() or len(np.unique(numbers)) < n:
        return None
    if counted:
        return f"it numbers the rows from {low:.0f} to {high:.0f}"
    return "every row has its own value, as its name says"
