"""What a mixture is to learn: rows, folds, risk and budget, read and checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald.crossfit.budget import Budget
from weald.crossfit.folds import Fold, lacking_classes
from weald.crossfit.pools import LOG_POOL
from weald.crossfit.risks import Risk, make_risk
from weald.crossfit.weights import METHODS
from weald.input.fit_data import FitData, read_fit
from weald.input.labels import check_groups
from weald.params.ensembles import check_verbosity
from weald.params.growth import check_choice, check_flag, is_real, refuse, resolve_seed
from weald.params.warnings import warn_user

__all__ = ["Problem", "Rows", "read_problem"]

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


def read_problem(
    model: Any, X: Any, y: Any, sample_weight: Any, groups: Any, began: float
) -> Problem:
    """Check what a mixture was given, its parameters too, and make the folds.

    Parameters
    ----------
    model : Mixture
        Notes its seed and, of a classifier, the classes.
    X, y, sample_weight, groups : as for ``fit``
    began : float
        When the time of `time_limit` began, by `time.monotonic`.
    """
    limit = getattr(model, "time_limit", None)
    if limit is not None and not (is_real(limit) and limit > 0):
        raise refuse("time_limit", "None or a number of seconds > 0", limit)
    method = check_choice("method", model.method, ("auto", *METHODS, LOG_POOL))
    threads = engine.resolve_threads(model.n_jobs)
    model.seed_ = resolve_seed(model.random_state)
    data = read_fit(model, X, y, sample_weight, tree=None)
    rows = np.arange(len(data)) if data.weights is None else np.flatnonzero(data.weights)
    groups = None if groups is None else check_groups(groups, len(data))[rows]
    data = data.present()
    if len(data) < 2:
        raise ValueError(
            f"{type(model).__name__} needs at least 2 rows, to learn from some and predict "
            f"others, got n_samples={len(data)}."
        )
    classes = getattr(model, "classes_", None)
    risk = make_risk(model.risk, data.y, data.filled_weights, classes)
    folds, refit = model._folds(data, groups, rows), check_flag("refit", model.refit)
    if classes is not None:
        _warn_of_lacking(folds, data.y, classes)
    budget = Budget(
        risk,
        data,
        seconds=limit,
        began=began,
        refit_after=len(folds) if refit else None,
        hope=model._hope,
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
        keep_partial=check_flag("keep_partial", model.keep_partial),
        verbose=check_verbosity(model.verbose),
        threads=threads,
    )


def _warn_of_lacking(folds: list[Fold], y: Rows, classes: npt.NDArray[Any]) -> None:
    for v, code in lacking_classes(folds, y)[:1]:
        label = classes.tolist()[code]
        warn_user(
            f"Fold {v} of cv is to predict the class {label!r}, of which it has no rows to learn "
            "from: shuffle the rows, or use stratified folds."
        )
