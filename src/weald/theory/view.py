"""A fitted ensemble of any library, as theory sees it: members, and how much they count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray

__all__ = ["Codes", "Counts", "EnsembleView"]

Codes = npt.NDArray[np.signedinteger[Any]]
Counts = npt.NDArray[np.uint32]
# What each member says of rows, one member after the other, so that only one is held at a time.
Answers = Callable[[Any], Iterator[FloatArray]]


def _unknown() -> None:
    return None


@dataclass(frozen=True, eq=False)
class EnsembleView:
    """The members of a fitted model.

    Attributes
    ----------
    name : str
        Of the model's class, for messages.
    classes : array or None
        Labels; members say codes, which are places in it. None: numbers are predicted.
    weights : array of shape (T,)
        How much each member counts; the sum is not 1 in general.
    combine : str
        How the model puts its members together: "mean" of numbers or class shares; "votes";
        "median"; "sum": members are terms of a raw prediction, added to a start; "scores": members
        are classifiers, but what is added are raw values of their classes; "other".
    answers : callable, optional
        Gives what each member says of rows: (n, K) class shares, or (n,) numbers. None if members
        have no opinion of their own but add to that of others.
    added : callable, optional
        Gives what each member adds to the raw prediction, before its weight: (n,) for numbers and
        for two classes, where positive is for the second; else (n, K). None if nothing is added.
    begin : callable, optional
        Gives the raw prediction before the first member, as `added`; None: 0.
    bags : callable
        Gives how often each training row was drawn for each member, (T, n); None if not drawn.
    drawing : str
        How rows were drawn for bags: all alike ("rows"), or by "weights", "groups", "classes", or
        a "sampler" of the user's.
    leaves : callable
        Gives the most leaves of a member, if all are trees that cut columns of numbers; else None.
    n_columns : int
        Of the training table.
    """

    name: str
    classes: npt.NDArray[Any] | None
    weights: FloatArray
    combine: str
    answers: Answers | None = None
    added: Answers | None = None
    begin: Callable[[Any], FloatArray] | None = None
    bags: Callable[[], Counts | None] = _unknown
    drawing: str = "rows"
    leaves: Callable[[], int | None] = _unknown
    n_columns: int = 0

    @property
    def n_members(self) -> int:
        """T."""
        return len(self.weights)

    @property
    def kind(self) -> str:
        """What is predicted: "classes" or "numbers"."""
        return "numbers" if self.classes is None else "classes"

    @property
    def n_classes(self) -> int:
        """K; 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def additive(self) -> bool:
        """Members are increments of a raw prediction, as in gradient boosting."""
        return self.combine == "sum"

    def votes(self, X: Any) -> Codes:
        """The class code each member predicts, shape (T, n), in the smallest type that holds them.

        The vote of an increment is the class that it raises most.
        """
        if self.kind != "classes":
            raise ValueError(f"The members of {self.name} predict numbers and do not vote.")
        dtype = np.min_scalar_type(-max(self.n_classes, 1))
        said = self.terms(X) if self.answers is None else self.shares(X)
        each = [
            (one > 0 if one.ndim == 1 else one.argmax(axis=1)).astype(dtype, copy=False)
            for one in said
        ]
        return np.stack(each)

    def values(self, X: Any) -> FloatArray:
        """The number each member says, shape (T, n): a prediction, or a term if `additive`."""
        if self.kind != "numbers":
            raise ValueError(f"The members of {self.name} predict classes, not numbers.")
        said = self.terms(X) if self.answers is None else self.answers(X)
        return np.stack(list(said))

    def shares(self, X: Any) -> Iterator[FloatArray]:
        """The class shares (n, K) of one member after another; votes, if it gives no shares."""
        if self.kind != "classes" or self.answers is None:
            raise ValueError(f"The members of {self.name} give no class shares of their own.")
        return self.answers(X)

    def terms(self, X: Any) -> Iterator[FloatArray]:
        """What one member after another adds to the raw prediction, its weight not included.

        Of shape (n,) for numbers and for two classes, positive for the second, else (n, K).
        """
        if self.added is None:
            raise ValueError(f"The members of {self.name} are not terms of a sum.")
        return self.added(X)

    def start(self, X: Any) -> FloatArray:
        """The raw prediction before the first member, of a shape that fits the terms."""
        return np.zeros(1) if self.begin is None else self.begin(X)

    def in_bag(self) -> Counts | None:
        """How often each training row was drawn for each member, (T, n); None: not drawn."""
        return self.bags()
