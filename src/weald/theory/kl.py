"""The kl inverse: what a share seen on n rows says about the share behind it.

``kl(p || q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q))`` is the divergence between two coins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

from weald._engine import FloatArray

_HALVINGS = 100  # of an interval no longer than one, down to far below the last bit
_NOTHING = 1e-300  # a share below this is zero: its logarithm times itself is lost in any sum


def kl_upper(p: Any, c: Any) -> FloatArray:
    """Largest q with ``kl(p || q) <= c``: the upper kl inverse.

    A share p seen on n rows is below q with probability 1 - delta, for
    ``c = ln(2 sqrt(n) / delta) / n`` (Seeger 2002; the constant is from Maurer 2004).

    Parameters
    ----------
    p : float or array
        Shares, between 0 and 1.
    c : float or array
        Not negative; infinity gives 1.

    Returns
    -------
    ndarray
        Of the shape that p and c have together, right to about 1e-15.

    Examples
    --------
    >>> from weald.theory.kl import kl_lower, kl_upper
    >>> print(f"between {kl_lower(0.1, 0.01):.4f} and {kl_upper(0.1, 0.01):.4f}")
    between 0.0617 and 0.1498
    """
    p, c = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(c, dtype=float))
    return np.minimum(p + _reach(p, 1.0 - p, c), 1.0)


def kl_lower(p: Any, c: Any) -> FloatArray:
    """Smallest q with ``kl(p || q) <= c``: the lower kl inverse; see `kl_upper`."""
    p, c = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(c, dtype=float))
    return np.maximum(p - _reach(1.0 - p, p, c), 0.0)


def _reach(share: FloatArray, rest: FloatArray, c: FloatArray) -> FloatArray:
    """How far a share can rise, at most by `rest`, before the divergence passes c; by bisection.

    With ``d = q - p`` the divergence is ``p h(d / p) + (1 - p) h(-d / (1 - p))`` for
    ``h(x) = x - ln(1 + x)``. Both terms are positive, so that nothing cancels where q is near p.
    """
    low, high = np.zeros_like(rest), rest.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            up = np.where(share > _NOTHING, middle - share * np.log1p(middle / share), middle)
            down = np.where(rest > _NOTHING, -middle - rest * np.log1p(-middle / rest), 0.0)
            within = up + down <= c
            low, high = np.where(within, middle, low), np.where(within, high, middle)
    return high


def divergence(weights: FloatArray, prior: FloatArray) -> float:
    """``KL(rho || pi) = sum rho_t ln(rho_t / pi_t)`` of weights rho and a prior pi, in nats."""
    return max(float(np.sum(xlogy(weights, weights / prior))), 0.0)
