"""Print results: short tables on a terminal, or JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unicodedata import category

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

__all__ = [
    "CUT_WORDS",
    "marked",
    "plain",
    "print_facts",
    "print_grid",
    "print_json",
    "print_notes",
    "print_words",
    "safe",
    "short",
    "working",
]

# What the mark beside a method means.
CUT_WORDS = "* cut short by --time: fewer members than it would have with more"


def marked(method: str, cut: bool) -> str:
    """A method, with a mark if its fits were cut short."""
    return f"{method} *" if cut else method


def console(*, beside: bool = False) -> Console:
    """Where results go; `beside`: to standard error, as standard output is taken by data."""
    return Console(highlight=False, soft_wrap=False, stderr=beside)


@contextmanager
def working(words: str, loud: bool) -> Iterator[None]:
    """Show on a terminal what is being done, as long as it takes."""
    out = console(beside=True)
    if not (loud and out.is_terminal):
        yield
        return
    with out.status(Text(words)):
        yield


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Names and what they are, side by side."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for title, text in facts:
        grid.add_row(title, Text(safe(text)))
    console().print(grid)


def print_grid(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", best: int | None = None
) -> None:
    """A table; the first column is text, the last too if its head is empty.

    Parameters
    ----------
    heads : sequence of str
    rows : iterable of sequences of str
    title : str
    best : int, optional
        The row to stress.
    """
    grid = Grid(box=None)
    for j, head in enumerate(heads):
        left = j == 0 or (j == len(heads) - 1 and not head)
        grid.add_column(head, justify="left" if left else "right", no_wrap=bool(head) or j > 2)
    for i, row in enumerate(rows):
        grid.add_row(*(Text(safe(cell)) for cell in row), style="bold" if i == best else None)
    out = console()
    out.print()
    if title:
        out.print(Text(safe(title), style="bold"))
    out.print(grid)


def print_notes(notes: Iterable[str], *, beside: bool = False) -> None:
    """Sentences about the data; `beside`: to standard error."""
    out = console(beside=beside)
    for note in notes:
        out.print(Text(safe(f"note: {note}"), style="yellow"))


def print_words(*lines: str) -> None:
    """Plain text."""
    out = console()
    for line in lines:
        out.print(Text(safe(line)))


def print_json(content: Any) -> None:
    """JSON on standard output."""
    text = json.dumps(plain(content), indent=2, allow_nan=False, ensure_ascii=False)
    print(safe(text, "\\u{:04x}"))  # which is JSON too


def safe(text: str, shown: str = "\\x{:02x}") -> str:
    r"""Text that steers no terminal, whatever is in a model file: such characters become numbers.

    >>> print(safe("red: \x1b[31m"))
    red: \x1b[31m
    """
    return "".join(
        shown.format(ord(one)) if category(one) in ("Cc", "Cs") and one != "\n" else one
        for one in text
    )


def short(x: float | None) -> str:
    """A number in about four figures.

    >>> short(0.12345), short(18.1), short(54321.0), short(float("nan"))
    ('0.1235', '18.10', '54321', '')
    """
    if x is None or math.isnan(x):
        return ""
    if abs(x) >= 1000:
        return f"{x:.0f}"
    if x != 0 and abs(x) < 0.001:
        return f"{x:.2g}"
    return f"{x:.{4 if abs(x) < 10 else 2 if abs(x) < 100 else 1}f}"


def plain(value: Any) -> Any:
    """What JSON knows: no NaN, no infinity, no numbers of NumPy."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
