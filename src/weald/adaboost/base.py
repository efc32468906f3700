"""What AdaBoost classifiers and regressors share: the walk of a fit, and what is kept of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from weald.adaboost.boosted import KeptTrees
from weald.adaboost.data import BoostData, read_data
from weald.adaboost.loop import History
from weald.adaboost.params import BoostParams, resolve_boosting
from weald.input.state import check_trees, is_whole, numbers, require
from weald.input.targets import TableEstimator, all_or_nothing
from weald.members.foreign import check_member
from weald.members.views import refuse_members
from weald.params.growth import resolve_max_features, resolve_seed
from weald.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

__all__ = ["BoostedEnsemble"]

FloatArray = npt.NDArray[np.float64]


class BoostedEnsemble(MetaEstimatorMixin, TableEstimator):
    """Members that were fitted one after another, and their votes."""

    alphas_: FloatArray
    errors_: FloatArray
    seed_: int
    _boosted: Any  # the members as one thing that can be asked
    _least_vote: float = -np.inf

    # --- pickling --------------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "_boosted" not in vars(self):
            return
        n = len(self._boosted)
        require(is_whole(self.n_estimators_, n, n), self, "n_estimators_")
        require(numbers(self.alphas_, n, self._least_vote), self, "alphas_")
        if isinstance(self._boosted, KeptTrees) and self._boosted.forest is not None:
            check_trees(self, self._boosted.forest, same_target=False)

    # --- what labels and numbers differ in -------------------------------------------------------

    @abstractmethod
    def _rule(self) -> Any:
        """How a member is judged."""

    @abstractmethod
    def _default_estimator(self, rule: Any) -> Any:
        """The member if none is given."""

    @abstractmethod
    def _check_kind(self, member: Any, rule: Any) -> None:
        """Refuse a member that does not go with the rule."""

    @abstractmethod
    def _boost(self, data: BoostData, tree: Any, rule: Any, params: BoostParams) -> History:
        """Make the members and keep them as ``_boosted``; `tree` is None if they are no trees."""

    def _check_data(self, rule: Any) -> None:
        """Refuse targets that do not go with the rule."""

    # --- fit -------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Any:
        """Make the members, one after another.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            weald's trees take numbers, strings, categoricals and missing values. Other members get
            the table as it is.
        y : array-like of shape (n,)
            Labels of any type for a classifier, numbers for a regressor.
        sample_weight : array-like of shape (n,), optional
            Where the weights of the rows start. Without `resample` a row of weight k adds exactly
            what k copies of it add; a row of weight 0 is like its absence.
        X_val, y_val, sample_weight_val : optional
            Rows on which the ensemble is scored after every round; `n_iter_no_change` watches them.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            params, rule = resolve_boosting(self), self._rule()
            self.estimator_ = self._checked_estimator(rule)
            tree = clone(self.estimator_) if self._grows_trees() else None
            self.seed_ = resolve_seed(self.random_state)
            held_out = (X_val, y_val, sample_weight_val)
            data = read_data(self, tree, X, y, sample_weight, held_out, params, self.seed_)
            self._check_data(rule)
            history = self._boost(data, tree, rule, params)
            self._keep(history, params)
        return self

    def _checked_estimator(self, rule: Any) -> Any:
        if self.estimator is None:
            return self._default_estimator(rule)
        member = clone(check_member(self.estimator))
        self._check_kind(member, rule)
        return member

    def _grows_trees(self) -> bool:
        """The engine grows the members."""
        tree = self.estimator_
        kinds = (
            DecisionTreeClassifier,
            ExtraTreeClassifier,
            DecisionTreeRegressor,
            ExtraTreeRegressor,
        )
        if type(tree) not in kinds or tree.ccp_alpha != 0:
            return False
        return (
            getattr(tree, "cost_matrix", None) is None
            and getattr(tree, "class_weight", None) is None
        )

    def _describe(self, tree: Any) -> None:
        """Note on a tree without nodes what all members have in common."""
        for name in ("n_features_in_", "feature_names_in_", "categories_", "_blank_columns"):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree.n_outputs_ = 1
        tree.max_features_ = resolve_max_features(tree.max_features, self.n_features_in_)

    def _keep(self, history: History, params: BoostParams) -> None:
        self.errors_ = np.array(history.errors)
        self.edges_ = np.array(history.edges)
        self.alphas_ = np.array(history.alphas)
        self.normalizers_ = np.array(history.normalizers)
        self.n_estimators_ = len(history.alphas)
        self.stop_reason_ = history.reason
        for name in ("weights_", "validation_scores_"):
            self.__dict__.pop(name, None)
        if params.keep_weights:
            self.weights_ = np.array(history.weights)
        if history.validation:
            self.validation_scores_ = np.array(history.validation)

    # --- what is known of the members ------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, t: Any) -> Any:
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def estimators_(self) -> Any:
        """The fitted members."""
        check_is_fitted(self, "alphas_")
        return self._boosted.estimators(self.seed_)

    @estimators_.setter
    def estimators_(self, members: Any) -> None:
        refuse_members(self, members)

    @property
    def estimator_weights_(self) -> FloatArray:
        """Votes as scikit-learn states them, ``ln((1 - e) / e)``: twice the alphas."""
        check_is_fitted(self, "alphas_")
        return 2 * self.alphas_

    @property
    def estimator_errors_(self) -> FloatArray:
        """The errors, under scikit-learn's name."""
        check_is_fitted(self, "alphas_")
        return self.errors_

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean of the importances of members that split, weighted by their votes; 1 in total."""
        check_is_fitted(self, "alphas_")
        each = self._boosted.importances()
        if len(each) == 0:
            return np.zeros(self.n_features_in_)
        importances: FloatArray = self.alphas_ @ each
        total = importances.sum()
        return importances / total if total > 0 else importances

    def __sklearn_is_fitted__(self) -> bool:
        return "alphas_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        if hasattr(self.estimator, "__sklearn_tags__"):  # else the default, a tree of weald
            of_member = get_tags(self.estimator).input_tags
            for name in ("sparse", "allow_nan", "categorical", "string", "positive_only"):
                setattr(tags.input_tags, name, getattr(of_member, name))
        return tags
