"""What other libraries keep in compiled objects, as plain data; and what their loops take on trust.

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
from sklearn.neighbors import BallTree, KDTree
from sklearn.tree._tree import Tree

from weald.input.sparse import check_sparse
from weald.input.state import is_whole

__all__ = ["COMPILED", "Compiled", "compiled_of", "finish", "left_out"]

_SPARSE = ("csr_matrix", "csr_array", "csc_matrix", "csc_array")


class _WrongError(ValueError):
    """Parts that do not fit together."""


def _require(condition: Any, part: str) -> None:
    if not condition:
        raise _WrongError(f"Not a valid model file: {part} cannot be right.")


# --- objects that are compiled ----------------------------------------------------------------


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
    _require(is_whole(d, 1), "the number of columns of a tree")
    right = isinstance(n_classes, np.ndarray) and n_classes.dtype == np.intp
    _require(right and n_classes.ndim == 1 and len(n_classes) > 0, "the classes of a tree")
    _require((n_classes > 0).all() and (n_classes < 2**31).all(), "the classes of a tree")
    _require(is_whole(parts["max_depth"], 0), "the depth of a tree")
    _require(isinstance(given, dict), "the nodes of a tree")
    dtype = Tree(1, np.ones(1, dtype=np.intp), 1).__getstate__()["nodes"].dtype
    _require(given.keys() == set(dtype.names), "the nodes of a tree")
    n = len(given["feature"])
    for name in dtype.names:
        fits = isinstance(given[name], np.ndarray) and given[name].dtype == dtype[name]
        _require(fits and given[name].shape == (n,), "the nodes of a tree")
    shape = (n, len(n_classes), int(n_classes.max()))
    fits = isinstance(values, np.ndarray) and values.dtype == np.float64
    _require(n > 0 and fits and values.shape == shape, "the values of a tree")
    _require(np.isfinite(values).all(), "the values of a tree")
    if shape[2] > 1:  # shares of classes
        _require((values >= 0).all() and values.sum(axis=2).all(), "the values of a tree")
    left, to = given["left_child"], given["right_child"]
    leaf, number = left == -1, np.arange(n)
    _require((leaf == (to == -1)).all(), "the children of a tree")
    children = np.concatenate([left[~leaf], to[~leaf]])
    parents = np.concatenate([number[~leaf]] * 2)
    # Children come after their parents, each has one parent, and all but the root have one.
    _require((children > parents).all(), "the children of a tree")
    _require(np.array_equal(np.sort(children), number[1:]), "the children of a tree")
    feature = given["feature"][~leaf]
    _require(((feature >= 0) & (feature < d)).all(), "a column of a tree")
    _require(not np.isnan(given["threshold"][~leaf]).any(), "a threshold of a tree")
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
        _require(fits and one.ndim in (1, 2), "a spline")
        _require(np.isfinite(one).all(), "a spline")
    _require(is_whole(k, 0, 100) and parts["axis"] == 0, "a spline")
    _require(parts["extrapolate"] in (True, False, "periodic"), "a spline")
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
    _require(isinstance(kind, str) and kind in _SPARSE, "a sparse matrix")
    _require(isinstance(shape, tuple) and len(shape) == 2, "a sparse matrix")
    _require(all(is_whole(n, 0) for n in shape), "a sparse matrix")
    for array in arrays:
        _require(isinstance(array, np.ndarray) and array.ndim == 1, "a sparse matrix")
    _require(arrays[0].dtype.kind in "fiub", "a sparse matrix")
    _require(all(array.dtype in (np.int32, np.int64) for array in arrays[1:]), "a sparse matrix")
    lines = shape[0] if kind.startswith("csr") else shape[1]
    _require(len(arrays[2]) == lines + 1, "a sparse matrix")
    matrix = getattr(sp, kind)((1, 1))
    matrix._shape = shape
    matrix.data, matrix.indices, matrix.indptr = arrays
    check_sparse(matrix, "a sparse matrix of the model")
    matrix = getattr(sp, kind)(tuple(arrays), shape=shape)
    _require(matrix.has_canonical_format, "a sparse matrix")
    return matrix


COMPILED = {
    "sklearn tree": Compiled((Tree,), _plain_tree, _build_tree),
    "spline": Compiled((BSpline,), _plain_spline, _build_spline),
    "sparse": Compiled(tuple(getattr(sp, kind) for kind in _SPARSE), _plain_sparse, _build_sparse),
}


def compiled_of(thing: Any) -> str | None:
    """The name of a thing's kind among those that are compiled."""
    return next((name for name, how in COMPILED.items() if type(thing) in how.kinds), None)


# --- estimators that hold such objects, or hand arrays to compiled loops -------------------------


def _rebuild_points(model: Any) -> None:
    """The tree of points of a model of nearest neighbours."""
    X, method = model._fit_X, model._fit_method
    _require(method in ("auto", "kd_tree", "ball_tree", "brute"), "the method of neighbours")
    # Loops of one type each: those for dense numbers, or for sparse ones.
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"
    _require(dense or sp.issparse(X), "the points of neighbours")
    _require(X.shape == (model.n_samples_fit_, model.n_features_in_), "the points of neighbours")
    _require(len(model._y) == X.shape[0], "the targets of neighbours")
    _require(isinstance(model._y, np.ndarray), "the targets of neighbours")
    if isinstance(model, _classifiers()):
        lists = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
        codes = model._y.reshape(X.shape[0], -1)
        _require(codes.dtype.kind in "iu" and codes.shape[1] == len(lists), "the targets")
        for k, labels in enumerate(lists):
            _require(isinstance(labels, np.ndarray) and len(labels) > 0, "the classes")
            inside = (codes[:, k] >= 0) & (codes[:, k] < len(labels))
            _require(inside.all(), "the targets of neighbours")
    else:
        _require(model._y.dtype.kind in "fiub", "the targets of neighbours")
    values = X.data if sp.issparse(X) else X
    _require(np.isfinite(values).all() or model.metric == "nan_euclidean", "the points")
    _require(isinstance(model.effective_metric_, str), "the metric of neighbours")
    _require(isinstance(model.effective_metric_params_, dict), "the metric of neighbours")
    model._tree = None
    if method in ("kd_tree", "ball_tree"):
        _require(dense and is_whole(model.leaf_size, 1), "the tree of neighbours")
        make = KDTree if method == "kd_tree" else BallTree
        metric, more = model.effective_metric_, model.effective_metric_params_
        model._tree = make(X, model.leaf_size, metric=metric, **more)


def _classifiers() -> tuple[type, ...]:
    from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

    return KNeighborsClassifier, RadiusNeighborsClassifier


def _check_machine(model: Any) -> None:
    """What libsvm reads of a support vector machine."""
    vectors, support, counts = model.support_vectors_, model.support_, model._n_support
    classifies = hasattr(model, "classes_")
    K = len(model.classes_) if classifies else 2
    n, pairs = len(support), K * (K - 1) // 2 if classifies else 1

    def fits(array: Any, shape: tuple[int, ...], dtype: Any) -> bool:
        right = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype
        return right and bool(np.isfinite(array).all())

    _require(K >= 2 and model._sparse in (True, False), "a support vector machine")
    _require(fits(support, (n,), np.int32) and (support >= 0).all(), "its support vectors")
    _require(fits(counts, (K,), np.int32) and (counts >= 0).all(), "its support vectors")
    total = counts.sum() if classifies else counts[0]
    _require(total == n, "the number of support vectors")
    _require(is_whole(model.n_features_in_, 1), "n_features_in_")
    shape = (n, model.n_features_in_)
    for name in ("dual_coef_", "_dual_coef_"):
        coefficients = getattr(model, name)
        if model._sparse:
            _require(sp.issparse(coefficients), "its coefficients")
            _require(coefficients.shape == (K - 1, n), "its coefficients")
            _require(np.isfinite(coefficients.data).all(), "its coefficients")
        else:
            _require(fits(coefficients, (K - 1, n), np.float64), "its coefficients")
    if model._sparse:
        _require(sp.issparse(vectors) and vectors.format == "csr", "its support vectors")
        _require(vectors.dtype == np.float64 and vectors.shape == shape, "its support vectors")
        _require(np.isfinite(vectors.data).all(), "its support vectors")
    else:
        kernel = model.kernel == "precomputed"
        _require(fits(vectors, (0, 0) if kernel else shape, np.float64), "its support vectors")
    for name in ("intercept_", "_intercept_"):
        _require(fits(getattr(model, name), (pairs,), np.float64), "its intercepts")
    a, b = model._probA, model._probB
    for part in (a, b):
        size = len(part)
        _require(size in (0, pairs) and fits(part, (size,), np.float64), "its probabilities")
    _require(len(a) == len(b), "its probabilities")
    rows, columns = model.shape_fit_
    _require(is_whole(rows, n) and columns == model.n_features_in_, "the shape of its table")
    _require(n == 0 or support.max() < rows, "its support vectors")
    _require(isinstance(model.kernel, str), "its kernel")
    _require(is_whole(model.degree, 0, 1000), "its degree")
    _require(np.isfinite([model._gamma, model.coef0]).all(), "its kernel")
    _require(is_whole(model.n_features_in_, 1) and model.fit_status_ in (0, 1), "its state")


def _check_trees(model: Any) -> None:
    """Whether the trees of scikit-learn are about the columns and targets of their estimator."""
    tree = getattr(model, "tree_", None)
    if tree is None:
        return
    classes = getattr(model, "classes_", None)
    lists = classes if isinstance(classes, list) else [classes]
    _require(isinstance(tree, Tree), "a tree")
    _require(tree.n_features == model.n_features_in_, "the columns of a tree")
    _require(tree.n_outputs == model.n_outputs_, "the outputs of a tree")
    known = [1] * tree.n_outputs if classes is None else [len(labels) for labels in lists]
    _require(np.asarray(tree.n_classes).tolist() == known, "the classes of a tree")


def _check_sklearn_forest(model: Any) -> None:
    if not hasattr(model, "estimators_"):
        return
    for tree in model.estimators_:
        _require(tree.n_features_in_ == model.n_features_in_, "the columns of a tree")
        _require(tree.n_outputs_ == model.n_outputs_, "the outputs of a tree")
        classes = np.atleast_1d(np.asarray(getattr(model, "n_classes_", 1), dtype=object))
        own = np.atleast_1d(np.asarray(getattr(tree, "n_classes_", 1), dtype=object))
        _require(classes.tolist() == own.tolist(), "the classes of a tree")


def _rebuild_isotonic(model: Any) -> None:
    if not hasattr(model, "X_thresholds_"):
        return
    X, y = model.X_thresholds_, model.y_thresholds_
    for part in (X, y):
        right = isinstance(part, np.ndarray) and part.dtype.kind == "f" and part.ndim == 1
        _require(right and np.isfinite(part).all() and part.shape == X.shape, "its thresholds")
    _require(len(X) > 0 and (np.diff(X) > 0).all(), "its thresholds")
    model._build_f(X, y)


def _rebuild_glm(model: Any) -> None:
    if hasattr(model, "coef_"):
        model._base_loss = model._get_loss()


# Shapes of arrays: d columns, K classes, R rows of coefficients (one for two classes).
_LINEAR = {"coef_": "Rd", "intercept_": "R"}
_COUNTS = {"feature_log_prob_": "Kd", "class_log_prior_": "K"}
_SHAPES = {
    "BernoulliNB": _COUNTS,
    "ComplementNB": _COUNTS,
    "GaussianNB": {"theta_": "Kd", "var_": "Kd", "class_prior_": "K"},
    "LinearDiscriminantAnalysis": _LINEAR,
    "LinearSVC": _LINEAR,
    "LogisticRegression": _LINEAR,
    "LogisticRegressionCV": _LINEAR,
    "MultinomialNB": _COUNTS,
    "RidgeClassifier": _LINEAR,
    "RidgeClassifierCV": _LINEAR,
}


def _check_shapes(model: Any) -> None:
    """Whether arrays have a place for each class and each column."""
    labels = getattr(model, "classes_", None)
    several = getattr(getattr(model, "_label_binarizer", None), "y_type_", "").startswith("multil")
    if labels is None or several:
        return
    K = len(labels)
    sizes = {"d": model.n_features_in_, "K": K, "R": 1 if K == 2 else K}
    for name, letters in _SHAPES[type(model).__name__].items():
        part = getattr(model, name)
        _require(isinstance(part, np.ndarray | float | int), f"{name} of a member")
        if np.ndim(part):  # a number serves all
            shape = tuple(sizes[letter] for letter in letters)
            flat = shape[:1] == (1,) and part.shape == shape[1:]  # as a ridge has them
            _require(flat or part.shape == shape, f"{name} of a member")


def _check_encodings(model: Any) -> None:
    """Whether each category of a target encoder has a number, for each class if there are many."""
    if not hasattr(model, "encodings_"):
        return
    classes = 1 if model.target_type_ != "multiclass" else len(model.classes_)
    sizes = [len(labels) for labels in model.categories_ for _ in range(classes)]
    _require(sizes == [len(part) for part in model.encodings_], "the encodings of categories")


_MOST_FEATURES = 1 << 18


def _check_powers(model: Any) -> None:
    """The features of polynomials, for which memory is taken before they are made."""
    if not hasattr(model, "n_output_features_"):
        return
    least, most, d = model._min_degree, model._max_degree, model.n_features_in_
    n, full = model.n_output_features_, model._n_out_full
    small = is_whole(full, 1, _MOST_FEATURES) and is_whole(n, 1, full)
    _require(small, "the number of features (at most 262144)")
    _require(is_whole(least, 0) and is_whole(most, least, full), "the degree of polynomials")
    flags = {"interaction_only": model.interaction_only, "include_bias": model.include_bias}
    _require(all(isinstance(flag, bool) for flag in flags.values()), "the features")
    for low, count in ((least, n), (0, full)):
        known = model._num_combinations(n_features=d, min_degree=low, max_degree=most, **flags)
        _require(count == known, "the number of features")


def _check_splines(model: Any) -> None:
    """The splines of columns, for which memory is taken before they are made."""
    if not hasattr(model, "bsplines_"):
        return
    splines = model.bsplines_
    _require(isinstance(splines, list) and len(splines) == model.n_features_in_, "its splines")
    _require(all(isinstance(one, BSpline) for one in splines), "its splines")
    _require(all(one.k == model.degree for one in splines), "the degree of splines")
    _require(all(one.c.shape == splines[0].c.shape for one in splines), "its splines")
    n = sum(one.c.shape[1] for one in splines)
    n -= 0 if model.include_bias else len(splines)
    more = len(splines)  # columns that say where values were missing
    _require(is_whole(model.n_features_out_, n, n + more), "the number of features")


@dataclass(frozen=True)
class _Estimator:
    """What becomes of some estimators beside the plain things they hold.

    Attributes
    ----------
    left_out : tuple of str
        Attributes that are not stored.
    finish : function, optional
        Checks a model that was read, and makes those attributes again.
    """

    left_out: tuple[str, ...] = ()
    finish: Callable[[Any], None] | None = None


_NEIGHBOURS = _Estimator(("_tree",), _rebuild_points)
_MACHINE = _Estimator((), _check_machine)
_TREE = _Estimator((), _check_trees)
_FOREST = _Estimator((), _check_sklearn_forest)
_GLM = _Estimator(("_base_loss",), _rebuild_glm)
_ESTIMATORS = {
    **dict.fromkeys(("KNeighborsClassifier", "KNeighborsRegressor"), _NEIGHBOURS),
    **dict.fromkeys(("RadiusNeighborsClassifier", "RadiusNeighborsRegressor"), _NEIGHBOURS),
    **dict.fromkeys(("SVC", "SVR", "NuSVC", "NuSVR"), _MACHINE),
    **dict.fromkeys(("DecisionTreeClassifier", "DecisionTreeRegressor"), _TREE),
    **dict.fromkeys(("ExtraTreeClassifier", "ExtraTreeRegressor"), _TREE),
    **dict.fromkeys(("RandomForestClassifier", "RandomForestRegressor"), _FOREST),
    **dict.fromkeys(("ExtraTreesClassifier", "ExtraTreesRegressor"), _FOREST),
    **dict.fromkeys(("GammaRegressor", "PoissonRegressor", "TweedieRegressor"), _GLM),
    **dict.fromkeys(_SHAPES, _Estimator((), _check_shapes)),
    "PolynomialFeatures": _Estimator((), _check_powers),
    "TargetEncoder": _Estimator((), _check_encodings),
    "SplineTransformer": _Estimator((), _check_splines),
    "IsotonicRegression": _Estimator(("f_",), _rebuild_isotonic),
}


def _of(kind: type) -> _Estimator:
    own = not kind.__module__.startswith("weald")
    return _ESTIMATORS.get(kind.__name__, _Estimator()) if own else _Estimator()


def left_out(kind: type) -> tuple[str, ...]:
    """Attributes of a class that are not stored."""
    return _of(kind).left_out


def finish(model: Any) -> None:
    """Check an estimator of another library, and make what was left out."""
    make = _of(type(model)).finish
    fitted = "n_features_in_" in vars(model) or any(name.endswith("_") for name in vars(model))
    if make is not None and fitted:
        make(model)
