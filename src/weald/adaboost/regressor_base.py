"""What AdaBoost regressors add: numbers as targets, and the median of the members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, clone, is_classifier
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from weald.adaboost.algorithms import Stage
from weald.adaboost.base import BoostedEnsemble
from weald.adaboost.boosted_numbers import NumberMembers, NumberTrees, median, staged_medians
from weald.adaboost.data import BoostData
from weald.adaboost.loop import History, boost
from weald.adaboost.params import BoostParams
from weald.adaboost.r2 import LOSSES, AnyR2Rounds, R2Rounds, R2Rule, TreeR2Rounds
from weald.combining import RunningMedian
from weald.input.holdout import Rows
from weald.input.state import require
from weald.params.growth import check_choice
from weald.tree import DecisionTreeRegressor

__all__ = ["BoostedRegressor"]

FloatArray = npt.NDArray[np.float64]


class BoostedRegressor(RegressorMixin, BoostedEnsemble):
    """Numbers in, numbers out."""

    _boosted: NumberTrees | NumberMembers
    _least_vote = 0.0

    # --- pickling -------------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "_boosted" in vars(self):
            require(isinstance(self._boosted, NumberTrees | NumberMembers), self, "its members")

    # --- fit -----------------------------------------------------------------------------------

    def _boost(self, data: BoostData, tree: Any, rule: R2Rule, params: BoostParams) -> History:
        rounds: R2Rounds
        boosted: NumberTrees | NumberMembers
        if tree is None:
            rounds = AnyR2Rounds(self.estimator_, data, params, self.seed_)
            boosted = NumberMembers()
        else:
            rounds = TreeR2Rounds(tree, data, params, self.seed_)
            self._describe(tree)
            boosted = NumberTrees(tree)
        held, running = data.validation, RunningMedian()
        said = np.empty(0)

        def keep(member: Any, stage: Stage, alpha: float) -> None:
            nonlocal said
            boosted.add(member, stage)
            if held is not None:
                said = running.add(boosted.last_values(held.X, self.n_jobs), 2 * alpha)

        score = None if held is None else lambda: _r2(held, said)
        self._boosted = boosted
        return boost(rounds, rule, params, keep, score, type(self).__name__)

    def _rule(self) -> R2Rule:
        return R2Rule(LOSSES[check_choice("loss", self.loss, tuple(LOSSES))])

    def _default_estimator(self, rule: R2Rule) -> Any:
        return DecisionTreeRegressor(max_depth=3, max_bins=255)

    def _check_kind(self, member: Any, rule: R2Rule) -> None:
        if is_classifier(member):
            raise ValueError(f"estimator={member!r} is a classifier: give a regressor.")

    def _read_target(self, y: Any, n: int, again: bool = False) -> FloatArray:
        # A tree knows which targets its criterion can learn from.
        learns = self._grows_trees() and not again
        reader = clone(self.estimator_) if learns else DecisionTreeRegressor()
        target: FloatArray = reader._read_target(y, n)
        if target.shape[1] > 1:
            raise ValueError("y should be a 1d array: AdaBoost takes one output.")
        return target[:, 0]

    # --- numbers -------------------------------------------------------------------------------

    def predict(self, X: Any) -> FloatArray:
        """The median of what the members say, weighted by their votes.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        X = self._boosted.read(self, X)
        return median(self._boosted, X, self.estimator_weights_, self.n_jobs)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """The predictions after 1, 2, ... members.

        All of them are worked out together, in T times the memory of one.
        """
        check_is_fitted(self)
        X = self._boosted.read(self, X)
        return iter(staged_medians(self._boosted, X, self.estimator_weights_, self.n_jobs))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² after 1, 2, ... members."""
        for said in self.staged_predict(X):
            yield float(r2_score(y, said, sample_weight=sample_weight))

    def member_predictions(self, X: Any) -> FloatArray:
        """What every member says.

        Returns
        -------
        array of shape (T, n)
        """
        check_is_fitted(self)
        return self._boosted.values(self._boosted.read(self, X), self.n_jobs)


def _r2(held: Rows, said: FloatArray) -> float:
    """R² on the validation rows; where their targets are all the same, 1 if right and else 0."""
    weights = np.ones(len(said)) if held.weights is None else held.weights
    missed, centred = held.y - said, held.y - np.average(held.y, weights=weights)
    unit = float(np.abs(centred[weights > 0]).max())
    if np.ptp(held.y[weights > 0]) == 0 or unit == 0:  # equal numbers may have a rounded mean
        return float(not missed[weights > 0].any())
    # In units of the spread, whose square is not too small for a number.
    with np.errstate(over="ignore"):
        score = 1 - float(weights @ (missed / unit) ** 2) / float(weights @ (centred / unit) ** 2)
    return max(score, -np.finfo(np.float64).max)
