"""What gradient boosting of classes and numbers shares: the course of a fit, and its questions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier

from weald._engine import FloatArray
from weald.boosting.dart import Dart
from weald.boosting.defaults import Task, is_auto
from weald.boosting.gradients import make_gradients
from weald.boosting.learners import GradientForeignLearner, GradientTreeLearner
from weald.boosting.model import AdditiveEnsemble, AdditiveModel
from weald.boosting.nothing_learned import warn_of_a_constant
from weald.boosting.objective import Objective
from weald.boosting.params import GradientParams, resolve_gradient, resolve_trees
from weald.boosting.rounds import BoostingRounds
from weald.boosting.sampling import RoundSampler
from weald.boosting.start import is_model, make_start
from weald.boosting.steps import make_step
from weald.boosting.trial import settled_by_trial
from weald.boosting.units import curvature_unit, row_scale, row_worth
from weald.boosting.validation import Monitor, hold_out, make_scorer
from weald.fitting.driver import Outcome, Plan, drive
from weald.fitting.warm_start import check_same, check_size, shape_of
from weald.input.fit_data import FitData, Validation, check_offset, read_fit
from weald.input.state import require
from weald.input.targets import TableEstimator, all_or_nothing, warn_of_shared_bins
from weald.losses import Loss
from weald.members.base import Members
from weald.members.foreign import check_member
from weald.members.foreign_members import ForeignMembers
from weald.members.tags import like_members
from weald.members.templates import Templates, as_template, tree_like
from weald.members.trees import Trees
from weald.params.growth import count_or_share, resolve_max_features, resolve_seed
from weald.tree import DecisionTreeRegressor

__all__ = ["GradientEnsemble"]

# Times that each column is tried in rounds without a split before a fit ends: that one is drawn in
# none of them has a chance of e^-10.
_WITHOUT_SPLIT = 10


class GradientEnsemble(AdditiveEnsemble, TableEstimator):
    """Raw predictions that are summed up round by round, each fitted to the loss's gradient."""

    seed_: int
    loss_: Loss | tuple[Loss, ...]
    train_score_: FloatArray
    validation_score_: FloatArray
    best_iteration_: int
    learning_rate_: float
    max_leaf_nodes_: int | None
    max_features_: int
    l2_regularization_: float
    min_gain_: float
    min_hessian_: float
    categorical_smoothing_: float
    n_iter_no_change_: int | None
    min_samples_leaf_: int
    order_: int
    step_: str
    stop_reason_: str
    _objective: Objective
    _kind: Literal["classification", "regression"]

    # --- pickling ---------------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "_model" not in vars(self):
            return
        self._check_model()
        require(isinstance(self._objective, Objective), self, "its losses")
        require(self._objective.n_raw == self._model.n_raw, self, "the number of scores")

    # --- what classes and numbers differ in -----------------------------------------------------

    @abstractmethod
    def _make_objective(self) -> Objective:
        """The losses, for targets that were read."""

    @abstractmethod
    def _truth(self, y: FloatArray) -> npt.NDArray[Any]:
        """Targets as users know them."""

    def _see_errors(self, held: FitData) -> None:
        """Look at what the model says of rows it was not fitted to."""

    def _nothing_to_learn(self) -> bool:
        """There is a single class."""
        return False

    # --- fit ------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any, validation: Validation) -> Any:
        """Read, resolve, begin, boost."""
        with all_or_nothing(self):
            before = dict(self.__dict__)
            going_on = bool(self.warm_start) and "_model" in before
            self.seed_ = before["seed_"] if going_on else resolve_seed(self.random_state)
            data = read_fit(
                self,
                X,
                y,
                sample_weight,
                tree=self if self.estimator is None else None,
                offset=offset,
                validation=validation,
                keep_given=is_model(self.init),
            )
            data = data.present()
            scale = row_scale(sample_weight)
            if data.weights is not None and scale != 1:
                data = replace(data, weights=scale * data.weights)
            self._objective, params = self._resolve(data)
            if not self._nothing_to_learn():
                params = settled_by_trial(self, data, params)
                classes = self._kind == "classification"
                data = hold_out(
                    data, params.patience, params.validation_fraction, self.seed_, classes=classes
                )
            model = self._continue(before, params) if going_on else self._begin(data, params)
            self._boost(data, model, before if going_on else {}, params)
            if data.validation is not None:
                self._see_errors(data.validation)
        return self

    def _resolve(self, rows: FitData) -> tuple[Objective, GradientParams]:
        if self.estimator is not None and is_classifier(check_member(self.estimator)):
            raise ValueError(f"estimator={self.estimator!r} is a classifier: give a regressor.")
        objective = self._make_objective()
        d, K = self.n_features_in_, objective.n_raw
        slow = self.estimator is not None or self.dropout != 0
        for part in (rows, rows.validation):
            if part is not None:
                objective.check_target(part.y)
                check_offset(part.offset, len(part), K)
        task = Task(
            rows.weight,
            d,
            n_classes=max(2, K) if objective.joint else 2,
            family=objective.family,
            unit=curvature_unit(objective, rows),
            worth=row_worth(objective, rows),
            slow=slow,
        )
        return objective, resolve_gradient(self, objective, task)

    def _begin(self, train: FitData, params: GradientParams) -> AdditiveModel:
        """A model without rounds."""
        classes = getattr(self, "classes_", None)
        start, self.init_ = make_start(self.init, self._objective, train, classes)
        if self._objective.alpha is not None:
            F = start.raw(train.given, len(train), train.offset)
            self._objective = self._objective.settled(train.y, F.T, train.weights)
        K = self._objective.n_raw
        if self.estimator is not None:
            members: Members = ForeignMembers(
                [], 0, self.seed_, factors=[], per_round=K, grid=True, finite=True
            )
        else:
            members = Trees(
                [],
                Templates(self._template(params)),
                self.seed_,
                per_round=1 if params.vector_leaves else K,
                grid=True,
            )
        return AdditiveModel(start, members)

    def _continue(self, before: dict[str, Any], params: GradientParams) -> AdditiveModel:
        """The model of the fit before, to be added to (warm start)."""
        old: AdditiveModel = before["_model"]
        now = self._objective
        if now.alpha is not None and before["_objective"].alpha is not None:
            self._objective = now = replace(now, losses=before["_objective"].losses)
        check_same(
            {**_scored(before["_objective"], old), **shape_of(before)},
            {
                "loss": [now.name, now.n_raw],
                "estimator (or multi_strategy)": [self.estimator is not None, params.vector_leaves],
                **shape_of(self.__dict__),
            },
        )
        check_size(params.n_estimators, len(old.members))
        model = old.copy()
        if isinstance(model.members, Trees):
            model.members.go_on_with(self._template(params))
        return model

    def _boost(
        self,
        data: FitData,
        model: AdditiveModel,
        before: dict[str, Any],
        params: GradientParams,
    ) -> None:
        """Make the rounds, and keep what comes of them."""
        self._show(params, len(data))
        plan = Plan.of(self, params, done=len(model.members))
        if self._nothing_to_learn():
            self._keep(model, Outcome("one_class"), None, None, before)
            return
        learner, monotone, varies = self._learner(data, params)
        model.start.fill(learner.raw.T, data.given, data.offset)
        if len(model.members):  # a warm start
            begin = np.ascontiguousarray(learner.raw.T)
            rounds = len(model.members)
            learner.raw[:] = model.added(data.X, begin, 0, rounds, params.threads, model.scales).T
        objective = self._objective
        objective.check_own(data.y, learner.raw, params.uses_hessian, data.numbers)
        dart = Dart(learner, data, model, params, self.seed_) if params.dropout else None
        monitor = self._monitor(data, model, before, params)
        gradients = make_gradients(objective, data, learner, learner.boosting, params)
        work = BoostingRounds(
            model,
            learner,
            gradients,
            make_step(learner, gradients, params, monotone),
            sampler=RoundSampler(
                params, data.weights, (len(data), self.n_features_in_), self.seed_
            ),
            scaling=dart,
            monitor=monitor,
            total=params.n_estimators,
            watched=plan.verbose > 0 or bool(plan.callbacks),
            no_step_ends=not varies and params.step == "line_search",
            no_split_ends=self._rounds_without_split(params),
        )
        self._keep(model, drive(work, plan), work, monitor, before)
        warn_of_a_constant(type(self).__name__, model, data, params)

    def _rounds_without_split(self, params: GradientParams) -> int:
        """Rounds after which columns that are drawn have all had their chance; 0: go on for ever.

        Rounds that somebody asks for are made. Those of a warm start go on as if there had been no
        pause, and what DART leaves out brings gains back.
        """
        asked = not is_auto(self.n_estimators) or params.warm_start
        if asked or params.dropout or self.estimator is not None:
            return 0
        return ceil(_WITHOUT_SPLIT * float(self.n_features_in_) / self.max_features_)

    def _show(self, params: GradientParams, n: int) -> None:
        """What "auto" stands for, and what was given, by the names of the parameters."""
        self.learning_rate_ = params.learning_rate
        self.max_leaf_nodes_ = params.max_leaf_nodes
        self.max_features_ = resolve_max_features(params.max_features, self.n_features_in_)
        self.l2_regularization_ = params.l2
        self.min_gain_ = params.min_gain
        self.min_hessian_ = params.min_hessian
        self.categorical_smoothing_ = params.categorical_smoothing
        self.n_iter_no_change_ = params.patience
        self.order_, self.step_ = params.order, params.step
        self.min_samples_leaf_ = count_or_share(
            "min_samples_leaf", params.min_samples_leaf, n, least=1, whole=False
        )

    def _monitor(
        self, data: FitData, model: AdditiveModel, before: dict[str, Any], params: GradientParams
    ) -> Monitor | None:
        """Rows that judge the model, if they are asked for."""
        held = data.validation
        if held is None and params.patience is None:
            return None
        return Monitor(
            self._objective,
            held,
            model,
            make_scorer(self, data if held is None else held),
            patience=params.patience,
            tol=params.tol,
            rate=params.learning_rate,
            train=data,
            n_jobs=params.threads,
            curve=before.get("_judged", ()),
            past_changes=params.dropout > 0,
        )

    def _learner(
        self, train: FitData, params: GradientParams
    ) -> tuple[GradientTreeLearner | GradientForeignLearner, list[int], bool]:
        """Members in the making, monotone columns, and whether a round may differ from another."""
        K = self._objective.n_raw
        if train.table is None:
            learner = GradientForeignLearner(
                clone(self.estimator), train, K, params.order, self.seed_
            )
            return learner, [], True
        growth = resolve_trees(self, params, len(train), train.table.columns, train.weight)
        warn_of_shared_bins(self, train.table, growth.max_bins)
        varies = params.draws or growth.rules.max_features > 0 or params.dropout > 0
        trees = GradientTreeLearner(train, growth, K, params, self.seed_)
        return trees, growth.rules.monotone, varies

    def _template(self, params: GradientParams) -> Any:
        """A tree without nodes that has what all trees have in common."""
        tree = tree_like(DecisionTreeRegressor, self)
        tree.set_params(
            max_leaf_nodes=params.max_leaf_nodes,
            max_features=params.max_features,
            min_samples_leaf=params.min_samples_leaf,
        )
        tried = resolve_max_features(params.max_features, self.n_features_in_)
        n_outputs = self._objective.n_raw if params.vector_leaves else 1
        return as_template(tree, self, tried, n_outputs=n_outputs)

    def _keep(
        self,
        model: AdditiveModel,
        outcome: Outcome,
        work: BoostingRounds | None,
        monitor: Monitor | None,
        before: dict[str, Any],
    ) -> None:
        rounds = len(model.members)
        self.n_estimators_ = rounds
        self.stop_reason_ = outcome.reason
        losses = [] if work is None else work.losses
        self.train_score_ = np.concatenate([before.get("train_score_", ()), losses])
        for name in ("validation_score_", "_judged"):
            self.__dict__.pop(name, None)
        self.best_iteration_ = model.used = rounds
        if monitor is not None and monitor.curve:
            self._judged = tuple(monitor.curve)
            if monitor.held_out:
                self.validation_score_ = np.array(monitor.curve)
            self.best_iteration_ = monitor.rule.best_round
            if monitor.rule.patience is not None:
                model.used = monitor.rule.best_round
        if outcome.kept is not None:
            self.best_iteration_ = model.used = outcome.kept
        model.used_scales = model.scales
        best = None if work is None else work.best_scales
        if model.scales is not None and best is not None and len(best) == model.used:
            model.used_scales = np.append(best, np.zeros(rounds - len(best)))
        each = self._objective.losses
        self.loss_ = each[0] if all(loss == each[0] for loss in each) else each
        self._model = model

    # --- questions ------------------------------------------------------------------------------

    def _raw(self, X: Any, offset: Any) -> FloatArray:
        """F of the rows, shape (n, n_raw)."""
        return self._fitted_model().raw(self, X, offset, self.n_jobs)

    def _staged_raw(self, X: Any, offset: Any) -> Iterator[FloatArray]:
        """F after 1, 2, ... rounds."""
        return self._fitted_model().staged(self, X, offset, self.n_jobs)

    def staged_score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None
    ) -> Iterator[float]:
        """:meth:`score` after 1, 2, ... rounds, all that were made."""
        yield from self._ratings(self.staged_predict(X, offset=offset), y, sample_weight)

    def member_predictions(self, X: Any) -> FloatArray:
        """What the members of each round add to the raw predictions, before its weight.

        Returns
        -------
        array of shape (n_estimators_, n), or (n_estimators_, n, n_raw) for several scores
        """
        members = self._fitted_members()
        rows = members.read(self, X)
        if len(members) == 0:
            each = np.empty((0, rows.shape[0], self._model.n_raw, 1))
        else:
            each = members.each(rows, self.n_jobs)
        return each[:, :, 0, 0] if each.shape[2] == 1 else each[:, :, :, 0]

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees that a round adds: one for each score, or one for all."""
        return self._fitted_members().per_round

    @property
    def member_weights_(self) -> FloatArray:
        """How much each round counts in predictions: 1, or what `dropout` made of it; 0: unused."""
        model = self._fitted_model()
        weights = np.zeros(self.n_estimators_)
        scales = model.used_scales
        weights[: model.used] = 1.0 if scales is None else scales[: model.used]
        return weights

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the gain due to each column, over the trees that predictions use."""
        model = self._fitted_model()
        if model.used == 0:
            return np.zeros(self.n_features_in_)
        gains: FloatArray = model.members.importances()[: model.used].sum(axis=0).sum(axis=0)
        total = float(gains.sum())
        return gains / total if total > 0 else gains

    # --- scikit-learn's conventions -------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for other in (self.estimator, self.init):  # they get the table as it is
            tags = like_members(tags, other, also_own=True)
        return tags


def _scored(objective: Objective, model: AdditiveModel) -> dict[str, Any]:
    """What a model is a sum of, by the names users have for it."""
    foreign = isinstance(model.members, ForeignMembers)
    vector_leaves = not foreign and model.members.per_round < model.n_raw
    return {
        "loss": [objective.name, objective.n_raw],
        "estimator (or multi_strategy)": [foreign, vector_leaves],
    }
