"""What other libraries keep in compiled objects, as plain data.

A compiled loop reads where an index tells it to. So whatever such a loop will rely on is checked
here, before there is an object that could be asked for a prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline
from sklearn.tree._tree import Tree

from weald.input.sparse import check_sparse
from weald.input.state import is_whole
from weald.models.errors import require

__all__ = ["COMPILED", "Compiled", "compiled_of"]

_SPARSE = ("csr_matrix", "csr_array", "csc_matrix", "csc_array")


@dataclass(frozen=True)
class Compiled:
    """How objects of some kinds become plain values, and how those become objects again."""

    kinds: tuple[type, ...]
    plain: Callable[[Any], dict[str, Any]]
    build: Callable[[dict[str, Any]], Any]


def _plain_tree(tree: Any) -> dict[str, Any]:
    state = tree.__getstate__()
    nodes = state["nodes"]
    return {
        "n_features": tree.n_features,
        "n_classes": np.asarray(tree.n_classes, dtype=np.intp),
        "max_depth": state["max_depth"],
        "nodes": {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names},
        "values": state["values"],
    }


def _build_tree(parts: dict[str, Any]) -> Any:
    d, n_classes, values = parts["n_features"], parts["n_classes"], parts["values"]
    given = parts["nodes"]
    require(is_whole(d, 1), "the number of columns of a tree")
    right = isinstance(n_classes, np.ndarray) and n_classes.dtype == np.intp
    require(right and n_classes.ndim == 1 and len(n_classes) > 0, "the classes of a tree")
    require((n_classes > 0).all() and (n_classes < 2**31).all(), "the classes of a tree")
    require(is_whole(parts["max_depth"], 0), "the depth of a tree")
    require(isinstance(given, dict), "the nodes of a tree")
    dtype = Tree(1, np.ones(1, dtype=np.intp), 1).__getstate__()["nodes"].dtype
    require(given.keys() == set(dtype.names), "the nodes of a tree")
    n = len(given["feature"])
    for name in dtype.names:
        fits = isinstance(given[name], np.ndarray) and given[name].dtype == dtype[name]
        require(fits and given[name].shape == (n,), "the nodes of a tree")
    shape = (n, len(n_classes), int(n_classes.max()))
    fits = isinstance(values, np.ndarray) and values.dtype == np.float64
    require(n > 0 and fits and values.shape == shape, "the values of a tree")
    require(np.isfinite(values).all(), "the values of a tree")
    if shape[2] > 1:  # shares of classes
        require((values >= 0).all() and values.sum(axis=2).all(), "the values of a tree")
    left, to = given["left_child"], given["right_child"]
    leaf, number = left == -1, np.arange(n)
    require((leaf == (to == -1)).all(), "the children of a tree")
    children = np.concatenate([left[~leaf], to[~leaf]])
    parents = np.concatenate([number[~leaf]] * 2)
    # Children come after their parents, each has one parent, and all but the root have one.
    require((children > parents).all(), "the children of a tree")
    require(np.array_equal(np.sort(children), number[1:]), "the children of a tree")
    feature = given["feature"][~leaf]
    require(((feature >= 0) & (feature < d)).all(), "a column of a tree")
    require(not np.isnan(given["threshold"][~leaf]).any(), "a threshold of a tree")
    nodes = np.zeros(n, dtype=dtype)
    for name in dtype.names:
        nodes[name] = given[name]
    tree = Tree(int(d), n_classes, len(n_classes))
    state = {"max_depth": int(parts["max_depth"]), "node_count": n, "nodes": nodes}
    tree.__setstate__({**state, "values": np.ascontiguousarray(values)})
    return tree


def _plain_spline(spline: Any) -> dict[str, Any]:
    names = ("t", "c", "k", "extrapolate", "axis")
    return {name: getattr(spline, name) for name in names}


def _build_spline(parts: dict[str, Any]) -> Any:
    t, c, k = parts["t"], parts["c"], parts["k"]
    for one in (t, c):
        fits = isinstance(one, np.ndarray) and one.dtype == np.float64
        require(fits and one.ndim in (1, 2), "a spline")
        require(np.isfinite(one).all(), "a spline")
    require(is_whole(k, 0, 100) and parts["axis"] == 0, "a spline")
    require(parts["extrapolate"] in (True, False, "periodic"), "a spline")
    return BSpline(t, c, int(k), extrapolate=parts["extrapolate"])  # which checks the rest


def _plain_sparse(matrix: Any) -> dict[str, Any]:
    return {
        "kind": type(matrix).__name__,
        "shape": matrix.shape,
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }


def _build_sparse(parts: dict[str, Any]) -> Any:
    kind, shape = parts["kind"], parts["shape"]
    arrays = [parts[name] for name in ("data", "indices", "indptr")]
    require(isinstance(kind, str) and kind in _SPARSE, "a sparse matrix")
    require(isinstance(shape, tuple) and len(shape) == 2, "a sparse matrix")
    require(all(is_whole(n, 0) for n in shape), "a sparse matrix")
    for array in arrays:
        require(isinstance(array, np.ndarray) and array.ndim == 1, "a sparse matrix")
    require(arrays[0].dtype.kind in "fiub", "a sparse matrix")
    require(all(array.dtype in (np.int32, np.int64) for array in arrays[1:]), "a sparse matrix")
    lines = shape[0] if kind.startswith("csr") else shape[1]
    require(len(arrays[2]) == lines + 1, "a sparse matrix")
    matrix = getattr(sp, kind)((1, 1))
    matrix._shape = shape
    matrix.data, matrix.indices, matrix.indptr = arrays
    check_sparse(matrix, "a sparse matrix of the model")
    matrix = getattr(sp, kind)(tuple(arrays), shape=shape)
    require(matrix.has_canonical_format, "a sparse matrix")
    return matrix


COMPILED = {
    "sklearn tree": Compiled((Tree,), _plain_tree, _build_tree),
    "spline": Compiled((BSpline,), _plain_spline, _build_spline),
    "sparse": Compiled(tuple(getattr(sp, kind) for kind in _SPARSE), _plain_sparse, _build_sparse),
}


def compiled_of(thing: Any) -> str | None:
    """The name of a thing's kind among those that are compiled."""
    return next((name for name, how in COMPILED.items() if type(thing) in how.kinds), None)
