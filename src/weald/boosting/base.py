"""What gradient boosting of classes and of numbers shares: the walk of a fit, and its questions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from weald.input.table import Table
from weald.boosting.dart import Dart
from weald.boosting.data import Sample, check_offset, read_rows, read_validation
from weald.boosting.defaults import choose, n_rows_of
from weald.boosting.loop import Course, boost
from weald.boosting.learners import MemberRounds, TreeRounds
from weald.boosting.model import BoostedSum, RoundMembers, SumOfMembers, SumOfTrees, asked
from weald.boosting.objective import Objective
from weald.boosting.params import GradientParams, resolve_gradient, resolve_trees
from weald.boosting.gradients import make_pull
from weald.boosting.sampling import RoundSampler
from weald.boosting.start import is_model, make_start
from weald.boosting.steps import make_step
from weald.boosting.watch import Audience, Judge, check_callbacks, make_scorer
from weald.input.holdout import hold_out
from weald.members.views import refuse_members, tree_template
from weald.members.foreign import check_member
from weald.params.growth import resolve_max_features, resolve_seed
from weald.input.state import check_trees, is_whole, require
from weald.input.targets import TableEstimator, Weights, all_or_nothing, warn_of_shared_bins
from weald.fitting.warm_start import check_same, check_size, shape_of
from weald.losses import Loss
from weald.tree import DecisionTreeRegressor

__all__ = ["GradientEnsemble"]

FloatArray = npt.NDArray[np.float64]


class GradientEnsemble(TableEstimator):
    """Scores that are summed up round by round, each fitted to the gradient of the loss."""

    seed_: int
    loss_: Loss | tuple[Loss, ...]
    train_score_: FloatArray
    validation_score_: FloatArray
    n_estimators_: int
    best_iteration_: int
    learning_rate_: float
    stop_reason_: str
    _objective: Objective
    _model: BoostedSum
    _kind: Literal["classification", "regression"]

    # --- pickling ---------------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "_model" not in vars(self):
            return
        require(isinstance(self._model, BoostedSum), self, "its members")
        require(isinstance(self._objective, Objective), self, "its losses")
        members = self._model.members
        require(self._objective.n_scores == members.n_scores, self, "the number of scores")
        require(is_whole(self.n_estimators_, len(members), len(members)), self, "n_estimators_")
        if isinstance(members, SumOfTrees):
            for forest in members.forests:
                check_trees(self, forest, same_target=False)

    # --- what classes and numbers differ in -----------------------------------------------------

    @abstractmethod
    def _make_objective(self) -> Objective:
        """The losses, for targets that were read."""

    @abstractmethod
    def _weigh(self, target: FloatArray, weights: Weights) -> Weights:
        """Weights of the rows, those of their classes included."""

    @abstractmethod
    def _truth(self, y: FloatArray) -> npt.NDArray[Any]:
        """Targets as users know them."""

    def _nothing_to_learn(self) -> bool:
        """There is a single class."""
        return False

    # --- fit ------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        offset_val: Any = None,
    ) -> Any:
        """Boost, one round after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, booleans, strings or categoricals; missing values are welcome. (An `estimator`
            or an `init` gets the table as it is.)
        y : array-like of shape (n,) or (n, n_outputs)
            Labels of any type, or numbers; several outputs for numbers only.
        sample_weight : array-like of shape (n,), optional
            A row of weight k adds exactly what k copies of it add, where no rows are drawn. A row
            of weight 0 is like its absence.
        offset : array-like of shape (n,) or (n, n_scores), optional
            Added to the score of each row, such as the logarithm of its exposure. Give it to
            ``predict`` as well.
        X_val, y_val, sample_weight_val, offset_val : optional
            Rows to judge by after every round. With `n_iter_no_change` they decide when to stop,
            instead of a `validation_fraction` of the training rows. Where the training rows have
            an `offset`, these need one.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            before = dict(self.__dict__)
            going_on = bool(self.warm_start) and "_model" in before
            self.seed_ = before["seed_"] if going_on else resolve_seed(self.random_state)
            raw = is_model(self.init)
            rows, table = read_rows(self, X, y, sample_weight, offset, raw=raw)
            given = read_validation(self, X_val, y_val, sample_weight_val, offset_val, raw=raw)
            if given is not None and offset is not None and offset_val is None:
                raise ValueError(
                    "offset is given, but no offset_val for the rows of X_val, whose losses would "
                    "be on another scale."
                )
            self._objective, params = self._resolve(rows)
            train, held = self._divide(rows, given, params)
            model = self._going_on(before, params) if going_on else self._begun(train, params)
            self._boost(train, held, table, model, before if going_on else {}, params)
        return self

    def _resolve(self, rows: Sample) -> tuple[Objective, GradientParams]:
        if self.estimator is not None and is_classifier(check_member(self.estimator)):
            raise ValueError(f"estimator={self.estimator!r} is a classifier: give a regressor.")
        objective = self._make_objective()
        d, K = self.n_features_in_, objective.n_scores
        slow = self.estimator is not None or self.dropout != 0
        classes = max(2, K) if objective.joint else 2
        defaults = choose(
            n_rows_of(rows.weights, len(rows)), d, classes, objective.family, slow=slow
        )
        params = resolve_gradient(self, objective, defaults, d)
        objective.check_target(rows.y)
        check_offset(rows.offset, len(rows), K)
        return objective, params

    def _divide(
        self, rows: Sample, given: Sample | None, params: GradientParams
    ) -> tuple[Sample, Sample | None]:
        """Rows to learn from and rows to judge by, if any."""
        if given is not None:
            self._objective.check_target(given.y)
            check_offset(given.offset, len(given), self._objective.n_scores)
            return rows, given
        if params.patience is None or params.fraction is None or self._nothing_to_learn():
            return rows, None
        classes = self._kind == "classification"
        train, held = hold_out(rows, params.fraction, self.seed_, classes=classes)
        assert isinstance(train, Sample)
        assert isinstance(held, Sample)
        return train, held

    def _begun(self, train: Sample, params: GradientParams) -> BoostedSum:
        """A model without rounds."""
        classes = getattr(self, "classes_", None)
        start, self.init_ = make_start(self.init, self._objective, train, classes)
        if self._objective.alpha is not None:
            F = start.scores(train.raw, len(train), train.offset)
            self._objective = self._objective.settled(train.y, F.T, train.weights)
        K = self._objective.n_scores
        if self.estimator is not None:
            return BoostedSum(start, SumOfMembers(K))
        return BoostedSum(start, SumOfTrees(K, params.vector, self._template(params), self.seed_))

    def _going_on(self, before: dict[str, Any], params: GradientParams) -> BoostedSum:
        """The model of the fit before, to be added to (warm start)."""
        old: BoostedSum = before["_model"]
        now = self._objective
        if now.alpha is not None and before["_objective"].alpha is not None:
            self._objective = now = replace(now, losses=before["_objective"].losses)
        check_same(
            {**_scored(before["_objective"], old), **shape_of(before)},
            {
                "loss": [now.name, now.n_scores],
                "estimator (or multi_strategy)": [self.estimator is not None, params.vector],
                **shape_of(self.__dict__),
            },
        )
        check_size(params.n_estimators, len(old.members))
        model = old.copy()
        if isinstance(model.members, SumOfTrees):
            model.members.go_on_with(self._template(params))
        return model

    def _boost(
        self,
        train: Sample,
        held: Sample | None,
        table: Table | None,
        model: BoostedSum,
        before: dict[str, Any],
        params: GradientParams,
    ) -> None:
        """Make the rounds, and keep what comes of them."""
        self.learning_rate_ = params.learning_rate
        callbacks = check_callbacks(self.callbacks)
        if self._nothing_to_learn():
            self._keep(model, Course(reason="one_class"), None, before)
            return
        objective, seed = self._objective, self.seed_
        rounds, monotone, varies = self._rounds(train, table, params)
        model.start.fill(rounds.scores.T, train.raw, train.offset)
        if len(model.members):  # a warm start
            begin = np.ascontiguousarray(rounds.scores.T)
            rounds.scores[:] = model.members.total(
                train.X, begin, 0, len(model.members), model.scales, params.threads
            ).T
        objective.check_own(train.y, rounds.scores, params.uses_hessian, train.numbers)
        dart = Dart(rounds, train, model, params, seed) if params.dropout else None
        judge = None
        if held is not None or params.patience is not None:
            scorer = make_scorer(self, train if held is None else held)
            curve = before.get("_judged", ())
            judge = Judge(objective, held, model, scorer, params, curve)
        audience = Audience(callbacks, self, params, len(model.members)) if callbacks else None
        pull = make_pull(objective, train, rounds, rounds.boosting, params)
        sampler = RoundSampler(params, train.weights, (len(train), self.n_features_in_), seed)
        step = make_step(rounds, pull, params, monotone)
        name = type(self).__name__
        try:
            course = boost(
                *(rounds, pull, step, sampler, model, dart, judge, audience, params, varies, name)
            )
        finally:
            pull.close()
        self._keep(model, course, judge, before)

    def _rounds(
        self, train: Sample, table: Table | None, params: GradientParams
    ) -> tuple[TreeRounds | MemberRounds, list[int], bool]:
        """Members in the making, monotone columns, and whether a round may differ from another."""
        K = self._objective.n_scores
        if table is None:
            return MemberRounds(clone(self.estimator), train, K, params, self.seed_), [], True
        weight = float(len(train)) if train.weights is None else float(train.weights.sum())
        growth = resolve_trees(self, params, len(train), table.is_categorical, weight)
        warn_of_shared_bins(self, table, growth.max_bins)
        self.max_features_ = growth.max_features
        varies = params.draws or growth.rules.max_features > 0 or params.dropout > 0
        rounds = TreeRounds(train, table, growth, K, params, self.seed_)
        return rounds, growth.rules.monotone, varies

    def _template(self, params: GradientParams) -> Any:
        """A tree without nodes that has what all trees have in common."""
        tree = tree_template(DecisionTreeRegressor, self)
        tree.max_leaf_nodes = params.max_leaf_nodes
        for name in ("n_features_in_", "feature_names_in_", "categories_", "_blank_columns"):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree.n_outputs_ = self._objective.n_scores if params.vector else 1
        tree.max_features = params.max_features
        tree.max_features_ = resolve_max_features(params.max_features, self.n_features_in_)
        return tree

    def _keep(
        self, model: BoostedSum, course: Course, judge: Judge | None, before: dict[str, Any]
    ) -> None:
        rounds = len(model.members)
        self.n_estimators_ = rounds
        self.stop_reason_ = course.reason
        self.train_score_ = np.concatenate([before.get("train_score_", ()), course.losses])
        for name in ("validation_score_", "_judged"):
            self.__dict__.pop(name, None)
        self.best_iteration_ = model.used = rounds
        if judge is not None and judge.curve:
            self._judged = tuple(judge.curve)
            if judge.held_out:
                self.validation_score_ = np.array(judge.curve)
            self.best_iteration_ = judge.best
            if judge.patience is not None:
                model.used = judge.best
        if course.kept is not None:
            self.best_iteration_ = model.used = course.kept
        model.used_scales = model.scales
        if model.scales is not None and course.best_scales is not None:
            best = course.best_scales
            if len(best) == model.used:
                model.used_scales = np.append(best, np.zeros(rounds - len(best)))
        losses = self._objective.losses
        self.loss_ = losses[0] if all(loss == losses[0] for loss in losses) else losses
        self._model = model

    # --- questions ------------------------------------------------------------------------------

    def _scores(self, X: Any, offset: Any) -> FloatArray:
        """F of the rows, shape (n, n_scores)."""
        return asked(self).scores(self, X, offset, self._threads())

    def _staged_scores(self, X: Any, offset: Any) -> Iterator[FloatArray]:
        """F after 1, 2, ... rounds."""
        return asked(self).staged(self, X, offset, self._threads())

    def _leaves(self, X: Any) -> npt.NDArray[np.int64]:
        members = asked(self).members
        if isinstance(members, SumOfMembers):
            raise AttributeError("apply is for weald's own trees, not for members of other kinds.")
        return members.apply(members.read(self, X), self._threads())

    @property
    def estimators_(self) -> RoundMembers:
        """The members of each round, shape (n_estimators_, n_trees_per_iteration_).

        Trees are made when they are asked for. What they say is added to the score as it is: the
        learning rate is in their leaves.
        """
        return asked(self).members.estimators()

    @estimators_.setter
    def estimators_(self, members: Any) -> None:
        refuse_members(self, members)

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees that a round adds: one for each score, or one for all."""
        members = asked(self).members
        return 1 if members.vector else members.n_scores

    @property
    def member_weights_(self) -> FloatArray:
        """What each round counts: 1, unless `dropout` scaled it."""
        scales = asked(self).scales
        return np.ones(self.n_estimators_) if scales is None else scales.copy()

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the gain due to each column, over the trees that predictions use."""
        model = asked(self)
        if model.used == 0:
            return np.zeros(self.n_features_in_)
        gains = model.members.importances(model.used)
        total = float(gains.sum())
        return gains / total if total > 0 else gains

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, t: Any) -> Any:
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    # --- scikit-learn's conventions -------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for other in (self.estimator, self.init):
            if hasattr(other, "__sklearn_tags__") and not isinstance(other, type):
                # It gets the table as it is.
                of_other = get_tags(other).input_tags
                for name in ("sparse", "allow_nan", "categorical", "string"):
                    both = getattr(tags.input_tags, name) and getattr(of_other, name)
                    setattr(tags.input_tags, name, both)
        return tags


def _scored(objective: Objective, model: BoostedSum) -> dict[str, Any]:
    """What a model is a sum of, by the names users have for it."""
    return {
        "loss": [objective.name, objective.n_scores],
        "estimator (or multi_strategy)": [
            isinstance(model.members, SumOfMembers),
            model.members.vector,
        ],
    }
