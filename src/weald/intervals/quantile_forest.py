"""Quantile forests: the distribution of the target, read off the leaves (Meinshausen 2006).

Training rows that share the leaves of a new row say how its target is spread. Intervals from these
quantiles are wide where the target scatters and narrow elsewhere, but nothing makes them hold the
share of targets they name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from weald._engine import FloatArray, IntArray, order_of
from weald.input.table import check_X_predict
from weald.intervals.conformal import ROUNDING, check_coverage

__all__ = ["forest_quantiles", "quantile_interval"]

_ROWS = 2**13  # new rows whose leaves are held at a time
_PAIRS = 2_000_000  # (new row, training row) pairs held at a time: some tens of megabytes
_UNIT = 2.0**48  # shares are counted in whole parts of this: sums over _ROWS are exact in int64


def forest_quantiles(estimator: Any, X: Any, quantiles: Any) -> FloatArray:
    """Quantiles of the target given each row, from the leaves of a forest (Meinshausen 2006).

    Training row i counts for a new row x with the weight

        w_i(x) = 1/T sum_t [i shares the leaf of x in tree t] v_ti / (sum of v_tj over that leaf),

    where v_ti is how often tree t drew row i, times its sample weight if it has one there.  The
    mean of y under these weights is the forest's own prediction; here we take quantiles of y.

    The quantile q is the least training target y with ``sum of w_i over y_i <= y`` at least q: the
    left inverse of the distribution function, NumPy's ``method="inverted_cdf"``.  So it is always a
    target that occurred, q = 0 and q = 1 give the least and the largest target that has any weight,
    and a sum that meets q but for rounding has met it.

    Parameters
    ----------
    estimator : fitted forest regressor
        With ``keep_targets=True``.
    X : array-like, data frame or sparse matrix of shape (n, d)
    quantiles : sequence of float, or one float
        Between 0 and 1, in any order.

    Returns
    -------
    array of shape (n, n_quantiles), or (n, n_outputs, n_quantiles) with several outputs

    References
    ----------
    N. Meinshausen (2006), Quantile regression forests, Journal of Machine Learning Research 7.
    """
    levels = _check_quantiles(quantiles)
    rows = check_X_predict(estimator, X)
    targets = getattr(estimator, "_train_targets", None)
    if targets is None:
        raise ValueError(
            f"This {type(estimator).__name__} did not keep the training targets of its leaves: "
            "refit it with keep_targets=True."
        )
    n_outputs = targets.shape[1]
    orders = [order_of(targets[:, k].copy()) for k in range(n_outputs)]
    result = np.empty((len(rows), n_outputs, len(levels)))
    for first in range(0, len(rows), _ROWS):
        leaves = _ReachedLeaves.of(estimator, rows[first : first + _ROWS])
        for k, order in enumerate(orders):
            shares = leaves.in_order(order)
            for block in leaves.blocks():
                weights = leaves.reached(block) @ shares
                result[first + block, k] = _quantiles_of_rows(weights, targets[order, k], levels)
    return result[:, 0] if n_outputs == 1 else result


@dataclass(frozen=True, eq=False)
class _ReachedLeaves:
    """The leaves that some new rows reach, and the weights of the training rows in them."""

    leaf: IntArray
    """Leaf of each new row in each tree, shape (n, T); numbered over all trees."""
    shares: csr_array[Any, Any]
    """A row per leaf, which sums to 1 / T of `_UNIT`, and a column per training row."""

    @staticmethod
    def of(estimator: Any, rows: npt.NDArray[Any]) -> _ReachedLeaves:
        forest = estimator.forest_
        weights = estimator._train_weights
        leaf = forest.apply(rows, estimator._threads())
        values, columns, sizes = [], [], []
        n_leaves = 0
        for t in range(forest.n_trees):
            training_rows, begin, leaf_node = forest.leaf_rows(t)
            nodes, number = np.unique(leaf[:, t], return_inverse=True)
            leaf[:, t] = n_leaves + number
            n_leaves += len(nodes)
            at = np.searchsorted(leaf_node, nodes)
            size = begin[at + 1] - begin[at]
            inside = training_rows[_ranges(begin[at], size)]
            mass = estimator._members.sampling.rows(estimator.seed_, t)[inside].astype(np.float64)
            if weights is not None:
                mass *= weights[inside]
            total = np.repeat(np.add.reduceat(mass, np.cumsum(size) - size), size)
            share = np.rint(_UNIT / forest.n_trees * (mass / total))
            values.append(np.maximum(share, mass > 0).astype(np.int64))
            columns.append(inside)
            sizes.append(size)
        ends = np.cumsum(np.concatenate([[0], *sizes]))
        shares = csr_array(
            (np.concatenate(values), np.concatenate(columns), ends),
            shape=(n_leaves, len(estimator._train_targets)),
        )
        shares.eliminate_zeros()  # rows of weight 0 are absent, also at the ends
        return _ReachedLeaves(leaf, shares)

    def in_order(self, order: IntArray) -> csr_array[Any, Any]:
        """The shares with the training rows numbered by their place in `order`."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        columns = place[self.shares.indices]
        return csr_array((self.shares.data, columns, self.shares.indptr), shape=self.shares.shape)

    def blocks(self) -> list[IntArray]:
        """The new rows in blocks that have about `_PAIRS` training rows in their leaves."""
        pairs = np.diff(self.shares.indptr)[self.leaf].sum(axis=1)
        cuts = np.flatnonzero(np.diff(np.cumsum(pairs) // _PAIRS)) + 1
        return np.split(np.arange(len(self.leaf)), cuts)

    def reached(self, block: IntArray) -> csr_array[Any, Any]:
        """Indicator matrix of the leaves, one per tree, that each row ends in."""
        leaf = self.leaf[block]
        begin = np.arange(0, leaf.size + 1, leaf.shape[1])
        ones = np.ones(leaf.size, dtype=np.int64)
        return csr_array((ones, leaf.ravel(), begin), shape=(len(leaf), self.shares.shape[0]))


def _ranges(begin: IntArray, size: IntArray) -> IntArray:
    """The numbers begin[0] .. begin[0] + size[0] - 1, then those of the next range, and so on."""
    skipped = np.repeat(begin - (np.cumsum(size) - size), size)
    ranges: IntArray = skipped + np.arange(len(skipped))
    return ranges


def _quantiles_of_rows(
    weights: csr_array[Any, Any], sorted_targets: FloatArray, levels: FloatArray
) -> FloatArray:
    """Weighted quantiles of `sorted_targets` for each row of a matrix of whole weights."""
    weights = weights.tocsc().tocsr()  # columns into order, by counting instead of comparing
    first, last = weights.indptr[:-1, None], weights.indptr[1:, None] - 1
    # One running sum over all rows, cut where each of them starts.
    climb = np.concatenate([[0], np.cumsum(weights.data)])
    total = climb[last + 1] - climb[first]
    met = climb[first] + np.ceil((levels - ROUNDING) * total).astype(np.int64)
    place = np.searchsorted(climb[1:], met)
    place = np.where(levels == 1.0, last, np.clip(place, first, last))
    return sorted_targets[weights.indices[place]]


def _check_quantiles(quantiles: Any) -> FloatArray:
    try:
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
    except (TypeError, ValueError):
        levels = np.empty((0, 0))
    if levels.ndim != 1 or levels.size == 0 or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(
            f"quantiles must be one or more numbers between 0 and 1, got {quantiles!r}."
        )
    return levels


def quantile_interval(estimator: Any, X: Any, coverage: float) -> FloatArray:
    """From the quantile (1 - coverage) / 2 of the leaves' targets to the one as far from the top.

    Parameters
    ----------
    estimator : fitted forest regressor
        With ``keep_targets=True``.
    X : array-like, data frame or sparse matrix of shape (n, d)
    coverage : float
        Share of the targets the intervals should hold, between 0 and 1.

    Returns
    -------
    array of shape (n, 2), or (n, n_outputs, 2) with several outputs
        Lower and upper ends.
    """
    tail = (1.0 - check_coverage(coverage)) / 2
    return forest_quantiles(estimator, X, [tail, 1.0 - tail])
