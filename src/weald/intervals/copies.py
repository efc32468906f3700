"""Copies of a model on folds, which predict the rows that they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, check_cv

from weald.input.fit_data import FitData, check_offset
from weald.input.labels import check_target, check_weights
from weald.input.raw_table import keep_X_predict
from weald.intervals.conformal import Calibration
from weald.params.growth import is_int, refuse
from weald.params.warnings import warn_user

__all__ = ["TO_CALIBRATE", "check_calibration", "keep_errors_of_copies"]

TO_CALIBRATE = "refit it with calibration=5 (copies of it on folds), or "
"""In messages of models that have the parameter."""

FOLDS = 5
# The share below a quantile of so many errors is known to within 1 point or so (its standard error
# is at most 1.1 %), which is good enough: of many rows some folds are left out.
ENOUGH = 2000
FEWEST = 20  # rows, below which "auto" does without

Rows = npt.NDArray[np.intp]


def check_calibration(value: Any) -> Any:
    """What `calibration` may be: None, "auto", a number of folds, a splitter, or its folds."""
    word = isinstance(value, str)
    good = value is None or (word and value == "auto")
    good = good or (is_int(value) and value >= 2)
    good = good or (not word and (hasattr(value, "split") or np.iterable(value)))
    if not good:
        wanted = "None, 'auto', a number of folds >= 2, a splitter or an iterable of (train, test)"
        raise refuse("calibration", wanted, value)
    return value


def keep_errors_of_copies(
    model: Any, folds: Any, X: Any, y: Any, sample_weight: Any, offset: Any = None
) -> None:
    """Let a fitted model learn from the errors of copies, on rows that these have not seen.

    Parameters
    ----------
    model : fitted regressor
        With a parameter `calibration`.
    folds : "auto", int, splitter or iterable of (train, test)
        "auto": five, until enough rows are predicted.
    X, y, sample_weight, offset : as given to ``fit``
    """
    table = keep_X_predict(model, X)
    n = table.shape[0]
    weights, offset = check_weights(sample_weight, n), check_offset(offset, n)
    target = check_target(y, n)
    target = target[:, 0] if target.shape[1] == 1 else target
    present = np.arange(n) if weights is None else np.flatnonzero(weights)
    if model.stop_reason_ == "interrupted" or (isinstance(folds, str) and len(present) < FEWEST):
        return
    try:
        errors = _cross_fitted(model, folds, FitData(table, target, weights, offset=offset))
    except KeyboardInterrupt:
        if not getattr(model, "keep_partial", False):
            raise
        warn_user("The fit was stopped while copies were fitted: the model is not calibrated.")
    else:
        model._keep_calibration(errors)


def _cross_fitted(model: Any, folds: Any, data: FitData) -> Calibration:
    parts: list[Calibration] = []
    for train, test in _splits(folds, data, model.seed_):
        one, known, asked = _copy(model), data.take(train), data.take(test)
        options = {} if data.offset is None else {"offset": known.offset}
        with warnings.catch_warnings():  # the model has warned of the same
            warnings.simplefilter("ignore")
            one.fit(known.X, known.y, known.weights, **options)
            options = {} if data.offset is None else {"offset": asked.offset}
            said = one.predict(asked.X, **options)
        parts.append(Calibration.of(asked.y, said, asked.weights, source="rows of the folds"))
        if isinstance(folds, str) and sum(map(len, parts)) >= ENOUGH:
            break
    return Calibration.joined(parts)


def _splits(folds: Any, data: FitData, seed: int) -> Iterable[tuple[Rows, Rows]]:
    """Rows to fit to, and rows to predict; those of no weight are absent."""
    n, present = len(data), np.flatnonzero(data.filled_weights)
    count = FOLDS if isinstance(folds, str) else folds
    if is_int(count):
        splitter = KFold(count, shuffle=True, random_state=seed % 2**32)
        return [(present[a], present[b]) for a, b in splitter.split(present)]
    there = np.zeros(n, dtype=bool)
    there[present] = True
    pairs: list[tuple[Rows, Rows]] = []
    for parts in check_cv(folds).split(np.empty((n, 1))):
        train, test = map(np.asarray, parts)
        pairs.append((train[there[train]], test[there[test]]))
    if not pairs or any(len(train) == 0 or len(test) == 0 for train, test in pairs):
        raise ValueError("calibration has a fold without rows: give each some to fit and predict.")
    if any(np.intersect1d(train, test).size for train, test in pairs):
        raise ValueError("calibration has a fold that fits and predicts the same row.")
    return pairs


def _copy(model: Any) -> Any:
    """The same model, to be fitted to other rows: nobody looks on, and nothing is calibrated."""
    one = copy(model)
    quiet = {"calibration": None, "warm_start": False, "verbose": 0}
    if getattr(model, "callbacks", None):  # they may have stopped the fit
        rounds = getattr(model, "best_iteration_", model.n_estimators_)
        quiet |= {"callbacks": None, "n_estimators": max(1, rounds)}
    for name, value in quiet.items():
        setattr(one, name, value)
    return one
