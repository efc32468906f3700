"""Which rows and columns a round sees, and which trees it leaves out: functions of seed and round.

So a warm start goes on as if there had been no break.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald._engine import FloatArray
from weald.boosting.params import GradientParams

__all__ = ["RoundSampler", "dropped_rounds"]

_BY_GRADIENT, _DROPPED = 1, 2  # what random numbers are for


class RoundSampler:
    """The rows and columns of each round.

    Parameters
    ----------
    params : GradientParams
    weights : array of shape (n,), optional
    shape : (n, d)
    seed : int
    """

    def __init__(
        self,
        params: GradientParams,
        weights: FloatArray | None,
        shape: tuple[int, int],
        seed: int,
    ) -> None:
        self._n, self._d = shape
        self._seed, self._weights = seed, weights
        self._gradient_sampling = params.gradient_sampling
        self._rows = self._columns = None
        if params.subsample < 1:
            self._rows = engine.Draw()
            self._rows.kind = "pasting"
            self._rows.size = max(1, int(params.subsample * self._n))
        if params.columns:
            self._columns = engine.Draw()
            self._columns.columns = params.columns

    def rows(self, t: int, gradients: FloatArray) -> FloatArray | None:
        """How often each row counts in round t; None: once."""
        if self._rows is not None:
            return engine.draw_rows(self._rows, self._n, self._seed, t).astype(np.float64)
        if self._gradient_sampling is not None:
            return self._by_gradient(t, gradients, *self._gradient_sampling)
        return None

    def columns(self, t: int) -> npt.NDArray[np.uint32] | None:
        """The columns of round t; None: all."""
        if self._columns is None:
            return None
        return engine.draw_columns(self._columns, self._d, self._seed, t).astype(np.uint32)

    def _by_gradient(self, t: int, gradients: FloatArray, top: float, other: float) -> FloatArray:
        """Gradient-based one-side sampling (Ke et al. 2017, algorithm 2).

        Rows with the largest gradients stay. Of the others each is drawn with the same chance, and
        then counts as many times as makes up for those that were not.
        """
        size = np.abs(gradients).sum(axis=0) if len(gradients) > 1 else np.abs(gradients[0])
        if self._weights is not None:
            size = size * self._weights
        n_top = int(top * self._n)
        chance = other / (1 - top)
        random = np.random.default_rng([self._seed, t, _BY_GRADIENT]).random(self._n)
        times = np.where(random < chance, 1 / chance, 0.0)
        if n_top:
            times[np.argpartition(size, self._n - n_top)[self._n - n_top :]] = 1.0
        if not times.any():
            times[int(random.argmin())] = 1.0
        return times


def dropped_rounds(seed: int, t: int, dropout: float, most: int) -> npt.NDArray[np.intp]:
    """The rounds before round t that DART leaves out of it, each with the same chance.

    Examples
    --------
    >>> dropped_rounds(0, 5, dropout=0.999, most=3).shape
    (3,)
    """
    numbers = np.random.default_rng([seed, t, _DROPPED])
    dropped = np.flatnonzero(numbers.random(t) < dropout)
    if len(dropped) > most:
        dropped = np.sort(numbers.choice(dropped, most, replace=False))
    return dropped
