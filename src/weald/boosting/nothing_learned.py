"""A model that says the same to all rows is told in one sentence, with the way out."""

from __future__ import annotations

from math import expm1, log1p

from weald.boosting.model import AdditiveModel
from weald.boosting.params import GradientParams
from weald.input.fit_data import FitData
from weald.input.table import blocks_of
from weald.members.trees import Trees
from weald.params.warnings import warn_user

__all__ = ["warn_of_a_constant"]

_ENOUGH_ROWS = 50  # from here on a split may be expected
_TINY = 0.05  # of the way to the targets


def warn_of_a_constant(
    name: str, model: AdditiveModel, data: FitData, params: GradientParams
) -> None:
    """Warn where the rounds have led (next to) nowhere.

    Parameters
    ----------
    name : str
        Of the estimator.
    model : AdditiveModel
        As fitted.
    data : FitData
        The rows it was fitted to.
    params : GradientParams
    """
    rate, rounds = params.learning_rate, params.n_estimators
    # After T rounds at the rate nu a model is 1 - (1 - nu)^T of the way to what its trees say.
    way = -expm1(rounds * log1p(-rate)) if rate < 1 else 1.0
    if way < _TINY:
        warn_user(
            f"n_estimators={rounds} at learning_rate={rate:g} go {way:.2%} of the way from a "
            "constant to what the trees say: raise one of the two."
        )
    elif _has_no_split(model, data):
        warn_user(
            f"No tree of this {name} has a split, so that it predicts a constant: if the columns "
            f"have something to say, lower min_gain (it is {params.min_gain:g}) or min_hessian "
            f"({params.min_hessian:g}), or ask less of a leaf."
        )


def _has_no_split(model: AdditiveModel, data: FitData) -> bool:
    """There are trees, and targets and columns that differ, and yet no split."""
    if data.table is None or len(data) < _ENOUGH_ROWS or model.used == 0:
        return False
    members = model.members
    assert isinstance(members, Trees)
    split = any((forest.node_counts > 1).any() for forest in members.forests)
    if split or bool((data.y == data.y[0]).all()):
        return False
    first = data.X[0]
    return any((rows != first).any() for rows in blocks_of(data.X))
