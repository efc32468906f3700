"""Data for the command line: a well-known table by name, or a file with a target column."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.cli.errors import UserError
from weald.explain._view import is_missing

BUILT_IN = ("iris", "wine", "digits", "breast_cancer", "diabetes")
ENDINGS = (".csv", ".csv.gz", ".parquet")

# Whole numbers with at most this many different values are read as classes.
MOST_CLASSES = 20

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Table:
    """Columns to learn from, what to learn, and the rows' weights."""

    source: str
    X: Any
    """A NumPy array, or a data frame of whichever library read the file."""
    names: list[str]
    target: str
    y: NDArray[Any]
    weight_name: str | None = None
    weight: NDArray[np.float64] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def rows(self, index: NDArray[np.intp]) -> Any:
        """Some rows of X, in the kind of table X is."""
        if isinstance(self.X, np.ndarray):
            return self.X[index]
        return _frame(self.X)[index].to_native()


def load(
    data: str, target: str | None, weight: str | None = None, drop: Iterable[str] = ()
) -> Table:
    """Read a built-in table or a file, and set the weight and dropped columns aside."""
    if data in BUILT_IN:
        if target is not None:
            raise UserError(f"--target is for files: {data} comes with its own target.")
        table = _built_in(data)
    else:
        table = _from_file(data, target)
    for name in drop:
        _check_column("--drop", name, table.names)
    if weight is not None:
        table = _with_weight(table, weight)
    unwanted = {*drop, *([weight] if weight is not None else [])}
    kept = [name for name in table.names if name not in unwanted]
    if not kept:
        raise UserError("No column is left to learn from; drop fewer columns.")
    if len(kept) < len(table.names):
        table = replace(table, X=_select(table, kept), names=kept)
    return table


def guess_task(y: NDArray[Any]) -> Task:
    """Classification for labels and for a few repeated whole numbers, else regression."""
    if y.dtype.kind not in "iuf":
        return "classification"
    values = np.unique(y)
    whole = bool(np.all((values == np.round(values)) & (np.abs(values) < 2**53)))
    few = len(values) <= min(MOST_CLASSES, len(y) / 2)
    return "classification" if whole and few else "regression"


def suggestion(name: str, choices: Iterable[str]) -> str:
    """A half-sentence with the closest choice, or nothing if none is close."""
    close = difflib.get_close_matches(name, list(choices), n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def _built_in(name: str) -> Table:
    from sklearn import datasets

    if name == "diabetes":
        bunch = datasets.load_diabetes(scaled=False)  # in real units, so the rules can be read
        y = bunch.target
    else:
        bunch = getattr(datasets, f"load_{name}")()
        y = np.asarray(bunch.target_names)[bunch.target]
    names = [str(column) for column in bunch.feature_names]
    target = {"iris": "species", "wine": "cultivar", "digits": "digit"}.get(name, "target")
    return Table(source=name, X=bunch.data, names=names, target=target, y=y)


def _from_file(data: str, target: str | None) -> Table:
    path = Path(data)
    if not path.exists():
        file_like = path.suffix or len(path.parts) > 1
        hint = suggestion(data, BUILT_IN)
        if file_like and not hint:
            raise UserError(f"There is no file {data}.")
        raise UserError(
            f"Unknown data {data!r}: give a file or one of {', '.join(BUILT_IN)}.{hint}"
        )
    if not path.name.lower().endswith(ENDINGS):
        raise UserError(f"Cannot read {data}: its name must end in {', '.join(ENDINGS)}.")
    if target is None:
        raise UserError("A file needs --target, the name of the column to predict.")
    frame = _frame(_read(path))
    names = list(frame.columns)
    _check_column("--target", target, names)
    if not len(frame):
        raise UserError(f"{data} has no rows.")
    y = _labels(frame[target], target)
    names.remove(target)
    if not names:
        raise UserError(f"{data} has no column besides the target {target!r}.")
    X = frame.select(names).to_native()
    return Table(source=data, X=X, names=names, target=target, y=y)


def _read(path: Path) -> Any:
    """The file as a data frame of the first library that is installed."""
    is_parquet = path.suffix.lower() == ".parquet"
    installed = [lib for lib in ("pandas", "pyarrow", "polars") if importlib.util.find_spec(lib)]
    if is_parquet and "pyarrow" not in installed:
        installed = [lib for lib in installed if lib != "pandas"]  # pandas reads it by pyarrow
    if not installed:
        raise UserError(
            f"Reading {path.name} needs pandas with pyarrow, or polars; "
            "install one, for example: pip install polars"
        )
    import narwhals.stable.v2 as nw

    read: Any = nw.read_parquet if is_parquet else nw.read_csv
    try:
        return read(str(path), backend=installed[0]).to_native()
    except Exception as error:  # each library has errors of its own for a damaged file
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        raise UserError(f"Cannot read {path}: {reason}") from error


def _frame(native: Any) -> Any:
    import narwhals.stable.v2 as nw

    return nw.from_native(native, eager_only=True)


def _labels(column: Any, name: str) -> NDArray[Any]:
    """Target column as an array; text and categories as objects."""
    cells = column.to_list()
    n_missing = sum(map(is_missing, cells))
    if n_missing:
        raise UserError(
            f"The target column {name!r} has {n_missing} missing values; remove these rows first."
        )
    kinds = {type(cell) for cell in cells}
    if kinds == {bool} or kinds <= {int, float}:
        return np.asarray(cells)
    if kinds <= {int, float, Decimal}:
        return np.asarray([float(cell) for cell in cells])
    if str in kinds:
        return np.asarray([str(cell) for cell in cells], dtype=object)
    shown = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise UserError(f"The target column {name!r} must hold numbers or text, not {shown}.")


def _with_weight(table: Table, name: str) -> Table:
    if name == table.target:
        raise UserError(f"--weight and --target both name the column {name!r}.")
    _check_column("--weight", name, table.names)
    if isinstance(table.X, np.ndarray):
        cells = table.X[:, table.names.index(name)].tolist()
    else:
        cells = _frame(table.X)[name].to_list()
    try:
        weight = np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    except (TypeError, ValueError) as error:
        raise UserError(f"The weight column {name!r} must hold numbers.") from error
    if not np.all(np.isfinite(weight) & (weight >= 0)) or not weight.sum() > 0:
        raise UserError(
            f"The weight column {name!r} must hold numbers of at least 0, none missing "
            "and not all 0."
        )
    return replace(table, weight_name=name, weight=weight)


def _select(table: Table, kept: list[str]) -> Any:
    if isinstance(table.X, np.ndarray):
        return table.X[:, [table.names.index(name) for name in kept]]
    return _frame(table.X).select(kept).to_native()


def _check_column(option: str, name: str, names: list[str]) -> None:
    if name not in names:
        shown = ", ".join(names[:20]) + (f", +{len(names) - 20} more" if len(names) > 20 else "")
        raise UserError(
            f"{option} {name!r} is not a column; the columns are: {shown}.{suggestion(name, names)}"
        )
