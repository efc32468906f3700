"""Screening: a candidate sees only the columns that matter, found from its own training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from weald.forest import ExtraTreesClassifier, ExtraTreesRegressor
from weald.input.raw_table import keep_X_fit, keep_X_predict, take_columns
from weald.members.foreign import fit_member
from weald.params.growth import is_int

__all__ = ["Screened", "best_columns"]


def best_columns(X: Any, y: npt.NDArray[Any], weights: Any, k: int, *, classes: bool) -> Any:
    """The k columns that a forest of shallow trees finds most important, in their order."""
    kind = ExtraTreesClassifier if classes else ExtraTreesRegressor
    forest = kind(50, max_depth=6, min_samples_leaf=5, random_state=0)
    forest.fit(X, y, sample_weight=weights)
    order = np.argsort(-forest.feature_importances_, kind="stable")
    return np.sort(order[:k])


class Screened(MetaEstimatorMixin, BaseEstimator):
    """An estimator that sees some columns only.

    Parameters
    ----------
    estimator : estimator
    screen : int, selector or callable
        That many columns, by the importance in a forest; a selector of scikit-learn with
        ``get_support``; or ``screen(X, y) -> columns`` (numbers or a mask).
    """

    def __init__(self, estimator: Any, screen: Any) -> None:
        self.estimator, self.screen = estimator, screen

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Screened:
        """Find the columns from these rows, and fit the estimator to them."""
        X = keep_X_fit(self, X)
        self.columns_ = self._columns(X, y, sample_weight)
        self.estimator_ = clone(self.estimator)
        fit_member(self.estimator_, take_columns(X, self.columns_), y, sample_weight, routed=False)
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def _columns(self, X: Any, y: Any, weights: Any) -> npt.NDArray[np.intp]:
        d, screen = X.shape[1], self.screen
        if is_int(screen):
            if not screen >= 1:
                raise ValueError(f"screen must keep at least 1 column, got {screen}.")
            found = best_columns(
                X, y, weights, min(screen, d), classes=is_classifier(self.estimator)
            )
        elif hasattr(screen, "get_support"):
            found = fit_member(clone(screen), X, y).get_support()
        elif callable(screen):
            found = screen(X, y)
        else:
            raise ValueError(
                "screen must be None, a number of columns, a selector with get_support, or a "
                f"function of (X, y), got {screen!r}."
            )
        array = np.asarray(found)
        columns = np.flatnonzero(array) if array.dtype == bool else np.unique(array.astype(np.intp))
        if not columns.size or columns[0] < 0 or columns[-1] >= d:
            raise ValueError(f"screen must choose some of the {d} columns, it chose {found!r}.")
        return columns

    def predict(self, X: Any) -> Any:
        """What the estimator predicts."""
        return self.estimator_.predict(self._part(X))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Class shares of the estimator."""
        return self.estimator_.predict_proba(self._part(X))

    def _part(self, X: Any) -> Any:
        return take_columns(keep_X_predict(self, X), self.columns_)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
