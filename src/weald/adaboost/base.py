"""What AdaBoost classifiers and regressors share: the course of a fit, and what is kept of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone

from weald._engine import FloatArray
from weald.adaboost.learners import AdaBoostLearner
from weald.adaboost.params import AdaBoostParams, resolve_adaboost
from weald.adaboost.rounds import AdaBoostRounds, Round, Score
from weald.fitting.driver import Plan, drive
from weald.fitting.warm_start import check_same, check_size, kind_of, kind_of_members, shape_of
from weald.input.fit_data import FitData, Validation, read_fit
from weald.input.state import is_array, numbers, require
from weald.input.targets import TableEstimator, all_or_nothing
from weald.members.base import Members
from weald.members.ensemble import Ensemble, StagedScore
from weald.members.foreign import check_member
from weald.members.foreign_members import ForeignMembers
from weald.members.tags import like_members
from weald.members.templates import Templates, as_template, grown_by_engine
from weald.members.trees import Trees
from weald.params.growth import check_choice, resolve_max_features, resolve_seed

__all__ = ["AdaBoostBase"]


class AdaBoostBase(StagedScore, Ensemble, MetaEstimatorMixin, TableEstimator):
    """Members that were fitted one after another, and their votes."""

    alphas_: FloatArray
    errors_: FloatArray
    edges_: FloatArray
    normalizers_: FloatArray
    seed_: int
    _method: str  # by its name
    _round_numbers: npt.NDArray[np.int64]  # of the members, and of the next round
    # Set by each kind.
    _methods: Mapping[str, Any]
    _method_parameter: str
    _least_vote: float = -np.inf

    # --- pickling --------------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "_members" not in vars(self):
            return
        require(self._method in self._methods, self, f"its {self._method_parameter}")
        classes = self._member_classes()
        self._check_members(same_target=classes is not None or "classes_" not in vars(self))
        members, n = self._members, len(self._members)
        if isinstance(members, ForeignMembers):
            known = 0 if classes is None else len(classes)
            require(members.n_classes == known, self, "the number of classes")
        require(numbers(self.alphas_, n, self._least_vote), self, "alphas_")
        tried = self._round_numbers
        require(is_array(tried, (n + 1,), np.int64), self, "the numbers of its rounds")
        require(tried[0] >= 0 and (np.diff(tried) >= 0).all(), self, "the numbers of its rounds")

    # --- what labels and numbers differ in -------------------------------------------------------

    @abstractmethod
    def _default_estimator(self) -> Any:
        """The member if none is given."""

    @abstractmethod
    def _check_kind(self, member: Any) -> None:
        """Refuse a member that does not go with the method."""

    @abstractmethod
    def _learner(
        self, member: Any, data: FitData, params: AdaBoostParams
    ) -> AdaBoostLearner | None:
        """What makes members; None if there is nothing to be learnt.

        Parameters
        ----------
        member : the member to be copied; a tree that knows the table, if the engine grows it
        data : FitData
        params : AdaBoostParams
        """

    @abstractmethod
    def _begin_scores(self, held: FitData) -> Score:
        """What scores the members on the rows held out, one after another."""

    def _member_classes(self) -> Any:
        """Labels, if the members predict classes."""
        return None

    def _check_data(self) -> None:
        """Refuse targets that do not go with the method."""

    def _see_errors(self, held: FitData) -> None:
        """Look at what the ensemble says of rows it was not fitted to."""

    def _chosen(self) -> str:
        """The name of the method."""
        name = self._method_parameter
        return check_choice(name, getattr(self, name), tuple(self._methods))

    # --- fit -------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, validation: Validation) -> Any:
        """Read, go on from an earlier fit if asked to, make the rounds, and keep what they made."""
        with all_or_nothing(self):
            before = dict(self.__dict__)
            params = resolve_adaboost(self)
            self._method = self._chosen()
            self.estimator_ = self._checked_estimator()
            tree = self.estimator_ if self._by_engine() else None
            data = read_fit(self, X, y, sample_weight, tree=tree, validation=validation)
            data = replace(data, weights=data.filled_weights)
            self._check_data()
            members, rounds, tried = self._begin_or_continue(before, params)
            if params.patience is not None and data.validation is None:
                data = data.divided(
                    params.validation_fraction, self.seed_, classes="classes_" in vars(self)
                )
            member = members.like if isinstance(members, Trees) else self.estimator_
            learner = self._learner(member, data, params)
            if learner is None:
                weights = data.filled_weights
                self._keep(members, [], weights / weights.sum(), [], 0)
                self.stop_reason_ = "perfect"
                return self
            work = AdaBoostRounds(
                type(self).__name__,
                learner,
                self._methods[self._method],
                members,
                rounds,
                tried,
                params,
                None if data.validation is None else partial(self._begin_scores, data.validation),
            )
            outcome = drive(work, Plan.of(self, params, done=work.tried))
            if outcome.kept is not None:
                work.cut(outcome.kept)
            self._keep(work.members, work.rounds, work.start, work.scores, work.tried)
            still = work.tried == tried > 0 and outcome.reason == "n_estimators"
            self.stop_reason_ = before["stop_reason_"] if still else outcome.reason
            if data.validation is not None:
                self._see_errors(data.validation)
        return self

    def _checked_estimator(self) -> Any:
        if self.estimator is None:
            return self._default_estimator()
        member = clone(check_member(self.estimator))
        self._check_kind(member)
        return member

    def _by_engine(self) -> bool:
        """The engine grows the members."""
        return grown_by_engine(self.estimator_)

    def _begin_or_continue(
        self, before: dict[str, Any], params: AdaBoostParams
    ) -> tuple[Members, list[Round], int]:
        """The members there are already (warm start) or none, their rounds, and how many were made.

        A lone member without a vote is not gone on from: it was kept for want of a better one.
        """
        old = before.get("_members") if params.warm_start else None
        template, classes = None, self._member_classes()
        if self._by_engine():
            n_tried = resolve_max_features(self.estimator_.max_features, self.n_features_in_)
            template = as_template(clone(self.estimator_), self, n_tried, classes=classes)
        if not old:
            self.seed_ = resolve_seed(self.random_state)
            if template is not None:
                return Trees([], Templates(template), self.seed_), [], 0
            n_classes = 0 if classes is None else len(classes)
            return ForeignMembers([], n_classes, self.seed_, finite=True), [], 0
        self.seed_ = before["seed_"]
        now = kind_of(self.estimator_, template is not None)
        check_same(
            {
                self._method_parameter: before["_method"],
                **kind_of_members(old),
                **shape_of(before),
            },
            {self._method_parameter: self._method, **now, **shape_of(self.__dict__)},
        )
        told = ("_round_numbers", "errors_", "edges_", "alphas_", "normalizers_")
        made = zip(*(before[name].tolist() for name in told), strict=False)
        rounds = [Round(*one) for one in made]
        if before["stop_reason_"] in ("worse", "edge") and rounds[-1].alpha == 0:
            rounds = []
        done = int(before["_round_numbers"][-1])
        check_size(params.n_estimators, done)
        members = old.prefix(len(rounds))  # a copy: the old ones stay if the fit fails
        if isinstance(members, Trees):
            members.go_on_with(template)
        return members, rounds, done

    def _keep(
        self,
        members: Members,
        rounds: list[Round],
        start: FloatArray,
        scores: list[float],
        tried: int,
    ) -> None:
        self._members = members
        self.n_estimators_ = len(members)
        self.errors_ = np.array([one.error for one in rounds])
        self.edges_ = np.array([one.edge for one in rounds])
        self.alphas_ = np.array([one.alpha for one in rounds])
        self.normalizers_ = np.array([one.normalizer for one in rounds])
        self._round_numbers = np.array([*(one.number for one in rounds), tried], dtype=np.int64)
        for name in ("weights_", "validation_scores_"):
            self.__dict__.pop(name, None)
        if self.keep_weights:
            self.weights_ = np.array([start, *(one.weights for one in rounds)])
        if scores:
            self.validation_scores_ = np.array(scores)

    # --- what is known of the members ------------------------------------------------------------

    @property
    def member_weights_(self) -> FloatArray:
        """How much each member counts: the alphas."""
        self._fitted_members()
        return self.alphas_

    @property
    def estimator_weights_(self) -> FloatArray:
        """Votes as scikit-learn states them, ``ln((1 - e) / e)``: twice the alphas."""
        self._fitted_members()
        return 2 * self.alphas_

    @property
    def estimator_errors_(self) -> FloatArray:
        """The errors, under scikit-learn's name."""
        self._fitted_members()
        return self.errors_

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean of the importances of members that split, weighted by their votes; 1 in total."""
        members = self._fitted_members()
        if len(members) == 0:
            return np.zeros(self.n_features_in_)
        each = members.importances()[:, 0]
        if isinstance(members, Trees):
            total = each.sum(axis=1, keepdims=True)
            each = np.divide(each, total, out=np.zeros_like(each), where=total > 0)
        importances: FloatArray = self.alphas_ @ each
        whole = importances.sum()
        return importances / whole if whole > 0 else importances

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return like_members(tags, self.estimator)
