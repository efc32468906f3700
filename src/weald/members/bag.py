"""The fitted members of an ensemble, as one thing that can be asked: trees, or anything else.

Both kinds answer in the engine's shape, ``(n, n_outputs, n_classes)`` with one "class" for numbers,
so that nothing above needs to know what the members are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald import combining
from weald.input.table import check_X_predict
from weald.members.views import MemberTrees, Templates, fitted_tree
from weald.members.foreign import (
    Columns,
    member_decisions,
    member_log_shares,
    member_shares,
    member_values,
    stream,
)
from weald.input.raw_table import keep_X_predict, take_columns, take_rows
from weald.input.state import CheckedState, check_members, check_trees, is_whole, require

__all__ = ["MemberBag", "TreeBag", "narrow_tree"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Params = dict[str, Any] | None


@dataclass(frozen=True, eq=False)
class TreeBag(CheckedState):
    """Trees of weald, grown and kept by the engine.

    Attributes
    ----------
    forest : engine.Forest
    templates : Templates
        Trees with what members have in common (classes, columns, ...) but no nodes.
    """

    forest: engine.Forest
    templates: Templates

    @property
    def like(self) -> Any:
        """What all members are like, whatever their parameters."""
        return self.templates.last

    def _check_state(self) -> None:
        check_trees(self.like, self.forest)

    def __len__(self) -> int:
        return self.forest.n_trees

    def read(self, ensemble: Any, X: Any) -> npt.NDArray[Any]:
        """Rows to be predicted, as the trees want them."""
        return check_X_predict(ensemble, X)

    def mean(
        self, X: Any, weights: FloatArray | None, vote: bool, n_jobs: int | None, params: Params
    ) -> FloatArray:
        """Weighted mean of the trees' values or votes."""
        threads = engine.resolve_threads(n_jobs)
        values = self.forest.values(X, threads, weights=weights, vote=vote)
        values /= len(self) if weights is None else weights.sum()
        return values

    def each(self, X: Any, n_jobs: int | None) -> FloatArray:
        """Values of every tree, shape (T, n, n_outputs, n_classes)."""
        return self.forest.member_values(X, engine.resolve_threads(n_jobs))

    def one(
        self, t: int, X: Any, rows: npt.NDArray[np.intp], vote: bool, n_jobs: int | None
    ) -> FloatArray:
        """Values or votes of one tree for some rows."""
        return self.forest.values(X[rows], engine.resolve_threads(n_jobs), t, t + 1, vote=vote)

    def estimators(self, ensemble: Any) -> MemberTrees:
        """The trees as estimators, made when they are asked for."""
        return MemberTrees(len(self), partial(self._estimator, ensemble))

    def _estimator(self, ensemble: Any, t: int) -> Any:
        seed = engine.member_seed(ensemble.seed_, t)
        member = fitted_tree(self.templates[t], self.forest.tree(t), self.like, seed)
        if ensemble._sampling.columns == 0:
            return member
        columns = ensemble._sampling.columns_of(ensemble.seed_, t)
        member.tree_ = narrow_tree(member.tree_, columns)
        member.n_features_in_ = len(columns)
        member.categories_ = [self.like.categories_[j] for j in columns]
        if hasattr(self.like, "feature_names_in_"):
            member.feature_names_in_ = self.like.feature_names_in_[columns]
        return member


def narrow_tree(tree: engine.Tree, columns: Columns) -> engine.Tree:
    """The same tree for a table that has the given columns (sorted, perhaps repeated) only."""
    arrays = dict(tree.__getstate__()["arrays"])
    place = np.searchsorted(columns, arrays["feature"])  # the first of equal columns
    arrays["feature"] = np.where(tree.is_leaf, arrays["feature"], place)
    own = engine.Tree(arrays, tree.n_categories[columns], tree.n_classes)
    if tree.importance is not None:  # of a column that was drawn twice the first one has it all
        first = np.unique(columns, return_index=True)[1]
        own.importance = np.zeros(len(columns))
        own.importance[first] = tree.importance[columns[first]]
    return own


class MemberBag(CheckedState):
    """Estimators of any kind, each with its columns.

    Grows like an :class:`engine.Forest`: see :func:`weald.fitting.growth.grow_in_steps`.

    Parameters
    ----------
    members : list of fitted estimators
    columns : list of arrays
        The columns of each.
    n_classes : int
        0 if they predict numbers.
    """

    def __init__(self, members: list[Any], columns: list[Columns], n_classes: int) -> None:
        self.members = members
        self.columns = columns
        self.n_classes = n_classes

    def _check_state(self) -> None:
        check_members(self, self.members)
        require(is_whole(self.n_classes, 0), self, "the number of classes")
        require(isinstance(self.columns, list), self, "the columns of members")
        require(len(self.columns) == len(self.members), self, "the columns of members")
        for columns in self.columns:
            fits = columns.ndim == 1 and columns.dtype.kind in "iu" and len(columns) > 0
            require(fits and columns.min() >= 0, self, "the columns of a member")

    def __len__(self) -> int:
        return len(self.members)

    @property
    def n_trees(self) -> int:
        """Number of members."""
        return len(self.members)

    def extend(self, other: MemberBag) -> None:
        """Append members."""
        self.members += other.members
        self.columns += other.columns

    def prefix(self, n: int) -> MemberBag:
        """The first members."""
        return MemberBag(self.members[:n], self.columns[:n], self.n_classes)

    # --- questions ------------------------------------------------------------------------------

    def read(self, ensemble: Any, X: Any) -> Any:
        """Rows to be predicted, as they are."""
        return keep_X_predict(ensemble, X)

    def mean(
        self, X: Any, weights: FloatArray | None, vote: bool, n_jobs: int | None, params: Params
    ) -> FloatArray:
        """Weighted mean of the members' values or votes."""
        parts = stream(self._ask(vote), self.members, self.columns, X, n_jobs, params=params)
        return self._shaped(combining.mean(parts, weights))

    def each(self, X: Any, n_jobs: int | None) -> FloatArray:
        """Values of every member, shape (T, n, n_outputs, n_classes)."""
        parts = stream(self._ask(False), self.members, self.columns, X, n_jobs)
        return np.stack([self._shaped(part) for part in parts])

    def one(
        self, t: int, X: Any, rows: npt.NDArray[np.intp], vote: bool, n_jobs: int | None
    ) -> FloatArray:
        """Values or votes of one member for some rows."""
        part = take_columns(take_rows(X, rows), self.columns[t])
        return self._shaped(self._ask(vote)(self.members[t], part))

    def log_shares(
        self, X: Any, weights: FloatArray, n_jobs: int | None, params: Params
    ) -> FloatArray:
        """Logarithm of the mean of the class shares, without leaving the logarithms."""
        ask = partial(member_log_shares, n_classes=self.n_classes)
        parts = stream(ask, self.members, self.columns, X, n_jobs, params=params)
        total: FloatArray = np.array(-np.inf)
        with np.errstate(divide="ignore"):
            logs = np.log(weights / weights.sum())
        for log_weight, part in zip(logs, parts, strict=True):
            total = np.logaddexp(total, part + log_weight)
        return total

    def decisions(
        self, X: Any, weights: FloatArray | None, n_jobs: int | None, params: Params
    ) -> FloatArray:
        """Mean of the decision functions."""
        ask = partial(member_decisions, n_classes=self.n_classes)
        parts = stream(ask, self.members, self.columns, X, n_jobs, params=params)
        return combining.mean(parts, weights)

    def estimators(self, ensemble: Any) -> list[Any]:
        """The members themselves, in a list of the user's own."""
        return list(self.members)

    def _ask(self, vote: bool) -> Any:
        if self.n_classes == 0:
            return member_values
        return partial(member_shares, n_classes=self.n_classes, vote=vote)

    def _shaped(self, values: FloatArray) -> FloatArray:
        if self.n_classes:
            return values[:, None, :]
        return values.reshape(len(values), -1, 1)
