"""An additive model while it grows: its scores of the training rows, and one more round."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weald.stagewise.direction import AnyDirection, TreeDirection
from weald.input.holdout import Rows
from weald.losses.line_search import Step, best_step, negative_gradient
from weald.losses import Loss

__all__ = ["AdditiveModel"]

FloatArray = npt.NDArray[np.float64]


class AdditiveModel:
    """``F = init + sum_t nu_t h_t`` on the training rows.

    Parameters
    ----------
    loss : Loss
    train : Rows
    init : float
        Score of every row before the first round.

    Attributes
    ----------
    F : array of shape (n,)
    steps : list of float
        ``nu_t``, the learning rate included.
    losses : list of float
        Mean loss after 0, 1, ... rounds: each is lower than the one before.
    """

    def __init__(self, loss: Loss, train: Rows, init: float) -> None:
        self.loss = loss
        self.y, self._rows = train.y, train.row_weights
        self.F: FloatArray = np.full(len(train), init)
        self.steps: list[float] = []
        self.losses = [self._mean(self.F)]
        self._travelled = np.abs(self.F)  # of each row, the sizes of all that was added up
        self._largest = 0.0  # the most that a member says, before the learning rate

    def _mean(self, F: FloatArray) -> float:
        return self._rows.mean(self.loss.value(self.y, F))

    def advance(
        self, direction: TreeDirection | AnyDirection, t: int, learning_rate: float
    ) -> Step | None:
        """Make round t: the best member, the best step along it; None if no step helps."""
        r = negative_gradient(self.loss, self.y, self.F, self._travelled)
        if not r.any():
            return None
        h = direction.propose(t, r)
        step = best_step(self.loss, self.y, self.F, h, r, self._rows, self._largest)
        part = learning_rate * step.length * h
        lower = self._mean(self.F + part)
        if not lower < self.losses[-1]:
            return None
        direction.keep()
        self.F += part
        self._travelled += np.abs(part)
        self._largest = max(self._largest, float(np.abs(part).max()) / learning_rate)
        self.steps.append(learning_rate * step.length)
        self.losses.append(lower)
        return step
