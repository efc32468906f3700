"""Weights of candidates from what they say of rows they have not seen.

Four ways, each a function ``(risk, Z, y, w) -> weights`` in :data:`METHODS`. Z has the shape
``(n, M, K)``: rows, candidates, and numbers a candidate says of a row (1, or one per class).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog, nnls

from weald._engine import FloatArray
from weald.crossfit.risks import Risk

__all__ = [
    "METHODS",
    "NEGLIGIBLE",
    "best_weights",
    "greedy_weights",
    "nnls_weights",
    "simplex_weights",
]


_GREEDY_STEPS = 100
NEGLIGIBLE = 1e-6  # weights that change no prediction in a digit anybody looks at
_GAP = 1e-9  # of the risk: how far from the least one a solution may be
_NEWTON_STEPS = 60
_CUTS = 400


def simplex_weights(risk: Risk, Z: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """Weights ``a_m >= 0, sum a_m = 1`` of the mixture with the least risk (van der Laan 2007).

    Of convex losses the solution is certain: the risk is no further above the least one than

        ``sum_m a_m s_m - min_m s_m``,   s the slopes of the risk by the weights

    (Frank & Wolfe 1956), and the search ends when that is nothing. Newton steps where the loss is
    smooth, cutting planes (Kelley 1960) where it is not; a metric without slopes is searched
    greedily, and then by exchanges between pairs.

    Parameters
    ----------
    risk : Risk
    Z : array of shape (n, M, K)
    y, w : arrays of shape (n,)

    Returns
    -------
    array of shape (M,)
    """
    M = Z.shape[1]
    if M == 1:
        return np.ones(1)
    if not risk.has_slopes:
        return _exchanges(risk, Z, y, w, greedy_weights(risk, Z, y, w))
    start = np.full(M, 1 / M)
    weights, gap = _newton(risk, Z, y, w, start)
    if gap > _GAP * 1e3 * abs(risk.mixed(weights, Z, y, w)):
        weights = _cutting_planes(risk, Z, y, w, weights)
    return _without_crumbs(weights)


def nnls_weights(risk: Risk, Z: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """Least squares with coefficients that are not negative, scaled to a sum of 1.

    The weights of Breiman's stacked regressions (1996). Classes are fitted as 0 and 1, whatever the
    risk is.
    """
    root = np.sqrt(w)[:, None]
    target = risk.indicators(y, Z.shape[2])
    A = (root[:, :, None] * Z).transpose(0, 2, 1).reshape(-1, Z.shape[1])
    R, right = _reduced(A, (root * target).reshape(-1))
    found = nnls(R, right)[0]
    total = found.sum()
    return _without_crumbs(found / total) if total > 0 else best_weights(risk, Z, y, w)


def greedy_weights(risk: Risk, Z: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """Forward selection with replacement (Caruana et al. 2004): the mean of the best selection.

    A step adds the candidate that makes the mean of all added so far best; of equal ones the first.
    """
    M = Z.shape[1]
    counts, best_counts, best = np.zeros(M), np.zeros(M), np.inf
    total = np.zeros((Z.shape[0], Z.shape[2]))
    for step in range(1, _GREEDY_STEPS + 1):
        tried = [risk.mean((total + Z[:, m]) / step, y, w) for m in range(M)]
        m = int(np.argmin(tried))
        counts[m] += 1
        total += Z[:, m]
        if tried[m] < best:
            best, best_counts = tried[m], counts.copy()
    return np.asarray(best_counts / best_counts.sum())


def best_weights(risk: Risk, Z: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """All weight to the candidate of the least risk, the first of equal ones."""
    risks = [risk.mean(Z[:, m], y, w) for m in range(Z.shape[1])]
    return np.asarray(np.eye(len(risks))[int(np.argmin(risks))])


METHODS: dict[str, Callable[[Risk, FloatArray, FloatArray, FloatArray], FloatArray]] = {
    "simplex": simplex_weights,
    "nnls": nnls_weights,
    "greedy": greedy_weights,
    "best": best_weights,
}


# --- the search on the simplex --------------------------------------------------------------------


def _newton(
    risk: Risk, Z: FloatArray, y: FloatArray, w: FloatArray, start: FloatArray
) -> tuple[FloatArray, float]:
    """Newton steps inside the simplex, each the least point of a parabola on it; and the gap."""
    here, value = start, risk.mixed(start, Z, y, w)
    gap = np.inf
    for _ in range(_NEWTON_STEPS):
        slopes, curvature = risk.derivatives(here, Z, y, w)
        gap = float(here @ slopes - slopes.min())
        if gap <= _GAP * abs(value):
            break
        aim = _least_on_simplex(curvature, slopes - curvature @ here)
        way, step = aim - here, 1.0
        fall = float(slopes @ way)
        while step > 1e-10:
            there = here + step * way
            then = risk.mixed(there, Z, y, w)
            if then <= value + 1e-4 * step * min(fall, 0.0):
                break
            step /= 2
        else:
            break
        if then >= value and step < 1:
            break
        here, value = there, then
    return here, gap


def _least_on_simplex(H: FloatArray, q: FloatArray) -> FloatArray:
    """``argmin a'Ha/2 + q'a`` over the simplex.

    There ``1'a = 1``, so that with ``H = R'R`` it is the point of least norm of the polytope with
    the columns ``A = R + R^-T q 1'``, which non-negative least squares finds: the conditions of
    ``min |Au|^2 + (1'u - 1)^2, u >= 0`` are those of ``a = u / 1'u`` (Lawson & Hanson 1974).
    """
    M = len(q)
    ridge = 1e-12 * max(np.trace(H) / M, np.abs(q).max(), np.finfo(float).tiny)
    values, vectors = np.linalg.eigh(H + ridge * np.eye(M))
    root = np.sqrt(np.maximum(values, ridge))
    A = root[:, None] * vectors.T + ((vectors.T @ q) / root)[:, None]
    scale = np.abs(A).max()
    found = nnls(np.vstack([A / scale, np.ones(M)]), np.append(np.zeros(M), 1.0))[0]
    return np.asarray(found / found.sum())


def _cutting_planes(
    risk: Risk, Z: FloatArray, y: FloatArray, w: FloatArray, start: FloatArray
) -> FloatArray:
    """Least risk on the simplex by planes that lie under it; the best point that was tried."""
    M = len(start)
    planes: list[FloatArray] = []
    heights: list[float] = []
    here, best, least = start, start, np.inf
    objective = np.append(np.zeros(M), 1.0)
    inside = [(0.0, 1.0)] * M + [(None, None)]
    for _ in range(_CUTS):
        value = risk.mixed(here, Z, y, w)
        slopes = risk.derivatives(here, Z, y, w)[0]
        if value < least:
            best, least = here, value
        planes.append(np.append(slopes, -1.0))
        heights.append(float(slopes @ here - value))
        lower: Any = linprog(
            objective,
            A_ub=np.array(planes),
            b_ub=np.array(heights),
            A_eq=np.append(np.ones(M), 0.0)[None],
            b_eq=[1.0],
            bounds=inside,
        )
        if lower.status != 0 or least - lower.fun <= 1e-7 * abs(least):
            break
        # Between the lowest point of the planes and the best one: jumps to corners teach little.
        point = np.maximum(lower.x[:M], 0.0)
        here = 0.7 * point / point.sum() + 0.3 * best
    return best


def _exchanges(
    risk: Risk, Z: FloatArray, y: FloatArray, w: FloatArray, weights: FloatArray
) -> FloatArray:
    """Move weight between pairs as long as that lowers the risk, in steps that get smaller."""
    least = risk.mixed(weights, Z, y, w)
    step = 0.1
    while step > 1e-3:
        moved = False
        for i in np.flatnonzero(weights > 0):
            for j in range(len(weights)):
                part = min(step, weights[i])
                if i == j or part <= 0:
                    continue
                tried = weights.copy()
                tried[i] -= part
                tried[j] += part
                value = risk.mixed(tried, Z, y, w)
                if value < least:
                    weights, least, moved = tried, value, True
        if not moved:
            step /= 2
    return weights


def _reduced(A: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same least squares problem with as many rows as there are columns."""
    R: Any = np.linalg.qr(np.column_stack([A, b]), mode="r")
    return R[:, :-1], R[:, -1]


def _without_crumbs(weights: FloatArray) -> FloatArray:
    kept: Any = np.where(weights < NEGLIGIBLE, 0.0, weights)
    return np.asarray(kept / kept.sum())
