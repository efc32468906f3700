"""Members as users see them: sequences of estimators that are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

__all__ = ["MemberGrid", "MemberTrees"]


class MemberTrees(Sequence[Any]):
    """A read-only list of fitted trees that are made one by one; the forest stays compact.

    Parameters
    ----------
    n : int
        Number of members.
    make : callable
        Gives the member of a number.
    """

    def __init__(self, n: int, make: Callable[[int], Any]) -> None:
        self._n = n
        self._make = make

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, t: int) -> Any: ...
    @overload
    def __getitem__(self, t: slice) -> list[Any]: ...
    def __getitem__(self, t: int | slice) -> Any:
        chosen = range(self._n)[t]  # says what is out of range
        return self._make(chosen) if isinstance(chosen, int) else [self._make(i) for i in chosen]

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return [*other, *self]

    def __repr__(self) -> str:
        return f"<{self._n} trees>"


class MemberGrid(Sequence[Any]):
    """The members of each round, read-only, shape (rounds, members of a round).

    ``members[t]`` is an array of those of round t, ``members[t, k]`` one of them.

    Parameters
    ----------
    shape : (rounds, members of a round)
    make : callable
        Gives the member of a round and a place in it.
    """

    def __init__(self, shape: tuple[int, int], make: Callable[[int, int], Any]) -> None:
        self.shape = shape
        self._make = make

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, tuple):
            t, k = place
            found = self._array(range(self.shape[0])[t], range(self.shape[1])[k])
            return found if found.ndim else found.item()
        return self._array(range(self.shape[0])[place], range(self.shape[1]))

    def _array(self, rounds: Any, members: Any) -> npt.NDArray[Any]:
        shape = [len(side) for side in (rounds, members) if isinstance(side, range)]
        array = np.empty(shape, dtype=object)
        chosen = [
            self._make(t, k)
            for t in ([rounds] if isinstance(rounds, int) else rounds)
            for k in ([members] if isinstance(members, int) else members)
        ]
        for i, member in enumerate(chosen):
            array.flat[i] = member
        return array

    def __repr__(self) -> str:
        return f"<{self.shape[0]} rounds of {self.shape[1]}>"
