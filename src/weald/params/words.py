"""Words of messages."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["counted", "listed"]


def counted(n: int, one: str, many: str = "") -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words in a row, with commas and an "and" (or another word) before the last.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else words[0]
