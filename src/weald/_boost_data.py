"""What is given to ``fit`` of a boosted ensemble, read and divided into training and validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._boost_params import BoostParams
from weald._data import Table, check_weights, check_X_fit, check_X_predict
from weald._raw_table import keep_X_fit, keep_X_predict, take_rows

__all__ = ["BoostData", "Validation", "read_data"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Validation:
    """Rows that the members do not see."""

    X: Any
    y: npt.NDArray[Any]
    weights: FloatArray | None


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
    validation : Validation, optional
    """

    X: Any
    y: npt.NDArray[Any]
    weights: FloatArray
    table: Table | None
    validation: Validation | None


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
    if (held_out[0] is None) != (held_out[1] is None):
        raise ValueError("X_val and y_val belong together: give both, or neither.")
    if held_out[0] is None and held_out[2] is not None:
        raise ValueError("sample_weight_val weighs the rows of X_val, which is not given.")
    if held_out[0] is not None:
        given = _read_held_out(ensemble, tree, *held_out)
        return BoostData(rows, target, weights, table, given)
    if params.patience is None:
        return BoostData(rows, target, weights, table, None)
    classes = target if hasattr(ensemble, "classes_") else np.zeros(n, dtype=np.int64)
    kept, out = _divide(classes, weights > 0, params.validation_fraction, seed)
    inside = take_rows(rows, kept)
    if table is not None:
        table = Table(inside, table.categories)
    held = Validation(take_rows(rows, out), target[out], weights[out])
    return BoostData(inside, target[kept], weights[kept], table, held)


def _read_held_out(ensemble: Any, tree: Any, X: Any, y: Any, sample_weight: Any) -> Validation:
    read = keep_X_predict if tree is None else check_X_predict
    rows = read(ensemble, X)
    n = rows.shape[0]
    target = ensemble._read_target(y, n, again=True)
    return Validation(rows, target, check_weights(sample_weight, n))


def _divide(
    classes: npt.NDArray[Any], present: npt.NDArray[np.bool_], share: float, seed: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Numbers of the training and validation rows.

    Rows of no weight are absent from both. A row of each class stays for training; of the others
    every class gives its part, as nearly as can be.
    """
    numbers = np.random.RandomState(seed)
    mixed = numbers.permutation(np.flatnonzero(present))
    by_class = mixed[np.argsort(classes[mixed], kind="stable")]
    first = np.unique(classes[by_class], return_index=True)[1]
    free = np.delete(by_class, first)
    n_out = min(max(1, round(share * len(mixed))), len(free))
    if n_out == 0:
        raise ValueError(
            "n_iter_no_change holds out rows for validation, but there is only 1 row of each "
            f"class (n_samples={len(mixed)}): give X_val and y_val, or n_iter_no_change=None."
        )
    # Every so manieth, so that no class is passed over that is large enough.
    places = ((np.arange(n_out) + numbers.uniform()) * (len(free) / n_out)).astype(np.intp)
    out = np.sort(free[places])
    return np.setdiff1d(mixed, out), out
