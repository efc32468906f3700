"""A model is tried when it is loaded: it must do what it did when it was saved.

Estimators of other libraries do not check their state. Where parts of it do not fit together, this
shows it at once, and not when somebody needs a prediction. There are two trials. A row that the
model can predict is kept in its file, and must be predicted again. Other rows, of many sizes and
categories, are made anew each time, since a damage may show for some rows only: a model may refuse
them, as it refuses any rows that it cannot use, but must not break.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

__all__ = ["Trial", "is_row"]

_METHODS = ("predict", "predict_proba", "decision_function", "transform")
_WIDEST = 10_000  # columns
_PLAIN = bool | int | float | str
_ROWS = 11  # the same one: a single row would fit arrays of any length
# Of the other rows: as many again have the opposite sign.
_SCALES = np.array([0.0, 0.1, 1.0, 1.0, 1.0, 10.0, 100.0, 1e4])
_GAPS = 4  # rows where values are missing


def is_row(row: Any, d: Any) -> bool:
    """Whether this can be a row of d columns.

    Arrays in it would be copied for every row of the trial.
    """
    plain = isinstance(row, list) and len(row) == d
    return plain and all(value is None or isinstance(value, _PLAIN) for value in row)


class Trial:
    """Asks a model for predictions.

    Parameters
    ----------
    model : estimator
    parts : iterable
        What it consists of, and other things.
    named : bool
        Whether the model needs tables with the names of columns, as `ColumnTransformer` may.

    Attributes
    ----------
    possible : bool
        Whether there is what tables with names are made of.
    """

    def __init__(self, model: Any, parts: Iterable[Any], *, named: bool = False) -> None:
        self._model, self._named = model, named
        self._parts = [part for part in parts if _is_foreign(part) and part is not model]
        self.possible = not named or find_spec("pandas") is not None

    def row(self) -> list[Any] | None:
        """A row that the model can predict, of 0 and first categories; None if it cannot."""
        columns = self._columns(self._model)
        row = [0.0 if labels is None else _picked(labels, [0])[0] for labels in columns]
        fine = self.possible and is_row(row, len(columns)) and len(row) > 0  # no row of dates
        return row if fine and self.fault_of(row) is None else None

    def fault_of(self, row: list[Any]) -> str | None:
        """What is wrong with the answers to a row; None if nothing is."""
        X = self._table([[value] * _ROWS for value in row])
        classes = getattr(self._model, "classes_", None)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for name in _METHODS:
                try:
                    wrong = _fault(self._model, name, X, classes)
                except Exception as error:
                    said = " ".join(str(error).split())
                    wrong = f"fails with {type(error).__name__}: {said:.200}"
                if wrong is not None:
                    return f"{name} {wrong}"
        return None

    def failures(self, *, by_parts: bool) -> set[str]:
        """Names of the errors, other than refusals, that come of other rows.

        Some are right: `CategoricalNB` has an IndexError for numbers that are no categories. So a
        file says which there were when it was written.

        Parameters
        ----------
        by_parts : bool
            Whether to try the estimators of other libraries in the model by themselves as well.
        """
        tried = [self._model, *(self._parts if by_parts else [])] if self.possible else []
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            said = {name for model in tried for name in self._failures(model)}
        return {name for name in said if name is not None}

    def _failures(self, model: Any) -> Iterator[str | None]:
        for X in self._others(model):
            for name in _METHODS:
                yield _failure(model, name, X)

    def _others(self, model: Any) -> Iterator[Any]:
        """Rows of numbers of all sizes and of categories of each column; some with gaps."""
        columns = self._columns(model)
        # Its numbers are the same in all versions of NumPy.
        drawn = np.random.RandomState(0).standard_normal((len(columns), len(_SCALES))) * _SCALES
        X = np.concatenate([drawn, -drawn], axis=1).tolist()
        for j, labels in enumerate(columns):
            if labels is not None:
                at = np.linspace(0, len(labels) - 1, len(X[j])).astype(int)
                X[j] = _picked(labels, np.roll(at, j))
            if not is_row(X[j], len(X[j])):  # dates
                return
        gaps = [[*column[:_GAPS]] for column in X]
        for j, column in enumerate(gaps):
            column[j % _GAPS] = float("nan") if columns[j] is None else column[j % _GAPS]
        for some in (X, gaps) if X else ():
            yield self._table(some) if model is self._model else _array(some)

    def _table(self, columns: list[list[Any]]) -> Any:
        if not self._named:
            return _array(columns)
        import pandas as pd

        frame = pd.DataFrame(dict(enumerate(columns)))
        frame.columns = self._model.feature_names_in_
        return frame

    def _columns(self, model: Any) -> list[Any]:
        """The labels of each column, None for numbers; no columns if it cannot be tried."""
        d = getattr(model, "n_features_in_", None)
        if d is None or d > _WIDEST:
            return []
        labels = getattr(model, "categories_", [None] * d)
        if self._named and model is self._model:
            known = _labels_by_name(self._parts)
            labels = [known.get(name) for name in model.feature_names_in_]
        if len(labels) != d:
            return []
        return [None if part is None or not len(part) else part for part in labels]


def _is_foreign(thing: Any) -> bool:
    return isinstance(thing, BaseEstimator) and not type(thing).__module__.startswith("weald")


def _labels_by_name(parts: Iterable[Any]) -> dict[str, Any]:
    """Categories of columns: of an encoder, or of one in a pipeline that keeps the columns."""
    out: dict[str, Any] = {}
    for part in parts:
        names = getattr(part, "feature_names_in_", ())
        for step in [step for _, step in part.steps] if isinstance(part, Pipeline) else [part]:
            labels = getattr(step, "categories_", ())
            if len(labels) == len(names):
                out.update(zip(names, labels, strict=True))
    return out


def _picked(labels: Any, at: Iterable[int]) -> list[Any]:
    some = [labels[k] for k in at]
    return [label.item() if isinstance(label, np.generic) else label for label in some]


def _array(columns: list[list[Any]]) -> npt.NDArray[Any]:
    words = any(isinstance(value, str) for column in columns for value in column)
    return np.array(columns, dtype=object if words else np.float64).T.copy()


def _fault(model: Any, name: str, X: Any, classes: Any) -> str | None:
    """What is wrong with the answers of a method; None if nothing is."""
    if not hasattr(model, name):
        return None
    said = getattr(model, name)(X)
    for part in said if isinstance(said, list) else [said]:
        if part.shape[0] != len(X):
            return "gives another number of rows"
        if name == "predict_proba" and isinstance(classes, np.ndarray):
            if part.shape != (len(X), len(classes)):
                return "gives another number of classes"
            if part.min() < 0 or abs(part.sum(axis=1) - 1).max() > 1e-6:
                return "gives no probabilities"
        numbers = np.asarray(part.data) if hasattr(part, "tocsr") else np.asarray(part)
        if numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
            return "gives numbers that are not finite"
    return None


def _failure(model: Any, name: str, X: Any) -> str | None:
    """The error that comes of some rows; None if there is none, or they are refused."""
    try:
        if not hasattr(model, name):
            return None
        said = getattr(model, name)(X)
        parts = said if isinstance(said, list) else [said]
        return None if all(part.shape[0] == len(X) for part in parts) else "other rows"
    except (TypeError, ValueError):
        # One by one, since a model may refuse some only.
        rows = [X[k : k + 1] for k in range(len(X))] if len(X) > 1 else []
        return next((said for row in rows if (said := _failure(model, name, row))), None)
    except Exception as error:
        return type(error).__name__
