"""The members of a boosted regressor as one thing that can be asked: their numbers and medians."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald import combining
from weald.adaboost.boosted import KeptMembers, KeptTrees
from weald.members.foreign import member_outputs

__all__ = ["NumberMembers", "NumberTrees", "median", "staged_medians"]

FloatArray = npt.NDArray[np.float64]

_ROWS = 8192  # of which all members' numbers are held at a time


class NumberTrees(KeptTrees):
    """Trees of weald."""

    def values(self, X: npt.NDArray[Any], n_jobs: int | None) -> FloatArray:
        """What each tree says, shape (T, n)."""
        assert self.forest is not None
        return self.forest.member_values(X, engine.resolve_threads(n_jobs))[:, :, 0, 0]

    def last_values(self, X: npt.NDArray[Any], n_jobs: int | None) -> FloatArray:
        """What the last tree says."""
        assert self.forest is not None
        threads, last = engine.resolve_threads(n_jobs), len(self)
        return self.forest.values(X, threads, last - 1, last)[:, 0, 0]

    def blocks(self, X: npt.NDArray[Any], n_jobs: int | None) -> Iterator[tuple[slice, FloatArray]]:
        """What each tree says, for some rows at a time."""
        for begin in range(0, len(X), _ROWS):
            rows = slice(begin, begin + _ROWS)
            yield rows, self.values(X[rows], n_jobs)


class NumberMembers(KeptMembers):
    """Members of any kind."""

    def values(self, X: Any, n_jobs: int | None) -> FloatArray:
        """What each member says, shape (T, n)."""
        return np.array([member_outputs(member, X) for member in self.members])

    def last_values(self, X: Any, n_jobs: int | None) -> FloatArray:
        """What the last member says."""
        return member_outputs(self.members[-1], X)

    def blocks(self, X: Any, n_jobs: int | None) -> Iterator[tuple[slice, FloatArray]]:
        """What each member says, in one go: some cost much for every call."""
        yield slice(None), self.values(X, n_jobs)


def median(
    boosted: NumberTrees | NumberMembers, X: Any, votes: FloatArray, n_jobs: int | None
) -> FloatArray:
    """The members' median, weighted by their votes."""
    out = np.empty(X.shape[0])
    for rows, values in boosted.blocks(X, n_jobs):
        out[rows] = combining.weighted_median(values, votes)
    return out


def staged_medians(
    boosted: NumberTrees | NumberMembers, X: Any, votes: FloatArray, n_jobs: int | None
) -> FloatArray:
    """The median of the first 1, 2, ... members, shape (T, n)."""
    out = np.empty((len(votes), X.shape[0]))
    for rows, values in boosted.blocks(X, n_jobs):
        running = combining.RunningMedian()
        for t, vote in enumerate(votes):
            out[t, rows] = running.add(values[t], vote)
    return out
