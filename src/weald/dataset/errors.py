"""What is wrong with a file or its columns, in a sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["DataError", "first_line", "left_out_words", "named", "suggestion"]


class DataError(ValueError):
    """A file, a column or a cell that cannot be used."""


def first_line(error: Exception) -> str:
    r"""What an error says, without details; its kind if it says nothing.

    >>> first_line(ValueError("no number\nin row 3")), first_line(KeyError())
    ('no number', 'KeyError')
    """
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def suggestion(name: str, choices: Iterable[str]) -> str:
    """A half-sentence with the closest choice, or nothing if none is close.

    >>> suggestion("PRIC", ["price", "area"])
    ' Did you mean price?'
    """
    known = {one.casefold(): one for one in choices}
    close = [known[one] for one in difflib.get_close_matches(name.casefold(), known, 2, 0.6)]
    return f" Did you mean {' or '.join(close)}?" if close else ""


def named(names: Iterable[str], most: int = 10) -> str:
    """Names in a row, the last ones counted if there are many.

    >>> named(["a", "b", "c"], most=2)
    'a, b, +1 more'
    """
    every = list(names)
    rest = len(every) - most
    return ", ".join(every[:most]) + (f", +{rest} more" if rest > 0 else "")


def left_out_words(n: int, which: str) -> str:
    """The sentence about rows that are left out.

    >>> left_out_words(1, "without price"), left_out_words(2000, "of weight 0")
    ('1 row without price is left out.', '2,000 rows of weight 0 are left out.')
    """
    return f"{n:,} row{'s' * (n != 1)} {which} {'is' if n == 1 else 'are'} left out."
