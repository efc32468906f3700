"""DART: rounds that leave out some of those before them (Rashmi & Gilad-Bachrach 2015)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.boosting.model import AdditiveModel
from weald.boosting.params import GradientParams
from weald.boosting.rounds import GradientLearner
from weald.boosting.sampling import dropped_rounds
from weald.input.fit_data import FitData

__all__ = ["Dart"]


class Dart:
    """Before a round some of the earlier ones are left out; after it they share with the new one.

    With k rounds left out and the learning rate nu, the new round is divided by ``k + nu`` and
    those left out are multiplied by ``k / (k + nu)``: together they weigh what those did alone.

    Scores are summed up anew from the model, in the order of the rounds, so that they are what the
    model says and a warm start goes on exactly. That makes the time grow with the square of the
    number of rounds.

    Parameters
    ----------
    learner : members in the making
    rows : FitData
    model : AdditiveModel
        Gets a scale for each round.
    params : GradientParams
    seed : int
    """

    def __init__(
        self,
        learner: GradientLearner,
        rows: FitData,
        model: AdditiveModel,
        params: GradientParams,
        seed: int,
    ) -> None:
        self._learner, self._rows, self._model = learner, rows, model
        self._params, self._seed = params, seed
        self._start = model.start.raw(rows.given, len(rows), rows.offset)
        if model.scales is None:
            model.scales = np.ones(len(model.members))
        self._dropped: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)

    @property
    def scales(self) -> FloatArray:
        """Of all rounds."""
        assert self._model.scales is not None
        return self._model.scales

    def before(self, t: int) -> None:
        """Take some rounds out of the scores, for round t."""
        params = self._params
        self._dropped = dropped_rounds(self._seed, t, params.dropout, params.max_drop)
        if len(self._dropped):
            scales = self.scales.copy()
            scales[self._dropped] = 0.0
            self._sum_up(scales)

    def after(self, rate: float) -> None:
        """Give the new round its scale, and those left out theirs."""
        k = len(self._dropped)
        scales = np.append(self.scales, 1 / (k + rate) if k else 1.0)
        scales[self._dropped] *= k / (k + rate)
        self._model.scales = scales
        if k:
            self._sum_up(scales)

    def _sum_up(self, scales: FloatArray) -> None:
        model, threads = self._model, self._params.threads
        total = model.added(self._rows.X, self._start, 0, len(model.members), threads, scales)
        self._learner.raw[:] = total.T
