"""What candidates may cost: a time limit, and no more folds for those without hope."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import numpy as np

from weald._engine import FloatArray
from weald.callbacks import TimeLimit
from weald.crossfit.fits import NO_TIME, CandidateFits, Job
from weald.crossfit.folds import Fold
from weald.crossfit.risks import Risk
from weald.fitting.listeners import check_callbacks
from weald.input.fit_data import FitData

__all__ = ["Budget"]

_HOPELESS = 0.05  # of what the best candidate gains over a constant
_SURELY = 3.0  # standard errors
_REFIT = 1.25  # of the time on a fold: there are more rows
_TOO_LONG = "would take too long"  # why a candidate is given up, as NO_TIME
_LAST_START = 0.15  # of the time: what is left must be more, for a fit whose time is not known


class Budget:
    """Says whether a candidate is worth its other fits, and how long a fit may take.

    Parameters
    ----------
    risk : Risk
    data : FitData
    seconds : float, optional
        For everything.
    began : float
        When the time began, by `time.monotonic`.
    refit_after : int, optional
        Fits on folds after which members are fitted again, to all rows: time is left for that.
    hope : bool
        Go on with candidates that are far behind: they may be good somewhere.
    """

    def __init__(
        self,
        risk: Risk,
        data: FitData,
        *,
        seconds: float | None,
        began: float,
        refit_after: int | None = None,
        hope: bool = False,
    ) -> None:
        self._risk, self._data, self._hope = risk, data, hope
        self.seconds = seconds
        self.deadline = self._end = np.inf if seconds is None else began + seconds
        if seconds is not None and refit_after is not None:
            self.deadline -= seconds * _REFIT / (refit_after + _REFIT)
        self._allowed: dict[int, float] = {}  # seconds of rounds that a job was given
        self._beside = 0.0  # seconds a fit takes beside them: it reads its table, and predicts
        self.best: dict[int, float] = {}  # of every fold, risk of the best candidate
        self._noted: set[tuple[int, int]] = set()
        self._losses: dict[int, tuple[int, FloatArray]] = {}  # its number and loss on each row

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.deadline - monotonic()

    def may_start(self, work: CandidateFits, m: int) -> bool:
        """Whether there is time for the first fit of a candidate; always for the very first."""
        if self.seconds is None or not work.done:
            return True
        own = work.candidates[m].by_engine  # it can be stopped
        return self.left > (0.02 if own else _LAST_START) * self.seconds

    @contextmanager
    def limited(self, model: Any, work: CandidateFits, job: Job) -> Iterator[None]:
        """Have the model end in time if it is one of weald's that grow round by round."""
        if self.seconds is None or "callbacks" not in model.get_params(deep=False):
            yield
            return
        m = job.candidate
        jobs = [t for t, one in enumerate(work.jobs) if one.candidate == m and t not in work.done]
        others = 1.0 if work.done else 0.5  # the very first leaves time for others
        turns = max(np.ceil(len(jobs) / work.at_once(m)), 1)
        allowed = others * self.left / turns - self._beside
        allowed = self._allowed[id(job)] = max(allowed, 0.01 * self.seconds)
        given = model.callbacks
        model.set_params(callbacks=[*check_callbacks(given), TimeLimit(allowed)])
        try:
            yield
        finally:
            model.set_params(callbacks=given)  # the limit is none of its own

    def may_refit(self, work: CandidateFits, members: list[int]) -> list[int]:
        """The first of the members that can be fitted again, to all rows, in the time there is."""
        takes = [_REFIT * np.mean([one.seconds for _, one in work.of(m)]) for m in members]
        number = np.searchsorted(np.cumsum(takes), self._end - monotonic(), side="right")
        return members[: int(number)]

    def cut_short(self, work: CandidateFits) -> bool:
        """Whether candidates were given up for lack of time."""
        return any(reason in (_TOO_LONG, NO_TIME) for reason in work.given_up.values())

    def why_not(self, work: CandidateFits, m: int) -> str | None:
        """A reason to give a candidate up after the fits it has had, if there is one."""
        for job, one in work.of(m):
            if id(job) in self._allowed:
                self._beside = max(self._beside, one.seconds - self._allowed.pop(id(job)))
        had = [(job.fold, one) for job, one in work.of(m) if job.fold is not None]
        if not had:
            return None
        missing = sum(job.candidate == m for job in work.jobs) - len(had)
        others = any(work.complete(k) for k in range(len(work.candidates)) if k != m)
        takes = had[-1][1].seconds * np.ceil(missing / work.at_once(m))
        if missing and others and takes > self.left:
            return _TOO_LONG
        for fold, one in had:
            if (m, id(fold)) not in self._noted:
                self._note(fold, one.said, m)
        fold, one = had[-1]
        return "too far behind" if missing and self._is_hopeless(fold, one.said, m) else None

    def _note(self, fold: Fold, said: FloatArray, m: int) -> None:
        """Remember the best candidate of a fold, and what it loses on each row."""
        self._noted.add((m, id(fold)))
        y, w = self._data.y[fold.test], self._data.filled_weights[fold.test]
        P = said.reshape(len(y), -1)
        here = self._risk.mean(P, y, w)
        if here < self.best.get(id(fold), np.inf):
            self.best[id(fold)] = here
            if self._risk.by_row:
                self._losses[id(fold)] = m, self._risk.losses(P, y)

    def _is_hopeless(self, fold: Fold, said: FloatArray, m: int) -> bool:
        """Whether a candidate gains next to nothing over a constant, as another one does not.

        By more than chance would have it.
        """
        if self._hope or not self._risk.by_row:
            return False
        owner, best = self._losses[id(fold)]
        if owner == m:
            return False
        y, w = self._data.y, self._data.filled_weights
        P = said.reshape(len(fold.test), -1)
        target = self._risk.indicators(y[fold.train], P.shape[1])
        share = w[fold.train] @ target / w[fold.train].sum()
        there, weights = y[fold.test], w[fold.test] / w[fold.test].sum()
        constant = self._risk.losses(np.repeat(share[None], len(there), axis=0), there)
        if weights @ (constant - best) <= 0:
            return False
        # What must be gained, and is not: a share of the best one's gain.
        lacks = self._risk.losses(P, there) - constant + _HOPELESS * (constant - best)
        mean = float(weights @ lacks)
        error = float(np.sqrt((weights**2) @ (lacks - mean) ** 2))
        return mean > _SURELY * error and mean > 0
