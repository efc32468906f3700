"""Smooth members: ridge and logistic regression, neighbours, and features of an RBF kernel.

Trees are steps; where the truth is smooth these say it with fewer rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.spatial.distance import cdist
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from weald._engine import FloatArray
from weald.params.growth import resolve_seed

__all__ = ["LogisticBySize", "NeighboursBySize", "RBFFeatures", "RidgeByLeaveOneOut"]


_PENALTIES = np.logspace(-5, 5, 31)  # of the mean eigenvalue
_WIDTHS = np.array([0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0])  # of the median distance
_SAMPLE = 500  # rows from which the width is found
_FEW_COEFFICIENTS = 400


class RidgeByLeaveOneOut(RegressorMixin, BaseEstimator):
    """Ridge regression with the penalty of least leave-one-out error, found in closed form.

    With ``H = A (A'A + l I)^-1 A'`` the error of a row that is left out is ``r_i / (1 - H_ii)``
    (Allen 1974), so that all penalties cost one decomposition of ``A'A``.

    Attributes
    ----------
    coef_ : array of shape (d,)
    intercept_, alpha_ : float
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RidgeByLeaveOneOut:
        """Find penalty and coefficients."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        total = w.sum()
        centre, middle = w @ X / total, float(w @ y / total)
        root = np.sqrt(w)
        A, b = root[:, None] * (X - centre), root * (y - middle)
        values, vectors = eigh(A.T @ A)
        values = np.maximum(values, 0.0)
        turned = A @ vectors
        along = turned.T @ b
        scale = values.mean() or 1.0
        best = np.inf
        for penalty in _PENALTIES * scale:
            inverse = 1 / (values + penalty)
            residual = b - turned @ (inverse * along)
            lever = (turned**2) @ inverse + w / total
            error = float(((residual / np.maximum(1 - lever, 1e-9)) ** 2).sum())
            if error < best:
                best, self.alpha_ = error, float(penalty)
                coef = vectors @ (inverse * along)
        self.coef_, self.intercept_ = coef, middle - float(centre @ coef)
        return self

    def predict(self, X: Any) -> FloatArray:
        """``intercept + X coef``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)


class LogisticBySize(ClassifierMixin, BaseEstimator):
    """Logistic or multinomial regression, by the method that suits the number of coefficients.

    Newton steps need few rounds and the square of that number, so few coefficients. A thousandth is
    near enough for a member.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the penalty.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticBySize:
        """Find the coefficients."""
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        if len(self.classes_) == 1:  # folds may lack the others
            return self
        several = len(self.classes_) if len(self.classes_) > 2 else 1
        newton = X.shape[1] * several <= _FEW_COEFFICIENTS
        self.model_ = LogisticRegression(
            C=self.C,
            solver="newton-cholesky" if newton else "lbfgs",
            tol=1e-3,
            max_iter=30 if newton else 300,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_.fit(X, y, sample_weight=sample_weight)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities."""
        if len(self.classes_) == 1:
            return np.ones((X.shape[0], 1))
        return np.asarray(self.model_.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """The class of the largest probability."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class NeighboursBySize(MetaEstimatorMixin, BaseEstimator):
    """As many neighbours as the estimator wants, or as many as there are rows.

    Parameters
    ----------
    estimator : KNeighborsClassifier or KNeighborsRegressor
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NeighboursBySize:
        """Keep the rows; those of weight 2 twice, and other weights to the nearest whole one."""
        if sample_weight is not None:
            w = np.asarray(sample_weight, dtype=np.float64)
            if (w != np.floor(w)).any():
                w = np.diff(np.floor(np.append(0, w.cumsum()) * (len(w) / w.sum()) + 0.5))
            X, y = (np.repeat(part, w.astype(np.intp), axis=0) for part in (X, np.asarray(y)))
        number = min(self.estimator.n_neighbors, X.shape[0])
        self.estimator_ = clone(self.estimator).set_params(n_neighbors=number).fit(X, y)
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """What the neighbours say."""
        return self.estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Shares of the classes among the neighbours."""
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


class RBFFeatures(TransformerMixin, BaseEstimator):
    """Features of which a linear model is one of an RBF kernel ``exp(-|x - x'|^2 / 2 s^2)``.

    The kernel to some of the rows, turned so that their inner products are the kernel between these
    (Williams & Seeger 2001). The width s is that of the least leave-one-out error of kernel ridge
    regression on a sample.

    Parameters
    ----------
    n_features : int, default=1000
        Rows that serve as centres.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    width_ : float
    centres_ : array of shape (n_centres, d)
    """

    def __init__(self, n_features: int = 1000, random_state: Any = None) -> None:
        self.n_features, self.random_state = n_features, random_state

    def fit(self, X: Any, y: Any) -> RBFFeatures:
        """Find the width and choose the centres."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        draw = np.random.RandomState(resolve_seed(self.random_state) % 2**32)
        order = draw.permutation(len(X))
        some = order[:_SAMPLE]
        target = np.asarray(y, dtype=np.float64)
        if target.ndim == 1 and len(np.unique(y)) <= 30:  # classes
            target = (np.asarray(y)[:, None] == np.unique(y)).astype(np.float64)
        target = target.reshape(len(X), -1)
        squares = cdist(X[some], X[some], "sqeuclidean")
        typical = np.sqrt(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0
        errors = [_leave_one_out(squares, typical * width, target[some]) for width in _WIDTHS]
        self.width_ = float(typical * _WIDTHS[int(np.argmin(errors))])
        self.centres_ = np.unique(X[order[: self.n_features]], axis=0)
        kernel = self._kernel(self.centres_)
        kernel[np.diag_indices_from(kernel)] += 1e-8 * len(kernel)
        self._root = cholesky(kernel, lower=True)
        return self

    def transform(self, X: Any) -> FloatArray:
        """The features, one for each centre."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(solve_triangular(self._root, self._kernel(X).T, lower=True).T)

    def _kernel(self, X: FloatArray) -> FloatArray:
        squares = cdist(X, self.centres_, "sqeuclidean")
        return np.asarray(np.exp(squares / (-2 * self.width_**2)))


def _leave_one_out(squares: FloatArray, width: float, target: FloatArray) -> float:
    """Least leave-one-out error of kernel ridge regression over penalties."""
    values, vectors = eigh(np.exp(squares / (-2 * width**2)))
    centred = target - target.mean(axis=0)
    along = vectors.T @ centred
    best = np.inf
    for penalty in np.logspace(-4, 2, 13):
        shrink = penalty / (np.maximum(values, 0.0) + penalty)
        residual = vectors @ (shrink[:, None] * along)
        kept = np.maximum((vectors**2) @ shrink, 1e-9)
        best = min(best, float(((residual / kept[:, None]) ** 2).sum()))
    return best
