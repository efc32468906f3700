"""From a fitted model to a file."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator

import weald
from weald.models.container import write_container
from weald.models.encoding import Encoder
from weald.models.errors import ModelFileError
from weald.models.trial import Trial

__all__ = ["n_members", "save"]

_ABOUT = ("n_features_in_", "feature_names_in_", "categories_", "classes_", "_ordered_columns")


def save(model: Any, path: str | os.PathLike[str], *, info: dict[str, Any] | None = None) -> None:
    """Save a fitted model to one file that holds data only.

    The file is there as a whole or not at all: until it is complete, an older file of that name
    stays.

    Parameters
    ----------
    model : estimator
        Of weald, or a scikit-learn estimator of a kind that docs/model-files.md lists, such as a
        pipeline that ends in one of weald.
    path : path
        The usual suffix is ``.weald``.
    info : dict, optional
        Notes to keep in the file, of what JSON can hold; `describe` shows them.

    Raises
    ------
    ModelFileError
        If a part of the model is code, or of a class that cannot be stored as plain data.

    Examples
    --------
    >>> import weald, tempfile, pathlib
    >>> model = weald.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "tree.weald"
    ...     weald.save(model, path, info={"accuracy": 1.0})
    ...     weald.load(path).predict([[1]])
    array(['yes'], dtype='<U3')
    """
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"Cannot save {type(model).__name__}: it is not an estimator; save a fitted model."
        )
    encoder = Encoder()
    about = encoder.value(_about(model, _plain_info(info)))
    encoder.object(model)
    trial = Trial(model, encoder.alive)
    row, named = trial.row(), False
    if row is None and hasattr(model, "feature_names_in_"):
        by_name = Trial(model, encoder.alive, named=True)
        row = by_name.row()
        trial, named = (by_name, True) if row is not None else (trial, False)
    document = {
        "weald": weald.__version__,
        "scikit-learn": sklearn.__version__,
        "class": encoder.objects[-1]["class"],
        "members": n_members(model),
        "row": encoder.value(row),
        "named": named,
        "failures": sorted(trial.failures(by_parts=row is None)),
        "about": about,
        "values": encoder.values,
        "objects": encoder.objects,
    }
    write_container(path, document, encoder.arrays)


def n_members(model: Any) -> int | None:
    """How many members a model has; None for a single one, or one that is not fitted."""
    members = vars(model).get("_members") or getattr(vars(model).get("_model"), "members", None)
    if members is not None:
        return len(members) * int(members.per_round)
    members = vars(model).get("estimators_")
    if members is None:
        return None
    # No array is made of a list: a forest in it would be taken for a list of trees.
    return int(members.size) if isinstance(members, np.ndarray) else len(members)


def _about(model: Any, info: Any) -> dict[str, Any]:
    """What `describe` tells without building the model."""
    columns: dict[str, Any] = {}
    for name in _ABOUT:
        try:
            columns[name] = getattr(model, name, None)
        except Exception:  # a property that asks members which do not know it
            columns[name] = None
    return {**columns, "info": info}


def _plain_info(info: Any) -> Any:
    if info is None:
        return None
    try:
        plain = json.loads(json.dumps(info))
    except (RecursionError, TypeError, ValueError) as error:
        raise ModelFileError(f"info must be a dict of what JSON can hold: {error}.") from error
    if not isinstance(plain, dict):
        raise ModelFileError("info must be a dict of what JSON can hold.")
    return plain
