"""How the error fell, member after member."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald._engine import FloatArray
from weald.report.honest import Honest

__all__ = ["Curve", "curves_of"]

_ROWS = 2_000  # of a fold whose predictions are followed
_ROUNDS = 400  # followed at most

# What models note in their fit, and what it is.
NOTED = (
    ("train_score_", "loss on the rows learned from"),
    ("train_losses_", "loss on the rows learned from"),
    ("validation_score_", "loss on validation rows"),
    ("validation_losses_", "loss on validation rows"),
    ("validation_scores_", "score on validation rows"),
    ("errors_", "weighted error of each member"),
)


@dataclass(frozen=True, eq=False)
class Curve:
    """A number after each member; `unit`: what it measures, `honest`: on rows not seen."""

    name: str
    unit: str
    honest: bool
    members: FloatArray
    values: FloatArray


def curves_of(model: Any, honest: Honest) -> tuple[Curve, ...]:
    """The curves there are.

    Parameters
    ----------
    model : fitted estimator
    honest : Honest
    """
    is_class = honest.answer.ndim == 2
    unit = "share of wrong labels" if is_class else "mean squared error"
    found = []
    if honest.error_curve is not None:
        found.append(_curve("out-of-bag error", unit, True, honest.error_curve))
    staged = _staged_errors(honest, is_class)
    if staged is not None:
        found.append(_curve("error on rows held out", unit, True, staged))
    for name, what in NOTED:
        values = np.asarray(getattr(model, name, ()), dtype=np.float64)
        if values.ndim == 1 and len(values) > 1:
            found.append(_curve(what, what.split(" on ")[0].split(" of ")[0], False, values))
    return tuple(found)


def _curve(name: str, unit: str, honest: bool, values: FloatArray) -> Curve:
    members = np.arange(1, len(values) + 1, dtype=np.float64)
    there = np.isfinite(values)
    return Curve(name, unit, honest, members[there], values[there])


def _staged_errors(honest: Honest, is_class: bool) -> FloatArray | None:
    """Error after each round of the copies on the rows they did not see, averaged over folds."""
    parts = []
    for fold in honest.folds:
        if not hasattr(fold.model, "staged_predict") or len(fold.model) > _ROUNDS:
            return None
        held = fold.rows.take(fold.rows.some(_ROWS, 0))
        errors = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for said in fold.model.staged_predict(held.table):
                if np.ndim(said) == 2:  # several quantiles have no one error
                    return None
                wrong = said != held.target if is_class else (said - held.target) ** 2
                errors.append(float(np.mean(wrong)))
        parts.append(errors)
    n = min(map(len, parts), default=0)
    return np.mean([part[:n] for part in parts], axis=0) if n > 1 else None
