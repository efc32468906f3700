"""Weights of rows that are not in the engine's hands: of the classes, and of LogitBoost's steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from weald._engine import FloatArray
from weald.input.row_weights import RowWeights

__all__ = ["ClassWeighing", "WorkingResponse"]

Groups = npt.NDArray[Any]

_MOST_RESPONSE = (
    4.0  # of LogitBoost's working response (Friedman, Hastie & Tibshirani 2000, p. 352)
)
_LEAST_CURVATURE = 1e-12


class ClassWeighing:
    """Weights of rows of some classes, 1 in total."""

    def __init__(self, codes: npt.NDArray[Any], weights: FloatArray, n_classes: int) -> None:
        self._codes, self._n_classes = codes, n_classes
        self.rows = RowWeights(weights, len(codes))
        # Absent rows must not grow heavy: the heaviest says how finely the others are summed.
        self.factors = np.where(weights > 0, self.rows.start, 0.0) / self.rows.total

    @property
    def weights(self) -> FloatArray:
        """Of every row."""
        return self.rows.fine(self.factors, keep_light=True)

    def in_groups(self, groups: Groups, n_groups: int) -> FloatArray:
        """Weight of each class in each group."""
        k = self._n_classes
        place = groups.astype(np.intp) * k + self._codes
        sums: FloatArray = np.bincount(place, self.weights, n_groups * k).astype(np.float64)
        return sums.reshape(n_groups, k)

    def of_rows(self) -> FloatArray:
        """The same where every row is a group that counts as often as the row does."""
        out = np.zeros((len(self._codes), self._n_classes))
        there = self.rows.counts if self.rows.counts is not None else self.factors
        out[np.arange(len(out)), self._codes] = np.where(there > 0, self.factors, 0.0)
        return out

    def reweight(self, groups: Groups, factors: FloatArray) -> float:
        """Multiply by the factor of each row's group and class; divide by the sum and return it."""
        self.factors = self.factors * factors[groups, self._codes]
        total = self.rows.count(self.factors)
        self.factors /= total
        return total


class WorkingResponse:
    """What LogitBoost fits its members to: a Newton step for the log loss, as least squares.

    The target is cut at 4. In trees, rows that are far off thereby lose influence, which is what
    makes LogitBoost robust. A linear member could then go ever further off; for members other than
    trees (`keeps_gradient`) the weight rises instead, so that weight times target stays the
    gradient.
    """

    def __init__(self, codes: npt.NDArray[Any], rows: RowWeights, keeps_gradient: bool) -> None:
        self._codes, self._keeps_gradient = codes, keeps_gradient
        self._start = rows.start
        self._F = np.zeros(len(codes))

    def target_and_weights(self) -> tuple[FloatArray, FloatArray]:
        """Target of the next member, and weights still to be multiplied by each row's count."""
        p = expit(2 * self._F)
        spread = np.maximum(p * (1 - p), _LEAST_CURVATURE)
        if self._keeps_gradient:
            spread = np.maximum(spread, np.abs(self._codes - p) / _MOST_RESPONSE)
        z = np.clip((self._codes - p) / spread, -_MOST_RESPONSE, _MOST_RESPONSE)
        return z, self._start * spread

    def add(self, step: FloatArray) -> None:
        """A member was added to F."""
        self._F += step
