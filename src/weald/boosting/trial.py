"""Clean or noisy? A trial on folds of a small table of classes decides, where it is left to us.

A clean table, whose classes can be told apart, gains from splits far below the usual `min_gain`; a
noisy one is spoilt by them, and nothing that is known before a fit tells the two apart. So both
settings are tried on some rows, in fewer and larger steps than the fit will make: a quarter of its
rounds rank them as all of them do.

Who gives a number of rounds expects a fit of that length: then 50 rounds, or a tenth of them, and
two folds are the most. Where one fold leaves no doubt, no other is asked. Two classes gain little
from a trial, so that they are tried only where rounds and trees are left to us, too.

Folds go by what a row says, not by its number. So all copies of a row are in one of them, a row of
weight k is k rows here, too, and their order does not matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from weald.boosting.defaults import LARGEST_RATE, is_auto
from weald.boosting.objective import Objective
from weald.boosting.params import GradientParams
from weald.input.fit_data import FitData
from weald.input.row_keys import bits_of, row_keys
from weald.input.table import blocks_of

__all__ = ["settled_by_trial"]

_CLEAN_GAIN, _CLEAN_L2 = 0.0, 0.1
_CLEAN_LEAVES, _IF_SHORT, _SHORT = 16, 31, 100  # leaves, and those of fits of fewer rounds
_FEWEST, _MOST = 100, 10_000  # rows of a table that is worth a trial
_ROWS = 2_000  # of them in it
_FOLDS, _FOLDS_IF_GIVEN = 3, 2  # the less where the user gives rounds
_FASTER = 4  # times as far in a round, for a quarter of the rounds
_FEWEST_ROUNDS = 10  # of a trial
_MOST_ROUNDS, _PART = 50, 10  # of it where the user gives rounds: 50, or a tenth of them
_CLEARLY = 0.95  # of the usual settings' loss, or these stay
_DECIDED = 0.9, 1.0  # of it so far, below (with several classes) or above: no other fold is asked


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
    clean = replace(params, min_gain=_CLEAN_GAIN, l2=_CLEAN_L2)
    if _free_trees(ensemble):
        leaves = _IF_SHORT if params.n_estimators < _SHORT else _CLEAN_LEAVES
        clean = replace(clean, max_leaf_nodes=leaves)
    folds = list(_folds(replace(data, validation=None)))
    if not all(_knows_all_classes(train, data) and len(test) for train, test in folds):
        return params
    low, high = _DECIDED if _several(ensemble) else (0.0, _DECIDED[1])
    losses = np.zeros(2)
    for train, test in folds[: _FOLDS if is_auto(ensemble.n_estimators) else _FOLDS_IF_GIVEN]:
        losses += [test.weight * _loss(ensemble, train, test, one) for one in (params, clean)]
        if not low * losses[0] < losses[1] < high * losses[0]:
            break
    return clean if losses[1] < _CLEARLY * losses[0] else params


def _several(e: Any) -> bool:
    objective: Objective = e._objective
    return objective.losses[0].name == "softmax"


def _free_trees(e: Any) -> bool:
    return is_auto(e.max_leaf_nodes) and e.max_depth is None


def _worth_a_trial(e: Any, data: FitData, params: GradientParams) -> bool:
    objective: Objective = e._objective
    return (
        is_auto(e.l2_regularization)
        and is_auto(e.min_gain)
        and (_several(e) or (is_auto(e.n_estimators) and _free_trees(e)))
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
    asked = params.n_estimators
    rounds = min(asked, max(_FEWEST_ROUNDS, ceil(asked / _FASTER)))
    if not is_auto(ensemble.n_estimators):
        rounds = min(rounds, max(_MOST_ROUNDS, ceil(asked / _PART)))
    rate = params.learning_rate
    quick = replace(
        params,
        learning_rate=max(rate, min(rate * asked / rounds, LARGEST_RATE)),
        n_estimators=rounds,
        patience=None,
    )
    one = _unfitted(ensemble)
    one.callbacks, one.verbose = None, 0
    model = one._begin(train, quick)
    with warnings.catch_warnings():  # the fit itself will say what there is to say
        warnings.simplefilter("ignore")
        one._boost(train, model, {}, quick)
    start = model.start.raw(None, len(test), test.offset)
    F = model.added(test.X, start, 0, len(model.members), params.threads)
    objective: Objective = one._objective
    return objective.mean(test.y, F, test.weights)


def _unfitted(ensemble: Any) -> Any:
    """A copy without the model of an earlier fit, which may have been one of other classes."""
    one = object.__new__(type(ensemble))
    vars(one).update(vars(ensemble))
    vars(one).pop("_model", None)
    return one


# --- folds by content -----------------------------------------------------------------------------


def _folds(data: FitData) -> Iterator[tuple[FitData, FitData]]:
    """Rows to fit to and rows to ask, of as many as a trial takes."""
    keys = np.concatenate([row_keys(map(bits_of, rows.T), len(rows)) for rows in blocks_of(data.X)])
    order = np.argsort(keys, kind="stable")
    before = np.cumsum(data.filled_weights[order])
    last = keys[order[min(int(np.searchsorted(before, _ROWS)), len(order) - 1)]]
    some = np.flatnonzero(keys <= last)  # with all copies of the last one
    fold = keys[some] % np.uint64(_FOLDS)
    for k in range(_FOLDS):
        yield data.take(some[fold != k]), data.take(some[fold == k])
