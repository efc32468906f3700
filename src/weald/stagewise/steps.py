"""Gradient and step of a stagewise model: a line search along the member, which must help.

The training loss never rises: a step that does not lower it, be it by rounding, is not taken and
ends the fit. So for no loss, learning rate or data can scores leave the range of floats. Where no
row is wrong the loss of two classes may fall for ever; the step is then the one AdaBoost takes for
an error of 0, and ends the fit. In one step scores of probabilities and logarithms move by no more
than 64.

After an exact step of absolute error some score equals its target but for rounding, and the sign of
the difference would be noise. Such scores count as equal, so that a row of weight k and k copies of
it stay together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weald._engine import FloatArray
from weald.boosting.gradients import Gradients, Scored
from weald.boosting.model import AdditiveModel
from weald.boosting.objective import Objective
from weald.boosting.steps import Step
from weald.fitting.driver import Finished
from weald.input.fit_data import FitData
from weald.losses.line_search import best_step, negative_gradient

__all__ = ["LineSearch", "StagewiseGradients"]


class StagewiseGradients(Gradients):
    """One loss of one score, with corners at targets that are met but for rounding.

    Attributes
    ----------
    travelled : array of shape (n,)
        Of each row, the sizes of all that was added up.
    loss_now : float
        Mean loss of the training rows.
    """

    def __init__(self, objective: Objective, rows: FitData, scored: Scored) -> None:
        super().__init__(objective, rows, scored, threads=1)
        self.row_weights = rows.row_weights
        self.travelled = np.abs(self.raw[0])
        self.loss_now = self.mean_at(self.raw[0])

    def mean_at(self, F: FloatArray) -> float:
        """Mean loss of the training rows at these raw predictions."""
        return self.row_weights.mean(self.losses[0].value(self.y[0], F))

    @property
    def tells_the_loss(self) -> bool:
        """The step does."""
        return False

    def differentiate(self, tell: bool) -> float:
        """Fill the gradients; there is no step where all of them are 0."""
        r = negative_gradient(self.losses[0], self.y[0], self.raw[0], self.travelled)
        if not r.any():
            raise Finished("no_step")
        self.gradients[0] = -r
        return float("nan")

    def mean_loss(self) -> float:
        """Mean loss of the training rows, which the step has found."""
        return self.loss_now


class LineSearch(Step):
    """The best step along a member, if it lowers the loss; rounds are scaled by their steps.

    Parameters
    ----------
    learner : members in the making
    gradients : StagewiseGradients
    model : AdditiveModel
        Gets the steps as scales.
    """

    def __init__(self, learner: Any, gradients: StagewiseGradients, model: AdditiveModel) -> None:
        self._learner, self._gradients, self._model = learner, gradients, model
        self._largest = 0.0  # the most that a member says, before the learning rate
        self._length = 0.0

    def __call__(self, rate: float) -> list[FloatArray]:
        """How far to go along the member, before the learning rate."""
        now = self._gradients
        loss, y, F = now.losses[0], now.y[0], now.raw[0]
        h = self._learner.said([np.ones(1)])[0]
        step = best_step(loss, y, F, h, -now.gradients[0], now.row_weights, self._largest)
        part = rate * step.length * h
        lower = now.mean_at(F + part)
        if not lower < now.loss_now:
            raise Finished("no_step")
        now.loss_now = lower
        now.travelled += np.abs(part)
        self._largest = max(self._largest, float(np.abs(part).max()) / rate)
        self._length, self.endless = step.length, step.endless
        return [np.array([step.length])]

    def before(self, t: int) -> None:
        """Rounds do not change each other."""

    def after(self, rate: float) -> None:
        """The round counts as much as its step is long."""
        assert self._model.scales is not None
        self._model.scales = np.append(self._model.scales, rate * self._length)
