"""The choice of a bandwidth: by leaving rows out, or by a rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from weald._engine import FloatArray, IntArray
from weald.kernel.smoother import PAIRS, Kernel, means_by

__all__ = ["choose_by_leaving_out", "leave_one_out", "scott"]

_MOST_PAIRS = 2 * 10**7  # distances that a risk is computed from, and
_LEAST_ROWS = 500  # rows that are left out in any case
_TYPICAL = 256  # rows whose nearest neighbours tell the typical distance
_OCTAVES = 40  # of bandwidths, at most
_TIED = 1 + 1e-12  # risks that differ by less are the same, but for rounding


def scott(Z: FloatArray, weights: FloatArray, name: str) -> float:
    """Scott's rule ``h = s n^(-1 / (d + 4))`` with the typical standard deviation s of a column.

    Scott (1992), Multivariate Density Estimation, section 6.3. n counts a row of weight k as k.
    """
    spread, d = _spread(Z, weights)
    shrinks = weights.sum() ** (-1 / (d + 4))
    return float(spread / np.sqrt(max(d, 1)) * shrinks * _width(name, d))


def choose_by_leaving_out(
    Z: FloatArray, weights: FloatArray, targets: npt.NDArray[Any], name: str
) -> tuple[FloatArray, FloatArray, float]:
    """Bandwidths, the risk of each, and the best of them: the largest, if several are.

    Bandwidths go from half the typical distance of neighbours to four times that of any two rows in
    steps of a factor of 2, and around the best of these in steps of 2^(1/4).

    Parameters
    ----------
    Z : array of shape (n, d)
    weights : array of shape (n,)
    targets : array of shape (n_targets, n)
    name : str
        Of the kernel.
    """
    coarse = _octaves(Z, weights, name)
    if len(Z) == 1 and weights[0] <= 1:  # nothing is left
        return coarse, np.full(len(coarse), np.nan), float(coarse[-1])
    risks = leave_one_out(Z, weights, targets, name, coarse)
    if len(coarse) == 1:
        return coarse, risks, float(coarse[0])
    best = _best(coarse, risks)
    fine = best * 2 ** (np.array([-3, -2, -1, 1, 2, 3]) / 4)
    bandwidths = np.concatenate([coarse, fine])
    risks = np.concatenate([risks, leave_one_out(Z, weights, targets, name, fine)])
    order = bandwidths.argsort()
    bandwidths, risks = bandwidths[order], risks[order]
    return bandwidths, risks, _best(bandwidths, risks)


def leave_one_out(
    Z: FloatArray,
    weights: FloatArray,
    targets: npt.NDArray[Any],
    name: str,
    bandwidths: FloatArray,
) -> FloatArray:
    """Mean squared error of every bandwidth, each row predicted from all the others.

    A point of weight k is k rows: one of them is left out, k - 1 stay and predict it. A point
    lighter than 1 is left out as a whole.
    """
    left_out, times = _spaced(weights, max(_LEAST_ROWS, _MOST_PAIRS // len(Z)))
    stays = np.maximum(weights - 1, 0) / weights
    sums = np.zeros(len(bandwidths))
    step = max(1, PAIRS // len(Z))
    for start in range(0, len(left_out), step):
        rows, counts = left_out[start : start + step], times[start : start + step]
        own = np.arange(len(rows)), rows
        D2 = cdist(Z[rows], Z, "sqeuclidean")
        D2[own] = np.where(stays[rows] > 0, 0.0, np.inf)
        nearest = D2.min(axis=1, keepdims=True)
        for b, h in enumerate(bandwidths):
            K = Kernel.of(name, h).values(D2, nearest) * weights
            K[own] *= stays[rows]
            errors = means_by(lambda x: x.sum(axis=1), K, targets) - targets[:, rows].T
            sums[b] += counts @ (errors**2).sum(axis=1)
    risks: FloatArray = sums / times.sum()
    return risks


def _best(bandwidths: FloatArray, risks: FloatArray) -> float:
    return float(bandwidths[risks <= risks.min() * _TIED].max())


def _spaced(weights: FloatArray, most: int) -> tuple[IntArray, FloatArray]:
    """All points with their weights; of very many a part, evenly spaced by weight.

    >>> _spaced(np.array([1.0, 3.0, 2.0]), 2)
    (array([1, 2]), array([1., 1.]))
    """
    if len(weights) <= most:
        return np.arange(len(weights)), weights
    upto = weights.cumsum()
    places = (np.arange(most) + 0.5) / most * upto[-1]
    rows, times = np.unique(np.searchsorted(upto[:-1], places, side="right"), return_counts=True)
    return rows, times.astype(np.float64)


def _octaves(Z: FloatArray, weights: FloatArray, name: str) -> FloatArray:
    """Bandwidths, each twice the one before."""
    spread, d = _spread(Z, weights)
    some, _ = _spaced(weights, _TYPICAL)
    near = np.array([_nearest_other(cdist(Z[i : i + 1], Z, "sqeuclidean")) for i in some])
    lowest, highest = np.sqrt(np.median(near)) / 2, 4 * np.sqrt(2) * spread
    if not 0 < lowest < np.inf:  # all rows are at the same place, and any bandwidth will do
        return np.ones(1)
    number = min(max(int(np.ceil(np.log2(highest / lowest))), 1), _OCTAVES)
    octaves: FloatArray = highest * _width(name, d) * 2.0 ** np.arange(-number, 1)
    return octaves


def _nearest_other(D2: FloatArray) -> float:
    """The smallest distance that is not 0."""
    return float(D2.min(where=D2 > 0, initial=np.inf))


def _spread(Z: FloatArray, weights: FloatArray) -> tuple[float, int]:
    """Root of the sum of the variances of all columns, and how many columns vary."""
    share = weights / weights.sum()
    variances = share @ (Z - share @ Z) ** 2
    return float(np.sqrt(variances.sum())), int(np.count_nonzero(Z.max(axis=0) > Z.min(axis=0)))


def _width(name: str, d: int) -> float:
    """Bandwidth of a kernel whose standard deviation in every direction is 1.

    A box is a ball of radius h in d dimensions: its variance is ``h² / (d + 2)``.
    """
    return float(np.sqrt(d + 2)) if name == "box" else 1.0
