"""Sums over rows that do not depend on their order, nor on whether a row comes k times or weighs k.

Of two splits that are equally good, rounding must not choose: a row of weight k would not act like
k rows. So what decides anything is summed exactly, by the engine: whole weights count their row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald._engine import FloatArray

__all__ = ["RowWeights"]

_MOST_COUNTS = 2**28  # the sum of whole weights that are counted, as in the engine (adaboost.cpp)
_FINE_BITS = 50  # of the sum of weights, so that doubles add them up without rounding


class RowWeights:
    """What rows weigh, each as a factor and how often that counts.

    Parameters
    ----------
    weights : array of shape (n,), optional
        None: every row weighs 1.
    n : int
        How many rows there are.

    Attributes
    ----------
    counts : array of shape (n,) or None
        Whole weights; None: every row counts once.
    factors : array of shape (n,) or None
        Other weights, the largest 1; None: 1.
    total : float
        Sum of factors, each as often as it counts.

    Examples
    --------
    >>> tenths = np.full(10, 0.1)
    >>> bool(RowWeights(None, 10).sum(tenths) == RowWeights(np.array([10.0]), 1).sum(tenths[:1]))
    True
    """

    def __init__(self, weights: npt.NDArray[Any] | None, n: int) -> None:
        self._n = n
        self.counts: npt.NDArray[np.uint32] | None = None
        self.factors: FloatArray | None = None
        if weights is None:
            self.total = float(n)
        elif weights.max() < _MOST_COUNTS and (weights == np.floor(weights)).all():
            self.total = float(weights.sum())
            if self.total < _MOST_COUNTS:
                self.counts = weights.astype(np.uint32)
        if weights is not None and self.counts is None:
            self.factors = np.asarray(weights / weights.max(), dtype=np.float64)
            self.total = engine.exact_sum(self.factors, None, None)

    @property
    def start(self) -> FloatArray:
        """The factors, as an array of their own."""
        if self.factors is not None:
            return self.factors.copy()
        return np.ones(self._n)

    @property
    def weights(self) -> FloatArray:
        """Factors times counts."""
        return self.start if self.counts is None else self.counts.astype(np.float64)

    def sum(self, x: FloatArray) -> float:
        """``sum w x`` over all rows (and columns, if there are several).

        In units of the largest weight if weights are not whole.
        """
        of_row = x if x.ndim == 1 else x.sum(axis=1)
        return engine.exact_sum(np.ascontiguousarray(of_row), self.factors, self.counts)

    def mean(self, x: FloatArray) -> float:
        """``sum w x / sum w``, within the range of x."""
        return engine.exact_mean(np.ascontiguousarray(x), self.factors, self.counts)

    def count(self, x: FloatArray) -> float:
        """``sum x``, each as often as its row counts; factors are in x, if at all."""
        return engine.exact_sum(np.ascontiguousarray(x), None, self.counts)

    def fine(self, x: FloatArray, *, keep_light: bool) -> FloatArray:
        """Weights of x >= 0, times what rows count, that anybody may sum in doubles without error.

        They are cut to 2^-50 of their sum. A row that is lighter than that keeps its weight if
        `keep_light`, else it has none.
        """
        per_unit = float(2.0 ** (_FINE_BITS - np.frexp(self.count(x))[1]))
        cut = np.rint(x * per_unit) / per_unit
        weights: FloatArray = np.where(cut > 0, cut, x) if keep_light else cut
        return weights if self.counts is None else weights * self.counts
