"""Trees as data of a page: packed arrays in base64, and the formula that makes them a prediction.

The nodes of all trees stand one after the other, in pre-order, so the left child of a node is the
next one, and the right one follows from which nodes are leaves. Numbers that repeat, as thresholds
between bins and the shares of pure leaves do, are written once each, with a short index for every
place: a forest takes 5 to 10 bytes a node.

    nodes    node count of each tree
    leaves   a bit for each node: it is a leaf
    tests    of inner nodes: 4 times the column, 1 if missing values go left, 2 if of categories
    number   of inner nodes: threshold, or where the set of categories begins in `sets`
    sets     words as in cpp/weald/tree/category_sets.hpp
    value    what each leaf holds, a row for each: class shares or a number
    rows     training rows of each leaf; `weight`: what they weigh, if that is another number
    said     what each leaf says, if that is neither its value nor a vote

Of a single tree `value`, `rows` and `weight` have a row for every node; of many trees the page
works out those of inner nodes, as means over the leaves.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray, Tree
from weald.members.formula import Formula

__all__ = ["LIMIT", "EmbeddedTrees", "embed_trees", "pack"]

LIMIT = 20_000_000  # bytes of trees in a page
_LEAST_BYTES = 3  # that a node takes: more than LIMIT / 3 of them are not even tried
_INTEGERS = (("u8", np.uint8), ("u16", np.uint16), ("u32", np.uint32))


@dataclass(frozen=True)
class EmbeddedTrees:
    """Trees of a model, ready for JSON.

    Attributes
    ----------
    data : dict
    shown, there_are : int
        Rounds that are in the data, and that the model uses.
    n_bytes : int
        Length of the arrays in the page.
    """

    data: dict[str, Any]
    shown: int
    there_are: int
    n_bytes: int

    @property
    def complete(self) -> bool:
        """Whether the page can predict."""
        return self.shown == self.there_are


def embed_trees(formula: Formula, limit: int | None = None) -> EmbeddedTrees | None:
    """The trees of a formula, as many rounds as fit into the page; None if not even one does.

    Parameters
    ----------
    formula : Formula
    limit : int, optional
        Bytes; by default `LIMIT`.
    """
    limit = LIMIT if limit is None else limit
    rounds = list(_within(formula, limit // _LEAST_BYTES))
    while rounds or formula.rounds == 0:
        data = _packed([tree for trees in rounds for tree in trees], formula)
        n_bytes = _length(data)
        if n_bytes <= limit or not rounds:
            data |= _formula_data(formula, len(rounds))
            return EmbeddedTrees(data, len(rounds), formula.rounds, n_bytes)
        del rounds[min(int(0.9 * len(rounds) * limit / n_bytes), len(rounds) - 1) :]
    return None


def _within(formula: Formula, n_nodes: int) -> Iterator[list[Tree]]:
    """The trees of the rounds, as long as there are no more nodes than that."""
    for t in range(formula.rounds):
        trees = [formula.tree(t, k) for k in range(formula.per_round)]
        n_nodes -= sum(tree.node_count for tree in trees)
        if n_nodes < 0:
            return
        yield trees


def _packed(trees: list[Tree], formula: Formula) -> dict[str, Any]:
    per_node = len(trees) == 1 == formula.rounds * formula.per_round

    def inner(part: Callable[[Tree], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """A number of every node that is no leaf."""
        return _joined([part(tree)[~tree.is_leaf] for tree in trees])

    def told(part: Callable[[Tree], npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """What leaves hold, or all nodes of a single tree."""
        return [part(tree) if per_node else part(tree)[tree.is_leaf] for tree in trees]

    rows = _joined(told(lambda tree: tree.n_node_samples))
    weight = _joined(told(lambda tree: tree.weighted_n_node_samples))
    starts = np.cumsum([0, *(len(tree.sets) for tree in trees)])
    begin = {id(tree): int(start) for tree, start in zip(trees, starts[:-1], strict=True)}
    number = inner(
        lambda tree: np.where(tree.is_categorical, tree.set_begin + begin[id(tree)], tree.threshold)
    )
    said = formula.said
    return {
        "perNode": per_node,
        "nodes": pack(np.array([tree.node_count for tree in trees], dtype=np.int64)),
        "leaves": pack(
            np.packbits(_joined([tree.is_leaf for tree in trees]).astype(bool), bitorder="little")
        ),
        "tests": pack(
            inner(
                lambda tree: (
                    4 * tree.feature + tree.missing_go_to_left + 2 * tree.is_categorical
                ).astype(np.int64)
            )
        ),
        "number": pack(number.astype(np.float64)),
        "sets": pack(_joined([tree.sets for tree in trees]).astype(np.int64)),
        "value": _table(told(_value)),
        "rows": pack(rows),
        "weight": None if np.array_equal(rows, weight) else pack(weight),
        "said": None
        if said is None
        else _table([said[t][tree.is_leaf] for t, tree in enumerate(trees)]),
    }


def _value(tree: Tree) -> FloatArray:
    """A row of numbers for every node: class shares, or a number for each output."""
    return tree.value[:, 0] if tree.n_outputs == 1 else tree.value[:, :, 0]


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _table(parts: list[FloatArray]) -> dict[str, Any]:
    """Rows of numbers; each kind of row once, if that is shorter."""
    table = np.ascontiguousarray(np.concatenate(parts)) if parts else np.empty((0, 1))
    first, index = _kinds(table)
    plain = pack(np.ravel(table))
    coded, short = pack(index.astype(np.int64)), pack(np.ravel(table[first]))
    if _length([coded, short]) < _length(plain):
        return {"width": table.shape[1], "table": short, "index": coded}
    return {"width": table.shape[1], "table": plain, "index": None}


def _kinds(table: FloatArray) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Where each kind of row comes first, and the kind of each row.

    Rows are told apart by a hash, as sorting whole rows takes a minute for a large forest.
    """
    odd = np.random.default_rng(0).integers(2**63, size=table.shape[1], dtype=np.uint64) * 2 + 1
    bits = table.view(np.uint64)
    hashed = ((bits ^ (bits >> np.uint64(29))) * odd).sum(axis=1, dtype=np.uint64)
    _, first, index = np.unique(hashed, return_index=True, return_inverse=True)
    if not np.array_equal(table[first][index], table):  # two kinds with one hash
        _, first, index = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, np.ravel(index)


def pack(array: npt.NDArray[Any]) -> dict[str, Any]:
    """An array as its type and its bytes in base64, in the shortest way that keeps every bit.

    Whole numbers take as many bytes as the largest needs. Other numbers are written once each, if
    that is shorter, with an index for every place.

    Examples
    --------
    >>> pack(np.array([1, 2, 255]))
    {'type': 'u8', 'bytes': 'AQL/'}
    """
    if array.dtype.kind in "iub":
        largest = int(array.max(initial=0))
        name, dtype = next(pair for pair in _INTEGERS if largest <= np.iinfo(pair[1]).max)
        return {"type": name, "bytes": _base64(array.astype(f"<{np.dtype(dtype).str[1:]}"))}
    distinct, index = np.unique(array, return_inverse=True)
    coded = pack(index.astype(np.int64))
    plain = _base64(array.astype("<f8"))
    table = _base64(distinct.astype("<f8"))
    if len(coded["bytes"]) + len(table) < len(plain):
        return {"type": "f64", "bytes": table, "index": coded}
    return {"type": "f64", "bytes": plain}


def _base64(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def _length(data: Any) -> int:
    """Characters of all arrays."""
    if isinstance(data, dict):
        return _length(list(data.values()))
    if isinstance(data, list):
        return sum(map(_length, data))
    return len(data) if isinstance(data, str) else 0


def _formula_data(formula: Formula, rounds: int) -> dict[str, Any]:
    costs, weights = formula.costs, formula.weights
    return {
        "rounds": rounds,
        "perRound": formula.per_round,
        "start": formula.start.tolist(),
        "weights": None if weights is None else pack(np.asarray(weights[:rounds], np.float64)),
        "vote": formula.vote,
        "median": formula.median,
        "toRaw": formula.to_raw,
        "toAnswer": formula.to_answer,
        "choose": formula.choose,
        "costs": None if costs is None else np.asarray(costs).tolist(),
    }
