"""Which way to go: the member that is most collinear with the negative gradient r.

A regressor is fitted to r by least squares. A classifier says -1 or 1, and ``sum w r h`` is largest
if it is fitted to the sign of r with the weights ``w |r|`` (Friedman 2001; Mason et al. 2000).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from weald import _engine as engine
from weald.input.table import Table
from weald.input.holdout import Rows
from weald.members.foreign import fitted, make_member, member_outputs, takes_weights
from weald.params.growth import (
    CLASSIFICATION_CRITERIA,
    REGRESSION_CRITERIA,
    check_choice,
    resolve_growth,
    resolve_prune,
)
from weald.input.raw_table import take_rows
from weald.stagewise.stage_members import StageMembers, StageTrees
from weald.input.row_weights import RowWeights

__all__ = ["AnyDirection", "TreeDirection"]

FloatArray = npt.NDArray[np.float64]

# Trees are fitted to the gradient as it is, unless it is far out of the range of other numbers.
_HUGE, _TINY = 1e50, 1e-50
# Poisson trees know positive targets only, and gradients have both signs.
_CRITERIA = {name: of for name, of in REGRESSION_CRITERIA.items() if name != "poisson"}


def _pull(r: FloatArray, rows: RowWeights, total: float) -> FloatArray:
    """``w |r|``, of this sum; if that is the sum of the weights, equal pulls are exactly w.

    A pull that is nothing but rounding is none.
    """
    size: FloatArray = np.abs(r) / np.abs(r).max()
    if rows.factors is not None:
        size *= rows.factors
    return rows.fine(size * (total / rows.count(size)), keep_light=False)


class TreeDirection:
    """Trees of weald: values become codes once, and every round grows a tree from them.

    Parameters
    ----------
    tree : tree estimator
    rows : Rows
        Their X is the matrix of `table`, or a part of it.
    table : Table
    labels : array of two labels, optional
        What the two sides are called, if the trees are classifiers.
    like : estimator
        Has the names of the columns.
    seed : int
    """

    def __init__(
        self,
        tree: Any,
        rows: Rows,
        table: Table,
        labels: npt.NDArray[Any] | None,
        like: Any,
        seed: int,
    ) -> None:
        votes = labels is not None
        self._rows, self._row_weights = rows, rows.row_weights
        self._total = float(len(rows)) if rows.weights is None else float(rows.weights.sum())
        self._growth = resolve_growth(
            tree,
            CLASSIFICATION_CRITERIA if votes else _CRITERIA,
            len(rows),
            table.is_categorical,
            self._total,
            splitter=check_choice("splitter", tree.splitter, ("best", "random")),
        )
        prune = resolve_prune(tree.ccp_alpha)
        assert not isinstance(prune, str)  # those are members like any other
        self._growth.rules.prune_alpha = prune
        self._matrix = engine.bin_table(
            np.ascontiguousarray(rows.X),
            table.n_categories,
            self._growth.max_bins,
            self._growth.keys,
            rows.weights,
            self._growth.threads,
        )
        self._draw = engine.Draw()
        template = _template(tree, table, labels, like)
        template.max_features_ = self._growth.max_features
        self.members = StageTrees(None, template, votes, seed)
        self._members_of_one = self.members

    def propose(self, t: int, r: FloatArray) -> FloatArray:
        """Grow the tree of round t; what it says about the rows."""
        growth, rows = self._growth, self._rows
        if self.members.votes:
            # The same total in every round, as the rules know it; whole weights of equal rows stay.
            pull = _pull(r, self._row_weights, self._total)
            target = engine.labels((r > 0).astype(np.int32)[:, None], [2], pull)
        else:
            largest = float(np.abs(r).max())
            scaled = r if _TINY < largest < _HUGE else r / largest
            target = engine.reals(np.ascontiguousarray(scaled)[:, None], rows.weights)
        forest = engine.grow_forest(
            self._matrix,
            target,
            growth.criterion,
            growth.rules,
            self._draw,
            False,
            self.members.seed,
            t,
            t + 1,
            growth.threads,
        )
        old = self.members
        self._members_of_one = StageTrees(forest, old.like, old.votes, old.seed)
        return self.latest(rows.X)

    def latest(self, X: Any) -> FloatArray:
        """What the tree that was proposed last says about other rows."""
        return next(self._members_of_one.outputs(X))

    def keep(self) -> None:
        """The tree that was proposed last is a member."""
        new, old = self._members_of_one.forest, self.members
        assert new is not None
        if old.forest is None:
            self.members = self._members_of_one
        else:
            old.forest.extend(new)


def _template(tree: Any, table: Table, labels: npt.NDArray[Any] | None, like: Any) -> Any:
    """A tree without nodes that has what all members have in common."""
    template = clone(tree)
    template.n_outputs_ = 1
    template.categories_ = list(table.categories)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(like, name):
            setattr(template, name, getattr(like, name))
    if labels is not None:
        template.classes_, template.n_classes_ = labels, len(labels)
    return template


class AnyDirection:
    """Members of any kind, fitted to the table as it came.

    Weights go to members that take them. For others rows are drawn by weight, as many as there
    are, unless all weigh the same.

    Parameters
    ----------
    estimator : classifier or regressor
    rows : Rows
    labels : array of two labels, optional
        What the two sides are called, if it is a classifier.
    seed : int
    """

    def __init__(
        self, estimator: Any, rows: Rows, labels: npt.NDArray[Any] | None, seed: int
    ) -> None:
        self._estimator = estimator
        self._labels = labels
        self._rows, self._row_weights = rows, rows.row_weights
        self._seed = seed
        # A boosted member gets weights whether or not metadata routing was told of them.
        self._weighs = has_fit_parameter(estimator, "sample_weight") or takes_weights(estimator)
        self.members = StageMembers([], labels is not None)
        self._latest: Any = None

    def propose(self, t: int, r: FloatArray) -> FloatArray:
        """Fit the member of round t; what it says about the rows."""
        target: npt.NDArray[Any] = r
        weights = self._rows.weights
        if self.members.votes:
            target = (r > 0).astype(np.int64)
            weights = _pull(r, self._row_weights, 1.0)  # as AdaBoost gives them
        self._latest = self._fitted(t, target, weights)
        return self.latest(self._rows.X)

    def _fitted(self, t: int, target: npt.NDArray[Any], weights: FloatArray | None) -> Any:
        X = self._rows.X
        seed = engine.member_seed(self._seed, t)
        member = make_member(self._estimator, seed, classes=self._labels)
        if weights is not None and not self._weighs:
            if (weights != weights[0]).any():
                rows = self._drawn(t, weights)
                X, target = take_rows(X, rows), target[rows]
            weights = None
        if weights is not None and not weights.all():
            there = np.flatnonzero(weights)
            X, target, weights = take_rows(X, there), target[there], weights[there]
        if self.members.votes and target.min() == target.max():
            # Many classifiers refuse a single class. There is one answer to it.
            member = DummyClassifier(strategy="constant", constant=int(target[0]))
        return fitted(member, X, target, **({} if weights is None else {"sample_weight": weights}))

    def _drawn(self, t: int, weights: FloatArray) -> npt.NDArray[np.intp]:
        draw = engine.Draw()
        draw.kind, draw.size = "bootstrap", len(weights)
        draw.set_weights(weights)
        counts = engine.draw_rows(draw, len(weights), self._seed, t)
        return np.repeat(np.arange(len(weights)), counts.astype(np.intp))

    def latest(self, X: Any) -> FloatArray:
        """What the member that was proposed last says about other rows."""
        return member_outputs(self._latest, X, self.members.votes)

    def keep(self) -> None:
        """The estimator that was proposed last is a member."""
        self.members.members.append(self._latest)
