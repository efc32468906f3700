"""The members of gradient boosting in the making: trees of the engine, or estimators of any kind.

Both hold scores, gradients and hessians of the training rows, shape (K, n). ``grow`` fits the
members of a round to the gradients, ``add`` gives them their values and adds these to the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.dummy import DummyClassifier

from weald import _engine as engine
from weald._engine import FloatArray
from weald.boosting.params import GradientParams
from weald.input.fit_data import FitData
from weald.input.raw_table import take_rows
from weald.input.row_weights import RowWeights
from weald.input.table import contiguous
from weald.members.foreign import (
    fit_member,
    make_member,
    member_finite_values,
    member_shares,
    takes_weights,
)
from weald.params.growth import GrowthParams
from weald.sampling import draw_by_weight

__all__ = ["GradientForeignLearner", "GradientTreeLearner", "gradient_size_weights"]

Multipliers = FloatArray | None  # how often each row counts; None: once
Columns = npt.NDArray[np.uint32] | None  # of this round; None: all


class GradientTreeLearner:
    """Trees of weald: one for each score, or one whose leaves say all scores.

    Parameters
    ----------
    rows : FitData
    growth : GrowthParams
    n_raw : int
    params : GradientParams
    seed : int
    """

    def __init__(
        self,
        rows: FitData,
        growth: GrowthParams,
        n_raw: int,
        params: GradientParams,
        seed: int,
    ) -> None:
        assert rows.table is not None
        table = replace(rows.table, X=contiguous(rows.X))
        matrix = table.binned(growth, rows.weights, params.threads, bundled=True)
        self.boosting = engine.make_boosting(
            matrix, growth.rules, n_raw, rows.weights, params.threads
        )
        self._order, self._l2, self._vector_leaves = params.order, params.l2, params.vector_leaves
        self._seed, self._weights = seed, rows.weights
        self._multipliers: Multipliers = None
        self.raw: FloatArray = self.boosting.scores
        self.gradients: FloatArray = self.boosting.gradients
        self.hessians: FloatArray = self.boosting.hessians
        self.leaf_sums: Callable[[int], FloatArray] = self.boosting.leaf_sums
        self.leaf_quantiles: Callable[[int, FloatArray, float], FloatArray] = (
            self.boosting.leaf_quantiles
        )

    def grow(self, number: int, multipliers: Multipliers, columns: Columns) -> None:
        """Grow the trees of a round."""
        self._multipliers = multipliers
        self.boosting.grow(
            self._seed, number, self._order, self._l2, multipliers, columns, self._vector_leaves
        )

    def n_leaves(self, k: int) -> int:
        """Leaves of the tree of score k."""
        return int(self.boosting.n_leaves(self._tree(k)))

    def leaf_of(self, k: int) -> npt.NDArray[np.uint32]:
        """Leaf of every row in the tree of score k."""
        leaves: npt.NDArray[np.uint32] = self.boosting.leaf_of(self._tree(k))
        return leaves

    def bounds(self, k: int) -> FloatArray | None:
        """Least and largest value of each leaf that monotone columns allow."""
        found: FloatArray | None = self.boosting.bounds(self._tree(k))
        return found

    def taking_part(self, k: int) -> tuple[Any, npt.NDArray[np.intp], FloatArray]:
        """Rows that take part in the round (an index), their leaves and their weights."""
        leaf = self.leaf_of(k).astype(np.intp)
        weights, times = self._weights, self._multipliers
        if times is None:
            return np.s_[:], leaf, np.ones(len(leaf)) if weights is None else weights
        rows = np.flatnonzero(times)
        weight = times[rows] if weights is None else times[rows] * weights[rows]
        return rows, leaf[rows], weight

    def said(self, values: Sequence[FloatArray]) -> FloatArray:
        """What trees with these leaf values say about the rows, shape (K, n)."""
        return np.array([value[self.leaf_of(k)] for k, value in enumerate(values)])

    def shapes(self) -> list[engine.Tree]:
        """The trees of this round, for their splits only; one for each score."""
        trees = [engine.Forest(core).tree(0) for core in self.boosting.trees()]
        return trees * len(self.raw) if self._vector_leaves else trees

    def add(self, values: Sequence[FloatArray]) -> list[engine.Forest]:
        """Give the trees their leaf values, and add these to the scores; the trees."""
        for k, value in enumerate(values):
            self.boosting.add(k, value)
        return [engine.Forest(core) for core in self.boosting.trees()]

    def _tree(self, k: int) -> int:
        return 0 if self._vector_leaves else k


def gradient_size_weights(r: FloatArray, rows: RowWeights, total: float) -> FloatArray:
    """``w |r|``, scaled to the sum `total`.

    Exactly w, if `total` is the sum of w and all |r| are equal. A weight that is nothing but
    rounding is none.
    """
    size: FloatArray = np.abs(r) / np.abs(r).max()
    if rows.factors is not None:
        size *= rows.factors
    return rows.fine(size * (total / rows.count(size)), keep_light=False)


class GradientForeignLearner:
    """Estimators of any kind, one for each score.

    Regressors are fitted to ``-g / h`` with the weights ``w h`` (second order), or to ``-g`` with
    the weights w. A classifier says -1 or 1, and ``sum w r h`` with ``r = -g`` is largest if it is
    fitted to the sign of r with the weights ``w |r|`` (Friedman 2001; Mason et al. 2000). Where
    members take no weights, rows are drawn by weight, unless all weigh the same.

    Parameters
    ----------
    estimator : regressor, or classifier
    rows : FitData
    n_raw : int
    order : int
    seed : int
    labels : array of two labels, optional
        What the two signs are called, if it is a classifier.
    scaled : bool
        The factors of members are the scales of rounds, and not kept with them.
    """

    boosting = None  # the engine has no part in it

    def __init__(
        self,
        estimator: Any,
        rows: FitData,
        n_raw: int,
        order: int,
        seed: int,
        labels: npt.NDArray[Any] | None = None,
        scaled: bool = False,
    ) -> None:
        self._estimator, self._rows, self._seed = estimator, rows, seed
        self._order, self._labels, self._scaled = order, labels, scaled
        self._weighs = takes_weights(estimator, routed=False)
        self._n_scores = n_raw
        shape = (n_raw, len(rows))
        self.raw, self.gradients, self.hessians = (np.zeros(shape) for _ in range(3))
        self._members: list[Any] = []
        self._said = np.zeros(shape)

    def grow(self, number: int, multipliers: Multipliers, columns: Columns) -> None:
        """Fit the members of a round."""
        self._members = [
            self._fitted(k, number * self._n_scores + k, multipliers) for k in range(self._n_scores)
        ]
        for k, member in enumerate(self._members):
            self._said[k] = self._answers_of(member)

    def _answers_of(self, member: Any) -> FloatArray:
        if self._labels is None:
            return member_finite_values(member, self._rows.X)
        votes = member_shares(member, self._rows.X, n_classes=2, vote=True)
        return votes[:, 1] - votes[:, 0]

    def _fitted(self, k: int, key: int, multipliers: Multipliers) -> Any:
        target: npt.NDArray[Any] = -self.gradients[k]
        weights = self._rows.weights
        if self._labels is not None:
            weights = gradient_size_weights(target, self._rows.row_weights, 1.0)
            target = (target > 0).astype(np.int64)
        elif self._order == 2:
            h = self.hessians[k]
            target = target / h
            weights = h if weights is None else weights * h
        if multipliers is not None:
            weights = multipliers if weights is None else weights * multipliers
        X = self._rows.X
        if weights is not None and not weights.all():
            there = np.flatnonzero(weights)
            X, target, weights = take_rows(X, there), target[there], weights[there]
        counts = None
        if weights is not None and not self._weighs:
            if (weights != weights[0]).any():
                counts = draw_by_weight(weights, self._seed, key)
            weights = None
        member = make_member(
            self._estimator, engine.member_seed(self._seed, key), classes=self._labels
        )
        drawn = target if counts is None else target[counts > 0]
        if self._labels is not None and drawn.min() == drawn.max():
            # Many classifiers refuse a single class; with one class there is only one answer.
            member = DummyClassifier(strategy="constant", constant=int(drawn[0]))
        return fit_member(member, X, target, weights, counts=counts, routed=False)

    def factors(self) -> list[FloatArray]:
        """Members say what they say."""
        return [np.ones(1)] * self._n_scores

    def said(self, values: Sequence[FloatArray]) -> FloatArray:
        """What the members, times these factors, say about the rows, shape (K, n)."""
        said: FloatArray = np.array([float(value[0]) for value in values])[:, None] * self._said
        return said

    def add(self, values: Sequence[FloatArray]) -> list[Any]:
        """Add what the members say, times these factors, to the scores; members with factors."""
        factors = [float(value[0]) for value in values]
        for k, factor in enumerate(factors):
            self.raw[k] += factor * self._said[k]
        if self._scaled:
            return self._members
        return list(zip(self._members, factors, strict=True))
