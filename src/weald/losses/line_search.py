"""How far to go along a member: ``argmin_{nu >= 0} sum w_i L(y_i, F_i + nu h_i)``.

Where there is a formula it is used: squared error, absolute error and quantiles, and exponential
loss with members that say -1 or 1. Everything else is found from the sign of the slope.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from weald.input.row_weights import RowWeights
from weald.losses import (
    AbsoluteError,
    Exponential,
    Identity,
    Loss,
    Quantile,
    SquaredError,
)
from weald.losses.search import bottom, weighted_quantile

__all__ = ["StepLength", "best_step", "negative_gradient"]

FloatArray = npt.NDArray[np.float64]

_NOISE = 1e-14  # a sum that is smaller than this share of its parts is 0, but for rounding
_MEETS = 1e-12  # a score that differs from its target by less, relatively, meets it
_REACH = 64.0  # scores of probabilities and of logarithms go no further in one step
_TOO_STEEP = 1e300  # the slope where a loss of the user's own is no number any more
_SURE = float(expit(4.0))  # of a member that is never wrong: AdaBoost gives it a vote of 2


@dataclass(frozen=True)
class StepLength:
    """How far to go; `endless` if the loss falls all the way, so that this is far enough."""

    length: float
    endless: bool = False


def negative_gradient(
    loss: Loss, y: FloatArray, F: FloatArray, travelled: FloatArray
) -> FloatArray:
    """``r = -dL/dF``, the direction in which each row's score should move.

    Parameters
    ----------
    loss : Loss
    y, F : arrays of shape (n,)
    travelled : array of shape (n,)
        Sum of the sizes of all parts of F. Where the loss has a corner at the target, a score that
        meets it but for the rounding of these parts is at the corner.

    Examples
    --------
    >>> y, F = np.array([0.3, 1.0]), np.array([0.1 + 0.2, 0.0])
    >>> AbsoluteError().gradient(y, F), negative_gradient(AbsoluteError(), y, F, F)
    (array([ 1., -1.]), array([-0.,  1.]))
    """
    if not loss.smooth and loss.kind == "regression":
        F = np.where(np.abs(F - y) <= _MEETS * (np.abs(y) + travelled), y, F)
    r = -loss.gradient(y, F)
    if not np.isfinite(r).all():
        row = int((~np.isfinite(r)).argmax())
        raise ValueError(
            f"The gradient of {loss.name} is {-r[row]} for the target {y[row]:g} and the score "
            f"{F[row]:g}: a loss must have a finite gradient everywhere."
        )
    return r


def best_step(
    loss: Loss,
    y: FloatArray,
    F: FloatArray,
    h: FloatArray,
    r: FloatArray,
    rows: RowWeights,
    largest_before: float,
) -> StepLength:
    """Find the best step along a member; 0 if the loss does not fall in its direction.

    Parameters
    ----------
    loss : Loss
    y, F, h, r : arrays of shape (n,)
        Targets, scores, what the member says, the negative gradient.
    rows : RowWeights
    largest_before : float
        The most that any member before says, times its step: a step without end goes that far.

    Examples
    --------
    Three of four equal rows right: ``1/2 ln(3)``, AdaBoost's vote.

    >>> y, h = np.array([0.0, 0.0, 1.0, 1.0]), np.array([-1.0, 1.0, 1.0, 1.0])
    >>> F, rows = np.zeros(4), RowWeights(None, 4)
    >>> r = -Exponential().gradient(y, F)
    >>> float(np.exp(2 * best_step(Exponential(), y, F, h, r, rows, 0.0).length).round(12))
    3.0
    """
    largest = float(np.abs(h).max())
    if largest == 0:
        return StepLength(0.0)
    g = h / largest  # so that no square of it overflows or vanishes
    gain = (r / np.abs(r).max()) * g
    if rows.sum(gain) <= _NOISE * rows.sum(np.abs(gain)):
        return StepLength(0.0)
    if type(loss) is SquaredError:
        # Least squares, sum w h r / sum w h^2: matching pursuit (Mallat & Zhang 1993).
        length, endless = rows.sum(g * r) / rows.sum(g * g), False
    elif isinstance(loss, AbsoluteError | Quantile):
        length, endless = _quantile_step(loss, y - F, g, rows), False
    elif type(loss) is Exponential and (np.abs(g) == 1).all():
        length, endless = _vote(gain, rows)
    else:
        length, endless = _search(loss, y, F, g, rows, gain)
    if endless:
        length = max(_sure_score(loss), largest_before)
    with np.errstate(over="ignore"):
        nu = length / largest
    return StepLength(nu if 0 < nu < np.inf else 0.0, endless)


def _vote(gain: FloatArray, rows: RowWeights) -> tuple[float, bool]:
    """``1/2 ln((1 - e) / e)`` with e the share of the pull of wrong rows (Freund & Schapire 1997).

    Exponential loss with members -1 and 1: ``exp(-nu)`` for right rows, ``exp(nu)`` for wrong ones.
    Without wrong rows it falls for ever.
    """
    right, wrong = rows.sum(np.maximum(gain, 0.0)), rows.sum(np.maximum(-gain, 0.0))
    return (0.0, True) if wrong == 0 else (float(np.log(right / wrong)) / 2, False)


def _quantile_step(
    loss: AbsoluteError | Quantile, distance: FloatArray, g: FloatArray, rows: RowWeights
) -> float:
    """The weighted quantile of the steps ``(y - F) / g`` that bring each row to its target.

    The slope begins at ``-sum w |g| q``, with 1 - q for q where g < 0, and every row adds its
    ``w |g|`` when it is reached (a weighted median for absolute error: Friedman 2001, 4.3).
    """
    q = loss.quantile if isinstance(loss, Quantile) else 0.5
    moved = np.abs(g) > _NOISE
    g, weight = g[moved], (rows.weights * np.abs(g))[moved]
    wanted = float((weight * np.where(g > 0, q, 1 - q)).sum() / weight.sum())
    return weighted_quantile(distance[moved] / g, weight, wanted)


def _search(
    loss: Loss, y: FloatArray, F: FloatArray, g: FloatArray, rows: RowWeights, gain: FloatArray
) -> tuple[float, bool]:
    """Bracket the bottom by doubling, then close in on it; also whether there is none."""

    def slope(nu: float) -> float:
        with np.errstate(all="ignore"):
            parts = g * loss.gradient(y, F + nu * g)
            total, noise = rows.sum(parts), _NOISE * rows.sum(np.abs(parts))
        if not np.isfinite(noise):
            return _TOO_STEEP
        return 0.0 if abs(total) <= noise else total

    def risk(nu: float) -> float:
        with np.errstate(all="ignore"):
            return rows.sum(loss.value(y, F + nu * g))

    first, reach = 1.0, _REACH
    if loss.kind == "regression" and isinstance(loss.link, Identity):
        first = float(np.abs(y - F).max()) or 1.0
        reach = 1e9 * first
    if loss.kind == "binary" and (gain >= 0).all() and slope(reach) < 0:
        return reach, True  # no row is wrong, and every one gains
    length = bottom(slope, 0.0, first, reach)
    if not loss.convex:
        # There may be several valleys, and this one may lie higher than where we stand.
        here = risk(0.0)
        for _ in range(60):
            if risk(length) < here:
                break
            length /= 2
    return length, False


def _sure_score(loss: Loss) -> float:
    """The score of a probability that is nearly 1."""
    score = float(loss.link.link(np.asarray(_SURE)))
    return score if 1 <= score < _REACH else _REACH
