"""A fitted forest: the trees in compact form, and what can be asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import _core
from weald._engine._arrays import FloatArray, IntArray
from weald._engine._sparse import SparseTable, rows_for_core
from weald._engine._threads import resolve_threads
from weald._engine._tree import Tree


class Forest:
    """The trees of a forest, 16 bytes a node.

    What a member says about its inner nodes (counts, impurities, values) is not stored: it follows
    from the leaves and is worked out when :meth:`tree` is asked for.
    """

    def __init__(self, core: _core.Forest) -> None:
        self._core = core

    # --- numbers ------------------------------------------------------------------------------

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self._core.n_trees

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._core.n_features

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return self._core.n_outputs

    @property
    def n_classes(self) -> IntArray:
        """Number of classes of each output (1 for regression)."""
        return np.asarray(self._core.n_classes, dtype=np.int64)

    @property
    def n_categories(self) -> list[int]:
        """Number of categories of each column, 0 if numeric."""
        return self._core.n_categories

    @property
    def max_n_classes(self) -> int:
        """Largest number of classes of any output (1 for regression)."""
        return self._core.max_n_classes

    @property
    def node_counts(self) -> IntArray:
        """Number of nodes of each tree."""
        return self._core.node_counts

    @property
    def nbytes(self) -> int:
        """Memory the trees take."""
        return self._core.nbytes

    @property
    def importances(self) -> FloatArray:
        """Impurity decrease of each tree and column, ``sum_node (W_node / W) gain``."""
        return self._core.importances(0, self._core.n_trees, resolve_threads(None))

    # --- parts --------------------------------------------------------------------------------

    def extend(self, other: Forest) -> None:
        """Append the trees of another batch."""
        self._core.extend(other._core)

    def prefix(self, n_trees: int) -> Forest:
        """The first trees."""
        return Forest(self._core.prefix(n_trees))

    def tree(self, t: int) -> Tree:
        """One member in full."""
        tree = Tree(self._core.tree(t), self._core.n_categories, self.n_classes)
        tree.importance = self._core.importances(t, t + 1, 1)[0]
        return tree

    def leaf_rows(self, t: int) -> tuple[npt.NDArray[np.uint32], IntArray, IntArray]:
        """The training rows of tree `t`, leaf after leaf; where each leaf's begin; the leaves.

        Only if the forest was grown with ``keep_rows``.
        """
        return self._core.leaf_rows(t)

    # --- use ----------------------------------------------------------------------------------

    def apply(self, X: npt.NDArray[Any] | SparseTable, n_threads: int = 1) -> IntArray:
        """Leaf of each row in each tree, shape (n, n_trees)."""
        return self._core.apply(rows_for_core(X), n_threads)

    def values(
        self,
        X: npt.NDArray[Any] | SparseTable,
        n_threads: int = 1,
        first: int = 0,
        last: int | None = None,
        weights: FloatArray | None = None,
        vote: bool = False,
        start: FloatArray | None = None,
    ) -> FloatArray:
        """Sum of the trees' values, shape (n, n_outputs, max_n_classes).

        The trees are added in order, so that the sums are the same for any number of threads.

        Parameters
        ----------
        X : checked numeric matrix
        n_threads : int
        first, last : int
            Trees to add.
        weights : array of shape (n_trees,), optional
        vote : bool
            A tree adds its weight to its largest class instead of its class shares.
        start : array of shape (n, n_outputs * max_n_classes), optional
            What the values are added to; 0 by default.
        """
        end = self.n_trees if last is None else last
        return sums_of([self], X, n_threads, first, end, weights, vote, start)

    def member_values(self, X: npt.NDArray[Any] | SparseTable, n_threads: int = 1) -> FloatArray:
        """Value of each row in each tree, shape (n_trees, n, n_outputs, max_n_classes)."""
        every = (0, self.n_trees)
        rows = rows_for_core(X)
        return _core.forest_values([self._core], rows, n_threads, *every, None, False, True, None)

    def add_out_of_bag(
        self,
        X: npt.NDArray[Any] | SparseTable,
        draw: _core.Draw,
        seed: int,
        first: int,
        last: int,
        sums: FloatArray,
        votes: IntArray,
        n_threads: int = 1,
        vote: bool = False,
    ) -> None:
        """Add, in place, the values of trees first..last-1 for the rows they did not draw.

        Parameters
        ----------
        X : checked numeric matrix of the training rows
        draw, seed : what the forest was grown with
        first, last : int
        sums : array of shape (n, n_outputs, max_n_classes)
        votes : int64 array of shape (n,)
            How many trees have answered for each row.
        n_threads : int
        vote : bool
        """
        self._core.add_out_of_bag(
            rows_for_core(X), draw, seed, first, last, sums, votes, n_threads, vote
        )

    # --- pickling: plain arrays, checked when they come back -------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return dict(self._core.state())

    def __setstate__(self, state: dict[str, Any]) -> None:
        try:
            self._core = _core.Forest.from_state(state, resolve_threads(None))
        except (KeyError, RuntimeError, TypeError) as error:  # what a cast in the engine throws
            raise ValueError(
                "Not a valid forest: a part is missing, or of another kind."
            ) from error


def sums_of(
    forests: list[Forest],
    X: npt.NDArray[Any] | SparseTable,
    n_threads: int,
    first: int,
    last: int,
    weights: FloatArray | None = None,
    vote: bool = False,
    start: FloatArray | None = None,
) -> FloatArray:
    """:meth:`Forest.values` of forests of one kind, side by side: (n, their outputs, classes)."""
    cores = [forest._core for forest in forests]
    rows = rows_for_core(X)
    return _core.forest_values(cores, rows, n_threads, first, last, weights, vote, False, start)


def grow_forest(
    matrix: _core.Binned,
    target: _core.Target,
    criterion: str,
    rules: _core.Rules,
    draw: _core.Draw,
    balance: bool,
    seed: int,
    first: int,
    last: int,
    threads: int,
    keep_rows: bool = False,
) -> Forest:
    """Grow the trees first..last-1 of the forest with this seed.

    A tree depends on the seed and on its own number, so batches, threads and the number of trees
    change nothing.
    """
    return Forest(
        _core.grow_forest(
            matrix, target, criterion, rules, draw, balance, seed, first, last, threads, keep_rows
        )
    )
