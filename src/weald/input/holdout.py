"""Rows to learn from, rows held out to judge by, and the rule that stops when they see no gain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weald.members.out_of_bag import first_flat
from weald.input.raw_table import take_rows
from weald.input.row_weights import RowWeights
from weald.losses import Loss

__all__ = ["Rows", "Watch", "given_validation", "hold_out", "reading_validation"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with its targets and weights.

    Attributes
    ----------
    X : float matrix, or a table as the user gave it
    y : array of shape (n,)
        Numbers, or class codes.
    weights : array of shape (n,), optional
    """

    X: Any
    y: npt.NDArray[Any]
    weights: FloatArray | None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def row_weights(self) -> RowWeights:
        """The weights, to sum with."""
        return RowWeights(self.weights, len(self))

    def take(self, rows: npt.NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Rows(take_rows(self.X, rows), self.y[rows], weights)

    def present(self) -> Rows:
        """The rows of positive weight: the others count as absent."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))


def given_validation(X_val: Any, y_val: Any, sample_weight_val: Any) -> bool:
    """Whether there is a validation set; its parts come together or not at all."""
    if (X_val is None) != (y_val is None):
        given, missing = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
        raise ValueError(
            f"{given} is provided, but {missing} was not provided: X_val and y_val belong together."
        )
    if X_val is None and sample_weight_val is not None:
        raise ValueError("sample_weight_val weighs the rows of X_val, which is not given.")
    return X_val is not None


@contextmanager
def reading_validation() -> Iterator[None]:
    """Say in complaints that they are about the validation set."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"X_val, y_val or sample_weight_val: {error}") from error


def hold_out(rows: Rows, fraction: float, seed: int, *, classes: bool) -> tuple[Rows, Rows]:
    """Draw rows to be held out.

    Rows of no weight are absent from both sides. A row of each class stays to learn from; of the
    others every class gives its part, as nearly as can be.

    Parameters
    ----------
    rows : Rows
    fraction : float
        Share of the rows that is held out.
    seed : int
    classes : bool
        The targets are classes.

    Returns
    -------
    the rows to learn from, the rows held out
    """
    present = np.ones(len(rows), dtype=bool) if rows.weights is None else rows.weights > 0
    strata = rows.y if classes else np.zeros(len(rows))
    numbers = np.random.RandomState(seed)
    mixed = numbers.permutation(np.flatnonzero(present))
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
    # Every so manieth, so that no class is passed over that is large enough.
    places = ((np.arange(n_held) + numbers.uniform()) * (len(free) / n_held)).astype(np.intp)
    held = np.sort(free[places])
    return rows.take(np.setdiff1d(mixed, held)), rows.take(held)


@dataclass
class Watch:
    """The mean loss of the held-out rows after 0, 1, ... rounds; of the training rows without any.

    Parameters
    ----------
    loss : Loss
    held : Rows, optional
    init : float
        Score of every row before the first round.
    patience : int, optional
        Stop when the loss has not fallen by `tol` over so many rounds; None never stops.
    tol : float
    """

    loss: Loss
    held: Rows | None
    init: float
    patience: int | None
    tol: float
    curve: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.held is not None:
            self._F: FloatArray = np.full(len(self.held), self.init)
            self._rows = self.held.row_weights
            self._note()

    def add(self, part: FloatArray) -> None:
        """A round adds this to the scores of the held-out rows."""
        self._F += part
        self._note()

    def _note(self) -> None:
        assert self.held is not None
        self.curve.append(self._rows.mean(self.loss.value(self.held.y, self._F)))

    def stops(self, train_losses: list[float]) -> bool:
        """Whether the loss has been flat for too long."""
        if self.patience is None:
            return False
        watched = train_losses if self.held is None else self.curve
        falls = [-value for value in watched]
        return first_flat(falls, self.patience, self.tol) is not None
