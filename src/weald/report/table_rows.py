"""The rows of a report: the table as it came, and as numbers and codes; the targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from weald._engine import IntArray
from weald.input.labels import UnknownLabelError, check_target, encode_labels, recode
from weald.input.raw_table import keep_X_fit, take_rows
from weald.input.table import check_X_fit

__all__ = ["TableRows", "read_rows"]


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows with their targets.

    Attributes
    ----------
    table : the table, as models want it
    X : array of shape (n, d)
        Numbers, and the codes of categories; NaN where a value is missing.
    names : tuple of str
    categories : tuple
        Per column None, or its labels.
    ordered : dict
        Columns of ordered categories, which are numbers, with their labels.
    y : array of shape (n,)
        Class codes, or numbers.
    target : array of shape (n,)
        As models want them: labels, or numbers.
    labels : array, optional
        Classes in the order of their codes; None for numbers.
    """

    table: Any
    X: npt.NDArray[Any]
    names: tuple[str, ...]
    categories: tuple[npt.NDArray[Any] | None, ...]
    ordered: dict[int, list[Any]]
    y: npt.NDArray[Any]
    target: npt.NDArray[Any]
    labels: npt.NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the classes; None for numbers."""
        return None if self.labels is None else tuple(map(str, self.labels.tolist()))

    def take(self, rows: IntArray) -> TableRows:
        """Some of the rows."""
        return replace(
            self,
            table=take_rows(self.table, rows),
            X=self.X[rows],
            y=self.y[rows],
            target=self.target[rows],
        )

    def some(self, most: int, seed: int) -> IntArray:
        """Numbers of at most so many rows, drawn at random, ascending."""
        if len(self) <= most:
            return np.arange(len(self))
        drawn = np.random.default_rng(seed).choice(len(self), most, replace=False)
        return np.asarray(np.sort(drawn), dtype=np.int64)


class _Reader(BaseEstimator):
    """What the reading of a table notes the names of columns on."""

    feature_names_in_: npt.NDArray[Any]
    _ordered_columns: dict[int, list[Any]]


def read_rows(model: Any, X: Any, y: Any) -> TableRows:
    """Read the rows of a report.

    Parameters
    ----------
    model : fitted estimator
    X, y : rows and targets
    """
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise TypeError(
            f"model must be a fitted classifier or regressor, got {type(model).__name__}."
        )
    check_is_fitted(model)
    reader = _Reader()
    table = keep_X_fit(reader, X)
    read = check_X_fit(
        reader, X, categorical_features=getattr(model, "categorical_features", "from_dtype")
    )
    names = [str(name) for name in getattr(reader, "feature_names_in_", ())]
    names = names or [f"feature_{j}" for j in range(read.X.shape[1])]
    if is_classifier(model):
        codes, labels = _codes(model, y, len(read.X))
        target = labels.take(codes)
    else:
        codes, labels = _one(check_target(y, len(read.X))), None
        target = codes
    ordered = reader._ordered_columns
    matrix = np.asarray(read.X)
    return TableRows(table, matrix, tuple(names), read.categories, ordered, codes, target, labels)


def _one(columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if columns.shape[1] > 1:
        raise ValueError(
            f"y has {columns.shape[1]} columns, but a report is about one target: fit a model, and "
            "write a report, for each of them."
        )
    return columns[:, 0]


def _codes(model: Any, y: Any, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Class codes as the model numbers its classes, and the classes."""
    read = encode_labels(y, n)
    codes, known = _one(read.codes), np.asarray(model.classes_)
    try:
        return recode(codes, read.classes[0], known), known
    except UnknownLabelError as error:
        raise ValueError(
            f"y holds the label {error.label!r}, which the model was not fitted to."
        ) from None
