"""Numbers in, a mean of the numbers around each row out."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin

from weald._engine import FloatArray
from weald.input.labels import check_single_target
from weald.kernel.base import KernelBase
from weald.params.names import own_names

__all__ = ["KernelRegressor"]


@own_names
class KernelRegressor(RegressorMixin, KernelBase):
    """Kernel regression: the mean of the targets around a row, weighted by nearness.

    See :mod:`weald.kernel` for the idea.

    Parameters
    ----------
    bandwidth : "loo", "scott" or float, default="loo"
        How far the influence of a row reaches: in standard deviations of the columns, or in their
        own units if not `scale`. "loo" leaves out one row after the other and takes the bandwidth
        with the smallest mean squared error. "scott" is a rule of thumb that does not look at the
        targets, ``s n^(-1 / (d + 4))`` with the standard deviation s of a column.
    kernel : {"gaussian", "box"}, default="gaussian"
        ``exp(-d² / 2h²)`` of the distance d, or 1 up to the distance h and 0 beyond. If no row is
        that near, the box grows until it holds the nearest.
    scale : bool, default=True
        Divide every column by its standard deviation, so that distances do not depend on units.
        Constant columns are ignored then.

    Attributes
    ----------
    bandwidth_ : float
        The one that is used.
    bandwidths_, loo_risks_ : arrays
        The bandwidths that were tried, and the mean squared error of each, if ``bandwidth="loo"``.
    n_features_in_ : int
    feature_names_in_ : array, if the columns had names

    Notes
    -----
    A prediction looks at all rows, or at those within reach where a tree of points finds these
    faster (up to 10 columns, and a narrow kernel). Rows that weigh less than 1e-16 of the nearest
    one, all together, are left out then.

    "loo" tries bandwidths from half the typical distance of neighbours to four times that of any
    two rows: powers of 2 first, and finer ones around the best of them. All rows count, but above
    4,472 rows only a part of them is left out, evenly spaced in their order by columns: so many
    that 20 million distances are needed, and at least 500. A row of weight k is left out as one of
    k rows; one that weighs less than 1, as a whole.

    References
    ----------
    Nadaraya, E. (1964). On estimating regression. Theory of Probability and Its Applications 9.
    Watson, G. (1964). Smooth regression analysis. Sankhya A 26.
    Härdle, W. and Marron, J. (1985). Optimal bandwidth selection in nonparametric regression
    function estimation. Annals of Statistics 13.

    Examples
    --------
    >>> import numpy as np
    >>> from weald import KernelRegressor
    >>> x = np.linspace(0, 6, 100)
    >>> model = KernelRegressor().fit(x[:, None], np.sin(x))
    >>> model.predict([[1.5], [4.5]]).round(2)
    array([ 1.  , -0.97])
    >>> KernelRegressor(1.5, kernel="box", scale=False).fit([[0], [1], [5]], [1, 2, 6]).predict(
    ...     [[0], [100]]
    ... )
    array([1.5, 6. ])
    """

    def _read_target(self, y: Any, n: int) -> FloatArray:
        return check_single_target(y, n)

    def _channels(self, y: FloatArray) -> FloatArray:
        return y[None]

    def predict(self, X: Any) -> FloatArray:
        """Mean of the targets around each row.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._means(X)[:, 0]
