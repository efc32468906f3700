"""Measure a cell: fit in turns, predict in turns, judge the predictions; memory in children."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from bench.data import Data
from bench.matrix.cells import THREADS, Cell
from bench.measure import Memory, interleave
from bench.task import OURS, Contender, Quality, Settings, Side
from bench.tasks.common import root_mean_square_of
from bench.tasks.libraries import Judged

BUDGET = 4.0
"""Seconds after which neither the fits nor the predictions of a cell start a further round."""

PATIENCE = 6.0
"""Seconds after which a peer starts no further run: one that takes longer is run once."""

QUICK = 5
"""A quick run has this part of the trees."""

WEIGHED = 10
"""Memory is that of a fit of this part of the trees: it takes minutes, not hours."""

LEAST_MB = 4.0
"""Less is as good as nothing beside the libraries themselves, which take a hundred or more."""


@dataclass(frozen=True)
class Result:
    """What was measured of a cell; the sides of the predictions hold the quality.

    Seconds are those that the cell took altogether, without memory. A failure or a lack of a
    library stands in `unable`, by its name. Memory has a date of its own, as it is not measured
    by every run.
    """

    cell: str
    date: str
    seconds: float
    trees: int
    fit: tuple[Side, ...]
    predict: tuple[Side, ...]
    unable: dict[str, str]
    memory: tuple[Side, ...] = ()
    memory_date: str = ""


def settings_of(settings: Settings) -> Settings:
    """How thoroughly a cell is measured: ours three times at least, slow peers once."""
    if settings.quick:
        return settings
    return replace(settings, budget=BUDGET, least=3, patience=PATIENCE)


def judge(predicted: Any, data: Data) -> dict[str, float]:
    """Error and log loss of class shares, clipped at 0.1 %, or the RMSE of numbers."""
    if not np.issubdtype(data.y.dtype, np.integer):
        return root_mean_square_of(np.asarray(predicted).reshape(data.y_test.shape), data)
    shares = np.asarray(predicted, dtype=np.float64)
    if shares.ndim == 1:
        shares = np.column_stack([1.0 - shares, shares])
    wrong = float(np.mean(shares.argmax(axis=1) != data.y_test))
    shares = np.clip(shares, 1e-3, None)
    shares /= shares.sum(axis=1, keepdims=True)
    loss = log_loss(data.y_test, shares, labels=np.arange(shares.shape[1]))
    return {"error": wrong, "log loss": float(loss)}


def predicting(cell: Cell, fitted: Judged) -> Contender:
    """Take part by predicting the test rows with a fitted model, as fast as its library can."""
    library = cell.method.libraries[fitted.library]
    predict = library.predictor(fitted.model, THREADS)
    return Contender(
        fitted.library,
        run=lambda data, rows: predict(rows),
        prepare=lambda data: fitted.convert(data.X_test),
        threads=THREADS,
    )


def turns(
    contenders: Sequence[Contender],
    data: Data,
    settings: Settings,
    quality: Quality,
    unable: dict[str, str],
) -> list[Side]:
    """Time the contenders in turns, without the peers that fail.

    A peer that fails drops out with its reason, and the others start again. We do not fail.
    """
    left = list(contenders)
    while True:
        current = ""

        def watched(contender: Contender) -> Contender:
            def call(do: Any, *given: Any) -> Any:
                nonlocal current
                current = contender.library
                return do(*given)

            return replace(
                contender,
                run=partial(call, contender.run),
                prepare=partial(call, contender.prepare),
            )

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the few rows that are fitted first, too
                return interleave([watched(one) for one in left], data, settings, 1, quality)
        except Exception as failure:
            if current == OURS:
                raise
            unable[current] = " ".join(str(failure).split())[:80] or type(failure).__name__
            left = [one for one in left if one.library != current]


def measure(cell: Cell, settings: Settings, date: str) -> Result:
    """Fit and predict with every library in turns."""
    started = perf_counter()
    data = cell.data(settings.quick)
    part = QUICK if settings.quick else 1
    settings = settings_of(settings)
    unable = dict(cell.unable)
    models: dict[str, Judged] = {}

    def keep(fitted: Judged, data: Data) -> dict[str, float]:
        models[fitted.library] = fitted
        return {}

    fit = turns(cell.contenders(part), data, settings, keep, unable)
    known = [models[side.library] for side in fit]
    predict = turns([predicting(cell, one) for one in known], data, settings, judge, unable)
    return Result(
        cell.name,
        date,
        perf_counter() - started,
        cell.trees(part),
        tuple(fit),
        tuple(predict),
        unable,
    )


def memory(cell: Cell) -> Memory:
    """The peak of a fit above its input, as a task that a fresh process finds by its name."""
    return Memory(
        f"{cell.name}, memory",
        lambda settings: cell.data(settings.quick),
        cell.contenders(WEIGHED),
    )


def with_memory(result: Result, cell: Cell, settings: Settings, date: str) -> Result:
    """The result with the memory of every library that could fit."""
    task = memory(cell)
    able = [one for one in task.contenders if one.library not in result.unable]
    rows = replace(task, contenders=able).measure(replace(settings, repeats=1))
    sides = [rows[0].ours, *(row.peer for row in rows)] if rows else []
    weighed = [replace(side, values=(max(LEAST_MB, side.best),)) for side in sides]
    return replace(result, memory=tuple(weighed), memory_date=date)
