"""The criteria of trees: one row each, matching the engine's table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weald._engine import FloatArray

__all__ = ["CLASSIFICATION_CRITERIA", "CRITERIA", "REGRESSION_CRITERIA", "Criterion"]


def _squared(y: FloatArray, mu: FloatArray) -> FloatArray:
    squares: FloatArray = (y - mu) ** 2
    return squares


def _absolute(y: FloatArray, mu: FloatArray) -> FloatArray:
    return np.abs(y - mu)


def _poisson(y: FloatArray, mu: FloatArray) -> FloatArray:
    """Deviance without its constant part; a node that says 0 is wrong beyond measure."""
    safe = np.maximum(mu, np.finfo(np.float64).tiny)
    return safe - y * np.log(safe)


@dataclass(frozen=True)
class Criterion:
    """What Python knows of a criterion.

    Attributes
    ----------
    name, engine : str
        As users and as the engine call it.
    task : "classification" or "regression"
    positive_only : bool
        Targets must not be negative, nor all of them 0.
    needs_ranks : bool
        Even random cuts need the values in their order.
    row_loss : function of targets and predictions
        What pruning of regression trees measures on rows held out.
    """

    name: str
    engine: str
    task: Literal["classification", "regression"]
    positive_only: bool = False
    needs_ranks: bool = False
    row_loss: Callable[[FloatArray, FloatArray], FloatArray] = _squared


CRITERIA = {
    row.name: row
    for row in (
        Criterion("gini", "gini", "classification"),
        Criterion("entropy", "entropy", "classification"),
        Criterion("log_loss", "entropy", "classification"),
        Criterion("misclassification", "misclassification", "classification"),
        Criterion("squared_error", "squared_error", "regression"),
        Criterion(
            "absolute_error", "absolute_error", "regression", needs_ranks=True, row_loss=_absolute
        ),
        Criterion("poisson", "poisson", "regression", positive_only=True, row_loss=_poisson),
    )
}
# From the names that users give to those of the engine.
CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA = (
    {name: row.engine for name, row in CRITERIA.items() if row.task == task}
    for task in ("classification", "regression")
)
