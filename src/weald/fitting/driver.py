"""The one driver of rounds: everything that grows step by step is driven by :func:`drive`.

It counts rounds, shows progress, tells callbacks, stops early, and on Ctrl-C keeps what is there if
that is asked for. Only the work knows what a round is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from weald import _engine as engine
from weald.fitting.listeners import Listeners, check_callbacks
from weald.fitting.progress import batches, live_bar
from weald.params.warnings import warn_user

__all__ = ["NOTHING", "Finished", "Outcome", "Plan", "Seen", "Work", "drive"]


class Finished(Exception):  # noqa: N818 (no error: the fit ends here)
    """No further round can be made."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Seen:
    """What is known after a round.

    Attributes
    ----------
    train_loss, validation_loss, validation_score : float or None
        As callbacks are told; an out-of-bag score is a validation score.
    says_stop : bool
        The rule of early stopping says stop.
    final : str or None
        Why this is the last round.
    """

    train_loss: float | None = None
    validation_loss: float | None = None
    validation_score: float | None = None
    says_stop: bool = False
    final: str | None = None

    @property
    def shown(self) -> float | None:
        """The number that stands beside the bar."""
        numbers = (self.validation_score, self.validation_loss, self.train_loss)
        return next((number for number in numbers if number is not None), None)

    @property
    def told(self) -> dict[str, float | None]:
        """What callbacks are told."""
        return {
            "train_loss": self.train_loss,
            "validation_loss": self.validation_loss,
            "validation_score": self.validation_score,
        }


NOTHING = Seen()  # nobody looked


class Work(Protocol):
    """Something that grows round by round."""

    number_name: str  # what the number beside the bar is

    def __len__(self) -> int:
        """Rounds that were made; one that is half done does not count."""

    def advance(self, first: int, last: int, rate: float) -> bool:
        """Make the rounds first .. last - 1, with this learning rate; False if they add nothing.

        Raises
        ------
        Finished
            There is nothing to be made any more.
        """

    def look(self, done: int) -> Seen:
        """What is known after the first `done` rounds; asked once for each `done`."""

    def cut(self, done: int) -> None:
        """Keep the first rounds only."""

    def interrupted(self) -> None:
        """Ctrl-C may have come in the middle of a round: drop the unfinished part."""


@dataclass(frozen=True)
class Plan:
    """How a fit is driven.

    Attributes
    ----------
    name : str
        What is fitted, in the words of the bar.
    estimator : the estimator that is fitted, for callbacks
    total, done : int
        Rounds in the end, and those of earlier fits.
    learning_rate : float
    verbose : int
        0: no bar.
    callbacks : list
    keep_partial : bool
        On Ctrl-C keep what is there.
    batch : int
        Rounds that are best made at a time, to begin with. 0: all at once, if nobody looks on.
    cuts : tuple of int
        Where one batch ends and the next begins, if the work itself says so.
    """

    name: str
    estimator: Any
    total: int
    done: int = 0
    learning_rate: float = 1.0
    verbose: int = 0
    callbacks: list[Any] = field(default_factory=list)
    keep_partial: bool = False
    batch: int = 1
    cuts: tuple[int, ...] = ()

    @classmethod
    def of(cls, estimator: Any, params: Any, *, done: int = 0) -> Plan:
        """The plan of an estimator, by what its resolved parameters say."""
        return cls(
            name=type(estimator).__name__,
            estimator=estimator,
            total=params.n_estimators,
            done=done,
            learning_rate=getattr(params, "learning_rate", 1.0),
            verbose=params.verbose,
            callbacks=check_callbacks(getattr(estimator, "callbacks", None)),
            keep_partial=params.keep_partial,
        )

    def batches(self) -> Iterator[tuple[int, int]]:
        """Which rounds are made at a time."""
        if self.cuts:
            yield from pairwise((self.done, *self.cuts))
        elif self.batch == 0:
            if self.done < self.total:
                yield self.done, self.total
        elif self.batch == 1:
            yield from ((t, t + 1) for t in range(self.done, self.total))
        else:
            yield from batches(self.done, self.total, self.batch)


@dataclass
class Outcome:
    """How a fit ended.

    Attributes
    ----------
    reason : str
        "n_estimators", "no_change" (early stopping), "callback", "interrupted", or what the work
        says.
    kept : int or None
        How many rounds are to be used, if a callback said so.
    """

    reason: str = "n_estimators"
    kept: int | None = None


def drive(work: Work, plan: Plan) -> Outcome:
    """Make the rounds until there are enough, nothing is gained, or somebody says stop.

    Batch sizes do not change the result: rounds are examined one by one, and those made after the
    stopping point are cut off.
    """
    outcome = Outcome()
    listeners = None
    if plan.callbacks:
        listeners = Listeners(
            plan.callbacks, plan.estimator, plan.total, plan.learning_rate, plan.done
        )
    with live_bar(plan.total, plan.done, plan.verbose, plan.name, work.number_name) as bar:
        try:
            if plan.done and work.look(plan.done).says_stop:
                work.cut(plan.done)
                raise Finished("no_change")
            for first, last in plan.batches():
                engine.pause()
                rate = plan.learning_rate if listeners is None else listeners.rate()
                if not work.advance(first, last, rate):
                    bar.show(last)
                    continue
                for done in range(first + 1, last + 1) if plan.batch else (last,):
                    seen = work.look(done)
                    reason = _reason(seen, listeners, done)
                    if reason is not None:
                        break
                if seen is not NOTHING or plan.verbose:
                    bar.show(done, seen.shown)
                if reason is not None:
                    outcome.reason = reason
                    work.cut(done)
                    break
        except Finished as end:
            outcome.reason = end.reason
        except KeyboardInterrupt:
            if not _keep_partial(work, plan, outcome, listeners):
                raise
    if listeners is not None:
        try:
            outcome.kept = listeners.end()
        except KeyboardInterrupt:
            if not _keep_partial(work, plan, outcome, None):
                raise
    return outcome


def _keep_partial(work: Work, plan: Plan, outcome: Outcome, listeners: Listeners | None) -> bool:
    """On Ctrl-C: whether what is there, and callbacks know of, is kept."""
    if not plan.keep_partial or len(work) == 0:
        return False
    work.interrupted()
    if listeners is not None:
        work.cut(max(listeners.heard, 1))
    outcome.reason = "interrupted"
    warn_user(f"The growth was stopped: the {plan.name} has {len(work)} of {plan.total} members.")
    return True


def _reason(seen: Seen, listeners: Listeners | None, done: int) -> str | None:
    """Why to stop after this round."""
    if seen is NOTHING and listeners is None:
        return None
    if listeners is not None and listeners.round(done, seen.told):
        return "callback"
    if seen.final is not None:
        return seen.final
    return "no_change" if seen.says_stop else None
