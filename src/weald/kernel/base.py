"""What the two kernel smoothers share: the course of a fit, and the means around new rows."""

from __future__ import annotations

from abc import abstractmethod
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from weald._engine import FloatArray
from weald.input.fit_data import read_fit
from weald.input.state import SavedEstimator, check_attributes, numbers, require
from weald.input.table import TableArray, check_X_predict
from weald.input.targets import all_or_nothing
from weald.kernel.bandwidth import choose_by_leaving_out, scott
from weald.kernel.points import Scaling, merge
from weald.kernel.smoother import KERNELS, Kernel, Smoother
from weald.params.growth import check_choice, check_flag, is_real, refuse

__all__ = ["KernelBase"]

_BY_TYPE = SimpleNamespace(categorical_features="from_dtype")  # text is to be found, and refused


class KernelBase(SavedEstimator, BaseEstimator):
    """Nadaraya-Watson estimates."""

    bandwidth_: float
    bandwidths_: FloatArray
    loo_risks_: FloatArray
    n_features_in_: int
    _scaling: Scaling
    _smoother: Smoother

    def __init__(
        self, bandwidth: Any = "loo", *, kernel: str = "gaussian", scale: bool = True
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.scale = scale

    # --- what labels and numbers differ in --------------------------------------------------------

    @abstractmethod
    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        """Check the targets and note their classes on self; numbers, or class codes."""

    @abstractmethod
    def _channels(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What is averaged, of shape (n_channels, n)."""

    def _row_weights(self, y: npt.NDArray[Any], weights: FloatArray | None) -> FloatArray | None:
        return weights

    # --- fit --------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Keep the rows, and choose the bandwidth.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, without missing values.
        y : array-like of shape (n,)
            Numbers, or labels of any type.
        sample_weight : array-like of shape (n,), optional
            A row of weight k is exactly k rows, when it is left out as well; weight 0 is like its
            absence.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            kernel = check_choice("kernel", self.kernel, KERNELS)
            scale = check_flag("scale", self.scale)
            given = _check_bandwidth(self.bandwidth)
            data = read_fit(self, X, y, sample_weight, tree=_BY_TYPE).present()
            rows, target, weights = merge(self._complete(data.X), data.y, data.filled_weights)
            self._scaling = Scaling.of(rows, weights, scale=scale)
            Z, channels = self._scaling(rows), self._channels(target)
            h = self._choose(given, Z, weights, channels, kernel)
            self._smoother = Smoother(Z, weights, channels, Kernel.of(kernel, h))
            return self

    def _complete(self, X: TableArray) -> FloatArray:
        """Refuse columns that distances cannot be measured in."""
        X = np.asarray(X)
        kind = type(self).__name__
        names = getattr(self, "feature_names_in_", range(X.shape[1]))
        for name, labels, values in zip(names, self.categories_, X.T, strict=True):
            if labels is not None:
                raise ValueError(
                    f"Column {name!r} holds text or categories, between which {kind} knows no "
                    "distance: convert it to numbers, or leave it out."
                )
            if np.isnan(values).any():
                raise ValueError(
                    f"Column {name!r} contains missing values (NaN, None or NA), from which {kind} "
                    "knows no distance: fill them in, or leave these rows out."
                )
        return X.astype(np.float64, copy=False)

    def _choose(
        self,
        given: float | str,
        Z: FloatArray,
        weights: FloatArray,
        channels: npt.NDArray[Any],
        kernel: str,
    ) -> float:
        """The bandwidth in coordinates; those that users see are in their own units."""
        unit = self._scaling.unit
        for name in ("bandwidths_", "loo_risks_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(given, float):
            self.bandwidth_ = given
            return given / unit
        if given == "scott":
            h = scott(Z, weights, kernel)
        else:
            tried, self.loo_risks_, h = choose_by_leaving_out(Z, weights, channels, kernel)
            self.bandwidths_ = _in_units(tried, unit)
        self.bandwidth_ = float(_in_units(h, unit))
        return h

    # --- questions --------------------------------------------------------------------------------

    def _means(self, X: Any) -> FloatArray:
        """The means around each row, of shape (n, n_channels)."""
        rows = self._complete(check_X_predict(self, X))
        return self._smoother.means(self._scaling(rows))

    # --- pickling ---------------------------------------------------------------------------------

    def _check_state(self) -> None:
        check_attributes(self)
        if "_smoother" not in vars(self):
            return
        require(isinstance(self._scaling, Scaling), self, "what scales its columns")
        require(isinstance(self._smoother, Smoother), self, "what holds its rows")
        d = self.n_features_in_
        require(len(self._scaling.centre) == self._smoother.Z.shape[1] == d, self, "its columns")
        channels = len(vars(self).get("classes_", [None]))
        require(len(self._smoother.targets) == channels, self, "its targets")
        require(is_real(self.bandwidth_) and 0 < self.bandwidth_ < np.inf, self, "bandwidth_")
        if "bandwidths_" in vars(self):
            require(numbers(self.bandwidths_, len(self.loo_risks_), 0.0), self, "bandwidths_")

    # --- scikit-learn's conventions ---------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _check_bandwidth(value: Any) -> float | str:
    """A number, or the name of a rule."""
    if isinstance(value, str) and value in ("loo", "scott"):
        return value
    if not is_real(value) or not 0 < value < np.inf:
        raise refuse("bandwidth", "'loo', 'scott' or a finite number > 0", value)
    return float(value)


def _in_units(bandwidths: Any, unit: float) -> Any:
    """Bandwidths as users know them; beyond float64 its largest number, or its smallest."""
    limits = np.finfo(np.float64)
    with np.errstate(over="ignore"):
        return np.clip(bandwidths * np.float64(unit), limits.smallest_subnormal, limits.max)
