"""Data for the benchmarks, made from a seed so that every machine measures the same task."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import load_iris


@dataclass(frozen=True)
class Data:
    """A task's rows: a training part, a test part and what is known about the task.

    Parameters
    ----------
    X, y : ndarray
        Training rows and targets.
    X_test, y_test : ndarray
        Test rows and targets.
    facts : dict
        Known constants of the task, such as the Bayes error, shown beside the results.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    facts: dict[str, float] = field(default_factory=dict)


def _signal(X: np.ndarray) -> np.ndarray:
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
    share = 1.0 / (1.0 + np.exp(-1.1 * _signal(X)))
    y = (rng.random(n + n_test) < share).astype(np.int64)
    bayes = float(np.minimum(share, 1.0 - share)[n:].mean())
    return Data(X[:n], y[:n], X[n:], y[n:], {"Bayes error": bayes})


@lru_cache(maxsize=1)
def noisy_numbers(n: int, n_test: int = 20_000, columns: int = 28) -> Data:
    """A number with unit noise over normal float32 columns: no model's RMSE goes below one."""
    rng = np.random.default_rng(20_240_602)
    X = rng.standard_normal((n + n_test, columns), dtype=np.float32)
    y = _signal(X) + rng.standard_normal(n + n_test)
    return Data(X[:n], y[:n], X[n:], y[n:], {"noise RMSE": 1.0})


@lru_cache(maxsize=1)
def noisy_grades(n: int, n_test: int = 20_000, columns: int = 28) -> Data:
    """Eight classes: the same noisy number, cut at its octiles."""
    numbers = noisy_numbers(n, n_test, columns)
    cuts = np.quantile(numbers.y, np.arange(1, 8) / 8)
    y, y_test = np.digitize(numbers.y, cuts), np.digitize(numbers.y_test, cuts)
    return Data(numbers.X, y, numbers.X_test, y_test)


@lru_cache(maxsize=1)
def iris() -> Data:
    """Fisher's iris, every second row for testing."""
    bunch: Any = load_iris()
    X, y = bunch.data, bunch.target
    return Data(X[::2], y[::2], X[1::2], y[1::2])
