"""Means of targets around a point: kernels, distances, and sums over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.neighbors import KDTree

from weald._engine import FloatArray
from weald.input.state import CheckedState, numbers, require
from weald.params.growth import is_real

__all__ = ["KERNELS", "PAIRS", "Kernel", "Smoother", "means_by"]

KERNELS = ("gaussian", "box")
PAIRS = 2**17  # pairs of rows that are looked at at a time: they stay in the cache
_NEAR_PAIRS = 2**21  # that a tree of points may find at a time: few, but it could be all
_LOW_DIMENSION = 10  # above it a tree of points has to look nearly everywhere
_SPARSE = 0.1  # share of the rows within reach below which a tree of points is faster than a scan
_PROBES = 32  # rows to find that share with
_ROUNDING = 1e-16  # share of the weight that may be left out far away
_BORDER = 1 + 1e-10  # rows on the border of a box are inside, however their distance was rounded
_FAR = 1e7  # where rounding hides which of the rows is nearest
_SMALLEST, _LARGEST = 1e-100, 1e100  # bandwidths whose squares are numbers


@dataclass(frozen=True)
class Kernel(CheckedState):
    """How much a row counts at a distance.

    Attributes
    ----------
    name : {"gaussian", "box"}
    h : float
        The bandwidth, in coordinates.
    """

    name: str
    h: float

    @classmethod
    def of(cls, name: str, h: float) -> Kernel:
        """With a bandwidth that can be squared."""
        return cls(name, float(min(max(h, _SMALLEST), _LARGEST)))

    def values(self, D2: FloatArray, nearest: FloatArray) -> FloatArray:
        """``K_h`` from squared distances, and from that of the nearest row of each query.

        Gaussian: ``exp(-d² / 2h²)``. It is divided by its value at the nearest row, which cancels
        in the mean, so that far from all rows not all of them become 0. Box: 1 if ``d <= h``, else
        0; where no row is that near, the box grows until it holds the nearest.
        """
        if self.name == "box":
            inside = np.less_equal(D2, self.reach(nearest, 0.0))
            return inside.astype(np.float64)
        values: FloatArray = np.exp((nearest - D2) / (2 * self.h**2))
        return values

    def reach(self, nearest: FloatArray, least_log: float) -> FloatArray:
        """Squared distance beyond which the values are 0, or below ``exp(least_log)``."""
        if self.name == "box":
            return np.maximum(self.h**2, nearest) * _BORDER
        return nearest - 2 * self.h**2 * least_log

    def _check_state(self) -> None:
        require(self.name in KERNELS, self, "name")
        require(is_real(self.h) and _SMALLEST <= self.h <= _LARGEST, self, "h")


def means_by(
    total: Callable[[FloatArray], FloatArray], K: FloatArray, targets: npt.NDArray[Any]
) -> FloatArray:
    """``sum_i K_i y_i / sum_i K_i`` for each of the targets.

    Nadaraya (1964), Theory of Probability and Its Applications 9; Watson (1964), Sankhya A 26. The
    weights of the rows are in K. Matrix products would be faster, but the bits of what they say
    about a row depend on how many others are asked for with it.

    Parameters
    ----------
    total : function
        Sums over the rows around each query.
    K : array, as `total` takes it
    targets : array of shape (n_targets, ...)
        Each can be multiplied by K.
    """
    return np.stack([total(K * y) for y in targets], axis=1) / total(K)[:, None]


class Smoother(CheckedState):
    """Points with their weights and targets, and the means of the targets around any query.

    Parameters
    ----------
    Z : array of shape (n, d)
    weights : array of shape (n,)
    targets : array of shape (n_targets, n)
        Numbers, or for each class whether it is that of the row.
    kernel : Kernel
    """

    def __init__(
        self, Z: FloatArray, weights: FloatArray, targets: npt.NDArray[Any], kernel: Kernel
    ) -> None:
        self.Z = Z
        self.weights = weights
        self.targets = targets
        self.kernel = kernel
        self._prepare()

    def _prepare(self) -> None:
        """What follows from the points."""
        # So much below the weight of the nearest row, all others together are lost in rounding.
        log_odds = np.log(self.weights.min()) - np.log(self.weights.sum())
        self._least_log = float(log_odds + np.log(_ROUNDING))
        self._far = _FAR * max(float(np.abs(self.Z).max()), self.kernel.h)
        self._range = self.targets.min(axis=1), self.targets.max(axis=1)
        self._tree = KDTree(self.Z) if self._prunes() else None

    def _prunes(self) -> bool:
        """Whether most rows are out of reach of a query, so that it pays to look for the others."""
        n, d = self.Z.shape
        if d > _LOW_DIMENSION:
            return False
        reach = self.kernel.reach(np.zeros(1), self._least_log)
        probes = self.Z[:: -(-n // _PROBES), None]
        within = [(cdist(z, self.Z, "sqeuclidean") <= reach).mean() for z in probes]
        return bool(np.mean(within) < _SPARSE)

    def means(self, Z: FloatArray) -> FloatArray:
        """The means at each row of Z, of shape (len(Z), n_targets), within the range of targets."""
        Z = self._brought_near(Z)
        means = np.empty((len(Z), len(self.targets)))
        around, pairs = self._around_all, PAIRS
        if self._tree is not None:
            around, pairs = self._around_near, _NEAR_PAIRS
        step = max(1, pairs // len(self.Z))
        for start in range(0, len(Z), step):
            means[start : start + step] = around(Z[start : start + step])
        within: FloatArray = np.clip(means, *self._range)
        return within

    def _brought_near(self, Z: FloatArray) -> FloatArray:
        """Move queries in from where distances to all rows would be rounded to the same number."""
        most = np.abs(Z).max(axis=1, keepdims=True)
        near: FloatArray = Z * (self._far / np.maximum(most, self._far))
        return near

    def _around_all(self, Z: FloatArray) -> FloatArray:
        D2 = cdist(Z, self.Z, "sqeuclidean")
        K = self.kernel.values(D2, D2.min(axis=1, keepdims=True)) * self.weights
        return means_by(lambda x: x.sum(axis=1), K, self.targets)

    def _around_near(self, Z: FloatArray) -> FloatArray:
        assert self._tree is not None
        nearest = self._tree.query(Z)[0][:, 0] ** 2
        reach = np.sqrt(self.kernel.reach(nearest, self._least_log)) * _BORDER
        near, distances = self._tree.query_radius(Z, reach, return_distance=True)
        counts = np.array([len(rows) for rows in near])
        first = np.append(0, counts.cumsum()[:-1])
        rows = np.concatenate(near)
        D2 = np.concatenate(distances) ** 2
        K = self.kernel.values(D2, np.repeat(nearest, counts)) * self.weights[rows]
        return means_by(lambda x: np.add.reduceat(x, first), K, self.targets[:, rows])

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if not name.startswith("_")}

    def _check_state(self) -> None:
        Z: Any = self.Z
        targets: Any = self.targets
        n = len(self.weights)
        require(n > 0 and numbers(self.weights, n, 0.0) and self.weights.all(), self, "weights")
        require(isinstance(Z, np.ndarray) and Z.ndim == 2 and len(Z) == n, self, "Z")
        require(Z.size > 0 and numbers(Z.ravel()) and np.abs(Z).max() <= _LARGEST, self, "Z")
        require(isinstance(targets, np.ndarray) and targets.shape[1:] == (n,), self, "targets")
        plain = targets.dtype == bool or numbers(targets.ravel())
        require(len(targets) > 0 and plain, self, "targets")
        require(isinstance(self.kernel, Kernel), self, "kernel")
        self._prepare()
