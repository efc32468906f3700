"""Folds: which rows train a model, and which of the others it predicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

__all__ = ["Fold", "lacking_classes", "make_folds"]

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on, and rows to predict; no row is both."""

    train: IntArray
    test: IntArray


def make_folds(
    cv: Any,
    X: Any,
    y: npt.NDArray[Any],
    groups: Any = None,
    *,
    classes: bool,
    present: IntArray | None = None,
) -> list[Fold]:
    """The folds of a splitter; they need neither cover all rows nor predict a row only once.

    Parameters
    ----------
    cv : None, int, splitter of scikit-learn, or iterable of (train, test)
        A number is that of folds: stratified ones of classes, those of whole groups if there are
        groups.
    X, y : the rows
    groups : array of shape (n,), optional
    classes : bool
        The targets are classes.
    present : array, optional
        Which of the rows of the user's table these are: folds that are given as row numbers mean
        that table. Default: all.
    """
    n = len(y)
    if present is not None and not hasattr(cv, "split") and np.iterable(cv):
        place = np.full(int(present.max(initial=0)) + 1, -1)
        place[present] = np.arange(len(present))
        cv = [tuple(_still_there(part, place) for part in split) for split in cv]
    if isinstance(cv, Integral) and int(cv) < 2:
        raise ValueError(f"cv must be at least 2 folds, got {cv}.")
    if groups is not None and (cv is None or isinstance(cv, Integral)):
        count = 5 if cv is None else int(cv)
        there = len(np.unique(groups))
        if there == 1:
            raise ValueError("All rows are of one group: there is no other one to predict.")
        if there < count:
            raise ValueError(
                f"{count} folds of whole groups need as many groups, there are {there}: set a "
                "smaller cv."
            )
        cv = StratifiedGroupKFold(count) if classes and y.ndim == 1 else GroupKFold(count)
    splitter = check_cv(cv, y=y, classifier=classes)
    try:
        splits: Iterable[Any] = list(splitter.split(X, y, groups))
    except ValueError as error:
        if groups is None and "group" in str(error):
            raise ValueError(
                f"{splitter} divides rows by their groups: pass groups=, one for each row, to fit."
            ) from error
        raise
    folds = [
        Fold(_numbers(train, n, v), _numbers(test, n, v)) for v, (train, test) in enumerate(splits)
    ]
    if not folds:
        raise ValueError("cv gives no folds at all.")
    for v, fold in enumerate(folds):
        both = np.intersect1d(fold.train, fold.test)
        if both.size:
            raise ValueError(
                f"Fold {v} of cv trains on row {both[0]} and predicts it too: level-1 rows must be "
                "predicted by models that have not seen them."
            )
    return folds


def lacking_classes(folds: list[Fold], y: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """The folds that are to predict a class of which they have no rows to train on: (fold, class).

    >>> lacking_classes([Fold(np.array([0, 1]), np.array([2]))], np.array([0, 0, 1]))
    [(0, 1)]
    """
    pairs = ((v, np.setdiff1d(y[fold.test], y[fold.train])) for v, fold in enumerate(folds))
    return [(v, int(code)) for v, codes in pairs for code in codes[:1]]


def _still_there(rows: Any, place: IntArray) -> Any:
    """Rows by their places among those that are present."""
    array = np.asarray(rows)
    array = np.flatnonzero(array) if array.dtype == bool else array
    if array.dtype.kind not in "iu" or array.size == 0 or array.min() < 0:
        return rows  # whatever is wrong is told below
    found = place[array[array < len(place)]]
    return found[found >= 0]


def _numbers(rows: Any, n: int, fold: int) -> IntArray:
    """Row numbers from numbers or a mask."""
    array = np.asarray(rows)
    if array.dtype == bool and array.shape == (n,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ValueError(
            f"Fold {fold} of cv must hold row numbers to train on and row numbers to predict, some "
            "of each that weigh more than 0."
        )
    if array.min() < -n or array.max() >= n:
        raise ValueError(f"Fold {fold} of cv names a row beyond the {n} rows there are.")
    return np.unique(array.astype(np.intp) % n) if (array < 0).any() else array.astype(np.intp)
