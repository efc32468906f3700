"""Which rows and columns each member of an ensemble sees.

:func:`resolve_draw` turns the parameters of forests and bagging (``bootstrap``, ``max_samples``,
``max_features``, ...) into a :class:`Sampling`: small, frozen, picklable. From it and the seed of
an ensemble the draw of any member can be had at any time, so draws need not be stored:

Rows are drawn with probability proportional to their weight (times that of their class), as in
scikit-learn 1.9, and each draw then counts 1. A share as ``max_samples`` is a share of the sum of
the weights. Where no rows are drawn, weights weigh, exactly. Groups are drawn alike, each as a
whole, and their rows keep their weights. A row of weight 0 is as if it were not there. Equal
weights draw what no weights draw, by the same random numbers.

>>> sampling = resolve_draw(5, bootstrap=True, max_samples=None)
>>> int(sampling.rows(seed=0, member=3).sum())  # how often each row was drawn; 5 draws in all
5

A :class:`Sampler` draws rows in another way; bagging takes one in place of ``bootstrap=True``.

What a user of it needs: ``sampling.draw`` (the :class:`weald._engine.Draw` to grow with),
``sampling.member_weights(w)`` (what is left of the row weights for the members: drawn rows have
used theirs up), ``draws_rows``, ``rows``, ``row_numbers``, ``columns_of`` and ``in_bag``.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald._engine import FloatArray
from weald.input.labels import check_groups
from weald.input.state import CheckedState, is_array, is_whole, numbers, require
from weald.params.growth import check_flag, is_int, is_real, refuse
from weald.params.warnings import warn_user

Codes = npt.NDArray[np.int32]

__all__ = ["Sampler", "Sampling", "draw_by_weight", "is_sampler", "resolve_draw"]


class Sampler(Protocol):
    """A way to draw rows, other than those of the engine."""

    def rows(self, n: int, random: np.random.Generator) -> npt.ArrayLike:
        """How often each of `n` rows is drawn for a member, shape (n,); 0 leaves it out.

        The same random numbers must give the same rows: a draw is not kept but made again.
        """


def is_sampler(value: Any) -> bool:
    """Whether this is an object that draws rows."""
    return not isinstance(value, type) and callable(getattr(value, "rows", None))


@dataclass(frozen=True, eq=False)
class Sampling(CheckedState):
    """How rows and columns are drawn for the members of an ensemble.

    Attributes
    ----------
    n_rows : int
    kind : {"all", "bootstrap", "pasting", "own"}
        Every row once; with replacement; without; as `sampler` says.
    size : int
        Units (rows, or groups) drawn, from each class if `strata` are given.
    weights : array of shape (n_rows,), optional
        Rows are drawn with probability proportional to these.
    units, strata : arrays of int32 of shape (n_rows,), optional
        Group of each row, drawn as a whole; class of each row, drawn from one by one.
    n_columns, columns : int
        Columns of the table, and of each member (0: all of them).
    columns_replace : bool
        A column may be drawn twice.
    present : array of bool of shape (n_rows,), optional
        Rows of positive weight, where some have none: the others count as absent.
    sampler : Sampler, optional
    """

    n_rows: int
    kind: Literal["all", "bootstrap", "pasting", "own"]
    size: int
    weights: FloatArray | None = None
    units: Codes | None = None
    strata: Codes | None = None
    n_columns: int = 0
    columns: int = 0
    columns_replace: bool = False
    present: npt.NDArray[np.bool_] | None = None
    sampler: Sampler | None = None

    @property
    def draws_rows(self) -> bool:
        """Some rows may be left out of a member, so that there is an out-of-bag."""
        return self.kind != "all"

    @property
    def drawn_rows(self) -> float:
        """Rows a member gets, on average, counted as often as they are drawn."""
        present = self.n_rows if self.present is None else int(np.count_nonzero(self.present))
        if self.units is not None:
            return self.size * present / (int(self.units.max()) + 1)
        if self.strata is not None:
            return float(self.size * (int(self.strata.max()) + 1))
        return float(self.size if self.draws_rows else present)

    def member_weights(self, weights: FloatArray | None) -> FloatArray | None:
        """What the rows of a member weigh, besides how often they were drawn.

        Rows that were drawn by weight do not weigh again. Groups are drawn alike, and their rows
        keep their weights, as do rows drawn by a sampler.
        """
        by_weight = self.draws_rows and self.units is None and self.sampler is None
        return None if by_weight else weights

    def mean_weight(self, weights: FloatArray | None) -> float:
        """Mean of what the drawn rows of a member weigh, given all :meth:`member_weights`."""
        if weights is None:
            return 1.0
        here = slice(None) if self.present is None else self.present
        if self.strata is None:
            return float(weights[here].mean())
        classes = self.strata[here]  # drawn equally often
        return float((np.bincount(classes, weights[here]) / np.bincount(classes)).mean())

    @cached_property
    def draw(self) -> engine.Draw:
        """The same, as the engine understands it; without the rows of a sampler."""
        draw = engine.Draw()
        draw.kind = "all" if self.kind == "own" else self.kind
        draw.size = self.size
        draw.columns = self.columns
        draw.columns_replace = self.columns_replace
        if self.weights is not None:
            draw.set_weights(self.weights)
        if self.units is not None:
            draw.set_units(self.units, int(self.units.max()) + 1)
        if self.strata is not None:
            draw.set_strata(self.strata, int(self.strata.max()) + 1)
        return draw

    def rows(self, seed: int, member: int) -> npt.NDArray[np.uint32]:
        """How often each row was drawn for a member."""
        if self.sampler is None:
            counts = engine.draw_rows(self.draw, self.n_rows, seed, member)
        else:
            drawn = self.sampler.rows(self.n_rows, np.random.default_rng((seed, member)))
            counts = _check_counts(drawn, self.n_rows, self.present, type(self.sampler).__name__)
        if self.present is not None:
            counts = np.where(self.present, counts, np.uint32(0))
        return counts

    def row_numbers(self, seed: int, member: int) -> npt.NDArray[np.intp]:
        """The rows drawn for a member, ascending, each as often as it was drawn."""
        return np.repeat(np.arange(self.n_rows), self.rows(seed, member))

    def columns_of(self, seed: int, member: int) -> npt.NDArray[np.int64]:
        """The columns drawn for a member, ascending."""
        if self.columns == 0:
            return np.arange(self.n_columns, dtype=np.int64)
        return engine.draw_columns(self.draw, self.n_columns, seed, member)

    def in_bag(self, seed: int, members: int) -> npt.NDArray[np.uint32]:
        """How often each row was drawn for each of the first members, shape (members, n_rows).

        The answer is kept, and therefore not to be written to.
        """
        if (seed, members) not in self._kept:
            self._kept.clear()
            counts = np.empty((members, self.n_rows), dtype=np.uint32)
            for member in range(members):
                counts[member] = self.rows(seed, member)
            counts.flags.writeable = False
            self._kept[seed, members] = counts
        return self._kept[seed, members]

    @cached_property
    def _kept(self) -> dict[tuple[int, int], npt.NDArray[np.uint32]]:
        return {}

    @property
    def often_out(self) -> npt.NDArray[np.bool_] | None:
        """Rows that members leave out at least a tenth as often as any other; None for all.

        A row of a rare class, say, may be so heavy that practically every member draws it.
        """
        if not self.draws_rows or (self.weights is None and self.strata is None):
            return None
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        if self.present is not None:
            weights = weights * self.present
        if self.strata is None:
            share = weights / weights.sum()
        else:
            share = weights / np.bincount(self.strata, weights)[self.strata]
        with np.errstate(divide="ignore"):
            out = np.exp(self.size * np.log1p(-share))  # a draw misses it, `size` times
        often: npt.NDArray[np.bool_] = out >= out[weights > 0].max() / 10
        return often

    def __getstate__(self) -> dict[str, Any]:
        made = ("draw", "_kept")  # on demand
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def _check_state(self) -> None:
        n = self.n_rows
        require(is_whole(n, 1, 2**32), self, "n_rows")
        require(self.kind in ("all", "bootstrap", "pasting", "own"), self, "kind")
        require((self.kind == "own") == is_sampler(self.sampler), self, "its sampler")
        require(is_whole(self.size, 1), self, "size")
        weights = self.weights
        require(weights is None or (numbers(weights, n, 0) and weights.any()), self, "weights")
        present = self.present
        marked = present is None or (is_array(present, (n,), bool) and present.any())
        require(marked, self, "present")
        pool = n if present is None else int(np.count_nonzero(present))
        for name in ("units", "strata"):
            codes = getattr(self, name)
            if codes is None:
                continue
            require(is_array(codes, (n,), np.int32), self, name)
            require(codes.min() >= 0 and codes.max() < n, self, name)  # memory is taken for each
            # Each number has a row that can be drawn.
            rows = np.bincount(codes if present is None else codes[present])
            require(rows.all() and len(rows) == int(codes.max()) + 1, self, name)
            pool = len(rows) if name == "units" else int(rows.min())
        require(self.kind != "pasting" or self.size <= pool, self, "size")
        d, columns = self.n_columns, self.columns
        require(is_whole(d, 0) and is_whole(columns, 0, d), self, "the number of columns")
        require(isinstance(self.columns_replace, bool), self, "columns_replace")


def draw_by_weight(weights: FloatArray, seed: int, key: int) -> npt.NDArray[np.uint32]:
    """How often each row is drawn: as many as there are, with replacement, by their weights.

    >>> int(draw_by_weight(np.array([1.0, 0.0, 3.0]), seed=0, key=0)[[0, 2]].sum())
    3
    """
    draw = engine.Draw()
    draw.kind, draw.size = "bootstrap", len(weights)
    draw.set_weights(weights)
    return engine.draw_rows(draw, len(weights), seed, key)


def resolve_draw(
    n: int,
    *,
    bootstrap: Any,
    max_samples: Any,
    weights: FloatArray | None = None,
    groups: Any = None,
    classes: Codes | None = None,
    pasting: bool = False,
    n_columns: int = 0,
    max_features: Any = 1.0,
    bootstrap_features: Any = False,
) -> Sampling:
    """Check how rows and columns are to be drawn from a table of `n` rows.

    Parameters
    ----------
    bootstrap : bool, "balanced" or Sampler
        Draw with replacement. "balanced" draws from every class as many rows as the rarest has. A
        sampler is for `pasting` only, and draws all by itself.
    max_samples : int, float or None
        Units to draw (rows; groups if there are any; rows of each class if balanced): a number, or
        a share of what there is; with replacement, rows count by weight in a share, as in
        scikit-learn. None is as many as there are.
    weights : array of shape (n,), optional
        Checked weights. Rows are drawn in proportion to them; those of weight 0 are absent.
    groups : array-like of shape (n,), optional
        Rows of one group are drawn together.
    classes : array of int32 of shape (n,), optional
        For "balanced".
    pasting : bool
        Whether ``bootstrap=False`` draws without replacement, as in bagging, or not at all, as in
        forests.
    n_columns : int
        Columns of the table; the rest is only looked at if it is given.
    max_features : int or float
        Columns of each member, or their share.
    bootstrap_features : bool
        Draw columns with replacement.
    """
    balanced = isinstance(bootstrap, str) and bootstrap == "balanced"
    own = pasting and is_sampler(bootstrap)
    if own and (max_samples is not None or groups is not None):
        what = "groups" if max_samples is None else "max_samples"
        raise ValueError(f"bootstrap={bootstrap!r} draws rows in its own way: leave out {what}.")
    if balanced and pasting:
        raise refuse("bootstrap", "True or False ('balanced' is for forests)", bootstrap)
    if not balanced and not own and not isinstance(bootstrap, bool | np.bool_):
        wanted = "True or False" if classes is None else "True, False or 'balanced'"
        wanted = "True, False or an object with rows(n, random)" if pasting else wanted
        raise refuse("bootstrap", wanted, bootstrap)
    if not bootstrap and not pasting and max_samples is not None:
        raise ValueError(
            f"max_samples={max_samples!r} needs rows to be drawn: set bootstrap=True, or leave "
            "max_samples=None."
        )
    _check_max_samples(max_samples)
    present = None if weights is None or weights.all() else weights > 0
    units = _read_units(groups, n, present)
    strata = _read_strata(classes, groups, present) if balanced else None
    # Equal weights draw like no weights, with the same random numbers.
    alike = weights is None or units is not None or bool((weights == weights[0]).all())

    pool, total = _pool(n, weights if bootstrap else None, present, units, strata)
    size = _size(max_samples, n, pool, total)
    kind: Literal["all", "bootstrap", "pasting", "own"] = "bootstrap" if bootstrap else "pasting"
    kind = "own" if own else kind
    if kind == "pasting" and size > pool:
        what = "rows" if units is None else "groups"
        raise ValueError(
            f"max_samples={max_samples!r} asks for {size} {what} but there are {pool} to draw "
            "without replacement: ask for fewer, or set bootstrap=True."
        )
    if kind == "pasting" and (not pasting or size == pool):
        kind = "all"
    draws = kind != "all"
    columns, replace = _columns(n_columns, max_features, bootstrap_features)
    return Sampling(
        n_rows=n,
        kind=kind,
        size=size,
        weights=None if weights is None or alike or own or not draws else weights.copy(),
        units=units if draws else None,
        strata=strata,
        n_columns=n_columns,
        columns=columns,
        columns_replace=replace,
        present=present,
        sampler=deepcopy(bootstrap) if own else None,  # draws are made again when asked for
    )


def _check_counts(
    drawn: Any, n: int, present: npt.NDArray[np.bool_] | None, name: str
) -> npt.NDArray[np.uint32]:
    """How often each row is drawn, as a sampler says it."""
    counts = np.asarray(drawn)
    whole = counts.shape == (n,) and counts.dtype.kind in "biu"
    if not whole or counts.min() < 0 or counts.max() >= 2**31:
        raise ValueError(
            f"rows of {name} must return {n} whole numbers >= 0, how often each row is drawn, got "
            f"{counts.dtype} of shape {counts.shape}."
        )
    if not counts[slice(None) if present is None else present].any():
        raise ValueError(f"rows of {name} draws no row that has a weight.")
    return counts.astype(np.uint32)


def _check_max_samples(value: Any) -> None:
    if value is None or (is_int(value) and value >= 1):
        return
    if is_real(value) and not is_int(value) and 0 < value < np.inf:
        return
    raise refuse("max_samples", "None, a whole number >= 1 or a share > 0.0", value)


def _read_units(groups: Any, n: int, present: npt.NDArray[np.bool_] | None) -> Codes | None:
    """Group of each row, counting only groups that have a row of positive weight."""
    if groups is None:
        return None
    codes = check_groups(groups, n)
    if present is not None:
        codes = _recode(codes, present)
    if codes.max() == 0:
        raise ValueError("groups puts all rows into one group: there is nothing to draw from.")
    return codes


def _read_strata(
    classes: Codes | None, groups: Any, present: npt.NDArray[np.bool_] | None
) -> Codes:
    if classes is None:
        raise ValueError(
            "bootstrap='balanced' draws class by class, so it needs a single output of classes: "
            "use bootstrap=True."
        )
    if groups is not None:
        raise ValueError(
            "bootstrap='balanced' draws class by class, but groups are drawn as a whole: give up "
            "one of them."
        )
    return classes if present is None else _recode(classes, present)


def _recode(codes: Codes, present: npt.NDArray[np.bool_]) -> Codes:
    """Number only what present rows have; the absent rows go with the first, without harm."""
    kept, inverse = np.unique(codes[present], return_inverse=True)
    if len(kept) == int(codes.max()) + 1:
        return codes
    recoded = np.zeros(len(codes), dtype=np.int32)
    recoded[present] = inverse
    return recoded


def _pool(
    n: int,
    weights: FloatArray | None,
    present: npt.NDArray[np.bool_] | None,
    units: Codes | None,
    strata: Codes | None,
) -> tuple[int, float]:
    """Number and weight of what is drawn from: rows, groups, or rows of the rarest class."""
    if units is not None:
        groups = int(units.max()) + 1
        return groups, float(groups)
    if strata is not None:
        here = slice(None) if present is None else present
        rows = int(np.bincount(strata[here]).min())
        total = rows if weights is None else np.bincount(strata, weights=weights).min()
        return rows, float(total)
    rows = n if present is None else int(np.count_nonzero(present))
    return rows, float(rows if weights is None else weights.sum())


def _size(max_samples: Any, n: int, pool: int, total: float) -> int:
    if max_samples is None:
        return pool
    if is_int(max_samples):
        size = int(max_samples)
    else:
        size = max(int(max_samples * min(total, 2.0**40)), 1)
        if size < max(10, n ** (1 / 3)) and size < pool:
            warn_user(
                f"max_samples={max_samples!r} of {total:g} (the rows, or the sum of their weights) "
                f"is only {size}: give a whole number if this is too few."
            )
    if size >= 2**31:
        raise ValueError(f"max_samples={max_samples!r} asks for more than 2**31 draws.")
    return size


def _columns(d: int, max_features: Any, bootstrap_features: Any) -> tuple[int, bool]:
    """How many columns each member gets (0: all), and whether one may come twice."""
    if d == 0:
        return 0, False
    replace = check_flag("bootstrap_features", bootstrap_features)
    if is_int(max_features) and max_features >= 1:
        columns = int(max_features)
    elif is_real(max_features) and not is_int(max_features) and 0 < max_features <= 1:
        columns = max(1, int(max_features * d))
    else:
        raise refuse("max_features", "a whole number >= 1 or a share in (0, 1]", max_features)
    if columns > d:
        raise ValueError(f"max_features={max_features!r} is more than the {d} columns of X.")
    return (0, False) if columns == d and not replace else (columns, replace)
