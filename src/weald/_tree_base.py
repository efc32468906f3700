"""What all tree estimators do: the walk of a fit, and the questions to a fitted tree."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import Bunch, compute_sample_weight
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from weald import _engine as engine
from weald import pruning
from weald._data import (
    Table,
    check_target,
    check_weights,
    check_X_fit,
    check_X_predict,
    encode_labels,
)
from weald._params import (
    CLASSIFICATION_CRITERIA,
    REGRESSION_CRITERIA,
    TreeParams,
    resolve_tree_params,
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Weights = FloatArray | None

_CV_FOLDS = 5


@contextmanager
def _all_or_nothing(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if the block fails: an old model must not mix with a new one."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


class TreeBase(BaseEstimator):
    """What every tree estimator shares: the walk of a fit, and the questions to a fitted tree."""

    # Not metadata to be routed: see `fit`.
    __metadata_request__fit = {"check_input": UNUSED}  # noqa: RUF012
    __metadata_request__predict = {"check_input": UNUSED}  # noqa: RUF012
    __metadata_request__predict_proba = {"check_input": UNUSED}  # noqa: RUF012

    tree_: engine.Tree
    _criteria: dict[str, str]

    # --- what the kinds of target differ in --------------------------------------------------

    @abstractmethod
    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        """Check the targets, note classes and outputs on self; codes or numbers (n, outputs)."""

    @abstractmethod
    def _growth_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        """Weights that steer the splits."""

    @abstractmethod
    def _engine_target(self, y: npt.NDArray[Any], weights: Weights) -> engine.Target: ...

    @abstractmethod
    def _row_loss(self, y: npt.NDArray[Any], weights: Weights) -> pruning.RowLoss:
        """Loss of each row of `y` if a given node predicted it."""

    def _leaf_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        return weights

    # --- fit ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, booleans, strings or categoricals; missing values are welcome.
        y : array-like of shape (n,) or (n, n_outputs)
            Labels of any type, or numbers.
        sample_weight : array-like of shape (n,), optional
            A row of weight k adds exactly what k copies of it add; weight 0 is like its absence.
            (`min_samples_split` and `min_samples_leaf` count rows, whatever they weigh.)
        check_input : bool, default=True
            Accepted because scikit-learn's trees have it. The input is always checked.

        Returns
        -------
        self
        """
        with _all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        table, target, weights = self._read(X, y, sample_weight)
        params = self._resolve(table, target, weights)
        self.max_features_ = params.max_features
        self.categories_ = list(table.categories)
        self.tree_ = self._prune(
            self._grow(table, target, weights, params), table, target, weights, params
        )
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, npt.NDArray[Any], Weights]:
        table = check_X_fit(self, X, categorical_features=self.categorical_features)
        target = self._read_target(y, len(table.X))
        weights = self._leaf_weights(target, check_weights(sample_weight, len(table.X)))
        return table.without_weightless_categories(weights), target, weights

    def _resolve(self, table: Table, target: npt.NDArray[Any], weights: Weights) -> TreeParams:
        growth = self._growth_weights(target, weights)
        n, total = len(table.X), float(len(table.X))
        if growth is not None:  # rows of weight 0 count as absent
            n, total = int(np.count_nonzero(growth)), float(growth.sum())
        return resolve_tree_params(self, self._criteria, n, table.is_categorical, total)

    def _grow(
        self, table: Table, target: npt.NDArray[Any], weights: Weights, params: TreeParams
    ) -> engine.Tree:
        n_categories = [0 if c is None else max(len(c), 1) for c in table.categories]
        growth = self._growth_weights(target, weights)
        matrix = engine.bin_table(
            table.X, n_categories, params.max_bins, params.keys, growth, params.threads
        )
        arrays = engine.grow(
            matrix,
            self._engine_target(target, growth),
            self._engine_target(target, weights),
            params.criterion,
            params.rules,
            params.threads,
        )
        return engine.Tree(arrays, n_categories, np.atleast_1d(getattr(self, "n_classes_", 1)))

    def _prune(
        self,
        tree: engine.Tree,
        table: Table,
        target: npt.NDArray[Any],
        weights: Weights,
        params: TreeParams,
    ) -> engine.Tree:
        alpha = params.prune
        self.__dict__.pop("ccp_path_", None)
        if isinstance(alpha, str) and tree.node_count == 1:
            alpha = 0.0  # nothing to cut
        if isinstance(alpha, str):
            choice = self._choose_alpha(tree, table, target, weights, params)
            self.ccp_path_ = choice
            alpha = choice.best if alpha == "cv" else choice.one_se
        self.ccp_alpha_ = alpha
        return pruning.prune_cost_complexity(tree, alpha) if alpha > 0 else tree

    def _choose_alpha(
        self,
        tree: engine.Tree,
        table: Table,
        target: npt.NDArray[Any],
        weights: Weights,
        params: TreeParams,
    ) -> pruning.AlphaChoice:
        present = np.arange(len(table.X)) if weights is None else np.flatnonzero(weights)
        n = len(present)
        if n < 2 * _CV_FOLDS:
            raise ValueError(
                f"ccp_alpha={self.ccp_alpha!r} needs at least {2 * _CV_FOLDS} rows to "
                f"cross-validate, got n_samples={n}: give a number instead."
            )
        folds = []
        for inside, outside in self._splitter(target[present], params.seed):
            train, test = present[inside], present[outside]
            w_train = None if weights is None else weights[train]
            part = Table(table.X[train], table.categories)
            grown = self._grow(part, target[train], w_train, params)
            w_test = np.ones(len(test)) if weights is None else weights[test]
            folds.append((grown, table.X[test], self._row_loss(target[test], w_test), w_test))
        return pruning.choose_alpha(tree, folds)

    def _splitter(self, target: npt.NDArray[Any], seed: int) -> Any:
        return KFold(_CV_FOLDS, shuffle=True, random_state=seed).split(target)

    def prune(self, X_val: Any, y_val: Any, sample_weight: Any = None) -> Any:
        """Reduced-error pruning: cut back, bottom-up, while the error on these rows does not rise.

        Parameters
        ----------
        X_val, y_val : the validation rows
        sample_weight : array-like, optional

        Returns
        -------
        self
        """
        check_is_fitted(self)
        X = check_X_predict(self, X_val)
        target = self._read_validation_target(y_val, len(X))
        weights = check_weights(sample_weight, len(X))
        losses = pruning.node_losses(
            self.tree_, self.tree_.apply(X), self._row_loss(target, weights)
        )
        self.tree_ = pruning.prune_reduced_error(self.tree_, losses)
        return self

    def _read_validation_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        target = check_target(y, n)
        if target.shape[1] != self.n_outputs_:
            raise ValueError(
                f"y_val has {target.shape[1]} outputs, the tree was fitted with {self.n_outputs_}."
            )
        return target

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Effective alphas and total leaf impurities along minimal cost-complexity pruning.

        Returns
        -------
        Bunch with ``ccp_alphas`` and ``impurities``
        """
        fresh = clone(self)  # a fitted tree stays as it is
        table, target, weights = fresh._read(X, y, sample_weight)
        params = fresh._resolve(table, target, weights)
        sequence = pruning.CutSequence.of(fresh._grow(table, target, weights, params))
        return Bunch(
            ccp_alphas=np.concatenate([[0.0], sequence.alpha]), impurities=sequence.impurity
        )

    # --- questions to a fitted tree -----------------------------------------------------------

    def _threads(self) -> int:
        return engine.resolve_threads(self.n_jobs)

    def _leaf_values(self, X: Any) -> FloatArray:
        X = check_X_predict(self, X)
        return self.tree_.leaf_values(X, self._threads())

    def apply(self, X: Any, check_input: bool = True) -> IntArray:
        """Number of the leaf each row ends in."""
        X = check_X_predict(self, X)
        return self.tree_.apply(X, self._threads())

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """Sparse indicator (n, node_count) of the nodes each row passes."""
        X = check_X_predict(self, X)
        return self.tree_.decision_path(X, self._threads())

    def explain_path(self, X: Any) -> Any:
        """Say in words why each row is predicted as it is.

        Returns
        -------
        list of :class:`weald.explain.RowPath`
        """
        from weald.explain import explain_path

        return explain_path(self, X)

    def get_depth(self) -> int:
        """Depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the impurity decrease due to each column."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags


class TreeClassifier(ClassifierMixin, TreeBase):
    """Labels in, class shares out."""

    _criteria = CLASSIFICATION_CRITERIA
    # One per output; plain for a single output, as in scikit-learn.
    classes_: Any
    n_classes_: Any

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        labels = encode_labels(y, n)
        self.n_outputs_ = labels.codes.shape[1]
        counts = [len(classes) for classes in labels.classes]
        self.classes_ = labels.classes if labels.multi_output else labels.classes[0]
        self.n_classes_ = counts if labels.multi_output else counts[0]
        if self.monotonic_cst is not None:
            if labels.multi_output:
                raise ValueError("Monotonicity constraints are not supported with multiple outputs")
            if counts[0] > 2:
                raise ValueError(
                    "Monotonicity constraints are not supported with multiclass classification"
                )
        self._costs = self._check_costs()
        return labels.codes

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

    def _leaf_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        if self.class_weight is None:
            return weights
        labels = [self._classes_of(k).take(y[:, k]) for k in range(self.n_outputs_)]
        target = labels[0] if self.n_outputs_ == 1 else np.stack(labels, axis=1)
        self._check_class_weight()
        by_class = compute_sample_weight(self.class_weight, target)
        combined: FloatArray = by_class if weights is None else weights * by_class
        if not combined.any():
            raise ValueError("class_weight (with sample_weight) leaves every row without weight.")
        return combined

    def _check_class_weight(self) -> None:
        given = self.class_weight
        if not (isinstance(given, dict | list) or given == "balanced"):
            raise ValueError(
                "class_weight must be None, 'balanced', a dict {label: weight}, or a list of "
                f"dicts for several outputs, got {given!r}."
            )
        tables = given if isinstance(given, list) else [given]
        for table in tables:
            for label, weight in table.items() if isinstance(table, dict) else ():
                if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
                    raise ValueError(
                        f"class_weight[{label!r}] must be a finite number >= 0, got {weight!r}."
                    )

    def _classes_of(self, output: int) -> npt.NDArray[Any]:
        classes: npt.NDArray[Any] = self.classes_ if self.n_outputs_ == 1 else self.classes_[output]
        return classes

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

    def _engine_target(self, y: npt.NDArray[Any], weights: Weights) -> engine.Target:
        return engine.labels(y, np.atleast_1d(self.n_classes_).tolist(), weights)

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
        if self.n_outputs_ > 1 or np.bincount(target[:, 0]).min() < _CV_FOLDS:
            return super()._splitter(target, seed)
        folds = StratifiedKFold(_CV_FOLDS, shuffle=True, random_state=seed)
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
        shares = self._leaf_values(X)
        if self.n_outputs_ > 1:
            columns = [self.classes_[k].take(c) for k, c in enumerate(shares.argmax(axis=2).T)]
            return np.stack(columns, axis=1)
        scores = shares[:, 0, :] if self._costs is None else -(shares[:, 0, :] @ self._costs)
        labels: npt.NDArray[Any] = self.classes_.take(scores.argmax(axis=1))
        return labels

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Class shares of each row's leaf; a list of arrays for several outputs."""
        shares = self._leaf_values(X)
        if self.n_outputs_ == 1:
            return shares[:, 0, :]
        return [shares[:, k, :n] for k, n in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Natural logarithm of the class shares."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(s) for s in shares]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class TreeRegressor(RegressorMixin, TreeBase):
    """Numbers in, numbers out."""

    _criteria = REGRESSION_CRITERIA

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        target = check_target(y, n)
        self.n_outputs_ = target.shape[1]
        if self.monotonic_cst is not None and self.n_outputs_ > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs")
        if np.abs(target).max(initial=0.0) > 1e100:
            raise ValueError("y holds numbers beyond 1e100, whose squares may overflow: rescale y.")
        if self.criterion == "poisson":
            if (target < 0).any():
                raise ValueError(
                    "Some value(s) of y are negative which is not allowed for Poisson regression."
                )
            if not (target.sum(axis=0) > 0).all():
                raise ValueError(
                    "Sum of y is not positive which is necessary for Poisson regression."
                )
        return target

    def _growth_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        return weights

    def _engine_target(self, y: npt.NDArray[Any], weights: Weights) -> engine.Target:
        return engine.reals(y, weights)

    def _row_loss(self, y: npt.NDArray[Any], weights: Weights) -> pruning.RowLoss:
        criterion = self.criterion

        def loss(tree: engine.Tree, node: IntArray, rows: IntArray) -> FloatArray:
            truth, guess = y[rows], tree.value[node, :, 0]
            if criterion == "absolute_error":
                each = np.abs(truth - guess)
            elif criterion == "poisson":
                # Deviance without its constant part; a node that says 0 is wrong beyond measure.
                safe = np.maximum(guess, np.finfo(np.float64).tiny)
                each = safe - truth * np.log(safe)
            else:
                each = (truth - guess) ** 2
            mean = each.mean(axis=1)
            weighted: FloatArray = mean if weights is None else mean * weights[rows]
            return weighted

        return loss

    def predict(self, X: Any, check_input: bool = True) -> FloatArray:
        """Mean (median for absolute error) of the targets in each row's leaf."""
        values = self._leaf_values(X)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values
