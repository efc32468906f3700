"""Gradient boosting of numbers: numbers in, numbers out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_pinball_score, r2_score

from weald.input.table import check_target
from weald.boosting.base import GradientEnsemble
from weald.boosting.objective import Objective
from weald.params.growth import is_real, refuse
from weald.input.targets import Weights
from weald.losses import Huber, Quantile, get_loss

__all__ = ["GradientRegressor"]

FloatArray = npt.NDArray[np.float64]

_POSITIVE = ("poisson", "gamma", "tweedie")
_LOSSES = ("squared_error", "absolute_error", "huber", "quantile", "log_cosh", *_POSITIVE)
_MOST = 1e100  # targets beyond have squares that may overflow


class GradientRegressor(RegressorMixin, GradientEnsemble):
    """Numbers in, numbers out."""

    _kind = "regression"

    def __init__(
        self,
        *,
        loss: Any = "squared_error",
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
        alpha: Any = 0.9,
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
        self.alpha = alpha
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
        target = check_target(y, n)
        if np.abs(target).max(initial=0.0) > _MOST:
            raise ValueError("y holds numbers beyond 1e100, whose squares may overflow: rescale y.")
        if not again:
            self.n_outputs_ = target.shape[1]
        elif target.shape[1] != self.n_outputs_:
            raise ValueError(f"there are {target.shape[1]} outputs, but y has {self.n_outputs_}.")
        return target if self.n_outputs_ > 1 else np.ascontiguousarray(target[:, 0])

    def _weigh(self, target: FloatArray, weights: Weights) -> Weights:
        return weights

    def _make_objective(self) -> Objective:
        given, K = self.loss, self.n_outputs_
        if isinstance(given, str) and given not in _LOSSES:
            names = ", ".join(map(repr, _LOSSES))
            raise refuse("loss", f"one of {names}, or an object with value and gradient", given)
        quantiles = self._quantiles()
        if isinstance(given, str) and given == "quantile":
            if len(quantiles) > 1 and K > 1:
                raise ValueError(
                    "alpha asks for several quantiles and y has several outputs: fit a model per "
                    "output."
                )
            losses = tuple(map(Quantile, quantiles))
            return Objective(losses if K == 1 else losses * K, max(K, len(losses)))
        if np.ndim(self.alpha) > 0:
            raise ValueError("alpha may be a sequence for loss='quantile' only.")
        if isinstance(given, str) and given == "huber":
            return Objective((Huber(),) * K, K, alpha=quantiles[0])
        loss = get_loss(given)
        if loss.kind != "regression":
            raise ValueError(
                f"loss={given!r} is a loss of classes: use one of numbers such as "
                "'squared_error', or GradientBoostingClassifier."
            )
        return Objective((loss,) * K, K)

    def _quantiles(self) -> list[float]:
        """What `alpha` asks for."""
        wanted = "a number between 0 and 1 (exclusive), or a sequence of different ones"
        try:
            given = [self.alpha] if np.ndim(self.alpha) == 0 else list(self.alpha)
        except (TypeError, ValueError) as error:
            raise refuse("alpha", wanted, self.alpha) from error
        good = all(is_real(q) and 0 < q < 1 for q in given)
        if not given or not good or len(set(given)) < len(given):
            raise refuse("alpha", wanted, self.alpha)
        return [float(q) for q in given]

    def _truth(self, y: FloatArray) -> npt.NDArray[Any]:
        return y

    # --- questions ------------------------------------------------------------------------------

    def predict(self, X: Any, *, offset: Any = None) -> FloatArray:
        """What the model predicts, ``link^-1(init + offset + sum of what the trees say)``.

        Parameters
        ----------
        X : table of shape (n, d)
        offset : array of shape (n,) or (n, n_scores), optional
            Added to the scores, as in ``fit``.

        Returns
        -------
        array of shape (n,); (n, n_outputs_) for several outputs, (n, n_quantiles) for several
        quantiles, in the order of `alpha` and such that they never cross
        """
        return self._as_numbers(self._scores(X, offset))

    def staged_predict(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray]:
        """:meth:`predict` after 1, 2, ... rounds, all that were made."""
        for F in self._staged_scores(X, offset):
            yield self._as_numbers(F)

    def staged_score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None
    ) -> Iterator[float]:
        """:meth:`score` after 1, 2, ... rounds, all that were made."""
        for said in self.staged_predict(X, offset=offset):
            yield self._rated(y, said, sample_weight)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the share of the variance that is explained.

        For several quantiles the mean of D², the share of each one's loss (that of the best
        constant quantile) that is saved.
        """
        return self._rated(y, self.predict(X), sample_weight)

    def _rated(self, y: Any, said: FloatArray, weights: Any) -> float:
        quantiles = self._several_quantiles()
        if quantiles is None:
            return float(r2_score(y, said, sample_weight=weights))
        each = [
            d2_pinball_score(y, said[:, k], sample_weight=weights, alpha=q)
            for k, q in enumerate(quantiles)
        ]
        return float(np.mean(each))

    def _several_quantiles(self) -> list[float] | None:
        if self.n_outputs_ > 1 or self._objective.n_scores == 1:
            return None
        return [loss.quantile for loss in self._objective.losses if isinstance(loss, Quantile)]

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf each row ends in.

        Returns
        -------
        array of shape (n, n_estimators_), or (n, n_estimators_, n_trees_per_iteration_) if a round
        has several trees
        """
        leaves = self._leaves(X)
        return leaves[:, :, 0] if leaves.shape[2] == 1 else leaves

    def _as_numbers(self, F: FloatArray) -> FloatArray:
        said = np.asarray(self._objective.link.inverse(F))
        if said.shape[1] == 1:
            return said[:, 0]
        quantiles = self._several_quantiles()
        if quantiles is not None:  # the lowest prediction for the lowest of them, and so on
            in_order = np.empty_like(said)
            in_order[:, np.argsort(quantiles)] = np.sort(said, axis=1)
            return in_order
        return said

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        positive = isinstance(self.loss, str) and self.loss in _POSITIVE
        tags.target_tags.positive_only = positive
        # Several quantiles are predictions of another shape than the targets.
        tags.target_tags.multi_output = np.ndim(self.alpha) == 0 and not positive
        return tags
