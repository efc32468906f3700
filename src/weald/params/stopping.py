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
    best_round : int
        The round, counted from 1, that was best; the first of equals.

    Examples
    --------
    >>> rule = Stopping(patience=2, tol=0.0)
    >>> for score in (0.5, 0.7, 0.8, 0.8, 0.8):
    ...     better = rule.note(score)
    >>> rule.says_stop, rule.best_round
    (True, 3)
    """

    def __init__(self, patience: int | None, tol: float = 0.0) -> None:
        self.patience, self.tol = patience, tol
        self._best_scores: list[float] = []  # so far, after each round
        self.best_round = 1

    def note(self, score: float) -> bool:
        """A round has this score, higher is better; whether it is the best so far."""
        score = -inf if isnan(score) else score
        before = self._best_scores[-1] if self._best_scores else -inf
        self._best_scores.append(max(before, score))
        if score > before:
            self.best_round = len(self._best_scores)
        return score > before

    def back_to(self, rounds: int) -> None:
        """Forget what came after so many rounds."""
        self._best_scores = self._best_scores[:rounds]
        self.best_round = (
            self._best_scores.index(self._best_scores[-1]) + 1 if self._best_scores else 1
        )

    @property
    def says_stop(self) -> bool:
        """It is time to stop."""
        if self.patience is None or len(self._best_scores) <= self.patience:
            return False
        before = self._best_scores[-1 - self.patience]
        return before > -inf and self._best_scores[-1] <= before + self.tol
