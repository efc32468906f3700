"""Regression trees: numbers in, numbers out."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from weald import _engine as engine
from weald import pruning
from weald._engine import FloatArray, IntArray
from weald.input.targets import NumberTarget, Weights, all_or_nothing
from weald.params.criteria import CRITERIA
from weald.params.names import own_names
from weald.tree.base import TreeBase

__all__ = ["DecisionTreeRegressor", "ExtraTreeRegressor"]


class TreeRegressor(NumberTarget, TreeBase):
    """Numbers in, numbers out."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, booleans, strings or categoricals; missing values are welcome.
        y : array-like of shape (n,) or (n, n_outputs)
            Numbers.
        sample_weight : array-like of shape (n,), optional
            A row of weight k adds exactly what k copies of it add; weight 0 is like its absence.
            (`min_samples_split` and `min_samples_leaf` count rows, whatever they weigh.)
        check_input : bool, default=True
            Accepted because scikit-learn's trees have it. The input is always checked.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _growth_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        return weights

    def _row_loss(self, y: npt.NDArray[Any], weights: Weights) -> pruning.RowLoss:
        row_loss = CRITERIA[self.criterion].row_loss

        def loss(tree: engine.Tree, node: IntArray, rows: IntArray) -> FloatArray:
            mean = row_loss(y[rows], tree.value[node, :, 0]).mean(axis=1)
            weighted: FloatArray = mean if weights is None else mean * weights[rows]
            return weighted

        return loss

    def predict(self, X: Any, check_input: bool = True) -> FloatArray:
        """Mean (median for absolute error) of the targets in each row's leaf."""
        return self._by_output(self._leaf_values(X))


@own_names
class DecisionTreeRegressor(TreeRegressor):
    """A regression tree (CART).

    Each test is chosen to lower the error around the means (or medians) of its two sides; a leaf
    predicts the mean (or median) of its rows.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        Impurity that splits lower.
    splitter : {"best", "random"}, default="best"
        The best cut of each column, or one uniformly random cut per column.
    max_depth : int, optional
    min_samples_split : int or float, default=2
        Rows (or share of the rows) a node needs to be split.
    min_samples_leaf : int or float, default=1
        Rows (or share of the rows) each side of a split keeps.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight each side of a split keeps.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn at random at each node; None means all of them.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same tree, bit for bit, for any number of threads.
    max_leaf_nodes : int, optional
        Grow best-first up to this many leaves.
    min_impurity_decrease : float, default=0.0
        Weighted impurity decrease a split must bring.
    ccp_alpha : float, "cv" or "cv_1se", default=0.0
        Price per leaf of minimal cost-complexity pruning. "cv" chooses it by 5-fold
        cross-validation, "cv_1se" takes the smallest tree within one standard error of the best.
    monotonic_cst : array-like of {-1, 0, 1}, or dict from columns to these, optional
        Direction in which the prediction may move with each column, by name or index
        in a dict.
    categorical_features : "from_dtype", None, list of columns or boolean mask
        Which columns are categories. By default those of string or categorical type; a list (of
        names or of indices) or a mask names others that are categories too. None: no column is.
    max_bins : int, optional
        None looks at every threshold. 2 to 255 puts each column into that many quantile bins
        first, which is faster on large tables.
    n_jobs : int, optional
        Threads; None means all cores, or what :func:`weald.threads` or the environment variable
        ``WEALD_NUM_THREADS`` says.

    Attributes
    ----------
    tree_ : weald._engine.Tree
        The nodes, as flat arrays.
    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : array, if the columns had names
    categories_ : list
        Per column None, or its sorted category labels.
    ccp_alpha_ : float
        The price per leaf that was used.
    ccp_path_ : weald.pruning.AlphaChoice
        Held-out loss along the candidates, if `ccp_alpha` was chosen by cross-validation.
    feature_importances_ : array of shape (n_features_in_,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from weald import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    >>> tree.get_depth()
    3
    """

    _engine_grows = True

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float | str = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        max_bins: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.n_jobs = n_jobs


@own_names
class ExtraTreeRegressor(DecisionTreeRegressor):
    """An extremely randomised regression tree.

    At each node some columns are drawn, each gets one random cut, and the best of those is kept
    (Geurts, Ernst & Wehenkel 2006). Meant for ensembles.

    Parameters and attributes are those of :class:`DecisionTreeRegressor`, with other defaults:
    ``splitter="random"`` and ``max_features=1.0``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from weald import ExtraTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = ExtraTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    >>> tree.get_depth()
    3
    """

    _engine_grows = True

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float | str = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        max_bins: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            categorical_features=categorical_features,
            max_bins=max_bins,
            n_jobs=n_jobs,
        )
