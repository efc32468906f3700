"""The two kinds of tree estimators: labels in and class shares out, numbers in and numbers out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metadata_routing import UNUSED

from weald import _engine as engine
from weald import pruning
from weald.input.table import encode_labels
from weald.input.targets import FloatArray, IntArray, LabelTarget, NumberTarget, Weights
from weald.tree.base import CV_FOLDS, TreeBase


class TreeClassifier(LabelTarget, TreeBase):
    """Labels in, class shares out."""

    __metadata_request__predict_proba = {"check_input": UNUSED}  # noqa: RUF012

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


class TreeRegressor(NumberTarget, TreeBase):
    """Numbers in, numbers out."""

    def _growth_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        return weights

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
        return self._by_output(self._leaf_values(X))
