"""The largest minimum margin that the members of an ensemble can have, by linear programming.

Weights of the members against weights of the rows: a game of two players, whose value is

    max over a of min over i of  sum_t a_t s_ti,        a >= 0 and summing to 1,

for s = y h, or with more than two classes for every other class k the right vote less that for k
(Freund & Schapire 1996; Breiman's arc-gv tends to it). Few rows decide it. So the program starts
with those of the least margins, and those its answer gets wrong join, until there are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.theory.matrix_game import solve_matrix_game

__all__ = ["Signed", "Solution", "Votes", "lead", "solve"]

_MORE = 300  # rows that join at a time
_ROUNDS = 60
_GAP = 1e-7


class Duel(Protocol):
    """Members against rows."""

    def margins(self, weights: FloatArray) -> FloatArray:
        """Of all rows, for weights of the members that sum up to 1."""

    def rows(self, chosen: npt.NDArray[np.intp], weights: FloatArray) -> FloatArray:
        """What each member does for the chosen rows, against their strongest rivals: (rows, T)."""


@dataclass(frozen=True, eq=False)
class Signed:
    """Two classes: s = y h of every member and row, shape (T, n)."""

    s: npt.NDArray[Any]

    def margins(self, weights: FloatArray) -> FloatArray:
        """See :class:`Duel`; only members that count are looked at."""
        total = np.zeros(self.s.shape[1])
        for t in np.flatnonzero(weights):
            total += weights[t] * self.s[t]
        return total

    def rows(self, chosen: npt.NDArray[np.intp], weights: FloatArray) -> FloatArray:
        """See :class:`Duel`."""
        return self.s[:, chosen].T.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Votes:
    """Any number of classes: the code each member votes for, shape (T, n), and the right ones."""

    votes: npt.NDArray[Any]
    y: npt.NDArray[Any]
    n_classes: int

    def margins(self, weights: FloatArray) -> FloatArray:
        """See :class:`Duel`."""
        return lead(self._polls(weights), self.y)

    def rows(self, chosen: npt.NDArray[np.intp], weights: FloatArray) -> FloatArray:
        """See :class:`Duel`."""
        polls = self._polls(weights)[chosen]
        polls[np.arange(len(chosen)), self.y[chosen]] = -np.inf
        rivals = polls.argmax(axis=1)
        votes = self.votes[:, chosen]
        signs = (votes == self.y[chosen]).astype(np.float64) - (votes == rivals)
        return np.ascontiguousarray(signs.T)

    def _polls(self, weights: FloatArray) -> FloatArray:
        polls, at = np.zeros((len(self.y), self.n_classes)), np.arange(len(self.y))
        for t in np.flatnonzero(weights):
            polls[at, self.votes[t]] += weights[t]
        return polls


@dataclass(frozen=True, eq=False)
class Solution:
    """What the linear program found.

    Attributes
    ----------
    value : float
        The least margin with the best weights that were found.
    upper : float
        No weights have a larger one; equal to `value`, up to rounding, if the program ended.
    weights : array of shape (T,)
    """

    value: float
    upper: float
    weights: FloatArray


def lead(polls: FloatArray, y: npt.NDArray[Any]) -> FloatArray:
    """By how much the right class is ahead of the best other one, for votes or scores (n, K)."""
    at = np.arange(len(y))
    rivals = polls.copy()
    rivals[at, y] = -np.inf
    return np.asarray(polls[at, y] - rivals.max(axis=1))


def solve(duel: Duel, weights: FloatArray) -> Solution:
    """Solve the game, starting from some weights of the members that sum up to 1."""
    best = Solution(-np.inf, np.inf, weights)
    program = np.empty((0, len(weights)))
    for _ in range(_ROUNDS):
        margins = duel.margins(weights)
        least = float(margins.min())
        if least > best.value:
            best = Solution(least, best.upper, weights)
        if best.upper - least <= _GAP:
            break
        low = np.argpartition(margins, min(_MORE, len(margins) - 1))[:_MORE]
        low = low[margins[low] < best.upper - _GAP]
        program = np.unique(np.concatenate([program, duel.rows(low, weights)]), axis=0)
        part = solve_matrix_game(program.T)
        weights = part.mixture
        best = Solution(best.value, min(best.upper, part.value), best.weights)
    return Solution(best.value, max(best.upper, best.value), best.weights)
