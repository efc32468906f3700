"""First and second derivatives of the loss of all rows, round by round.

A loss that the engine knows is differentiated there. Others, and several losses at once, are
evaluated in NumPy, block by block, so that what a loss makes on the way stays in the cache, and by
the engine's threads where there are many rows (NumPy lets go of the lock). They write straight into
the engine's arrays; a loss sees these as read-only. Where nobody looks on, the loss of a round is a
by-product of the next round's derivatives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any, Protocol

import numpy as np

from weald._engine import FloatArray, call_all
from weald.boosting.objective import Objective
from weald.boosting.params import GradientParams
from weald.input.fit_data import FitData
from weald.losses import Loss

__all__ = ["EngineGradients", "Gradients", "NumpyGradients", "Scored", "make_gradients"]

_BLOCK = 32_768  # rows: a loss's temporary arrays stay in the level-2 cache
_MANY = 100_000  # rows from which threads pay
_TELLING = 8_192  # rows at least whose mean loss is reported, of a loss of the user's own


class Scored(Protocol):
    """Raw predictions, gradients and hessians of all rows, each of shape (K, n)."""

    raw: FloatArray
    gradients: FloatArray
    hessians: FloatArray


class Gradients(ABC):
    """The losses on the training rows.

    Attributes
    ----------
    objective : Objective
        By which losses are reported.
    losses : tuple of Loss
        Of this round: Huber's delta may change from round to round.
    y : list of arrays
        The targets of each loss.
    weights : array of shape (n,), optional
    """

    def __init__(self, objective: Objective, rows: FitData, scored: Scored, threads: int) -> None:
        self._threads = threads
        self.objective = objective
        self.losses = objective.losses
        self.y = objective.targets(rows.y)
        self.weights = rows.weights
        self._rows = rows
        self.raw, self.gradients, self.hessians = (
            scored.raw,
            scored.gradients,
            scored.hessians,
        )

    @property
    def tells_the_loss(self) -> bool:
        """:meth:`differentiate` can tell the mean loss; not if it changes from round to round."""
        return self.objective.alpha is None

    @abstractmethod
    def differentiate(self, tell: bool) -> float:
        """Fill in derivatives at `raw`; the mean loss if somebody wants to be told, else any."""

    @abstractmethod
    def mean_loss(self) -> float:
        """Mean loss of the training rows."""

    def in_blocks(self, n: int, work: Callable[[slice], Any]) -> list[Any]:
        """What a function says of all blocks of n rows, in their order."""
        return self._all_done([partial(work, block) for block in _blocks(n)], n)

    def _all_done(self, jobs: list[Callable[[], Any]], n: int) -> list[Any]:
        """What all jobs on n rows say, in several threads where that pays."""
        if self._threads == 1 or n < _MANY:
            return [job() for job in jobs]
        return call_all(jobs, self._threads)

    def _adapt(self) -> None:
        if self.objective.alpha is not None:
            settled = self.objective.settled(self._rows.y, self.raw, self.weights)
            self.losses = settled.losses


class EngineGradients(Gradients):
    """A loss that the engine knows, differentiated there."""

    def __init__(
        self,
        objective: Objective,
        rows: FitData,
        scored: Scored,
        params: GradientParams,
        boosting: Any,
    ) -> None:
        super().__init__(objective, rows, scored, params.threads)
        self._boosting = boosting
        self._name = objective.name
        self._target = np.ascontiguousarray(self.y[0], dtype=np.float64)
        self._measure = _engine_parameter(objective.losses[0])
        self._parameter = self._measure
        self._floor = objective.floor if params.uses_hessian else None

    def differentiate(self, tell: bool) -> float:
        """Fill gradients and hessians from `raw`; the mean loss by the loss of this round."""
        if self.objective.alpha is not None:
            self._adapt()
            self._parameter = _engine_parameter(self.losses[0])
        loss = self._boosting.differentiate(self._name, self._target, self._parameter)
        if self._floor is not None:
            np.maximum(self.hessians, self._floor, out=self.hessians)
        return float(loss)

    def mean_loss(self) -> float:
        """Mean loss of the training rows."""
        return float(self._boosting.mean_loss(self._name, self._target, self._measure))


class NumpyGradients(Gradients):
    """Any losses, evaluated in NumPy."""

    def __init__(
        self, objective: Objective, rows: FitData, scored: Scored, params: GradientParams
    ) -> None:
        super().__init__(objective, rows, scored, params.threads)
        self._n = len(rows)
        # The value of a loss often costs more than both derivatives, and is only reported.
        self._some = slice(None, None, 1 if objective.built_in else max(1, self._n // _TELLING))
        weights = np.ones(self._n) if self.weights is None else self.weights
        self._some_weights = np.ascontiguousarray(weights[self._some])
        self._some_y = [np.ascontiguousarray(y[self._some]) for y in self.y]
        self._floor = objective.floor
        self._second = params.uses_hessian
        if self._second and objective.constant_hessian:
            self._second = False
            self.hessians[:] = 1.0

    def differentiate(self, tell: bool) -> float:
        """Fill gradients and hessians from `raw`."""
        self._adapt()
        values = self._value_jobs() if tell else []  # the longest jobs come first
        fills = [partial(self._fill, part) for part in _equal_parts(self._n)]
        return self._mean(self._all_done([*values, *fills], self._n)[: len(values)])

    def mean_loss(self) -> float:
        """Mean loss of the training rows, of losses of the user's own that of some of many rows."""
        return self._mean(self._all_done(self._value_jobs(), self._n))

    def _value_jobs(self) -> list[Callable[[], float]]:
        """Sums of the losses of some rows, block by block."""
        F = np.ascontiguousarray(self.raw[:, self._some])
        w, losses = self._some_weights, self.objective.losses

        def total(block: slice) -> float:
            total = 0.0
            for k, (loss, y) in enumerate(zip(losses, self._some_y, strict=True)):
                at = F[:, block].T if self.objective.joint else F[k, block]
                total += float((w[block] * loss.value(y[block], at)).sum())  # no BLAS: same bits
            return total

        return [partial(total, block) for block in _blocks(len(w))]

    def _mean(self, totals: list[float]) -> float:
        """Blocks are added in order, for the same bits always."""
        return sum(totals) / (len(self.objective.losses) * float(self._some_weights.sum()))

    def _fill(self, block: slice) -> None:
        for k, loss in enumerate(self.losses):
            place = np.s_[:, block] if self.objective.joint else np.s_[k, block]
            y, F = self._given(k, block)
            g = loss.gradient(y, F)
            self._check(loss, "gradient", g, y, F, block)
            self.gradients[place] = g.T
            if self._second:
                h = loss.hessian(y, F)
                self._check(loss, "hessian", h, y, F, block)
                self.hessians[place] = h.T if self._floor is None else np.maximum(h.T, self._floor)

    def _given(self, k: int, block: slice) -> tuple[FloatArray, FloatArray]:
        """Targets and raw predictions for a loss, which must not write to them."""
        y = self.y[k][block]
        F = np.ascontiguousarray(self.raw[:, block].T) if self.objective.joint else None
        F = self.raw[k, block] if F is None else F
        for array in (y, F):
            array.flags.writeable = False
        return y, F

    def _check(
        self, loss: Loss, what: str, found: FloatArray, y: FloatArray, F: FloatArray, block: slice
    ) -> None:
        if loss.built_in or isfinite(float(found.sum())) or np.isfinite(found).all():
            return
        place = tuple(np.argwhere(~np.isfinite(found))[0])
        row = self._rows.number(block.start + int(place[0]))
        raise ValueError(
            f"The {what} of {loss.name} is {found[place]} in row {row}, for the target "
            f"{y[place[0]]:g} and the score {F[place]:g}: it must be finite everywhere."
        )


def _blocks(n: int) -> list[slice]:
    return [slice(i, min(i + _BLOCK, n)) for i in range(0, n, _BLOCK)]


def _equal_parts(n: int) -> list[slice]:
    """As many as there are blocks, so that no thread waits for another one's last block."""
    count = len(range(0, n, _BLOCK))
    return [slice(n * i // count, n * (i + 1) // count) for i in range(count)]


def _engine_parameter(loss: Loss) -> float:
    """The one number that a loss of the engine may have, 0 if it has none."""
    return float(next((getattr(loss, name) for name in loss.engine_parameters or ()), 0.0))


def make_gradients(
    objective: Objective, rows: FitData, scored: Scored, boosting: Any, params: GradientParams
) -> Gradients:
    """In the engine where it knows the loss (`boosting` is not None), else in NumPy."""
    if boosting is not None and objective.in_engine:
        return EngineGradients(objective, rows, scored, params, boosting)
    return NumpyGradients(objective, rows, scored, params)
