"""What one row weighs: weights without a scale, and losses with a unit, in numbers of rows."""

from __future__ import annotations

from math import fsum, log2
from typing import Any

import numpy as np

from weald.boosting.objective import Objective
from weald.input.fit_data import FitData
from weald.input.row_weights import RowWeights
from weald.losses import Log

__all__ = ["curvature_unit", "row_scale", "row_worth"]

_ROUNDING = 1e-9  # weights that are 1 on average but for rounding stay as they are
_AS_COUNTED = 1 / 8  # counts vary at least so much, in units of their mean


def row_scale(sample_weight: Any) -> float:
    """Factor that makes weights of rows say how many rows each row is.

    Whole weights say that already: a row of weight k is k rows. Others (shares, weights that sum to
    1, exposures) have no scale of their own: they are made 1 on average. So no factor of theirs
    makes a difference, and `l2_regularization`, `min_gain` and `min_hessian` mean the same for all.
    Weights of classes come on top, as they are.

    Parameters
    ----------
    sample_weight : array-like of shape (n,), optional
        As given, and checked. Rows of weight 0 are absent.

    Examples
    --------
    >>> row_scale([2.0, 1.0, 3.0])
    1.0
    >>> row_scale([0.125, 0.375, 0.0])
    4.0
    """
    if sample_weight is None:
        return 1.0
    weights = np.asarray(sample_weight, dtype=np.float64).ravel()
    weights = weights[weights > 0]
    if not len(weights) or bool((weights == np.floor(weights)).all()):
        return 1.0
    largest = float(weights.max())
    mean = fsum(weights / largest) / len(weights) * largest  # the same in any order of rows
    return 1.0 if abs(mean - 1) < _ROUNDING else 1 / mean


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
