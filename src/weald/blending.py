"""Blending: members learn from a part of the rows, their weights come from the rest.

The quick form of stacking: one split instead of folds, so that every member is fitted once. Its
price is that the held-out rows train no member (unless `refit`), and that fewer rows choose the
weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.crossfit.folds import Fold, make_folds
from weald.crossfit.kinds import ClassMixture, NumberMixture
from weald.crossfit.mixture import Mixture
from weald.crossfit.problem import Rows
from weald.input.fit_data import FitData
from weald.params.growth import check_flag, is_real, refuse
from weald.params.names import own_names

__all__ = ["BlendingClassifier", "BlendingRegressor"]


class BlendingEnsemble(Mixture):
    """One split: the members learn from its first part, the weights from its second."""

    def _folds(self, data: FitData, groups: Rows | None, rows: Rows) -> list[Fold]:
        share = self.validation_fraction
        if not is_real(share) or not 0 < share < 1:
            raise refuse("validation_fraction", "a number between 0 and 1", share)
        n = len(data)
        if groups is not None:
            return _of_groups(data, groups, share, self._classifier)
        if check_flag("shuffle", self.shuffle):
            numbered = FitData(np.arange(n)[:, None], data.y)
            parts = numbered.divided(share, self.seed_ % 2**32, classes=self._classifier)
            assert parts.validation is not None
            return [Fold(parts.X[:, 0], parts.validation.X[:, 0])]
        # By weight: a row of weight 2 takes the place of two rows.
        before = np.cumsum(data.filled_weights)
        cut = int(np.searchsorted(before, (1 - share) * before[-1] * (1 + 1e-12), side="right"))
        cut = min(max(cut, 1), n - 1)
        return [Fold(np.arange(cut), np.arange(cut, n))]


def _of_groups(data: FitData, groups: Rows, share: float, classes: bool) -> list[Fold]:
    """The first fold of as many as come near to the share, whole groups in each."""
    count = max(2, min(round(1 / share), len(np.unique(groups))))
    return make_folds(count, data.X, data.y, groups, classes=classes)[:1]


@own_names
class BlendingClassifier(BlendingEnsemble, ClassMixture):
    """A weighted mean of class probabilities, with weights from rows held out.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The candidates; "drop" leaves one out.
    validation_fraction : float, default=0.2
        Share of the rows that choose the weights.
    shuffle : bool, default=True
        Hold out a random part, of each class its share. False: the last rows, as in a time series.
    method : {"auto", "simplex", "log_pool", "nnls", "greedy", "best"}, default="auto"
        How the mixture is found. "simplex": weights that are not negative and sum to 1, of the
        least risk. "log_pool": such weights of the logarithms of probabilities, and a sharpness
        (see :mod:`weald.crossfit.pools`). "nnls": non-negative least squares. "greedy": forward
        selection with replacement. "best": all weight to the candidate of least risk ("discrete").
        "auto" is "log_pool" for the log loss, else "simplex".
    risk : None, str, Loss or callable, default=None
        A loss of `weald.losses` by name or object, a scorer of scikit-learn by name, or a function
        ``f(y, shares)`` to minimise, which gets the weights too if it has a parameter
        `sample_weight`. None is the log loss.
    refit : bool, default=False
        Fit members with weight again, to all rows.
    n_jobs : int, optional
        Threads; None means all cores.
    random_state : int, RandomState instance or None, default=None
    keep_partial : bool, default=False
        On Ctrl-C keep the candidates that are fitted.
    verbose : int, default=0
        1 shows a bar.

    Attributes
    ----------
    weights_ : array of shape (n_estimators_,)
    sharpness_ : float or None
        Of a logarithmic pool.
    cv_risks_ : RiskTable
        Risk of each candidate on the rows held out.
    risk_ : float
        Of the mixture, on these rows.
    estimators_ : list
        The members: candidates with weight. Fitted to class codes.
    named_estimators_ : Bunch
    classes_ : array
    n_classes_, n_estimators_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from weald import BlendingClassifier, RandomForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("forest", RandomForestClassifier(random_state=0))]
    >>> blend = BlendingClassifier(members, random_state=0).fit(X[::2], y[::2])
    >>> blend.score(X[1::2], y[1::2]) > 0.9, round(float(blend.weights_.sum()), 6)
    (True, 1.0)
    """

    def __init__(
        self,
        estimators: Any,
        *,
        validation_fraction: float = 0.2,
        shuffle: bool = True,
        method: str = "auto",
        risk: Any = None,
        refit: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        keep_partial: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.validation_fraction = validation_fraction
        self.shuffle = shuffle
        self.method = method
        self.risk = risk
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_partial = keep_partial
        self.verbose = verbose


@own_names
class BlendingRegressor(BlendingEnsemble, NumberMixture):
    """A weighted mean of predictions, with weights from rows held out.

    Parameters
    ----------
    estimators : list of (str, regressor)
        The candidates; "drop" leaves one out.
    validation_fraction : float, default=0.2
        Share of the rows that choose the weights.
    shuffle : bool, default=True
        Hold out a random part. False: the last rows, as in a time series.
    method : {"auto", "simplex", "nnls", "greedy", "best"}, default="auto"
        How the mixture is found. "simplex": weights that are not negative and sum to 1, of the
        least risk. "nnls": non-negative least squares. "greedy": forward selection with
        replacement. "best": all weight to the candidate of least risk ("discrete"). "auto" is
        "simplex".
    risk : None, str, Loss or callable, default=None
        A loss of `weald.losses` by name or object, a scorer of scikit-learn by name, or a function
        ``f(y, prediction)`` to minimise, which gets the weights too if it has a parameter
        `sample_weight`. None is the squared error.
    refit : bool, default=False
        Fit members with weight again, to all rows.
    n_jobs : int, optional
        Threads; None means all cores.
    random_state : int, RandomState instance or None, default=None
    keep_partial : bool, default=False
        On Ctrl-C keep the candidates that are fitted.
    verbose : int, default=0
        1 shows a bar.

    Attributes
    ----------
    weights_ : array of shape (n_estimators_,)
    sharpness_ : float or None
        Of a logarithmic pool.
    cv_risks_ : RiskTable
        Risk of each candidate on the rows held out.
    risk_ : float
        Of the mixture, on these rows.
    estimators_ : list
        The members: candidates with weight.
    named_estimators_ : Bunch
    n_estimators_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from weald import BlendingRegressor, RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(random_state=0)
    >>> members = [("linear", LinearRegression()), ("forest", forest)]
    >>> blend = BlendingRegressor(members, random_state=0).fit(X[::2], y[::2])
    >>> bool(blend.risk_ <= blend.cv_risks_.risk.min())
    True
    """

    def __init__(
        self,
        estimators: Any,
        *,
        validation_fraction: float = 0.2,
        shuffle: bool = True,
        method: str = "auto",
        risk: Any = None,
        refit: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        keep_partial: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.validation_fraction = validation_fraction
        self.shuffle = shuffle
        self.method = method
        self.risk = risk
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_partial = keep_partial
        self.verbose = verbose
