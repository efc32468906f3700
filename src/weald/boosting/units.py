"""What one row weighs: weights without a scale, and losses with a unit, in numbers of rows."""

from __future__ import annotations

from math import log2

import numpy as np

from weald._engine import FloatArray
from weald.boosting.objective import Objective
from weald.input.fit_data import FitData
from weald.input.row_weights import RowWeights
from weald.losses import Log

__all__ = ["curvature_unit", "row_worth", "weights_in_rows"]

_AS_COUNTED = 1 / 8  # counts vary at least so much, in units of their mean


def weights_in_rows(weights: FloatArray | None) -> FloatArray | None:
    """The weights, such that they say how many rows each row is.

    Whole weights say that already, but for a factor that all of them share. Others (shares, weights
    that sum to 1, exposures) have no scale of their own: they are made 1 on average. So no factor
    of all weights makes a difference, and `l2_regularization`, `min_gain` and `min_hessian` mean
    the same for all.

    Parameters
    ----------
    weights : array of shape (n,), optional
        All above 0.

    Examples
    --------
    >>> weights_in_rows(np.array([200.0, 100.0, 300.0]))
    array([2., 1., 3.])
    >>> weights_in_rows(np.array([0.25, 0.75]))
    array([0.5, 1.5])
    """
    if weights is None or not len(weights):
        return weights
    exact = float(weights.max()) < 2**53
    if exact and bool((weights == np.floor(weights)).all()):
        common = float(np.gcd.reduce(weights.astype(np.int64)))
        return weights if common == 1 else weights / common
    mean = float(weights.mean())
    # Class weights that are balanced have the mean 1 but for rounding, which is to stay out of it.
    return weights if abs(mean - 1) < 1e-9 else weights / mean


def curvature_unit(objective: Objective, rows: FitData) -> float:
    """What the second derivative of a row is like, where that depends on the unit of the target.

    Predictions that are ``exp(F)`` have a loss in the unit of the target (or a power of it), and so
    are its derivatives. For "tweedie" the unit is the mean second derivative at the best constant.
    For "poisson" it is 1 as long as targets vary as counts do, by their mean or more. Those that
    vary far less are no counts, or counts in another unit: with a quasi-likelihood (Wedderburn
    1974) their loss is divided by the dispersion ``mean (y - m)² / m``, as a power of 2.

    Parameters
    ----------
    objective : Objective
    rows : FitData

    Returns
    -------
    float > 0
        What `l2_regularization`, `min_gain` and `min_hessian` are multiplied by, where they are
        "auto".
    """
    if not (objective.built_in and isinstance(objective.link, Log) and objective.has_hessian):
        return 1.0
    found = []
    for loss, y in zip(objective.losses, objective.targets(rows.y), strict=True):
        mean = RowWeights(rows.weights, len(y)).mean
        start = np.full(len(y), loss.constant(y, rows.weights))
        if loss.unit_free:
            m = float(np.exp(start[0]))
            spread = mean((y - m) ** 2) / m if loss.name == "poisson" else 1.0
            found.append(spread if 0 < spread < _AS_COUNTED else 1.0)
        else:
            found.append(mean(loss.hessian(y, start)))
    least = min(found)
    return float(2.0 ** round(log2(least))) if 0 < least < np.inf else 1.0


def row_worth(objective: Objective, rows: FitData) -> float:
    """How much a row tells: with counts that are mostly 0 there is news in few rows only.

    The information of a count about the logarithm of its mean m is m; more than 1 is taken for 1.
    """
    if objective.name != "poisson" or not objective.built_in or len(rows) == 0:
        return 1.0
    mean = RowWeights(rows.weights, len(rows)).mean
    means = [mean(y) for y in objective.targets(rows.y)]
    return float(min(1.0, max(min(means) / curvature_unit(objective, rows), 1e-9)))
