"""Estimators of other libraries: what is not stored but made again, and what must fit together.

They check their parameters in ``fit`` and take their fitted state on trust. What compiled loops
rely on, or memory is taken for, is checked here; what else may be wrong shows in ``trial``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline
from sklearn.neighbors import (
    BallTree,
    KDTree,
    KNeighborsClassifier,
    RadiusNeighborsClassifier,
)
from sklearn.tree._tree import Tree

from weald.input.state import is_whole
from weald.models.errors import require

__all__ = ["finish", "left_out"]


def _rebuild_points(model: Any) -> None:
    """The tree of points of a model of nearest neighbours."""
    X: Any = model._fit_X
    method, targets = model._fit_method, model._y
    require(method in ("auto", "kd_tree", "ball_tree", "brute"), "the method of neighbours")
    # Loops of one type each: those for dense numbers, or for sparse ones.
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"
    require(dense or sp.issparse(X), "the points of neighbours")
    require(X.shape == (model.n_samples_fit_, model.n_features_in_), "the points of neighbours")
    require(len(targets) == X.shape[0], "the targets of neighbours")
    require(isinstance(targets, np.ndarray), "the targets of neighbours")
    if isinstance(model, KNeighborsClassifier | RadiusNeighborsClassifier):
        classes = vars(model)["classes_"]
        lists = classes if isinstance(classes, list) else [classes]
        codes = targets.reshape(X.shape[0], -1)
        require(codes.dtype.kind in "iu" and codes.shape[1] == len(lists), "the targets")
        for k, labels in enumerate(lists):
            require(isinstance(labels, np.ndarray) and len(labels) > 0, "the classes")
            inside = (codes[:, k] >= 0) & (codes[:, k] < len(labels))
            require(inside.all(), "the targets of neighbours")
    else:
        require(targets.dtype.kind in "fiub", "the targets of neighbours")
    values = X if dense else X.data
    require(np.isfinite(values).all() or model.metric == "nan_euclidean", "the points")
    require(isinstance(model.effective_metric_, str), "the metric of neighbours")
    require(isinstance(model.effective_metric_params_, dict), "the metric of neighbours")
    model._tree = None
    if method in ("kd_tree", "ball_tree"):
        require(dense and is_whole(model.leaf_size, 1), "the tree of neighbours")
        make = KDTree if method == "kd_tree" else BallTree
        metric, more = model.effective_metric_, model.effective_metric_params_
        model._tree = make(X, model.leaf_size, metric=metric, **more)


def _check_machine(model: Any) -> None:
    """What libsvm reads of a support vector machine."""
    vectors: Any = model.support_vectors_
    support, counts = model.support_, model._n_support
    classifies = hasattr(model, "classes_")
    K = len(model.classes_) if classifies else 2
    n, pairs = len(support), K * (K - 1) // 2 if classifies else 1

    def fits(array: Any, shape: tuple[int, ...], dtype: Any) -> bool:
        right = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype
        return right and bool(np.isfinite(array).all())

    require(K >= 2 and model._sparse in (True, False), "a support vector machine")
    require(fits(support, (n,), np.int32) and (support >= 0).all(), "its support vectors")
    require(fits(counts, (K,), np.int32) and (counts >= 0).all(), "its support vectors")
    total = counts.sum() if classifies else counts[0]
    require(total == n, "the number of support vectors")
    require(is_whole(model.n_features_in_, 1), "n_features_in_")
    shape = (n, model.n_features_in_)
    for name in ("dual_coef_", "_dual_coef_"):
        coefficients = getattr(model, name)
        if model._sparse:
            require(sp.issparse(coefficients), "its coefficients")
            require(coefficients.shape == (K - 1, n), "its coefficients")
            require(np.isfinite(coefficients.data).all(), "its coefficients")
        else:
            require(fits(coefficients, (K - 1, n), np.float64), "its coefficients")
    if model._sparse:
        require(getattr(vectors, "format", "") == "csr", "its support vectors")
        require(vectors.dtype == np.float64 and vectors.shape == shape, "its support vectors")
        require(np.isfinite(vectors.data).all(), "its support vectors")
    else:
        kernel = model.kernel == "precomputed"
        require(fits(vectors, (0, 0) if kernel else shape, np.float64), "its support vectors")
    for name in ("intercept_", "_intercept_"):
        require(fits(getattr(model, name), (pairs,), np.float64), "its intercepts")
    a, b = model._probA, model._probB
    for part in (a, b):
        size = len(part)
        require(size in (0, pairs) and fits(part, (size,), np.float64), "its probabilities")
    asked = getattr(model, "_effective_probability", model.probability)
    require(asked in (True, False) and (not asked or len(a) == pairs), "its probabilities")
    require(len(a) == len(b), "its probabilities")
    rows, columns = model.shape_fit_
    require(is_whole(rows, n) and columns == model.n_features_in_, "the shape of its table")
    require(n == 0 or support.max() < rows, "its support vectors")
    require(isinstance(model.kernel, str), "its kernel")
    require(is_whole(model.degree, 0, 1000), "its degree")
    require(np.isfinite([model._gamma, model.coef0]).all(), "its kernel")
    require(is_whole(model.n_features_in_, 1) and model.fit_status_ in (0, 1), "its state")


def _check_trees(model: Any) -> None:
    """Whether the trees of scikit-learn are about the columns and targets of their estimator."""
    tree = getattr(model, "tree_", None)
    if tree is None:
        return
    classes: Any = getattr(model, "classes_", None)
    lists = classes if isinstance(classes, list) else [classes]
    require(isinstance(tree, Tree), "a tree")
    require(tree.n_features == model.n_features_in_, "the columns of a tree")
    require(tree.n_outputs == model.n_outputs_, "the outputs of a tree")
    known = [1] * tree.n_outputs if classes is None else [len(labels) for labels in lists]
    require(np.asarray(tree.n_classes).tolist() == known, "the classes of a tree")


def _check_sklearn_forest(model: Any) -> None:
    if not hasattr(model, "estimators_"):
        return
    for tree in model.estimators_:
        require(tree.n_features_in_ == model.n_features_in_, "the columns of a tree")
        require(tree.n_outputs_ == model.n_outputs_, "the outputs of a tree")
        classes = np.atleast_1d(np.asarray(getattr(model, "n_classes_", 1), dtype=object))
        own = np.atleast_1d(np.asarray(getattr(tree, "n_classes_", 1), dtype=object))
        require(classes.tolist() == own.tolist(), "the classes of a tree")


def _rebuild_isotonic(model: Any) -> None:
    X, y = model.X_thresholds_, model.y_thresholds_
    for part in (X, y):
        right = isinstance(part, np.ndarray) and part.dtype.kind == "f" and part.ndim == 1
        require(right and np.isfinite(part).all() and part.shape == X.shape, "its thresholds")
    require(len(X) > 0 and (np.diff(X) > 0).all(), "its thresholds")
    require(np.isfinite([model.X_min_, model.X_max_]).all(), "its smallest and largest number")
    model._build_f(X, y)


def _check_donors(model: Any) -> None:
    """The rows whose values fill the gaps of others."""
    shape = (len(model._fit_X), model.n_features_in_)
    fits = isinstance(model._fit_X, np.ndarray) and model._fit_X.shape == shape
    for mask, length in ((model._mask_fit_X, shape), (model._valid_mask, shape[1:])):
        fits = fits and isinstance(mask, np.ndarray) and mask.shape == length
        require(fits and mask.dtype == bool, "the rows that fill gaps")


_LINES = [
    "ARDRegression",
    "BayesianRidge",
    "ElasticNet",
    "ElasticNetCV",
    "HuberRegressor",
    "Lars",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LinearRegression",
    "LinearSVR",
    "OrthogonalMatchingPursuit",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "TheilSenRegressor",
]


def _check_line(model: Any) -> None:
    """The coefficients of a regressor: a row of them, or one for each target."""
    slopes, level, d = model.coef_, model.intercept_, model.n_features_in_
    fits = isinstance(slopes, np.ndarray) and slopes.dtype.kind == "f"
    require(fits and slopes.shape in ((d,), (*slopes.shape[:1], d)), "coef_ of a member")
    single = isinstance(level, float | int | np.number) or level.shape in ((), (1,))
    require(single or level.shape == slopes.shape[:-1], "intercept_ of a member")


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

_TWO = ("LinearSVC", "LogisticRegression", "LogisticRegressionCV")  # at least so many classes


def _check_shapes(model: Any) -> None:
    """Whether arrays have a place for each class and each column."""
    labels = getattr(model, "classes_", None)
    several = getattr(getattr(model, "_label_binarizer", None), "y_type_", "").startswith("multil")
    if labels is None or several:
        return
    K = len(labels)
    require(K > 1 or type(model).__name__ not in _TWO, "classes_ of a member")
    sizes = {"d": model.n_features_in_, "K": K, "R": 1 if K == 2 else K}
    for name, letters in _SHAPES[type(model).__name__].items():
        part: Any = getattr(model, name)
        if name == "intercept_" and isinstance(part, float | int):  # serves all
            continue
        require(isinstance(part, np.ndarray) or sp.issparse(part), f"{name} of a member")
        shape = tuple(sizes[letter] for letter in letters)
        flat = shape[:1] == (1,) and part.shape == shape[1:]  # as a ridge has them
        require(flat or part.shape == shape, f"{name} of a member")


def _check_categories(model: Any) -> None:
    """Whether numbers that are categories are in order, since they are found by bisection."""
    if not hasattr(model, "categories_"):
        return
    require(len(model.categories_) == model.n_features_in_, "the categories of columns")
    for labels in model.categories_:
        fits = isinstance(labels, np.ndarray) and labels.ndim == 1 and len(labels) > 0
        require(fits, "the categories of a column")
        if labels.dtype.kind in "biuf":
            known = labels[:-1] if np.isnan(labels[-1]) else labels
            require((known[1:] > known[:-1]).all(), "the order of categories")


def _check_one_hot(model: Any) -> None:
    """Whether each category has a column: a sparse table is made of them, which nobody checks."""
    _check_categories(model)
    if not hasattr(model, "categories_"):
        return
    sizes = [len(labels) for labels in model.categories_]
    grouped = model._infrequent_enabled
    rare = model._infrequent_indices if grouped else [None] * len(sizes)
    groups = model._default_to_infrequent_mappings if grouped else rare
    drops: Any = model._drop_idx_after_grouping
    require(drops is None or isinstance(drops, np.ndarray), "the categories that are dropped")
    drops = [None] * len(sizes) if drops is None else drops
    widths = []
    for n, few, group, drop in zip(sizes, rare, groups, drops, strict=True):
        width = n if few is None else n - len(few) + 1
        require((few is None) == (group is None), "the rare categories")
        if group is not None:
            fits = isinstance(group, np.ndarray) and group.shape == (n,) and group.dtype.kind == "i"
            require(fits and (group >= 0).all() and (group < width).all(), "the rare categories")
        require(drop is None or is_whole(drop, 0, width - 1), "a category that is dropped")
        widths.append(width - (drop is not None))
    require(model._n_features_outs == widths, "the columns of categories")


def _check_encodings(model: Any) -> None:
    """Whether each category of a target encoder has a number, for each class if there are many."""
    _check_categories(model)
    if not hasattr(model, "encodings_"):
        return
    classes = 1 if model.target_type_ != "multiclass" else len(model.classes_)
    sizes = [len(labels) for labels in model.categories_ for _ in range(classes)]
    require(sizes == [len(part) for part in model.encodings_], "the encodings of categories")


_MOST_FEATURES = 1 << 18


def _check_powers(model: Any) -> None:
    """The features of polynomials, for which memory is taken before they are made."""
    if not hasattr(model, "n_output_features_"):
        return
    least, most, d = model._min_degree, model._max_degree, model.n_features_in_
    n, full = model.n_output_features_, model._n_out_full
    small = is_whole(full, 1, _MOST_FEATURES) and is_whole(n, 1, full)
    require(small, "the number of features (at most 262144)")
    require(is_whole(least, 0) and is_whole(most, least, full), "the degree of polynomials")
    flags = {"interaction_only": model.interaction_only, "include_bias": model.include_bias}
    require(all(isinstance(flag, bool) for flag in flags.values()), "the features")
    for low, count in ((least, n), (0, full)):
        known = model._num_combinations(n_features=d, min_degree=low, max_degree=most, **flags)
        require(count == known, "the number of features")


def _check_splines(model: Any) -> None:
    """The splines of columns, for which memory is taken before they are made."""
    if not hasattr(model, "bsplines_"):
        return
    splines = model.bsplines_
    require(isinstance(splines, list) and len(splines) == model.n_features_in_, "its splines")
    require(all(isinstance(one, BSpline) for one in splines), "its splines")
    require(all(one.k == model.degree for one in splines), "the degree of splines")
    require(all(one.c.shape == splines[0].c.shape for one in splines), "its splines")
    n = sum(one.c.shape[1] for one in splines)
    n -= 0 if model.include_bias else len(splines)
    more = len(splines)  # columns that say where values were missing
    require(is_whole(model.n_features_out_, n, n + more), "the number of features")


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
    **dict.fromkeys(_LINES, _Estimator((), _check_line)),
    **dict.fromkeys(_SHAPES, _Estimator((), _check_shapes)),
    "PolynomialFeatures": _Estimator((), _check_powers),
    "OneHotEncoder": _Estimator((), _check_one_hot),
    "OrdinalEncoder": _Estimator((), _check_categories),
    "TargetEncoder": _Estimator((), _check_encodings),
    "SplineTransformer": _Estimator((), _check_splines),
    "KNNImputer": _Estimator((), _check_donors),
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
