"""A file as a training table: what to learn from, what to learn, and a recipe for other files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from weald.dataset.cells import (
    NUMBER_BLANKS,
    ArrowText,
    Cells,
    Coded,
    FloatArray,
    Numbers,
    PlainText,
    finite,
    infinite_words,
    join,
)
from weald.dataset.columns import judge, mixed_words
from weald.dataset.errors import DataError, left_out_words, named
from weald.dataset.frames import make_frame
from weald.dataset.recipe import ColumnRule, LeftOut, Recipe, check_column
from weald.dataset.row_keys import keys_of, sample_keys
from weald.dataset.sources import Block, Source

__all__ = ["Task", "Training", "read_target", "read_training", "read_weights"]

Task = Literal["classification", "regression"]

# Whole numbers with at most this many different values are read as classes.
MOST_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Training:
    """A training table.

    Attributes
    ----------
    source : str
    X : data frame, or array without any library of data frames
    y : array of shape (n,)
        Labels, or numbers.
    weights : array of shape (n,) or None
    groups : array of shape (n,) or None
        A number for each group.
    recipe : Recipe
    notes : tuple of str
        What was done to the data, in sentences.
    categories : dict
        Labels of the categorical columns.
    reading : tuple of str
        How the file is written where it is not plain CSV, in a few words each.
    keys : list of str
        By which other files can tell whether they have the same rows.
    """

    source: str
    X: Any
    y: npt.NDArray[Any]
    weights: FloatArray | None
    groups: npt.NDArray[np.int32] | None
    recipe: Recipe
    notes: tuple[str, ...]
    categories: dict[str, list[str]]
    reading: tuple[str, ...]
    keys: list[str]

    def __len__(self) -> int:
        return len(self.y)


def read_training(
    source: Source,
    target: str,
    *,
    weight: str | None = None,
    group: str | None = None,
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    task: Task | None = None,
) -> Training:
    """Read a file and decide what its columns are.

    Parameters
    ----------
    source : Source
    target : str
        The column to predict.
    weight, group : str, optional
        Columns of row weights, and of groups.
    drop, keep : iterables of str
        Columns to leave out, and to use whatever they look like.
    task : {"classification", "regression"}, optional
        Default: decided by the target's values.
    """
    drop, keep = tuple(drop), tuple(keep)
    _check_names(source, target, weight, group, drop, keep)
    cells = _whole(source, [name for name in source.names if name not in drop])
    notes = list(source.notes)
    cells = _with_target(cells, target, task, notes)
    if weight is not None:
        cells = _with_weight(cells, weight, notes)
    guessed = task is None
    y, task = read_target(cells[target], target, task)
    if guessed and task == "classification" and y.dtype.kind in "iu" and len(np.unique(y)) > 2:
        notes.append(
            f"{target} holds {len(np.unique(y))} different whole numbers, which are taken for "
            "classes; use --task regression if it is a quantity."
        )
    rules: list[ColumnRule] = []
    values: dict[str, FloatArray | Coded] = {}
    left_out = [LeftOut(name, "as asked for") for name in drop]
    left_out += [
        LeftOut(name, f"it has the type {kind}")
        for name, kind in source.unusable.items()
        if name not in drop
    ]
    for name, column in cells.items():
        if name in (target, weight, group):
            continue
        judged = judge(name, column, keep=name in keep)
        notes += judged.notes
        if judged.left_out is not None:
            left_out.append(judged.left_out)
        if judged.rule is not None:
            rules.append(judged.rule)
            values |= zip(judged.rule.features, judged.values, strict=True)
    if not rules:
        why = "; ".join(f"{one.name}: {one.reason}" for one in left_out[:5])
        raise DataError(
            f"{source.name} has no column to learn from besides the target {target!r}"
            + (f" ({why}); use --keep for columns that are wanted." if why else ".")
        )
    recipe = Recipe(target, task, tuple(rules), tuple(left_out), weight, group)
    if len(values) < len(recipe.features):
        raise DataError(
            "The parts of a date have names that are columns already: rename those columns."
        )
    return Training(
        source=source.name,
        X=make_frame(values),
        y=y,
        weights=None if weight is None else read_weights(cells[weight], weight),
        groups=None if group is None else _groups(cells[group], group),
        recipe=recipe,
        notes=tuple(notes),
        categories={
            name: sorted(one.labels) for name, one in values.items() if isinstance(one, Coded)
        },
        keys=sample_keys(keys_of(values, y)),
        reading=(*source.reading, *(["decimal commas"] * _decimal_commas(cells, rules, y, target))),
    )


def _decimal_commas(
    cells: Block, rules: list[ColumnRule], y: npt.NDArray[Any], target: str
) -> bool:
    numbers = [rule.name for rule in rules if rule.kind == "number"]
    numbers += [target] if y.dtype.kind == "f" else []
    return any(cells[name].decimal_commas() for name in numbers)


def read_target(cells: Cells, name: str, task: Task | None = None) -> tuple[npt.NDArray[Any], Task]:
    """The target as labels or numbers, and the task that it makes.

    Parameters
    ----------
    cells : Cells
        None of them missing or infinite.
    name : str
    task : {"classification", "regression"}, optional
        Default: classification for text and for a few repeated whole numbers, else regression.
    """
    numbers = cells.numbers()
    if numbers is None:
        coded = cells.coded()
        if task == "regression":
            bad = cells.not_number()
            shown = "" if bad is None else f", such as {bad[1]!r}"
            raise DataError(
                f"The target {name!r} holds text{shown}, so it cannot be a regression; use --task "
                "classification, or correct these cells."
            )
        if len(coded.labels) > max(len(cells) / 2, 2):
            mixed = mixed_words(cells)
            raise DataError(
                f"The target {name!r} has {len(coded.labels):,} different texts in {len(cells):,} "
                "rows: "
                + (mixed or "it names rows rather than classes; choose another --target")
                + "."
            )
        return coded.texts(), "classification"
    values = np.unique(numbers)
    whole = bool(np.all((values == np.round(values)) & (np.abs(values) < 2**53)))
    if task is None:
        few = whole and len(values) <= min(MOST_CLASSES, len(numbers) / 2)
        task = "classification" if few else "regression"
    if task == "classification":
        return (numbers.astype(np.int64) if whole else numbers), task
    return numbers, task


def read_weights(cells: Cells, name: str) -> FloatArray:
    """Row weights of a file, or of a block of it: numbers of at least 0, none missing."""
    weights = cells.numbers()
    if weights is None or not (np.isfinite(weights) & (weights >= 0)).all():
        raise _no_weights(name)
    return weights


def _no_weights(name: str) -> DataError:
    return DataError(
        f"The weight column {name!r} must hold numbers of at least 0, none missing and not all 0."
    )


def _groups(cells: Cells, name: str) -> npt.NDArray[np.int32]:
    coded = cells.coded()
    if (coded.codes < 0).any():
        raise DataError(f"The group column {name!r} has missing values: fill them in.")
    if len(coded.labels) < 2:
        raise DataError(f"The group column {name!r} has one group only: there is none to predict.")
    numbers = cells.numbers()
    values = coded.texts() if numbers is None else numbers
    return np.unique(values, return_inverse=True)[1].astype(np.int32)  # in their order


def _check_names(
    source: Source,
    target: str,
    weight: str | None,
    group: str | None,
    drop: tuple[str, ...],
    keep: tuple[str, ...],
) -> None:
    roles = [("--target", target), ("--weight", weight), ("--group", group)]
    roles += [("--drop", name) for name in drop] + [("--keep", name) for name in keep]
    given = [(option, name) for option, name in roles if name is not None]
    for option, name in given:
        try:
            check_column(name, source, option)
        except DataError as error:
            if any(_is_number(one) for one in source.names):
                raise DataError(
                    f"The first line of {source.name} holds numbers ({named(source.names, 5)}): it "
                    "must hold the names of the columns."
                ) from error
            if len(source.names) == 1:
                raise DataError(
                    f"{source.name} has one column only, called {source.names[0]!r}: its first "
                    "line must hold the names of the columns, and cells must be divided by commas, "
                    "semicolons, tabs or vertical bars."
                ) from error
            raise
    first: dict[str, str] = {}
    for option, name in given:
        if first.setdefault(name, option) != option:
            raise DataError(f"{first[name]} and {option} both name the column {name!r}.")
    for option, name in given:
        if name in source.unusable and option != "--drop":
            raise DataError(
                f"{option} {name!r} has the type {source.unusable[name]}: choose a column of "
                "numbers or text."
            )


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _whole(source: Source, wanted: list[str]) -> Block:
    wanted = [name for name in wanted if name not in source.unusable]
    blocks = [block for block in source.blocks(wanted) if len(next(iter(block.values())))]
    if not blocks:
        raise DataError(f"{source.name} has no rows.")
    return {name: join([block[name] for block in blocks]) for name in wanted}


def _with_target(cells: Block, target: str, task: Task | None, notes: list[str]) -> Block:
    """Leave out the rows whose target is missing."""
    numbers = cells[target].numbers()
    if numbers is None:
        numbers = _quantities(cells[target], task)
        if numbers is not None:
            marks = cells[target].not_number()
            shown = "" if marks is None else repr(marks[1])
            notes.append(f"{target}: {shown} among its numbers is read as missing.")
    if numbers is not None:
        numbers, infinite = finite(numbers)
        if infinite:
            notes.append(infinite_words(target, infinite))
    missing = cells[target].coded().codes < 0 if numbers is None else np.isnan(numbers)
    n = int(missing.sum())
    if not n:
        return cells
    if n == len(missing):
        raise DataError(f"The target {target!r} is empty: there is nothing to learn.")
    share = n / len(missing)
    words = f"has no {target} and is" if n == 1 else f"have no {target} and are"
    notes.append(f"{n:,} of {len(missing):,} rows ({share:.1%}) {words} left out.")
    rows = np.flatnonzero(~missing)
    return {name: taken(column, rows) for name, column in cells.items()}


def _quantities(cells: Cells, task: Task | None) -> FloatArray | None:
    """The numbers of a target that has marks of missing ones, if they are no classes."""
    numbers = None if task == "classification" else cells.numbers(NUMBER_BLANKS)
    if numbers is None or task == "regression":
        return numbers
    return None if len(np.unique(numbers[~np.isnan(numbers)])) <= MOST_CLASSES else numbers


def _with_weight(cells: Block, weight: str, notes: list[str]) -> Block:
    """Leave out the rows of weight 0, which count as absent."""
    weights = read_weights(cells[weight], weight)
    if weights.all():
        return cells
    if not weights.any():
        raise _no_weights(weight)
    notes.append(left_out_words(int((weights == 0).sum()), "of weight 0"))
    rows = np.flatnonzero(weights)
    return {name: taken(column, rows) for name, column in cells.items()}


def taken(cells: Cells, rows: npt.NDArray[np.intp]) -> Cells:
    """Some of the rows of a column."""
    if isinstance(cells, Numbers):
        return Numbers(cells.values[rows])
    if isinstance(cells, ArrowText):
        return ArrowText(cells.array.take(rows), cells.comma)
    text = cast(PlainText, cells)
    return PlainText([text.cells[i] for i in rows.tolist()], text.comma)
