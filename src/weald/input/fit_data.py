"""The one reader of what is given to ``fit``: table, targets, weights, offsets and validation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.input.ids import near_unique_words
from weald.input.labels import check_weights
from weald.input.raw_table import keep_X_fit, keep_X_predict, take_rows
from weald.input.row_weights import RowWeights
from weald.input.table import Table, check_X_fit, check_X_predict
from weald.params.warnings import NearUniqueWarning, warn_user
from weald.params.words import listed

__all__ = ["FitData", "Validation", "check_offset", "read_fit"]

Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FitData:
    """Rows with everything that belongs to each of them, checked.

    Attributes
    ----------
    X : float matrix for trees of the engine, else the table as the user gave it
    y : array of shape (n,) or (n, n_outputs)
        Class codes, or numbers.
    weights : array of shape (n,), optional
        Those of the classes included; not for validation rows that were given.
    table : Table, optional
        X and the meaning of its columns, for trees of the engine.
    offset : array of shape (n, 1) or (n, n_outputs), optional
        Added to the raw predictions.
    given : table as the user gave it, if somebody asks for it
    numbers : array of shape (n,), optional
        Numbers of the rows in the user's table; None: 0, 1, 2, ...
    validation : FitData, optional
        Rows that the members do not see.
    """

    X: Any
    y: npt.NDArray[Any]
    weights: FloatArray | None = None
    table: Table | None = None
    offset: FloatArray | None = None
    given: Any = None
    numbers: Numbers | None = None
    validation: FitData | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def row_weights(self) -> RowWeights:
        """The weights, to sum with."""
        return RowWeights(self.weights, len(self))

    @property
    def weight(self) -> float:
        """Sum of all weights."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    @property
    def filled_weights(self) -> FloatArray:
        """The weights; ones, if there are none."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def number(self, row: int) -> int:
        """Number of a row in the user's table."""
        return row if self.numbers is None else int(self.numbers[row])

    def take(self, rows: Numbers) -> FitData:
        """Some of the rows; not of the validation rows."""
        X = take_rows(self.X, rows)
        given = self.given
        if given is not None:
            given = X if given is self.X else take_rows(given, rows)
        return replace(
            self,
            X=X,
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            table=None if self.table is None else replace(self.table, X=X),
            offset=None if self.offset is None else self.offset[rows],
            given=given,
            numbers=rows if self.numbers is None else self.numbers[rows],
        )

    def present(self) -> FitData:
        """The rows of positive weight, of those for validation as well: others are absent."""
        held = None if self.validation is None else self.validation.present()
        rows = self
        if self.weights is not None and not self.weights.all():
            rows = self.take(np.flatnonzero(self.weights))
        return replace(rows, validation=held)

    def divided(self, fraction: float, seed: int, *, classes: bool) -> FitData:
        """Hold rows out for validation.

        Rows of no weight are absent from both sides. A row of each class stays to learn from; of
        the others every class gives its part, as nearly as can be.

        Parameters
        ----------
        fraction : float
            Share of the rows that is held out.
        seed : int
        classes : bool
            The targets are classes.
        """
        present = np.flatnonzero(self.filled_weights)
        strata = self.y if classes else np.zeros(len(self))
        numbers = np.random.RandomState(seed)
        mixed = numbers.permutation(present)
        by_class = mixed[np.argsort(strata[mixed], kind="stable")]
        first = np.unique(strata[by_class], return_index=True)[1]
        free = np.delete(by_class, first)
        n_held = min(max(1, round(fraction * len(mixed))), len(free))
        if n_held == 0:
            raise ValueError(
                "n_iter_no_change holds out rows for validation, but there is only 1 row"
                f"{' of each class' if classes else ''} (n_samples={len(mixed)}): give X_val and "
                "y_val, or n_iter_no_change=None."
            )
        # Evenly spaced, so that no class that is large enough is passed over.
        places = ((np.arange(n_held) + numbers.uniform()) * (len(free) / n_held)).astype(np.intp)
        held = np.sort(free[places])
        return replace(self.take(np.setdiff1d(mixed, held)), validation=self.take(held))


@dataclass(frozen=True)
class Validation:
    """Rows to judge by, as users give them to ``fit``."""

    X: Any = None
    y: Any = None
    sample_weight: Any = None
    offset: Any = None

    @property
    def given(self) -> bool:
        """Whether there are any; the parts come together or not at all."""
        if (self.X is None) != (self.y is None):
            given, missing = ("X_val", "y_val") if self.y is None else ("y_val", "X_val")
            raise ValueError(
                f"{given} is provided, but {missing} was not provided: X_val and y_val belong "
                "together."
            )
        if self.X is None and self.sample_weight is not None:
            raise ValueError("sample_weight_val weighs the rows of X_val, which is not given.")
        if self.X is None and self.offset is not None:
            raise ValueError("offset_val belongs to the rows of X_val, which is not given.")
        return self.X is not None


def read_fit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    tree: Any,
    reader: Any = None,
    offset: Any = None,
    validation: Validation | None = None,
    keep_given: bool = False,
) -> FitData:
    """Check what is given to ``fit``.

    Parameters
    ----------
    estimator : estimator
        Gets what is known of columns.
    X, y, sample_weight, offset : as given to ``fit``
    tree : tree estimator or None
        Whose ``categorical_features`` says what columns are, if the engine grows the members;
        None: they read the table themselves.
    reader : object, optional
        Its ``_read_target(y, n, again)`` reads targets (`again`: those of validation rows), its
        ``_row_weights(target, weights)`` adds what classes weigh; the estimator by default.
    validation : Validation, optional
    keep_given : bool
        The table as it came is needed too.
    """
    table = None
    if tree is not None:
        table = check_X_fit(estimator, X, categorical_features=tree.categorical_features)
    given: Any = keep_X_fit(estimator, X) if keep_given or table is None else None
    n = given.shape[0] if table is None else len(table.X)
    reader = estimator if reader is None else reader
    target = reader._read_target(y, n)
    own = check_weights(sample_weight, n)
    weights = reader._row_weights(target, own)
    added = check_offset(offset, n)
    if table is None:
        estimator.__dict__.pop("categories_", None)  # of trees that were here before
    else:
        table = table.without_weightless_categories(weights)
        estimator.categories_ = list(table.categories)
        estimator._newcomers = table.newcomers(own)  # without what classes weigh
        warn_of_near_unique(estimator, table, weights)
    held = None
    if validation is not None and validation.given:
        if offset is not None and validation.offset is None:
            raise ValueError(
                "offset is given, but no offset_val for the rows of X_val, whose losses would be "
                "on another scale."
            )
        with _reading_validation():
            held = _read_validation(estimator, validation, tree is not None, keep_given)
    matrix = given if table is None else table.X
    return FitData(matrix, target, weights, table, added, given, None, held)


def warn_of_near_unique(estimator: Any, table: Table, weights: FloatArray | None) -> None:
    """Say it if the categories of a column are different in nearly every row, as in an id."""
    found = table.near_unique(weights)
    if not found:
        return
    known = getattr(estimator, "feature_names_in_", range(len(table.categories)))
    names = [repr(known[j]) for j in found[:3]]
    more = [f"{len(found) - 3} more"] if len(found) > 3 else []
    several, words = len(found) > 1, listed([*names, *more])
    rows = int(np.count_nonzero(~np.isnan(table.X[:, found[0]])))
    warn_user(
        f"Column{'s' * several} {words} {'have' if several else 'has'} "
        f"{near_unique_words(table.n_categories[found[0]], rows)}: those of a single row "
        f"count as one, so drop the column{'s' * several}, or put in place what several rows "
        "share, such as a prefix, a group or a date.",
        NearUniqueWarning,
    )


def _read_validation(estimator: Any, rows: Validation, trees: bool, keep_given: bool) -> FitData:
    matrix: Any = check_X_predict(estimator, rows.X) if trees else None
    given = keep_X_predict(estimator, rows.X) if keep_given or matrix is None else None
    matrix = given if matrix is None else matrix
    n = matrix.shape[0]
    target = estimator._read_target(rows.y, n, again=True)
    weights = check_weights(rows.sample_weight, n)
    return FitData(matrix, target, weights, offset=check_offset(rows.offset, n), given=given)


@contextmanager
def _reading_validation() -> Iterator[None]:
    """Say in complaints that they are about the validation set."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X_val, y_val or sample_weight_val: {error}") from error


def check_offset(offset: Any, n: int, n_outputs: int | None = None) -> FloatArray | None:
    """Read offsets: n finite numbers, or n rows with one for each raw prediction.

    Examples
    --------
    >>> check_offset([0.5, 1.0], 2)
    array([[0.5],
           [1. ]])
    """
    if offset is None:
        return None
    try:
        array = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"offset must hold numbers, one for each row: {error}") from error
    if array.ndim == 1:
        array = array[:, None]
    wide = array.ndim == 2 and (n_outputs is None or array.shape[1] in (1, n_outputs))
    if not wide or len(array) != n:
        several = "" if n_outputs in (None, 1) else f" or ({n}, {n_outputs})"
        raise ValueError(
            f"offset must have shape ({n},){several}, one number for each row of X, got "
            f"{np.shape(offset)}."
        )
    if not np.isfinite(array).all():
        row = int((~np.isfinite(array)).any(axis=1).argmax())
        raise ValueError(f"offset must be finite, got {array[row].tolist()[0]} in row {row}.")
    return array
