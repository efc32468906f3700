"""A fitted tree: flat arrays in pre-order, with scikit-learn's names and meaning."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, csr_matrix

from weald._engine import _core
from weald._engine._arrays import FloatArray, IntArray
from weald._engine._sparse import SparseTable, rows_for_core

_STORED = {
    "children_right": np.int64,
    "feature": np.int64,
    "threshold": np.float64,
    "missing_go_to_left": np.bool_,
    "set_begin": np.int64,
    "sets": np.uint32,
    "impurity": np.float64,
    "n_node_samples": np.int64,
    "weighted_n_node_samples": np.float64,
    "value": np.float64,
}
_LEAF = -1
_FEW_CATEGORIES = 256  # columns with more write their sets in other ways than as bits
_SET_OF_BITS = 2**32 - 1
_REMEMBERED = 32  # tests whose sides are kept for those below them
_PIECE = 2**22  # numbers made at once: Ctrl-C is heard between two calls of NumPy


def _kept(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, which nobody can write to: predictions have a copy, and would not follow."""
    array.flags.writeable = False
    return array


class Tree:
    """The nodes of one tree.

    Nodes are numbered in pre-order, so the left child of node ``i`` is ``i + 1``.

    Attributes
    ----------
    node_count, max_depth, n_leaves, n_features, n_outputs : int
    children_left, children_right : array of shape (node_count,)
        -1 at a leaf.
    feature : array of shape (node_count,)
        Column tested; -2 at a leaf.
    threshold : array of shape (node_count,)
        ``x <= threshold`` goes left. NaN at a categorical test, -2 at a leaf; ``inf`` separates
        present values (left) from missing ones.
    missing_go_to_left : array of bool
    is_categorical : array of bool
    impurity, n_node_samples, weighted_n_node_samples : arrays of shape (node_count,)
    value : array of shape (node_count, n_outputs, max_n_classes)
        Class shares, or the predicted number.
    n_categories : array of shape (n_features,)
        Number of categories of each column, 0 if numeric.

    All arrays are read-only: NumPy refuses to write to them, and copies of them are writable.
    """

    children_right: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_go_to_left: npt.NDArray[np.bool_]
    set_begin: IntArray
    sets: npt.NDArray[np.uint32]
    impurity: FloatArray
    n_node_samples: IntArray
    weighted_n_node_samples: FloatArray
    value: FloatArray
    # Known where the tree is a member of a forest, which may not know the impurity of inner nodes.
    importance: FloatArray | None = None

    def __init__(
        self, arrays: dict[str, Any], n_categories: npt.ArrayLike, n_classes: npt.ArrayLike
    ) -> None:
        n = len(arrays["feature"])
        for name, dtype in _STORED.items():
            array = arrays[name]
            if isinstance(array, np.ndarray) and array.dtype == np.uint8 and dtype is np.bool_:
                array = array.view(np.bool_)  # as the engine has them
            if not isinstance(array, np.ndarray) or array.dtype != dtype:
                raise ValueError(f"Not a valid tree: {name} must be an array of {dtype.__name__}.")
            if array.ndim != (3 if name == "value" else 1):
                raise ValueError(f"Not a valid tree: {name} has {array.ndim} dimensions.")
            if name != "sets" and len(array) != n:
                raise ValueError(
                    f"Not a valid tree: {name} has {len(array)} entries for {n} nodes."
                )
            setattr(self, name, _kept(array))
        self.n_categories = _kept(np.array(n_categories, dtype=np.uint32))
        self.n_classes = _kept(np.array(n_classes, dtype=np.int64))
        self._sides: dict[int, tuple[IntArray, IntArray]] = {}
        self._router  # noqa: B018  built now, so that damaged arrays are refused at once

    def _check_leaves(self) -> None:
        """Refuse values that would make predictions of another kind than the tree says."""
        if self.n_classes.shape != (self.n_outputs,) or self.n_classes.max() != self.max_n_classes:
            raise ValueError("Not a valid tree: its values do not fit its classes.")
        said = self.value[self.is_leaf]
        if not np.isfinite(said).all() or (self.max_n_classes > 1 and (said < 0).any()):
            raise ValueError("Not a valid tree: a leaf does not say a finite number.")
        if (self.n_node_samples < 0).any():
            raise ValueError("Not a valid tree: a node has fewer than 0 rows.")

    # --- derived arrays and numbers -------------------------------------------------------

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.feature)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.n_categories)

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return int(self.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        """Largest number of classes of any output (1 for regression)."""
        return int(self.value.shape[2])

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Which nodes are leaves."""
        leaf: npt.NDArray[np.bool_] = _kept(self.children_right == _LEAF)
        return leaf

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @cached_property
    def children_left(self) -> IntArray:
        """Left child of each node; -1 at a leaf."""
        return _kept(np.where(self.is_leaf, _LEAF, np.arange(1, self.node_count + 1)))

    @property
    def is_categorical(self) -> npt.NDArray[np.bool_]:
        """Which nodes test a set of categories."""
        return _kept(self.set_begin >= 0)

    @cached_property
    def parent(self) -> IntArray:
        """Parent of each node; -1 at the root."""
        parent = np.full(self.node_count, -1, dtype=np.int64)
        inner = np.flatnonzero(~self.is_leaf)
        parent[inner + 1] = inner
        parent[self.children_right[inner]] = inner
        return _kept(parent)

    @cached_property
    def depth(self) -> IntArray:
        """Number of tests above each node."""
        return _kept(_core.node_depths(self.children_right))

    @cached_property
    def levels(self) -> list[IntArray]:
        """The nodes of each depth, from the root down."""
        order = np.argsort(self.depth, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depth))[:-1])

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depth.max())

    @cached_property
    def _router(self) -> _core.Forest:
        return _core.Forest.from_arrays(
            self.children_right,
            self.feature,
            self.threshold,
            self.missing_go_to_left.view(np.uint8),
            self.set_begin,
            self.sets,
            self.n_categories.tolist(),
        )

    # --- use --------------------------------------------------------------------------------

    def left_categories(self, node: int) -> IntArray:
        """Category codes that go left at a categorical node."""
        return self.category_sides(node)[0]

    def category_sides(self, node: int) -> tuple[IntArray, IntArray]:
        """Category codes that go left and right at a categorical node, both ascending.

        In a column of more than 256 categories only those that can arrive at the node are told.
        """
        if self.set_begin[node] < 0:
            raise ValueError(f"Node {node} does not test a category.")
        column = self.feature[node]
        arriving: IntArray = np.arange(self.n_categories[column], dtype=np.int64)
        tests = [(node, True)]  # of the column, from here up to one whose sides are known
        child, above = node, int(self.parent[node])
        while above >= 0 and len(arriving) > _FEW_CATEGORIES:
            if self.feature[above] == column:
                if above in self._sides:
                    arriving = self._sides[above][int(child != above + 1)]
                    break
                tests.append((above, child == above + 1))
            child, above = above, int(self.parent[above])
        for test, left in reversed(tests):
            goes_left = self._goes_left(test, arriving)
            self._sides[test] = arriving[goes_left], arriving[~goes_left]
            arriving = self._sides[test][int(not left)]
            if len(self._sides) > _REMEMBERED:
                del self._sides[next(iter(self._sides))]
        return self._sides[node]

    def _goes_left(self, node: int, codes: IntArray) -> npt.NDArray[np.bool_]:
        """Which of these categories a test sends left; see cpp/weald/category_sets.hpp."""
        words = self.sets[self.set_begin[node] :]
        if self.n_categories[self.feature[node]] > _FEW_CATEGORIES:
            head, words = int(words[0]), words[1:]
            if head != _SET_OF_BITS:
                return np.isin(codes, words[: head // 2], invert=head % 2 == 1)
        goes: npt.NDArray[np.bool_] = (words[codes // 32] >> (codes % 32).astype(np.uint32)) & 1 > 0
        return goes

    def apply(self, X: npt.NDArray[Any] | SparseTable, n_threads: int = 1) -> IntArray:
        """Leaf of each row of a checked numeric matrix."""
        return self._router.apply(rows_for_core(X), n_threads)[:, 0]

    def leaf_values(self, X: npt.NDArray[Any] | SparseTable, n_threads: int = 1) -> FloatArray:
        """Value of the leaf of each row, shape (n, n_outputs, max_n_classes)."""
        return self.value.take(self.apply(X, n_threads), axis=0)

    def predict(self, X: npt.NDArray[Any] | SparseTable, n_threads: int = 1) -> FloatArray:
        """The same as scikit-learn gives it: (n, max_n_classes) for a single output."""
        values = self.leaf_values(X, n_threads)
        return values[:, 0, :] if self.n_outputs == 1 else values

    def decision_path(self, X: npt.NDArray[Any] | SparseTable, n_threads: int = 1) -> csr_matrix:
        """Indicator matrix (n, node_count) of the nodes each row passes."""
        return paths_of(lambda _: self, self.apply(X, n_threads)[:, None])

    def compute_feature_importances(self, normalize: bool = True) -> FloatArray:
        """Impurity decrease credited to each column, ``sum_node (W_node / W) gain``."""
        total = self._impurity_decrease() if self.importance is None else self.importance
        scale = float(total.sum())
        return total / scale if normalize and scale > 0 else total

    def _impurity_decrease(self) -> FloatArray:
        inner = np.flatnonzero(~self.is_leaf)
        mass = self.weighted_n_node_samples * self.impurity
        gain = mass[inner] - mass[inner + 1] - mass[self.children_right[inner]]
        total = np.zeros(self.n_features)
        np.add.at(total, self.feature[inner], gain / self.weighted_n_node_samples[0])
        return total

    def collapse(self, make_leaf: npt.NDArray[np.bool_]) -> Tree:
        """A copy in which the marked nodes are leaves and what was below them is gone."""
        above = np.zeros(self.node_count, dtype=bool)  # a marked node lies above
        for nodes in self.levels[1:]:
            parent = self.parent[nodes]
            above[nodes] = above[parent] | make_leaf[parent]
        keep = ~above
        leaf = (self.is_leaf | make_leaf)[keep]
        new_number = np.cumsum(keep) - 1
        arrays = {name: getattr(self, name)[keep] for name in _STORED if name != "sets"}
        arrays["sets"] = self.sets
        arrays["children_right"] = np.where(leaf, _LEAF, new_number[arrays["children_right"]])
        arrays["feature"][leaf] = -2
        arrays["threshold"][leaf] = -2.0
        arrays["missing_go_to_left"][leaf] = False
        arrays["set_begin"][leaf] = -1
        return Tree(arrays, self.n_categories, self.n_classes)

    # --- pickling: data only; the router is rebuilt, which checks the arrays ------------------

    def __getstate__(self) -> dict[str, Any]:
        return {
            "arrays": {name: getattr(self, name) for name in _STORED},
            "n_categories": self.n_categories,
            "n_classes": self.n_classes,
            "importance": self.importance,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        importance = state.get("importance")
        arrays = state.get("arrays")
        if not isinstance(arrays, dict) or not arrays.keys() >= _STORED.keys():
            raise ValueError("Not a valid tree: an array is missing.")
        if not isinstance(arrays["feature"], np.ndarray) or arrays["feature"].ndim != 1:
            raise ValueError("Not a valid tree: feature must be an array.")
        n_categories = _counts(state.get("n_categories"), 0)
        self.__init__(arrays, n_categories, _counts(state.get("n_classes"), 1))  # type: ignore[misc]
        self._check_leaves()
        if importance is not None:
            shape = np.shape(importance)
            if shape != (self.n_features,) or not np.isfinite(importance).all():
                raise ValueError("Not a valid tree: importance must be a number for every column.")
            self.importance = importance


def _counts(given: Any, least: int) -> IntArray:
    """Numbers of things, as integers."""
    counts = np.asarray(given)
    if counts.dtype.kind not in "iu" or counts.ndim != 1 or not counts.size:
        raise ValueError("Not a valid tree: its numbers of categories and classes are no counts.")
    if (counts < least).any() or (counts >= 2**32).any():
        raise ValueError("Not a valid tree: a number of categories or classes is out of range.")
    return counts.astype(np.int64)


def paths_of(tree_of: Callable[[int], Tree], leaf: IntArray) -> csr_matrix:
    """Indicator matrix of the nodes that rows pass, tree after tree.

    Parameters
    ----------
    tree_of : function
        The tree of a number, asked for twice: all trees together may be large.
    leaf : array of shape (n, n_trees)
        Leaf of each row in each tree.
    """
    lengths = np.zeros(len(leaf), dtype=np.int64)
    n_nodes = 0
    for t, ends in enumerate(leaf.T):
        tree = tree_of(t)
        lengths += tree.depth[ends] + 1
        n_nodes += tree.node_count
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    # The type that SciPy wants: to convert them would take longer than to make them.
    narrow = max(int(indptr[-1]), n_nodes) < 2**31
    indptr = indptr.astype(np.int32) if narrow else indptr
    # Fresh memory comes piece by piece: long paths would ask for all of it with their first nodes.
    indices = _full(int(indptr[-1]), 0, indptr.dtype)
    done, before = indptr[:-1].astype(np.int64), 0
    for t, ends in enumerate(leaf.T):
        tree = tree_of(t)
        done += tree.depth[ends] + 1
        node, place = ends, done - 1
        while len(node):  # from the leaves up, all rows at once
            indices[place] = node + before
            node = tree.parent[node]
            inside = node >= 0
            node, place = node[inside], place[inside] - 1
        before += tree.node_count
    ones = _full(len(indices), 1, np.int64)
    return csr_matrix(csr_array((ones, indices, indptr), shape=(len(leaf), n_nodes)))


def _full(n: int, value: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array of equal numbers, written in pieces."""
    array = np.empty(n, dtype=dtype)
    for first in range(0, n, _PIECE):
        array[first : first + _PIECE] = value
    return array
