"""A fitted additive model: where scores start, and what each round adds to them, in that order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from weald import _engine as engine
from weald.input.table import check_X_predict
from weald.boosting.data import check_offset
from weald.members.views import Templates, fitted_tree
from weald.members.foreign import member_outputs
from weald.input.raw_table import keep_X_predict
from weald.input.state import CheckedState, check_members, check_trees, is_whole, numbers, require

__all__ = ["BoostedSum", "RoundMembers", "Start", "SumOfMembers", "SumOfTrees"]

FloatArray = npt.NDArray[np.float64]
Scales = FloatArray | None  # of each round; None: 1


class RoundMembers(Sequence[Any]):
    """The members of each round, read-only, shape (rounds, members of a round).

    ``members[t]`` is an array of those of round t, ``members[t, k]`` one of them. Trees are made
    when they are asked for.
    """

    def __init__(self, shape: tuple[int, int], make: Callable[[int, int], Any]) -> None:
        self.shape = shape
        self._make = make

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, tuple):
            t, k = place
            found = self._array(range(self.shape[0])[t], range(self.shape[1])[k])
            return found if found.ndim else found.item()
        return self._array(range(self.shape[0])[place], range(self.shape[1]))

    def _array(self, rounds: Any, members: Any) -> npt.NDArray[Any]:
        shape = [len(side) for side in (rounds, members) if isinstance(side, range)]
        array = np.empty(shape, dtype=object)
        chosen = [
            self._make(t, k)
            for t in ([rounds] if isinstance(rounds, int) else rounds)
            for k in ([members] if isinstance(members, int) else members)
        ]
        for i, member in enumerate(chosen):
            array.flat[i] = member
        return array

    def __repr__(self) -> str:
        return f"<{self.shape[0]} rounds of {self.shape[1]}>"


class SumOfTrees(CheckedState):
    """Trees of weald: a forest for each score, or one whose leaves say all scores.

    Parameters
    ----------
    n_scores : int
    vector : bool
    like : tree estimator
        With what all members have in common but no nodes.
    seed : int
    """

    def __init__(self, n_scores: int, vector: bool, like: Any, seed: int) -> None:
        self.n_scores, self.vector = n_scores, vector
        self.forests: list[engine.Forest] = []
        self._templates, self._seed = Templates(like), seed

    def _check_state(self) -> None:
        require(is_whole(self.n_scores, 1), self, "the number of scores")
        require(isinstance(self.vector, bool), self, "what its leaves say")
        require(is_whole(self._seed, 0), self, "its seed")
        require(isinstance(self.forests, list), self, "the list of its forests")
        if not self.forests:
            return
        require(len(self.forests) == (1 if self.vector else self.n_scores), self, "a forest")
        for forest in self.forests:
            check_trees(self._templates.last, forest, same_target=False)
            said = forest.n_outputs if forest.max_n_classes == 1 else 0
            require(said == (self.n_scores if self.vector else 1), self, "what its leaves say")
            require(forest.n_trees == len(self), self, "the number of trees")

    def __len__(self) -> int:
        return self.forests[0].n_trees if self.forests else 0

    def copy(self) -> SumOfTrees:
        """The same trees, to be added to."""
        other = SumOfTrees(self.n_scores, self.vector, None, self._seed)
        other._templates = self._templates
        other.forests = [forest.prefix(forest.n_trees) for forest in self.forests]
        return other

    def go_on_with(self, like: Any) -> None:
        """The trees to come are like this one, those that are there stay as they are."""
        self._templates = Templates(like, self._templates, len(self))

    def add(self, trees: list[Any]) -> None:
        """Append the trees of a round, each as a forest of one."""
        if not self.forests:
            self.forests = trees
            return
        for forest, tree in zip(self.forests, trees, strict=True):
            forest.extend(tree)

    def read(self, ensemble: Any, X: Any) -> npt.NDArray[Any]:
        """Rows to be asked about, as trees want them."""
        return check_X_predict(ensemble, X)

    def total(
        self, X: Any, start: FloatArray, first: int, last: int, scales: Scales, threads: int
    ) -> FloatArray:
        """`start` and what the rounds first .. last - 1 add to it, in order; shape (n, n_scores).

        One by one or all at once makes no difference, not in the last bit.
        """
        if first >= last:
            return start
        if self.vector or self.n_scores == 1:
            forest = self.forests[0]
            sums = forest.values(X, threads, first, last, scales, start=start)
            return sums.reshape(start.shape)
        total = np.empty_like(start)
        for k, forest in enumerate(self.forests):
            begin = np.ascontiguousarray(start[:, k : k + 1])
            total[:, k] = forest.values(X, threads, first, last, scales, start=begin)[:, 0, 0]
        return total

    def estimators(self) -> RoundMembers:
        """The trees as estimators, made when they are asked for."""
        return RoundMembers((len(self), 1 if self.vector else self.n_scores), self._estimator)

    def _estimator(self, t: int, k: int) -> Any:
        seed = engine.member_seed(self._seed, t)
        return fitted_tree(self._templates[t], self.forests[k].tree(t), self._templates.last, seed)

    def apply(self, X: npt.NDArray[Any], threads: int) -> npt.NDArray[np.int64]:
        """Leaf of each row in each tree, shape (n, rounds, trees of a round)."""
        if not self.forests:
            return np.empty((len(X), 0, self.n_scores), dtype=np.int64)
        return np.stack([forest.apply(X, threads) for forest in self.forests], axis=2)

    def importances(self, last: int) -> FloatArray:
        """What the columns gained in the first rounds, all trees together."""
        total = np.zeros(self._templates.last.n_features_in_)
        for forest in self.forests:
            total += forest.importances[:last].sum(axis=0)
        return total


class SumOfMembers(CheckedState):
    """Regressors of any kind, one for each score in each round, and their factors."""

    def __init__(self, n_scores: int) -> None:
        self.n_scores = n_scores
        self.vector = False
        self.rounds: list[list[tuple[Any, float]]] = []

    def _check_state(self) -> None:
        require(is_whole(self.n_scores, 1) and self.vector is False, self, "the number of scores")
        require(isinstance(self.rounds, list), self, "the list of its rounds")
        for members in self.rounds:
            require(len(members) == self.n_scores, self, "a round")
            check_members(self, [member for member, _ in members])
            require(np.isfinite([factor for _, factor in members]).all(), self, "a factor")

    def __len__(self) -> int:
        return len(self.rounds)

    def copy(self) -> SumOfMembers:
        """The same members, to be added to."""
        other = SumOfMembers(self.n_scores)
        other.rounds = list(self.rounds)
        return other

    def add(self, members: list[Any]) -> None:
        """Append the members of a round, each with its factor."""
        self.rounds.append(members)

    def read(self, ensemble: Any, X: Any) -> Any:
        """The table, as it is."""
        return keep_X_predict(ensemble, X)

    def total(
        self, X: Any, start: FloatArray, first: int, last: int, scales: Scales, threads: int
    ) -> FloatArray:
        """`start` and what the rounds first .. last - 1 add to it; shape (n, n_scores)."""
        total = start.copy()
        for t in range(first, last):
            for k, (member, factor) in enumerate(self.rounds[t]):
                part = factor * member_outputs(member, X)
                total[:, k] += part if scales is None else scales[t] * part
        return total

    def estimators(self) -> RoundMembers:
        """The members themselves."""
        return RoundMembers((len(self), self.n_scores), lambda t, k: self.rounds[t][k][0])

    def importances(self, last: int) -> FloatArray:
        """Sum of the members' importances."""
        try:
            each = [one.feature_importances_ for made in self.rounds[:last] for one, _ in made]
        except AttributeError as error:
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a "
                "feature_importances_ attribute"
            ) from error
        total: FloatArray = np.sum(each, axis=0, dtype=np.float64)
        return total


@dataclass(frozen=True, eq=False)
class Start(CheckedState):
    """Scores before the first round: the same for all rows, or what another model says.

    Attributes
    ----------
    constant : array of shape (n_scores,)
    model : callable, optional
        Gives the scores (n, n_scores) of a table as users give it.
    """

    constant: FloatArray
    model: Callable[[Any], FloatArray] | None = None

    def _check_state(self) -> None:
        require(numbers(self.constant), self, "the constant")
        require(self.model is None or callable(self.model), self, "the model")

    def scores(self, raw: Any, n: int, offset: FloatArray | None) -> FloatArray:
        """Shape (n, n_scores)."""
        F = np.empty((n, len(self.constant)))
        self.fill(F, raw, offset)
        return F

    def fill(self, F: FloatArray, raw: Any, offset: FloatArray | None) -> None:
        """The same in place."""
        F[:] = self.constant if self.model is None else self.model(raw)
        if offset is not None:
            F += offset


@dataclass(eq=False)
class BoostedSum(CheckedState):
    """``F = start + offset + sum_t scale_t h_t``.

    Attributes
    ----------
    start : Start
    members : SumOfTrees or SumOfMembers
    scales : array of shape (rounds,), optional
        Of each round, if some were left out of others (DART).
    used : int
        Rounds that predictions use.
    used_scales : array, optional
        What `scales` were when the last round that is used was made.
    """

    start: Start
    members: SumOfTrees | SumOfMembers
    scales: Scales = None
    used: int = 0
    used_scales: Scales = None

    def _check_state(self) -> None:
        require(isinstance(self.start, Start), self, "where it starts")
        require(isinstance(self.members, SumOfTrees | SumOfMembers), self, "its members")
        require(len(self.start.constant) == self.members.n_scores, self, "where it starts")
        require(is_whole(self.used, 0, len(self.members)), self, "the number of rounds in use")
        for scales in (self.scales, self.used_scales):
            require(scales is None or numbers(scales, len(self.members)), self, "the scales")

    def scores(self, ensemble: Any, X: Any, offset: Any, threads: int) -> FloatArray:
        """F of new rows, shape (n, n_scores)."""
        rows, F = self._begin(ensemble, X, offset)
        return self.members.total(rows, F, 0, self.used, self.used_scales, threads)

    def staged(self, ensemble: Any, X: Any, offset: Any, threads: int) -> Iterator[FloatArray]:
        """F after 1, 2, ... rounds, all that were made."""
        rows, F = self._begin(ensemble, X, offset)
        for t in range(len(self.members)):
            F = self.members.total(rows, F, t, t + 1, self.scales, threads)
            yield F

    def _begin(self, ensemble: Any, X: Any, offset: Any) -> tuple[Any, FloatArray]:
        rows = self.members.read(ensemble, X)
        n = rows.shape[0]
        raw = None
        if self.start.model is not None:
            raw = keep_X_predict(ensemble, X)
        added = check_offset(offset, n, self.members.n_scores)
        return rows, self.start.scores(raw, n, added)

    def copy(self) -> BoostedSum:
        """The same model, to be added to."""
        scales = None if self.scales is None else self.scales.copy()
        return BoostedSum(self.start, self.members.copy(), scales)


def asked(ensemble: Any) -> BoostedSum:
    """The model of a fitted estimator."""
    try:
        model: BoostedSum = ensemble._model
    except AttributeError:
        check_is_fitted(ensemble)
        raise
    return model
