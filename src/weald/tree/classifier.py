"""Classification trees: labels in, class shares out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metadata_routing import UNUSED

from weald import _engine as engine
from weald import pruning
from weald._engine import FloatArray, IntArray
from weald.input.labels import encode_labels
from weald.input.targets import LabelTarget, Weights, all_or_nothing
from weald.params.names import own_names
from weald.tree.base import CV_FOLDS, TreeBase

__all__ = ["DecisionTreeClassifier", "ExtraTreeClassifier"]


class TreeClassifier(LabelTarget, TreeBase):
    """Labels in, class shares out."""

    __metadata_request__predict_proba = {"check_input": UNUSED}  # noqa: RUF012

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, booleans, strings or categoricals; missing values are welcome.
        y : array-like of shape (n,) or (n, n_outputs)
            Labels of any type.
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

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        codes = super()._read_target(y, n)
        self._costs = self._check_costs()
        return codes

    def _check_costs(self) -> FloatArray | None:
        if self.cost_matrix is None:
            return None
        if self.n_outputs_ > 1:
            raise ValueError("cost_matrix is for a single output; fit one tree per output.")
        k = int(self.n_classes_)
        try:
            costs = np.asarray(self.cost_matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError("cost_matrix must be a square table of numbers.") from error
        if costs.shape != (k, k):
            raise ValueError(
                f"cost_matrix must be {k} x {k} (truth in rows, prediction in columns, ordered as "
                f"classes_), got shape {costs.shape}."
            )
        if not np.isfinite(costs).all() or (costs < 0).any():
            raise ValueError("cost_matrix holds a cost that is negative or not finite.")
        if k > 1 and (costs.sum(axis=1) == 0).any():
            raise ValueError("cost_matrix has a row of zeros: its class could never be wrong.")
        return costs

    def _growth_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        """Weigh a row by the cost of its class (altered priors, Breiman et al. 1984, 4.4)."""
        if self._costs is None:
            return weights
        price = self._costs.sum(axis=1)
        if not price.any():  # a single class
            return weights
        by_class = (price / price.mean()).take(y[:, 0])
        combined: FloatArray = by_class if weights is None else weights * by_class
        return combined

    def _row_loss(self, y: npt.NDArray[Any], weights: Weights) -> pruning.RowLoss:
        costs = self._costs

        def loss(tree: engine.Tree, node: IntArray, rows: IntArray) -> FloatArray:
            if costs is not None:
                chosen = (tree.value[:, 0, :] @ costs).argmin(axis=1)
                wrong = costs[y[rows, 0], chosen[node]]
            else:
                wrong = (tree.value.argmax(axis=2)[node] != y[rows]).mean(axis=1)
            weighted: FloatArray = wrong if weights is None else wrong * weights[rows]
            return weighted

        return loss

    def _splitter(self, target: npt.NDArray[Any], seed: int) -> Any:
        if self.n_outputs_ > 1 or np.bincount(target[:, 0]).min() < CV_FOLDS:
            return super()._splitter(target, seed)
        folds = StratifiedKFold(CV_FOLDS, shuffle=True, random_state=seed)
        return folds.split(target, target[:, 0])

    def _read_validation_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        labels = encode_labels(y, n)
        if labels.codes.shape[1] != self.n_outputs_:
            raise ValueError(
                f"y_val has {labels.codes.shape[1]} outputs, the tree was fitted with "
                f"{self.n_outputs_}."
            )
        codes = np.empty_like(labels.codes)
        for k, seen in enumerate(labels.classes):
            known = self._classes_of(k).tolist()
            # A label the tree never saw is wrong whatever the tree says.
            lookup = [known.index(c) if c in known else len(known) for c in seen.tolist()]
            if max(lookup) == len(known) and self._costs is not None:
                raise ValueError("y_val holds a class that was not there in fit: no cost is known.")
            codes[:, k] = np.asarray(lookup, dtype=np.int32)[labels.codes[:, k]]
        return codes

    def predict(self, X: Any, check_input: bool = True) -> npt.NDArray[Any]:
        """Most frequent class of each row's leaf; with a cost matrix, the cheapest one."""
        return self._most_likely(self._leaf_values(X), self._costs)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Class shares of each row's leaf; a list of arrays for several outputs."""
        return self._by_output(self._leaf_values(X))


@own_names
class DecisionTreeClassifier(TreeClassifier):
    """A decision tree classifier (CART).

    Each test is chosen to make the classes on its two sides as pure as it can; a leaf keeps the
    class shares of its rows and predicts the largest.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
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
    class_weight : dict, list of dict or "balanced", optional
        Weight of each class.
    ccp_alpha : float, "cv" or "cv_1se", default=0.0
        Price per leaf of minimal cost-complexity pruning. "cv" chooses it by 5-fold
        cross-validation, "cv_1se" takes the smallest tree within one standard error of the best.
    monotonic_cst : array-like of {-1, 0, 1}, or dict from columns to these, optional
        Direction in which the prediction (of the second class) may move with each column; in a dict
        by name or index.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        ``cost_matrix[i][j]`` is the cost of predicting class j when the truth is class i. Splits
        weigh each class by its total cost; predictions minimise the expected cost.
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
    classes_ : array, or list of arrays
        Labels, sorted.
    n_classes_ : int, or list of int
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
    >>> from sklearn.datasets import load_iris
    >>> from weald import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> tree.get_depth()
    3
    """

    _engine_grows = True

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float | str = 0.0,
        monotonic_cst: Any = None,
        cost_matrix: Any = None,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.cost_matrix = cost_matrix
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.n_jobs = n_jobs


@own_names
class ExtraTreeClassifier(DecisionTreeClassifier):
    """An extremely randomised tree classifier.

    At each node some columns are drawn, each gets one random cut, and the best of those is kept
    (Geurts, Ernst & Wehenkel 2006). Meant for ensembles.

    Parameters and attributes are those of :class:`DecisionTreeClassifier`, with other defaults:
    ``splitter="random"`` and ``max_features="sqrt"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from weald import ExtraTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ExtraTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> tree.get_depth()
    3
    """

    _engine_grows = True

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float | str = 0.0,
        monotonic_cst: Any = None,
        cost_matrix: Any = None,
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
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            cost_matrix=cost_matrix,
            categorical_features=categorical_features,
            max_bins=max_bins,
            n_jobs=n_jobs,
        )
