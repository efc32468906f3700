"""Mixtures of candidates: fitted on folds, weighted by what they say of rows they have not seen.

The course of a fit of the super learner, of blending and of conditional mixtures. What they differ
in are the folds, and what becomes of the weights.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _BaseComposition

from weald import _engine as engine
from weald._engine import FloatArray
from weald.crossfit.budget import Budget
from weald.crossfit.fits import Candidate, CandidateFits, Job, drive_fits
from weald.crossfit.fold_mean import FoldMean
from weald.crossfit.folds import Fold, lacking_classes, make_folds
from weald.crossfit.level_one import fold_jobs, level_one
from weald.crossfit.named import check_named, takes_what_one_takes
from weald.crossfit.out_of_bag import with_out_of_bag
from weald.crossfit.pools import LOG_POOL, Pool, make_pool
from weald.crossfit.risk_table import RiskTable, risk_table
from weald.crossfit.risks import Risk, make_risk
from weald.crossfit.screening import Screened
from weald.crossfit.weights import METHODS
from weald.fitting.driver import Outcome
from weald.input.fit_data import FitData, read_fit
from weald.input.labels import check_groups
from weald.input.state import CheckedState, check_attributes, numbers, require
from weald.input.targets import all_or_nothing
from weald.members.ensemble import Ensemble
from weald.members.foreign import make_member
from weald.members.foreign_members import ForeignMembers
from weald.params.ensembles import check_verbosity
from weald.params.growth import check_choice, check_flag, is_real, refuse, resolve_seed
from weald.params.warnings import warn_user

__all__ = ["LevelOneRows", "Mixture", "Problem"]

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be learned, and how it is judged.

    Attributes
    ----------
    data : FitData
        Rows of positive weight.
    rows : array of shape (n,)
        Their numbers in the user's table.
    groups : array of shape (n,), optional
    folds : list of Fold
    risk : Risk
    budget : Budget
    method : str
        How weights are found.
    refit, keep_partial : bool
    verbose, threads : int
    """

    data: FitData
    rows: Rows
    groups: Rows | None
    folds: list[Fold]
    risk: Risk
    budget: Budget
    method: str
    refit: bool
    keep_partial: bool
    verbose: int
    threads: int


@dataclass(frozen=True, eq=False)
class LevelOneRows:
    """What the complete candidates say of rows they have not seen, with targets and weights.

    Attributes
    ----------
    rows : array of shape (n,)
    Z : array of shape (n, M, K)
    y, w : arrays of shape (n,)
    cluster : array of shape (n,)
        Rows that may be alike: the same row in several folds, or a group.
    chosen : list of int
        Numbers of the candidates.
    """

    rows: Rows
    Z: FloatArray
    y: npt.NDArray[Any]
    w: FloatArray
    cluster: Rows
    chosen: list[int]


class Mixture(Ensemble, CheckedState, MetaEstimatorMixin, _BaseComposition):
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
            problem = self._read(X, y, sample_weight, groups, began)
            work, outcome = self._cross(self._candidates(problem), problem)
            level = self._level_one(work, problem)
            self._keep_rule(problem, level)
            self._keep(work, level.chosen, problem, outcome)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any, groups: Any, began: float) -> Problem:
        limit = getattr(self, "time_limit", None)
        if limit is not None and not (is_real(limit) and limit > 0):
            raise refuse("time_limit", "None or a number of seconds > 0", limit)
        method = check_choice("method", self.method, ("auto", *METHODS, LOG_POOL))
        threads = engine.resolve_threads(self.n_jobs)
        self.seed_ = resolve_seed(self.random_state)
        data = read_fit(self, X, y, sample_weight, tree=None)
        rows = np.arange(len(data)) if data.weights is None else np.flatnonzero(data.weights)
        groups = None if groups is None else check_groups(groups, len(data))[rows]
        data = data.present()
        if len(data) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 rows, to learn from some and predict "
                f"others, got n_samples={len(data)}."
            )
        classes = getattr(self, "classes_", None)
        risk = make_risk(self.risk, data.y, data.filled_weights, classes)
        folds, refit = self._folds(data, groups, rows), check_flag("refit", self.refit)
        if classes is not None:
            _warn_of_lacking(folds, data.y, classes)
        budget = Budget(
            risk,
            data,
            seconds=limit,
            began=began,
            refit_after=len(folds) if refit else None,
            hope=self._hope,
        )
        return Problem(
            data=data,
            rows=rows,
            groups=groups,
            folds=folds,
            risk=risk,
            budget=budget,
            method=method,
            refit=refit,
            keep_partial=check_flag("keep_partial", self.keep_partial),
            verbose=check_verbosity(self.verbose),
            threads=threads,
        )

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
        chosen, risk = _complete(work), problem.risk
        level, parts = _judged(work, chosen, problem.folds, problem)
        self._pool = make_pool(problem.method, risk, level.Z, level.y, level.w)
        self.risk_ = risk.mean(self._pool.mix(level.Z.transpose(1, 0, 2)), level.y, level.w)
        M = len(work.candidates)
        risks, errors, by_fold = (_in_all(part, chosen, M) for part in parts)
        self.cv_risks_ = RiskTable(
            name=risk.name,
            candidates=[one.name for one in work.candidates],
            risk=risks,
            standard_error=errors,
            fold_risks=by_fold,
            weights=np.nan_to_num(_in_all(self._pool.weights, chosen, M)),
            seconds=np.array([sum(one.seconds for _, one in work.of(m)) for m in range(M)]),
            notes=[work.note(m) for m in range(M)],
        )
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
        _report(again, "failed on all rows and remains the mean of its copies on the folds")
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
        inner = getattr(self, "cv", None)
        if inner is not None and not isinstance(inner, Integral) and not hasattr(inner, "split"):
            raise ValueError(
                "cv_risk fits the model to parts of the table, so cv cannot be a list of row "
                "numbers: make it a number of folds or a splitter."
            )
        outer = clone(self)
        problem = outer._read(X, y, sample_weight, groups, monotonic())
        data, folds, classes = problem.data, problem.folds, self._classifier
        if cv is not None:
            folds = make_folds(
                cv, data.X, data.y, problem.groups, classes=classes, present=problem.rows
            )
        given = {} if problem.groups is None else {"groups": problem.groups}
        candidate = Candidate(type(self).__name__, partial(clone, self), outer._said_of_all, given)
        if classes:  # the labels themselves, which a metric may name
            data = replace(data, y=outer.classes_[data.y])
        work = CandidateFits([candidate], fold_jobs(0, folds), data, n_jobs=1, strict=True)
        drive_fits(work, outer, verbose=problem.verbose, about=", outer folds")
        parts = _judged(work, [0], folds, problem)[1]
        seconds = np.array([sum(one.seconds for _, one in work.of(0))])
        return RiskTable(problem.risk.name, [candidate.name], *parts, np.ones(1), seconds, [""])

    def _said_of_all(self, model: Any, X: Any) -> FloatArray:
        """What a fitted copy says, whose rows may have lacked some classes."""
        if not self._classifier:
            return self._said(model, X)
        said = np.zeros((X.shape[0], self._n_classes()))
        said[:, np.searchsorted(self.classes_, model.classes_)] = model.predict_proba(X)
        return said

    # --- conventions ------------------------------------------------------------------------------

    def _check_state(self) -> None:
        check_attributes(self)
        if not self.__sklearn_is_fitted__():
            return
        self._check_members()
        require(numbers(self.weights_, len(self._members), 0.0), self, "weights_")
        pool, M = self._pool, len(self._members)
        require(isinstance(pool, Pool), self, "how its members are mixed")
        require(numbers(pool.weights, M, 0.0), self, "the weights of its members")
        sharp = pool.sharpness
        require(sharp is None or (is_real(sharp) and 0 < sharp < np.inf), self, "its sharpness")

    def __sklearn_tags__(self) -> Any:
        return takes_what_one_takes(super().__sklearn_tags__(), self.estimators)


def _warn_of_lacking(folds: list[Fold], y: Rows, classes: npt.NDArray[Any]) -> None:
    for v, code in lacking_classes(folds, y)[:1]:
        label = classes.tolist()[code]
        warn_user(
            f"Fold {v} of cv is to predict the class {label!r}, of which it has no rows to learn "
            "from: shuffle the rows, or use stratified folds."
        )


def _complete(work: CandidateFits) -> list[int]:
    """The candidates that are complete; those that failed are reported."""
    chosen = [m for m in range(len(work.candidates)) if work.complete(m)]
    if not chosen:
        if work.failed:
            raise next(iter(work.failed.values()))
        raise ValueError("No candidate was fitted on all folds: give a longer time_limit.")
    _report(work, "failed and is left out")
    return chosen


def _report(work: CandidateFits, what: str) -> None:
    for m, error in work.failed.items():
        warn_user(
            f"The candidate {work.candidates[m].name!r} {what}: {type(error).__name__}: {error}"
        )


def _judged(
    work: CandidateFits, chosen: list[int], folds: list[Fold], problem: Problem
) -> tuple[LevelOneRows, tuple[FloatArray, FloatArray, FloatArray]]:
    """What complete candidates say of rows they have not seen, and how good that is."""
    data, level = problem.data, level_one(work, chosen, folds)
    if not len(level.rows):
        raise ValueError("No row is predicted by a model that has not seen it.")
    y = data.y[level.rows]
    given = level.weights(data.weights, len(data))
    w = np.ones(len(y)) if given is None else given
    said = [one.reshape(len(y), -1) for one in level.said]
    same = level.rows if problem.groups is None else problem.groups[level.rows]
    parts = risk_table(problem.risk, said, y, w, level.fold, same)
    return LevelOneRows(level.rows, np.stack(said, axis=1), y, w, same, chosen), parts


def _in_all(values: FloatArray, chosen: list[int], M: int) -> FloatArray:
    """Values of the chosen candidates, NaN for the others."""
    every = np.full((M, *values.shape[1:]), np.nan)
    every[chosen] = values
    return every
