"""Members that are trees of weald, grown and kept by the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald import combining
from weald._engine import FloatArray, IntArray
from weald.input.state import check_trees, require
from weald.input.table import check_X_predict
from weald.members.base import Members, PlainMembers
from weald.members.templates import Templates, fitted_tree
from weald.members.views import MemberGrid, MemberTrees
from weald.sampling import Sampling

__all__ = ["Trees"]


class Trees(Members):
    """Trees of weald: a forest, or one for each member of a round.

    Parameters
    ----------
    forests : list of engine.Forest
        As many as members of a round; empty as long as there is no round.
    templates : Templates
        Trees with what members have in common (classes, columns, ...) but no nodes.
    seed : int
    sampling : Sampling, optional
    per_round, grid : see :class:`weald.members.base.Members`
    """

    def __init__(
        self,
        forests: list[engine.Forest],
        templates: Templates,
        seed: int,
        sampling: Sampling | None = None,
        *,
        per_round: int = 1,
        grid: bool = False,
    ) -> None:
        self.forests, self.templates = forests, templates
        self.seed, self.sampling = seed, sampling
        self.per_round, self.grid = per_round, grid

    def _check_state(self) -> None:
        super()._check_state()
        require(isinstance(self.templates, Templates), self, "what its trees are like")
        require(isinstance(self.forests, list), self, "the list of its forests")
        require(len(self.forests) in (0, self.per_round), self, "the number of its forests")
        for forest in self.forests:
            check_trees(self.like, forest)
            require(forest.n_trees == len(self), self, "the number of trees")

    @property
    def like(self) -> Any:
        """What all members are like, whatever their parameters."""
        return self.templates.last

    @property
    def forest(self) -> engine.Forest:
        """The trees, if a round has one of them."""
        [forest] = self.forests
        return forest

    def __len__(self) -> int:
        return self.forests[0].n_trees if self.forests else 0

    # --- growing --------------------------------------------------------------------------------

    def add(self, members: list[engine.Forest]) -> None:
        """Append trees, as forests: of one round or of several."""
        if not self.forests:
            self.forests = members
            return
        for forest, more in zip(self.forests, members, strict=True):
            forest.extend(more)

    def prefix(self, n: int) -> Trees:
        """A copy of the first rounds, that may be added to."""
        forests = [forest.prefix(n) for forest in self.forests] if n else []
        return Trees(
            forests,
            self.templates,
            self.seed,
            self.sampling,
            per_round=self.per_round,
            grid=self.grid,
        )

    def go_on_with(self, template: Any) -> None:
        """Trees grown from now on are like this one; those already there keep theirs."""
        self.templates = Templates(template, self.templates, len(self))

    # --- questions ------------------------------------------------------------------------------

    def read(self, ensemble: Any, X: Any) -> Any:
        """Rows to predict, as trees want them."""
        return check_X_predict(ensemble, X)

    def sum(
        self,
        X: Any,
        weights: FloatArray | None = None,
        *,
        first: int = 0,
        last: int | None = None,
        vote: bool = False,
        start: FloatArray | None = None,
        n_jobs: int | None = None,
    ) -> FloatArray:
        """What the rounds first .. last - 1 say, added up in their order."""
        threads = engine.resolve_threads(n_jobs)
        end = len(self) if last is None else last
        if first >= end:
            if start is None:
                like = self.like
                start = np.zeros((len(X), self.per_round * like.n_outputs_))
            return start[:, :, None]
        return engine.sums_of(self.forests, X, threads, first, end, weights, vote, start)

    def one(self, t: int, X: Any, vote: bool = False, n_jobs: int | None = None) -> FloatArray:
        """What one tree says, shape (n, n_outputs, n_classes)."""
        return self.forest.values(X, engine.resolve_threads(n_jobs), t, t + 1, vote=vote)

    def mean(
        self,
        X: Any,
        weights: FloatArray | None,
        vote: bool,
        n_jobs: int | None,
        params: dict[str, Any] | None = None,
    ) -> FloatArray:
        """Weighted mean of what the trees say."""
        values = self.sum(X, weights, vote=vote, n_jobs=n_jobs)
        values /= len(self) if weights is None else weights.sum()
        return values

    def each(
        self,
        X: Any,
        n_jobs: int | None,
        vote: bool = False,
        params: dict[str, Any] | None = None,
    ) -> FloatArray:
        """What every round says, shape (rounds, n, n_outputs, n_classes)."""
        threads = engine.resolve_threads(n_jobs)
        parts = [forest.member_values(X, threads) for forest in self.forests]
        said = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return combining.votes(said) if vote else said

    def leaves(self, X: Any, n_jobs: int | None) -> IntArray:
        """Leaf of each row in each tree, shape (n, rounds, members of a round)."""
        if not self.forests:
            return np.empty((len(X), 0, self.per_round), dtype=np.int64)
        threads = engine.resolve_threads(n_jobs)
        return np.stack([forest.apply(X, threads) for forest in self.forests], axis=2)

    def importances(self) -> FloatArray:
        """Impurity decrease of each column in each tree, shape (rounds, trees of a round, d)."""
        if not self.forests:
            return np.zeros((0, self.per_round, self.like.n_features_in_))
        return np.stack([forest.importances for forest in self.forests], axis=1)

    def estimators(self) -> Sequence[Any]:
        """The trees as estimators, made when they are asked for."""
        if self.grid:
            return MemberGrid((len(self), self.per_round), self._estimator)
        return MemberTrees(len(self), self._estimator)

    def _estimator(self, t: int, k: int = 0) -> Any:
        seed = engine.member_seed(self.seed, t)
        columns = None
        if self.sampling is not None and self.sampling.columns > 0:
            columns = self.columns_of(t)
        return fitted_tree(self.templates[t], self.forests[k].tree(t), self.like, seed, columns)

    def state(self) -> PlainMembers:
        """The trees as plain arrays and values."""
        values: dict[str, Any] = {
            "kind": "trees",
            "seed": self.seed,
            "per_round": self.per_round,
            "grid": self.grid,
            "templates": [
                {"from": t, "class": type(tree).__name__, "params": tree.get_params(deep=False)}
                for t, tree in self.templates.ranges()
            ],
        }
        arrays: dict[str, npt.NDArray[Any]] = {}
        for k, forest in enumerate(self.forests):
            for name, part in forest.__getstate__().items():
                if isinstance(part, np.ndarray):
                    arrays[f"forest {k}: {name}"] = part
                else:
                    values[f"forest {k}: {name}"] = part
        return PlainMembers(values, arrays)
