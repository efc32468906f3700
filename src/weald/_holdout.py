"""Rows to learn from, rows held out to judge by, and the rule that stops when they see no gain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from weald._out_of_bag import first_flat
from weald._raw_table import take_rows
from weald.losses import Loss

__all__ = ["Rows", "Watch", "hold_out"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with its targets and weights.

    Attributes
    ----------
    X : float matrix, or a table as the user gave it
    y : array of shape (n,)
        Numbers, or 0 and 1.
    weights : array of shape (n,), optional
    """

    X: Any
    y: FloatArray
    weights: FloatArray | None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def shares(self) -> FloatArray:
        """Weights that sum to 1."""
        weights = np.ones(len(self)) if self.weights is None else self.weights
        shares: FloatArray = weights / weights.sum()
        return shares

    def take(self, rows: npt.NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Rows(take_rows(self.X, rows), self.y[rows], weights)

    def present(self) -> Rows:
        """The rows of positive weight: the others count as absent."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))


def hold_out(rows: Rows, fraction: float, seed: int, *, classes: bool) -> tuple[Rows, Rows]:
    """Draw rows to be held out, of each class alike where there are enough of them.

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
    n = len(rows)
    held = int(np.ceil(fraction * n))
    if held >= n:
        raise ValueError(
            f"validation_fraction={fraction:g} leaves no row to learn from, n_samples={n}: give "
            "more rows, X_val and y_val, or n_iter_no_change=None."
        )
    strata = None
    if classes:
        counts = np.unique(rows.y, return_counts=True)[1]
        strata = rows.y if min(held, n - held) >= len(counts) and counts.min() > 1 else None
    learn, judge = train_test_split(
        np.arange(n), test_size=held, random_state=seed, stratify=strata
    )
    return rows.take(np.sort(learn)), rows.take(np.sort(judge))


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
            self._shares = self.held.shares
            self._note()

    def add(self, part: FloatArray) -> None:
        """A round adds this to the scores of the held-out rows."""
        self._F += part
        self._note()

    def _note(self) -> None:
        assert self.held is not None
        self.curve.append(float((self._shares * self.loss.value(self.held.y, self._F)).sum()))

    def stops(self, train_losses: list[float]) -> bool:
        """Whether the loss has been flat for too long."""
        if self.patience is None:
            return False
        watched = train_losses if self.held is None else self.curve
        falls = [-value for value in watched]
        return first_flat(falls, self.patience, self.tol) is not None
