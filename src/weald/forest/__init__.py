"""Random forests and extremely randomised trees.

A drop-in for the forests of :mod:`sklearn.ensemble`: the same classes, parameters, attributes and
methods, on weald's engine, with native categories and missing values, the out-of-bag score after
every tree, early stopping by it, draws by group or by class, and prediction intervals besides.
"""

from __future__ import annotations

from typing import Any

from weald.forest.kinds import ForestClassifier, ForestRegressor
from weald.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]


class RandomForestClassifier(ForestClassifier):
    """A random forest classifier.

    Grows deep trees, each on rows drawn with replacement and with a random draw of columns at every
    node, and averages their class shares (Breiman 2001).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees; the most if `n_iter_no_change` is given.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        Impurity that splits lower.
    max_depth : int, optional
    min_samples_split : int or float, default=2
        Rows (or share of the rows) a node needs to be split.
    min_samples_leaf : int or float, default=1
        Rows (or share of the rows) each side of a split keeps.
    min_weight_fraction_leaf : float, default=0.0
        Share of a tree's weight each side of a split keeps.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns drawn at random at each node; None means all of them.
    max_leaf_nodes : int, optional
        Grow best-first up to this many leaves.
    min_impurity_decrease : float, default=0.0
        Weighted impurity decrease a split must bring.
    bootstrap : bool or "balanced", default=True
        Each tree learns from rows drawn with replacement. "balanced" draws from every class as many
        rows as the rarest class has, which helps where one is rare (Chen, Liaw & Breiman 2004).
    oob_score : bool or callable, default=False
        Score the forest by out-of-bag predictions, after every tree. By default the accuracy; a
        callable ``metric(y_true, y_pred)`` gets labels; greater is better.
    n_jobs : int, optional
        Threads; None means all cores, or what :func:`weald.threads` or the environment variable
        ``WEALD_NUM_THREADS`` says.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same forest, bit for bit, for any number of threads; a forest of
        fewer trees is the beginning of one with more.
    verbose : int, default=0
        1 shows a live bar with the time left (and the out-of-bag score) on standard error.
    warm_start : bool, default=False
        Add trees to those of the last fit, on the same data and draws, up to `n_estimators`.
    class_weight : dict, list of dict, "balanced" or "balanced_subsample", optional
        Weight of each class; by its inverse frequency in all rows, or in the rows of each tree.
    ccp_alpha : float, default=0.0
        Price per leaf of minimal cost-complexity pruning.
    max_samples : int or float, optional
        Rows drawn for each tree (groups, if there are any; of each class if balanced):
        a number, or a share of the sum of the weights. None means as many as there are.
    monotonic_cst : array-like of {-1, 0, 1}, optional
        Direction in which the prediction (of the second class) may move with each column.
    max_bins : int, default=255
        Quantile bins of each column. None looks at every threshold.
    categorical_features : "from_dtype", None, list of columns or boolean mask
        Which columns are categories; by default those of string or categorical type.
    n_iter_no_change : int, optional
        Stop when the out-of-bag score has not risen by `tol` over so many trees, counted from when
        nearly all rows have an out-of-bag prediction.
    tol : float, default=1e-4
    keep_partial : bool, default=False
        Ctrl-C keeps the trees grown so far, with a warning, instead of raising.

    Attributes
    ----------
    forest_ : weald._engine.Forest
        The trees in compact form.
    estimators_ : sequence of tree estimators
        The members, made when they are asked for.
    classes_ : array, or list of arrays
        Labels, sorted.
    n_classes_ : int, or list of int
    n_outputs_, n_features_in_, n_estimators_ : int
    feature_names_in_ : array, if the columns had names
    categories_ : list
        Per column None, or its sorted category labels.
    feature_importances_, feature_importances_std_error_ : arrays of shape (n_features_in_,)
        See :meth:`importance` for kinds that do not flatter columns of many values.
    oob_score_ : float
        With `oob_score` or `n_iter_no_change`, as the next three.
    oob_decision_function_ : array of shape (n, n_classes_), or (n, n_classes, n_outputs)
        Out-of-bag class shares; NaN where every tree drew the row.
    oob_score_curve_, oob_error_curve_ : arrays of shape (n_estimators_,)
        Score, and 1 - accuracy, after each tree.
    in_bag_ : array of shape (n_estimators_, n)
        How often each tree drew each row; read-only.
    estimators_samples_ : list of arrays
        The rows each tree drew.
    member_weights_ : array of ones
    seed_ : int
        What all random numbers follow from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from weald import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.9
    True
    """

    _member_kind = DecisionTreeClassifier
    _splitter = "best"


class RandomForestRegressor(ForestRegressor):
    """A random forest regressor.

    Grows deep trees, each on rows drawn with replacement and with a random draw of columns at every
    node, and averages what they predict (Breiman 2001).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees; the most if `n_iter_no_change` is given.
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        Impurity that splits lower.
    max_depth : int, optional
    min_samples_split : int or float, default=2
        Rows (or share of the rows) a node needs to be split.
    min_samples_leaf : int or float, default=1
        Rows (or share of the rows) each side of a split keeps.
    min_weight_fraction_leaf : float, default=0.0
        Share of a tree's weight each side of a split keeps.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns drawn at random at each node; None means all of them.
    max_leaf_nodes : int, optional
        Grow best-first up to this many leaves.
    min_impurity_decrease : float, default=0.0
        Weighted impurity decrease a split must bring.
    bootstrap : bool, default=True
        Each tree learns from rows drawn with replacement.
    oob_score : bool or callable, default=False
        Score the forest by out-of-bag predictions, after every tree. By default the R²; a
        callable ``metric(y_true, y_pred)`` gets numbers; greater is better (negate an error).
    n_jobs : int, optional
        Threads; None means all cores, or what :func:`weald.threads` or the environment variable
        ``WEALD_NUM_THREADS`` says.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same forest, bit for bit, for any number of threads; a forest of
        fewer trees is the beginning of one with more.
    verbose : int, default=0
        1 shows a live bar with the time left (and the out-of-bag score) on standard error.
    warm_start : bool, default=False
        Add trees to those of the last fit, on the same data and draws, up to `n_estimators`.
    ccp_alpha : float, default=0.0
        Price per leaf of minimal cost-complexity pruning.
    max_samples : int or float, optional
        Rows drawn for each tree (groups, if there are any):
        a number, or a share of the sum of the weights. None means as many as there are.
    monotonic_cst : array-like of {-1, 0, 1}, optional
        Direction in which the prediction may move with each column.
    max_bins : int, default=255
        Quantile bins of each column. None looks at every threshold.
    categorical_features : "from_dtype", None, list of columns or boolean mask
        Which columns are categories; by default those of string or categorical type.
    n_iter_no_change : int, optional
        Stop when the out-of-bag score has not risen by `tol` over so many trees, counted from when
        nearly all rows have an out-of-bag prediction.
    tol : float, default=1e-4
    keep_targets : bool, default=False
        Keep the training rows of every leaf, which :meth:`predict_quantiles` needs.
    keep_partial : bool, default=False
        Ctrl-C keeps the trees grown so far, with a warning, instead of raising.

    Attributes
    ----------
    forest_ : weald._engine.Forest
        The trees in compact form.
    estimators_ : sequence of tree estimators
        The members, made when they are asked for.
    n_outputs_, n_features_in_, n_estimators_ : int
    feature_names_in_ : array, if the columns had names
    categories_ : list
        Per column None, or its sorted category labels.
    feature_importances_, feature_importances_std_error_ : arrays of shape (n_features_in_,)
        See :meth:`importance` for kinds that do not flatter columns of many values.
    oob_score_ : float
        With `oob_score` or `n_iter_no_change`, as the next three.
    oob_prediction_ : array of shape (n,), or (n, n_outputs)
        Out-of-bag predictions; NaN where every tree drew the row.
    oob_score_curve_, oob_error_curve_ : arrays of shape (n_estimators_,)
        Score, and mean squared error, after each tree.
    in_bag_ : array of shape (n_estimators_, n)
        How often each tree drew each row; read-only.
    estimators_samples_ : list of arrays
        The rows each tree drew.
    member_weights_ : array of ones
    seed_ : int
        What all random numbers follow from.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from weald import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.4
    True
    """

    _member_kind = DecisionTreeRegressor
    _splitter = "best"


class ExtraTreesClassifier(ForestClassifier):
    """An extra-trees classifier.

    As a random forest, but every tree learns from all rows, and each drawn column gets one random
    cut of which the best is kept (Geurts, Ernst & Wehenkel 2006).

    Parameters and attributes are those of :class:`RandomForestClassifier`, with another default:
    ``bootstrap=False``. So there is no out-of-bag score unless rows are drawn. With
    ``max_bins=None`` cuts see values at the resolution, and in the range, of float32.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from weald import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ExtraTreesClassifier(50, random_state=0).fit(X, y)
    >>> len(forest.estimators_)
    50
    """

    _member_kind = ExtraTreeClassifier
    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | str = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        keep_partial: bool = False,
    ) -> None:
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
            max_bins=max_bins,
            categorical_features=categorical_features,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            keep_partial=keep_partial,
        )


class ExtraTreesRegressor(ForestRegressor):
    """An extra-trees regressor.

    As a random forest, but every tree learns from all rows, and each drawn column gets one random
    cut of which the best is kept (Geurts, Ernst & Wehenkel 2006).

    Parameters and attributes are those of :class:`RandomForestRegressor`, with another default:
    ``bootstrap=False``. So there is no out-of-bag score unless rows are drawn. With
    ``max_bins=None`` cuts see values at the resolution, and in the range, of float32.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from weald import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ExtraTreesRegressor(50, random_state=0).fit(X, y)
    >>> len(forest.estimators_)
    50
    """

    _member_kind = ExtraTreeRegressor
    _splitter = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        keep_targets: bool = False,
        keep_partial: bool = False,
    ) -> None:
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
            max_bins=max_bins,
            categorical_features=categorical_features,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            keep_targets=keep_targets,
            keep_partial=keep_partial,
        )
