"""Rows that judge a boosted model after each round: their loss or score, and when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import check_scoring

from weald._engine import FloatArray
from weald.boosting.model import AdditiveModel
from weald.boosting.objective import Objective
from weald.input.fit_data import FitData
from weald.params.stopping import Stopping

__all__ = ["Monitor", "hold_out", "make_scorer"]


def hold_out(
    data: FitData, patience: int | None, fraction: float | None, seed: int, *, classes: bool
) -> FitData:
    """Hold rows out to judge by, if early stopping asks for them and none were given."""
    if data.validation is not None or patience is None or fraction is None:
        return data
    return data.divided(fraction, seed, classes=classes)


class KnownRaw:
    """A model whose raw predictions are already known: what a scorer may ask in a fit.

    It takes the place of the model in a copy of the user's estimator, whose own methods then make
    labels, shares or numbers of them.
    """

    members = None  # it needs none

    def __init__(self) -> None:
        self.F = np.empty((0, 0))

    def raw(self, ensemble: Any, X: Any, offset: Any, n_jobs: int | None) -> FloatArray:
        """The raw predictions of the rows that judge."""
        if X.shape[0] != len(self.F):
            raise ValueError("While a model is fitted, scoring may ask about all given rows only.")
        return self.F


@dataclass(eq=False)
class Scorer:
    """scikit-learn's scoring, on raw predictions that are known."""

    metric: Any
    ensemble: Any  # a copy of the estimator that knows its raw predictions
    known: KnownRaw
    rows: FitData
    truth: npt.NDArray[Any]

    def __call__(self, F: FloatArray) -> float:
        """Score of the rows with the raw predictions F (n, n_raw)."""
        self.known.F = F
        rows = self.rows
        X = rows.X if rows.given is None else rows.given
        if rows.weights is None:
            return float(self.metric(self.ensemble, X, self.truth))
        return float(self.metric(self.ensemble, X, self.truth, sample_weight=rows.weights))


def make_scorer(ensemble: Any, rows: FitData) -> Scorer | None:
    """What `scoring` means for these rows; None for the loss."""
    if isinstance(ensemble.scoring, str) and ensemble.scoring == "loss":
        return None
    asked, known = copy(ensemble), KnownRaw()
    asked._model = known
    try:
        metric = check_scoring(asked, scoring=ensemble.scoring)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scoring={ensemble.scoring!r}: {error}") from error
    return Scorer(metric, asked, known, rows, ensemble._truth(rows.y))


class Monitor:
    """Loss and score of rows after each round, and whether they say stop.

    Parameters
    ----------
    objective : Objective
    rows : FitData, optional
        Rows held out; None judges by the training rows.
    model : AdditiveModel
        As far as it is there.
    scorer : Scorer, optional
        None judges by the loss.
    patience, tol : see :class:`weald.params.stopping.Stopping`
        `tol` is a share of what was gained since the start.
    rate : float
        The learning rate. Over `patience` rounds a model goes about ``patience * rate`` of the way
        that is left; where that is less than 1, so much less than `tol` counts as a gain.
    train : FitData
        The rows that judge, if `rows` is None.
    n_jobs : int, optional
    curve : sequence of float
        What was seen in earlier fits of a warm start.
    past_changes : bool
        What earlier rounds say may change (DART).
    """

    def __init__(
        self,
        objective: Objective,
        rows: FitData | None,
        model: AdditiveModel,
        scorer: Scorer | None,
        *,
        patience: int | None,
        tol: float,
        rate: float,
        train: FitData,
        n_jobs: int | None,
        curve: Sequence[float] = (),
        past_changes: bool = False,
    ) -> None:
        self._objective, self._rows, self._scorer = objective, rows, scorer
        self._n_jobs, self._past_changes = n_jobs, past_changes
        judge = train if rows is None else rows
        self._start = model.start.raw(judge.given, len(judge), judge.offset)
        first = -objective.mean(judge.y, self._start, judge.weights)
        if scorer is not None:
            first = scorer(self._start)
        part = 1.0 if patience is None else min(1.0, patience * rate)
        self.rule = Stopping(patience, part * tol, first)
        self.curve: list[float] = []
        self._before = 0  # entries of the curve before the first round
        for value in curve:
            self._note(value)
        self.loss: float | None = None
        self.score: float | None = None
        if rows is not None:
            self._F = self._added(model, self._start, 0)

    @property
    def held_out(self) -> bool:
        """The rows are not those that the model is fitted to."""
        return self._rows is not None

    def loss_now(self) -> float:
        """Mean loss of the rows held out, with the rounds that were looked at."""
        assert self._rows is not None
        return self._objective.mean(self._rows.y, self._F, self._rows.weights)

    def begin(self, train_loss: float) -> None:
        """Judge the model before its first round as well."""
        self._before = 1
        self._note(train_loss if self._rows is None else self.loss_now())

    def look(self, model: AdditiveModel, train_raw: FloatArray, train_loss: float) -> bool:
        """After a round; whether it is the best so far."""
        if self._rows is None:
            F, loss = train_raw.T, train_loss
        else:
            whole = self._past_changes
            first = 0 if whole else len(model.members) - 1
            F = self._F = self._added(model, self._start if whole else self._F, first)
            loss = self.loss = self.loss_now()
        if self._scorer is not None:
            self.score = self._scorer(F)
        return self._note(loss if self.score is None else self.score)

    def cut(self, rounds: int) -> None:
        """Forget what came after so many rounds."""
        del self.curve[rounds + self._before :]
        self.rule.back_to(rounds + self._before)

    def _added(self, model: AdditiveModel, F: FloatArray, first: int) -> FloatArray:
        """Raw predictions of the rows held out: F and the rounds from `first` on."""
        assert self._rows is not None
        last = len(model.members)
        return model.added(self._rows.X, F, first, last, self._n_jobs, model.scales)

    def _note(self, value: float) -> bool:
        self.curve.append(value)
        return self.rule.note(-value if self._scorer is None else value)
