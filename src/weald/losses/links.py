"""Links: from the score a model sums up to the prediction it makes, and back.

A score may be any number; a prediction often may not (a mean of counts is positive, a probability
lies between 0 and 1). ``inverse`` takes scores to predictions, ``link`` predictions to scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from weald._engine import FloatArray

# exp(300) is 2e130: its square, summed over a billion rows, is still a finite number, so neither a
# loss nor a sum like G^2 / H made from its derivatives can overflow.
EXPONENT_LIMIT = 300.0


def bounded_exp(x: FloatArray) -> FloatArray:
    """``exp(x)``, held constant where x is beyond -300 or 300."""
    bounded: FloatArray = np.exp(np.clip(x, -EXPONENT_LIMIT, EXPONENT_LIMIT))
    return bounded


def exp_then_line(x: FloatArray) -> FloatArray:
    """``exp(x)``, continued by its tangent above 300.

    The losses use it where their derivatives use :func:`bounded_exp`: values stay convex, and agree
    with the gradient on both sides of 300.
    """
    return np.asarray(bounded_exp(x) * (1 + np.maximum(x - EXPONENT_LIMIT, 0)))


def class_by_class(F: FloatArray) -> FloatArray:
    """A copy of scores (..., K) as (K, ...): sums over few classes are then long vector loops."""
    F = np.asarray(F)
    turned = F.T if F.ndim == 2 else np.moveaxis(F, -1, 0)  # one row: `moveaxis` takes longer
    return np.array(turned, dtype=np.float64, order="C")


class Link(ABC):
    """A monotone map between predictions and scores.

    A prediction at the end of its range (a probability of 0, a mean of 0) has an infinite score,
    unless the link says otherwise.

    Attributes
    ----------
    name : str
    symmetric : bool
        Of two classes: the score of a probability p is minus that of 1 - p.
    """

    name: str
    symmetric: bool = False

    @abstractmethod
    def link(self, mu: FloatArray) -> FloatArray:
        """Scores of predictions."""

    @abstractmethod
    def inverse(self, F: FloatArray) -> FloatArray:
        """Predictions of scores; finite for every finite score."""

    def slope(self, mu: FloatArray) -> FloatArray:
        """``dF / dmu`` of predictions inside their range; a difference, if there is no formula."""
        h = 1e-6 * np.minimum(mu, np.abs(1 - mu)) if self.symmetric else 1e-6 * np.abs(mu)
        h = np.maximum(h, np.finfo(np.float64).tiny)
        return np.asarray((self.link(mu + h) - self.link(mu - h)) / (2 * h))


@dataclass(frozen=True)
class Identity(Link):
    """The score is the prediction."""

    name = "identity"

    def link(self, mu: FloatArray) -> FloatArray:
        """``F = mu``."""
        return mu

    def inverse(self, F: FloatArray) -> FloatArray:
        """``mu = F``."""
        return F

    def slope(self, mu: FloatArray) -> FloatArray:
        """1."""
        return np.ones_like(mu)


@dataclass(frozen=True)
class Log(Link):
    """The score is the logarithm of a positive prediction.

    Examples
    --------
    >>> Log().inverse(np.array([0.0, np.log(2.0)]))
    array([1., 2.])
    """

    name = "log"

    def link(self, mu: FloatArray) -> FloatArray:
        """``F = ln mu``."""
        with np.errstate(divide="ignore"):
            return np.log(mu)

    def inverse(self, F: FloatArray) -> FloatArray:
        """``mu = exp(F)``, with F held between -300 and 300."""
        return bounded_exp(F)

    def slope(self, mu: FloatArray) -> FloatArray:
        """``1 / mu``."""
        return np.asarray(1 / mu)


@dataclass(frozen=True)
class Logit(Link):
    """The score is the log odds of a probability.

    Examples
    --------
    >>> Logit().inverse(np.array([0.0, np.log(3.0)]))
    array([0.5 , 0.75])
    """

    name = "logit"
    symmetric = True

    def link(self, mu: FloatArray) -> FloatArray:
        """``F = ln(p / (1 - p))``."""
        return np.asarray(logit(mu))

    def inverse(self, F: FloatArray) -> FloatArray:
        """``p = 1 / (1 + exp(-F))``."""
        return np.asarray(expit(F))

    def slope(self, mu: FloatArray) -> FloatArray:
        """``1 / (p (1 - p))``."""
        return np.asarray(1 / (mu * (1 - mu)))


@dataclass(frozen=True)
class HalfLogit(Link):
    """The score is half the log odds, as in AdaBoost (Friedman, Hastie & Tibshirani 2000).

    Examples
    --------
    >>> HalfLogit().inverse(np.array([0.0, np.log(3.0) / 2]))
    array([0.5 , 0.75])
    """

    name = "half_logit"
    symmetric = True

    def link(self, mu: FloatArray) -> FloatArray:
        """``F = 1/2 ln(p / (1 - p))``."""
        return np.asarray(logit(mu)) / 2

    def inverse(self, F: FloatArray) -> FloatArray:
        """``p = e^F / (e^F + e^-F)``."""
        return np.asarray(expit(2 * np.asarray(F)))

    def slope(self, mu: FloatArray) -> FloatArray:
        """``1 / (2 p (1 - p))``."""
        return np.asarray(0.5 / (mu * (1 - mu)))


@dataclass(frozen=True)
class HingeLink(Link):
    """The probability at which a score is the best answer to the smoothed hinge.

    Where a share p of the rows has y = 1, ``p l(F) + (1 - p) l(-F)`` is least at the F with
    ``p = l'(-F) / (l'(F) + l'(-F))`` (setting the derivative to 0). With the smoothed hinge,
    ``-l'(z) = clip((1 - z) / s, 0, 1)``. Scores of 1 and more mean p = 1, and scores that differ
    from 0 by less than ``1 - s`` all mean p = 1/2: how far the hinge can tell probabilities apart
    depends on its smoothness. With s = 1 it can do so in all of (0, 1).

    Examples
    --------
    >>> HingeLink(1.0).inverse(np.array([-2.0, 0.0, 0.5, 1.0])).round(3)
    array([0.   , 0.5  , 0.667, 1.   ])
    """

    smoothness: float
    name = "hinge"
    symmetric = True

    def link(self, mu: FloatArray) -> FloatArray:
        """Solve the equation of ``inverse`` for F; 0 for p = 1/2, -1 and 1 for p = 0 and 1."""
        s = self.smoothness
        larger = np.maximum(mu, 1 - mu)
        # Both slopes in the rounded part, or the wrong side's already -1.
        distance = np.where(larger <= s / 2, 2 * larger - 1, 1 + s - s / larger)
        return np.asarray(np.sign(mu - 0.5) * distance)

    def inverse(self, F: FloatArray) -> FloatArray:
        """``p = l'(-F) / (l'(F) + l'(-F))``."""
        of_one = np.clip((1 - F) / self.smoothness, 0, 1)
        of_zero = np.clip((1 + F) / self.smoothness, 0, 1)
        return np.asarray(of_zero / (of_one + of_zero))


@dataclass(frozen=True)
class SoftmaxLink(Link):
    """The scores of a row are the logarithms of its class probabilities, up to a common shift.

    Examples
    --------
    >>> SoftmaxLink().inverse(np.array([[0.0, 0.0, np.log(2.0)]]))
    array([[0.25, 0.25, 0.5 ]])
    """

    name = "softmax"

    def link(self, mu: FloatArray) -> FloatArray:
        """``F_k = ln p_k``, shifted so that a row's scores sum to 0; p is at least exp(-300)."""
        logs = np.log(np.maximum(mu, np.exp(-EXPONENT_LIMIT)))
        return np.asarray(logs - logs.mean(axis=-1, keepdims=True))

    def inverse(self, F: FloatArray) -> FloatArray:
        """``p_k = exp(F_k) / sum_j exp(F_j)``."""
        e = class_by_class(F)
        e -= np.maximum.reduce(e)
        np.exp(e, out=e)
        e /= np.add.reduce(e)
        return np.ascontiguousarray(e.T if e.ndim == 2 else np.moveaxis(e, 0, -1))

    def slope(self, mu: FloatArray) -> FloatArray:
        """``1 / p_k``: the common shift changes no loss."""
        return np.asarray(1 / mu)


def two_shares(link: Link, F: FloatArray) -> FloatArray:
    """Probabilities of two classes, shape (n, 2), from the scores of the second.

    Where the link is symmetric both are computed, so that one close to 1 leaves the other its
    digits. A link of the user's own may leave the range of probabilities: what it says is cut off.

    Examples
    --------
    >>> two_shares(Logit(), np.array([0.0, np.log(3.0)]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    shares = np.empty((len(F), 2))
    shares[:, 1] = link.inverse(F)
    shares[:, 0] = link.inverse(-F) if getattr(link, "symmetric", False) else 1 - shares[:, 1]
    return np.clip(shares, 0, 1, out=shares)
