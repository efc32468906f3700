"""The kl inverse: what a share seen on n rows says about the share behind it.

``kl(p || q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q))`` is the divergence between two coins.
"""

from __future__ import annotations

from math import log1p

import numpy as np
from scipy.special import xlogy

from weald._engine import FloatArray

__all__ = ["divergence", "kl_lower", "kl_upper"]

_NOTHING = 1e-300  # a share below this is zero: its logarithm times itself is lost in any sum


def kl_upper(p: float, c: float) -> float:
    """Largest q with ``kl(p || q) <= c``: the upper kl inverse.

    A share p seen on n rows is below q with probability 1 - delta, for
    ``c = ln(2 sqrt(n) / delta) / n`` (Seeger 2002; the constant is from Maurer 2004).

    Parameters
    ----------
    p : float
        A share, between 0 and 1.
    c : float
        Not negative; infinity gives 1.

    Returns
    -------
    float
        Right to about 1e-15.

    Examples
    --------
    >>> print(f"between {kl_lower(0.1, 0.01):.4f} and {kl_upper(0.1, 0.01):.4f}")
    between 0.0629 and 0.1477
    """
    return min(p + _reach(p, 1.0 - p, c), 1.0)


def kl_lower(p: float, c: float) -> float:
    """Smallest q with ``kl(p || q) <= c``: the lower kl inverse; see `kl_upper`."""
    return max(p - _reach(1.0 - p, p, c), 0.0)


def _reach(share: float, rest: float, c: float) -> float:
    """How far a share can rise, at most by `rest`, before the divergence passes c; by bisection.

    With ``d = q - p`` the divergence is ``p h(d / p) + (1 - p) h(-d / (1 - p))`` for
    ``h(x) = x - ln(1 + x)``. Both terms are positive, so that nothing cancels where q is near p.
    """
    low, high = 0.0, rest
    while low < (d := (low + high) / 2.0) < high:
        up = d - share * log1p(d / share) if share > _NOTHING else d
        down = -d - rest * log1p(-d / rest)
        if up + down <= c:
            low = d
        else:
            high = d
    return high


def divergence(weights: FloatArray, prior: FloatArray) -> float:
    """``KL(rho || pi) = sum rho_t ln(rho_t / pi_t)`` of weights rho and a prior pi, in nats."""
    return max(float(np.sum(xlogy(weights, weights / prior))), 0.0)
