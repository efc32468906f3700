"""The importance of columns to each member by itself, measured on the rows it did not draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import compute_sample_weight

from weald._engine import FloatArray, IntArray, resolve_threads
from weald.explain._row_importance import shuffled
from weald.input.labels import (
    UnknownLabelError,
    check_target,
    check_weights,
    encode_labels,
    recode,
)
from weald.input.raw_table import keep_X_predict, take_columns, take_rows
from weald.input.table import check_X_predict
from weald.members.side_by_side import in_threads


def forest_of(estimator: Any, kind: str) -> Any:
    """The trees of an ensemble whose members are weald's own."""
    forest = getattr(estimator, "forest_", None)
    if forest is None:
        raise ValueError(
            f"kind={kind!r} reads the nodes of trees, one in each round of an ensemble of weald, "
            f"and this {type(estimator).__name__} has none: use kind='permutation'."
        )
    return forest


@dataclass(frozen=True, eq=False)
class Rows:
    """The training rows, as the measures that look out of the bag need them."""

    table: Any
    """Checked matrix for weald's trees, else the user's own table."""
    target: NDArray[Any]
    """Class codes or numbers, shape (n, n_outputs)."""
    classes: bool
    """Whether the targets are class codes."""
    weights: FloatArray
    """One per row; rows of weight 0 count as absent."""
    drawn: Callable[[int], NDArray[np.uint32]]
    """How often a member drew each row."""

    def outside(self, member: int) -> IntArray:
        """The rows a member did not draw."""
        return np.flatnonzero((self.drawn(member) == 0) & (self.weights > 0))


def sampling_of(estimator: Any) -> Any:
    """Which rows the members of an ensemble drew; None if that makes no sense for the model."""
    return getattr(getattr(estimator, "_members", None), "sampling", None)


def read_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, kind: str) -> Rows:
    """Check the training data, and that some of it was left out of the bags."""
    if X is None or y is None:
        raise ValueError(f"kind={kind!r} looks at the out-of-bag rows: pass the training X and y.")
    own = getattr(estimator, "forest_", None) is not None
    table = np.asarray(check_X_predict(estimator, X)) if own else keep_X_predict(estimator, X)
    sampling, n = sampling_of(estimator), table.shape[0]
    if sampling is None:
        raise ValueError(
            f"kind={kind!r} looks at out-of-bag rows, but {type(estimator).__name__} draws none."
        )
    if n != sampling.n_rows:
        raise ValueError(
            f"kind={kind!r} looks at the out-of-bag rows, so X must be the training data: there "
            f"were {sampling.n_rows} rows, X has {n}."
        )
    if not sampling.draws_rows:
        raise ValueError(
            f"kind={kind!r} needs out-of-bag rows, but every member saw all rows: refit with "
            "bootstrap=True, or use kind='permutation' with out_of_bag=False on held-out rows."
        )
    given = check_weights(sample_weight, n)
    weights = np.ones(n) if given is None else given
    return Rows(
        table,
        _read_target(estimator, y, n),
        is_classifier(estimator),
        weights if sampling.present is None else weights * sampling.present,
        partial(sampling.rows, estimator.seed_),
    )


def _read_target(estimator: Any, y: Any, n: int) -> NDArray[Any]:
    """Class codes as the estimator numbers them, or numbers; shape (n, n_outputs)."""
    labels = encode_labels(y, n) if is_classifier(estimator) else None
    target = check_target(y, n) if labels is None else labels.codes
    if target.shape[1] != estimator.n_outputs_:
        raise ValueError(
            f"y has {target.shape[1]} outputs, but the model was fitted with "
            f"{estimator.n_outputs_}: X and y must be the training data."
        )
    if labels is None:
        return target
    codes = np.empty_like(labels.codes)
    per_output = estimator.classes_ if labels.multi_output else [estimator.classes_]
    for k, (known, seen) in enumerate(zip(per_output, labels.classes, strict=True)):
        try:
            codes[:, k] = recode(labels.codes[:, k], seen, known)
        except UnknownLabelError as error:
            raise ValueError(
                f"y holds the label {error.label!r}, which was not there in fit: X and y must be "
                "the training data."
            ) from None
    return codes


def _for_each_member(estimator: Any, work: Callable[[int], FloatArray], n: int) -> FloatArray:
    """What `work` makes of members 0 .. n-1, one below the other, in this order for any threads."""
    own = getattr(estimator, "forest_", None) is not None
    n_jobs = resolve_threads(estimator.n_jobs) if own else estimator.n_jobs
    return np.stack(in_threads((partial(work, t) for t in range(n)), n_jobs))


# --- unbiased impurity decrease ----------------------------------------------------------------


def unbiased(estimator: Any, rows: Rows) -> FloatArray:
    """Impurity decrease per column as the rows out of each bag see it, shape (T, d)."""
    forest = forest_of(estimator, "unbiased")
    weights = rows.weights * _class_weights(estimator, rows)
    target = rows.target if rows.classes else rows.target - rows.target.mean(axis=0)

    def of_member(t: int) -> FloatArray:
        tree, outside = forest.tree(t), rows.outside(t)
        if not weights[outside].any():
            return np.full(tree.n_features, np.nan)
        leaf = tree.apply(rows.table[outside])
        return decrease(tree, *node_sums(tree, leaf, target[outside], weights[outside]))

    return _for_each_member(estimator, of_member, forest.n_trees)


def _class_weights(estimator: Any, rows: Rows) -> FloatArray:
    """What the class of each row weighed in the growth."""
    member = getattr(estimator, "estimator_", None)
    rule = getattr(estimator, "class_weight", getattr(member, "class_weight", None))
    if getattr(estimator, "bootstrap", None) == "balanced" or rule == "balanced_subsample":
        rule = "balanced"
    if rule is None or not rows.classes:
        return np.ones(len(rows.target))
    several = rows.target.shape[1] > 1
    known = estimator.classes_ if several else [estimator.classes_]
    labels = np.stack([known[k].take(codes) for k, codes in enumerate(rows.target.T)], axis=1)
    weights: FloatArray = compute_sample_weight(rule, labels if several else labels[:, 0])
    return weights


def node_sums(
    tree: Any, leaf: IntArray, target: NDArray[Any], weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weight of the rows in each node, and their weight in each class or the sum of their targets.

    Shapes (node_count,) and (node_count, n_outputs, max_n_classes).
    """
    n, k = tree.node_count, tree.max_n_classes
    weight: FloatArray = np.asarray(np.bincount(leaf, weights, n), dtype=np.float64)
    sums = np.empty((n, target.shape[1], k))
    for output, y in enumerate(target.T):
        if np.issubdtype(target.dtype, np.integer):
            sums[:, output] = np.bincount(leaf * k + y, weights, n * k).reshape(n, k)
        else:
            sums[:, output, 0] = np.bincount(leaf, weights * y, n)
    return _from_leaves(tree, weight), _from_leaves(tree, sums)


def _from_leaves(tree: Any, total: FloatArray) -> FloatArray:
    """Add up, in place, what the leaves have for the nodes above them."""
    inner = ~tree.is_leaf
    for nodes in tree.levels[-2::-1]:  # children before their parents
        split = nodes[inner[nodes]]
        total[split] = total[split + 1] + total[tree.children_right[split]]
    return total


def decrease(tree: Any, weight: FloatArray, sums: FloatArray) -> FloatArray:
    """Impurity decrease per column, with the splits of the tree, on the rows that were summed up.

    Node m with the children l and r adds ``(W_l W_r / W_m) (mu_l - mu_r) . (y_l - y_r) / W``, which
    is ``sum over c in {l, r} of (mu_c - mu_m) . (S_c - W_c y_m) / W``: mu means of the tree's
    leaves below a node; W, S and y weights, sums and means of the rows. Outputs are averaged.
    """
    grown = tree.weighted_n_node_samples[:, None, None]
    said = _from_leaves(tree, grown * tree.value) / grown
    found = sums / np.where(weight > 0, weight, 1.0)[:, None, None]
    child = np.flatnonzero(tree.parent >= 0)
    parent = tree.parent[child]
    turn = sums[child] - weight[child, None, None] * found[parent]
    gain = ((said[child] - said[parent]) * turn).sum(axis=2).mean(axis=1) / weight[0]
    return np.asarray(np.bincount(tree.feature[parent], gain, tree.n_features), dtype=np.float64)


# --- permutation -------------------------------------------------------------------------------


def permutation(
    estimator: Any, rows: Rows, columns: list[IntArray], n_repeats: int, seed: int
) -> FloatArray:
    """Rise of each member's out-of-bag error when columns are shuffled, shape (T, n_groups)."""

    def of_member(t: int) -> FloatArray:
        outside = rows.outside(t)
        if len(outside) == 0:
            return np.full(len(columns), np.nan)
        guess, used = _ask_member(estimator, t, rows.classes)
        table, truth, weights = take_rows(rows.table, outside), rows.target[outside], rows.weights

        def error(shuffled: Any) -> float:
            said = guess(shuffled).reshape(truth.shape)
            each = said != truth if rows.classes else (said - truth) ** 2
            return float(np.average(each.mean(axis=1), weights=weights[outside]))

        before = error(table)
        rise = np.zeros(len(columns))
        # The same shuffles for all columns: what a column gets does not depend on the others asked.
        draw = np.random.default_rng([seed, t])
        for _ in range(n_repeats):
            order = draw.permutation(len(outside))
            for k, group in enumerate(columns):
                if np.isin(group, used).any():  # else nothing changes
                    with _shuffled(table, group, order) as changed:
                        rise[k] += error(changed) - before
        return rise / n_repeats

    return _for_each_member(estimator, of_member, len(estimator.estimators_))


def _ask_member(
    estimator: Any, t: int, classes: bool
) -> tuple[Callable[[Any], NDArray[Any]], IntArray]:
    """How to get the class codes or numbers one member predicts, and the columns it looks at.

    Members of other kinds were fitted to class codes.
    """
    forest = getattr(estimator, "forest_", None)
    if forest is not None:
        tree = forest.tree(t)
        says = tree.value.argmax(axis=2) if classes else tree.value[:, :, 0]
        used = np.unique(tree.feature[~tree.is_leaf])
        return lambda table: says[tree.apply(table)], used
    member, columns = estimator.estimators_[t], np.asarray(estimator.estimators_features_[t])
    return lambda table: np.asarray(member.predict(take_columns(table, columns))), columns


@contextmanager
def _shuffled(table: Any, columns: IntArray, order: IntArray) -> Iterator[Any]:
    """The table, for a while, with the rows of the given columns in another order."""
    if isinstance(table, np.ndarray):  # in place: a copy of wide tables would cost most of the time
        before = table[:, columns]
        table[:, columns] = before[order]
        yield table
        table[:, columns] = before
    else:
        yield shuffled(table, columns, order)
