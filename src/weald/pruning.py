"""Cutting a grown tree back: cost-complexity pruning and reduced-error pruning.

All of it works on flat trees and on *node losses*: what each node would cost on some rows if it
were a leaf.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray, IntArray, Tree, pruning_path

# (node of each row, rows) -> loss of each row if that node predicted it
RowLoss = Callable[[Tree, IntArray, IntArray], FloatArray]


@dataclass(frozen=True)
class CutSequence:
    """The weakest-link sequence of a tree (Breiman et al. 1984, chapter 3).

    Attributes
    ----------
    node : array of shape (k,)
        The node that becomes a leaf at each step.
    alpha : array of shape (k,)
        The complexity price at which the step pays.
    impurity : array of shape (k + 1,)
        Total impurity of the leaves before the first and after each step.
    """

    node: IntArray
    alpha: FloatArray
    impurity: FloatArray

    @staticmethod
    def of(tree: Tree) -> CutSequence:
        """Compute the sequence of a tree."""
        weight = tree.weighted_n_node_samples
        path = pruning_path(tree.children_right, weight * tree.impurity / weight[0])
        return CutSequence(
            path["node"], path["alpha"], np.concatenate([[path["full_risk"]], path["risk"]])
        )

    def steps_at(self, alpha: npt.ArrayLike) -> IntArray:
        """How many steps pay at the price `alpha`: those before the first that is dearer."""
        dearest_so_far = np.maximum.accumulate(self.alpha)  # rounding may let an alpha fall
        return np.searchsorted(dearest_so_far, alpha, side="right")


def prune_cost_complexity(tree: Tree, alpha: float) -> Tree:
    """The smallest subtree that minimises ``impurity + alpha * leaves``."""
    sequence = CutSequence.of(tree)
    make_leaf = np.zeros(tree.node_count, dtype=bool)
    make_leaf[sequence.node[: sequence.steps_at(alpha)]] = True
    return tree.collapse(make_leaf)


def node_losses(tree: Tree, leaf: IntArray, row_loss: RowLoss) -> FloatArray:
    """Loss each node would make, as a leaf, on the rows that pass it.

    Parameters
    ----------
    tree : Tree
    leaf : array of shape (n,)
        Leaf of each row.
    row_loss : callable
        Loss of each row if a given node predicted it.
    """
    total = np.zeros(tree.node_count)
    rows = np.arange(len(leaf))
    node = leaf
    while len(node):  # climb from the leaves, all rows at once
        total += np.bincount(node, weights=row_loss(tree, node, rows), minlength=tree.node_count)
        node = tree.parent[node]
        inside = node >= 0
        node, rows = node[inside], rows[inside]
    return total


def losses_along(tree: Tree, sequence: CutSequence, losses: FloatArray) -> FloatArray:
    """Loss of the whole tree before the first and after each step of a pruning sequence.

    A node is a leaf from the step that cuts below it (0 for a leaf of the full tree) until a node
    above it is cut; its loss counts for just that stretch of steps.
    """
    k = len(sequence.node)
    cut = np.full(tree.node_count, k + 1, dtype=np.int64)
    cut[sequence.node] = np.arange(1, k + 1)
    cut[tree.is_leaf] = 0
    until = np.full(tree.node_count, k + 1, dtype=np.int64)
    for nodes in tree.levels[1:]:
        parent = tree.parent[nodes]
        until[nodes] = np.minimum(until[parent], cut[parent])
    lives = cut < until
    change = np.zeros(k + 2)
    np.add.at(change, cut[lives], losses[lives])
    np.subtract.at(change, until[lives], losses[lives])
    return np.cumsum(change)[: k + 1]


def prune_reduced_error(tree: Tree, losses: FloatArray) -> Tree:
    """Bottom-up, a node becomes a leaf if the validation loss does not rise (Quinlan 1987)."""
    best = losses.copy()  # of the best subtree below each node
    make_leaf = np.zeros(tree.node_count, dtype=bool)
    tolerance = 1e-12 * float(np.abs(losses).max(initial=0.0))
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:  # children come before their parents
        below = best[node + 1] + best[tree.children_right[node]]
        make_leaf[node] = losses[node] <= below + tolerance
        if not make_leaf[node]:
            best[node] = below
    return tree.collapse(make_leaf)


@dataclass(frozen=True)
class AlphaChoice:
    """Result of choosing ``ccp_alpha`` by cross-validation.

    Attributes
    ----------
    alphas : array of shape (k,)
        Candidates: 0 and the geometric means of neighbouring steps of the full tree's path.
    loss : array of shape (k,)
        Mean held-out loss of each.
    standard_error : array of shape (k,)
        Its standard error over folds.
    best : float
        The largest alpha of least loss.
    one_se : float
        The largest alpha whose loss is within one standard error of the least.
    """

    alphas: FloatArray
    loss: FloatArray
    standard_error: FloatArray
    best: float
    one_se: float


def choose_alpha(
    full: Tree,
    folds: list[tuple[Tree, Any, RowLoss, FloatArray]],
) -> AlphaChoice:
    """Choose the pruning strength from trees grown without each fold.

    Parameters
    ----------
    full : Tree
        Grown on all rows.
    folds : list of (tree, held-out matrix, row loss, weights)
        Trees grown without a fold, with that fold's rows.
    """
    steps = np.unique(np.maximum(CutSequence.of(full).alpha, 0.0))
    alphas = np.concatenate([[0.0], np.sqrt(steps[:-1] * steps[1:]), steps[-1:]])
    alphas = np.unique(alphas)
    totals = np.empty((len(folds), len(alphas)))
    weights = np.array([weight.sum() for *_, weight in folds])
    for k, (tree, X, row_loss, _) in enumerate(folds):
        sequence = CutSequence.of(tree)
        along = losses_along(tree, sequence, node_losses(tree, tree.apply(X), row_loss))
        totals[k] = along[sequence.steps_at(alphas)]
    loss = totals.sum(axis=0) / weights.sum()
    per_fold = totals / np.maximum(weights, np.finfo(float).tiny)[:, None]
    error = per_fold.std(axis=0, ddof=1) / np.sqrt(len(folds))
    least = int(np.flatnonzero(loss <= loss.min() + 1e-12 * abs(loss.min()))[-1])
    within = int(np.flatnonzero(loss <= loss[least] + error[least])[-1])
    return AlphaChoice(alphas, loss, error, float(alphas[least]), float(alphas[within]))
