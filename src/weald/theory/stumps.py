"""The best decision stump for any weights, found by the engine.

A stump says one sign on one side of a cut in one column, and a sign on the other side. The constant
functions are stumps too, with the same sign on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weald import _engine as engine
from weald._engine import FloatArray
from weald.input.table import Table, check_X_fit
from weald.params.criteria import CLASSIFICATION_CRITERIA
from weald.params.growth import TreeParams, resolve_tree_params
from weald.tree import DecisionTreeClassifier

__all__ = ["StumpSearch", "is_all_numbers", "read_table"]


@dataclass(frozen=True, eq=False)
class StumpSearch:
    """A table cut into codes once, to be searched under many weights."""

    table: Table
    params: TreeParams
    codes: engine.Binned

    @staticmethod
    def of(table: Table) -> StumpSearch:
        """Cut the columns of a table into codes, one for each value."""
        tree = DecisionTreeClassifier(criterion="misclassification", max_depth=1, random_state=0)
        n = len(table.X)
        params = resolve_tree_params(tree, CLASSIFICATION_CRITERIA, n, table.columns, float(n))
        return StumpSearch(table, params, table.binned(params, None, params.threads))

    def best(self, signed: FloatArray) -> engine.Tree:
        """The stump h with the largest ``sum of signed_i h(x_i)``, over all stumps there are.

        A tree of depth 1 that minimises the weighted number of misclassified signs is that stump:
        with ``w = abs(signed)`` and ``y = sign(signed)``, the sum is ``sum of w`` minus twice the
        weight that is misclassified.
        """
        codes = (signed > 0).astype(np.int32)[:, None]
        target = engine.labels(codes, [2], np.abs(signed))
        arrays = engine.grow(
            self.codes,
            target,
            target,
            self.params.criterion,
            self.params.rules,
            self.params.threads,
        )
        return engine.Tree(arrays, self.table.n_categories, np.array([2]))

    def signs(self, stump: engine.Tree, X: Any = None) -> FloatArray:
        """What a stump says about rows, those of the table if no others are given."""
        rows = self.table.X if X is None else X
        shares = stump.leaf_values(rows, self.params.threads)[:, 0]
        return np.where(shares[:, 1] >= shares[:, 0], 1.0, -1.0)

    def n_functions(self) -> int | None:
        """How many different stumps there are on these rows; None with categories or gaps.

        Two constants, and for each cut between two values of a column a stump and its opposite.
        """
        if not is_all_numbers(self.table):
            return None
        return 2 + 2 * sum(len(np.unique(column)) - 1 for column in np.asarray(self.table.X).T)


def read_table(X: Any) -> Table:
    """Any table as the engine takes it."""
    return check_X_fit(DecisionTreeClassifier(), X)


def is_all_numbers(table: Table) -> bool:
    """Whether it has neither categories nor missing values."""
    return not (table.is_categorical.any() or np.isnan(table.X).any())
