"""How the members of AdaBoost become one prediction: weighted sums of classes, medians of numbers.

Trees are asked all at once where the engine can add up what they say. Members are always added in
their order, so that the last of the staged predictions is the prediction.

A weighted median needs all members of a row at once, so rows are predicted in blocks. For stages
and validation each row keeps where its median stands (:class:`weald.combining.RunningMedian`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, log_softmax, softmax

from weald import _engine as engine
from weald import combining
from weald._engine import FloatArray
from weald.adaboost.algorithms import Algorithm
from weald.members.base import Members
from weald.members.trees import Trees

__all__ = [
    "RawValues",
    "largest",
    "leaf_tables",
    "median",
    "probabilities",
    "staged_medians",
]

_ROWS = 8192  # about which all members are asked at a time


def leaf_tables(members: Members, algorithm: Algorithm) -> list[FloatArray] | None:
    """The raw values S of every node of every tree, if the engine cannot add them up; else None."""
    if algorithm.adds != "ratios" or not isinstance(members, Trees):
        return None
    tables = []
    for t in range(len(members)):
        tree = members.forest.tree(t)
        table = np.zeros((tree.node_count, tree.max_n_classes))
        table[tree.is_leaf] = algorithm.raw(tree.value[tree.is_leaf, 0])
        tables.append(table)
    return tables


class RawValues:
    """The sums ``F = sum alpha S`` over the members of a classifier, of shape (n, K).

    Parameters
    ----------
    algorithm : Algorithm
    members : Members
    alphas : array of shape (T,)
    n_classes : int
    tables : list of arrays, optional
        See :func:`leaf_tables`.
    n_jobs : int, optional
    """

    def __init__(
        self,
        algorithm: Algorithm,
        members: Members,
        alphas: FloatArray,
        n_classes: int,
        tables: list[FloatArray] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._algorithm, self._members, self._alphas = algorithm, members, alphas
        self._k, self._tables, self._n_jobs = n_classes, tables, n_jobs
        self._added_up = isinstance(members, Trees) and algorithm.adds != "ratios"

    def all(self, X: Any) -> FloatArray:
        """Of all members."""
        total = np.zeros((X.shape[0], self._k))
        last = len(self._alphas)
        if last == 0:
            return total
        if self._added_up:
            return self._raw_of_sums(self._sums(X, 0, last))
        if self._tables is not None:
            return self._looked_up(X, self._tables)
        for t in range(last):
            total += self.one(t, X)
        return total

    def staged(self, X: Any) -> Iterator[FloatArray]:
        """Of the first 1, 2, ... members."""
        total: Any = 0.0
        for t in range(len(self._alphas)):
            total = total + (self._sums(X, t, t + 1) if self._added_up else self.one(t, X))
            yield self._raw_of_sums(total) if self._added_up else total

    def one(self, t: int, X: Any) -> FloatArray:
        """Of one member."""
        if self._added_up:
            return self._raw_of_sums(self._sums(X, t, t + 1))
        if self._tables is not None:
            assert isinstance(self._members, Trees)
            leaves = self._members.forest.tree(t).apply(X, engine.resolve_threads(self._n_jobs))
            return np.asarray(self._alphas[t] * self._tables[t].take(leaves, axis=0))
        vote = not self._algorithm.by_shares
        said = self._members.one(t, X, vote, self._n_jobs)[:, 0]
        raw: FloatArray = self._alphas[t] * self._algorithm.raw(said)
        return raw

    def _sums(self, X: Any, first: int, last: int) -> FloatArray:
        """Sums of alpha times votes, shares or numbers."""
        vote = self._algorithm.adds == "votes"
        return self._members.sum(
            X, self._alphas, first=first, last=last, vote=vote, n_jobs=self._n_jobs
        )[:, 0]

    def _raw_of_sums(self, sums: FloatArray) -> FloatArray:
        """What a class has got, less the mean of the others; of shares, 2 p - 1."""
        if self._algorithm.adds == "numbers":
            return self._algorithm.raw(sums)
        if self._k == 2:  # equal sums give exactly 0
            return sums - sums[:, ::-1]
        total = sums.sum(axis=1, keepdims=True)
        raw: FloatArray = sums - (total - sums) / (self._k - 1)
        return raw

    def _looked_up(self, X: Any, tables: list[FloatArray]) -> FloatArray:
        assert isinstance(self._members, Trees)
        threads = engine.resolve_threads(self._n_jobs)
        out = np.zeros((len(X), self._k))
        for begin in range(0, len(X), _ROWS):
            rows = slice(begin, begin + _ROWS)
            leaves = self._members.forest.apply(X[rows], threads)
            for t, table in enumerate(tables):
                out[rows] += self._alphas[t] * table.take(leaves[:, t], axis=0)
        return out


def largest(raw: FloatArray) -> npt.NDArray[np.intp]:
    """The class code with the largest raw value in each row."""
    if raw.shape[1] == 2:  # by the sign of what decision_function gives
        return (raw[:, 1] > 0).astype(np.intp)
    best: npt.NDArray[np.intp] = raw.argmax(axis=1)
    return best


def probabilities(raw: FloatArray, algorithm: Algorithm, *, log: bool = False) -> FloatArray:
    """Of the classes, or their logarithms, exact where they are too small for a number."""
    if raw.shape[1] == 2:
        odds = 2 * np.stack([-raw[:, 1], raw[:, 1]], axis=1)
        return log_expit(odds) if log else expit(odds)
    out: FloatArray = (log_softmax if log else softmax)(
        algorithm.spread(raw.shape[1]) * raw, axis=1
    )
    return out


def median(members: Members, X: Any, votes: FloatArray, n_jobs: int | None) -> FloatArray:
    """The members' median, weighted by their votes."""
    out = np.empty(X.shape[0])
    for rows, values in _blocks(members, X, n_jobs):
        out[rows] = combining.weighted_median(values, votes)
    return out


def staged_medians(members: Members, X: Any, votes: FloatArray, n_jobs: int | None) -> FloatArray:
    """The median of the first 1, 2, ... members, shape (T, n)."""
    out = np.empty((len(votes), X.shape[0]))
    for rows, values in _blocks(members, X, n_jobs):
        running = combining.RunningMedian()
        for t, vote in enumerate(votes):
            out[t, rows] = running.add(values[t], vote)
    return out


def _blocks(members: Members, X: Any, n_jobs: int | None) -> Iterator[tuple[slice, FloatArray]]:
    """What each member says, for a block of rows at a time.

    Foreign members get all rows at once, as each call may be costly.
    """
    n: int = X.shape[0]
    size = _ROWS if isinstance(members, Trees) else max(n, 1)
    for begin in range(0, n, size):
        rows = slice(begin, begin + size)
        yield rows, members.each(X if size >= n else X[rows], n_jobs)[:, :, 0, 0]
