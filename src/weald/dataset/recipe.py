"""What became of the columns of a training file, as plain data: other files are read by it.

It stands in the model file as JSON, so that predictions see the columns the fit saw.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from weald.dataset.ahead import read_ahead
from weald.dataset.cells import Cells, Coded, FloatArray, finite, infinite_words
from weald.dataset.dates import PARTS, PATTERNS, parse, parts
from weald.dataset.errors import DataError, named, suggestion
from weald.dataset.frames import make_frame
from weald.dataset.sources import Block, Source

__all__ = ["ColumnRule", "LeftOut", "Part", "Recipe", "infinite_notes"]

KINDS = ("number", "category", "date")
TASKS = ("classification", "regression")
_VERSION = 1


@dataclass(frozen=True)
class ColumnRule:
    """How a column of the file is used.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date"}
    blanks : tuple of str
        Cells that are missing values, beside the usual ones.
    pattern : str or None
        How its dates are written.
    parts : tuple of str
        The numbers made of its dates.
    """

    name: str
    kind: str
    blanks: tuple[str, ...] = ()
    pattern: str | None = None
    parts: tuple[str, ...] = ()

    @property
    def features(self) -> list[str]:
        """Names of the columns that the model sees."""
        return [f"{self.name}_{part}" for part in self.parts] or [self.name]

    def read(self, cells: Cells, first_row: int = 0) -> list[FloatArray | Coded]:
        """The columns that the model sees; `first_row` is the number of the first row."""
        if self.kind == "number":
            values = cells.numbers(self.blanks)
            if values is None:
                row, cell = cells.not_number(self.blanks) or (0, "")
                raise DataError(
                    f"Column {self.name!r} held numbers in fit, but row {first_row + row + 1} says "
                    f"{cell!r}: correct the cell, or empty it if the number is unknown."
                )
            return [values]
        coded = cells.coded()
        if self.kind == "category":
            return [coded]
        return list(parts(self._times(coded, first_row), self.parts))

    def _times(self, coded: Coded, first_row: int) -> npt.NDArray[np.datetime64]:
        assert self.pattern is not None
        known = parse(coded.labels, self.pattern)
        if known is None:
            bad = next(
                k for k, one in enumerate(coded.labels) if parse([one], self.pattern) is None
            )
            row = first_row + int(np.flatnonzero(coded.codes == bad)[0]) + 1
            raise DataError(
                f"Column {self.name!r} held dates written {self.pattern} in fit, but row {row} "
                f"says {coded.labels[bad]!r}: write it in the same way."
            )
        return np.append(known, np.datetime64("NaT", "s"))[coded.codes]


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a file, read by a recipe.

    Attributes
    ----------
    X : data frame, or array without any library of data frames
        What the model sees.
    cells : dict
        The cells as they stand in the file.
    columns : dict
        The columns of `X`, by name: numbers or labels.
    infinite : dict
        Columns of the file with infinite numbers, which are missing in `X`, and how many.
    """

    X: Any
    cells: Block
    columns: dict[str, FloatArray | Coded]
    infinite: dict[str, int]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


def infinite_notes(parts: Iterable[dict[str, int]]) -> list[str]:
    """A sentence for every column that had infinite numbers in some part of a file."""
    counts: Counter[str] = Counter()
    for one in parts:
        counts.update(one)
    return [infinite_words(name, n) for name, n in counts.items()]


@dataclass(frozen=True)
class LeftOut:
    """A column that the model does not see, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Recipe:
    """What became of the columns of a training file.

    Attributes
    ----------
    target : str
    task : {"classification", "regression"}
    columns : tuple of ColumnRule
        In the order in which the model sees them.
    left_out : tuple of LeftOut
    weight, group : str or None
        Columns of row weights, and of groups.

    Examples
    --------
    >>> recipe = Recipe("price", "regression", (ColumnRule("area", "number"),))
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    target: str
    task: str
    columns: tuple[ColumnRule, ...]
    left_out: tuple[LeftOut, ...] = ()
    weight: str | None = None
    group: str | None = None

    @property
    def features(self) -> list[str]:
        """Names of the columns that the model sees."""
        return [name for rule in self.columns for name in rule.features]

    def to_json(self) -> dict[str, Any]:
        """Plain data: dicts, lists, text."""
        return {"version": _VERSION, **json.loads(json.dumps(asdict(self)))}

    @classmethod
    def from_json(cls, content: Any) -> Recipe:
        """Make a recipe of plain data.

        Raises
        ------
        ValueError
            It is not what a recipe looks like.
        """
        if not isinstance(content, dict) or content.get("version") != _VERSION:
            raise ValueError("The model file has no recipe for columns that this version can read.")
        try:
            recipe = cls(
                target=content["target"],
                task=content["task"],
                columns=tuple(
                    ColumnRule(
                        name=rule["name"],
                        kind=rule["kind"],
                        blanks=tuple(rule["blanks"]),
                        pattern=rule["pattern"],
                        parts=tuple(rule["parts"]),
                    )
                    for rule in content["columns"]
                ),
                left_out=tuple(LeftOut(one["name"], one["reason"]) for one in content["left_out"]),
                weight=content["weight"],
                group=content["group"],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"The recipe of the model file lacks a part: {error}.") from error
        recipe._check()
        return recipe

    def _check(self) -> None:
        rules = self.columns
        optional = [self.weight, self.group, *(rule.pattern for rule in rules)]
        texts = [
            self.target,
            *(one for one in optional if one is not None),
            *(text for rule in rules for text in (rule.name, *rule.blanks)),
            *(text for one in self.left_out for text in (one.name, one.reason)),
        ]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("The recipe of the model file names a column by something not text.")
        dates = [rule for rule in rules if rule.kind == "date"]
        if (
            self.task not in TASKS
            or not rules
            or any(rule.kind not in KINDS for rule in rules)
            or any(rule.pattern not in PATTERNS or not rule.parts for rule in dates)
            or any(part not in PARTS for rule in rules for part in rule.parts)
            or len(set(self.features)) < len(self.features)
        ):
            raise ValueError("The recipe of the model file names unknown kinds of columns.")

    # --- reading another file ---------------------------------------------------------------------

    def needs(self, source: Source, others: tuple[str, ...] = ()) -> list[str]:
        """The columns to read of a file: those the model sees, and others; all must be there."""
        wanted = [rule.name for rule in self.columns]
        absent = [name for name in wanted if name not in source.names]
        if absent:
            hint = suggestion(absent[0], source.names)
            raise DataError(
                f"{source.name} lacks {len(absent)} of the {len(wanted)} columns that the model "
                f"needs: {named(absent)}.{hint}"
            )
        for name in wanted:
            if name in source.unusable:
                raise DataError(
                    f"Column {name!r} of {source.name} has the type {source.unusable[name]}, but "
                    "held numbers or text in fit."
                )
        for name in others:
            check_column(name, source)
        return [*wanted, *(name for name in dict.fromkeys(others) if name not in wanted)]

    def parts(self, source: Source, others: tuple[str, ...] = ()) -> Iterator[Part]:
        """A file as the model sees it, block by block.

        Parameters
        ----------
        source : Source
        others : tuple of str
            Columns whose cells are wanted beside.
        """
        wanted = self.needs(source, others)
        done = 0
        for block in read_ahead(source.blocks(wanted)):
            n = len(next(iter(block.values())))
            if n:
                yield self._part(block, done)
            done += n
        if not done:
            raise DataError(f"{source.name} has no rows.")

    def _part(self, block: Block, first_row: int) -> Part:
        columns: dict[str, FloatArray | Coded] = {}
        infinite: dict[str, int] = {}
        for rule in self.columns:
            values = rule.read(block[rule.name], first_row)
            if rule.kind == "number":
                values[0], n = finite(cast(FloatArray, values[0]))
                if n:
                    infinite[rule.name] = n
            columns |= zip(rule.features, values, strict=True)
        return Part(make_frame(columns), block, columns, infinite)


def check_column(name: str, source: Source, option: str = "") -> None:
    """Refuse a name that is no column of the file."""
    if name not in source.names:
        hint = suggestion(name, source.names)
        raise DataError(
            f"{option}{' ' if option else ''}{name!r} is not a column of {source.name}; the "
            f"columns are: {named(source.names, 20)}.{hint}"
        )
