"""The tables of the matrix: their shape, what is in them, and how much of it is run.

A table is made from a seed together with five hidden scores per row, from which `targets.py` draws
whatever is to be learned.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from bench.categories import Inputs
from bench.data import signal

SCORES = 5
"""Hidden scores of a row: the most outputs that a target may have."""

Maker = Callable[[np.random.Generator, int], tuple[Inputs, np.ndarray]]
"""Makes so many rows and their hidden scores."""


@dataclass(frozen=True)
class Table:
    """One table.

    Parameters
    ----------
    name : str
        Name within the name of a cell.
    rows, test_rows : int
        Rows to fit and rows to predict.
    make : callable
        Makes the rows.
    trees : int
        Trees of bagging and AdaBoost here. Few where scikit-learn takes seconds for each.
    rounds : int
        Rounds of boosting with one tree per round; fewer where there are several.
    columns : float or str
        Share of the columns that a forest of numbers tries at each node.
    weighted : bool
        Rows have weights, which are no whole numbers.
    noise : float
        Two models whose losses differ by less than this share are as good as each other.
    """

    name: str
    rows: int
    test_rows: int
    make: Maker
    trees: int
    rounds: int
    columns: float | str = 1 / 3
    weighted: bool = False
    noise: float = 0.03

    def generator(self, *more: str) -> np.random.Generator:
        """Random numbers of this table and of whatever else is named."""
        return np.random.default_rng(zlib.crc32(" ".join([self.name, *more]).encode()))


def scores_of(X: np.ndarray) -> np.ndarray:
    """Five scores of numeric columns with unit variance: one signal, each over other columns."""
    return np.column_stack([signal(np.roll(X, -5 * j, axis=1)) for j in range(SCORES)])


def normal(columns: int) -> Maker:
    """Normal columns in single precision; those after the 28th are noise."""

    def make(rng: np.random.Generator, rows: int) -> tuple[Inputs, np.ndarray]:
        X = rng.standard_normal((rows, columns), dtype=np.float32)
        return X, scores_of(X[:, :28])

    return make


def steps(columns: int, values: int) -> Maker:
    """Columns of few distinct values, all of them as frequent."""

    def make(rng: np.random.Generator, rows: int) -> tuple[Inputs, np.ndarray]:
        X = rng.integers(values, size=(rows, columns)).astype(np.float32)
        centre, spread = (values - 1) / 2, np.sqrt((values**2 - 1) / 12)
        return X, scores_of((X[:, :28] - centre) / spread)

    return make


def with_gaps(columns: int, share: float) -> Maker:
    """Normal columns, of which a share of the values is missing."""

    def make(rng: np.random.Generator, rows: int) -> tuple[Inputs, np.ndarray]:
        X, scores = normal(columns)(rng, rows)
        X[rng.random(X.shape, dtype=np.float32) < share] = np.nan
        return X, scores

    return make


def mostly_empty(columns: int, filled: int) -> Maker:
    """Sparse rows of so many filled columns, of which every 25th has a say in the scores."""

    def make(rng: np.random.Generator, rows: int) -> tuple[Inputs, np.ndarray]:
        indices = rng.integers(columns, size=rows * filled)
        values = rng.random(rows * filled, dtype=np.float32) + np.float32(0.01)
        start = np.arange(0, rows * filled + 1, filled)
        X = sparse.csr_matrix((values, indices, start), shape=(rows, columns))
        X.sum_duplicates()
        effects = np.zeros((columns, SCORES))
        effects[::25] = rng.standard_normal((len(effects[::25]), SCORES))
        return X, X @ effects

    return make


def categories(levels: int, columns: int = 3, numbers: int = 10) -> Maker:
    """Categories of many levels beside numbers; the k-th level is drawn in proportion to 1/k."""

    def make(rng: np.random.Generator, rows: int) -> tuple[Inputs, np.ndarray]:
        X = rng.standard_normal((rows, numbers), dtype=np.float32)
        scores = scores_of(X)
        found: dict[str, Any] = {f"number {j}": X[:, j] for j in range(numbers)}
        frequency = 1.0 / np.arange(1, levels + 1)
        names = [f"level {k}" for k in range(levels)]
        for j in range(columns):
            codes = rng.choice(levels, size=rows, p=frequency / frequency.sum())
            scores += rng.normal(0.0, 0.8, (levels, SCORES))[codes]
            found[f"category {j}"] = pd.Categorical.from_codes(codes, names)
        return pd.DataFrame(found), scores

    return make


TABLES = (
    Table("tall", 100_000, 10_000, normal(28), trees=4, rounds=100),
    Table("small", 1_000, 10_000, normal(28), trees=40, rounds=100, noise=0.08),
    Table("wide", 10_000, 2_000, normal(1_000), trees=8, rounds=20, columns="sqrt"),
    Table("sparse", 20_000, 4_000, mostly_empty(5_000, 50), trees=4, rounds=10, columns="sqrt"),
    Table("0/1", 50_000, 10_000, steps(100, 2), trees=4, rounds=50),
    Table("few values", 50_000, 10_000, steps(28, 8), trees=4, rounds=50),
    Table("10 levels", 20_000, 10_000, categories(10), trees=8, rounds=50),
    Table("1,000 levels", 20_000, 10_000, categories(1_000), trees=8, rounds=50),
    Table("10,000 levels", 20_000, 10_000, categories(10_000), trees=8, rounds=50),
    Table("missing", 50_000, 10_000, with_gaps(28, 0.2), trees=4, rounds=50),
    Table("weights", 50_000, 10_000, normal(28), trees=4, rounds=50, weighted=True),
)
