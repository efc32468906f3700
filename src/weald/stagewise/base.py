"""What the two stagewise estimators share: the walk of a fit, and the questions to the model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from weald.stagewise.additive_model import AdditiveModel
from weald.input.table import Table, check_weights, check_X_fit, check_X_predict
from weald.stagewise.direction import AnyDirection, TreeDirection
from weald.params.ensembles import check_verbosity
from weald.input.holdout import Rows, Watch, given_validation, hold_out, reading_validation
from weald.members.foreign import check_member
from weald.params.growth import (
    check_choice,
    check_count,
    check_fraction,
    is_real,
    refuse,
    resolve_seed,
)
from weald.fitting.progress import progress
from weald.input.raw_table import keep_X_fit, keep_X_predict
from weald.stagewise.stage_members import StageMembers, StageTrees
from weald.input.state import (
    CheckedState,
    check_classes,
    check_columns,
    check_seed,
    check_trees,
    is_whole,
    numbers,
    require,
)
from weald.input.targets import all_or_nothing
from weald.params.warnings import warn_user
from weald.losses import LOSSES, Identity, Loss, check_derivatives, get_loss
from weald.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

__all__ = ["StagewiseBase"]

FloatArray = npt.NDArray[np.float64]

_OWN_TREES = (
    *(DecisionTreeClassifier, ExtraTreeClassifier),
    *(DecisionTreeRegressor, ExtraTreeRegressor),
)
_CHECKED = 50  # rows on which the gradient of a loss of the user's own is looked at


@dataclass(frozen=True)
class _Params:
    """What the parameters mean."""

    n_estimators: int
    learning_rate: float
    from_zero: bool
    patience: int | None
    fraction: float | None
    tol: float
    verbose: int


class StagewiseBase(CheckedState, MetaEstimatorMixin, BaseEstimator):
    """Forward stagewise additive modelling: ``F <- F + nu h``, one member at a time."""

    loss_: Loss
    init_: float
    seed_: int
    steps_: FloatArray
    train_losses_: FloatArray
    validation_losses_: FloatArray
    n_estimators_: int
    stop_reason_: str
    _members: StageTrees | StageMembers
    _kind: str  # of the losses

    # --- pickling ---------------------------------------------------------------------------------

    def _check_state(self) -> None:
        check_columns(self)
        check_classes(self)
        check_seed(self)
        if "_members" not in vars(self):
            return
        require(isinstance(self._members, StageTrees | StageMembers), self, "its members")
        n = len(self._members)
        require(is_whole(self.n_estimators_, n, n), self, "n_estimators_")
        require(numbers(self.steps_, n), self, "steps_")
        require(np.isfinite(float(self.init_)), self, "init_")
        require(isinstance(self.loss_, Loss), self, "loss_")
        if isinstance(self._members, StageTrees) and self._members.forest is not None:
            check_trees(self, self._members.forest, same_target=False)

    # --- what labels and numbers differ in --------------------------------------------------------

    @abstractmethod
    def _get_estimator(self) -> Any:
        """The member to be copied."""

    @abstractmethod
    def _read_target(self, y: Any, n: int) -> FloatArray:
        """Check the targets and note their classes on self; numbers, or 0 and 1."""

    @abstractmethod
    def _read_validation_target(self, y: Any, n: int) -> FloatArray:
        """Check further targets of the same kind."""

    @abstractmethod
    def _wrong_kind(self, loss: Loss) -> ValueError:
        """The error of a loss that is not for these targets."""

    @abstractmethod
    def _sides(self) -> npt.NDArray[Any]:
        """What -1 and 1 of classifiers as members stand for."""

    def _nothing_to_learn(self) -> bool:
        """All targets are the same by their nature: a single class."""
        return False

    # --- fit --------------------------------------------------------------------------------------

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
        """Fit the model, one member after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            weald's trees take numbers, strings, categoricals and missing values. Other members get
            the table as it is.
        y : array-like of shape (n,)
            Two classes of any type, or numbers.
        sample_weight : array-like of shape (n,), optional
            A row of weight k adds what k copies of it add; weight 0 is like its absence. (Where
            rows are drawn, for validation or because a member takes no weights, this holds on
            average.)
        X_val, y_val : table and targets, optional
            Rows to judge by, instead of a `validation_fraction` of the training rows. Their loss
            is kept in `validation_losses_`, and stops the fit if `n_iter_no_change` is given.
        sample_weight_val : array-like, optional
            Weights of these rows.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            params = self._resolve()
            self.estimator_ = self._checked_estimator()
            self.seed_ = resolve_seed(self.random_state)
            rows, table = self._read(X, y, sample_weight)
            train, held = self._divide(rows, params, X_val, y_val, sample_weight_val)
            self.loss_ = self._checked_loss(train, held)
            self.init_ = self._start(train, params)
            self._boost(train, held, self._direction(train, table), params)
            return self

    def _resolve(self) -> _Params:
        rate, patience, fraction = (
            self.learning_rate,
            self.n_iter_no_change,
            self.validation_fraction,
        )
        if not is_real(rate) or not 0 < rate < np.inf:
            raise refuse("learning_rate", "a finite number > 0", rate)
        if patience is not None:
            patience = check_count("n_iter_no_change", patience, least=1)
        if fraction is not None and (not is_real(fraction) or not 0 < fraction < 1):
            raise refuse(
                "validation_fraction", "None or a number between 0 and 1 (exclusive)", fraction
            )
        return _Params(
            n_estimators=check_count("n_estimators", self.n_estimators, least=1),
            learning_rate=float(rate),
            from_zero=check_choice("init", self.init, ("constant", "zero")) == "zero",
            patience=patience,
            fraction=None if fraction is None else float(fraction),
            tol=check_fraction("tol", self.tol, low=0.0, high=np.inf),
            verbose=check_verbosity(self.verbose),
        )

    def _checked_estimator(self) -> Any:
        return check_member(self._get_estimator())

    def _grows_trees(self) -> bool:
        """The members are trees that the engine can grow from codes made once."""
        tree = self._get_estimator()
        if type(tree) not in _OWN_TREES or isinstance(tree.ccp_alpha, str):
            return False
        return all(getattr(tree, name, None) is None for name in ("cost_matrix", "class_weight"))

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Table | None]:
        """What was given to ``fit``, checked, without the rows of weight 0."""
        self.__dict__.pop("categories_", None)  # of trees that were here before
        table = None
        if self._grows_trees():
            listed = self.estimator_.categorical_features
            table = check_X_fit(self, X, categorical_features=listed)
        matrix = keep_X_fit(self, X) if table is None else table.X
        n = matrix.shape[0]
        target = self._read_target(y, n)
        weights = check_weights(sample_weight, n)
        if table is not None:
            table = table.without_weightless_categories(weights)
            self.categories_, matrix = list(table.categories), table.X
        return Rows(matrix, target, weights).present(), table

    def _divide(
        self, rows: Rows, params: _Params, X_val: Any, y_val: Any, sample_weight_val: Any
    ) -> tuple[Rows, Rows | None]:
        """Rows to learn from and rows to judge by, if any."""
        if given_validation(X_val, y_val, sample_weight_val):
            read = check_X_predict if self._grows_trees() else keep_X_predict
            with reading_validation():
                matrix = read(self, X_val)
                n = matrix.shape[0]
                weights = check_weights(sample_weight_val, n)
                target = self._read_validation_target(y_val, n)
            return rows, Rows(matrix, target, weights).present()
        if params.patience is None or params.fraction is None or self._nothing_to_learn():
            return rows, None
        return hold_out(rows, params.fraction, self.seed_, classes=self._kind == "binary")

    def _checked_loss(self, train: Rows, held: Rows | None) -> Loss:
        loss = get_loss(self.loss)
        if loss.kind != self._kind:
            raise self._wrong_kind(loss)
        for rows in (train, held):
            if rows is not None:
                loss.check_target(rows.y)
        return loss

    def _start(self, train: Rows, params: _Params) -> float:
        """Score of every row before the first round; here a loss of the user's own is tried out."""
        loss = self.loss_
        if type(loss) not in LOSSES.values():
            some = np.unique(np.linspace(0, len(train) - 1, _CHECKED).astype(np.intp))
            plain = isinstance(loss.link, Identity) and not params.from_zero
            near = train.row_weights.mean(train.y) if plain else 0.0
            # Only what is used: a second derivative may be anything here.
            used = SimpleNamespace(name=loss.name, value=loss.value, gradient=loss.gradient)
            check_derivatives(used, train.y[some], np.full(len(some), near))
        if params.from_zero and not self._nothing_to_learn():
            return 0.0
        return float(np.asarray(loss.constant(train.y, train.weights)))

    def _direction(self, train: Rows, table: Table | None) -> TreeDirection | AnyDirection:
        estimator, seed = self.estimator_, self.seed_
        labels = self._sides() if is_classifier(estimator) else None
        if table is None:
            return AnyDirection(estimator, train, labels, seed)
        return TreeDirection(estimator, train, table, labels, self, seed)

    def _boost(
        self,
        train: Rows,
        held: Rows | None,
        direction: TreeDirection | AnyDirection,
        params: _Params,
    ) -> None:
        """Go the best step along the best member, until no step helps."""
        model = AdditiveModel(self.loss_, train, self.init_)
        watch = Watch(self.loss_, held, self.init_, params.patience, params.tol)
        rounds = 0 if self._nothing_to_learn() else params.n_estimators
        reason = "n_estimators" if rounds else "no_step"
        shown = "loss" if held is None else "validation loss"
        with progress(rounds, 0, params.verbose, type(self).__name__, shown) as bar:
            for t in range(rounds):
                step = model.advance(direction, t, params.learning_rate)
                if step is None:
                    reason = "no_step"
                    break
                if held is not None:
                    watch.add(model.steps[-1] * direction.latest(held.X))
                bar.show(t + 1, (watch.curve or model.losses)[-1])
                if step.endless:
                    reason = "perfect"
                    break
                if watch.stops(model.losses):
                    reason = "no_change"
                    break
        if rounds and not model.steps and len(np.unique(train.y)) > 1:
            large = params.learning_rate > 1
            warn_user(
                f"No step of {type(self).__name__} lowers the loss, so it has no members"
                + (f": learning_rate={params.learning_rate:g} is too large." if large else ".")
            )
        self._members = direction.members
        self.steps_ = np.array(model.steps)
        self.n_estimators_ = len(model.steps)
        self.train_losses_ = np.array(model.losses)
        self.stop_reason_ = reason
        self.__dict__.pop("validation_losses_", None)
        if held is not None:
            self.validation_losses_ = np.array(watch.curve)

    # --- questions --------------------------------------------------------------------------------

    def _asked(self) -> StageTrees | StageMembers:
        try:
            return self._members
        except AttributeError:
            check_is_fitted(self)
            raise

    def _scores(self, X: Any) -> FloatArray:
        """``F = init + sum_t nu_t h_t``."""
        members = self._asked()
        return self.init_ + members.total(members.read(self, X), self.steps_)

    def _staged_scores(self, X: Any) -> Iterator[FloatArray]:
        """F after 1, 2, ... rounds."""
        members = self._asked()
        X = members.read(self, X)
        F = np.full(X.shape[0], self.init_)
        for nu, h in zip(self.steps_, members.outputs(X), strict=True):
            F = F + nu * h
            yield F

    def member_predictions(self, X: Any) -> FloatArray:
        """What each member says, -1 or 1 for classifiers as members, else numbers.

        Returns
        -------
        array of shape (n_estimators_, n)
        """
        members = self._asked()
        X = members.read(self, X)
        return np.array([*members.outputs(X)]).reshape(len(members), X.shape[0])

    @property
    def estimators_(self) -> Sequence[Any]:
        """The fitted members; trees of weald are made when they are asked for."""
        return self._asked().estimators()

    @property
    def member_weights_(self) -> FloatArray:
        """The steps, by the name all of weald's ensembles have for what members count."""
        check_is_fitted(self)
        return self.steps_

    # --- scikit-learn's conventions ---------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        member = self._get_estimator()
        if hasattr(member, "__sklearn_tags__"):
            of_member = get_tags(member).input_tags
            for name in ("sparse", "allow_nan", "categorical", "string", "positive_only"):
                setattr(tags.input_tags, name, getattr(of_member, name))
        return tags
