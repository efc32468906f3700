"""The members of an additive model, as one thing that can be asked: trees, or anything else.

A member says -1 or 1 if it is a classifier (it votes), else a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald.input.table import check_X_predict
from weald.members.views import MemberTrees, fitted_tree
from weald.members.foreign import member_outputs
from weald.input.raw_table import keep_X_predict
from weald.input.state import CheckedState, check_members, check_trees, is_whole, require

__all__ = ["StageMembers", "StageTrees"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StageTrees(CheckedState):
    """Trees of weald, grown and kept by the engine.

    Attributes
    ----------
    forest : engine.Forest or None
        None if there is no tree.
    like : tree estimator
        With what all members have in common (classes, columns, ...) but no nodes.
    votes : bool
    seed : int
    """

    forest: engine.Forest | None
    like: Any
    votes: bool
    seed: int

    def _check_state(self) -> None:
        require(isinstance(self.votes, bool), self, "whether its trees vote")
        require(is_whole(self.seed, 0), self, "its seed")
        if self.forest is not None:
            check_trees(self.like, self.forest)
            fits = self.forest.n_outputs == 1 and self.forest.max_n_classes == 1 + self.votes
            require(fits, self, "what its trees say")

    def __len__(self) -> int:
        return 0 if self.forest is None else self.forest.n_trees

    def read(self, model: Any, X: Any) -> npt.NDArray[Any]:
        """Rows to be predicted, as the trees want them."""
        return check_X_predict(model, X)

    def outputs(self, X: npt.NDArray[Any]) -> Iterator[FloatArray]:
        """What each tree says about checked rows."""
        for t in range(len(self)):
            yield self._sum(X, t, t + 1, None)

    def total(self, X: npt.NDArray[Any], steps: FloatArray) -> FloatArray:
        """``sum_t nu_t h_t``."""
        if self.forest is None:
            return np.zeros(len(X))
        return self._sum(X, 0, len(self), steps)

    def _sum(
        self, X: npt.NDArray[Any], first: int, last: int, weights: FloatArray | None
    ) -> FloatArray:
        assert self.forest is not None
        threads = engine.resolve_threads(self.like.n_jobs)
        values = self.forest.values(X, threads, first, last, weights, vote=self.votes)[:, 0]
        return values[:, 1] - values[:, 0] if self.votes else values[:, 0]

    def estimators(self) -> Sequence[Any]:
        """The trees as estimators, made when they are asked for."""
        return MemberTrees(len(self), partial(_tree, self))


def _tree(trees: StageTrees, t: int) -> Any:
    assert trees.forest is not None
    seed = engine.member_seed(trees.seed, t)
    return fitted_tree(trees.like, trees.forest.tree(t), trees.like, seed)


@dataclass(frozen=True, eq=False)
class StageMembers(CheckedState):
    """Estimators of any kind; classifiers were fitted to the codes 0 and 1."""

    members: list[Any]
    votes: bool

    def _check_state(self) -> None:
        check_members(self, self.members)
        require(isinstance(self.votes, bool), self, "whether its members vote")

    def __len__(self) -> int:
        return len(self.members)

    def read(self, model: Any, X: Any) -> Any:
        """Rows to be predicted, as they are."""
        return keep_X_predict(model, X)

    def outputs(self, X: Any) -> Iterator[FloatArray]:
        """What each member says."""
        for member in self.members:
            yield member_outputs(member, X, self.votes)

    def total(self, X: Any, steps: FloatArray) -> FloatArray:
        """``sum_t nu_t h_t``."""
        total = np.zeros(X.shape[0])
        for nu, h in zip(steps, self.outputs(X), strict=True):
            total += nu * h
        return total

    def estimators(self) -> Sequence[Any]:
        """The members themselves, in a list of the user's own."""
        return list(self.members)
