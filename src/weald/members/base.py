"""What every ensemble has: fitted members, how much they count, what they say, and what they saw.

Whatever looks at a fitted ensemble uses only these methods. There are two implementations:
:class:`weald.members.trees.Trees`, grown and kept by the engine, and
:class:`weald.members.foreign_members.ForeignMembers`, estimators of any kind. Both speak in the
engine's shape, ``(n, n_outputs, n_classes)`` with one "class" for numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray, IntArray
from weald.input.state import LARGEST_SEED, CheckedState, is_whole, require
from weald.sampling import Sampling

__all__ = ["Members", "PlainMembers"]


@dataclass(frozen=True)
class PlainMembers:
    """Members as plain things.

    Attributes
    ----------
    values : dict
        Whatever JSON can hold.
    arrays : dict
        NumPy arrays by name.
    objects : list
        Estimators of other libraries, which have no plain form; empty for trees.
    """

    values: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
    objects: list[Any] = field(default_factory=list)


class Members(CheckedState, ABC):
    """Fitted members, round after round.

    Attributes
    ----------
    seed : int
        Of the ensemble; those of the members follow from it.
    sampling : Sampling, optional
        Which rows and columns each member saw; None: all, or not recorded.
    per_round : int
        Members that a round adds.
    grid : bool
        Users see them as rounds x members of a round.
    """

    seed: int
    sampling: Sampling | None
    per_round: int
    grid: bool

    def _check_state(self) -> None:
        require(is_whole(self.seed, 0, LARGEST_SEED), self, "its seed")
        require(is_whole(self.per_round, 1), self, "the members of a round")
        require(isinstance(self.grid, bool), self, "the order of its members")
        require(self.sampling is None or isinstance(self.sampling, Sampling), self, "its draws")

    @abstractmethod
    def __len__(self) -> int:
        """Number of rounds."""

    @abstractmethod
    def read(self, ensemble: Any, X: Any) -> Any:
        """Rows to predict, as the members want them."""

    @abstractmethod
    def sum(
        self,
        X: Any,
        weights: FloatArray | None = None,
        *,
        first: int = 0,
        last: int | None = None,
        vote: bool = False,
        start: FloatArray | None = None,
        n_jobs: int | None = None,
    ) -> FloatArray:
        """What the rounds first .. last - 1 say, added up in their order.

        Bit for bit the same, whether added one by one or all at once.

        Parameters
        ----------
        X : rows that were read
        weights : array of shape (rounds,), optional
            How much each round counts; 1 by default.
        first, last : int
        vote : bool
            A member says 1 for the class it predicts, instead of its class shares.
        start : array of shape (n, n_outputs), optional
            Sums to start from, for members that say numbers.
        n_jobs : int, optional
        """

    @abstractmethod
    def one(self, t: int, X: Any, vote: bool = False, n_jobs: int | None = None) -> FloatArray:
        """What one member says, shape (n, n_outputs, n_classes)."""

    @abstractmethod
    def mean(
        self,
        X: Any,
        weights: FloatArray | None,
        vote: bool,
        n_jobs: int | None,
        params: dict[str, Any] | None = None,
    ) -> FloatArray:
        """Weighted mean of what the members say; `params` go to members that take them."""

    @abstractmethod
    def each(
        self,
        X: Any,
        n_jobs: int | None,
        vote: bool = False,
        params: dict[str, Any] | None = None,
    ) -> FloatArray:
        """What every round says, shape (rounds, n, n_outputs, n_classes)."""

    @abstractmethod
    def leaves(self, X: Any, n_jobs: int | None) -> IntArray:
        """Leaf of each row in each tree, shape (n, rounds, members of a round)."""

    @abstractmethod
    def importances(self) -> FloatArray:
        """Importance of each column in each member, shape (rounds, members of a round, d)."""

    @abstractmethod
    def estimators(self) -> Sequence[Any]:
        """The members as fitted estimators."""

    @abstractmethod
    def add(self, members: Any) -> None:
        """Append the members of a round."""

    @abstractmethod
    def prefix(self, n: int) -> Members:
        """A copy of the first rounds, that may be added to."""

    @abstractmethod
    def state(self) -> PlainMembers:
        """The members as plain arrays and values."""

    def in_bag(self) -> npt.NDArray[np.uint32]:
        """How often each row was drawn for each member, shape (rounds, n); read-only."""
        return self._draws().in_bag(self.seed, len(self))

    def rows_of(self, t: int) -> npt.NDArray[np.intp]:
        """The rows drawn for a member, each as often as it was drawn."""
        return self._draws().row_numbers(self.seed, t)

    def columns_of(self, t: int) -> IntArray:
        """The columns of a member."""
        return self._draws().columns_of(self.seed, t)

    def _draws(self) -> Sampling:
        if self.sampling is None:
            raise AttributeError("These members were not drawn rows of their own.")
        return self.sampling
