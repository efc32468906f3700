"""The loss of many classes: softmax, also called cross-entropy or multinomial log loss."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt
from scipy.special import log_expit

from weald._engine import FloatArray
from weald.losses.base import FAR, Loss, class_weights, register
from weald.losses.links import SoftmaxLink, class_by_class
from weald.losses.search import present


@register
@dataclass(frozen=True)
class Softmax(Loss):
    """Minus the log of the probability of the target, ``l = ln sum_k exp(F_k) - F_y``.

    Scores have shape (n, K), targets are codes 0 .. K-1. Adding a number to all scores of a row
    changes nothing. With two classes and scores (0, F) it is :class:`weald.losses.LogLoss`.

    Parameters
    ----------
    n_classes : int >= 2, optional
        K, for ``constant`` and ``check_target``; None takes the largest code as the last class.

    Examples
    --------
    >>> loss = Softmax()
    >>> loss.gradient(np.array([2.0]), np.log([[1.0, 1.0, 2.0]]))
    array([[ 0.25,  0.25, -0.5 ]])
    >>> loss.link.inverse(loss.constant(np.array([0.0, 1.0, 2.0, 2.0])))
    array([0.25, 0.25, 0.5 ])
    """

    n_classes: int | None = None
    name = "softmax"
    kind = "multiclass"
    link = SoftmaxLink()
    hessian_floor = None
    unit_free = True
    engine_parameters = ()

    def __post_init__(self) -> None:
        K = self.n_classes
        if K is None:
            return
        if not isinstance(K, Integral) or isinstance(K, bool) or K < 2:
            raise ValueError(
                f"n_classes of softmax must be None or a whole number >= 2, got {K!r}."
            )
        object.__setattr__(self, "n_classes", int(K))

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``ln(1 + sum_{k != y} exp(F_k - F_y))``: no digits are lost where the loss is tiny."""
        rows, codes = _own_class(y)
        ahead = class_by_class(F)
        ahead -= F[rows, codes]
        ahead[codes, rows] = -np.inf
        top = ahead.max(axis=0)
        others = top + np.log(np.exp(ahead - top).sum(axis=0))
        return np.asarray(-log_expit(-others))

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``p_k - 1[k = y]``; for the target's class, minus the sum of the other p."""
        rows, codes = _own_class(y)
        p = self.link.inverse(F)
        p[rows, codes] = 0
        p[rows, codes] = -p.sum(axis=1)
        return p

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """Diagonal ``p_k (1 - p_k)``; for the largest p, 1 - p is the sum of the others."""
        p = self.link.inverse(F)
        rows, largest = np.arange(len(p)), p.argmax(axis=1)
        rest = 1 - p
        others = p.copy()
        others[rows, largest] = 0
        rest[rows, largest] = others.sum(axis=1)
        return p * rest

    def constant(self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> FloatArray:
        """Logarithms of the weighted class shares, an absent class as exp(-30), summing to 0."""
        y, w, _ = present(y, sample_weight)
        weights = class_weights(y, w, self.n_classes or 2)
        return self.link.link(np.maximum(weights / weights.sum(), np.exp(-FAR)))


def _own_class(y: FloatArray) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Row numbers and codes, to pick each row's own class."""
    return np.arange(len(y)), np.asarray(y).astype(np.intp)
