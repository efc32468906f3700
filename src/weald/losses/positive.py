"""Losses of targets that are not negative: Poisson, gamma, Tweedie. All use the log link.

Half the deviance of the distribution, without the terms that depend on the target alone (they
change neither a fit nor a comparison of fits); so values may be negative. Same conventions as
scikit-learn's ``_loss``. The best constant is the logarithm of the mean target for all three.

Exponents are held between -300 and 300. Beyond, values go on along their tangent, so that they stay
finite and convex, and derivatives stay what they are at the limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.input.row_weights import RowWeights
from weald.losses.base import FAR, Loss, register, set_number
from weald.losses.links import Link, Log, bounded_exp, exp_then_line
from weald.losses.search import present


class _LogMeanLoss(Loss):
    """A loss of non-negative targets whose prediction ``exp(F)`` is a mean."""

    link: Link = Log()
    positive_only = True

    def constant(self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """Logarithm of the weighted mean; -30 if all targets are 0."""
        y, w, _ = present(y, sample_weight)
        centre = RowWeights(w, len(y)).mean(y)
        return float(np.log(centre)) if centre > 0 else -FAR

    def _domain(self, y: FloatArray) -> tuple[str, npt.NDArray[np.bool_]]:
        return "targets >= 0", y >= 0


@register
@dataclass(frozen=True)
class Poisson(_LogMeanLoss):
    """Counts: ``l = exp(F) - y F``, half the Poisson deviance.

    Examples
    --------
    >>> Poisson().gradient(np.array([3.0]), np.array([0.0]))
    array([-2.])
    """

    name = "poisson"
    hessian_floor = None
    unit_free = True
    engine_parameters = ()

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``exp(F) - y F``."""
        return exp_then_line(F) - y * F

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``exp(F) - y``."""
        return bounded_exp(F) - y

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``exp(F)``."""
        return bounded_exp(F)


@register
@dataclass(frozen=True)
class Gamma(_LogMeanLoss):
    """Positive amounts with a spread in proportion to their mean: ``l = F + y exp(-F)``.

    Half the gamma deviance.

    Examples
    --------
    >>> Gamma().gradient(np.array([3.0]), np.array([0.0]))
    array([-2.])
    """

    name = "gamma"
    hessian_floor = None
    unit_free = True
    engine_parameters = ()

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``F + y exp(-F)``."""
        return F + y * exp_then_line(-F)

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``1 - y exp(-F)``."""
        return 1 - y * bounded_exp(-F)

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``y exp(-F)``."""
        return y * bounded_exp(-F)

    def _domain(self, y: FloatArray) -> tuple[str, npt.NDArray[np.bool_]]:
        return "targets > 0", y > 0


@register
@dataclass(frozen=True)
class Tweedie(_LogMeanLoss):
    """Amounts that are often exactly 0, such as claims: a Poisson number of gamma amounts.

    ``l = exp((2-p) F) / (2-p) + y exp((1-p) F) / (p-1)``, half the deviance of Tweedie's (1984)
    distribution with variance ``phi mean^p``.

    Parameters
    ----------
    power : float between 1 and 2 (exclusive), default 1.5
        The exponent p: close to 1 like Poisson, close to 2 like gamma.

    Examples
    --------
    >>> Tweedie(1.5).value(np.array([0.0, 3.0]), np.zeros(2))
    array([2., 8.])
    """

    power: float = 1.5
    name = "tweedie"
    hessian_floor = None
    engine_parameters = ("power",)

    def __post_init__(self) -> None:
        set_number(self, "power", "a number between 1 and 2 (exclusive)", low=1, high=2)

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``exp((2-p) F) / (2-p) + y exp((1-p) F) / (p-1)``."""
        p = self.power
        return exp_then_line((2 - p) * F) / (2 - p) + y * exp_then_line((1 - p) * F) / (p - 1)

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``exp((2-p) F) - y exp((1-p) F)``."""
        p = self.power
        return bounded_exp((2 - p) * F) - y * bounded_exp((1 - p) * F)

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """``(2-p) exp((2-p) F) + (p-1) y exp((1-p) F)``."""
        p = self.power
        return (2 - p) * bounded_exp((2 - p) * F) + (p - 1) * y * bounded_exp((1 - p) * F)
