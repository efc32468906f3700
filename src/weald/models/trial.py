"""A model is tried when it is loaded: it must do what it did when it was saved.

Estimators of other libraries do not check their state. Where parts of it do not fit together, this
shows it at once, and not when somebody needs a prediction. There are two trials. A row that the
model can predict is kept in its file, and must be predicted again. Other rows, of many sizes and
categories, are made anew each time, since a damage may show for some rows only: a model may refuse
them, as it refuses any rows that it cannot use, but must not break.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

__all__ = ["failures", "fault_of", "is_row", "make_row"]

_METHODS = ("predict", "predict_proba", "decision_function", "transform")
_WIDEST = 10_000  # columns
_PLAIN = bool | int | float | str
_ROWS = 11  # the same one: a single row would fit arrays of any length
# Of the other rows: as many again have the opposite sign.
_SCALES = np.array([0.0, 0.1, 1.0, 1.0, 1.0, 10.0, 100.0, 1e4])


def make_row(model: Any) -> list[Any] | None:
    """A row that the model can predict, of 0 and first categories; None if it cannot."""
    categories = _categories(model)
    if categories is None:
        return None
    d = len(categories)
    row = [0.0 if labels is None or not len(labels) else labels[0] for labels in categories]
    plain = [value.item() if isinstance(value, np.generic) else value for value in row]
    fine = is_row(plain, d) and fault_of(model, plain) is None  # no row of dates
    return plain if fine else None


def _categories(model: Any) -> Any:
    """The labels of each column, None for numbers; None for a model that cannot be tried."""
    d = getattr(model, "n_features_in_", None)
    if d is None or d > _WIDEST:
        return None
    categories = getattr(model, "categories_", [None] * d)
    return categories if len(categories) == d else None


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


def failures(model: Any, parts: Iterable[Any] = ()) -> set[str]:
    """Names of the errors, other than refusals, that come of other rows.

    Some are right: `CategoricalNB` has an IndexError for numbers that are no categories. So a file
    says which there were when it was written.

    Parameters
    ----------
    model : estimator
    parts : iterable
        What else to try: the estimators of other libraries among these.
    """
    tried = [model, *(part for part in parts if _is_foreign(part) and part is not model)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        said = {_failure(one, name, _other_rows(one)) for one in tried for name in _METHODS}
    return {name for name in said if name is not None}


def _is_foreign(thing: Any) -> bool:
    return isinstance(thing, BaseEstimator) and not type(thing).__module__.startswith("weald")


def _other_rows(model: Any) -> npt.NDArray[Any]:
    """Rows of numbers of all sizes and of categories of each column; none if it cannot be tried."""
    categories = _categories(model)
    if categories is None:
        return np.empty((0, 0))
    # Its numbers are the same in all versions of NumPy.
    drawn = np.random.RandomState(0).standard_normal((len(_SCALES), len(categories)))
    X: npt.NDArray[Any] = np.concatenate([drawn * _SCALES[:, None], drawn * -_SCALES[:, None]])
    for j, labels in enumerate(categories):
        if labels is not None and len(labels):
            at = np.linspace(0, len(labels) - 1, len(X)).astype(int)
            column = [labels[k] for k in np.roll(at, j)]
            plain = [part.item() if isinstance(part, np.generic) else part for part in column]
            if not is_row(plain, len(X)):  # dates
                return np.empty((0, 0))
            X = X.astype(object) if any(isinstance(part, str) for part in plain) else X
            X[:, j] = plain
    return X


def _failure(model: Any, name: str, X: npt.NDArray[Any]) -> str | None:
    """The error that comes of some rows; None if there is none, or they are refused."""
    try:
        if not len(X) or not hasattr(model, name):
            return None
        said = getattr(model, name)(X)
        parts = said if isinstance(said, list) else [said]
        return None if all(part.shape[0] == len(X) for part in parts) else "other rows"
    except (TypeError, ValueError):
        # One by one, since a model may refuse some only.
        rows = X[:, None] if len(X) > 1 else X[:0]
        return next((said for row in rows if (said := _failure(model, name, row))), None)
    except Exception as error:
        return type(error).__name__
