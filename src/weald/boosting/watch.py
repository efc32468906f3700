"""Who looks on while a model is boosted: rows that judge it, and callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import check_scoring

from weald.boosting.data import Sample
from weald.boosting.model import BoostedSum
from weald.boosting.objective import Objective
from weald.boosting.params import GradientParams
from weald.params.growth import is_int, is_real, refuse
from weald.callbacks import State

__all__ = ["Audience", "Judge", "check_callbacks", "make_scorer"]

FloatArray = npt.NDArray[np.float64]
_WORDS = ("on_begin", "on_round", "on_end", "learning_rate", "rounds_to_keep")


class KnownScores:
    """A model whose scores are already known, of certain rows: what a scorer may ask in a fit."""

    def __init__(self) -> None:
        self.F = np.empty((0, 0))

    def scores(self, ensemble: Any, X: Any, offset: Any, threads: int) -> FloatArray:
        """The scores of the rows that judge."""
        if X.shape[0] != len(self.F):
            raise ValueError("While a model is fitted, scoring may ask about all given rows only.")
        return self.F


@dataclass(eq=False)
class Scorer:
    """scikit-learn's scoring, on scores that are known."""

    rule: Any
    ensemble: Any  # a copy of the estimator that knows its scores
    known: KnownScores
    rows: Sample
    truth: npt.NDArray[Any]

    def __call__(self, F: FloatArray) -> float:
        """Score of the rows with the scores F (n, n_scores)."""
        self.known.F = F
        rows = self.rows
        X = rows.X if rows.raw is None else rows.raw
        if rows.weights is None:
            return float(self.rule(self.ensemble, X, self.truth))
        return float(self.rule(self.ensemble, X, self.truth, sample_weight=rows.weights))


def make_scorer(ensemble: Any, rows: Sample) -> Scorer | None:
    """What `scoring` means for these rows; None for the loss."""
    if isinstance(ensemble.scoring, str) and ensemble.scoring == "loss":
        return None
    asked, known = copy(ensemble), KnownScores()
    asked._model = known
    try:
        rule = check_scoring(asked, scoring=ensemble.scoring)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scoring={ensemble.scoring!r}: {error}") from error
    return Scorer(rule, asked, known, rows, ensemble._truth(rows.y))


class Judge:
    """Loss and score of rows after each round, and whether they say stop.

    Parameters
    ----------
    objective : Objective
    rows : Sample, optional
        Rows held out; None judges by the training rows.
    model : BoostedSum
        As far as it is there.
    scorer : Scorer, optional
        None judges by the loss.
    params : GradientParams
    curve : sequence of float
        What was seen in earlier fits of a warm start.
    """

    def __init__(
        self,
        objective: Objective,
        rows: Sample | None,
        model: BoostedSum,
        scorer: Scorer | None,
        params: GradientParams,
        curve: Sequence[float],
    ) -> None:
        self._objective, self._rows, self._scorer = objective, rows, scorer
        self._threads, self.patience, self._tol = params.threads, params.patience, params.tol
        self.curve = list(curve)
        self._best: list[float] = []  # so far, as something that is to rise
        for value in self.curve:
            self._note(value)
        self.loss: float | None = None
        self.score: float | None = None
        if rows is not None:
            self._start = model.start.scores(rows.raw, len(rows), rows.offset)
            self._F = self._added(model, self._start, 0)

    @property
    def held_out(self) -> bool:
        """The rows are not those that the model is fitted to."""
        return self._rows is not None

    @property
    def best(self) -> int:
        """The round, counted from 1, that was best; the first of equals."""
        sign = -1 if self._scorer is None else 1
        return int(np.argmax(sign * np.nan_to_num(np.array(self.curve), nan=-sign * np.inf))) + 1

    def look(self, model: BoostedSum, train_scores: FloatArray, train_loss: float) -> bool:
        """After a round; whether it is the best so far."""
        if self._rows is None:
            F, loss = train_scores.T, train_loss
        else:
            whole = model.scales is not None  # what earlier rounds say has changed
            first = 0 if whole else len(model.members) - 1
            self._F = self._added(model, self._start if whole else self._F, first)
            F, loss = self._F, self._objective.mean(self._rows.y, self._F, self._rows.weights)
            self.loss = loss
        if self._scorer is not None:
            self.score = self._scorer(F)
        self.curve.append(loss if self.score is None else self.score)
        return self._note(self.curve[-1])

    def _added(self, model: BoostedSum, F: FloatArray, first: int) -> FloatArray:
        """Scores of the rows held out: F and the rounds from `first` on."""
        assert self._rows is not None
        last = len(model.members)
        return model.members.total(self._rows.X, F, first, last, model.scales, self._threads)

    def _note(self, value: float) -> bool:
        rising = -value if self._scorer is None else value
        rising = -np.inf if np.isnan(rising) else rising
        before = self._best[-1] if self._best else -np.inf
        self._best.append(max(before, rising))
        return rising > before

    @property
    def rests(self) -> bool:
        """No gain of more than `tol` over the last rounds."""
        if self.patience is None or len(self._best) <= self.patience:
            return False
        before = self._best[-1 - self.patience]
        return before > -np.inf and self._best[-1] <= before + self._tol


def check_callbacks(callbacks: Any) -> list[Any]:
    """A list of callbacks, or one of them."""
    if callbacks is None:
        return []
    if callable(callbacks) or any(hasattr(callbacks, word) for word in _WORDS):
        callbacks = [callbacks]
    wanted = "None, or a list of weald.callbacks or of functions of a state"
    try:
        given = list(callbacks)
    except TypeError as error:
        raise refuse("callbacks", wanted, callbacks) from error
    for one in given:
        known = callable(one) or any(callable(getattr(one, word, None)) for word in _WORDS)
        if isinstance(one, type) or not known:
            raise refuse("callbacks", wanted, callbacks)
    return given


class Audience:
    """Callbacks, told about every round.

    Parameters
    ----------
    callbacks : list
    estimator : the estimator that is fitted
    params : GradientParams
    done : int
        Rounds of earlier fits.
    """

    def __init__(
        self, callbacks: list[Any], estimator: Any, params: GradientParams, done: int
    ) -> None:
        self._callbacks = callbacks
        self._began = monotonic()
        self._estimator, self._planned = estimator, params.n_estimators
        self._rate = params.learning_rate
        self.state = self._state(done, None, None)
        self._tell("on_begin")

    def _state(self, done: int, train_loss: float | None, judge: Judge | None) -> State:
        return State(
            round=done,
            n_rounds=self._planned,
            train_loss=train_loss,
            validation_loss=None if judge is None else judge.loss,
            validation_score=None if judge is None else judge.score,
            elapsed=monotonic() - self._began,
            learning_rate=self._rate,
            estimator=self._estimator,
        )

    def _tell(self, word: str) -> list[Any]:
        """What those answer that listen to it; plain functions hear of rounds only."""
        answers = []
        for one in self._callbacks:
            hears = getattr(one, word, None)
            if hears is None and word == "on_round" and callable(one):
                hears = one
            if hears is not None:
                answers.append(hears(self.state))
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

    def round(self, done: int, train_loss: float, judge: Judge | None) -> bool:
        """A round was made; whether somebody says stop."""
        self.state = self._state(done, train_loss, judge)
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
            if not is_int(answer) or not 0 <= answer <= self.state.round:
                raise ValueError(
                    f"A callback wants to keep {answer!r} of {self.state.round} rounds."
                )
        return min(map(int, kept)) if kept else None
