"""The members of a boosted classifier as one thing that can be asked for scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald.adaboost.algorithms import Rule, Stage
from weald.input.raw_table import keep_X_predict
from weald.input.state import CheckedState, check_members, check_trees, is_array, is_whole, require
from weald.input.table import check_X_predict
from weald.members.foreign import member_outputs, member_shares
from weald.members.views import MemberTrees, fitted_tree

__all__ = ["BoostedMembers", "BoostedTrees", "KeptMembers", "KeptTrees"]

FloatArray = npt.NDArray[np.float64]

_ROWS = 8192  # whose leaves are held at a time


class KeptTrees(CheckedState):
    """Trees of weald, kept by the engine.

    Parameters
    ----------
    like : tree estimator
        With what all members have in common but no nodes.
    """

    def __init__(self, like: Any) -> None:
        self.forest: engine.Forest | None = None
        self._like = like

    def _check_state(self) -> None:
        if self.forest is not None:
            check_trees(self._like, self.forest)

    def __len__(self) -> int:
        return 0 if self.forest is None else self.forest.n_trees

    def add(self, member: engine.Forest, stage: Stage) -> None:
        """Append a tree."""
        if self.forest is None:
            self.forest = member
        else:
            self.forest.extend(member)

    def read(self, ensemble: Any, X: Any) -> npt.NDArray[Any]:
        """Rows to be asked about, as the trees want them."""
        return check_X_predict(ensemble, X)

    def estimators(self, seed: int) -> MemberTrees:
        """The trees as estimators, made when they are asked for."""
        return MemberTrees(len(self), partial(self._estimator, seed))

    def _estimator(self, seed: int, t: int) -> Any:
        assert self.forest is not None
        own = engine.member_seed(seed, t)
        return fitted_tree(self._like, self.forest.tree(t), self._like, own)

    def importances(self) -> FloatArray:
        """Of every member and column, 1 in total per member that splits at all."""
        if self.forest is None:
            return np.zeros((0, self._like.n_features_in_))
        each = self.forest.importances
        total = each.sum(axis=1, keepdims=True)
        shares: FloatArray = np.divide(each, total, out=np.zeros_like(each), where=total > 0)
        return shares


class BoostedTrees(KeptTrees):
    """Trees that vote.

    Parameters
    ----------
    rule : Rule
    n_classes : int
    like : tree estimator
    """

    def __init__(self, rule: Rule, n_classes: int, like: Any) -> None:
        super().__init__(like)
        self.rule, self._k = rule, n_classes
        self._tables: list[FloatArray] = []  # scores of every node, if not votes or shares

    def _check_state(self) -> None:
        super()._check_state()
        require(isinstance(self.rule, Rule), self, "its rule")
        require(is_whole(self._k, 1), self, "the number of classes")
        if self.forest is None:
            return
        require(self.rule.regression or self.forest.max_n_classes == self._k, self, "its classes")
        if self.rule.adds != "scores":
            return
        counts = self.forest.node_counts.tolist()
        for table, n_nodes in zip(self._tables, counts, strict=True):
            require(is_array(table, (n_nodes, self._k)), self, "the scores of a tree")
            require(np.isfinite(table).all(), self, "the scores of a tree")

    def add(self, member: engine.Forest, stage: Stage) -> None:
        """Append a tree."""
        super().add(member, stage)
        if self.rule.adds == "scores":
            table = np.zeros((int(member.node_counts[0]), self._k))
            table[member.tree(0).is_leaf] = stage.scores
            self._tables.append(table)

    def scores(
        self, X: npt.NDArray[Any], alphas: FloatArray, first: int, last: int, n_jobs: int | None
    ) -> FloatArray:
        """Sum of alpha S over the members first .. last - 1, shape (n, K)."""
        if self.forest is None:
            return np.zeros((len(X), self._k))
        threads = engine.resolve_threads(n_jobs)
        if self.rule.adds != "scores":
            return self._standing(self._sums(X, alphas, first, last, threads))
        if last - first == 1:  # the other trees need not be asked
            said = self.forest.values(X, threads, first, last)[:, 0, :]
            scores: FloatArray = alphas[first] * self.rule.scores(said)
            return scores
        return self._looked_up(X, alphas, first, last, threads)

    def _sums(
        self, X: npt.NDArray[Any], alphas: FloatArray, first: int, last: int, threads: int
    ) -> FloatArray:
        """Sum of alpha times the votes, or shares, of each class."""
        assert self.forest is not None
        vote = self.rule.adds == "votes"
        return self.forest.values(X, threads, first, last, alphas, vote)[:, 0, :]

    def _standing(self, sums: FloatArray) -> FloatArray:
        """Scores: what a class has got, less the mean of the others; of shares, 2 p - 1."""
        if self._k == 2:  # equal sums give exactly 0
            return sums - sums[:, ::-1]
        total = sums.sum(axis=1, keepdims=True)
        scores: FloatArray = sums - (total - sums) / (self._k - 1)
        return scores

    def _looked_up(
        self, X: npt.NDArray[Any], alphas: FloatArray, first: int, last: int, threads: int
    ) -> FloatArray:
        assert self.forest is not None
        out = np.zeros((len(X), self._k))
        for begin in range(0, len(X), _ROWS):
            rows = slice(begin, begin + _ROWS)
            leaves = self.forest.apply(X[rows], threads)
            for t in range(first, last):
                out[rows] += alphas[t] * self._tables[t].take(leaves[:, t], axis=0)
        return out

    def staged(
        self, X: npt.NDArray[Any], alphas: FloatArray, n_jobs: int | None
    ) -> Iterator[FloatArray]:
        """The scores after 1, 2, ... members; added as in `scores`, so the last are the same."""
        threads = engine.resolve_threads(n_jobs)
        total = np.zeros((len(X), self._k))
        for t in range(len(self)):
            if self.rule.adds == "scores":
                total += self.scores(X, alphas, t, t + 1, n_jobs)
                yield total
            else:
                total += self._sums(X, alphas, t, t + 1, threads)
                yield self._standing(total)


class KeptMembers(CheckedState):
    """Members of any kind."""

    def __init__(self) -> None:
        self.members: list[Any] = []

    def _check_state(self) -> None:
        check_members(self, self.members)

    def __len__(self) -> int:
        return len(self.members)

    def add(self, member: Any, stage: Stage) -> None:
        """Append a member."""
        self.members.append(member)

    def read(self, ensemble: Any, X: Any) -> Any:
        """The table, as it is."""
        return keep_X_predict(ensemble, X)

    def estimators(self, seed: int) -> list[Any]:
        """The fitted members."""
        return self.members

    def importances(self) -> FloatArray:
        """Of every member and column."""
        try:
            return np.array([member.feature_importances_ for member in self.members])
        except AttributeError as error:
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a "
                "feature_importances_ attribute"
            ) from error


class BoostedMembers(KeptMembers):
    """Members of any kind that vote."""

    def __init__(self, rule: Rule, n_classes: int) -> None:
        super().__init__()
        self.rule, self._k = rule, n_classes

    def _check_state(self) -> None:
        super()._check_state()
        require(isinstance(self.rule, Rule), self, "its rule")
        require(is_whole(self._k, 1), self, "the number of classes")

    def scores(
        self, X: Any, alphas: FloatArray, first: int, last: int, n_jobs: int | None
    ) -> FloatArray:
        """Sum of alpha S over the members first .. last - 1, shape (n, K)."""
        out = np.zeros((X.shape[0], self._k))
        for t in range(first, last):
            out += alphas[t] * self.rule.scores(self._said(t, X))
        return out

    def _said(self, t: int, X: Any) -> FloatArray:
        if self.rule.regression:
            return member_outputs(self.members[t], X)[:, None]
        vote = not self.rule.by_shares
        return member_shares(self.members[t], X, n_classes=self._k, vote=vote)

    def staged(self, X: Any, alphas: FloatArray, n_jobs: int | None) -> Iterator[FloatArray]:
        """The scores after 1, 2, ... members."""
        total = np.zeros((X.shape[0], self._k))
        for t in range(len(self)):
            total += self.scores(X, alphas, t, t + 1, n_jobs)
            yield total
