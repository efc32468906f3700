"""What the two super learners share: folds, and the default candidates."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from weald.crossfit.folds import Fold, make_folds
from weald.crossfit.mixture import Mixture
from weald.crossfit.named import check_named
from weald.crossfit.problem import Rows
from weald.input.fit_data import FitData
from weald.superlearner.library import default_library

__all__ = ["SuperLearner"]

_FEW = 1000  # rows, with which there are more folds


class SuperLearner(Mixture):
    """Weights that minimise the cross-validated risk."""

    def _named(self) -> list[tuple[str, Any, int | None]]:
        if self.estimators is None:
            return default_library(classes=self._classifier)
        given = check_named(
            self.estimators,
            classifiers=self._classifier,
            or_none="None (the default candidates) or ",
        )
        return [(name, one, None) for name, one in given]

    def _folds(self, data: FitData, groups: Rows | None, rows: Rows) -> list[Fold]:
        cv = self.cv
        number = isinstance(cv, Integral) and int(cv) > 1
        if cv is None or (groups is None and number):
            cv = self._shuffled(data, groups, cv)
        return make_folds(cv, data.X, data.y, groups, classes=self._classifier, present=rows)

    def _shuffled(self, data: FitData, groups: Rows | None, count: int | None) -> Any:
        """More folds of few rows; shuffled, unless there are groups."""
        n = len(data)
        given = count is not None
        if count is None:
            count = 10 if n < _FEW else 5
        if groups is not None:
            return count if given else max(2, min(count, len(np.unique(groups))))
        seed = self.seed_ % 2**32
        if not self._classifier:
            return KFold(count if given else min(count, n), shuffle=True, random_state=seed)
        if not given:  # every class in every fold, if its rows are enough for that
            counts = np.bincount(data.y)
            rarest = int(counts[counts > 0].min())
            count = min(count, max(rarest, 2), n)
        return StratifiedKFold(count, shuffle=True, random_state=seed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimators is None:
            inputs = tags.input_tags
            inputs.allow_nan = inputs.categorical = inputs.string = inputs.sparse = True
        return tags
