"""Callbacks: look on while an ensemble is fitted, and have a say in it.

A callback is told about every round by a :class:`State`. It may stop the fit, choose the learning
rate of the next round, and say how many rounds the model keeps. Plain functions ``f(state)`` are
callbacks too, and stop the fit by returning True.

>>> import numpy as np
>>> from weald import GradientBoostingRegressor
>>> x, history = np.linspace(0, 6, 200)[:, None], History()
>>> good_enough = lambda state: state.train_loss < 0.01
>>> model = GradientBoostingRegressor(
...     n_estimators=200, learning_rate=0.1, callbacks=[history, good_enough]
... ).fit(x, np.sin(x[:, 0]))
>>> model.n_estimators_ < 50, len(history.states) == model.n_estimators_
(True, True)

Errors that a callback raises end the fit. A model copies its callbacks when it is cloned, as in a
grid search, so look there at those of the fitted copy, ``model.callbacks``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO

import numpy as np

from weald.params.growth import check_count, check_flag, check_fraction, is_real, refuse
from weald.params.stopping import Stopping

__all__ = [
    "Callback",
    "EarlyStopping",
    "History",
    "LearningRateSchedule",
    "Progress",
    "State",
    "TimeLimit",
]


@dataclass(frozen=True)
class State:
    """What is known after a round.

    Attributes
    ----------
    round : int
        Number of the round just made, from 1; 0 before the first. A warm start counts on.
    n_rounds : int
        Rounds that are planned, those of earlier fits of a warm start included.
    train_loss, validation_loss : float or None
        Mean loss of the training rows and of the rows held out, if it was worked out.
    validation_score : float or None
        Score of the rows held out by the estimator's `scoring`, if that is not the loss. Higher is
        better. For forests and bagging the out-of-bag score, NaN as long as few rows have one.
    elapsed : float
        Seconds since the fit began.
    learning_rate : float
        Of the round just made.
    estimator : object
        The estimator that is being fitted: its parameters. It cannot predict yet.
    """

    round: int
    n_rounds: int
    train_loss: float | None = None
    validation_loss: float | None = None
    validation_score: float | None = None
    elapsed: float = 0.0
    learning_rate: float = 1.0
    estimator: Any = None


class Callback:
    """A callback that does nothing: subclass it and write the methods you need.

    An object may serve one fit after the other; `on_begin` is the place to start anew.

    Examples
    --------
    >>> class Halving(Callback):
    ...     def learning_rate(self, state):
    ...         return 0.5**state.round
    """

    def on_begin(self, state: State) -> None:
        """The fit begins; ``state.round`` is 0, or what a warm start goes on from."""

    def on_round(self, state: State) -> bool | None:
        """A round was made; True stops the fit."""

    def on_end(self, state: State) -> None:
        """The last round was made."""

    def learning_rate(self, state: State) -> float | None:
        """The rate of the round after ``state.round``; None leaves it as it is."""

    def rounds_to_keep(self, state: State) -> int | None:
        """How many rounds the model keeps, asked after the last one; None keeps all."""


class TimeLimit(Callback):
    """Stop after the first round that ends after so many seconds.

    Parameters
    ----------
    seconds : float > 0

    Examples
    --------
    >>> limit = TimeLimit(60)
    >>> [limit.on_round(State(t, 100, elapsed=20.0 * t)) for t in (1, 2, 3)]
    [False, False, True]
    """

    def __init__(self, seconds: float) -> None:
        if not is_real(seconds) or not seconds > 0:
            raise refuse("seconds of TimeLimit", "a number > 0", seconds)
        self.seconds = float(seconds)

    def on_round(self, state: State) -> bool:
        """Whether the time is up."""
        return state.elapsed >= self.seconds


class EarlyStopping(Callback):
    """Stop when the rows held out have seen no gain for a while.

    Give `X_val` and `y_val` to ``fit``. The score is watched if `scoring` is one, else the loss.

    Parameters
    ----------
    patience : int >= 1
        Stop when so many rounds have not gained anything.
    tol : float >= 0, default 0.0
        A gain of no more than this, over so many rounds, is none.
    restore_best : bool, default True
        The model keeps the rounds up to the best one only.

    Attributes
    ----------
    best_round : int
        0 before the first round.
    best_value : float
        The loss or the score of that round.

    Examples
    --------
    >>> stop = EarlyStopping(patience=2)
    >>> stop.on_begin(State(0, 100))
    >>> losses = [3.0, 2.0, 2.5, 2.1]
    >>> [stop.on_round(State(t, 100, validation_loss=l)) for t, l in enumerate(losses, 1)]
    [False, False, False, True]
    >>> stop.best_round, stop.best_value
    (2, 2.0)
    """

    def __init__(self, patience: int, tol: float = 0.0, restore_best: bool = True) -> None:
        self.patience = check_count("patience of EarlyStopping", patience, least=1)
        self.tol = check_fraction("tol of EarlyStopping", tol, low=0.0, high=np.inf)
        self.restore_best = check_flag("restore_best of EarlyStopping", restore_best)
        self._start_anew(0)

    def _start_anew(self, done: int) -> None:
        self._rule, self._heard = Stopping(self.patience, self.tol), done
        self.best_round, self.best_value = done, np.nan

    def on_begin(self, state: State) -> None:
        """Forget the fit before, unless this one goes on from its end or its best round."""
        going_on = state.round > 0 and not np.isnan(self.best_value)
        if going_on and state.round == self.best_round:
            self._rule.back_to(self._rule.best_round)
        elif not going_on or state.round != self._heard:
            self._start_anew(state.round)

    def on_round(self, state: State) -> bool:
        """Whether patience is over."""
        value, sign = state.validation_loss, -1
        if state.validation_score is not None:
            value, sign = state.validation_score, 1
        if value is None:
            raise ValueError(
                "EarlyStopping needs rows held out: give X_val and y_val to fit, or set "
                "n_iter_no_change, which holds out validation_fraction of the rows (oob_score=True "
                "for forests and bagging)."
            )
        self._heard = state.round
        if self._rule.note(sign * value):
            self.best_round, self.best_value = state.round, value
        return self._rule.says_stop

    def rounds_to_keep(self, state: State) -> int | None:
        """The best round, if it is to be restored and there is one."""
        return self.best_round if self.restore_best and not np.isnan(self.best_value) else None


class LearningRateSchedule(Callback):
    """A learning rate for every round; forests and bagging have none, and make nothing of it.

    Parameters
    ----------
    schedule : function of the number of a round, 1, 2, ..., or sequence of numbers
        The rate of each round. Rounds beyond a sequence have its last rate.

    Examples
    --------
    >>> falling = LearningRateSchedule(lambda t: 0.3 * 0.99**t)
    >>> falling.learning_rate(State(round=0, n_rounds=100))
    0.297
    >>> steps = LearningRateSchedule([0.5, 0.1])
    >>> [steps.learning_rate(State(round=t, n_rounds=4)) for t in range(4)]
    [0.5, 0.1, 0.1, 0.1]
    """

    def __init__(self, schedule: Callable[[int], float] | Sequence[float]) -> None:
        if not callable(schedule) and (np.ndim(schedule) != 1 or len(schedule) == 0):
            wanted = "a function of the number of a round or a sequence of rates"
            raise refuse("schedule of LearningRateSchedule", wanted, schedule)
        self.schedule = schedule

    def learning_rate(self, state: State) -> float:
        """The rate of the round to come."""
        if callable(self.schedule):
            return self.schedule(state.round + 1)
        return self.schedule[min(state.round, len(self.schedule) - 1)]


class Progress(Callback):
    """Write a line every so many rounds, and one at the end.

    Parameters
    ----------
    every : int >= 1, default 10
    stream : text stream, optional
        None is standard error. (Models with an open file here cannot be pickled.)

    Examples
    --------
    >>> line = Progress(stream=sys.stdout)
    >>> line.on_begin(State(0, 40))
    >>> line.on_round(State(10, 40, train_loss=0.25, validation_loss=0.5, elapsed=2.0))
    round 10 of 40, train loss 0.25, validation loss 0.5, 2.0 s, 6.0 s left
    """

    def __init__(self, every: int = 10, stream: TextIO | None = None) -> None:
        self.every = check_count("every of Progress", every, least=1)
        self.stream = stream
        self._begin = 0

    def __deepcopy__(self, memo: Any) -> Progress:
        """A copy that writes to the same stream: streams themselves cannot be copied."""
        return Progress(self.every, self.stream)

    def on_begin(self, state: State) -> None:
        """Count the time left from here."""
        self._begin = state.round

    def on_round(self, state: State) -> None:
        """Write if it is this round's turn."""
        if state.round % self.every == 0:
            self._write(state)

    def on_end(self, state: State) -> None:
        """Write about the last round, if that was not its turn."""
        if state.round % self.every:
            self._write(state)

    def _write(self, state: State) -> None:
        parts = [f"round {state.round} of {state.n_rounds}"]
        for name in ("train_loss", "validation_loss", "validation_score"):
            value = getattr(state, name)
            if value is not None:
                parts.append(f"{name.replace('_', ' ')} {value:.6g}")
        parts.append(f"{state.elapsed:.1f} s")
        pace = state.elapsed / max(state.round - self._begin, 1)
        if state.round < state.n_rounds:
            parts.append(f"{pace * (state.n_rounds - state.round):.1f} s left")
        print(*parts, sep=", ", file=self.stream or sys.stderr, flush=True)


class History(Callback):
    """Remember what every round of the last fit was told.

    Attributes
    ----------
    states : list of State
        One per round, without the estimator.

    Examples
    --------
    >>> history = History()
    >>> for t in (1, 2):
    ...     history.on_round(State(t, 2, train_loss=1 / t))
    >>> history.curve("train_loss")
    [1.0, 0.5]
    """

    def __init__(self) -> None:
        self.states: list[State] = []

    def on_begin(self, state: State) -> None:
        """Forget the fit before."""
        self.states = []

    def on_round(self, state: State) -> None:
        """Remember the round, but not the model, or it would be kept with every copy of this."""
        self.states.append(replace(state, estimator=None))

    def curve(self, name: str) -> list[Any]:
        """One attribute of all states, such as ``curve("validation_loss")``."""
        return [getattr(state, name) for state in self.states]
