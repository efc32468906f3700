"""A row that a model can predict, kept with it: after loading it must be able to do so again.

Estimators of other libraries do not check their state. Where parts of it do not fit together, this
shows it at once, and not when somebody needs a prediction.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

__all__ = ["fault_of", "is_row", "make_row"]

_METHODS = ("predict", "predict_proba", "decision_function", "transform")
_WIDEST = 10_000  # columns
_PLAIN = bool | int | float | str
_ROWS = 11  # the same one: a single row would fit arrays of any length


def make_row(model: Any) -> list[Any] | None:
    """A row that the model can predict, of 0 and first categories; None if it cannot."""
    d = getattr(model, "n_features_in_", None)
    if d is None or d > _WIDEST:
        return None
    categories = getattr(model, "categories_", [None] * d)
    if len(categories) != d:
        return None
    row = [0.0 if labels is None or not len(labels) else labels[0] for labels in categories]
    plain = [value.item() if isinstance(value, np.generic) else value for value in row]
    fine = is_row(plain, d) and fault_of(model, plain) is None  # no row of dates
    return plain if fine else None


def is_row(row: Any, d: Any) -> bool:
    """Whether this can be a row of d columns.

    Arrays in it would be copied for every row of the trial.
    """
    plain = isinstance(row, list) and len(row) == d
    return plain and all(value is None or isinstance(value, _PLAIN) for value in row)


def fault_of(model: Any, row: list[Any]) -> str | None:
    """What is wrong with the answers to a row; None if nothing is."""
    kind = object if any(isinstance(value, str) for value in row) else np.float64
    X = np.array([row] * _ROWS, dtype=kind)
    classes = getattr(model, "classes_", None)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name in _METHODS:
            try:
                if not hasattr(model, name):
                    continue
                said = getattr(model, name)(X)
                for part in said if isinstance(said, list) else [said]:
                    if part.shape[0] != _ROWS:
                        return f"{name} gives another number of rows"
                    if name == "predict_proba" and isinstance(classes, np.ndarray):
                        if part.shape != (_ROWS, len(classes)):
                            return f"{name} gives another number of classes"
                        if part.min() < 0 or abs(part.sum(axis=1) - 1).max() > 1e-6:
                            return f"{name} gives no probabilities"
                    numbers = np.asarray(part.data) if hasattr(part, "tocsr") else np.asarray(part)
                    if numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
                        return f"{name} gives numbers that are not finite"
            except Exception as error:
                said = " ".join(str(error).split())
                return f"{name} fails with {type(error).__name__}: {said:.200}"
    return None
