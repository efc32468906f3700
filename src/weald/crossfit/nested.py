"""Nested cross-validation: the risk of a whole mixture, weights and all, on outer folds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from time import monotonic
from typing import Any

from sklearn.base import clone

from weald._engine import FloatArray
from weald.crossfit.candidate_risks import candidate_risks
from weald.crossfit.fits import Candidate, CandidateFits, drive_fits
from weald.crossfit.folds import make_folds
from weald.crossfit.level_one import fold_jobs
from weald.crossfit.problem import read_problem
from weald.crossfit.risk_table import RiskTable
from weald.members.foreign import spread

__all__ = ["nested_risk"]


def nested_risk(model: Any, X: Any, y: Any, sample_weight: Any, groups: Any, cv: Any) -> RiskTable:
    """See :meth:`weald.crossfit.mixture.Mixture.cv_risk`."""
    inner = getattr(model, "cv", None)
    if inner is not None and not isinstance(inner, Integral) and not hasattr(inner, "split"):
        raise ValueError(
            "cv_risk fits the model to parts of the table, so cv cannot be a list of row "
            "numbers: make it a number of folds or a splitter."
        )
    outer = clone(model)
    problem = read_problem(outer, X, y, sample_weight, groups, monotonic())
    data, folds, classes = problem.data, problem.folds, outer._classifier
    if cv is not None:
        folds = make_folds(
            cv, data.X, data.y, problem.groups, classes=classes, present=problem.rows
        )
    given = {} if problem.groups is None else {"groups": problem.groups}
    ask = partial(_shares, outer.classes_) if classes else outer._said
    candidate = Candidate(type(model).__name__, partial(clone, model), ask, given)
    if classes:  # the labels themselves, which a metric may name
        data = replace(data, y=outer.classes_[data.y])
    work = CandidateFits([candidate], fold_jobs(0, folds), data, n_jobs=1, strict=True)
    drive_fits(work, outer, verbose=problem.verbose, about=", outer folds")
    table = candidate_risks(work, [0], folds, problem)[1]
    table.weights[0] = 1.0
    return table


def _shares(classes: Any, model: Any, X: Any) -> FloatArray:
    """Shares of all classes by a fitted copy, whose rows may have lacked some."""
    return spread(model.predict_proba(X), model, len(classes), 0.0, classes)
