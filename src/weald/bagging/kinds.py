"""The two kinds of ensembles of equal members: labels in and shares out, numbers in and out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from weald._engine import FloatArray
from weald.bagging.base import BaggingBase, member_has
from weald.input.labels import check_target, encode_labels
from weald.input.targets import LabelTarget, NumberTarget, logarithms
from weald.intervals import ConformalIntervals
from weald.members.foreign_members import ForeignMembers
from weald.params.growth import check_choice
from weald.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["BaggedClassifier", "BaggedRegressor"]


class BaggedClassifier(ClassifierMixin, BaggingBase):
    """Labels in, class shares out."""

    _by_output = LabelTarget._by_output
    _most_likely = LabelTarget._most_likely
    classes_: Any
    n_classes_: Any

    def _get_estimator(self) -> Any:
        if self.estimator is None:
            return DecisionTreeClassifier(max_bins=255)
        return self.estimator

    def _checked_estimator(self) -> Any:
        estimator = super()._checked_estimator()
        if is_regressor(estimator):
            raise ValueError(f"estimator={estimator!r} is a regressor: give a classifier.")
        return estimator

    def _voting(self) -> bool:
        """Members vote for one class, rather than for all of them by their shares."""
        return check_choice("voting", self.voting, ("soft", "hard")) == "hard"

    def _read_member_target(self, y: Any, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        labels = encode_labels(y, n)
        if labels.multi_output:
            raise ValueError(
                "y should be a 1d array: several outputs of classes are for weald's own trees, and "
                f"{type(self._get_estimator()).__name__} members get one. Fit an ensemble for "
                "each output."
            )
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        self.n_outputs_ = 1
        self._costs = None if self._voting() else self._costs_of_members()
        return labels.codes, labels.codes[:, 0].astype(np.int64)

    def _costs_of_members(self) -> FloatArray | None:
        """What mistakes cost, if the members are trees with a cost matrix."""
        tree = self._member_of(0, seed=0)
        if not hasattr(tree, "_check_costs"):
            return None
        tree.n_outputs_, tree.n_classes_ = self.n_outputs_, self.n_classes_
        costs: FloatArray | None = tree._check_costs()
        return costs

    def _watch_settings(self, target: npt.NDArray[Any]) -> dict[str, Any]:
        classes = [self.classes_] if self.n_outputs_ == 1 else self.classes_
        return {"classes": classes, "n_classes": max(map(len, classes)), "costs": self._costs}

    def predict(self, X: Any, **params: Any) -> npt.NDArray[Any]:
        """The class with the largest share; the cheapest one for trees with a cost matrix.

        Parameters
        ----------
        X : table of shape (n, d)
        **params : dict
            Goes to the members, by metadata routing.

        Returns
        -------
        array of shape (n,), or (n, n_outputs)
        """
        return self._most_likely(self._mean(X, "predict", params), self._costs)

    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Mean of the members' class shares (voting="soft") or votes (voting="hard").

        Members without class shares vote. See :meth:`predict` for the parameters.

        Returns
        -------
        array of shape (n, n_classes), or a list of them for several outputs
        """
        return self._by_output(self._mean(X, "predict_proba", params))

    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """Natural logarithm of the class shares.

        Returns
        -------
        array of shape (n, n_classes), or a list of them for several outputs
        """
        members = self._fitted_members_for("predict_log_proba", params)
        if (
            isinstance(members, ForeignMembers)
            and not self._vote
            and self._combine is None
            and hasattr(members.members[0], "predict_log_proba")
        ):
            routed = self._routed("predict_log_proba", params).get("predict_log_proba")
            X = members.read(self, X)
            return members.log_shares(X, self.member_weights_, self.n_jobs, routed)
        return logarithms(self._by_output(self._mean(X, "predict_log_proba", params)))

    @available_if(member_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> FloatArray:
        """Mean of the members' decision functions.

        Returns
        -------
        array of shape (n,) for two classes, (n, n_classes) for more
        """
        members = self._fitted_members_for("decision_function", params)
        if not isinstance(members, ForeignMembers):  # trees have no decision function
            raise NotFittedError(
                f"The members of this {type(self).__name__} are trees, but its estimator was "
                "changed since: fit it again."
            )
        routed = self._routed("decision_function", params).get("decision_function")
        X = members.read(self, X)
        return members.decisions(X, self._weights, self.n_jobs, routed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Several outputs of classes are for weald's own trees.
        tags.classifier_tags.multi_label = self._grows_trees()
        tags.target_tags.multi_output &= self._grows_trees()
        return tags


class BaggedRegressor(ConformalIntervals, RegressorMixin, BaggingBase):
    """Numbers in, numbers out."""

    _by_output = NumberTarget._by_output
    oob_prediction_: FloatArray

    def _get_estimator(self) -> Any:
        if self.estimator is None:
            return DecisionTreeRegressor(max_bins=255)
        return self.estimator

    def _checked_estimator(self) -> Any:
        estimator = super()._checked_estimator()
        if is_classifier(estimator):
            raise ValueError(f"estimator={estimator!r} is a classifier: give a regressor.")
        return estimator

    def _voting(self) -> bool:
        return False

    def _read_member_target(self, y: Any, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        target = check_target(y, n)
        self.n_outputs_ = target.shape[1]
        return target, target[:, 0] if self.n_outputs_ == 1 else target

    def _watch_settings(self, target: npt.NDArray[Any]) -> dict[str, Any]:
        return {}

    def predict(self, X: Any, **params: Any) -> FloatArray:
        """Mean of what the members predict.

        Parameters
        ----------
        X : table of shape (n, d)
        **params : dict
            Goes to the members, by metadata routing.

        Returns
        -------
        array of shape (n,), or (n, n_outputs)
        """
        return self._by_output(self._mean(X, "predict", params))
