"""The rows of a fit as points: equal ones are one point, and columns are made comparable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.input.state import CheckedState, is_array, numbers, require
from weald.params.growth import is_real

__all__ = ["Scaling", "merge"]

_HUGE, _TINY = 1e150, 1e-99  # what coordinates and deviations are cut to: squares stay finite


def merge(
    X: FloatArray, y: npt.NDArray[np.generic], weights: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.generic], FloatArray]:
    """Sort the rows, and make one of rows that are equal in X and y, with the sum of their weights.

    What is computed from them later has the same bits for a row of weight k and for k rows, and for
    any order of the rows.

    >>> merge(np.array([[2.0], [1.0], [2.0]]), np.array([5.0, 4.0, 5.0]), np.ones(3))
    (array([[1.],
           [2.]]), array([4., 5.]), array([1., 2.]))
    """
    order = np.lexsort((y, *X.T[::-1]))
    X, y, weights = X[order], y[order], weights[order]
    new = np.append(True, (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1]))
    first = np.flatnonzero(new)
    return X[first], y[first], np.add.reduceat(weights, first)


@dataclass(frozen=True, eq=False)
class Scaling(CheckedState):
    """From columns to coordinates: ``z = (x 2^-e - centre) gain``.

    The powers of two keep squares of huge and of tiny numbers in range, without rounding anything.

    Attributes
    ----------
    exponents : array of shape (d,)
    centre, gain : arrays of shape (d,)
    unit : float
        Length of a coordinate, in the units of bandwidths as users know them.
    """

    exponents: npt.NDArray[np.int32]
    centre: FloatArray
    gain: FloatArray
    unit: float

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray, *, scale: bool) -> Scaling:
        """Coordinates in standard deviations; or all in one unit, if not `scale`.

        A column that is constant has no scale. As all rows are equally far in it, it says nothing
        about which are near: it is left out.
        """
        exponents = np.frexp(np.abs(X).max(axis=0))[1] - 1
        U = np.ldexp(X, -exponents)
        share = weights / weights.sum()
        centre = share @ U
        if not scale:
            most = int(exponents.max())
            return cls(exponents, centre, np.ldexp(1.0, exponents - most), float(np.ldexp(1, most)))
        deviation = np.maximum(np.sqrt(share @ (U - centre) ** 2), _TINY)
        constant = X.max(axis=0) == X.min(axis=0)
        return cls(exponents, centre, np.where(constant, 0.0, 1 / deviation), 1.0)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Coordinates of rows."""
        with np.errstate(over="ignore"):
            U = np.clip(np.ldexp(X, -self.exponents), -_HUGE, _HUGE)
        Z: FloatArray = (U - self.centre) * self.gain
        return Z

    def _check_state(self) -> None:
        d = len(self.centre)
        require(is_array(self.exponents, (d,), np.int32), self, "exponents")
        require(np.abs(self.exponents).max() <= 1100, self, "exponents")
        require(numbers(self.centre, d) and np.abs(self.centre).max() <= 2, self, "centre")
        require(numbers(self.gain, d, 0.0) and self.gain.max() <= 1 / _TINY, self, "gain")
        require(is_real(self.unit) and 0 < self.unit < np.inf, self, "unit")
