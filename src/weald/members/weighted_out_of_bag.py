"""Out-of-bag predictions of members with different weights.

The weights are given, or come from the members' own out-of-bag performance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from weald import combining
from weald._engine import FloatArray
from weald.members.out_of_bag import OutOfBag

__all__ = ["WeightedOutOfBag"]


class WeightedOutOfBag(OutOfBag):
    """Weighs every member, by its own out-of-bag rows or by a given weight.

    As the weight of a member depends on nothing but that member, the score after t members is the
    one an ensemble of t members has. The weights are chosen on the rows they are scored on, which
    flatters the score a little, the less the more rows there are.

    Parameters
    ----------
    given : array, optional
        A weight for each member. By default its out-of-bag performance gives it:
        :func:`weald.combining.weights_from_accuracy` or ``weights_from_squared_error``, averaged
        over several outputs.
    """

    answered: npt.NDArray[Any]  # sums of weights
    _weighs_alike = False

    def __init__(self, *arguments: Any, given: FloatArray | None = None, **settings: Any) -> None:
        self.given = given
        super().__init__(*arguments, **settings)
        rows = slice(None) if self.present is None else self.present
        variance = self.target[rows].var(axis=0)
        self._variance = np.where(variance > 0, variance, 1.0)

    def clear(self) -> None:
        """Forget all members."""
        super().clear()
        self.answered = np.zeros(len(self.target))
        self.weights: list[float] = []

    def add(self, rows: npt.NDArray[np.intp], values: FloatArray) -> None:
        """Add a member: the rows it did not see, and its values for them."""
        values = values.reshape(len(rows), *self.sums.shape[1:])
        t = self.n_members
        weight = self._weight(rows, values) if self.given is None else float(self.given[t])
        self.weights.append(weight)
        self.sums[rows] += weight * values
        self.answered[rows] += weight
        self._note()

    def _weight(self, rows: npt.NDArray[np.intp], values: FloatArray) -> float:
        if self.present is not None:
            values, rows = values[self.present[rows]], rows[self.present[rows]]
        n = len(rows)
        if self.classes is None:
            squares = ((values[:, :, 0] - self.target[rows]) ** 2 / self._variance).mean(axis=1)
            error = squares.mean() if n else np.nan
            return float(combining.weights_from_squared_error([error], [n])[0])
        right = values.argmax(axis=2) == self.target[rows]
        accuracy = right.mean(axis=0) if n else np.full(len(self.classes), np.nan)
        by_output = [
            combining.weights_from_accuracy([share], [n], len(classes))[0]
            for share, classes in zip(accuracy, self.classes, strict=True)
        ]
        return float(np.mean(by_output))
