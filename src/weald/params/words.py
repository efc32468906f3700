"""Words of messages."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed"]


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words in a row, with commas and an "and" (or another word) before the last.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else words[0]
