"""Trees that are fitted to the negative gradient by any criterion.

A regression tree is fitted to r = -g by least squares, or as its criterion says. A classification
tree says -1 or 1, and is fitted to the sign of r with the weights ``w |r|``, as in
:class:`weald.boosting.learners.GradientForeignLearner`, which serves all other members.

Trees are grown one by one from the same binned table. Trees with a cost matrix or
``ccp_alpha="cv"`` read the table themselves (:func:`weald.members.templates.grown_by_engine`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from weald import _engine as engine
from weald._engine import FloatArray
from weald.boosting.learners import gradient_size_weights
from weald.boosting.units import row_scale
from weald.input.fit_data import FitData
from weald.input.table import contiguous
from weald.members.templates import as_template
from weald.params.criteria import CLASSIFICATION_CRITERIA, CRITERIA, REGRESSION_CRITERIA
from weald.params.growth import resolve_member_tree

__all__ = ["StagewiseTreeLearner"]

# Trees are fitted to the gradient as it is, unless it is far out of the range of other numbers.
_HUGE, _TINY = 1e50, 1e-50
_OF_GRADIENTS = {  # which have both signs
    name: of for name, of in REGRESSION_CRITERIA.items() if not CRITERIA[name].positive_only
}


class StagewiseTreeLearner:
    """Trees of weald: values become codes once, and every round grows a tree from them.

    Parameters
    ----------
    tree : tree estimator
    rows : FitData
    labels : array of two labels, optional
        What the two signs are called, if the trees are classifiers.
    like : estimator
        Knows the columns.
    seed : int
    """

    def __init__(
        self, tree: Any, rows: FitData, labels: npt.NDArray[Any] | None, like: Any, seed: int
    ) -> None:
        assert rows.table is not None
        self._rows, self._row_weights, self._seed = rows, rows.row_weights, seed
        self._votes = labels is not None
        self._growth = resolve_member_tree(
            tree,
            CLASSIFICATION_CRITERIA if self._votes else _OF_GRADIENTS,
            len(rows),
            rows.table.columns,
            rows.weight,
        )
        self._growth.rules.row_weight = 1 / row_scale(rows.weights)
        table = replace(rows.table, X=contiguous(rows.X))
        self._matrix = table.binned(self._growth, rows.weights, self._growth.threads)
        self._draw = engine.Draw()
        self.template = as_template(clone(tree), like, self._growth.max_features, classes=labels)
        self.raw, self.gradients, self.hessians = (np.zeros((1, len(rows))) for _ in range(3))
        self._forest: engine.Forest | None = None
        self._said = np.zeros(len(rows))

    def grow(self, number: int, multipliers: Any, columns: Any) -> None:
        """Grow the tree of a round."""
        growth = self._growth
        forest = engine.grow_forest(
            self._matrix,
            self._target(-self.gradients[0]),
            growth.criterion,
            growth.rules,
            self._draw,
            False,
            self._seed,
            number,
            number + 1,
            growth.threads,
        )
        values = forest.values(self._rows.X, growth.threads, vote=self._votes)[:, 0]
        self._said = values[:, 1] - values[:, 0] if self._votes else values[:, 0]
        self._forest = forest

    def _target(self, r: FloatArray) -> engine.Target:
        if self._votes:
            # The same total in every round, as the rules know it; whole weights of equal rows stay.
            weights = gradient_size_weights(r, self._row_weights, self._rows.weight)
            signs = (r > 0).astype(np.int32)[:, None]
            return engine.labels(signs, [2], self.template._row_weights(signs, weights))
        largest = float(np.abs(r).max())
        scaled = r if _TINY < largest < _HUGE else r / largest
        return engine.reals(np.ascontiguousarray(scaled)[:, None], self._rows.weights)

    def said(self, values: Sequence[FloatArray]) -> FloatArray:
        """What the tree, times a factor, says about the rows, shape (1, n)."""
        said: FloatArray = float(values[0][0]) * self._said[None, :]
        return said

    def add(self, values: Sequence[FloatArray]) -> list[engine.Forest]:
        """Add what the tree says, times a factor, to the raw predictions; the tree."""
        self.raw[0] += float(values[0][0]) * self._said
        assert self._forest is not None
        return [self._forest]
