"""How long a method may take, so that a comparison ends in time.

Methods share the time that is left; one that takes less leaves the rest to those after it. Time
stays reserved for one more fit, to all rows, of the method that took longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.callbacks import State, TimeLimit

if TYPE_CHECKING:
    from weald.crossfit.fits import CandidateFits, Job

__all__ = ["REFIT", "FitLimit", "can_end", "limited"]

REFIT = 1.25  # of the time on a fold: there are more rows
_LEAST = 0.05  # seconds, as a limit of 0 is none
_LEAST_SHARE = 0.3  # of the time a fit was to have: what it gets if earlier ones took too long


@dataclass
class Limit:
    """What became of a fit under a limit.

    Attributes
    ----------
    seconds : float
        The limit.
    took : float
        Seconds.
    cut : bool
        The limit ended it.
    """

    seconds: float
    took: float = 0.0
    cut: bool = False


class _ToldLimit(TimeLimit):
    """A limit that tells whether it left rounds out."""

    cut = False

    def on_round(self, state: State) -> bool:
        """Whether the time is up."""
        ended = super().on_round(state)
        self.cut |= ended and state.round < state.n_rounds
        return ended


def can_end(params: Iterable[str]) -> bool:
    """Whether a model of these parameters can be ended; a single tree cannot."""
    return bool({"time_limit", "callbacks"} & set(params))


@contextmanager
def limited(model: Any, seconds: float) -> Iterator[Limit]:
    """Have a model end in time: by its own limit, or by a callback."""
    from weald.fitting.listeners import check_callbacks

    params = model.get_params(deep=False)
    limit = Limit(max(seconds, _LEAST))
    changed: dict[str, Any] = {}
    by_rounds: _ToldLimit | None = None
    if np.isfinite(limit.seconds) and "time_limit" in params:
        changed = {"time_limit": min(limit.seconds, params["time_limit"] or np.inf)}
    elif np.isfinite(limit.seconds) and "callbacks" in params:
        by_rounds = _ToldLimit(limit.seconds)
        changed = {"callbacks": [*check_callbacks(params["callbacks"]), by_rounds]}
    before = {name: params[name] for name in changed}
    model.set_params(**changed)
    began = monotonic()
    try:
        yield limit
    finally:
        limit.took = monotonic() - began
        if by_rounds is not None:
            limit.cut = by_rounds.cut
        else:
            limit.cut = "time_limit" in changed and limit.took >= limit.seconds
        model.set_params(**before)  # the limit is none of its own


class FitLimit:
    """What :class:`weald.crossfit.fits.CandidateFits` asks about time, for one method.

    Parameters
    ----------
    deadline : float
        When the fits on folds must be done, by `time.monotonic`.
    seconds : float
        That one fit may take.
    can_end : bool
        A fit can be ended.
    must : bool
        Go on whatever it takes, as there is nothing else yet.
    """

    def __init__(self, deadline: float, seconds: float, *, can_end: bool, must: bool) -> None:
        self.deadline, self.seconds = deadline, seconds
        self.can_end, self._must = can_end, must
        self.best: dict[int, float] = {}
        self.cut = False  # whether a fit met its limit
        self._beside = 0.0  # seconds a fit takes beyond its limit: it reads its table, and predicts

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.deadline - monotonic()

    def may_start(self, work: CandidateFits, m: int) -> bool:
        """Whether there is time for another fit."""
        return self._must or self.left > 0

    @contextmanager
    def limited(self, model: Any, work: CandidateFits, job: Job) -> Iterator[None]:
        """Have a fit end in time."""
        missing = len(work.jobs) - len(work.done)
        turns = np.ceil(missing / work.at_once(job.candidate))
        seconds = min(self.seconds, self.left / turns) - self._beside
        seconds = max(seconds, _LEAST_SHARE * self.seconds)
        with limited(model, seconds) as limit:
            yield
        self.cut |= limit.cut
        self._beside = max(self._beside, limit.took - limit.seconds)

    def why_not(self, work: CandidateFits, m: int) -> str | None:
        """Give a method up if the fits that are missing would take too long."""
        had = [one.seconds for _, one in work.of(m)]
        turns = np.ceil((len(work.jobs) - len(had)) / work.at_once(m))
        least = had[-1] if had else 0.0
        if self.can_end:
            least = min(least, self._beside + _LEAST_SHARE * self.seconds)
        return "no time left" if turns * least > self.left and not self._must else None
