"""The one rule of early stopping."""

from __future__ import annotations

from math import inf, isnan

__all__ = ["Stopping"]


class Stopping:
    """Stop when a score has not risen by more than `tol` over the last `patience` rounds.

    Parameters
    ----------
    patience : int or None
        None never stops.
    tol : float

    Attributes
    ----------
    best : int
        The round, counted from 1, that was best; the first of equals.

    Examples
    --------
    >>> rule = Stopping(patience=2, tol=0.0)
    >>> for score in (0.5, 0.7, 0.8, 0.8, 0.8):
    ...     better = rule.note(score)
    >>> rule.rests, rule.best
    (True, 3)
    """

    def __init__(self, patience: int | None, tol: float = 0.0) -> None:
        self.patience, self.tol = patience, tol
        self._best: list[float] = []  # so far, after each round
        self.best = 1

    def note(self, score: float) -> bool:
        """A round has this score, higher is better; whether it is the best so far."""
        score = -inf if isnan(score) else score
        before = self._best[-1] if self._best else -inf
        self._best.append(max(before, score))
        if score > before:
            self.best = len(self._best)
        return score > before

    def back_to(self, rounds: int) -> None:
        """Forget what came after so many rounds."""
        self._best = self._best[:rounds]
        self.best = self._best.index(self._best[-1]) + 1 if self._best else 1

    @property
    def rests(self) -> bool:
        """It is time to stop."""
        if self.patience is None or len(self._best) <= self.patience:
            return False
        before = self._best[-1 - self.patience]
        return before > -inf and self._best[-1] <= before + self.tol
