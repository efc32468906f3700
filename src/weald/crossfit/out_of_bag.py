"""Candidates that know what to say of rows they have not seen, so that they need no folds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from weald._engine import FloatArray
from weald.crossfit.fits import Candidate
from weald.input.fit_data import FitData
from weald.input.table import check_X_fit
from weald.members.ensemble import DrawingEnsemble
from weald.members.foreign import spread

__all__ = ["has_rare_categories", "with_out_of_bag"]

_MEMBERS = 50  # with fewer, too few of them (about a third) have not seen a row
_RARE = 5  # rows: a draw lacks a category of so few of them about once in 100 times
_SOME = 0.01  # of the rows may have such a category


def with_out_of_bag(
    candidate: Candidate, cv: Any, data: FitData, n_classes: int, method: str | None = None
) -> Candidate:
    """The candidate, fitted once for all folds if its out-of-bag predictions will do.

    It must be one of weald's forests or bags and draw rows with replacement; and folds must be
    plain ones, as users who chose others have a reason (groups, time) that its draws do not know.
    Categories must not be rare, see :func:`has_rare_categories`. `method` is what it will be asked
    for; default: class shares, or numbers.
    """
    plain = cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool))
    model: Any = candidate.make()
    if not plain or not isinstance(model, DrawingEnsemble) or data.y.ndim > 1:
        return candidate
    params: dict[str, Any] = vars(model)
    many = params.get("n_estimators")
    if not params.get("bootstrap") or params.get("oob_score") is None or many is None:
        return candidate
    if not isinstance(many, Integral) or many < _MEMBERS or params.get("warm_start"):
        return candidate
    attribute, known = "oob_prediction_", "predict"
    if is_classifier(model):
        attribute, known = "oob_decision_function_", "predict_proba"
    if method not in (None, known):
        return candidate
    if has_rare_categories(model, data.X):
        return candidate
    said = partial(_said, attribute=attribute, n_classes=n_classes)
    return replace(candidate, make=partial(_with_scores, candidate.make), out_of_bag=said)


def has_rare_categories(model: Any, X: Any) -> bool:
    """Whether draws lack the categories of some rows, as those of names or customer numbers.

    A category that a tree has not drawn goes right in it, while one that nobody has seen counts as
    missing. So what is said of such rows out of bag is not what would be said of new ones.
    """
    given = getattr(model, "categorical_features", "from_dtype")
    try:
        table = check_X_fit(model, X, categorical_features=given)
    except (TypeError, ValueError):
        return False  # its fit will tell what is wrong
    rare = np.zeros(len(table.X), dtype=bool)
    for j in np.flatnonzero(table.is_categorical):
        known = np.flatnonzero(~np.isnan(table.X[:, j]))
        codes = table.X[known, j].astype(np.intp)
        rare[known] |= np.bincount(codes)[codes] < _RARE if len(codes) else False
    return bool(rare.mean() > _SOME)


def _said(model: Any, attribute: str, n_classes: int) -> FloatArray:
    said: FloatArray = getattr(model, attribute)
    return said if n_classes == 0 else spread(said, model, n_classes, 0.0)


def _with_scores(make: Any) -> Any:
    model = make()
    return model if model.oob_score else model.set_params(oob_score=True)
