"""What is in a model file, without building the model."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.models.container import VERSION, open_container
from weald.models.decoding import Sketch
from weald.models.errors import ModelFileError, require

__all__ = ["ColumnInfo", "ModelInfo", "describe"]


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A column of the table that a model was fitted to.

    Attributes
    ----------
    name : str
        That of the table, or "x0", "x1", ... if its columns had none.
    kind : str
        "number", "category", "ordered category" (which is a number to the trees), or "any" if the
        members read the column themselves.
    categories : list, optional
        The labels of a category; those of an ordered one in their order.
    """

    name: str
    kind: str
    categories: list[Any] | None = None


@dataclass(frozen=True)
class ModelInfo:
    """What is in a model file.

    Attributes
    ----------
    format : int
        Version of the format.
    weald_version, sklearn_version : str
        What wrote the file.
    class_name : str
    parameters : dict
        Models among them are told as "<ClassName>".
    n_members : int, optional
        Members of an ensemble.
    columns : tuple of ColumnInfo, optional
        None if the model does not know how many there are.
    classes : list, optional
        Labels of a classifier; a list of lists if it has several outputs.
    info : dict, optional
        As it was given to `save`.
    sizes : dict
        Bytes of the "file", its "arrays" and its "document" (the JSON).
    """

    format: int
    weald_version: str
    sklearn_version: str
    class_name: str
    parameters: dict[str, Any]
    n_members: int | None
    columns: tuple[ColumnInfo, ...] | None
    classes: list[Any] | None
    info: dict[str, Any] | None
    sizes: dict[str, int]


def describe(path: str | os.PathLike[str]) -> ModelInfo:
    """Tell what is in a model file, without building the model.

    Parameters
    ----------
    path : path

    Returns
    -------
    ModelInfo

    Raises
    ------
    ModelFileError
        If the file is not a model file, or damaged.
    """
    contents = open_container(path, check_arrays=False)
    document = contents.document
    try:
        sketch = Sketch(contents.arrays, document["values"], document["objects"])
        about = sketch.value(document["about"])
        root = document["objects"][-1]
        parameters = {name: sketch.value(part) for name, part in root["params"].items()}
        texts = [document[name] for name in ("weald", "scikit-learn", "class")]
        require(all(isinstance(text, str) for text in texts), "its description")
        members = document["members"]
        require(members is None or (type(members) is int and members >= 0), "its description")
        info = about["info"]
        require(info is None or isinstance(info, dict), "its description")
        classes = about["classes_"]
        return ModelInfo(
            VERSION,
            texts[0],
            texts[1],
            texts[2],
            parameters,
            members,
            _columns(about, contents.sizes["file"]),
            None if classes is None else _plain(classes),
            info,
            contents.sizes,
        )
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError("Not a valid model file: its description is damaged.") from error


def _plain(labels: Any) -> list[Any]:
    return [_plain(part) for part in labels] if isinstance(labels, list) else labels.tolist()


def _columns(about: dict[str, Any], size: int) -> tuple[ColumnInfo, ...] | None:
    """The columns of a model in a file of so many bytes."""
    n, names, categories = (
        about[name] for name in ("n_features_in_", "feature_names_in_", "categories_")
    )
    if n is None:
        return None
    require(isinstance(n, int | np.integer) and n >= 0, "its description")
    if categories is None or len(categories) != n:  # an encoder of scikit-learn has its own
        # A model has some bytes for each of very many columns; a small file may not ask for room.
        require(n <= max(1 << 16, size // 4), "its description")
        categories = ["any"] * int(n)
    named = [f"x{j}" for j in range(int(n))] if names is None else [str(name) for name in names]
    require(len(named) == n, "its description")
    ordered = about.get("_ordered_columns") or {}  # not in files of early builds
    columns = []
    for j, (name, labels) in enumerate(zip(named, categories, strict=True)):
        if labels is None and j in ordered:
            require(isinstance(ordered[j], list), "its description")
            columns.append(ColumnInfo(name, "ordered category", ordered[j]))
        elif labels is None or isinstance(labels, str):
            columns.append(ColumnInfo(name, "number" if labels is None else "any"))
        else:
            columns.append(ColumnInfo(name, "category", labels.tolist()))
    return tuple(columns)
