"""A member that is the mean of its copies on folds: no fit is made for a fold alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from weald import combining
from weald._engine import FloatArray
from weald.members.foreign import member_shares, member_values

__all__ = ["FoldMean"]


class FoldMean(BaseEstimator):
    """Copies of an estimator, each fitted on the rows of all folds but one; they are averaged.

    Parameters
    ----------
    estimators : list of fitted estimators
        Classifiers are fitted to class codes.
    n_classes : int
        0 if they predict numbers.
    """

    def __init__(self, estimators: list[Any], n_classes: int = 0) -> None:
        self.estimators, self.n_classes = estimators, n_classes

    @property
    def classes_(self) -> npt.NDArray[np.intp]:
        """Class codes."""
        if self.n_classes == 0:
            raise AttributeError("These members predict numbers.")
        return np.arange(self.n_classes)

    def fit(self, X: Any, y: Any) -> FoldMean:
        """Copies are fitted by the super learner."""
        raise AttributeError("A mean over folds is fitted by its super learner.")

    def predict_proba(self, X: Any) -> FloatArray:
        """Mean of the class shares; of votes, if the copies give no shares."""
        said = (
            member_shares(one, X, n_classes=self.n_classes, vote=False) for one in self.estimators
        )
        return combining.mean(said)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Mean of the numbers, or the code of the largest mean share."""
        if self.n_classes:
            return np.asarray(self.predict_proba(X).argmax(axis=1))
        return combining.mean(member_values(one, X) for one in self.estimators)

    def __sklearn_is_fitted__(self) -> bool:
        return True
