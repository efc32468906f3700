"""What the two stagewise estimators share: the course of a fit, and the questions to the model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier

from weald._engine import FloatArray
from weald.boosting.learners import GradientForeignLearner
from weald.boosting.model import AdditiveEnsemble, AdditiveModel, Start
from weald.boosting.objective import Objective
from weald.boosting.rounds import BoostingRounds
from weald.boosting.validation import Monitor, hold_out
from weald.fitting.driver import Outcome, Plan, drive
from weald.input.fit_data import FitData, Validation, read_fit
from weald.input.state import SavedEstimator, check_attributes, numbers, require
from weald.input.targets import all_or_nothing
from weald.losses import Identity, Loss, check_derivatives, get_loss
from weald.members.base import Members
from weald.members.foreign import check_member
from weald.members.foreign_members import ForeignMembers
from weald.members.formula import Formula, Step, member_tree, trees_of
from weald.members.tags import like_members
from weald.members.templates import Templates, grown_by_engine
from weald.members.trees import Trees
from weald.params.ensembles import check_patience, check_validation_fraction, check_verbosity
from weald.params.growth import (
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    is_real,
    refuse,
    resolve_seed,
)
from weald.params.warnings import warn_user
from weald.stagewise.learners import StagewiseTreeLearner
from weald.stagewise.steps import LineSearch, StagewiseGradients

__all__ = ["StagewiseBase"]

_CHECKED = 50  # rows on which the gradient of a loss of the user's own is looked at


@dataclass(frozen=True)
class _Params:
    """What the parameters mean."""

    n_estimators: int
    learning_rate: float
    from_zero: bool
    patience: int | None
    validation_fraction: float | None
    tol: float
    verbose: int
    keep_partial: bool


class StagewiseBase(AdditiveEnsemble, SavedEstimator, MetaEstimatorMixin, BaseEstimator):
    """Forward stagewise additive modelling: ``F <- F + nu h``, one member at a time."""

    loss_: Loss
    init_: float
    seed_: int
    steps_: FloatArray
    train_losses_: FloatArray
    validation_losses_: FloatArray
    stop_reason_: str
    _kind: str  # of the losses

    # --- pickling ---------------------------------------------------------------------------------

    def _check_state(self) -> None:
        check_attributes(self)
        if "_model" not in vars(self):
            return
        self._check_model()
        require(numbers(self.steps_, len(self._members)), self, "steps_")
        require(np.isfinite(float(self.init_)), self, "init_")
        require(isinstance(self.loss_, Loss), self, "loss_")

    # --- what labels and numbers differ in --------------------------------------------------------

    @abstractmethod
    def _get_estimator(self) -> Any:
        """The member to be copied."""

    @abstractmethod
    def _read_target(self, y: Any, n: int, again: bool = False) -> FloatArray:
        """Check the targets and note their classes on self; numbers, or 0 and 1."""

    @abstractmethod
    def _wrong_kind(self, loss: Loss) -> ValueError:
        """The error of a loss that is not for these targets."""

    @abstractmethod
    def _sides(self) -> npt.NDArray[Any]:
        """What -1 and 1 of classifiers as members stand for."""

    def _row_weights(self, y: FloatArray, weights: FloatArray | None) -> FloatArray | None:
        return weights

    def _nothing_to_learn(self) -> bool:
        """All targets are the same by their nature: a single class."""
        return False

    # --- fit --------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, validation: Validation) -> Any:
        """Read, begin, boost."""
        with all_or_nothing(self):
            params = self._resolve()
            self.estimator_ = check_member(self._get_estimator())
            self.seed_ = resolve_seed(self.random_state)
            tree = self.estimator_ if grown_by_engine(self.estimator_) else None
            data = read_fit(self, X, y, sample_weight, tree=tree, validation=validation)
            data = data.present()
            if not self._nothing_to_learn():
                classes = self._kind == "binary"
                data = hold_out(
                    data, params.patience, params.validation_fraction, self.seed_, classes=classes
                )
            self.loss_ = self._checked_loss(data)
            self.init_ = self._start(data, params)
            self._boost(data, params)
            return self

    def _resolve(self) -> _Params:
        rate = self.learning_rate
        if not is_real(rate) or not 0 < rate < np.inf:
            raise refuse("learning_rate", "a finite number > 0", rate)
        patience = check_patience(self.n_iter_no_change)
        fraction = check_validation_fraction(self.validation_fraction, optional=True)
        return _Params(
            n_estimators=check_count("n_estimators", self.n_estimators, least=1),
            learning_rate=float(rate),
            from_zero=check_choice("init", self.init, ("constant", "zero")) == "zero",
            patience=patience,
            validation_fraction=fraction,
            tol=check_fraction("tol", self.tol, low=0.0, high=np.inf),
            verbose=check_verbosity(self.verbose),
            keep_partial=check_flag("keep_partial", self.keep_partial),
        )

    def _checked_loss(self, data: FitData) -> Loss:
        loss = get_loss(self.loss)
        if loss.kind != self._kind:
            raise self._wrong_kind(loss)
        for rows in (data, data.validation):
            if rows is not None:
                loss.check_target(rows.y)
        return loss

    def _start(self, train: FitData, params: _Params) -> float:
        """Score of every row before the first round; here a loss of the user's own is tried out."""
        loss = self.loss_
        if not loss.built_in:
            some = np.unique(np.linspace(0, len(train) - 1, _CHECKED).astype(np.intp))
            plain = isinstance(loss.link, Identity) and not params.from_zero
            near = train.row_weights.mean(train.y) if plain else 0.0
            # Only what is used: a second derivative may be anything here.
            used = SimpleNamespace(name=loss.name, value=loss.value, gradient=loss.gradient)
            check_derivatives(used, train.y[some], np.full(len(some), near))
        if params.from_zero and not self._nothing_to_learn():
            return 0.0
        return float(np.asarray(loss.constant(train.y, train.weights)))

    def _boost(self, data: FitData, params: _Params) -> None:
        """Go the best step along the best member, until no step helps."""
        labels = self._sides() if is_classifier(self.estimator_) else None
        learner: StagewiseTreeLearner | GradientForeignLearner
        if data.table is None:
            learner = GradientForeignLearner(
                self.estimator_, data, 1, 1, self.seed_, labels, scaled=True
            )
            members: Members = ForeignMembers(
                [], 0 if labels is None else 2, self.seed_, finite=labels is None
            )
        else:
            learner = StagewiseTreeLearner(self.estimator_, data, labels, self, self.seed_)
            members = Trees([], Templates(learner.template), self.seed_)
        start = Start(np.array([self.init_]))
        model = AdditiveModel(start, members, np.zeros(0), members_vote=labels is not None)
        learner.raw[:] = self.init_
        objective = Objective((self.loss_,), 1)
        gradients = StagewiseGradients(objective, data, learner)
        monitor = self._monitor(objective, data, model, gradients.loss_now, params)
        step = LineSearch(learner, gradients, model)
        work = BoostingRounds(
            model,
            learner,
            gradients,
            step,
            scaling=step,
            monitor=monitor,
            total=params.n_estimators,
            watched=True,
            no_step_ends=False,
        )
        first_loss = gradients.loss_now
        outcome = Outcome("no_step")
        if not self._nothing_to_learn():
            outcome = drive(work, Plan.of(self, params))
            if not work.losses and len(np.unique(data.y)) > 1:
                large = params.learning_rate > 1
                warn_user(
                    f"No step of {type(self).__name__} lowers the loss, so it has no members"
                    + (f": learning_rate={params.learning_rate:g} is too large." if large else ".")
                )
        if outcome.kept is not None:
            model.cut(outcome.kept)
        self._keep(model, [first_loss, *work.losses], outcome, monitor)

    def _monitor(
        self,
        objective: Objective,
        data: FitData,
        model: AdditiveModel,
        train_loss: float,
        params: _Params,
    ) -> Monitor | None:
        """Rows that judge the model, if they are asked for."""
        if data.validation is None and params.patience is None:
            return None
        monitor = Monitor(
            objective,
            data.validation,
            model,
            None,
            patience=params.patience,
            tol=params.tol,
            rate=params.learning_rate,
            train=data,
            n_jobs=self._jobs(),
        )
        monitor.begin(train_loss)
        return monitor

    def _keep(
        self, model: AdditiveModel, losses: list[float], outcome: Outcome, monitor: Monitor | None
    ) -> None:
        rounds = len(model.members)
        model.used, model.used_scales = rounds, model.scales
        self._model = model
        self.n_estimators_ = rounds
        self.steps_ = np.empty(0) if model.scales is None else model.scales.copy()
        self.train_losses_ = np.array(losses[: rounds + 1])
        self.stop_reason_ = outcome.reason
        self.__dict__.pop("validation_losses_", None)
        if monitor is not None and monitor.held_out:
            self.validation_losses_ = np.array(monitor.curve[: rounds + 1])

    # --- questions --------------------------------------------------------------------------------

    def _jobs(self) -> int | None:
        jobs: int | None = getattr(self.estimator_, "n_jobs", None)
        return jobs

    def _raw(self, X: Any) -> FloatArray:
        """``F = init + sum_t nu_t h_t``."""
        rows = self._fitted_members().read(self, X)
        nothing = np.zeros((rows.shape[0], 1))
        model = self._model
        return self.init_ + model.added(
            rows, nothing, 0, len(model.members), self._jobs(), model.scales
        ).reshape(-1)

    def _raw_formula(self) -> Formula:
        """The same as a formula of trees; what comes of it is left to the kinds."""
        self._fitted_members()
        model = self._model
        trees = trees_of(model.members)
        sign: tuple[Step, ...] = (("second less first",),) if model.members_vote else ()
        return Formula(
            tree=member_tree(trees),
            rounds=len(trees),
            start=np.zeros(2 if model.members_vote else 1),
            weights=model.scales,
            vote=model.members_vote,
            to_raw=(*sign, ("add", float(self.init_))),
        )

    def _staged_raw(self, X: Any) -> Iterator[FloatArray]:
        """F after 1, 2, ... rounds; added as in `_raw`, so the last are the same."""
        members, model = self._fitted_members(), self._model
        rows = members.read(self, X)
        by_class = model.members_vote and isinstance(members, Trees)  # what both classes have got
        sums = np.zeros((rows.shape[0], 2 if by_class else 1))
        for t in range(len(members)):
            if by_class:
                sums += members.sum(
                    rows, model.scales, first=t, last=t + 1, vote=True, n_jobs=self._jobs()
                )[:, 0]
                yield self.init_ + (sums[:, 1] - sums[:, 0])
            else:
                sums = model.added(rows, sums, t, t + 1, self._jobs(), model.scales)
                yield self.init_ + sums[:, 0]

    def member_predictions(self, X: Any) -> FloatArray:
        """What each member says, -1 or 1 for classifiers as members, else numbers.

        Returns
        -------
        array of shape (n_estimators_, n)
        """
        members = self._fitted_members()
        rows = members.read(self, X)
        each = [
            self._model.added(rows, np.zeros((rows.shape[0], 1)), t, t + 1, self._jobs())
            for t in range(len(members))
        ]
        return np.array(each).reshape(len(members), rows.shape[0])

    @property
    def member_weights_(self) -> FloatArray:
        """The steps, by the name all of weald's ensembles have for how much members count."""
        self._fitted_members()
        return self.steps_

    # --- scikit-learn's conventions ---------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        return like_members(super().__sklearn_tags__(), self._get_estimator())
