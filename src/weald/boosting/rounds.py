"""A round of boosting, as work for the driver: differentiate, fit, step, add.

Gradient boosting and stagewise models differ in what they hand over:

=================  =========================  ==================================================
                   gradient boosting          stagewise
=================  =========================  ==================================================
learner            trees of gradient sums,    trees by any criterion, or estimators of any kind;
                   or any regressors          classifiers are fitted to the sign of the gradient
derivatives        order 1 or 2               order 1
step               newton, exact, gradient,   line search along the member, which must lower the
                   line_search                loss
scales of rounds   1, or DART's               the steps
=================  =========================  ==================================================
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Protocol

import numpy as np

from weald._engine import FloatArray
from weald.boosting.gradients import Gradients
from weald.boosting.model import AdditiveModel
from weald.boosting.sampling import RoundSampler
from weald.boosting.steps import Step
from weald.boosting.validation import Monitor
from weald.fitting.driver import NOTHING, Finished, Seen

__all__ = ["BoostingRounds", "GradientLearner", "Scaling"]


class GradientLearner(Protocol):
    """Members in the making, with raw predictions and derivatives of the training rows (K, n)."""

    raw: FloatArray

    def grow(self, number: int, multipliers: Any, columns: Any) -> None:
        """Fit the members of a round to the gradients."""

    def add(self, values: list[FloatArray]) -> list[Any]:
        """Give the members their values, and add these to the raw predictions; the members."""


class Scaling(Protocol):
    """How much rounds count relative to each other; kept in `model.scales`."""

    def before(self, t: int) -> None:
        """Round t is about to be made."""

    def after(self, rate: float) -> None:
        """Round t was made: set its scale."""


class BoostingRounds:
    """The rounds of an additive model.

    Parameters
    ----------
    model : AdditiveModel
        Gets the members.
    learner : GradientLearner
    gradients : Gradients
        Fills in the derivatives of the learner's rows.
    step : Step
        How far to go.
    sampler : RoundSampler, optional
        Rows and columns of each round; default: all.
    scaling : Scaling, optional
    monitor : Monitor, optional
        Rows that may stop the fit.
    total : int
        Rounds in the end.
    watched : bool
        Somebody wants to know the training loss after every round.
    no_step_ends : bool
        If one round takes no step, no later one would: end the fit.
    no_split_ends : int
        End the fit when no tree of so many rounds has found a split; 0: never.

    Attributes
    ----------
    losses : list of float
        Mean loss of the training rows after each round.
    best_scales : array, optional
        Scales of the rounds when the best of them was made.
    """

    def __init__(
        self,
        model: AdditiveModel,
        learner: GradientLearner,
        gradients: Gradients,
        step: Step,
        *,
        sampler: RoundSampler | None = None,
        scaling: Scaling | None = None,
        monitor: Monitor | None = None,
        total: int,
        watched: bool,
        no_step_ends: bool,
        no_split_ends: int = 0,
    ) -> None:
        self.model, self._learner, self._gradients = model, learner, gradients
        self._step, self._sampler, self._scaling = step, sampler, scaling
        self._monitor, self._total, self._no_step_ends = monitor, total, no_step_ends
        self._no_split_ends, self._without_split = no_split_ends, 0
        self._done = len(model.members)
        # Where nobody looks on, the loss of a round is a by-product of the next one's derivatives.
        self._loss_comes_later = (
            scaling is None and monitor is None and not watched and gradients.tells_the_loss
        )
        self._scales_of_complete_rounds = model.scales
        self.losses: list[float] = []
        self.best_scales: FloatArray | None = None
        self.number_name = "loss" if monitor is None or not monitor.held_out else "validation loss"

    def __len__(self) -> int:
        return self._done + len(self.losses)

    def advance(self, first: int, last: int, rate: float) -> bool:
        """Make one round."""
        t = first
        if self._scaling is not None:
            self._scaling.before(t)
        told = self._loss_comes_later and t > self._done
        loss_before = self._gradients.differentiate(told)
        if told:
            self._note(loss_before, t, rate)
        multipliers = columns = None
        if self._sampler is not None:
            multipliers = self._sampler.rows(t, self._gradients.gradients)
            columns = self._sampler.columns(t)
        self._learner.grow(t, multipliers, columns)
        values = self._step(rate)
        if self._no_split_ends:
            split = any(len(value) > 1 for value in values)
            self._without_split = 0 if split else self._without_split + 1
            if self._without_split == self._no_split_ends:
                raise Finished("no_split")
        if self._no_step_ends and not any(value.any() for value in values):
            raise Finished("no_step")
        self.model.members.add(self._learner.add([rate * value for value in values]))
        if self._scaling is not None:
            self._scaling.after(rate)
        elif self.model.scales is not None:  # a warm start from rounds with scales
            self.model.scales = np.append(self.model.scales, 1.0)
        self._rate = rate
        return True

    def look(self, done: int) -> Seen:
        """Loss of the training rows, loss and score of those held out."""
        monitor = self._monitor
        if done == self._done:  # rounds of a fit before: the monitor knows them
            return NOTHING if monitor is None else Seen(says_stop=monitor.rule.says_stop)
        if self._loss_comes_later and done < self._total:
            return NOTHING
        loss = self._gradients.mean_loss()
        if monitor is not None and monitor.look(self.model, self._learner.raw, loss):
            self.best_scales = None if self.model.scales is None else self.model.scales.copy()
        self._note(loss, done, self._rate)
        self._scales_of_complete_rounds = self.model.scales
        return Seen(
            train_loss=loss,
            validation_loss=None if monitor is None else monitor.loss,
            validation_score=None if monitor is None else monitor.score,
            says_stop=monitor is not None and monitor.rule.says_stop,
            final="perfect" if self._step.endless else None,
        )

    def cut(self, done: int) -> None:
        """Keep the first rounds only, and what is known of them."""
        if done < len(self.model.members):
            self.model.cut(done)
        del self.losses[done - self._done :]
        if self._monitor is not None:
            self._monitor.cut(done)

    def interrupted(self) -> None:
        """Take back what a round that is not complete has done."""
        self.model.scales = self._scales_of_complete_rounds
        self.cut(len(self))

    def _note(self, loss: float, t: int, rate: float) -> None:
        """The training loss after round t."""
        self.losses.append(loss)
        if not isfinite(loss):
            raise ValueError(
                f"The training loss is {loss} after round {t}: scores have left the range in which "
                f"the loss is a number, so learning_rate={rate:g} may be too large, or "
                "l2_regularization too small."
            )
