"""How long a method may take, so that a comparison ends in time.

Methods share the time that is left; one that takes less leaves the rest to those after it. Time
stays reserved for one more fit, to all rows, of the method that took longest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from weald.crossfit.fits import CandidateFits, Job

__all__ = ["FitLimit", "limited"]

REFIT = 1.25  # of the time on a fold: there are more rows
_LEAST = 0.05  # seconds, as a limit of 0 is none
_LEAST_SHARE = 0.3  # of the time a fit was to have: what it gets if earlier ones took too long


@contextmanager
def limited(model: Any, seconds: float) -> Iterator[None]:
    """Have a model end in time: by its own limit, or by a callback; a single tree cannot."""
    from weald.callbacks import TimeLimit
    from weald.fitting.listeners import check_callbacks

    params = model.get_params(deep=False)
    seconds = max(seconds, _LEAST)
    if not np.isfinite(seconds):
        limit: dict[str, Any] = {}
    elif "time_limit" in params:
        limit = {"time_limit": min(seconds, params["time_limit"] or np.inf)}
    elif "callbacks" in params:
        limit = {"callbacks": [*check_callbacks(params["callbacks"]), TimeLimit(seconds)]}
    else:
        limit = {}
    before = {name: params[name] for name in limit}
    model.set_params(**limit)
    try:
        yield
    finally:
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
        began = monotonic()
        missing = len(work.jobs) - len(work.done)
        turns = np.ceil(missing / work.at_once(job.candidate))
        seconds = min(self.seconds, self.left / turns) - self._beside
        seconds = max(seconds, _LEAST_SHARE * self.seconds)
        with limited(model, seconds):
            yield
        took = monotonic() - began
        self.cut |= self.can_end and bool(took >= seconds)
        self._beside = max(self._beside, took - seconds)

    def why_not(self, work: CandidateFits, m: int) -> str | None:
        """Give a method up if the fits that are missing would take too long."""
        had = [one.seconds for _, one in work.of(m)]
        turns = np.ceil((len(work.jobs) - len(had)) / work.at_once(m))
        least = had[-1] if had else 0.0
        if self.can_end:
            least = min(least, self._beside + _LEAST_SHARE * self.seconds)
        return "no time left" if turns * least > self.left and not self._must else None
