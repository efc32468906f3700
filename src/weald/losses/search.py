"""The best constant: rows that count, weighted quantiles, and the bottom of a convex function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from weald._engine import FloatArray, order_of

# Two sums of weights that differ by less than this share of the whole are the same sum, added up in
# another order.
_SAME = 1e-12


def present(
    y: npt.ArrayLike, sample_weight: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_] | None]:
    """Targets and weights of the rows of positive weight, and which rows these are (None: all)."""
    y = np.asarray(y, dtype=np.float64)
    if len(y) == 0:
        raise ValueError("A loss needs at least one row, got none.")
    if sample_weight is None:
        return y, np.broadcast_to(1.0, len(y)), None
    w = np.asarray(sample_weight, dtype=np.float64)
    if w.shape != y.shape:
        raise ValueError(f"sample_weight must have shape {y.shape} as y has, got {w.shape}.")
    counts = w > 0
    if counts.all():
        return y, w, None
    if not counts.any():
        raise ValueError("sample_weight must be positive in at least one row, got none.")
    return y[counts], w[counts], counts


def weighted_quantile(y: FloatArray, w: FloatArray, quantile: float) -> float:
    """Minimise ``sum w_i (q max(y_i - c, 0) + (1 - q) max(c - y_i, 0))`` over c.

    Where two neighbouring targets and all numbers between them are as good, the one halfway, as is
    usual for the median of an even number of rows.
    """
    order = order_of(np.ascontiguousarray(y))
    # By a power of two, which rounds nothing: no sum can overflow.
    targets, below = y[order], np.cumsum(np.ldexp(w[order], -int(np.frexp(w.max())[1])))
    wanted, whole = quantile * below[-1], below[-1]
    first = int(np.searchsorted(below, wanted - _SAME * whole))
    last = int(np.searchsorted(below, wanted + _SAME * whole, side="right"))
    last = min(last, len(y) - 1)
    return float(targets[first] + (targets[last] - targets[first]) / 2)


def bottom(slope: Callable[[float], float], start: float, step: float, reach: float) -> float:
    """Find where a convex function is least, from its slope alone.

    Parameters
    ----------
    slope : function
        Derivative, not decreasing (more is not needed: below 0 left of the bottom, above 0 right of
        it); exactly 0 on a flat bottom.
    start : float
        Where to begin.
    step, reach : float
        The first step away from `start`, doubled as often as needed, and how far to go at most.

    Returns
    -------
    float
        The lowest point; the middle of a flat bottom, or its end if it has only one within reach;
        the end of the reach if the function falls all the way to it.

    Examples
    --------
    >>> round(bottom(lambda c: c - 3.0, start=0.0, step=1.0, reach=100.0), 12)
    3.0
    >>> round(bottom(lambda c: max(c - 5.0, 0.0) + min(c - 1.0, 0.0), 0.0, 1.0, 100.0), 12)
    3.0
    """
    low, at_low = _walk(slope, start, -step, reach)
    high, at_high = _walk(slope, start, step, reach)
    for where, found in ((low, at_low), (high, at_high)):
        if np.isnan(found):
            raise ValueError(f"The gradient of the loss is not a number at the score {where:g}.")
    if at_low > 0:
        return low
    if at_high < 0:
        return high
    if at_low == 0 and at_high == 0:
        return start
    if at_low == 0:
        return _edge(slope, high, low)
    if at_high == 0:
        return _edge(slope, low, high)
    root = _root(slope, low, high)
    # A root may lie anywhere on a flat bottom; looking a little to both sides tells.
    if slope(root) == 0:
        for near in (1e-7 * (high - low), 1e-7 * abs(root)):
            if slope(root - near) == 0 or slope(root + near) == 0:
                return _between(_edge(slope, low, root), _edge(slope, high, root))
    return root


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where the slope changes its sign, to the last digits of this number, however small it is."""
    least = float(np.finfo(np.float64).smallest_subnormal)
    root, how = brentq(slope, low, high, xtol=least, rtol=1e-15, full_output=True, disp=False)
    if how.converged:
        return float(root)
    # Slopes of very different sizes lead Brent's method astray; halving is never in doubt.
    for _ in range(64):
        middle = _halfway(low, high)
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return low


def _walk(
    slope: Callable[[float], float], start: float, step: float, reach: float
) -> tuple[float, float]:
    """Go from `start` until the slope points back, or as far as allowed; the point, its slope."""
    here, found, gone = start, slope(start), 0.0
    while found * step <= 0 and gone < reach:
        gone = min(abs(step), reach)
        here = start + float(np.copysign(gone, step))
        found = slope(here)
        step *= 2
    return here, found


def _edge(slope: Callable[[float], float], outside: float, inside: float) -> float:
    """End of a flat stretch: halving between a point of it and one that is not."""
    for _ in range(64):
        middle = _halfway(outside, inside)
        if slope(middle) == 0:
            inside = middle
        else:
            outside = middle
    return inside


def _between(a: float, b: float) -> float:
    """The mean of two numbers whose sum may be too large for one."""
    return a / 2 + b / 2


def _halfway(a: float, b: float) -> float:
    """Of all floats from a to b the middle one: 64 halvings tell any two apart, large or small."""
    places = np.array([a, b]).view(np.int64)
    places = np.where(places < 0, np.iinfo(np.int64).min - places, places)  # in the order of floats
    middle = (int(places[0]) + int(places[1])) // 2
    bits = middle if middle >= 0 else int(np.iinfo(np.int64).min) - middle
    return float(np.array(bits, dtype=np.int64).view(np.float64))
