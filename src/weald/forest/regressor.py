"""Forests of regression trees: numbers in, numbers out, with quantiles and intervals."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from weald._engine import FloatArray
from weald.forest.base import ForestBase
from weald.input.targets import NumberTarget
from weald.intervals import INTERVALS, ConformalIntervals, forest_quantiles
from weald.members.out_of_bag import OutOfBag
from weald.params.growth import check_choice
from weald.params.names import own_names
from weald.tree import DecisionTreeRegressor, ExtraTreeRegressor

__all__ = ["ExtraTreesRegressor", "RandomForestRegressor"]


class ForestRegressor(ConformalIntervals, NumberTarget, ForestBase):
    """Numbers in, numbers out."""

    oob_prediction_: FloatArray

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
        bootstrap: bool = True,
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
        callbacks: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.keep_targets = keep_targets
        self.keep_partial = keep_partial
        self.callbacks = callbacks

    # --- fit ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Grow the forest.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, booleans, strings or categoricals; missing values are welcome.
        y : array-like of shape (n,) or (n, n_outputs)
            Numbers.
        sample_weight : array-like of shape (n,), optional
            Where rows are drawn, they are drawn in proportion to their weight, and then count
            alike. Otherwise a row of weight k adds exactly what k copies of it add. A row of
            weight 0 is like its absence.
        groups : array-like of shape (n,), optional
            Rows of one group are drawn together, so that the out-of-bag score is about new groups.
            Their rows then keep their weights.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups)

    # --- out-of-bag -----------------------------------------------------------------------------

    def _out_of_bag(self, target: npt.NDArray[Any], settings: dict[str, Any]) -> OutOfBag:
        return OutOfBag(target, **settings)

    def predict(self, X: Any) -> FloatArray:
        """Mean of what the trees predict."""
        return self._by_output(self._values(X))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> FloatArray:
        """Quantiles of the target given each row, from the leaves (Meinshausen 2006).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        quantiles : sequence of float, or one float
            Between 0 and 1.

        Returns
        -------
        array of shape (n, n_quantiles), or (n, n_outputs, n_quantiles)
            Needs ``keep_targets=True``.
        """
        return forest_quantiles(self, X, quantiles)

    def predict_interval(
        self, X: Any, coverage: float = 0.9, method: str = "conformal"
    ) -> FloatArray:
        """Intervals that should hold the targets of new rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        coverage : float
            Share of the targets that the intervals should hold.
        method : {"conformal", "quantile"}
            From the out-of-bag errors (needs ``oob_score=True``), or from the quantiles of the
            leaves (needs ``keep_targets=True``).

        Returns
        -------
        array of shape (n, 2), or (n, n_outputs, 2)
            Lower and upper ends.
        """
        return INTERVALS[check_choice("method", method, tuple(INTERVALS))](self, X, coverage)


@own_names
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
    monotonic_cst : array-like of {-1, 0, 1}, or dict from columns to these, optional
        Direction in which the prediction may move with each column, by name or index
        in a dict.
    max_bins : int, default=255
        Quantile bins of each column. None looks at every threshold.
    categorical_features : "from_dtype", None, list of columns or boolean mask
        Which columns are categories. By default those of string or categorical type; a list (of
        names or of indices) or a mask names others that are categories too. None: no column is.
    n_iter_no_change : int, optional
        Stop when the out-of-bag score has not risen by `tol` over so many trees, counted from when
        nearly all rows have an out-of-bag prediction.
    tol : float, default=1e-4
    keep_targets : bool, default=False
        Keep the training rows of every leaf, which :meth:`predict_quantiles` needs.
    keep_partial : bool, default=False
        Ctrl-C keeps the trees grown so far, with a warning, instead of raising.
    callbacks : list, optional
        Look on, and stop: see :mod:`weald.callbacks`. A round is a member, its validation score the
        out-of-bag score.

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


@own_names
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
        callbacks: Any = None,
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
            callbacks=callbacks,
        )
