"""What "auto" means in gradient boosting: one table, by the loss and the size of the data."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Defaults", "Family", "choose", "n_rows_of"]

Family: TypeAlias = Literal["likelihood", "numbers", "exact"]
"""Losses in units of log likelihood; others with a second derivative; those with exact steps."""

_MANY_ROWS = 10_000  # from here on rows can be spared for validation
_NOISE = 0.2  # log likelihood that a split must gain, with two classes


@dataclass(frozen=True)
class Defaults:
    """The values that stand for "auto".

    Attributes
    ----------
    learning_rate : float
    n_estimators : int
    max_leaf_nodes : int
    max_features : int
        Columns tried at each node.
    l2 : float
    min_gain : float
        Holds for trees of second order, whose gains are in units of the loss.
    min_hessian : float
    categorical_smoothing : float
    patience : int or None
        Rounds without gain before a fit stops early; None never stops it.
    """

    learning_rate: float
    n_estimators: int
    max_leaf_nodes: int
    max_features: int
    l2: float
    min_gain: float
    min_hessian: float
    categorical_smoothing: float
    patience: int | None


def n_rows_of(weights: npt.NDArray[np.float64] | None, n: int) -> float:
    """How many rows a table counts for.

    Whole weights say how often rows are repeated. Others have no scale (they may sum to 1), so
    that each row that has any counts once.
    """
    if weights is None:
        return n
    whole = bool((weights == np.floor(weights)).all())
    return float(weights.sum()) if whole else int(np.count_nonzero(weights))


def choose(
    n_rows: float, n_columns: int, n_classes: int, family: Family, *, slow: bool = False
) -> Defaults:
    """Choose for a loss and a table of this size.

    ==========  ========================  =====================  ===========  ==  ===============
    family      rounds                    leaves                 columns      l2  min_gain
    ==========  ========================  =====================  ===========  ==  ===============
    likelihood  500                       64                     root of all  1   0.4 / n_classes
    numbers     n_rows / 5, 200 to 1,000  n_rows / 25, 16 to 64  half         3   0
    exact       n_rows / 5, 200 to 400    n_rows / 25, 16 to 64  half         3   0
    ==========  ========================  =====================  ===========  ==  ===============

    Parameters
    ----------
    n_rows : float
        See :func:`n_rows_of`: a row of weight k is k rows here, too.
    n_columns : int
    n_classes : int
        Classes; 2 for losses of other targets.
    family : {"likelihood", "numbers", "exact"}
        "likelihood": log loss and others of classes, poisson, gamma.
    slow : bool, default=False
        Rounds are expensive (members of other kinds, dropout): 100 of them, at the rate 0.1.

    Notes
    -----
    The rate is 0.05. Reasons:

    - Columns are drawn anew at each node, so that trees of many rounds differ and average out.
      Classes do best with as few as in a forest, numbers with more.
    - A split of pure noise still gains a little log likelihood. Where no split gains more than
      `min_gain`, the fit has found what there is, and the rounds that are left add nothing. So a
      noisy table ends early and a clean one late, without rows held out. With more classes a row's
      loss is shared by more trees, and each asks for less. Losses with a unit have no such scale:
      there the rounds and the leaves grow with the rows.
    - An `l2` of 1 is what four rows or more weigh in log loss, whose second derivative is at most
      1/4; one of 3 is three rows in squared error.
    - `categorical_smoothing` grows with the root of the rows: the order of many categories in a
      large table overfits, while in a small one smoothing hides them.

    All this was chosen on the tables of the half "tune" in bench/defaults, and, for small tables of
    noisy numbers, which that half lacks, on some of its classes taken for numbers and on
    scikit-learn's diabetes data. The losses of "exact", of "gamma" and of "tweedie" are not in the
    study; the first had a short look. On the 17 tables of "tune" the geometric mean of the test
    losses is 0.96 of CatBoost's; as the settings were chosen there, that is flattering. On the 15
    of "check", run once with these settings, it is 1.05 of CatBoost's (1.01 without `vowel`, 11
    classes of 72 rows each, where it is 1.84) and 0.92 of that of LightGBM, the best of the others
    there. Time to fit is 3 % of CatBoost's. See bench/defaults/RESULTS.md.

    Tried for many classes and not taken: an `l2` in proportion to 1 / n_classes (no gain, and worse
    with noise), a smaller `min_gain` (clean tables gain 5 to 24 %, noisy ones lose as much), a
    `min_hessian` of up to 1/2 (1 %) and half the rate with twice the rounds (1 % more).

    Examples
    --------
    >>> choose(1000, 10, 2, "numbers").max_leaf_nodes
    40
    >>> choose(1000, 10, 2, "likelihood").max_features
    3
    """
    likelihood = family == "likelihood"
    most = {"likelihood": 500, "numbers": 1000, "exact": 400}[family]
    rounds = most if likelihood else min(most, max(200, int(n_rows / 5)))
    leaves = 64 if likelihood else min(64, max(16, int(n_rows / 25)))
    columns = isqrt(n_columns) if likelihood else n_columns // 2
    return Defaults(
        learning_rate=0.1 if slow else 0.05,
        n_estimators=100 if slow else rounds,
        max_leaf_nodes=leaves,
        max_features=min(n_columns, max(2, columns)),
        l2=1.0 if likelihood else 3.0,
        min_gain=2 * _NOISE / n_classes if likelihood else 0.0,
        min_hessian=1e-3,
        categorical_smoothing=sqrt(n_rows / 200),
        patience=10 if n_rows > _MANY_ROWS else None,
    )
