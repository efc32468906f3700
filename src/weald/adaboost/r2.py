"""AdaBoost.R2 (Drucker 1997): what a regressor's errors are worth, and its rounds.

It is the loop of AdaBoost (:mod:`weald.adaboost.loop`) with rows that are more or less wrong instead
of wrong or right. A row's error, as a share of the largest, becomes a loss L between 0 and 1:

    ===========  =========================
    loss         L, d = |y - h| / largest
    ===========  =========================
    linear       d
    square       d^2
    exponential  1 - exp(-d)
    ===========  =========================

The error of the member is the mean loss, e = sum w L, and with beta = e / (1 - e)

    w <- w beta^(1 - L) / Z        vote ln(1 / beta) = 2 alpha,  alpha = 1/2 ln((1 - e) / e)

so that the factor is exp(-alpha M) with the margin M = 2 (1 - L). Predictions are medians of the
members, weighted by their votes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald.adaboost.algorithms import Stage, half_log_odds
from weald.adaboost.data import BoostData
from weald.adaboost.learners import bin_rows, draw_by_weight, draws, fit_member, grow_rules
from weald.adaboost.params import BoostParams
from weald.input.raw_table import take_rows
from weald.input.row_weights import RowWeights
from weald.members.foreign import Counts, member_outputs, takes_weights

__all__ = ["LOSSES", "AnyR2Rounds", "R2Rounds", "R2Rule", "TreeR2Rounds"]

FloatArray = npt.NDArray[np.float64]

_LEAST_WEIGHT = 1e-300  # of a row that is present: it must not come to count as absent


def _linear(d: FloatArray) -> FloatArray:
    return d


def _square(d: FloatArray) -> FloatArray:
    return d * d


def _exponential(d: FloatArray) -> FloatArray:
    return -np.expm1(-d)


LOSSES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "linear": _linear,
    "square": _square,
    "exponential": _exponential,
}


@dataclass(frozen=True)
class R2Rule:
    """How a regressor is judged.

    Attributes
    ----------
    loss : callable
        L of errors between 0 and 1.
    """

    loss: Callable[[FloatArray], FloatArray]
    alpha: ClassVar[float | None] = None
    any_edge: ClassVar[bool] = False
    hopeless: ClassVar[str] = (
        "its mean loss is 1/2 or more of the largest, where AdaBoost.R2 stops, and the first "
        "member predicts alone"
    )

    def stage(self, said: FloatArray, weights: FloatArray, counts: Counts = None) -> Stage:
        """What the errors of a member are worth.

        Parameters
        ----------
        said : array of shape (n, 1)
            |y - h|.
        weights : array of shape (n, 1)
            1 in total. Errors of rows without weight do not count.
        counts : array of shape (n,), optional
            How often each row counts; by default once.
        """
        there = weights > 0
        largest = said[there].max()
        shares = np.divide(said, largest, out=np.zeros_like(said), where=there & (largest > 0))
        losses = self.loss(shares)
        error = min(engine.exact_sum((weights * losses)[:, 0], None, counts), 1.0)
        return Stage(said, 2 * (1 - losses), error, 0.5 - error, half_log_odds(error))


class R2Rounds:
    """Regressors made one after another, under changing weights."""

    member: Any
    varies = True  # nobody knows

    def __init__(self, data: BoostData, params: BoostParams, seed: int) -> None:
        self._data, self._resample, self._seed = data, params.resample, seed
        self._rows = RowWeights(data.weights, len(data.y))
        self._present = np.flatnonzero(data.weights)
        self._factors = np.where(data.weights > 0, self._rows.start / self._rows.total, 0.0)

    @property
    def weights(self) -> FloatArray:
        """Of every row, 1 in total."""
        return self._rows.fine(self._factors, keep_light=True)

    @abstractmethod
    def _predictions(self, key: int) -> FloatArray:
        """Fit a member; what it predicts for the rows that are present, of positive weight."""

    def fit(self, key: int) -> tuple[FloatArray, FloatArray, Counts]:
        """Fit a member; its errors, the weights it was fitted to, and how often these count."""
        errors = np.zeros((len(self._factors), 1))
        errors[self._present, 0] = np.abs(self._data.y[self._present] - self._predictions(key))
        return errors, self._factors[:, None], self._rows.counts

    def reweight(self, factors: FloatArray) -> float:
        """Multiply the weights by a factor each; their sum, then made 1."""
        largest = float(factors.max())  # so that not all of them vanish together
        weights = self._factors * (factors[:, 0] / largest)
        total = self._rows.count(weights)
        weights /= total
        weights[self._present] = np.maximum(weights[self._present], _LEAST_WEIGHT)
        self._factors = weights
        return total * largest

    def advance(self, stage: Stage, alpha: float) -> None:
        """The member stays."""


class TreeR2Rounds(R2Rounds):
    """Regression trees of weald, grown by the engine from a table that is binned once."""

    def __init__(self, tree: Any, data: BoostData, params: BoostParams, seed: int) -> None:
        super().__init__(data, params, seed)
        growth = grow_rules(tree, data)
        self.varies = draws(growth, params)
        self._rounds = engine.make_rounds(
            bin_rows(data, growth, params.threads),
            engine.reals(data.y[:, None], None),
            growth.criterion,
            growth.rules,
            data.weights,
            params.threads,
        )

    def _predictions(self, key: int) -> FloatArray:
        self._rounds.set_factors(self._factors)
        self._rounds.grow(self._seed, key, self._resample)
        self.member = engine.Forest(self._rounds.tree())
        leaves = self._rounds.leaf_of[self._present]
        return self._rounds.leaf_values[:, 0].take(leaves)


class AnyR2Rounds(R2Rounds):
    """Members of any kind; rows are drawn for those that take no weights."""

    def __init__(self, estimator: Any, data: BoostData, params: BoostParams, seed: int) -> None:
        super().__init__(data, params, seed)
        self._estimator = estimator
        self._resample = params.resample or not takes_weights(estimator)
        self._X, self._y = data.X, data.y[self._present]
        if len(self._present) < len(data.y):
            self._X = take_rows(data.X, self._present)

    def _predictions(self, key: int) -> FloatArray:
        weights = self.weights[self._present]
        counts = draw_by_weight(weights, self._seed, key) if self._resample else None
        self.member = fit_member(
            self._estimator, self._X, self._y, weights, counts, self._seed, key
        )
        return member_outputs(self.member, self._X)
