"""The data: real sets from a folder of gzipped CSV files, and four classic generators.

The folder is named by the environment variable `WEALD_DATA`; without it, `shared/data` beside the
clone is tried. Each file has a header and the column `target` last; strings are categories and the
empty field is the only missing value.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from bench.categories import Inputs
from bench.measure import ROOT


def folder() -> Path:
    """Find the folder of the real sets."""
    path = Path(os.environ.get("WEALD_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        raise SystemExit(f"there is no folder {path}: set WEALD_DATA to the folder of the sets")
    return path


def path(name: str) -> Path:
    """Place of a set's file."""
    return folder() / f"{name}.csv.gz"


@lru_cache(maxsize=4)
def read(name: str) -> tuple[Inputs, np.ndarray]:
    """Read a set: its inputs, and its target as class codes or numbers."""
    frame = pd.read_csv(path(name), keep_default_na=False, na_values=[""])
    target = frame.pop("target")
    numeric = pd.api.types.is_numeric_dtype
    y = target.to_numpy() if numeric(target) else np.unique(target, return_inverse=True)[1]
    if all(map(numeric, frame.dtypes)):
        return frame.to_numpy(dtype=np.float64), y
    words = [column for column in frame if not numeric(frame[column])]
    return frame.astype(dict.fromkeys(words, "category")), y


def target(name: str) -> np.ndarray:
    """The target of a set as it stands in the file."""
    frame = pd.read_csv(path(name), usecols=["target"], keep_default_na=False, na_values=[""])
    return np.asarray(frame["target"])


def take(X: Inputs, rows: np.ndarray) -> Inputs:
    """Rows of a matrix or a frame."""
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


def as_numbers(X: Inputs) -> np.ndarray:
    """Inputs as a float matrix, categories as their codes in alphabetical order."""
    if isinstance(X, np.ndarray):
        return X
    columns = [
        column.cat.codes if column.dtype == "category" else column for _, column in X.items()
    ]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def split(n: int, parts: tuple[float, ...], seed: int) -> list[np.ndarray]:
    """Cut n shuffled rows into parts of the given shares; rows beyond the shares are left out."""
    order = np.random.default_rng(seed).permutation(n)
    ends = np.round(np.cumsum(parts) * n).astype(int)
    return np.split(order, ends)[: len(parts)]


def waveform(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes: random mixtures of two of three triangular waves, plus noise (CART, 1984)."""
    places = np.arange(1, 22)
    waves = np.array([np.maximum(6 - np.abs(places - peak), 0) for peak in (7, 15, 11)])
    first, second = np.array([(0, 1), (0, 2), (1, 2)]).T
    y = rng.integers(3, size=n)
    share = rng.random((n, 1))
    X = share * waves[first[y]] + (1.0 - share) * waves[second[y]]
    return X + rng.standard_normal((n, 21)), y


def twonorm(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two unit normals around plus and minus (a, ..., a), a = 2/sqrt(20) (Breiman 1996)."""
    y = rng.integers(2, size=n)
    centre = (2.0 / np.sqrt(20.0)) * np.where(y == 0, 1.0, -1.0)
    return rng.standard_normal((n, 20)) + centre[:, None], y


def threenorm(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Half around each of plus and minus (a, ..., a), against (a, -a, a, ...) (Breiman 1996)."""
    y = rng.integers(2, size=n)
    side = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    turns = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    centre = np.where((y == 0)[:, None], side[:, None], turns)
    return rng.standard_normal((n, 20)) + (2.0 / np.sqrt(20.0)) * centre, y


def ringnorm(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A normal of variance 4 around 0 against a unit normal around (a, ..., a) (Breiman 1996)."""
    y = rng.integers(2, size=n)
    noise = rng.standard_normal((n, 20))
    wide = (y == 0)[:, None]
    return np.where(wide, 2.0 * noise, noise + 2.0 / np.sqrt(20.0)), y


Generator: TypeAlias = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]

GENERATORS: dict[str, Generator] = {
    "waveform": waveform,
    "twonorm": twonorm,
    "threenorm": threenorm,
    "ringnorm": ringnorm,
}
