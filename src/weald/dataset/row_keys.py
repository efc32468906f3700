"""Whether the rows of a file are rows of a fit: told by a few keys, not by the rows themselves.

Every row, target included, gets a key of 64 bits. A model file keeps the smallest keys of its
training rows, which are a sample of them that any other file can be held against: of its rows, too,
those with small keys are looked at, and if a row was in the fit its key is among those kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from weald.dataset.cells import Coded, FloatArray
from weald.input.row_keys import Keys, bits_of, row_keys

__all__ = ["Overlap", "keys_of", "sample_keys"]

_KEPT = 256  # keys of a fit
_LOOKED = 4096  # keys of another file, if a fit of few rows lets pass more
_ALL = 2**64 - 1


def keys_of(columns: Mapping[str, FloatArray | Coded], y: npt.NDArray[Any]) -> Keys:
    """A key for every row, of what a model sees of it and the target.

    >>> a = keys_of({"x": np.array([1.0, 2.0])}, np.array(["u", "v"], dtype=object))
    >>> b = keys_of({"x": np.array([2.0, 2.0])}, np.array(["v", "u"], dtype=object))
    >>> bool(a[1] == b[0]), len({*a.tolist(), *b.tolist()})
    (True, 3)
    """
    return row_keys(map(_bits, (*columns.values(), y)), len(y))


def sample_keys(keys: Keys) -> list[str]:
    """The smallest keys, as text for a model file."""
    return [f"{key:016x}" for key in _smallest(keys, _KEPT).tolist()]


class Overlap:
    """Counts which rows of a file were in a fit.

    Parameters
    ----------
    kept : list of str
        Keys of training rows, as :func:`sample_keys` gives them.
    """

    def __init__(self, kept: list[str]) -> None:
        self._kept = {int(key, 16) for key in kept}
        # Fewer keys than are kept are those of all rows.
        self._last = _ALL if len(kept) < _KEPT else max(self._kept)
        self._seen = np.zeros(0, dtype=np.uint64)

    def add(self, keys: Keys) -> None:
        """Look at some rows."""
        small = keys[keys <= np.uint64(self._last)]
        self._seen = _smallest(np.concatenate([self._seen, small]), _LOOKED)

    def share(self) -> float:
        """About which part of the different rows were in the fit."""
        seen = self._seen.tolist()
        return sum(key in self._kept for key in seen) / len(seen) if seen else 0.0


def _smallest(keys: Keys, most: int) -> Keys:
    """The smallest different keys, in their order."""
    size = 4 * most  # it is quicker not to sort all
    while size < len(keys):
        found = np.unique(np.partition(keys, size)[:size])
        if len(found) > most:
            return found[:most]
        size *= 8
    return np.unique(keys)[:most]


def _bits(cells: FloatArray | Coded | npt.NDArray[Any]) -> Keys:
    if isinstance(cells, Coded):
        return np.array([*map(_label_key, cells.labels), 0], dtype=np.uint64)[cells.codes]
    if cells.dtype.kind == "O":
        labels = {label: 0 if label is None else _label_key(label) for label in set(cells.tolist())}
        return np.array([labels[label] for label in cells.tolist()], dtype=np.uint64)
    return bits_of(cells)


def _label_key(label: Any) -> int:
    return int.from_bytes(blake2b(str(label).encode(), digest_size=8).digest(), "little")
