"""Pools: how predictions with weights become one.

Linear, ``P = sum_m a_m P_m``. Or of class probabilities, logarithmic (Genest & Zidek 1986)::

    P_k  ~  prod_m P_mk ^ (s a_m)

with weights on the simplex and a sharpness s. A linear pool of calibrated members is less sure than
it should be; a logarithmic one is as sure as its s makes it, and lets a member veto a class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from weald import combining
from weald._engine import FloatArray
from weald.crossfit.risks import LossRisk, NoRisk, Risk
from weald.crossfit.weights import METHODS, NEGLIGIBLE
from weald.losses import LogLoss, Softmax

__all__ = ["LOG_POOL", "Pool", "make_pool"]

LOG_POOL = "log_pool"

_LEAST = 0.003  # what a smaller share counts as: a veto must not rest on a member's overconfidence
_STEPS = 100


@dataclass(frozen=True, eq=False)
class Pool:
    """Weights, and how they are used.

    Attributes
    ----------
    weights : array of shape (M,)
        Not negative, with the sum 1.
    sharpness : float, optional
        Of a logarithmic pool; None: the pool is linear.
    """

    weights: FloatArray
    sharpness: float | None = None

    def mix(self, said: Iterable[FloatArray]) -> FloatArray:
        """What comes of the predictions of the members, one (n, K) after the other."""
        if self.sharpness is None:
            return combining.mean(said, self.weights)
        powers = self.sharpness * self.weights
        raw = sum(power * _logs(P) for power, P in zip(powers, said, strict=True))
        return _shares_of(np.asarray(raw))


def make_pool(method: str, risk: Risk, Z: FloatArray, y: npt.NDArray[Any], w: FloatArray) -> Pool:
    """The pool of least risk on level-1 rows.

    Parameters
    ----------
    method : str
        "auto" is the logarithmic pool if the risk is the log loss, else the simplex.
    risk, Z, y, w : see :mod:`weald.crossfit.weights`
    """
    of_log_loss = isinstance(risk, LossRisk) and type(risk.loss) in (LogLoss, Softmax)
    if isinstance(risk, NoRisk):
        method = "best"
    if method == "auto":
        method = LOG_POOL if of_log_loss else "simplex"
    if method != LOG_POOL:
        return Pool(METHODS[method](risk, Z, y, w))
    if not of_log_loss:
        raise ValueError(
            f"method={LOG_POOL!r} minimises the log loss of classes, but the risk is {risk.name}."
        )
    powers = _powers(Z, y, w)
    powers[powers < NEGLIGIBLE * powers.sum()] = 0.0
    return Pool(powers / powers.sum(), float(powers.sum()))


def _logs(Z: FloatArray) -> FloatArray:
    return np.log(np.clip(Z, _LEAST, 1.0))


def _log_mixed(powers: FloatArray, logs: FloatArray) -> FloatArray:
    return _shares_of(np.einsum("m,nmk->nk", powers, logs, optimize=True))


def _shares_of(raw: FloatArray) -> FloatArray:
    shares = np.exp(raw - raw.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _powers(Z: FloatArray, y: npt.NDArray[Any], w: FloatArray) -> FloatArray:
    """``argmin_{a >= 0}`` of the log loss, which is convex in the powers a, by Newton steps."""
    logs, share = _logs(Z), w / w.sum()
    n, M, _ = logs.shape
    of_truth = logs[np.arange(n), :, y.astype(np.intp)]

    def value(a: FloatArray) -> float:
        raw = np.einsum("m,nmk->nk", a, logs, optimize=True)
        top = raw.max(axis=1)
        sums = np.log(np.exp(raw - top[:, None]).sum(axis=1)) + top
        return float(share @ (sums - of_truth @ a))

    here = np.full(M, 1 / M)
    now = value(here)
    for _ in range(_STEPS):
        P = _log_mixed(here, logs)
        expected = np.einsum("nk,nmk->nm", P, logs, optimize=True)
        slopes = share @ (expected - of_truth)
        # Optimal: no slope below 0, and none above 0 where there is weight.
        if max(-slopes.min(), (np.abs(slopes) * here).max()) <= 1e-9 * max(now, 1e-12):
            break
        spread = np.sqrt(share[:, None, None] * P[:, None, :]) * (logs - expected[:, :, None])
        flat = spread.transpose(1, 0, 2).reshape(M, -1)
        aim = _least_positive(flat @ flat.T, slopes - flat @ (flat.T @ here))
        step = 1.0
        while step > 1e-10 and value(here + step * (aim - here)) > now:
            step /= 2
        there = here + step * (aim - here)
        then = value(there)
        if then >= now:
            break
        here, now = there, then
    return here if here.sum() > 0 else np.full(M, 1e-3 / M)


def _least_positive(H: FloatArray, q: FloatArray) -> FloatArray:
    """``argmin a'Ha/2 + q'a`` over ``a >= 0``, as non-negative least squares."""
    M = len(q)
    ridge = 1e-10 * max(np.trace(H) / M, np.finfo(float).tiny)
    values, vectors = np.linalg.eigh(H + ridge * np.eye(M))
    root = np.sqrt(np.maximum(values, ridge))
    return np.asarray(nnls(root[:, None] * vectors.T, -(vectors.T @ q) / root)[0])
