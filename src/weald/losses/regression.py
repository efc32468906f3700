"""Losses of real targets: squared, absolute, Huber, quantile, log-cosh. All use the identity link.

With the residual ``r = F - y``. Factors are such that the second derivative at the bottom is 1
where there is one: squared error is half the square, as in scikit-learn's ``_loss``, XGBoost and
LightGBM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.input.row_weights import RowWeights
from weald.losses.base import Leaves, Loss, register, set_number
from weald.losses.search import present, weighted_quantile

_LN2 = float(np.log(2.0))
# Far from the target, huber and log_cosh have (almost) no curvature. With a hundredth of what they
# have near it, no step gets out of hand.
_FLOOR = 0.01
_NOISE = 1e-14  # a direction that is smaller than this share of the largest does not move a row


@register
@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared error, ``l = 1/2 (F - y)^2``; the best constant is the mean.

    Examples
    --------
    >>> SquaredError().value(np.array([1.0]), np.array([4.0]))
    array([4.5])
    >>> SquaredError().gradient(np.array([1.0]), np.array([4.0]))
    array([3.])
    """

    name = "squared_error"
    constant_hessian = True
    hessian_floor = None
    of_difference = True
    engine_parameters = ()

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``1/2 r^2``."""
        r = F - y
        return 0.5 * r * r

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``r``."""
        return F - y

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """1."""
        return np.ones(np.shape(F))

    def constant(self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Weighted mean."""
        y, w, _ = present(y, sample_weight)
        return RowWeights(w, len(y)).mean(y)

    def line_step(
        self, y: FloatArray, F: FloatArray, h: FloatArray, r: FloatArray, rows: RowWeights
    ) -> float:
        """Least squares, ``sum w h r / sum w h^2``: matching pursuit (Mallat & Zhang 1993)."""
        return rows.sum(h * r) / rows.sum(h * h)


@register
@dataclass(frozen=True)
class AbsoluteError(Loss):
    """Absolute error, ``l = |F - y|``; the best constant is the median.

    Examples
    --------
    >>> AbsoluteError().constant(np.array([1.0, 2.0, 100.0]))
    2.0
    """

    name = "absolute_error"
    smooth = False
    of_difference = True
    engine_parameters = ()

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``|r|``."""
        return np.abs(F - y)

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``sign(r)``, 0 where the score meets the target."""
        return np.sign(F - y)

    def constant(self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Weighted median; halfway between the two middle targets if there are two."""
        y, w, _ = present(y, sample_weight)
        return weighted_quantile(y, w, 0.5)

    def line_step(
        self, y: FloatArray, F: FloatArray, h: FloatArray, r: FloatArray, rows: RowWeights
    ) -> float:
        """A weighted median (Friedman 2001, 4.3)."""
        return _quantile_step(0.5, y - F, h, rows)

    def leaf_steps(self, leaves: Leaves) -> FloatArray:
        """Weighted medians."""
        return leaves.quantiles(0.5)


@register
@dataclass(frozen=True)
class Huber(Loss):
    """Squared near the target, absolute far from it (Huber 1964): outliers pull with limited force.

    ``l = 1/2 r^2`` for ``|r| <= delta``, else ``delta (|r| - delta/2)``.

    Parameters
    ----------
    delta : float > 0, default 1.0
        The residual at which one becomes the other, in units of the target.

    Examples
    --------
    >>> Huber(delta=2.0).value(np.zeros(3), np.array([1.0, 2.0, 5.0]))
    array([0.5, 2. , 8. ])
    """

    delta: float = 1.0
    name = "huber"
    newton = False
    hessian_floor = _FLOOR
    of_difference = True
    engine_parameters = ("delta",)

    def __post_init__(self) -> None:
        set_number(self, "delta", "a finite number > 0", low=0)

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``c (|r| - c/2)`` with ``c = min(|r|, delta)``, which is both cases in one."""
        distance = np.abs(F - y)
        near = np.minimum(distance, self.delta)
        return near * (distance - 0.5 * near)

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``r``, cut off at ``-delta`` and ``delta``."""
        return np.clip(F - y, -self.delta, self.delta)

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """1 for ``|r| <= delta``, else 0."""
        return (np.abs(F - y) <= self.delta).astype(np.float64)

    def leaf_steps(self, leaves: Leaves) -> FloatArray:
        """The median, and the mean of what is left, cut off at delta (Friedman 2001, alg. 4)."""
        middle = leaves.quantiles(0.5)
        return middle + leaves.means(lambda r: np.clip(r, -self.delta, self.delta), middle)


@register
@dataclass(frozen=True)
class Quantile(Loss):
    """Quantile loss, ``l = q (y - F)`` below the target and ``(1 - q)(F - y)`` above it.

    Also called pinball loss (Koenker & Bassett 1978). Half the absolute error for q = 1/2.

    Parameters
    ----------
    quantile : float between 0 and 1 (exclusive), default 0.5
        The share of targets that is to lie below the prediction.

    Examples
    --------
    >>> Quantile(0.9).value(np.array([1.0, 1.0]), np.array([0.0, 2.0])).round(2)
    array([0.9, 0.1])
    """

    quantile: float = 0.5
    name = "quantile"
    smooth = False
    of_difference = True
    engine_parameters = ("quantile",)

    @property
    def share_below(self) -> float:
        """The quantile."""
        return self.quantile

    def __post_init__(self) -> None:
        set_number(self, "quantile", "a number between 0 and 1 (exclusive)", low=0, high=1)

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``max((1 - q) r, -q r)``."""
        r = F - y
        return np.maximum((1 - self.quantile) * r, -self.quantile * r)

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``-q`` below the target, ``1 - q`` above it, 0 where the score meets it."""
        r = F - y
        return (1 - self.quantile) * (r > 0) - self.quantile * (r < 0)

    def constant(self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Weighted quantile; halfway between two targets if both are as good."""
        y, w, _ = present(y, sample_weight)
        return weighted_quantile(y, w, self.quantile)

    def line_step(
        self, y: FloatArray, F: FloatArray, h: FloatArray, r: FloatArray, rows: RowWeights
    ) -> float:
        """A weighted quantile."""
        return _quantile_step(self.quantile, y - F, h, rows)

    def leaf_steps(self, leaves: Leaves) -> FloatArray:
        """Weighted quantiles."""
        return leaves.quantiles(self.quantile)


@register
@dataclass(frozen=True)
class LogCosh(Loss):
    """A smooth cousin of absolute error, ``l = ln cosh(F - y)``.

    About ``1/2 r^2`` near the target and ``|r| - ln 2`` far from it.

    Examples
    --------
    >>> LogCosh().value(np.zeros(2), np.array([0.5, 3.0])).round(3)
    array([0.12 , 2.309])
    """

    name = "log_cosh"
    newton = False
    hessian_floor = _FLOOR
    of_difference = True
    engine_parameters = ()

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``ln(1 + 2 sinh^2(r/2))`` near 0, ``|r| + ln(1 + exp(-2|r|)) - ln 2`` elsewhere.

        The same number; the first keeps its digits where the loss is tiny, the second cannot
        overflow.
        """
        distance = np.abs(F - y)
        near = np.log1p(2 * np.sinh(np.minimum(distance, 1) / 2) ** 2)
        far = distance + np.log1p(np.exp(-2 * distance)) - _LN2
        return np.asarray(np.where(distance < 1, near, far))

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``tanh(r)``."""
        return np.tanh(F - y)

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``1 / cosh^2(r) = 4 e / (1 + e)^2`` with ``e = exp(-2|r|)``."""
        e = np.exp(-2 * np.abs(F - y))
        return np.asarray(4 * e / (1 + e) ** 2)


def _quantile_step(q: float, distance: FloatArray, h: FloatArray, rows: RowWeights) -> float:
    """The weighted quantile of the steps ``(y - F) / h`` that bring each row to its target.

    The slope begins at ``-sum w |h| q``, with 1 - q for q where h < 0, and every row adds its
    ``w |h|`` when it is reached.
    """
    moved = np.abs(h) > _NOISE
    h, weight = h[moved], (rows.weights * np.abs(h))[moved]
    wanted = float((weight * np.where(h > 0, q, 1 - q)).sum() / weight.sum())
    return weighted_quantile(distance[moved] / h, weight, wanted)
