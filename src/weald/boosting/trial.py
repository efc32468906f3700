"""Clean or noisy? Where all is "auto", a trial on folds of a small table of classes decides.

A clean table, whose classes can be told apart, gains from splits far below the usual `min_gain`; a
noisy one is spoilt by them, and nothing that is known before a fit tells the two apart. So both
settings are tried on some rows, in fewer and larger steps than the fit will make: a quarter of its
rounds rank them as all of them do.

Folds go by what a row says, not by its number. So all copies of a row are in one of them, a row of
weight k is k rows here, too, and their order does not matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.boosting.defaults import LARGEST_RATE, is_auto
from weald.boosting.objective import Objective
from weald.boosting.params import GradientParams
from weald.input.fit_data import FitData
from weald.input.table import blocks_of

__all__ = ["settled_by_trial"]

_CLEAN_GAIN, _CLEAN_L2, _CLEAN_LEAVES = 0.0, 0.1, 16
_FEWEST, _MOST = 100, 10_000  # rows of a table that is worth a trial
_ROWS = 2_000  # of them in it
_FOLDS = 3
_FASTER = 4  # times the rate, for a quarter of the rounds
_CLEARLY = 0.95  # of the usual settings' loss, or these stay
_HOPELESS = 1.05  # of it so far: no other fold is asked


def settled_by_trial(ensemble: Any, data: FitData, params: GradientParams) -> GradientParams:
    """The parameters, with those for clean tables if a trial says so.

    Parameters
    ----------
    ensemble : GradientBoostingClassifier
        About to be fitted; copies of it make the trial.
    data : FitData
        The rows to fit to.
    params : GradientParams
        With the usual settings.
    """
    if not _worth_a_trial(ensemble, data, params):
        return params
    clean = replace(params, min_gain=_CLEAN_GAIN, l2=_CLEAN_L2, max_leaf_nodes=_CLEAN_LEAVES)
    losses = np.zeros(2)
    folds = list(_folds(replace(data, validation=None)))
    if not all(_knows_all_classes(train, data) and len(test) for train, test in folds):
        return params
    for train, test in folds:
        weight = test.weight
        losses += [weight * _loss(ensemble, train, test, one) for one in (params, clean)]
        if losses[1] > _HOPELESS * losses[0]:
            return params
    return clean if losses[1] < _CLEARLY * losses[0] else params


def _worth_a_trial(e: Any, data: FitData, params: GradientParams) -> bool:
    ours = (e.n_estimators, e.max_leaf_nodes, e.l2_regularization, e.min_gain)
    objective: Objective = e._objective
    return (
        all(map(is_auto, ours))
        and e.max_depth is None
        and not params.warm_start
        and not params.dropout
        and params.order == 2
        and data.table is not None
        and data.given is None
        and objective.built_in
        and objective.losses[0].name in ("log_loss", "softmax")
        and _FEWEST <= data.weight <= _MOST
    )


def _knows_all_classes(train: FitData, data: FitData) -> bool:
    return len(np.unique(train.y)) == len(np.unique(data.y))


def _loss(ensemble: Any, train: FitData, test: FitData, params: GradientParams) -> float:
    """Mean loss of rows that a copy has not seen."""
    faster = max(1.0, min(_FASTER, LARGEST_RATE / params.learning_rate))
    quick = replace(
        params,
        learning_rate=faster * params.learning_rate,
        n_estimators=ceil(params.n_estimators / faster),
        patience=None,
    )
    one = copy(ensemble)
    one.callbacks, one.verbose = None, 0
    model = one._begin(train, quick)
    with warnings.catch_warnings():  # the fit itself will say what there is to say
        warnings.simplefilter("ignore")
        one._boost(train, model, {}, quick)
    start = model.start.raw(None, len(test), test.offset)
    F = model.added(test.X, start, 0, len(model.members), params.threads)
    objective: Objective = one._objective
    return objective.mean(test.y, F, test.weights)


# --- folds by content -----------------------------------------------------------------------------


def _folds(data: FitData) -> Iterator[tuple[FitData, FitData]]:
    """Rows to fit to and rows to ask, of as many as a trial takes."""
    keys = np.concatenate([_keys(rows) for rows in blocks_of(data.X)])
    order = np.argsort(keys, kind="stable")
    before = np.cumsum(data.filled_weights[order])
    last = keys[order[min(int(np.searchsorted(before, _ROWS)), len(order) - 1)]]
    some = np.flatnonzero(keys <= last)  # with all copies of the last one
    fold = _mixed(keys[some]) % np.uint64(_FOLDS)
    for k in range(_FOLDS):
        yield data.take(some[fold != k]), data.take(some[fold == k])


def _keys(X: FloatArray) -> npt.NDArray[np.uint64]:
    """A number for each row that depends on its values only."""
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        values = column.astype(np.float64) + 0.0  # there is one zero,
        values[np.isnan(values)] = np.nan  # and one way to be missing
        keys = _mixed(keys ^ values.view(np.uint64))
    return keys


def _mixed(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Every bit of the result depends on every bit (splitmix64; Steele, Lea & Flood 2014)."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
