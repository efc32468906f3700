"""The cells of a column, as they stand in a file, and how they become numbers or labels.

Whatever the library that reads the file, a column ends as floats with NaN for missing, or as codes
with the labels they stand for, and the same cells give the same numbers and labels.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "BLANKS",
    "ArrowText",
    "Cells",
    "Coded",
    "Numbers",
    "PlainText",
    "finite",
    "infinite_words",
    "join",
]

FloatArray = npt.NDArray[np.float64]

# Cells that are missing values in any column, and those that are so among numbers.
BLANKS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "#N/A", "<NA>")
NUMBER_BLANKS = ("?", "-", "--", ".", "n/a", "none", "None", "missing", "unknown")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.I)


@dataclass(frozen=True, eq=False)
class Coded:
    """Labels of rows: codes, -1 for missing, and the labels they stand for."""

    codes: npt.NDArray[np.int32]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.codes)

    def texts(self) -> npt.NDArray[Any]:
        """The label of every row; None where it is missing."""
        labels = np.empty(len(self.labels) + 1, dtype=object)
        labels[:-1] = self.labels
        return labels[self.codes]


class Cells(ABC):
    """A column, or a part of it, as it stands in a file."""

    comma: bool = False  # numbers have a decimal comma

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @abstractmethod
    def numbers(self, blanks: Collection[str] = ()) -> FloatArray | None:
        """The cells as numbers, NaN for missing; None if some cell is no number.

        Parameters
        ----------
        blanks : collection of str
            Cells that count as missing, beside the usual ones.
        """

    @abstractmethod
    def coded(self) -> Coded:
        """The cells as labels, without the spaces around them."""

    def decimal_commas(self) -> bool:
        """Whether the cells, if they are numbers, have decimal commas."""
        return False

    def not_number(self, blanks: Collection[str] = ()) -> tuple[int, str] | None:
        """The first row whose cell is no number, and that cell."""
        coded, odd = self.not_numbers(blanks)
        rows = np.flatnonzero(np.isin(coded.codes, odd))
        return (int(rows[0]), coded.labels[coded.codes[rows[0]]]) if len(rows) else None

    def not_numbers(self, blanks: Collection[str] = ()) -> tuple[Coded, list[int]]:
        """The cells as labels, and the codes of those labels that are no numbers."""
        coded = self.coded()
        odd = [k for k, label in enumerate(coded.labels) if not self._is_number(label, blanks)]
        return coded, odd

    def _is_number(self, label: str, blanks: Collection[str]) -> bool:
        text = label.replace(",", ".") if self.comma else label
        return text in blanks or bool(_NUMBER.fullmatch(text))


@dataclass(frozen=True, eq=False)
class Numbers(Cells):
    """Cells that are numbers already, of a typed file or a bundled table."""

    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self, blanks: Collection[str] = ()) -> FloatArray:
        """The numbers."""
        return self.values

    def coded(self) -> Coded:
        """The numbers as text, whole ones without a point."""
        present = ~np.isnan(self.values)
        distinct, inverse = np.unique(self.values[present], return_inverse=True)
        codes = np.full(len(self.values), -1, dtype=np.int32)
        codes[present] = inverse
        return Coded(codes, [number_text(value) for value in distinct.tolist()])


@dataclass(frozen=True, eq=False)
class PlainText(Cells):
    """Cells of text, read without other libraries."""

    cells: list[str | None]
    comma: bool = False

    def __len__(self) -> int:
        return len(self.cells)

    def numbers(self, blanks: Collection[str] = ()) -> FloatArray | None:
        """By Python's own reading of numbers."""
        missing = {*BLANKS, *blanks}
        values = np.full(len(self.cells), np.nan)
        for i, cell in enumerate(self.cells):
            text = "" if cell is None else cell.strip()
            if text not in missing:
                if self.comma:
                    text = text.replace(",", ".")
                if not _NUMBER.fullmatch(text):
                    return None
                values[i] = float(text)
        return values

    def decimal_commas(self) -> bool:
        """Whether there is a comma, where it is one of decimals."""
        return self.comma and any("," in cell for cell in self.cells if cell is not None)

    def coded(self) -> Coded:
        """Labels in the order in which they come."""
        lookup: dict[str, int] = dict.fromkeys(BLANKS, -1)
        labels: list[str] = []
        codes = np.empty(len(self.cells), dtype=np.int32)
        for i, cell in enumerate(self.cells):
            text = "" if cell is None else cell.strip()
            code = lookup.get(text)
            if code is None:
                code = lookup[text] = len(labels)
                labels.append(text)
            codes[i] = code
        return Coded(codes, labels)


@dataclass(frozen=True, eq=False)
class ArrowText(Cells):
    """Cells of text in Arrow's memory; the usual blanks are missing already, where not padded."""

    array: Any
    comma: bool = False

    def __len__(self) -> int:
        return len(self.array)

    def numbers(self, blanks: Collection[str] = ()) -> FloatArray | None:
        """By Arrow; first as the cells are, then trimmed and mended."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = _cast(self.array)
        if values is None:
            text = pc.utf8_trim_whitespace(self.array)
            missing = pc.is_in(text, value_set=pa.array([*BLANKS, *blanks], pa.string()))
            text = pc.if_else(missing, pa.scalar(None, pa.string()), text)
            if self.comma:
                text = pc.replace_substring(text, ",", ".")
            text = pc.replace_substring_regex(text, r"^\+", "")
            values = _cast(text)
        return values

    def decimal_commas(self) -> bool:
        """Whether there is a comma, where it is one of decimals."""
        import pyarrow.compute as pc

        return self.comma and bool(pc.any(pc.match_substring(self.array, ",")).as_py())

    def coded(self) -> Coded:
        """By Arrow's dictionaries; labels that differ by the spaces around them are one."""
        import pyarrow as pa

        array = self.array
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        encoded = array.dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        return _merged(codes, encoded.dictionary.to_pylist())


def join(parts: Sequence[Cells]) -> Cells:
    """Parts of a column as one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Numbers):
        return Numbers(np.concatenate([part.numbers() for part in parts]))
    if isinstance(first, ArrowText):
        import pyarrow as pa

        chunks = [chunk for part in parts for chunk in _chunks(part)]
        return ArrowText(pa.chunked_array(chunks, pa.string()), first.comma)
    assert isinstance(first, PlainText)
    cells = [cell for part in parts for cell in part.cells]  # type: ignore[attr-defined]
    return PlainText(cells, first.comma)


def finite(numbers: FloatArray) -> tuple[FloatArray, int]:
    """Numbers with NaN in place of the infinite ones, and how many these were.

    A cell such as ``inf`` or ``1e999`` is what a division by zero left, not a number to learn from.
    """
    infinite = np.isinf(numbers)
    n = int(np.count_nonzero(infinite))
    return (np.where(infinite, np.nan, numbers), n) if n else (numbers, 0)


def infinite_words(name: str, n: int) -> str:
    """The sentence about the infinite cells of a column.

    >>> infinite_words("speed", 1)
    'speed: 1 infinite number is read as missing.'
    """
    return f"{name}: {n:,} infinite number{'s are' if n > 1 else ' is'} read as missing."


def number_text(value: float) -> str:
    """A number as text, a whole one without a point.

    >>> number_text(3.0), number_text(0.5)
    ('3', '0.5')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)


def _chunks(part: Any) -> list[Any]:
    array = part.array
    return list(array.chunks) if hasattr(array, "chunks") else [array]


def _cast(text: Any) -> FloatArray | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        floats = pc.cast(text, pa.float64())
    except pa.ArrowInvalid:
        return None
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def _merged(codes: npt.NDArray[np.int32], labels: list[str]) -> Coded:
    """Trim labels, make one of those that are then alike, and drop those that mean missing."""
    trimmed = [label.strip() for label in labels]
    if trimmed == labels and not set(BLANKS) & set(labels):
        return Coded(codes, labels)
    lookup: dict[str, int] = dict.fromkeys(BLANKS, -1)
    kept: list[str] = []
    new = np.full(len(labels) + 1, -1, dtype=np.int32)  # code -1 picks the last entry, -1 again
    for k, label in enumerate(trimmed):
        if label not in lookup:
            lookup[label] = len(kept)
            kept.append(label)
        new[k] = lookup[label]
    return Coded(new[codes], kept)
