"""Columns that parameters name: by name, by index or by a mask.

``categorical_features``, ``monotonic_cst`` and ``interaction_cst`` are read here, and so are the
groups of columns whose importance is asked for. Text is a name and a whole number is an index, as
in scikit-learn, so that a name that looks like an index is no riddle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from weald.params.warnings import warn_user
from weald.params.words import listed

__all__ = ["Columns"]

_LISTED = 5  # names that a message lists
_ALIKE = 0.6  # of names, by difflib, that a message takes for a slip
_KINDS = "'from_dtype', None, a list of column indices or of column names, or a boolean mask"


@dataclass(frozen=True, eq=False)
class Columns:
    """What parameters can say about the columns of a table.

    Attributes
    ----------
    is_categorical : array of bool
        Kind of each column.
    names : sequence, optional
        If the columns have names. These of a data frame need not be text.
    """

    is_categorical: npt.NDArray[np.bool_]
    names: Sequence[Any] | None = None

    def __len__(self) -> int:
        return len(self.is_categorical)

    def find(self, parameter: str, item: Any) -> int:
        """The number of the column that `item` stands for: a name, or an index from 0 on.

        Examples
        --------
        >>> columns = Columns(np.zeros(3, dtype=bool), ["age", "height", "town"])
        >>> columns.find("interaction_cst", "town"), columns.find("interaction_cst", 1)
        (2, 1)
        >>> columns.find("interaction_cst", "hight")
        Traceback (most recent call last):
        ValueError: interaction_cst names 'hight', but X has no such column: did you mean 'height'?
        """
        if isinstance(item, str):
            return self._by_name(parameter, item)
        if isinstance(item, Integral) and not isinstance(item, bool | np.bool_):
            return self._by_index(parameter, int(item))
        raise ValueError(
            f"{parameter} has {item!r} for a column: give its name, or its index as a whole number."
        )

    def _by_name(self, parameter: str, name: str) -> int:
        said = f"{parameter} names {name!r}, but X has no"
        if self.names is None:
            raise ValueError(f"{said} column names: give indices, from 0 to {len(self) - 1}.")
        if name in self.names:
            return list(self.names).index(name)
        raise ValueError(f"{said} such column: {self._near(name)}")

    def _by_index(self, parameter: str, index: int) -> int:
        names = list(self.names or ())
        called = names.index(index) if index in names else index
        if not 0 <= index < len(self):
            place = f" (the column named {index} has the index {called})" if index in names else ""
            raise ValueError(
                f"{parameter} has the index {index}, but the columns are 0 to {len(self) - 1}"
                f"{place}."
            )
        if called != index:
            warn_user(
                f"{parameter} has the index {index}, which is column {names[index]!r}, while the "
                f"column named {index} has the index {called}: columns with numbers for names are "
                "found by index."
            )
        return index

    def _near(self, name: str) -> str:
        """Which columns may have been meant, or which there are."""
        assert self.names is not None
        by_look = {str(known).strip().casefold(): known for known in self.names}
        near = get_close_matches(name.strip().casefold(), by_look, _LISTED, _ALIKE)
        if near:
            return f"did you mean {listed([repr(by_look[look]) for look in near], 'or')}?"
        shown = ", ".join(repr(known) for known in self.names[:_LISTED])
        more = len(self) - _LISTED
        return f"it has {shown}{f' and {more} more' if more > 0 else ''}."

    # --- parameters -------------------------------------------------------------------------------

    def listed(self, parameter: str, given: Any) -> npt.NDArray[np.bool_]:
        """The columns that a list of names, a list of indices or a mask stands for, as a mask."""
        mask = np.zeros(len(self), dtype=bool)
        usage = f"{parameter} must be {_KINDS}"
        if isinstance(given, str | bytes) or not np.iterable(given):
            known = isinstance(given, str) and self.names is not None and given in self.names
            raise ValueError(f"{usage}, not {given!r}{f': give [{given!r}]' if known else ''}.")
        items = list(given)
        if items and all(isinstance(item, bool | np.bool_) for item in items):
            if len(items) != len(self):
                raise ValueError(
                    f"{usage} with one entry for each of the {len(self)} columns, not {len(items)}."
                )
            mask[:] = items
            return mask
        names = all(isinstance(item, str) for item in items)
        if not names and not all(
            isinstance(item, Integral) and not isinstance(item, bool) for item in items
        ):
            kinds = sorted({type(item).__name__ for item in items})
            raise ValueError(f"{usage}, not a list of {' and '.join(kinds)} values.")
        for item in items:
            mask[self.find(parameter, item)] = True
        return mask

    def directions(self, value: Any, parameter: str = "monotonic_cst") -> list[int]:
        """-1, 0 or 1 for each column, from a sequence or a dict; empty if none is constrained."""
        if value is None:
            return []
        if isinstance(value, Mapping):
            directions: npt.NDArray[Any] = np.zeros(len(self), dtype=object)
            for item, direction in value.items():
                directions[self.find(parameter, item)] = direction
        else:
            directions = np.asarray(value)
        if directions.shape != (len(self),):
            raise ValueError(
                f"{parameter} has shape {directions.shape} but the input data X has {len(self)} "
                "features: give one of -1, 0, 1 per column, or a dict from column to these."
            )
        said = directions.tolist()
        odd = [j for j, one in enumerate(said) if isinstance(one, str) or one not in (-1, 0, 1)]
        if odd:
            raise ValueError(
                f"{parameter} must be None, an array-like or a dict of -1, 0 or 1: column "
                f"{self._called(odd[0])} has {said[odd[0]]!r}."
            )
        clash = [j for j, one in enumerate(said) if one and self.is_categorical[j]]
        if clash:
            raise ValueError(
                f"{parameter} constrains column {self._called(clash[0])}, which is categorical and "
                "has no order: set its entry to 0."
            )
        return [int(one) for one in said] if any(said) else []

    def interactions(self, value: Any, parameter: str = "interaction_cst") -> list[list[int]]:
        """Groups of columns that may meet in a branch of a tree; empty if all may.

        As in scikit-learn, columns that are in no group form one more.
        """
        if value is None:
            return []
        d = len(self)
        usage = (
            f"{parameter} must be None, 'pairwise', 'no_interactions' or a sequence of sets of "
            f"columns, by name or index, got {value!r}."
        )
        if isinstance(value, str):
            if value == "pairwise" and d > 1:
                return [list(pair) for pair in combinations(range(d), 2)]
            if value in ("pairwise", "no_interactions"):
                return [[j] for j in range(d)]
            raise ValueError(usage)
        if not np.iterable(value):
            raise ValueError(usage)
        groups = []
        for group in value:
            if isinstance(group, str | bytes | bool) or not np.iterable(group):
                raise ValueError(usage)
            groups.append(sorted({self.find(parameter, item) for item in group}))
        rest = sorted(set(range(d)).difference(*groups))
        found = [group for group in groups if group]
        return [*found, rest] if rest else found

    def narrowed(self, given: Mapping[str, Any], kept: npt.NDArray[Any]) -> dict[str, Any]:
        """Those parameters that name columns, as they are for a table of some of the columns.

        Examples
        --------
        >>> columns = Columns(np.zeros(3, dtype=bool), ["age", "height", "town"])
        >>> given = {"max_depth": 3, "categorical_features": ["age"], "monotonic_cst": {"town": 1}}
        >>> columns.narrowed(given, np.array([0, 2]))
        {'categorical_features': [True, False], 'monotonic_cst': [0, 1]}
        """
        found: dict[str, Any] = {}
        listed = given.get("categorical_features")
        if listed is not None and not isinstance(listed, str):
            found["categorical_features"] = self.listed("categorical_features", listed)[
                kept
            ].tolist()
        if given.get("monotonic_cst") is not None:
            directions = self.directions(given["monotonic_cst"]) or [0] * len(self)
            found["monotonic_cst"] = [directions[j] for j in kept]
        groups = given.get("interaction_cst")
        if groups is not None and not isinstance(groups, str):
            found["interaction_cst"] = [
                np.flatnonzero(np.isin(kept, group)).tolist() for group in self.interactions(groups)
            ]
        return found

    def _called(self, j: int) -> str:
        return str(j) if self.names is None else repr(self.names[j])
