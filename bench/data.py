"""Data for the benchmarks, made from a seed so that every machine measures the same task."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

FEW_COLUMNS = 16
"""Of a matrix, in a first fit that is not measured."""


@dataclass(frozen=True)
class Data:
    """A task's rows: a training part, a test part and what is known about the task.

    Parameters
    ----------
    X, y : ndarray
        Training rows and targets; X may be a pandas frame or a sparse matrix instead.
    X_test, y_test : ndarray
        Test rows and targets.
    facts : dict
        Known constants of the task, such as the Bayes error, shown beside the results.
    weight : ndarray or None
        Weights of the training rows.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    facts: dict[str, float] = field(default_factory=dict)
    weight: np.ndarray | None = None

    def few(self, rows: int) -> Data:
        """The first rows and columns alone, for a fit that loads what is loaded late.

        Some classes may be absent there: those that are there are numbered anew. Of a matrix there
        are few columns: what a fit of all of them takes by the column, a library with an allocator
        of its own would keep, and the memory of the next fit would seem to be nothing.
        """
        y = self.y[:rows]
        if np.issubdtype(y.dtype, np.integer):
            y = np.unique(y, return_inverse=True)[1]
        weight = None if self.weight is None else self.weight[:rows]
        X = self.X[:rows] if hasattr(self.X, "columns") else self.X[:rows, :FEW_COLUMNS]
        return replace(self, X=X, y=y, weight=weight)


def signal(X: np.ndarray) -> np.ndarray:
    """Interactions, bends and a linear part over the first ten columns; the rest is noise."""
    linear = 0.5 * X[:, 2] + 0.3 * X[:, 4:10].sum(axis=1)
    bends = np.sin(2.0 * X[:, 3]) - 0.7 * np.abs(X[:, 5]) + 0.55
    return np.asarray(X[:, 0] * X[:, 1] + linear + bends, dtype=np.float64)


# One entry: tasks of one kind of data follow each other, and memory rows want a small process.
@lru_cache(maxsize=1)
def noisy_classes(n: int, n_test: int = 20_000, columns: int = 28) -> Data:
    """Two noisy classes over normal float32 columns, with a known Bayes error near 25 %."""
    rng = np.random.default_rng(20_240_601)
    X = rng.standard_normal((n + n_test, columns), dtype=np.float32)
    share = 1.0 / (1.0 + np.exp(-1.1 * signal(X)))
    y = (rng.random(n + n_test) < share).astype(np.int64)
    bayes = float(np.minimum(share, 1.0 - share)[n:].mean())
    return Data(X[:n], y[:n], X[n:], y[n:], {"Bayes error": bayes})


@lru_cache(maxsize=1)
def noisy_numbers(n: int, n_test: int = 20_000, columns: int = 28) -> Data:
    """A number with unit noise over normal float32 columns: no model's RMSE goes below one."""
    rng = np.random.default_rng(20_240_602)
    X = rng.standard_normal((n + n_test, columns), dtype=np.float32)
    y = signal(X) + rng.standard_normal(n + n_test)
    return Data(X[:n], y[:n], X[n:], y[n:], {"noise RMSE": 1.0})


@lru_cache(maxsize=1)
def noisy_grades(n: int, n_test: int = 20_000, columns: int = 28) -> Data:
    """Eight classes: the same noisy number, cut at its octiles."""
    numbers = noisy_numbers(n, n_test, columns)
    cuts = np.quantile(numbers.y, np.arange(1, 8) / 8)
    y, y_test = np.digitize(numbers.y, cuts), np.digitize(numbers.y_test, cuts)
    return Data(numbers.X, y, numbers.X_test, y_test)


COVER_SHARES = (0.365, 0.488, 0.062, 0.005, 0.016, 0.030, 0.034)
"""Shares of the classes in the forest cover data (Blackard and Dean 1999)."""


@lru_cache(maxsize=1)
def cover_types(n: int, n_test: int = 20_000) -> Data:
    """Seven uneven classes over 10 numbers and two one-hot groups of 4 and 40 binary columns.

    It has the shape of the forest cover data; the classes are drawn from known shares, whose log
    loss no model beats.
    """
    rng = np.random.default_rng(20_240_603)
    rows = n + n_test
    numbers = rng.standard_normal((rows, 10), dtype=np.float32)
    area = rng.integers(4, size=rows)
    soil = np.clip(20 + 6 * (numbers[:, 0] + rng.standard_normal(rows)), 0, 39).astype(np.int64)
    waves = np.sin(2.0 * numbers @ (0.4 * rng.standard_normal((10, 7))))
    score = numbers @ (0.5 * rng.standard_normal((10, 7))) + 2.0 * waves
    score += rng.standard_normal((4, 7))[area] + rng.standard_normal((40, 7))[soil]
    score += np.log(COVER_SHARES)
    y = np.argmax(score + rng.gumbel(size=score.shape), axis=1)
    best = np.logaddexp.reduce(score, axis=1) - score[np.arange(rows), y]
    X = np.hstack([numbers, np.eye(4, dtype=np.float32)[area], np.eye(40, dtype=np.float32)[soil]])
    return Data(X[:n], y[:n], X[n:], y[n:], {"least log loss": float(best[n:].mean())})


LEVELS = (3, 5, 8, 12, 20, 35, 60, 120, 250, 500)


@lru_cache(maxsize=1)
def mixed_columns(n: int, n_test: int = 20_000) -> Data:
    """Two classes over ten categorical and ten numeric columns, a tenth of the values missing.

    A frame with pandas' categories. The k-th level of a column is drawn in proportion to 1/k and
    adds an effect of its own; a missing category adds none.
    """
    import pandas as pd

    rng = np.random.default_rng(20_240_604)
    rows = n + n_test
    numbers = rng.standard_normal((rows, 10))
    score = signal(numbers)
    columns: dict[str, Any] = {f"number {j}": numbers[:, j] for j in range(10)}
    for size in LEVELS:
        frequency = 1.0 / np.arange(1, size + 1)
        codes = rng.choice(size, size=rows, p=frequency / frequency.sum())
        missing = rng.random(rows) < 0.1
        score += np.where(missing, 0.0, rng.normal(0.0, 0.4, size)[codes])
        names = [f"level {k}" for k in range(size)]
        columns[f"{size} levels"] = pd.Categorical.from_codes(np.where(missing, -1, codes), names)
    for j in range(10):
        columns[f"number {j}"] = np.where(rng.random(rows) < 0.1, np.nan, numbers[:, j])
    y = (rng.random(rows) < 1.0 / (1.0 + np.exp(-1.1 * score))).astype(np.int64)
    X: Any = pd.DataFrame(columns)
    return Data(X.iloc[:n], y[:n], X.iloc[n:], y[n:])


@lru_cache(maxsize=1)
def iris() -> Data:
    """Fisher's iris, every second row for testing."""
    bunch: Any = load_iris()
    X, y = bunch.data, bunch.target
    return Data(X[::2], y[::2], X[1::2], y[1::2])
