"""What is given to ``fit`` of gradient boosting: rows with targets, weights and offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald.input.table import Table, check_weights, check_X_fit, check_X_predict
from weald.input.holdout import Rows, given_validation, reading_validation
from weald.input.raw_table import keep_X_fit, keep_X_predict, take_rows

__all__ = ["Sample", "check_offset", "read_rows", "read_validation"]

FloatArray = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sample(Rows):
    """Rows with what else belongs to each of them.

    Attributes
    ----------
    offset : array of shape (n, 1) or (n, n_scores), optional
        Added to the scores.
    raw : table as the user gave it, if somebody asks for it
    numbers : array of shape (n,), optional
        Numbers of the rows in the user's table; None: 0, 1, 2, ...
    """

    offset: FloatArray | None = None
    raw: Any = None
    numbers: Numbers | None = None

    def take(self, rows: Numbers) -> Sample:
        """Some of the rows."""
        one = super().take(rows)
        return Sample(
            *(one.X, one.y, one.weights),
            offset=None if self.offset is None else self.offset[rows],
            raw=one.X if self.raw is self.X else _some(self.raw, rows),
            numbers=rows if self.numbers is None else self.numbers[rows],
        )

    def number(self, row: int) -> int:
        """Number of a row in the user's table."""
        return row if self.numbers is None else int(self.numbers[row])


def _some(table: Any, rows: Numbers) -> Any:
    return None if table is None else take_rows(table, rows)


def read_rows(
    ensemble: Any, X: Any, y: Any, sample_weight: Any, offset: Any, *, raw: bool
) -> tuple[Sample, Table | None]:
    """Check the training data; rows of no weight count as absent.

    Parameters
    ----------
    ensemble : estimator
        Gets what is known of columns and classes. Its ``_read_target(y, n)`` reads targets, its
        ``_weigh(target, weights)`` adds what classes weigh.
    X, y, sample_weight, offset : as given to ``fit``
    raw : bool
        The table as it came is needed too.

    Returns
    -------
    the rows, and the meaning of their columns if the members are trees of weald
    """
    table = None
    if ensemble.estimator is None:
        table = check_X_fit(ensemble, X, categorical_features=ensemble.categorical_features)
    given: Any = keep_X_fit(ensemble, X) if raw or table is None else None
    n = given.shape[0] if table is None else len(table.X)
    target = ensemble._read_target(y, n)
    weights = ensemble._weigh(target, check_weights(sample_weight, n))
    added = check_offset(offset, n)
    if table is not None:
        table = table.without_weightless_categories(weights)
        ensemble.categories_ = list(table.categories)
    else:
        ensemble.__dict__.pop("categories_", None)  # of trees that were here before
    matrix = given if table is None else table.X
    rows = Sample(matrix, target, weights, offset=added, raw=given)
    present = rows.present()
    assert isinstance(present, Sample)
    return present, table


def read_validation(
    ensemble: Any, X: Any, y: Any, sample_weight: Any, offset: Any, *, raw: bool
) -> Sample | None:
    """Check the rows that are given to judge by, if there are any."""
    if not given_validation(X, y, sample_weight):
        if offset is not None:
            raise ValueError("offset_val belongs to the rows of X_val, which is not given.")
        return None
    with reading_validation():
        matrix: Any = None
        if ensemble.estimator is None:
            matrix = check_X_predict(ensemble, X)
        given = keep_X_predict(ensemble, X) if raw or matrix is None else None
        matrix = given if matrix is None else matrix
        n = matrix.shape[0]
        target = ensemble._read_target(y, n, again=True)
        weights = check_weights(sample_weight, n)
        rows = Sample(matrix, target, weights, offset=check_offset(offset, n), raw=given)
    present = rows.present()
    assert isinstance(present, Sample)
    return present


def check_offset(offset: Any, n: int, n_scores: int | None = None) -> FloatArray | None:
    """Read offsets: n finite numbers, or n rows with one for each score.

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
    wide = array.ndim == 2 and (n_scores is None or array.shape[1] in (1, n_scores))
    if not wide or len(array) != n:
        several = "" if n_scores in (None, 1) else f" or ({n}, {n_scores})"
        raise ValueError(
            f"offset must have shape ({n},){several}, one number for each row of X, got "
            f"{np.shape(offset)}."
        )
    if not np.isfinite(array).all():
        row = int((~np.isfinite(array)).any(axis=1).argmax())
        raise ValueError(f"offset must be finite, got {array[row].tolist()[0]} in row {row}.")
    return array
