"""The two kinds of forests: labels in and class shares out, numbers in and numbers out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from weald.forest.base import ForestBase
from weald.members.out_of_bag import OutOfBag
from weald.params.growth import check_choice
from weald.input.targets import FloatArray, LabelTarget, NumberTarget, Weights, balance
from weald.params.warnings import warn_user
from weald.sampling import Sampling


class ForestClassifier(LabelTarget, ForestBase):
    """Labels in, class shares out."""

    _class_weight_words = ("balanced", "balanced_subsample")
    oob_decision_function_: FloatArray

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
        bootstrap: bool | str = True,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.keep_partial = keep_partial

    # --- classes in the draws and in the weights ------------------------------------------------

    def _strata(self, target: npt.NDArray[Any]) -> npt.NDArray[np.int32] | None:
        return np.ascontiguousarray(target[:, 0]) if self.n_outputs_ == 1 else None

    def _balances_draws(self) -> bool:
        by_draw = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        return by_draw and bool(self.bootstrap)

    def _row_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        if isinstance(self.class_weight, str) and self.warm_start:
            warn_user(
                f"class_weight={self.class_weight!r} is not recommended for warm_start: it weighs "
                "classes by the rows of each fit. If these are not the same, give a dict "
                "{label: weight} that fits all of them."
            )
        if self._balances_draws():
            return weights
        return super()._row_weights(y, weights)

    def _drawn_weights(
        self, target: npt.NDArray[Any], weights: Weights, sampling: Sampling
    ) -> Weights:
        # Every class is drawn equally often, so its weight is still to be given to its rows.
        if sampling.strata is not None and not self._balances_draws():
            return None if self.class_weight is None else self._class_weights(target, None)
        return super()._drawn_weights(target, weights, sampling)

    def _class_weights(self, y: npt.NDArray[Any], weights: Weights) -> FloatArray:
        """Weigh classes by the inverse of their weight, as scikit-learn's forests do."""
        if not isinstance(self.class_weight, str):
            return super()._class_weights(y, weights)
        return balance(y, self.n_classes_, weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.bootstrap, str):  # "balanced" draws by the classes of one output
            tags.target_tags.multi_output = False
            tags.classifier_tags.multi_label = False
        return tags

    # --- out-of-bag -----------------------------------------------------------------------------

    def _out_of_bag(self, target: npt.NDArray[Any], settings: dict[str, Any]) -> OutOfBag:
        classes = [self._classes_of(k) for k in range(self.n_outputs_)]
        return OutOfBag(target, max(map(len, classes)), classes=classes, **settings)

    def _keep_out_of_bag(self, prediction: FloatArray, target: npt.NDArray[Any]) -> None:
        # Several outputs come last, as in scikit-learn: (n, n_classes, n_outputs).
        several = self.n_outputs_ > 1
        self.oob_decision_function_ = prediction.transpose(0, 2, 1) if several else prediction[:, 0]

    # --- questions ------------------------------------------------------------------------------

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the largest mean share."""
        return self._most_likely(self._values(X))

    def predict_proba(self, X: Any) -> Any:
        """Class shares, averaged over the trees; a list of arrays for several outputs."""
        return self._by_output(self._values(X))


class ForestRegressor(NumberTarget, ForestBase):
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

    def _out_of_bag(self, target: npt.NDArray[Any], settings: dict[str, Any]) -> OutOfBag:
        return OutOfBag(target, **settings)

    def _keep_out_of_bag(self, prediction: FloatArray, target: npt.NDArray[Any]) -> None:
        from weald.intervals import oob_residuals

        self.oob_prediction_ = self._by_output(prediction)
        truth = target[:, 0] if self.n_outputs_ == 1 else target
        present = self._sampling.present
        weights = None if present is None else present.astype(np.float64)
        self._oob_residuals = oob_residuals(truth, self.oob_prediction_, weights)

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
        from weald.intervals import forest_quantiles

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
        from weald.intervals import INTERVALS

        return INTERVALS[check_choice("method", method, tuple(INTERVALS))](self, X, coverage)
