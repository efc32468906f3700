"""How far to go along a member: ``argmin_{nu >= 0} sum w_i L(y_i, F_i + nu h_i)``.

Where the loss has a formula (:meth:`weald.losses.Loss.line_step`) it is used. Otherwise the step is
found from the sign of the slope.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from weald._engine import FloatArray
from weald.input.row_weights import RowWeights
from weald.losses.base import Loss
from weald.losses.links import Identity
from weald.losses.search import bottom

__all__ = ["StepLength", "best_step", "negative_gradient"]

_NOISE = 1e-14  # a sum that is smaller than this share of its parts is 0, but for rounding
_MEETS = 1e-12  # a score that differs from its target by less, relatively, meets it
_REACH = 64.0  # scores of probabilities and of logarithms go no further in one step
_TOO_STEEP = 1e300  # the slope where a loss of the user's own is no number any more
_SURE_SHARE = float(expit(4.0))  # of a member that is never wrong: AdaBoost gives it a vote of 2


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
    >>> from weald.losses import AbsoluteError
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

    >>> from weald.losses import Exponential
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
    length = loss.line_step(y, F, g, r, rows)
    if length is None:
        length = _search(loss, y, F, g, rows, gain)
    endless = length == np.inf
    if endless:
        length = max(_sure_score(loss), largest_before)
    with np.errstate(over="ignore"):
        nu = length / largest
    return StepLength(nu if 0 < nu < np.inf else 0.0, endless)


def _search(
    loss: Loss, y: FloatArray, F: FloatArray, g: FloatArray, rows: RowWeights, gain: FloatArray
) -> float:
    """Bracket the bottom by doubling, then close in on it; infinity if there is none."""

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
        return np.inf  # no row is wrong, and every one gains
    length = bottom(slope, 0.0, first, reach)
    if not loss.convex:
        # There may be several valleys, and this one may lie higher than where we stand.
        here = risk(0.0)
        for _ in range(60):
            if risk(length) < here:
                break
            length /= 2
    return length


def _sure_score(loss: Loss) -> float:
    """The score of a probability that is nearly 1."""
    score = float(loss.link.link(np.asarray(_SURE_SHARE)))
    return score if 1 <= score < _REACH else _REACH
