"""The door for pickles: what comes out of one is checked before anything relies on it.

A file may have been cut off, edited or made by somebody else. The engine checks the nodes of trees;
here are the numbers and arrays around them. What is wrong is told in one sentence.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np

from weald import _engine as engine

__all__ = [
    "LARGEST_SEED",
    "CheckedState",
    "SavedEstimator",
    "check_attributes",
    "check_trees",
    "is_array",
    "is_whole",
    "numbers",
    "require",
]

LARGEST_SEED = 2**63 - 1


class CheckedState:
    """Something that is checked when it comes out of a pickle."""

    def __setstate__(self, state: Any) -> None:
        try:
            known: Any = getattr(super(), "__setstate__", self.__dict__.update)
            known(state)
            self._check_state()
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            kind = type(self).__name__
            raise ValueError(f"Not a valid {kind}: its parts do not fit together.") from error

    def _check_state(self) -> None:
        """Raise ValueError, or whatever comes of parts that do not fit, if something is wrong."""


class SavedEstimator(CheckedState):
    """An estimator that can be written to a model file."""

    _own_param_names: ClassVar[tuple[str, ...]]

    def save(self, path: str | os.PathLike[str], *, info: dict[str, Any] | None = None) -> None:
        """Save the fitted model to one file that holds data only; see :func:`weald.save`.

        Parameters
        ----------
        path : path
            The usual suffix is ``.weald``.
        info : dict, optional
            Notes to keep in the file, of what JSON can hold.
        """
        import weald  # whose names are imported when first asked for

        weald.save(self, path, info=info)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The parameters, as scikit-learn reads them from the signature: once for each class.

        Reading it takes longer than to grow a small tree, and a fit asks three times.
        """
        if "_own_param_names" not in cls.__dict__:
            cls._own_param_names = tuple(super()._get_param_names())  # type: ignore[misc]
        return list(cls._own_param_names)


def require(condition: Any, thing: object, part: str) -> None:
    """Refuse a thing for the sake of a part of it."""
    if not condition:
        raise ValueError(f"Not a valid {type(thing).__name__}: {part} cannot be right.")


def is_whole(number: Any, low: int, high: int = 2**31) -> bool:
    """Whether this is a whole number from `low` to `high`."""
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    return whole and low <= int(number) <= high


def is_array(array: Any, shape: tuple[int, ...], dtype: Any = np.float64) -> bool:
    """Whether this is an array of that shape and type."""
    return isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype


def numbers(array: Any, n: int | None = None, low: float = -np.inf) -> bool:
    """Whether this is an array of (`n`) finite numbers, none below `low`."""
    return (
        isinstance(array, np.ndarray)
        and array.dtype == np.float64
        and array.ndim == 1
        and n in (None, len(array))
        and bool(np.isfinite(array).all())
        and bool((array >= low).all())
    )


def _check_columns(model: Any) -> None:
    """Check what an estimator knows about the columns of its table, if it knows any."""
    state = vars(model)
    if "n_features_in_" not in state:
        return
    n = state["n_features_in_"]
    require(is_whole(n, 1), model, "n_features_in_")
    if "feature_names_in_" in state:
        names = state["feature_names_in_"]
        require(isinstance(names, np.ndarray) and names.shape == (n,), model, "feature_names_in_")
    blank = state.get("_blank_columns", [])
    require(
        isinstance(blank, list) and all(is_whole(j, 0, n - 1) for j in blank), model, "a column"
    )
    ordered = state.get("_ordered_columns", {})
    require(isinstance(ordered, dict), model, "a column of ordered categories")
    for j, labels in ordered.items():
        fine = (
            is_whole(j, 0, n - 1) and isinstance(labels, list) and len(set(labels)) == len(labels)
        )
        fine = fine and all(isinstance(label, str | int | float) for label in labels)
        require(fine, model, "a column of ordered categories")
    if "categories_" not in state:
        return
    categories = state["categories_"]
    require(isinstance(categories, list) and len(categories) == n, model, "categories_")
    newcomers = state.get("_newcomers", {})
    require(isinstance(newcomers, dict), model, "a new category")
    for j, code in newcomers.items():
        fine = is_whole(j, 0, n - 1) and categories[j] is not None
        require(fine and is_whole(code, 0, len(categories[j]) - 1), model, "a new category")
    for labels in categories:
        if labels is not None:
            require(isinstance(labels, np.ndarray) and labels.ndim == 1, model, "categories_")
            # As they were sorted: numbers in their own type, text as objects.
            plain = labels.dtype.kind in "biuf"
            if labels.dtype == object:
                plain = all(isinstance(label, str | int | float) for label in labels)
            require(plain, model, "categories_")
            require(labels.dtype.kind != "f" or np.isfinite(labels).all(), model, "categories_")


def _check_classes(model: Any) -> None:
    """Check what an estimator knows about its targets, if it knows any."""
    state = vars(model)
    require(is_whole(state.get("n_outputs_", 1), 1), model, "n_outputs_")
    if "classes_" not in state:
        return
    several = isinstance(state["classes_"], list)
    outputs = state["classes_"] if several else [state["classes_"]]
    for labels in outputs:
        require(isinstance(labels, np.ndarray) and labels.ndim == 1, model, "classes_")
        require(len(labels) > 0, model, "classes_")
    counts = list(map(len, outputs))
    n_classes = state.get("n_classes_", counts if several else counts[0])
    known = n_classes if isinstance(n_classes, list) else [n_classes]
    require(all(is_whole(n, 1) for n in known) and known == counts, model, "n_classes_")
    require(several == isinstance(n_classes, list), model, "n_classes_")
    require(state.get("n_outputs_", len(counts)) == len(counts), model, "n_outputs_")
    require(several == (len(counts) > 1), model, "classes_")
    costs = state.get("_costs")
    if costs is not None:
        fits = isinstance(costs, np.ndarray) and costs.shape == (counts[0], counts[0])
        require(fits and np.isfinite(costs).all(), model, "the cost matrix")


def check_trees(model: Any, trees: Any, *, same_target: bool = True) -> None:
    """Check that an estimator and its trees, a Tree or a Forest, are about the same table.

    Parameters
    ----------
    same_target : bool
        Whether they are about the same targets as well: in boosting they need not be.
    """
    require(isinstance(trees, engine.Tree | engine.Forest), model, "what holds its trees")
    require(trees.n_features == model.n_features_in_, model, "the number of columns")
    counts = [0 if labels is None else max(len(labels), 1) for labels in model.categories_]
    require(list(trees.n_categories) == counts, model, "the number of categories")
    if not same_target:
        return
    classes = getattr(model, "classes_", None)
    lists = classes if isinstance(classes, list) else [classes]
    require(trees.n_outputs == getattr(model, "n_outputs_", len(lists)), model, "n_outputs_")
    known = [1] * trees.n_outputs if classes is None else list(map(len, lists))
    require(trees.n_classes.tolist() == known, model, "the number of classes")


def check_attributes(model: Any) -> None:
    """Check what an estimator knows about columns and targets, and its seed, if it has any."""
    _check_columns(model)
    _check_classes(model)
    require(is_whole(vars(model).get("seed_", 0), 0, LARGEST_SEED), model, "seed_")
