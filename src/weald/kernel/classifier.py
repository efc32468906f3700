"""Labels in, the shares of the classes around each row out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from weald._engine import FloatArray
from weald.input.labels import encode_labels
from weald.input.targets import LogShares
from weald.kernel.base import KernelBase
from weald.params.names import own_names

__all__ = ["KernelClassifier"]


@own_names
class KernelClassifier(LogShares, ClassifierMixin, KernelBase):
    """Kernel classification: the shares of the classes around a row, weighted by nearness.

    See :mod:`weald.kernel` for the idea. The share of a class is the mean of a target that is 1 for
    its rows and 0 for others.

    Parameters
    ----------
    bandwidth : "loo", "scott" or float, default="loo"
        How far the influence of a row reaches: in standard deviations of the columns, or in their
        own units if not `scale`. "loo" leaves out one row after the other and takes the bandwidth
        with the smallest Brier score, ``sum_k (share_k - 1[y = k])²``. "scott" is a rule of thumb
        that does not look at the labels, ``s n^(-1 / (d + 4))`` with the standard deviation s of a
        column.
    kernel : {"gaussian", "box"}, default="gaussian"
        ``exp(-d² / 2h²)`` of the distance d, or 1 up to the distance h and 0 beyond. If no row is
        that near, the box grows until it holds the nearest.
    scale : bool, default=True
        Divide every column by its standard deviation, so that distances do not depend on units.
        Constant columns are ignored then.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    bandwidth_ : float
        The one that is used.
    bandwidths_, loo_risks_ : arrays
        The bandwidths that were tried, and the mean Brier score of each, if ``bandwidth="loo"``.
    n_classes_, n_features_in_ : int
    feature_names_in_ : array, if the columns had names

    Notes
    -----
    Those of :class:`KernelRegressor` hold here as well.

    References
    ----------
    Nadaraya, E. (1964). On estimating regression. Theory of Probability and Its Applications 9.
    Watson, G. (1964). Smooth regression analysis. Sankhya A 26.
    Brier, G. (1950). Verification of forecasts expressed in terms of probability. Monthly Weather
    Review 78.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from weald import KernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelClassifier().fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> bool(model.loo_risks_.min() == model.loo_risks_[model.bandwidths_ == model.bandwidth_])
    True
    """

    classes_: npt.NDArray[Any]
    n_classes_: int

    def _read_target(self, y: Any, n: int) -> npt.NDArray[np.int32]:
        labels = encode_labels(y, n)
        if labels.multi_output:
            raise ValueError("y should be a 1d array, one label per row: fit a model per output.")
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        return labels.codes[:, 0]

    def _channels(self, y: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        of_class: npt.NDArray[np.bool_] = y == np.arange(self.n_classes_)[:, None]
        return of_class

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the largest share; the first of them, if several have it.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_.take(best)
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Shares of the classes around each row.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n, n_classes_)
        """
        return self._means(X)
