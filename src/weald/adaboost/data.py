"""What is given to ``fit`` of a boosted ensemble, read and divided into training and validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald.adaboost.params import BoostParams
from weald.input.holdout import Rows, given_validation, hold_out, reading_validation
from weald.input.raw_table import keep_X_fit, keep_X_predict
from weald.input.table import Table, check_weights, check_X_fit, check_X_predict

__all__ = ["BoostData", "read_data"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoostData:
    """Training rows.

    Attributes
    ----------
    X : float matrix for weald's trees, else the table as it came
    y : array of shape (n,)
        Class codes, or numbers.
    weights : array of shape (n,)
    table : Table, for weald's trees
        X and the meaning of its columns.
    validation : Rows, optional
        That the members do not see.
    """

    X: Any
    y: npt.NDArray[Any]
    weights: FloatArray
    table: Table | None
    validation: Rows | None


def read_data(
    ensemble: Any,
    tree: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    held_out: tuple[Any, Any, Any],
    params: BoostParams,
    seed: int,
) -> BoostData:
    """Check the data, and hold rows out for early stopping if none were given for it.

    Parameters
    ----------
    ensemble : estimator
        Gets what is known of columns and classes; its ``_read_target(y, n, again)`` reads targets.
    tree : tree estimator or None
        None: the members read tables themselves.
    X, y, sample_weight : as given to ``fit``
    held_out : (X_val, y_val, sample_weight_val)
    params : BoostParams
    seed : int
    """
    weights = None
    if tree is None:
        ensemble.__dict__.pop("categories_", None)  # of trees that were here before
        table, rows = None, keep_X_fit(ensemble, X)
        n = rows.shape[0]
        weights = check_weights(sample_weight, n)
    else:
        whole = check_X_fit(ensemble, X, categorical_features=tree.categorical_features)
        n = len(whole.X)
        weights = check_weights(sample_weight, n)
        table = whole.without_weightless_categories(weights)
        ensemble.categories_ = list(table.categories)
        rows = table.X
    target = ensemble._read_target(y, n)
    weights = np.ones(n) if weights is None else weights
    if given_validation(*held_out):
        with reading_validation():
            given = _read_held_out(ensemble, tree, *held_out)
        return BoostData(rows, target, weights, table, given)
    if params.patience is None:
        return BoostData(rows, target, weights, table, None)
    classes = hasattr(ensemble, "classes_")
    learn, held = hold_out(
        Rows(rows, target, weights), params.validation_fraction, seed, classes=classes
    )
    assert learn.weights is not None
    if table is not None:
        table = Table(learn.X, table.categories)
    return BoostData(learn.X, learn.y, learn.weights, table, held)


def _read_held_out(ensemble: Any, tree: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    read = keep_X_predict if tree is None else check_X_predict
    rows = read(ensemble, X)
    n = rows.shape[0]
    target = ensemble._read_target(y, n, again=True)
    return Rows(rows, target, check_weights(sample_weight, n))
