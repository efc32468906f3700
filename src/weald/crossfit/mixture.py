"""Mixtures of candidates: fitted on folds, weighted by what they say of rows they have not seen.

The course of a fit of the super learner, of blending and of conditional mixtures. What they differ
in are the folds, and what becomes of the weights.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _BaseComposition

from weald._engine import FloatArray
from weald.crossfit.candidate_risks import (
    LevelOneRows,
    candidate_risks,
    complete_candidates,
    report_failures,
)
from weald.crossfit.fits import Candidate, CandidateFits, Job, drive_fits
from weald.crossfit.fold_mean import FoldMean
from weald.crossfit.folds import Fold
from weald.crossfit.level_one import fold_jobs
from weald.crossfit.named import check_named, takes_what_one_takes
from weald.crossfit.nested import nested_risk
from weald.crossfit.out_of_bag import with_out_of_bag
from weald.crossfit.pools import Pool, make_pool
from weald.crossfit.problem import Problem, Rows, read_problem
from weald.crossfit.risk_table import RiskTable
from weald.crossfit.screening import Screened
from weald.fitting.driver import Outcome
from weald.input.fit_data import FitData
from weald.input.state import SavedEstimator, check_attributes, numbers, require
from weald.input.targets import all_or_nothing
from weald.members.ensemble import Ensemble
from weald.members.foreign import make_member
from weald.members.foreign_members import ForeignMembers
from weald.params.growth import check_flag, is_real
from weald.params.warnings import warn_user

__all__ = ["Mixture"]


class Mixture(Ensemble, SavedEstimator, MetaEstimatorMixin, _BaseComposition):
    """Members with weights that come from rows they have not seen."""

    weights_: FloatArray
    sharpness_: float | None
    _pool: Pool
    cv_risks_: RiskTable
    seed_: int
    _classifier: bool
    _hope = False  # for candidates that are far behind on the first fold

    # --- what kinds of mixtures differ in ---------------------------------------------------------

    @abstractmethod
    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        """Check the targets and note their classes on self; numbers, or codes."""

    @abstractmethod
    def _said(self, model: Any, X: Any) -> FloatArray:
        """What a fitted candidate says, shape (n, K)."""

    @abstractmethod
    def _folds(self, data: FitData, groups: Rows | None, rows: Rows) -> list[Fold]:
        """The folds; `rows` are the numbers of the rows in the user's table."""

    def _named(self) -> list[tuple[str, Any, int | None]]:
        """The candidates: name, estimator, most rows to learn from."""
        given = check_named(self.estimators, classifiers=self._classifier)
        return [(name, one, None) for name, one in given]

    def _keep_rule(self, problem: Problem, level: LevelOneRows) -> None:
        """Learn what else is to be learned from the level-1 rows."""
        self._see_mixed(level, self._pool.mix(level.Z.transpose(1, 0, 2)))

    def _see_mixed(self, level: LevelOneRows, mixed: FloatArray) -> None:
        """Look at what the mixture says of the level-1 rows, which its members have not seen."""

    def _row_weights(self, y: Any, weights: FloatArray | None) -> FloatArray | None:
        return weights

    def _n_classes(self) -> int:
        return len(self.classes_) if self._classifier else 0

    # --- parameters -------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of named candidates included."""
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters, those of candidates by ``name__parameter``, or a whole candidate."""
        self._set_params("estimators", **params)
        return self

    # --- fit --------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        """Fit the candidates on folds, find their weights, and keep the members that have some.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Goes to the candidates as it is.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Goes to the candidates, and weighs the risks.
        groups : array-like of shape (n,), optional
            Rows of a group stay together in the folds.

        Returns
        -------
        self
        """
        began = monotonic()
        with all_or_nothing(self):
            problem = read_problem(self, X, y, sample_weight, groups, began)
            work, outcome = self._cross(self._candidates(problem), problem)
            level = self._level_one(work, problem)
            self._keep_rule(problem, level)
            self._keep(work, level.chosen, problem, outcome)
        return self

    def _candidates(self, problem: Problem) -> list[Candidate]:
        """The candidates, each with its seed."""
        given = self._named()
        seeds = np.random.RandomState(self.seed_ % 2**32).randint(2**31 - 1, size=len(given))
        reuse = check_flag("reuse_out_of_bag", getattr(self, "reuse_out_of_bag", False))
        screen = getattr(self, "screen", None)
        candidates = []
        for (name, estimator, most_rows), seed in zip(given, seeds.tolist(), strict=True):
            member = estimator if screen is None else Screened(estimator, screen)
            make = partial(make_member, member, seed, classes=getattr(self, "classes_", None))
            candidate = Candidate(name, make, self._said, most_rows=most_rows)
            if reuse and problem.groups is None:
                candidate = with_out_of_bag(candidate, self.cv, problem.data, self._n_classes())
            candidates.append(candidate)
        return candidates

    def _cross(
        self, candidates: list[Candidate], problem: Problem
    ) -> tuple[CandidateFits, Outcome]:
        """Fit the candidates on the folds."""
        jobs: list[Job] = []
        for m, candidate in enumerate(candidates):
            jobs += [Job(m)] if candidate.out_of_bag else fold_jobs(m, problem.folds)
        work = CandidateFits(
            candidates,
            jobs,
            problem.data,
            n_jobs=problem.threads,
            strict=False,
            budget=problem.budget,
            seed=self.seed_,
        )
        return work, drive_fits(
            work, self, verbose=problem.verbose, keep_partial=problem.keep_partial
        )

    def _level_one(self, work: CandidateFits, problem: Problem) -> LevelOneRows:
        """What the complete candidates say, their weights, and the table of risks."""
        chosen = complete_candidates(work)
        level, table = candidate_risks(work, chosen, problem.folds, problem)
        pool = make_pool(problem.method, problem.risk, level.Z, level.y, level.w)
        self._pool = pool
        self.risk_ = problem.risk.mean(pool.mix(level.Z.transpose(1, 0, 2)), level.y, level.w)
        table.weights[chosen] = pool.weights
        self.cv_risks_ = table
        return level

    def _keep(
        self, work: CandidateFits, chosen: list[int], problem: Problem, outcome: Outcome
    ) -> None:
        """The members: candidates with weight, fitted to all rows or the mean of those on folds."""
        used = [m for m in chosen if self._has_say(m)]
        models = {m: self._on_folds(work, m) for m in used}
        if problem.refit:
            models |= self._on_all_rows(work, used, problem, outcome)
        self._members = ForeignMembers([models[m] for m in used], self._n_classes(), self.seed_)
        self.n_estimators_ = len(used)
        self.weights_ = self.cv_risks_.weights[used]
        self._pool = Pool(self.weights_, self._pool.sharpness)
        self.sharpness_ = self._pool.sharpness
        names = [work.candidates[m].name for m in used]
        self.named_estimators_ = Bunch(**dict(zip(names, (models[m] for m in used), strict=True)))
        self.stop_reason_ = "complete" if outcome.reason == "n_estimators" else outcome.reason
        if self.stop_reason_ == "complete" and problem.budget.cut_short(work):
            self.stop_reason_ = "time_limit"

    def _on_all_rows(
        self, work: CandidateFits, used: list[int], problem: Problem, outcome: Outcome
    ) -> dict[int, Any]:
        """Members fitted again, to all rows; those that fail, or have no time, stay as they are."""
        missing = [m for m in used if work.candidates[m].out_of_bag is None]
        best_first = sorted(missing, key=lambda m: -self.cv_risks_.weights[m])
        jobs = [Job(m) for m in problem.budget.may_refit(work, best_first)]
        if not jobs:
            return {}
        again = CandidateFits(
            work.candidates,
            jobs,
            problem.data,
            n_jobs=problem.threads,
            strict=False,
            seed=self.seed_,
        )
        try:
            drive_fits(again, self, verbose=problem.verbose, about=", members on all rows")
        except KeyboardInterrupt:
            if not problem.keep_partial:
                raise
            outcome.reason = "interrupted"
            warn_user("The last fits were stopped: some members are means over the folds.")
        report_failures(again, "failed on all rows and remains the mean of its copies on the folds")
        return {again.jobs[t].candidate: one.model for t, one in again.done.items()}

    def _has_say(self, m: int) -> bool:
        return bool(self.cv_risks_.weights[m] > 0)

    def _on_folds(self, work: CandidateFits, m: int) -> Any:
        models = [one.model for _, one in work.of(m)]
        return models[0] if len(models) == 1 else FoldMean(models, self._n_classes())

    # --- questions --------------------------------------------------------------------------------

    @property
    def member_weights_(self) -> FloatArray:
        """How much each member counts."""
        self._fitted_members()
        return self.weights_

    @property
    def _combination(self) -> str:
        return "mean" if self._pool.sharpness is None else "other"

    def _mixed(self, X: Any) -> FloatArray:
        """What the mixture says, shape (n, K)."""
        members = self._fitted_members()
        rows = members.read(self, X)
        return self._pool.mix(members.one(t, rows)[:, 0] for t in range(len(members)))

    def member_predictions(self, X: Any) -> FloatArray:
        """What each member says.

        Returns
        -------
        array of shape (n_estimators_, n, n_classes) for classifiers, else (n_estimators_, n)
        """
        members = self._fitted_members()
        each = members.each(members.read(self, X), 1)
        return each[:, :, 0] if self._classifier else each[:, :, 0, 0]

    def cv_risk(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, cv: Any = None
    ) -> RiskTable:
        """The risk of the whole procedure, weights and all, on rows that none of it has seen.

        Parameters
        ----------
        X, y, sample_weight, groups : as for ``fit``
        cv : int, splitter or iterable, optional
            Outer folds; default: as those inside.

        Returns
        -------
        RiskTable
            With one row, this model.
        """
        return nested_risk(self, X, y, sample_weight, groups, cv)

    # --- conventions ------------------------------------------------------------------------------

    def _check_state(self) -> None:
        check_attributes(self)
        if not self.__sklearn_is_fitted__():
            return
        self._check_members()
        require(numbers(self.weights_, len(self._members), 0.0), self, "weights_")
        members: Any = self._members
        for one in members.members:
            same = not isinstance(one, FoldMean) or one.n_classes == members.n_classes
            require(same, self, "the number of classes of a member")
        pool, M = self._pool, len(self._members)
        require(isinstance(pool, Pool), self, "how its members are mixed")
        require(numbers(pool.weights, M, 0.0), self, "the weights of its members")
        sharp = pool.sharpness
        require(sharp is None or (is_real(sharp) and 0 < sharp < np.inf), self, "its sharpness")

    def __sklearn_tags__(self) -> Any:
        return takes_what_one_takes(super().__sklearn_tags__(), self.estimators)
