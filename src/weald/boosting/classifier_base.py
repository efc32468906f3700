"""Gradient boosting of classes: labels in, scores, probabilities and labels out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_expit, log_softmax
from sklearn.metrics import accuracy_score

from weald.input.table import encode_again, encode_labels
from weald.boosting.base import GradientEnsemble
from weald.boosting.objective import Objective
from weald.params.growth import refuse
from weald.input.targets import LabelTarget, Weights, balance
from weald.losses import Logit, Softmax, SoftmaxLink, get_loss
from weald.losses.links import two_shares

__all__ = ["GradientClassifier"]

FloatArray = npt.NDArray[np.float64]

_LOSSES = ("log_loss", "exponential", "smooth_hinge", "focal")


class GradientClassifier(LabelTarget, GradientEnsemble):
    """Labels in; scores, probabilities and labels out."""

    _kind = "classification"
    classes_: npt.NDArray[Any]
    n_classes_: int

    def __init__(
        self,
        *,
        loss: Any = "log_loss",
        learning_rate: float | str = "auto",
        n_estimators: int | str = "auto",
        subsample: float = 1.0,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        max_leaf_nodes: int | str | None = "auto",
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = "auto",
        warm_start: bool = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int | str | None = None,
        tol: float = 1e-4,
        verbose: int = 0,
        l2_regularization: float | str = "auto",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Any = None,
        scoring: Any = "loss",
        order: int | None = None,
        step: str = "auto",
        min_gain: float | str = "auto",
        min_hessian: float | str = 1e-3,
        categorical_smoothing: float | str = "auto",
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        max_features_per_tree: int | float | str | None = None,
        growth: str = "best_first",
        dropout: float = 0.0,
        max_drop: int = 50,
        multi_strategy: str = "one_tree_per_output",
        estimator: Any = None,
        callbacks: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.scoring = scoring
        self.order = order
        self.step = step
        self.min_gain = min_gain
        self.min_hessian = min_hessian
        self.categorical_smoothing = categorical_smoothing
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.max_features_per_tree = max_features_per_tree
        self.growth = growth
        self.dropout = dropout
        self.max_drop = max_drop
        self.multi_strategy = multi_strategy
        self.estimator = estimator
        self.callbacks = callbacks
        self.n_jobs = n_jobs

    # --- fit ------------------------------------------------------------------------------------

    def _read_target(self, y: Any, n: int, again: bool = False) -> FloatArray:
        if again:
            return encode_again(y, n, self.classes_).astype(np.float64)
        labels = encode_labels(y, n)
        if labels.multi_output:
            raise ValueError("y should be a 1d array, one label per row: fit a model per output.")
        self.n_outputs_ = 1
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        return labels.codes[:, 0].astype(np.float64)

    def _weigh(self, target: FloatArray, weights: Weights) -> Weights:
        return self._row_weights(target.astype(np.int32)[:, None], weights)

    def _class_weights(self, y: npt.NDArray[Any], weights: Weights) -> FloatArray:
        if isinstance(self.class_weight, str):  # "balanced", by weight as if rows were repeated
            return balance(y, self.n_classes_, weights)
        return super()._class_weights(y, weights)

    def _make_objective(self) -> Objective:
        given, K = self.loss, self.n_classes_
        if isinstance(given, str) and given not in _LOSSES:
            names = ", ".join(map(repr, _LOSSES))
            raise refuse("loss", f"one of {names}, or an object with value and gradient", given)
        loss = get_loss(given)
        if isinstance(given, str) and given == "log_loss" and K > 2:
            loss = Softmax(n_classes=K)
        if loss.kind == "regression":
            raise ValueError(
                f"loss={given!r} is a loss of numbers: use 'log_loss' or another one of classes, "
                "an object whose kind is 'binary' or 'multiclass', or GradientBoostingRegressor."
            )
        if loss.kind == "binary":
            if K > 2:
                raise ValueError(
                    f"Only binary classification is supported by loss={given!r}, but y has {K} "
                    "classes: use 'log_loss'."
                )
            return Objective((loss,), 1)
        if loss.n_classes not in (None, K):
            raise ValueError(f"loss={given!r} is for {loss.n_classes} classes, but y has {K}.")
        return Objective((loss,), K)

    def _nothing_to_learn(self) -> bool:
        return self.n_classes_ == 1

    def _truth(self, y: FloatArray) -> npt.NDArray[Any]:
        return self.classes_.take(y.astype(np.intp))

    # --- questions ------------------------------------------------------------------------------

    def decision_function(self, X: Any, *, offset: Any = None) -> FloatArray:
        """Scores ``F = init + offset + sum of what the trees say``.

        Parameters
        ----------
        X : table of shape (n, d)
        offset : array of shape (n,) or (n, n_classes_), optional
            Added to the scores, as in ``fit``.

        Returns
        -------
        array of shape (n,) for two classes, positive for ``classes_[1]``; (n, n_classes_) for more
        """
        return self._as_decision(self._scores(X, offset))

    def predict(self, X: Any, *, offset: Any = None) -> npt.NDArray[Any]:
        """The label with the largest score.

        Parameters
        ----------
        X : table of shape (n, d)
        offset : array of shape (n,) or (n, n_classes_), optional

        Returns
        -------
        array of shape (n,)
        """
        return self._as_labels(self._scores(X, offset))

    def predict_proba(self, X: Any, *, offset: Any = None) -> FloatArray:
        """Probabilities that the scores stand for, by the link of the loss.

        Parameters
        ----------
        X : table of shape (n, d)
        offset : array of shape (n,) or (n, n_classes_), optional

        Returns
        -------
        array of shape (n, n_classes_)
        """
        return self._as_shares(self._scores(X, offset))

    def predict_log_proba(self, X: Any, *, offset: Any = None) -> FloatArray:
        """Natural logarithm of the probabilities, exact where they are too small for a number."""
        F, link = self._scores(X, offset), self._objective.link
        if self.n_classes_ > 1 and isinstance(link, Logit):
            return log_expit(np.concatenate([-F, F], axis=1))
        if self.n_classes_ > 1 and isinstance(link, SoftmaxLink):
            return log_softmax(F, axis=1)
        with np.errstate(divide="ignore"):
            return np.log(self._as_shares(F))

    def staged_decision_function(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray]:
        """:meth:`decision_function` after 1, 2, ... rounds, all that were made."""
        for F in self._staged_scores(X, offset):
            yield self._as_decision(F)

    def staged_predict(self, X: Any, *, offset: Any = None) -> Iterator[npt.NDArray[Any]]:
        """:meth:`predict` after 1, 2, ... rounds, all that were made."""
        for F in self._staged_scores(X, offset):
            yield self._as_labels(F)

    def staged_predict_proba(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray]:
        """:meth:`predict_proba` after 1, 2, ... rounds, all that were made."""
        for F in self._staged_scores(X, offset):
            yield self._as_shares(F)

    def staged_score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None
    ) -> Iterator[float]:
        """Accuracy after 1, 2, ... rounds, all that were made."""
        for said in self.staged_predict(X, offset=offset):
            yield float(accuracy_score(y, said, sample_weight=sample_weight))

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf each row ends in.

        Returns
        -------
        array of shape (n, n_estimators_, n_trees_per_iteration_)
        """
        return self._leaves(X)

    def _as_decision(self, F: FloatArray) -> FloatArray:
        if self.n_classes_ > 2:
            return F
        decision: FloatArray = F[:, 0] if F.shape[1] == 1 else F[:, 1] - F[:, 0]
        return decision

    def _as_labels(self, F: FloatArray) -> npt.NDArray[Any]:
        if self.n_classes_ == 1:
            return self.classes_.take(np.zeros(len(F), dtype=np.intp))
        if self.n_classes_ == 2:
            best = (self._as_decision(F) > 0).astype(np.intp)
        else:
            best = F.argmax(axis=1)
        return self.classes_.take(best)

    def _as_shares(self, F: FloatArray) -> FloatArray:
        link = self._objective.link
        if self.n_classes_ == 1:
            return np.ones((len(F), 1))
        if F.shape[1] > 1:
            return np.asarray(link.inverse(F))
        return two_shares(link, F[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        two = self.loss in _LOSSES[1:] if isinstance(self.loss, str) else False
        two = two or getattr(self.loss, "kind", None) == "binary"
        tags.classifier_tags.multi_class = not two
        return tags
