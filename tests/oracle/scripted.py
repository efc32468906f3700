"""A regressor that is told what to predict, to look at boosting without looking at its members."""

from itertools import count

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin


class Scripted(RegressorMixin, BaseEstimator):
    """Predicts what is written down for it, whatever rows it is given: the t-th fit has script t.

    The first column of X is the number of a row.
    """

    script: np.ndarray
    fits: count

    def fit(self, X, y):
        self.script_ = Scripted.script[next(Scripted.fits)]
        return self

    def predict(self, X):
        return self.script_[np.asarray(X)[:, 0].astype(int)]


def scripted(model, y, script, weights):
    Scripted.script, Scripted.fits = script, count()
    rows = np.arange(len(y), dtype=float)[:, None]
    return model.fit(rows, y, weights), rows
