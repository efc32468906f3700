"""A model and the rows it is looked at with: read once, checked once, for all notions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from weald._engine import FloatArray
from weald.input.labels import UnknownLabelError, check_target, check_weights, encode_again
from weald.theory.reading import read_ensemble
from weald.theory.view import EnsembleView

__all__ = ["ROWS", "Task", "check_delta", "check_opinions", "read_model", "read_task"]

ROWS = ("out_of_bag", "held_out")  # what rows can be to members that drew theirs


@dataclass(frozen=True, eq=False)
class Task:
    """A fitted model, rows, and what is true of them.

    Attributes
    ----------
    view : EnsembleView
    X : table
        As the user gave it.
    y : array of shape (n,)
        Class codes, or numbers.
    weights : array of shape (n,)
        Of the rows, 1 in total.
    """

    view: EnsembleView
    X: Any
    y: npt.NDArray[Any]
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.y)

    @property
    def signs(self) -> FloatArray:
        """Labels of two classes as -1 and +1."""
        return np.where(self.y == 1, 1.0, -1.0)


def read_model(
    model: Any, *, notion: str, kind: str | None = None, instead: str = ""
) -> EnsembleView:
    """The members of a model that a notion is about.

    Parameters
    ----------
    model : fitted estimator
    notion : str
        What it is read for, for messages: "margins", ...
    kind : "classes" or "numbers", optional
        What the model must predict; default: either.
    instead : str
        What to use for a model of the other kind.
    """
    view = read_ensemble(model)
    if kind is not None and view.kind != kind:
        wanted, got = ("classifiers", "numbers") if kind == "classes" else ("regressors", "classes")
        if view.answers is None and instead:
            instead = "bias_variance"  # the others are about members with opinions of their own
        raise TypeError(f"{notion} is for {wanted}, but {view.name} predicts {got}{_use(instead)}.")
    return view


def read_task(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    notion: str,
    kind: str | None = None,
    instead: str = "",
) -> Task:
    """Read a model, rows and their targets.

    Parameters
    ----------
    model : fitted estimator
    X : table of shape (n, d)
    y : array-like of shape (n,)
        Labels that the model knows, or numbers.
    sample_weight : array-like of shape (n,), optional
    notion, kind, instead : see :func:`read_model`
    """
    view = read_model(model, notion=notion, kind=kind, instead=instead)
    n = _num_samples(X)
    if n == 0:
        raise ValueError(f"{notion} needs rows, but X has none.")
    if y is None:
        raise ValueError(f"{notion} needs the targets y of the rows.")
    if view.classes is None:
        target = check_target(y, n)
        if target.shape[1] > 1:
            raise ValueError("y should be a 1d array, one number per row.")
        truth: npt.NDArray[Any] = target[:, 0]
    else:
        if len(view.classes) < 2:
            raise ValueError(
                f"This {view.name} was fitted to one class, so {notion} has nothing to tell apart."
            )
        truth = _codes(y, n, view)
    weights = check_weights(sample_weight, n)
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    return Task(view, X, truth, shares)


def check_opinions(view: EnsembleView, notion: str) -> None:
    """Refuse members that only add to others."""
    if view.answers is None:
        other = "margins" if view.kind == "classes" else "bias_variance"
        raise TypeError(
            f"{notion} is about members that predict by themselves, but those of {view.name} add "
            f"to each other: use {other} instead."
        )


def check_delta(delta: Any) -> float:
    """The probability with which a bound may fail: a number between 0 and 1."""
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.number):
        raise TypeError(f"delta must be a number between 0 and 1, got {delta!r}.")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, both excluded, got {delta!r}.")
    return float(delta)


def _codes(y: Any, n: int, view: EnsembleView) -> npt.NDArray[np.intp]:
    assert view.classes is not None
    try:
        return encode_again(y, n, view.classes)
    except UnknownLabelError as error:
        raise ValueError(
            f"y holds the label {error.label!r}, which {view.name} was not fitted to; it knows "
            f"{_listed(view.classes)}."
        ) from None


def _listed(classes: npt.NDArray[Any]) -> str:
    shown = [repr(label) for label in classes[:5].tolist()]
    return ", ".join(shown) + (", ..." if len(classes) > 5 else "")


def _use(instead: str) -> str:
    return f": use {instead} instead" if instead else ""
