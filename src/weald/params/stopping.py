"""The one rule of early stopping."""

from __future__ import annotations

from math import inf, isfinite, isnan

__all__ = ["Stopping"]


class Stopping:
    """Stop when a score has not risen by more than `tol` over the last `patience` rounds.

    A loss has a unit, so that no number fits all of them: there `tol` is a share of what was gained
    since the start. Gains are free of what a unit adds to a loss (that of "gamma" is shifted by it)
    and shares of them of what it multiplies.

    Parameters
    ----------
    patience : int or None
        None never stops.
    tol : float
        In the unit of the scores, or a share, if the first score is given.
    start : float, optional
        Score before the first round.

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

    A loss that falls from 1,000 to 400, and by a thousandth of that in the last two rounds:

    >>> rule = Stopping(patience=2, tol=0.01, start=-1000.0)
    >>> for loss in (600.0, 400.6, 400.3, 400.0):
    ...     better = rule.note(-loss)
    >>> rule.says_stop
    True
    """

    def __init__(self, patience: int | None, tol: float = 0.0, start: float | None = None) -> None:
        self.patience, self.tol, self.start = patience, tol, start
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
        before, best = self._best_scores[-1 - self.patience], self._best_scores[-1]
        # Not finite: a start of no use, such as a class that it gives no chance.
        gained = 1.0 if self.start is None or not isfinite(self.start) else best - self.start
        return before > -inf and best - before <= self.tol * max(gained, 0.0)
