"""Keys of rows: 64 bits that depend on what a row says, and on nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Keys", "bits_of", "row_keys"]

Keys: TypeAlias = npt.NDArray[np.uint64]

_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Of splitmix64 (Steele, Lea & Flood 2014)."""


def row_keys(columns: Iterable[Keys], n: int) -> Keys:
    """A key for each of n rows, of the bits of its cells: every bit of it depends on all of them.

    Parameters
    ----------
    columns : iterable of arrays of shape (n,)
        Bits of the cells, column by column.
    n : int
        Number of rows.

    Examples
    --------
    >>> a, b, c = row_keys([bits_of([1.0, 2.0, -0.0]), bits_of([2.0, 1.0, 0.0])], 3).tolist()
    >>> len({a, b, c}), [c] == row_keys([bits_of([0.0]), bits_of([-0.0])], 1).tolist()
    (3, True)
    """
    keys = np.zeros(n, dtype=np.uint64)
    for bits in columns:
        keys = (keys ^ bits) * np.uint64(_FACTORS[0])
        keys ^= keys >> np.uint64(32)
    for factor, shift in zip(_FACTORS[1:], (27, 31), strict=True):
        keys *= np.uint64(factor)
        keys ^= keys >> np.uint64(shift)
    return keys


def bits_of(numbers: npt.ArrayLike) -> Keys:
    """The bits of numbers; there is one zero, and one way to be missing."""
    values = np.asarray(numbers, dtype=np.float64) + 0.0  # -0 is 0
    values[np.isnan(values)] = np.nan  # one of the many forms of NaN
    return values.view(np.uint64)
