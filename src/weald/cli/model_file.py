"""Model files of the command line: a model, and beside it what the commands need to know."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import weald
from weald.cli.errors import ModelError
from weald.cli.showing import plain
from weald.dataset import Recipe
from weald.dataset.errors import suggestion

__all__ = ["SavedModel", "describe_model", "facts_of", "load_model", "save_model"]

_OURS = "weald fit"  # what stands under this key was put there by the command line


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model file after reading.

    Attributes
    ----------
    path : str
    model : estimator
    recipe : Recipe
    facts : dict
        What was noted when it was fitted: source, rows, metric, leaderboard, seed, ...
    """

    path: str
    model: Any
    recipe: Recipe
    facts: dict[str, Any]


def save_model(model: Any, path: str, recipe: Recipe, facts: dict[str, Any]) -> None:
    """Write a model, its recipe, and facts as plain data into one file."""
    info = {_OURS: plain({"recipe": recipe.to_json(), **facts})}
    try:
        weald.save(model, path, info=info)
    except weald.ModelFileError as error:
        raise ModelError(str(error)) from error


def load_model(path: str) -> SavedModel:
    """Read a model that `weald fit` wrote."""
    described = describe_model(path)
    facts = _facts(path, described)
    try:
        recipe = Recipe.from_json(facts.get("recipe"))
    except ValueError as error:
        raise ModelError(f"{path}: {error}") from error
    try:
        model = weald.load(path)
    except weald.ModelFileError as error:
        raise ModelError(f"Cannot read {path}: {error}") from error
    return SavedModel(path, model, recipe, facts)


def describe_model(path: str) -> Any:
    """What a model file says about itself."""
    file = Path(path)
    if not file.is_file():
        there = [one.name for one in file.parent.glob("*.weald")] if file.parent.is_dir() else []
        raise ModelError(f"There is no model file {path}.{suggestion(file.name, there)}")
    try:
        return weald.models.describe(path)
    except weald.ModelFileError as error:
        raise ModelError(f"Cannot read {path}: {error}") from error


def facts_of(described: Any) -> dict[str, Any]:
    """What `weald fit` noted in a model file; empty if something else wrote it."""
    info = described.info or {}
    facts = info.get(_OURS) if isinstance(info, dict) else None
    return facts if isinstance(facts, dict) else {}


def _facts(path: str, described: Any) -> dict[str, Any]:
    facts = facts_of(described)
    if not facts:
        raise ModelError(
            f"{path} was not written by `weald fit`, so it does not say how files are to be read: "
            "load it in Python with weald.load."
        )
    return facts
