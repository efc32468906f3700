"""A table as numbers, for models that know nothing of categories and missing values.

Numbers are centred at their median, scaled by their quartiles and bent towards ±3, so that one
far-off value does not rule a linear or a distance model. Categories become columns of 0 and 1,
missing values the median and a column that says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.validation import check_is_fitted

from weald._engine import FloatArray
from weald.input.state import SavedEstimator, check_attributes, is_whole, numbers, require
from weald.input.table import check_X_fit, check_X_predict
from weald.params.growth import check_count, check_flag
from weald.params.names import own_names

__all__ = ["TableEncoder"]


_REACH = 3.0  # where scaled numbers end
_KNOTS = 6
_MANY = 100_000  # rows, of which knots need no more
_BLOCK = 50_000  # rows encoded at a time


@own_names
class TableEncoder(SavedEstimator, TransformerMixin, BaseEstimator):
    """Numbers from a table with numbers, categories and missing values.

    Parameters
    ----------
    max_categories : int, default=30
        Columns of 0 and 1 for a categorical column; rarer categories have none.
    splines : bool, default=False
        Numbers become cubic splines with knots at their quantiles, so that a linear model of them
        is additive and smooth.
    categorical_features : "from_dtype", None, list or mask, default="from_dtype"
        Which columns are categories: those of string or categorical type, and those that are named
        here by name, index or mask. None: no column is.

    Attributes
    ----------
    n_features_in_, n_features_out_ : int
    feature_names_in_ : array, if the columns had names
    categories_ : list
        Labels of categorical columns, None for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = TableEncoder().fit(np.array([[0.0], [1.0], [2.0], [np.nan]]))
    >>> encoder.transform(np.array([[1.0], [np.nan]]))
    array([[0., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        max_categories: int = 30,
        *,
        splines: bool = False,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.max_categories, self.splines = max_categories, splines
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn medians, scales, categories and knots.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : ignored

        Returns
        -------
        self
        """
        most = check_count("max_categories", self.max_categories, least=1)
        check_flag("splines", self.splines)
        table = check_X_fit(self, X, categorical_features=self.categorical_features)
        self.categories_ = list(table.categories)
        numeric = np.flatnonzero(~table.is_categorical)
        X = np.asarray(table.X)
        Z = X[:, numeric].astype(np.float64)
        absent: npt.NDArray[np.bool_] = np.isnan(Z)
        known = ~np.all(absent, axis=0)
        numeric, Z, absent = numeric[known], Z[:, known], absent[:, known]
        low, middle, high = np.zeros((3, Z.shape[1]))
        for j in range(Z.shape[1]):  # one by one: Ctrl-C is heard in between
            low[j], middle[j], high[j] = np.nanquantile(Z[:, j], [0.25, 0.5, 0.75])
        spread = (high - low) / 1.349  # the standard deviation, of a normal distribution
        flat = spread <= 0
        spread[flat] = np.nanstd(Z[:, flat], axis=0)
        varied = spread > 0
        self._numeric, self._absent = numeric[varied], np.any(absent, axis=0)[varied]
        self._middle, self._spread = middle[varied], spread[varied]
        self._kept = [
            (int(j), _frequent(X[:, j], most)) for j in np.flatnonzero(table.is_categorical)
        ]
        self._bases = None
        if self.splines and len(self._numeric):
            self._bases = SplineTransformer(
                _KNOTS, knots="quantile", extrapolation="linear", include_bias=False
            )
            some = self._scaled(X[:: -(-len(X) // _MANY)])
            try:
                self._bases.fit(some)
            except ValueError:  # too few different numbers for such knots
                self._bases = SplineTransformer(4, extrapolation="linear", include_bias=False)
                self._bases.fit(some)
        self.n_features_out_ = self._encoded(X[:1]).shape[1]
        return self

    def transform(self, X: Any) -> FloatArray:
        """The numbers, shape (n, n_features_out_); categories that were not there in fit say 0."""
        check_is_fitted(self)
        table = check_X_predict(self, X)
        blocks = range(0, len(table), _BLOCK)  # between them Ctrl-C is heard
        return np.concatenate([self._encoded(np.asarray(table[i : i + _BLOCK])) for i in blocks])

    def _encoded(self, table: Any) -> FloatArray:
        scaled = self._scaled(table)
        parts = [scaled if self._bases is None else self._bases.transform(scaled)]
        parts.append(np.isnan(table[:, self._numeric[self._absent]]).astype(np.float64))
        for j, codes in self._kept:
            parts.append((table[:, j, None] == codes).astype(np.float64))
        return np.concatenate(parts, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns of ``transform``."""
        check_is_fitted(self)
        given = (
            getattr(self, "feature_names_in_", None) if input_features is None else input_features
        )
        names = [f"x{j}" for j in range(self.n_features_in_)] if given is None else list(given)
        numbers = [names[j] for j in self._numeric]
        if self._bases is not None:
            numbers = list(self._bases.get_feature_names_out(numbers))
        numbers += [f"{names[j]}_missing" for j in self._numeric[self._absent]]
        for j, codes in self._kept:
            labels: Any = self.categories_[j]
            numbers += [f"{names[j]}_{labels[int(code)]}" for code in codes]
        return np.asarray(numbers, dtype=object)

    def _scaled(self, table: Any) -> FloatArray:
        z = (table[:, self._numeric].astype(np.float64) - self._middle) / self._spread
        np.nan_to_num(z, copy=False, nan=0.0)
        return np.asarray(z / np.sqrt(1 + (z / _REACH) ** 2))

    def _check_state(self) -> None:
        check_attributes(self)
        if "n_features_out_" not in vars(self):
            return
        d, columns = self.n_features_in_, self._numeric
        right = isinstance(columns, np.ndarray) and columns.dtype == np.intp and columns.ndim == 1
        require(right and ((columns >= 0) & (columns < d)).all(), self, "which columns are numbers")
        n = len(columns)
        require(numbers(self._middle, n), self, "the middle of a column")
        require(numbers(self._spread, n, 0.0) and self._spread.all(), self, "a scale")
        absent: Any = self._absent
        marked = isinstance(absent, np.ndarray) and absent.dtype == bool and absent.shape == (n,)
        require(marked, self, "which columns have missing values")
        for j, codes in self._kept:
            labels: Any = self.categories_[j] if is_whole(j, 0, d - 1) else None
            require(labels is not None, self, "a category")
            inside = numbers(codes, low=0.0) and (codes < len(labels)).all()
            require(inside and (codes == np.floor(codes)).all(), self, "a category")
        bases: Any = self._bases
        require(bases is None or isinstance(bases, SplineTransformer), self, "its splines")
        require(is_whole(self.n_features_out_, 0), self, "n_features_out_")
        width = self._encoded(np.full((1, d), np.nan)).shape[1]
        require(width == self.n_features_out_, self, "n_features_out_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def _frequent(codes: npt.NDArray[Any], most: int) -> FloatArray:
    """The most frequent codes, in their order; one of two says it all."""
    present, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    if len(present) == 2 and not np.isnan(codes).any():
        return np.asarray(present[1:], dtype=np.float64)
    best = np.argsort(-counts, kind="stable")[:most]
    return np.asarray(np.sort(present[best]), dtype=np.float64)
