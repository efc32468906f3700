"""The two kinds of tree estimators: labels in and class shares out, numbers in and numbers out."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import compute_sample_weight

from weald import _engine as engine
from weald import pruning
from weald._data import check_target, encode_labels
from weald._params import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA
from weald._tree_base import CV_FOLDS, FloatArray, IntArray, TreeBase, Weights


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
