"""Families of functions, by the best of their members for given signs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from weald._engine import FloatArray
from weald.input.raw_table import keep_X_fit
from weald.members.foreign import fit_member, make_member
from weald.members.side_by_side import side_by_side
from weald.params.growth import is_real, refuse
from weald.theory.stumps import StumpSearch, is_all_numbers, read_table
from weald.tree import DecisionTreeClassifier

__all__ = ["Family", "make_family"]


@dataclass(frozen=True, eq=False)
class Family:
    """Functions on n rows."""

    name: str
    n: int
    suprema: Callable[[FloatArray], FloatArray]
    """For sign vectors (m, n) the largest mean of sign times function, (m,)."""
    held: int
    """Numbers that are held for each sign vector."""
    attained: bool = True
    """Whether suprema are those of the family; else lower bounds."""
    bound: float | None = None
    """Upper bound on the Rademacher complexity."""
    range: float | None = None
    """Largest absolute value of a function on the rows."""


def make_family(family: Any, X: Any, radius: Any, seed: int, n_jobs: int | None) -> Family:
    """The family that a user names; see :func:`weald.theory.rademacher`."""
    if hasattr(family, "fit") and hasattr(family, "predict") and not isinstance(family, type):
        return _fitted(family, _need(X), seed, n_jobs)
    kinds = f"an estimator, one of {', '.join(map(repr, _NAMED))}, or an array"
    if isinstance(family, str):
        if family not in _NAMED:
            raise refuse("family", kinds, family)
        if not (is_real(radius) and 0 < radius < np.inf):
            raise refuse("radius", "a positive number", radius)
        return _NAMED[family](_need(X), float(radius))
    try:
        values = np.asarray(family, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 2 or values.size == 0:
        raise refuse("family", f"{kinds} with a row of values for each function", family)
    if not np.isfinite(values).all():
        raise ValueError(
            "family holds a value that is not finite: functions need a value in all rows."
        )
    return _finite(values)


def _need(X: Any) -> Any:
    if X is None:
        raise ValueError("X is needed: the complexity of this family depends on the rows.")
    return X


def _finite(values: FloatArray) -> Family:
    m, n = values.shape

    def suprema(signs: FloatArray) -> FloatArray:
        best: FloatArray = (signs @ values.T).max(axis=1) / n
        return best

    norm = float(np.linalg.norm(values, axis=1).max())
    bound = norm * float(np.sqrt(2 * np.log(m))) / n
    largest = float(np.abs(values).max())
    return Family(f"a set of {m} functions", n, suprema, m, bound=bound, range=largest)


def _stumps(X: Any, radius: float) -> Family:
    search = StumpSearch.of(read_table(X))
    n = len(search.table.X)

    def suprema(signs: FloatArray) -> FloatArray:
        return np.array([row @ search.signs(search.best(row)) / n for row in signs])

    count = search.n_functions()
    bound = None if count is None else float(np.sqrt(2 * np.log(count) / n))
    return Family("decision stumps", n, suprema, n, bound=bound, range=1.0)


def _linear(norm: str, X: Any, radius: float) -> Family:
    rows = radius * _numbers(X)
    n, d = rows.shape
    order: float
    if norm == "l2":
        order, bound = 2, float(np.linalg.norm(rows)) / n
    else:  # the vertices of the ball are 2 d functions: Massart's bound
        longest = np.linalg.norm(rows, axis=0).max()
        order, bound = np.inf, float(longest * np.sqrt(2 * np.log(2 * d))) / n

    def suprema(signs: FloatArray) -> FloatArray:
        sums: FloatArray = np.linalg.norm(signs @ rows, ord=order, axis=1) / n
        return sums

    largest = float(np.linalg.norm(rows, ord=order, axis=1).max())
    name = f"linear functions with {norm} norm up to {radius:g}"
    return Family(name, n, suprema, d, bound=bound, range=largest)


def _numbers(X: Any) -> FloatArray:
    table = read_table(X)
    if not is_all_numbers(table):
        raise ValueError(
            "Linear families need numbers in all cells of X: encode categories and fill in or "
            "remove missing values first."
        )
    return np.asarray(table.X, dtype=np.float64)


_NAMED: dict[str, Callable[[Any, float], Family]] = {
    "stumps": _stumps,
    "l2": partial(_linear, "l2"),
    "l1": partial(_linear, "l1"),
}


def _fitted(estimator: Any, X: Any, seed: int, n_jobs: int | None) -> Family:
    table = keep_X_fit(DecisionTreeClassifier(), X)
    n = table.shape[0]
    numbers = np.random.default_rng([seed, 1])  # apart from those that draw the signs

    def suprema(signs: FloatArray) -> FloatArray:
        seeds = numbers.integers(np.iinfo(np.int32).max, size=len(signs))
        drawn = zip(signs, seeds, strict=True)
        calls = (partial(_follow, estimator, table, row, int(own)) for row, own in drawn)
        return np.array(side_by_side(calls, n_jobs))

    largest = None if is_regressor(estimator) else 1.0
    return Family(type(estimator).__name__, n, suprema, n, attained=False, range=largest)


def _follow(estimator: Any, X: Any, signs: FloatArray, seed: int) -> float:
    """Mean of sign times answer, after a fit to the signs."""
    numbers = is_regressor(estimator)
    if np.ptp(signs) == 0 and not numbers:
        return 1.0  # a constant follows them, and many classifiers refuse a single class
    target = signs if numbers else signs.astype(np.int64)
    member = fit_member(make_member(estimator, seed), X, target)
    return float(np.mean(signs * member.predict(X)))
