"""How a text file is written: encoding, delimiter, and the names in its first line.

A comma inside a number is a decimal comma, unless commas are what divides the cells.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

from weald.dataset.errors import DataError, named
from weald.params.words import counted

__all__ = ["Dialect", "sniff"]

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_LINES = 100  # looked at to find the delimiter
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHERS = {  # by which other files begin
    b"\x1f\x8b": "packed, so its name should end in .gz",
    b"BZh": "packed, so its name should end in .bz2",
    b"\xfd7zXZ": "packed, so its name should end in .xz",
    b"PK\x03\x04": "a spreadsheet or an archive; save the table as CSV",
    b"PAR1": "Parquet, so its name should end in .parquet",
    b"ARROW1": "Arrow, so its name should end in .arrow",
}
_ENDS = re.compile(r"\r\n?")
_ENCODINGS = {
    "cp1252": "Latin-1 text (not UTF-8)",
    "utf-16": "UTF-16 text",
    "utf-8-sig": "a byte-order mark",
}


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    encoding : str
    delimiter : str
    names : tuple of str
        Of the columns: trimmed, none empty, none twice.
    notes : tuple of str
        What was changed about the names, in sentences.
    blank_lines : int
        Before the names.
    """

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    notes: tuple[str, ...]
    blank_lines: int = 0

    @property
    def reading(self) -> tuple[str, ...]:
        """What is not as in plain CSV, in a few words each."""
        words = []
        if self.delimiter != ",":
            words.append(f"cells divided by {DELIMITERS[self.delimiter]}")
        if self.encoding in _ENCODINGS:
            words.append(_ENCODINGS[self.encoding])
        return tuple(words)

    @property
    def decimal_comma(self) -> bool:
        """Whether a comma in a number is a decimal comma."""
        return self.delimiter != ","


def sniff(sample: bytes, *, whole: bool, where: str, later: bytes = b"") -> Dialect:
    r"""Find out how a file is written, from its beginning.

    Parameters
    ----------
    sample : bytes
        The first bytes.
    whole : bool
        They are all there are.
    where : str
        How a message calls the file.
    later : bytes
        If these bytes are plain ASCII, those around the first one after them that is not.

    >>> sniff("größe;preis\n1,5;2\n".encode("latin-1"), whole=True, where="f").names
    ('größe', 'preis')
    """
    encoding = _encoding(sample, whole)
    if encoding == "utf-8" and later:
        encoding = _encoding(later, whole=False)
    text = sample.decode(encoding, errors="replace")
    for mark, kind in _OTHERS.items():
        if sample.startswith(mark):
            raise DataError(f"{where} is not a text file: it is {kind}.")
    if "\0" in text:
        raise DataError(f"{where} is not a text file: it holds zero bytes.")
    every = _ENDS.sub("\n", text).split("\n")
    if not whole and len(every) > 1:
        every.pop()  # it may end in the middle
    lines = [f"{line}\n" for line in every if line.strip()]
    if not lines:
        raise DataError(f"{where} is empty.")
    blank_lines = next(k for k, line in enumerate(every) if line.strip())
    delimiter = _delimiter(lines[:_LINES])
    header = next(csv.reader(io.StringIO("".join(lines)), delimiter=delimiter))
    names, notes = unique_names(header)
    return Dialect(encoding, delimiter, tuple(names), tuple(notes), blank_lines)


def unique_names(header: Iterable[str]) -> tuple[list[str], list[str]]:
    """Names that are trimmed, not empty and all different, and sentences on what was changed.

    >>> unique_names(["a", "a", ""])[0]
    ['a', 'a_2', 'column_3']
    """
    given = list(header)
    names: list[str] = []
    trimmed, twice, empty = [], [], []
    taken = {cell.strip() for cell in given}
    seen: set[str] = set()
    for place, cell in enumerate(given, start=1):
        name = cell.strip()
        if name != cell:
            trimmed.append(name)
        if not name:
            name = f"column_{place}"
            empty.append(name)
        if name in seen:
            number = 2
            while f"{name}_{number}" in seen | taken:
                number += 1
            name = f"{name}_{number}"
            twice.append(name)
        seen.add(name)
        names.append(name)
    notes = []
    if trimmed:
        notes.append(f"Spaces around {counted(len(trimmed), 'column name')} are removed.")
    if empty:
        notes.append(f"Columns without a name are called {', '.join(empty)}.")
    if twice:
        notes.append(f"Names that are there twice: the later columns are called {named(twice)}.")
    return names, notes


def _encoding(sample: bytes, whole: bool) -> str:
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=whole)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _delimiter(lines: list[str]) -> str:
    """The delimiter that cuts most lines into as many cells as the first."""
    best, chosen = (0.0, 0), ","
    for delimiter in DELIMITERS:
        rows = [row for row in csv.reader(io.StringIO("".join(lines)), delimiter=delimiter) if row]
        width = len(rows[0])
        if width > 1:
            alike = sum(len(row) == width for row in rows) / len(rows)
            if (round(alike, 1), width) > best:
                best, chosen = (round(alike, 1), width), delimiter
    return chosen
