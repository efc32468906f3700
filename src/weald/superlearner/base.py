"""What the two super learners share: the course of a fit, and the questions to the mixture."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metaestimators import _BaseComposition

from weald import _engine as engine
from weald.crossfit.fits import Candidate, CandidateFits, Job
from weald.crossfit.folds import Fold, make_folds
from weald.crossfit.level_one import LevelOne, fold_jobs, level_one
from weald.crossfit.out_of_bag import with_out_of_bag
from weald.crossfit.risks import Risk, make_risk
from weald.crossfit.screening import Screened
from weald.crossfit.weights import METHODS
from weald.fitting.driver import Outcome, Plan, drive
from weald.input.fit_data import FitData, read_fit
from weald.input.labels import check_groups
from weald.input.state import (
    CheckedState,
    check_classes,
    check_columns,
    check_seed,
    numbers,
    require,
)
from weald.input.targets import all_or_nothing
from weald.members.ensemble import Ensemble
from weald.members.foreign import check_member, make_member
from weald.members.others import Others
from weald.params.ensembles import check_verbosity
from weald.params.growth import check_choice, check_flag, is_real, refuse, resolve_seed
from weald.params.warnings import warn_user
from weald.superlearner.fold_mean import FoldMean
from weald.superlearner.library import default_library
from weald.superlearner.risk_table import RiskTable, risk_table

__all__ = ["SuperLearnerBase"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

_HOPELESS = 0.1  # of what the best candidate gains over a constant: less is not worth more folds


@dataclass(frozen=True)
class _Params:
    """What the parameters mean."""

    method: str
    refit: bool
    time_limit: float | None
    verbose: int
    keep_partial: bool
    reuse_out_of_bag: bool
    threads: int


class SuperLearnerBase(Ensemble, CheckedState, MetaEstimatorMixin, _BaseComposition):
    """Weights of candidates that minimise their cross-validated risk."""

    weights_: FloatArray
    cv_risks_: RiskTable
    seed_: int

    # --- what labels and numbers differ in --------------------------------------------------------

    @abstractmethod
    def _read_target(self, y: Any, n: int, again: bool = False) -> npt.NDArray[Any]:
        """Check the targets and note their classes on self; numbers, or codes."""

    @abstractmethod
    def _said(self, model: Any, X: Any) -> FloatArray:
        """What a fitted candidate says, shape (n, K)."""

    _classifier: bool

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

    def _resolve(self) -> _Params:
        limit = self.time_limit
        if limit is not None and not (is_real(limit) and limit > 0):
            raise refuse("time_limit", "None or a number of seconds > 0", limit)
        return _Params(
            method=check_choice("method", self.method, tuple(METHODS)),
            refit=check_flag("refit", self.refit),
            time_limit=None if limit is None else float(limit),
            verbose=check_verbosity(self.verbose),
            keep_partial=check_flag("keep_partial", self.keep_partial),
            reuse_out_of_bag=check_flag("reuse_out_of_bag", self.reuse_out_of_bag),
            threads=engine.resolve_threads(self.n_jobs),
        )

    # --- fit --------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        """Fit every candidate on folds, find the weights, and keep the members that have some.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, strings, categoricals and missing values for the default candidates. Others get
            the table as it is.
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
            params = self._resolve()
            self.seed_ = resolve_seed(self.random_state)
            data = read_fit(self, X, y, sample_weight, tree=None)
            rows = np.arange(len(data)) if data.weights is None else np.flatnonzero(data.weights)
            cluster = None if groups is None else check_groups(groups, len(data))[rows]
            data = data.present()
            risk = make_risk(
                self.risk, data.y, data.filled_weights, getattr(self, "classes_", None)
            )
            folds = self._folds(data, cluster, rows)
            candidates = self._candidates(data, cluster, params)
            work, outcome = self._cross(candidates, folds, data, risk, params, began)
            chosen = self._chosen(work)
            level = level_one(work, chosen, folds)
            self._weigh(work, chosen, level, data, cluster, risk, params)
            self._keep(work, chosen, data, outcome, params)
        return self

    def _folds(self, data: FitData, cluster: IntArray | None, rows: IntArray) -> list[Fold]:
        if len(data) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 rows, to learn from some and predict "
                f"others, got n_samples={len(data)}."
            )
        cv = self.cv
        if cv is None:
            cv = _default_folds(data, cluster, self._classifier, self.seed_)
        return make_folds(cv, data.X, data.y, cluster, classes=self._classifier, present=rows)

    def _candidates(
        self, data: FitData, cluster: IntArray | None, params: _Params
    ) -> list[Candidate]:
        """The candidates, each with its seed."""
        if self.estimators is None:
            given = default_library(data, classes=self._classifier, time_limit=params.time_limit)
        else:
            given = [(name, one, None) for name, one in _checked(self.estimators)]
        seeds = np.random.RandomState(self.seed_).randint(np.iinfo(np.int32).max, size=len(given))
        candidates = []
        for (name, estimator, most_rows), seed in zip(given, seeds.tolist(), strict=True):
            member = estimator if self.screen is None else Screened(estimator, self.screen)
            classes = getattr(self, "classes_", None)
            make = partial(make_member, member, seed, classes=classes)
            candidate = Candidate(name, make, self._said, most_rows=most_rows)
            if params.reuse_out_of_bag and cluster is None:
                candidate = with_out_of_bag(candidate, self.cv, data.y, self._n_classes())
            candidates.append(candidate)
        return candidates

    def _cross(
        self,
        candidates: list[Candidate],
        folds: list[Fold],
        data: FitData,
        risk: Risk,
        params: _Params,
        began: float,
    ) -> tuple[CandidateFits, Outcome]:
        """Fit the candidates on the folds."""
        jobs: list[Job] = []
        for m, candidate in enumerate(candidates):
            jobs += [Job(m)] if candidate.out_of_bag else fold_jobs(m, folds)
        work = CandidateFits(
            candidates,
            jobs,
            data,
            n_jobs=params.threads,
            strict=False,
            goes_on=partial(self._goes_on, risk=risk, data=data),
            deadline=None if params.time_limit is None else began + params.time_limit,
            seed=self.seed_,
        )
        plan = Plan(
            name=type(self).__name__,
            estimator=self,
            total=len(jobs),
            verbose=params.verbose,
            keep_partial=params.keep_partial,
            cuts=tuple(work.cuts()),
        )
        return work, drive(work, plan)

    def _goes_on(self, work: CandidateFits, m: int, *, risk: Risk, data: FitData) -> str | None:
        """Look at what a candidate says; a reason to give it up, if there is one."""
        return None

    def _chosen(self, work: CandidateFits) -> list[int]:
        """The candidates that are complete; those that failed are reported."""
        chosen = [m for m in range(len(work.candidates)) if work.complete(m)]
        for m, error in work.failed.items() if chosen else ():
            warn_user(
                f"The candidate {work.candidates[m].name!r} failed and is left out: "
                f"{type(error).__name__}: {error}"
            )
        if not chosen:
            if work.failed:
                raise next(iter(work.failed.values()))
            raise ValueError("No candidate was fitted on all folds: give a longer time_limit.")
        return chosen

    def _weigh(
        self,
        work: CandidateFits,
        chosen: list[int],
        level: LevelOne,
        data: FitData,
        cluster: IntArray | None,
        risk: Risk,
        params: _Params,
    ) -> None:
        """Weights of the complete candidates, and the table of risks."""
        y = data.y[level.rows]
        given = level.weights(data.weights, len(data))
        w = np.ones(len(y)) if given is None else given
        said = [one.reshape(len(y), -1) for one in level.said]
        same = level.rows if cluster is None else cluster[level.rows]
        means, errors, by_fold = risk_table(risk, said, y, w, level.fold, same)
        found = METHODS[params.method](risk, np.stack(said, axis=1), y, w)
        M = len(work.candidates)
        table = [np.full(M, np.nan), np.full(M, np.nan), np.full((M, by_fold.shape[1]), np.nan)]
        for column, values in zip(table, (means, errors, by_fold), strict=True):
            column[chosen] = values
        weights = np.zeros(M)
        weights[chosen] = found
        self.cv_risks_ = RiskTable(
            name=risk.name,
            candidates=[one.name for one in work.candidates],
            risk=table[0],
            standard_error=table[1],
            fold_risks=table[2],
            weights=weights,
            seconds=np.array([sum(one.seconds for _, one in work.of(m)) for m in range(M)]),
            notes=[self._note(work, m) for m in range(M)],
        )
        mixed = np.einsum("m,nmk->nk", found, np.stack(said, axis=1))
        self.risk_ = risk.mean(mixed, y, w)

    @staticmethod
    def _note(work: CandidateFits, m: int) -> str:
        if m in work.failed:
            return f"failed: {type(work.failed[m]).__name__}"
        if m in work.given_up:
            return work.given_up[m]
        return "" if work.complete(m) else "not done in time"

    def _keep(
        self,
        work: CandidateFits,
        chosen: list[int],
        data: FitData,
        outcome: Outcome,
        params: _Params,
    ) -> None:
        """The members: candidates with weight, fitted to all rows or the mean of those on folds."""
        table = self.cv_risks_
        used = [m for m in chosen if table.weights[m] > 0]
        models = {}
        for m in used:
            whole = [one.model for job, one in work.of(m) if job.fold is None]
            models[m] = (
                whole[0]
                if whole
                else FoldMean([one.model for _, one in work.of(m)], self._n_classes())
            )
        missing = [m for m in used if isinstance(models[m], FoldMean)]
        if params.refit and missing:
            again = CandidateFits(
                work.candidates,
                [Job(m) for m in missing],
                data,
                n_jobs=params.threads,
                strict=True,
                seed=self.seed_,
            )
            drive(
                again,
                Plan(
                    name=f"{type(self).__name__}, members on all rows",
                    estimator=self,
                    total=len(missing),
                    verbose=params.verbose,
                    cuts=tuple(again.cuts()),
                ),
            )
            models.update({m: again.of(m)[0][1].model for m in missing})
        self._members = Others([models[m] for m in used], self._n_classes(), self.seed_)
        self.n_estimators_ = len(used)
        self.weights_ = table.weights[used]
        names = [work.candidates[m].name for m in used]
        self.named_estimators_ = Bunch(**dict(zip(names, (models[m] for m in used), strict=True)))
        self.stop_reason_ = outcome.reason

    # --- questions --------------------------------------------------------------------------------

    @property
    def member_weights_(self) -> FloatArray:
        """How much each member counts."""
        self._asked()
        return self.weights_

    def _mixed(self, X: Any) -> FloatArray:
        """What the mixture says, shape (n, 1, K)."""
        members = self._asked()
        rows = members.read(self, X)
        return members.mean(rows, self.weights_, False, 1)

    def member_predictions(self, X: Any) -> FloatArray:
        """What each member says.

        Returns
        -------
        array of shape (n_estimators_, n, n_classes) for classifiers, else (n_estimators_, n)
        """
        members = self._asked()
        each = members.each(members.read(self, X), 1)
        return each[:, :, 0] if self._classifier else each[:, :, 0, 0]

    # --- conventions ------------------------------------------------------------------------------

    def _check_state(self) -> None:
        check_columns(self)
        check_classes(self)
        check_seed(self)
        if not self.__sklearn_is_fitted__():
            return
        self._check_members()
        require(numbers(self.weights_, len(self._members), 0.0), self, "weights_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = tags.input_tags
        if self.estimators is None:
            inputs.allow_nan = inputs.categorical = inputs.string = inputs.sparse = True
            return tags
        # Candidates that fail are left out, so one that takes the table is enough.
        known = [one for _, one in _pairs(self.estimators) if hasattr(one, "__sklearn_tags__")]
        for name in ("allow_nan", "categorical", "string", "sparse"):
            setattr(inputs, name, any(getattr(get_tags(one).input_tags, name) for one in known))
        return tags


def _pairs(estimators: Any) -> list[Any]:
    """The named candidates, as far as they are what they should be."""
    given = estimators if isinstance(estimators, list | tuple) else []
    return [item for item in given if isinstance(item, list | tuple) and len(item) == 2]


def _checked(estimators: Any) -> list[tuple[str, Any]]:
    """Named candidates; the names differ."""
    wanted = "estimators must be None (the default library) or a list of (name, estimator)"
    if not isinstance(estimators, list | tuple) or not estimators:
        raise ValueError(f"{wanted}, got {estimators!r}.")
    kept = []
    for item in estimators:
        if not (isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str)):
            raise ValueError(f"{wanted}, but it holds {item!r}.")
        if isinstance(item[1], str) and item[1] == "drop":
            continue
        kept.append((item[0], check_member(item[1])))
    names = [name for name, _ in estimators]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two candidates are named {name!r}: names must differ.")
        if "__" in name:
            raise ValueError(f"The name {name!r} of a candidate must not contain '__'.")
    if not kept:
        raise ValueError("All candidates are dropped: at least one is needed.")
    return kept


def _default_folds(data: FitData, cluster: Any, classes: bool, seed: int) -> Any:
    """More folds of few rows; shuffled, unless there are groups."""
    from sklearn.model_selection import KFold, StratifiedKFold

    n = len(data)
    count = 10 if n < 1000 else 5
    if cluster is not None:
        return min(count, len(np.unique(cluster)))
    if not classes:
        return KFold(max(2, min(count, n)), shuffle=True, random_state=seed % 2**32)
    rarest = int(np.bincount(data.y.astype(np.intp)).min())
    count = max(2, min(count, max(rarest, 2)))
    return StratifiedKFold(count, shuffle=True, random_state=seed % 2**32)
