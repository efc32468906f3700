"""Candidates that know what to say of rows they have not seen, so that they need no folds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy.typing as npt
from sklearn.base import is_classifier

from weald._engine import FloatArray
from weald.crossfit.fits import Candidate
from weald.members.ensemble import DrawingEnsemble
from weald.members.foreign import spread

__all__ = ["with_out_of_bag"]

_MEMBERS = 50  # with fewer, too few of them (about a third) have not seen a row


def with_out_of_bag(
    candidate: Candidate, cv: Any, y: npt.NDArray[Any], n_classes: int, method: str | None = None
) -> Candidate:
    """The candidate, fitted once for all folds if its out-of-bag predictions will do.

    It must be one of weald's forests or bags and draw rows with replacement; and folds must be
    plain ones, as users who chose others have a reason (groups, time) that its draws do not know.
    `method` is what it will be asked for; default: class shares, or numbers.
    """
    plain = cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool))
    model: Any = candidate.make()
    if not plain or not isinstance(model, DrawingEnsemble) or y.ndim > 1:
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
    said = partial(_said, attribute=attribute, n_classes=n_classes)
    return replace(candidate, make=partial(_with_scores, candidate.make), out_of_bag=said)


def _said(model: Any, attribute: str, n_classes: int) -> FloatArray:
    said: FloatArray = getattr(model, attribute)
    return said if n_classes == 0 else spread(said, model, n_classes, 0.0)


def _with_scores(make: Any) -> Any:
    model = make()
    return model if model.oob_score else model.set_params(oob_score=True)
