"""Callbacks as a fit tells them: what was given, checked, and asked round by round."""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np

from weald.callbacks import State
from weald.params.growth import is_int, is_real, refuse

__all__ = ["Listeners", "check_callbacks"]

_HOOKS = ("on_begin", "on_round", "on_end", "learning_rate", "rounds_to_keep")


def check_callbacks(callbacks: Any) -> list[Any]:
    """A list of callbacks, or one of them."""
    if callbacks is None:
        return []
    if callable(callbacks) or any(hasattr(callbacks, hook) for hook in _HOOKS):
        callbacks = [callbacks]
    wanted = "None, or a list of weald.callbacks or of functions of a state"
    try:
        given = list(callbacks)
    except TypeError as error:
        raise refuse("callbacks", wanted, callbacks) from error
    for one in given:
        known = callable(one) or any(callable(getattr(one, hook, None)) for hook in _HOOKS)
        if isinstance(one, type) or not known:
            raise refuse("callbacks", wanted, callbacks)
    return given


class Listeners:
    """Callbacks, told about every round.

    Parameters
    ----------
    callbacks : list
    estimator : the estimator that is fitted
    planned : int
        Rounds in the end.
    learning_rate : float
    done : int
        Rounds of earlier fits.
    """

    def __init__(
        self, callbacks: list[Any], estimator: Any, planned: int, learning_rate: float, done: int
    ) -> None:
        self._callbacks = callbacks
        self._began = monotonic()
        self._estimator, self._planned = estimator, planned
        self._rate = learning_rate
        self._state = self._now(done, {})
        self._tell("on_begin")

    @property
    def heard(self) -> int:
        """Rounds that callbacks were told of."""
        return self._state.round

    def _now(self, done: int, seen: dict[str, float | None]) -> State:
        return State(
            round=done,
            n_rounds=self._planned,
            elapsed=monotonic() - self._began,
            learning_rate=self._rate,
            estimator=self._estimator,
            **seen,
        )

    def _tell(self, hook: str) -> list[Any]:
        """Answers of callbacks with this method; plain functions are called after rounds only."""
        answers = []
        for one in self._callbacks:
            hears = getattr(one, hook, None)
            if hears is None and hook == "on_round" and callable(one):
                hears = one
            if hears is not None:
                answers.append(hears(self._state))
        return answers

    def rate(self) -> float:
        """The learning rate of the next round; the last callback that names one wins."""
        for answer in self._tell("learning_rate"):
            if answer is None:
                continue
            if not is_real(answer) or not 0 < answer < np.inf:
                raise ValueError(
                    f"A callback wants the learning rate {answer!r}: it must be a finite number "
                    "> 0."
                )
            self._rate = float(answer)
        return self._rate

    def round(self, done: int, seen: dict[str, float | None]) -> bool:
        """Tell of a round; True if a callback asks to stop."""
        self._state = self._now(done, seen)
        answers = [answer for answer in self._tell("on_round") if answer is not None]
        for answer in answers:
            if not isinstance(answer, bool | np.bool_):  # a loss that was returned, perhaps
                raise TypeError(
                    f"A callback must return True (stop), False or None, got {answer!r}."
                )
        return any(answers)

    def end(self) -> int | None:
        """The last round was made; how many of them are to be used, if somebody says so."""
        self._tell("on_end")
        kept = [answer for answer in self._tell("rounds_to_keep") if answer is not None]
        for answer in kept:
            if not is_int(answer) or not 0 <= answer <= self._state.round:
                raise ValueError(
                    f"A callback wants to keep {answer!r} of {self._state.round} rounds."
                )
        return min(map(int, kept)) if kept else None
