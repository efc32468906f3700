"""The loop of AdaBoost: fit, look at the error, vote, reweight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from weald.adaboost.algorithms import Stage
from weald.adaboost.learners import Rounds
from weald.adaboost.params import BoostParams
from weald.fitting.progress import progress
from weald.members.foreign import Counts
from weald.members.out_of_bag import first_flat
from weald.params.warnings import warn_user

__all__ = ["History", "Method", "boost"]

FloatArray = npt.NDArray[np.float64]

# The vote of a member without error, whose formula says infinity: that of the best before it, but
# no less than this, the half log odds of an error of 1.8 %. If it outvoted all others the rest of
# the ensemble would be lost, which costs accuracy on new rows.
_SURE = 2.0
_REDRAWS = 10  # of one round, before boosting gives up
_NO_EDGE = 1e-12  # rounding alone may give so much, where an edge is really 0
_MOST_EXPONENT = 700.0  # e to the power of more is too large for a number
# Members numbered from here on are the second, third, ... draw of a round.
_REDRAW_KEY = 1 << 32


class Method(Protocol):
    """How a member is judged."""

    @property
    def alpha(self) -> float | None:
        """What every member counts; None if that follows from its error."""

    @property
    def any_edge(self) -> bool:
        """A member counts whatever its edge is."""

    @property
    def hopeless(self) -> str:
        """What a model without a useful member does, for a warning."""

    def stage(self, said: FloatArray, weights: FloatArray, counts: Counts = None) -> Stage:
        """What a member says in each group of rows, and how much that is worth."""


@dataclass
class History:
    """What is kept of every round."""

    errors: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    normalizers: list[float] = field(default_factory=list)
    weights: list[FloatArray] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    reason: str = "n_estimators"


def boost(
    rounds: Rounds,
    rule: Method,
    params: BoostParams,
    keep: Callable[[Any, Stage, float], None],
    score: Callable[[], float] | None,
    name: str,
) -> History:
    """Make the members.

    Parameters
    ----------
    rounds : Rounds
    rule : Method
    params : BoostParams
    keep : callable
        Takes a member that stays, its stage and its vote.
    score : callable, optional
        The validation score of the members kept.
    name : str
        What is fitted, for the bar.
    """
    history = History()
    if params.keep_weights:
        history.weights.append(rounds.weights)
    shown = "validation score"
    with progress(params.n_estimators, 0, params.verbose, name, shown) as bar:
        for t in range(params.n_estimators):
            stage = _usable(rounds, rule, params, t)
            if stage.edge <= _least_edge(rule, params):
                first, last = not history.alphas, t + 1 == params.n_estimators
                if params.when_worse == "skip" and rounds.varies and not (first and last):
                    bar.show(t + 1)
                    continue
                history.reason = "worse" if stage.edge <= _NO_EDGE else "edge"
                if first:
                    chance = f"chance by min_edge={params.min_edge:g}"
                    warn_user(
                        f"No member of {name} is better than "
                        f"{chance if params.min_edge > 0 else 'chance'}: {rule.hopeless}."
                    )
                    lone = replace(stage, edge=0.0)  # without a vote it moves no bound
                    _note(history, rounds, params, lone, 0.0, 1.0, keep, score)
                break
            perfect = stage.error == 0 and rule.alpha is None
            if perfect:
                alpha = max(params.learning_rate * _SURE, *history.alphas, 0.0)
                normalizer = float(np.exp(-alpha))
                history.reason = "perfect"
            else:
                alpha = params.learning_rate * stage.alpha
                normalizer = rounds.reweight(_factors(alpha * stage.margins, t, params))
            _note(history, rounds, params, stage, alpha, normalizer, keep, score)
            if perfect:
                break
            if history.validation and _rests(history.validation, params):
                history.reason = "no_change"
                break
            bar.show(t + 1, history.validation[-1] if history.validation else None)
    return history


def _rests(scores: list[float], params: BoostParams) -> bool:
    """Whether the validation score has not risen for too long."""
    patience = params.patience
    return patience is not None and first_flat(scores, patience, params.tol) is not None


def _least_edge(rule: Method, params: BoostParams) -> float:
    return -np.inf if rule.any_edge else max(params.min_edge, _NO_EDGE)


def _usable(rounds: Rounds, rule: Method, params: BoostParams, t: int) -> Stage:
    """The stage of round t; drawn again, if asked for, while it is no better than chance."""
    for again in range(_REDRAWS if params.when_worse == "redraw" else 1):
        stage = rule.stage(*rounds.fit(t + again * _REDRAW_KEY))
        if stage.edge > _least_edge(rule, params):
            break
    return stage


def _factors(margins: FloatArray, t: int, params: BoostParams) -> FloatArray:
    """By which weights are multiplied."""
    most = float(np.abs(margins).max())
    if not most <= _MOST_EXPONENT:
        raise ValueError(
            f"Round {t + 1} would multiply weights by e^{most:g}, beyond all numbers: "
            f"learning_rate={params.learning_rate:g} is too large."
        )
    factors: FloatArray = np.exp(-margins)
    return factors


def _note(
    history: History,
    rounds: Rounds,
    params: BoostParams,
    stage: Stage,
    alpha: float,
    normalizer: float,
    keep: Callable[[Any, Stage, float], None],
    score: Callable[[], float] | None,
) -> None:
    rounds.advance(stage, alpha)
    keep(rounds.member, stage, alpha)
    history.errors.append(stage.error)
    history.edges.append(stage.edge)
    history.alphas.append(alpha)
    history.normalizers.append(normalizer)
    if score is not None:
        history.validation.append(score())
    if params.keep_weights:
        history.weights.append(rounds.weights)
