"""The loop of gradient boosting: differentiate, grow, step, add."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

import numpy as np
import numpy.typing as npt

from weald.boosting.dart import Dart
from weald.boosting.learners import MemberRounds, TreeRounds
from weald.boosting.model import BoostedSum
from weald.boosting.params import GradientParams
from weald.boosting.gradients import Pull
from weald.boosting.sampling import RoundSampler
from weald.boosting.steps import Step
from weald.boosting.watch import Audience, Judge
from weald.fitting.progress import progress

__all__ = ["Course", "boost"]

FloatArray = npt.NDArray[np.float64]


@dataclass
class Course:
    """What is kept of the rounds.

    Attributes
    ----------
    losses : list of float
        Mean loss of the training rows after each round.
    reason : str
        Why there were no more.
    kept : int or None
        How many rounds are to be used, if a callback said so.
    best_scales : array, optional
        Scales of the rounds (DART) when the best of them was made.
    """

    losses: list[float] = field(default_factory=list)
    reason: str = "n_estimators"
    kept: int | None = None
    best_scales: FloatArray | None = None

    def note(self, loss: float, t: int, rate: float) -> None:
        """The training loss after round t."""
        self.losses.append(loss)
        if not isfinite(loss):
            raise ValueError(
                f"The training loss is {loss} after round {t}: scores have left the range in which "
                f"the loss is a number, so learning_rate={rate:g} may be too large, or "
                "l2_regularization too small."
            )


def boost(
    rounds: TreeRounds | MemberRounds,
    pull: Pull,
    step: Step,
    sampler: RoundSampler,
    model: BoostedSum,
    dart: Dart | None,
    judge: Judge | None,
    audience: Audience | None,
    params: GradientParams,
    varies: bool,
    name: str,
) -> Course:
    """Make the rounds that the model does not have yet.

    Parameters
    ----------
    rounds : members in the making, with the scores of the training rows
    pull : Pull
        Fills in their gradients.
    step : Step
        How far to go.
    sampler : RoundSampler
        Rows and columns of each round.
    model : BoostedSum
        Gets the members.
    dart : Dart, optional
        Leaves rounds out.
    judge : Judge, optional
        Rows that may stop the fit.
    audience : Audience, optional
        Callbacks.
    params : GradientParams
    varies : bool
        A round that brings nothing may be followed by another one.
    name : str
        What is fitted, for the bar.
    """
    course = Course()
    done, rate = len(model.members), params.learning_rate
    # Where nobody looks on, the loss of a round is a by-product of the next one's derivatives.
    alone = dart is None and judge is None and audience is None and params.verbose == 0
    later = alone and pull.tells
    shown = "loss" if judge is None or not judge.held_out else "validation loss"
    with progress(params.n_estimators, done, params.verbose, name, shown) as bar:
        for t in range(done, params.n_estimators):
            if audience is not None:
                rate = audience.rate()
            if dart is not None:
                dart.leave_out(t)
            here = pull.differentiate()
            if later and t > done:
                course.note(here, t, rate)
            rounds.grow(t, sampler.rows(t, pull.gradients), sampler.columns(t))
            values = step(rate)
            if not varies and params.step == "line_search" and not any(v.any() for v in values):
                course.reason = "no_step"
                break
            model.members.add(rounds.add([rate * value for value in values]))
            if dart is not None:
                dart.rescale(rate)
            if later and t + 1 < params.n_estimators:
                continue
            loss = pull.mean_loss()
            course.note(loss, t + 1, rate)
            if judge is not None and judge.look(model, rounds.scores, loss) and dart is not None:
                course.best_scales = dart.scales.copy()
            bar.show(t + 1, loss if judge is None or judge.loss is None else judge.loss)
            if audience is not None and audience.round(t + 1, loss, judge):
                course.reason = "callback"
                break
            if judge is not None and judge.rests:
                course.reason = "no_change"
                break
    if audience is not None:
        course.kept = audience.end()
    return course
