"""Losses of two classes: logistic, exponential, smoothed hinge, focal.

Targets are 0 and 1, and a score above 0 means class 1. All four are functions of the margin
``z = (2y - 1) F``, which is positive if the score is on the right side:

=============  ===========================  ==========================
loss           l(z)                         P(y = 1) given score F
=============  ===========================  ==========================
log_loss       ln(1 + exp(-z))              1 / (1 + exp(-F))
exponential    exp(-z)                      1 / (1 + exp(-2F))
smooth_hinge   max(1 - z, 0), rounded off   see ``links.HingeLink``
focal          (1 - p)^gamma (-ln p)        p = 1 / (1 + exp(-F))
=============  ===========================  ==========================

So ``dl/dF = (2y - 1) l'(z)`` and ``d2l/dF2 = l''(z)``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit

from weald._engine import FloatArray
from weald.input.row_weights import RowWeights
from weald.losses.base import FAR, Loss, class_weights, register, set_number
from weald.losses.links import HalfLogit, HingeLink, Link, Logit, bounded_exp, exp_then_line
from weald.losses.multiclass import Softmax
from weald.losses.search import present

# Far on the right side the hinge has no curvature, and far on the wrong side the focal loss has a
# little below 0.
_FLOOR = 0.01


class _MarginLoss(Loss):
    """A loss of two classes from l(z), l'(z) and l''(z)."""

    kind = "binary"
    link: Link = Logit()

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``l(z)``."""
        return self._of_margin(np.where(y > 0, F, -F))

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``(2y - 1) l'(z)``."""
        slope = self._slope(np.where(y > 0, F, -F))
        return np.where(y > 0, slope, -slope)

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``l''(z)``."""
        return self._curvature(np.where(y > 0, F, -F))

    def constant(self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Score of the weighted share of class 1; -30 or 30 where a class is (all but) absent."""
        y, w, _ = present(y, sample_weight)
        of_zero, of_one = class_weights(y, w, 2)
        score = self.link.link(np.asarray(of_one / (of_zero + of_one)))
        return float(np.clip(score, -FAR, FAR))

    @abstractmethod
    def _of_margin(self, z: FloatArray) -> FloatArray:
        """``l(z)``."""

    @abstractmethod
    def _slope(self, z: FloatArray) -> FloatArray:
        """``l'(z)``."""

    @abstractmethod
    def _curvature(self, z: FloatArray) -> FloatArray:
        """``l''(z)``."""


@register
@dataclass(frozen=True)
class LogLoss(_MarginLoss):
    """Logistic loss, ``l = ln(1 + exp(-z))``: minus the log of the probability of the target.

    The gradient is ``sigmoid(F) - y``. Textbooks that start from AdaBoost write
    ``ln(1 + exp(-2 y F))`` for y = -1, 1; their score is half of ours, which is the log odds.

    Examples
    --------
    >>> LogLoss().gradient(np.array([0.0, 1.0]), np.zeros(2))
    array([ 0.5, -0.5])
    """

    name = "log_loss"
    multiclass = Softmax
    hessian_floor = None
    unit_free = True
    engine_parameters = ()

    def _of_margin(self, z: FloatArray) -> FloatArray:
        """``ln(1 + exp(-z))``."""
        return np.asarray(-log_expit(z))

    def _slope(self, z: FloatArray) -> FloatArray:
        """``-1 / (1 + exp(z))``, with all its digits however small it is."""
        return np.asarray(-expit(-z))

    def _curvature(self, z: FloatArray) -> FloatArray:
        """``p (1 - p)``."""
        return np.asarray(expit(z) * expit(-z))


@register
@dataclass(frozen=True)
class Exponential(_MarginLoss):
    """Exponential loss of AdaBoost, ``l = exp(-z)``.

    Its best score is *half* the log odds (Friedman, Hastie & Tibshirani 2000). The exponent is held
    between -300 and 300; for a margin below -300 the value goes on along its tangent, so that it
    stays finite and convex, and derivatives stay what they are at the limit.

    Examples
    --------
    >>> Exponential().value(np.array([0.0, 1.0]), np.log([2.0, 2.0]))
    array([2. , 0.5])
    """

    name = "exponential"
    link = HalfLogit()
    hessian_floor = None
    unit_free = True
    engine_parameters = ()

    def _of_margin(self, z: FloatArray) -> FloatArray:
        """``exp(-z)``."""
        return exp_then_line(-z)

    def _slope(self, z: FloatArray) -> FloatArray:
        """``-exp(-z)``."""
        return -bounded_exp(-z)

    def _curvature(self, z: FloatArray) -> FloatArray:
        """``exp(-z)``."""
        return bounded_exp(-z)

    def line_step(
        self, y: FloatArray, F: FloatArray, h: FloatArray, r: FloatArray, rows: RowWeights
    ) -> float | None:
        """``1/2 ln((1 - e) / e)`` along a member that says -1 or 1 (Freund & Schapire 1997).

        With e the share of the gradient that wrong rows have: ``exp(-nu)`` for right rows,
        ``exp(nu)`` for wrong ones. Without wrong rows it falls for ever.
        """
        if not (np.abs(h) == 1).all():
            return None
        gain = (r / np.abs(r).max()) * h
        right, wrong = rows.sum(np.maximum(gain, 0.0)), rows.sum(np.maximum(-gain, 0.0))
        return np.inf if wrong == 0 else float(np.log(right / wrong)) / 2


@register
@dataclass(frozen=True)
class SmoothHinge(_MarginLoss):
    """The hinge ``max(1 - z, 0)`` with its corner rounded off (Rennie & Srebro 2005).

    With smoothness s: 0 for ``z >= 1``, ``(1 - z)^2 / (2s)`` for ``1 - s < z < 1``, and
    ``1 - z - s/2`` below; a straight line on the wrong side, and nothing to gain beyond margin 1.
    A score therefore stands for a probability only between -1 and 1: that of
    :class:`weald.losses.links.HingeLink`.

    Parameters
    ----------
    smoothness : float > 0, default 1.0
        The width s of the rounded part.

    Examples
    --------
    >>> SmoothHinge().value(np.ones(4), np.array([-1.0, 0.0, 0.5, 1.0]))
    array([1.5  , 0.5  , 0.125, 0.   ])
    """

    smoothness: float = 1.0
    name = "smooth_hinge"
    newton = False
    hessian_floor = _FLOOR
    engine_parameters = ("smoothness",)
    link: Link = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_number(self, "smoothness", "a finite number > 0", low=0)
        object.__setattr__(self, "link", HingeLink(self.smoothness))

    def _of_margin(self, z: FloatArray) -> FloatArray:
        """``c (1 - z - c s/2)`` with ``c = -l'(z)``, which is all three cases in one."""
        pull = -self._slope(z)
        return pull * (1 - z - 0.5 * self.smoothness * pull)

    def _slope(self, z: FloatArray) -> FloatArray:
        """``-(1 - z) / s``, cut off at -1 and 0."""
        return -np.clip((1 - z) / self.smoothness, 0, 1)

    def _curvature(self, z: FloatArray) -> FloatArray:
        """``1 / s`` in the rounded part, else 0."""
        rounded = (z < 1) & (z > 1 - self.smoothness)
        return np.where(rounded, 1 / self.smoothness, 0.0)


@register
@dataclass(frozen=True)
class Focal(_MarginLoss):
    """Focal loss, ``l = (1 - p)^gamma (-ln p)`` with ``p = sigmoid(z)`` (Lin et al. 2017).

    Rows that are already right count less than in log_loss, which is gamma = 0. It is not convex:
    for rows that are badly wrong the second derivative is slightly negative. Nor is it proper: at
    its best score ``sigmoid(F)`` is closer to 1/2 than the share of class 1, though on the same
    side of it (Charoenphakdee et al. 2021).

    Parameters
    ----------
    gamma : float >= 0, default 2.0

    Examples
    --------
    >>> Focal(gamma=2.0).value(np.ones(1), np.zeros(1)) * 4 / np.log(2)
    array([1.])
    """

    gamma: float = 2.0
    name = "focal"
    convex = False
    hessian_floor = _FLOOR
    unit_free = True
    engine_parameters = ("gamma",)

    def __post_init__(self) -> None:
        just_below_0 = -np.nextafter(0.0, 1.0)
        set_number(self, "gamma", "a finite number >= 0", low=just_below_0)

    def constant(self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Best score by search, at most 30 away from 0.

        The loss is convex in p though not in F, so that the mean loss has one valley.
        """
        return float(Loss.constant(self, y, sample_weight))

    def _of_margin(self, z: FloatArray) -> FloatArray:
        """``q^gamma L`` with ``q = 1 - p`` and ``L = -ln p``."""
        return np.asarray(expit(-z) ** self.gamma * -log_expit(z))

    def _slope(self, z: FloatArray) -> FloatArray:
        """``-q^gamma (gamma p L + q)``, since ``dq/dz = -p q`` and ``dL/dz = -q``."""
        p, q = expit(z), expit(-z)
        return np.asarray(-(q**self.gamma) * (self.gamma * p * -log_expit(z) + q))

    def _curvature(self, z: FloatArray) -> FloatArray:
        """``p q^gamma (gamma L (gamma p - q) + (2 gamma + 1) q)``."""
        p, q, gamma = expit(z), expit(-z), self.gamma
        inner = gamma * -log_expit(z) * (gamma * p - q) + (2 * gamma + 1) * q
        return np.asarray(p * q**gamma * inner)
