"""Candidates x folds, as work for the driver: every fit, and what it says of rows it has not seen.

Fits of a candidate run several at a time, one thread each, whatever its own ``n_jobs`` says. Where
there are fewer fits than threads, those of weald's own estimators run one after another and take
all threads. So there are never more threads than asked for, and the numbers are the same for any
number of them. Every fit reads its part of the table anew: that takes 1 to 2 % of the time (at most
16 milliseconds of a fit to 33,000 rows of 14 columns), and its bins are those of its own rows, as
if it had been fitted by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Event
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_method_params
from threadpoolctl import threadpool_limits

from weald import _engine as engine
from weald.crossfit.folds import Fold
from weald.fitting.driver import NOTHING, Finished, Outcome, Plan, Seen, drive
from weald.input.fit_data import FitData
from weald.input.raw_table import take_rows
from weald.members.foreign import fit_member
from weald.members.side_by_side import in_threads

__all__ = ["NO_TIME", "Candidate", "CandidateFits", "Fitted", "Job", "drive_fits"]

NO_TIME = "no time left"  # why a candidate is given up
IntArray = npt.NDArray[np.intp]


@dataclass(eq=False)
class Candidate:
    """An estimator that may become a member.

    Attributes
    ----------
    name : str
    make : callable
        A new unfitted copy.
    ask : callable
        ``ask(model, X)``: what a fitted copy says of rows, an array (or a list of them).
    fit_params : dict
        What else goes to ``fit``.
    most_rows : int, optional
        It learns from a sample of no more rows than these.
    out_of_bag : callable, optional
        ``out_of_bag(model)``: what a copy fitted to all rows says of each of them by those of its
        members that have not seen it. That fit then takes the place of those on folds.
    """

    name: str
    make: Callable[[], Any]
    ask: Callable[[Any, Any], Any]
    fit_params: dict[str, Any] = field(default_factory=dict)
    most_rows: int | None = None
    out_of_bag: Callable[[Any], Any] | None = None

    @cached_property
    def by_engine(self) -> bool:
        """Whether it is one of weald's own, which can take all threads, and be stopped."""
        return type(self.make()).__module__.partition(".")[0] == "weald"


@dataclass(frozen=True, eq=False)
class Job:
    """One fit: of a candidate, on the training rows of a fold, or on all rows if there is none."""

    candidate: int
    fold: Fold | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """What came of a job: a model, what it says of the rows to predict, and the seconds it took."""

    model: Any
    said: Any
    seconds: float


class CandidateFits:
    """Fits in the order of the jobs, each a round for the driver.

    Parameters
    ----------
    candidates : list of Candidate
    jobs : list of Job
    data : FitData
        The table as the user gave it.
    n_jobs : int
        Threads.
    strict : bool
        A fit that fails is an error; else its candidate is given up, see `failed`.
    budget : Budget, optional
        Says how long fits may take, and which candidates are not worth more of them.
    seed : int
        Of the samples of rows.
    told : callable, optional
        ``told(t, fitted)`` is called after every job.

    Attributes
    ----------
    done : dict
        Job number -> Fitted.
    failed : dict
        Candidate number -> the error.
    given_up : dict
        Candidate number -> why.
    """

    number_name = "risk"

    def __init__(
        self,
        candidates: list[Candidate],
        jobs: list[Job],
        data: FitData,
        *,
        n_jobs: int,
        strict: bool,
        budget: Any = None,
        seed: int = 0,
        told: Callable[[int, Fitted], None] | None = None,
    ) -> None:
        self.candidates, self.jobs, self._data = candidates, jobs, data
        self._n_jobs, self._strict, self._budget = n_jobs, strict, budget
        self._seed, self._told = seed, told
        self.done: dict[int, Fitted] = {}
        self.failed: dict[int, Exception] = {}
        self.given_up: dict[int, str] = {}
        self.best: float | None = None  # risk, shown beside the bar
        self._tried = 0

    def __len__(self) -> int:
        return self._tried

    def cuts(self) -> Iterator[int]:
        """Where one batch of jobs ends and the next begins."""
        begun = 0
        for t, job in enumerate(self.jobs):
            m = self.jobs[begun].candidate
            if t > begun and (t - begun >= self.at_once(m) or job.candidate != m):
                yield t
                begun = t
        yield len(self.jobs)

    def at_once(self, m: int) -> int:
        """How many fits of a candidate run at the same time."""
        fits = sum(job.candidate == m for job in self.jobs)
        return 1 if self.candidates[m].by_engine and fits < self._n_jobs else self._n_jobs

    def advance(self, first: int, last: int, rate: float) -> bool:
        """Carry out the jobs first .. last - 1."""
        if self._budget is not None and not self._budget.may_start(
            self, self.jobs[first].candidate
        ):
            if self._budget.left <= 0:
                raise Finished("time_limit")
            self.given_up.setdefault(self.jobs[first].candidate, NO_TIME)
        batch = [t for t in range(first, last) if self._wanted(self.jobs[t].candidate)]
        for t, result in zip(batch, self._results(batch), strict=True):
            m = self.jobs[t].candidate
            if isinstance(result, Fitted):
                self.done[t] = result
                if self._told is not None:
                    self._told(t, result)
            elif self._strict:
                raise result
            else:
                self.failed.setdefault(m, result)
        for m in {self.jobs[t].candidate for t in batch}:
            if self._budget is not None and m not in self.failed:
                reason = self._budget.why_not(self, m)
                if reason is not None:
                    self.given_up[m] = reason
                self.best = min(self._budget.best.values(), default=None)
        self._tried = last
        return True

    def look(self, done: int) -> Seen:
        """The risk of the best candidate so far."""
        return NOTHING if self.best is None else Seen(validation_loss=self.best)

    def cut(self, done: int) -> None:
        """Forget later jobs."""
        self.done = {t: fitted for t, fitted in self.done.items() if t < done}
        self._tried = min(self._tried, done)

    def interrupted(self) -> None:
        """Jobs are noted when they are complete, so there is nothing to mend."""

    def of(self, m: int) -> list[tuple[Job, Fitted]]:
        """What is done of a candidate."""
        return [
            (self.jobs[t], one)
            for t, one in sorted(self.done.items())
            if self.jobs[t].candidate == m
        ]

    def complete(self, m: int) -> bool:
        """Whether all jobs of a candidate are done."""
        own = [t for t, job in enumerate(self.jobs) if job.candidate == m]
        return m not in self.failed and all(t in self.done for t in own)

    def note(self, m: int) -> str:
        """Why a candidate is not complete; empty if it is."""
        if m in self.failed:
            return f"failed: {type(self.failed[m]).__name__}"
        if self.complete(m):
            return ""
        return self.given_up.get(m, "not done in time")

    def _wanted(self, m: int) -> bool:
        return m not in self.failed and m not in self.given_up

    def _results(self, batch: list[int]) -> list[Fitted | Exception]:
        """Carry out jobs of one candidate at the same time."""
        if len(batch) < 2 and all(self.candidates[self.jobs[t].candidate].by_engine for t in batch):
            return [self._try(t) for t in batch]
        with threadpool_limits(1):
            if len(batch) > 1:
                return in_threads((partial(self._try, t) for t in batch), len(batch))
            with engine.beside_others(Event()):
                return [self._try(t) for t in batch]

    def _try(self, t: int) -> Fitted | Exception:
        try:
            return self._fit(self.jobs[t])
        except Exception as error:
            return error

    def _fit(self, job: Job) -> Fitted:
        began = monotonic()
        candidate, data = self.candidates[job.candidate], self._data
        params, rows = candidate.fit_params, self._rows(candidate, job)
        X, y, weights = data.X, data.y, data.weights
        if rows is not None:
            X, y = take_rows(X, rows), y[rows]
            weights = None if weights is None else weights[rows]
            params = _check_method_params(data.X, params=params, indices=rows)
        model = candidate.make()
        limited = nullcontext() if self._budget is None else self._budget.limited(model, self, job)
        with limited:
            fit_member(model, X, y, weights, fit_params=params, routed=False)
        said = None
        if job.fold is None and candidate.out_of_bag is not None:
            said = candidate.out_of_bag(model)
        elif job.fold is not None:
            said = candidate.ask(model, take_rows(data.X, job.fold.test))
        return Fitted(model, said, monotonic() - began)

    def _rows(self, candidate: Candidate, job: Job) -> IntArray | None:
        """The rows a candidate learns from; None: all."""
        rows = None if job.fold is None else job.fold.train
        most, n = candidate.most_rows, len(self._data) if rows is None else len(rows)
        if most is None or n <= most:
            return rows
        every = np.arange(n) if rows is None else rows
        return np.sort(np.random.RandomState(self._seed).choice(every, most, replace=False))


def drive_fits(
    work: CandidateFits,
    estimator: Any,
    *,
    verbose: int,
    keep_partial: bool = False,
    about: str = "",
) -> Outcome:
    """Carry out all jobs, with a bar if `verbose`.

    Parameters
    ----------
    work : CandidateFits
    estimator : whose fit it is
    verbose : int
    keep_partial : bool
        On Ctrl-C keep what is done.
    about : str
        Which of several parts of the fit it is, in the words of the bar.
    """
    plan = Plan(
        name=type(estimator).__name__ + about,
        estimator=estimator,
        total=len(work.jobs),
        verbose=verbose,
        keep_partial=keep_partial,
        cuts=tuple(work.cuts()),
    )
    return drive(work, plan)
