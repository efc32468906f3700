"""The members of AdaBoost in the making: fitted to the weights of a round, and what they say then.

Whatever the members are, a round looks the same from outside: ``fit`` says, for every group of rows
that the member treats alike, what it says there and how much of each class is in it; ``reweight``
multiplies the rows' weights by a factor for each group and class. For weald's trees both happen in
the engine. All sums are exact, see :mod:`weald.input.row_weights`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald._engine import FloatArray
from weald.adaboost.algorithms import Algorithm, Judgement
from weald.adaboost.params import AdaBoostParams
from weald.adaboost.weighing import ClassWeighing, WorkingResponse
from weald.input.fit_data import FitData
from weald.members.base import Members
from weald.members.foreign import (
    Counts,
    fit_member,
    make_member,
    member_finite_values,
    member_shares,
    takes_weights,
)
from weald.members.trees import Trees
from weald.params.growth import resolve_member_tree
from weald.sampling import draw_by_weight

__all__ = [
    "AdaBoostLearner",
    "EngineTrees",
    "EngineWeightedLearner",
    "GroupAnswers",
    "NumpyWeightedLearner",
    "fitted_member",
]

Groups = npt.NDArray[Any]
# What each group says, the weight of each class in it, and how often it counts.
GroupAnswers = tuple[FloatArray, FloatArray, Counts]

_DRAWS = 10  # at most, to get rows of two classes
_DRAW_KEY = 1 << 40


class AdaBoostLearner(ABC):
    """Makes members one after another, under changing weights.

    Attributes
    ----------
    varies : bool
        Another member may come out under the same weights.
    member : list
        The member fitted last, as :class:`weald.members.base.Members` take it.
    """

    varies = True  # unless known otherwise
    member: list[Any]

    @abstractmethod
    def fit(self, key: int) -> GroupAnswers:
        """Fit a member, and hear what it says."""

    @abstractmethod
    def recall(self, members: Members, t: int) -> GroupAnswers:
        """Hear a member of an earlier fit, as if it had just been fitted."""

    @abstractmethod
    def reweight(self, factors: FloatArray) -> float:
        """Multiply the weights by a factor for each group and class.

        Returns their sum before they are scaled to 1.
        """

    def accept(self, judgement: Judgement, alpha: float) -> None:  # noqa: B027 (most need not know it)
        """The member stays, with this vote."""

    @property
    @abstractmethod
    def weights(self) -> FloatArray:
        """Of every row, 1 in total."""


class EngineTrees:
    """Trees of weald, grown by the engine from a table that is binned once.

    Parameters
    ----------
    tree : tree estimator
    data : FitData
    params : AdaBoostParams
    by_class : array of shape (n,), optional
        What the class of each row weighs.

    Attributes
    ----------
    varies : bool
        Two trees from the same weights may differ.
    """

    def __init__(
        self, tree: Any, data: FitData, params: AdaBoostParams, by_class: FloatArray | None = None
    ) -> None:
        assert data.table is not None
        self._weights, self._threads = data.filled_weights, params.threads
        self._growth = growth = resolve_member_tree(
            tree,
            tree._criteria,
            int(np.count_nonzero(self._weights)),
            data.table.columns,
            1.0,  # weights are given to the engine as shares of their sum
        )
        rules = growth.rules
        self.varies = params.resample or rules.random_split or rules.max_features > 0
        weights = self._weights if by_class is None else self._weights * by_class
        self._matrix = data.table.binned(growth, weights, params.threads)

    def rounds(self, target: engine.Target, weights: FloatArray | None = None) -> engine.Rounds:
        """Begin to grow; by default under the weights that were given to ``fit``."""
        weights = self._weights if weights is None else weights
        growth = self._growth
        return engine.make_rounds(
            self._matrix, target, growth.criterion, growth.rules, weights, self._threads
        )


def _leaves_of(tree: engine.Tree, X: Any, threads: int) -> tuple[FloatArray, Groups]:
    """What each leaf says, from left to right, and the number of the leaf of each row."""
    number = np.cumsum(tree.is_leaf) - 1
    return tree.value[tree.is_leaf, 0], number[tree.apply(X, threads)]


def fitted_member(
    estimator: Any,
    X: Any,
    target: npt.NDArray[Any],
    weights: FloatArray,
    counts: Counts,
    seed: int,
    classes: npt.NDArray[Any] | None = None,
) -> Any:
    """A copy of a member of any kind, fitted to the weights, or to drawn rows if any were drawn."""
    member = make_member(estimator, seed, classes=classes)
    given = weights if counts is None else None
    return fit_member(member, X, target, given, counts=counts, routed=False)


class EngineWeightedLearner(AdaBoostLearner):
    """Classification trees of weald, all in the engine."""

    def __init__(
        self, tree: Any, data: FitData, n_classes: int, params: AdaBoostParams, seed: int
    ) -> None:
        self._X, self._codes, self._seed = data.X, data.y, seed
        self._resample, self._threads = params.resample, params.threads
        trees = EngineTrees(tree, data, params)
        self.varies = trees.varies
        self._rounds = trees.rounds(engine.labels(data.y[:, None], [n_classes], None))
        # Only for members of an earlier fit, whose leaves the engine does not know.
        self._rows = data.row_weights
        self._factors = np.where(data.filled_weights > 0, self._rows.start, 0.0)
        self._recalled: Groups | None = None

    def fit(self, key: int) -> GroupAnswers:
        """Fit a member, and hear what it says."""
        self._recalled = None
        self._rounds.grow(self._seed, key, self._resample)
        self.member = [engine.Forest(self._rounds.tree())]
        return self._rounds.leaf_values, self._rounds.class_weights, None

    def recall(self, members: Members, t: int) -> GroupAnswers:
        """Hear a member of an earlier fit."""
        assert isinstance(members, Trees)
        said, self._recalled = _leaves_of(members.forest.tree(t), self._X, self._threads)
        return said, np.ones(said.shape), None

    def reweight(self, factors: FloatArray) -> float:
        """Multiply the weights by a factor for each leaf and class; their sum."""
        if self._recalled is None:
            return self._rounds.reweight(factors)
        # As the engine does it: products, kept of the size of 1 by a power of two.
        self._factors = self._factors * factors[self._recalled, self._codes]
        total = self._rows.count(self._factors)
        self._factors *= 2.0 ** -np.round(np.log2(total / self._rows.total))
        self._rounds.set_factors(self._factors)
        return total

    @property
    def weights(self) -> FloatArray:
        """Of every row, 1 in total."""
        return self._rounds.weights


class NumpyWeightedLearner(AdaBoostLearner):
    """Members of any kind; trees of weald for LogitBoost, or with weights of classes.

    Parameters
    ----------
    estimator : the member
        If the engine grows it, a tree that knows the classes.
    by_engine : bool
    algorithm : Algorithm
    data : FitData
    classes : array
        Labels of the class codes.
    params : AdaBoostParams
    seed : int
    """

    def __init__(
        self,
        estimator: Any,
        by_engine: bool,
        algorithm: Algorithm,
        data: FitData,
        classes: npt.NDArray[Any],
        params: AdaBoostParams,
        seed: int,
    ) -> None:
        self._estimator, self._algorithm, self._data = estimator, algorithm, data
        self._n, self._k, self._seed = len(data), len(classes), seed
        self._classes = None if algorithm.regression else classes
        self._threads = params.threads
        self._resample = params.resample or not takes_weights(estimator, routed=False)
        self._present = np.flatnonzero(data.filled_weights)
        self._weighing = ClassWeighing(data.y, data.filled_weights, self._k)
        self._working: WorkingResponse | None = None
        if algorithm.regression:
            self._working = WorkingResponse(
                data.y, self._weighing.rows, keeps_gradient=not by_engine
            )
        self._trees: EngineTrees | None = None
        if by_engine:
            self._by_class = self._class_weights()
            self._trees = EngineTrees(estimator, data, params, self._by_class)
            self.varies = self._trees.varies
        else:
            self._there = data.present()  # rows of no weight are as good as absent

    def _class_weights(self) -> FloatArray:
        """What the tree's `class_weight` makes of each row."""
        by_class = np.ones(self._n)
        if not self._algorithm.regression:
            codes = self._data.y[self._present, None]
            by_class[self._present] = self._estimator._row_weights(codes, None)
        return by_class

    @property
    def weights(self) -> FloatArray:
        """Of every row, 1 in total."""
        return self._weighing.weights

    def fit(self, key: int) -> GroupAnswers:
        """Fit a member, and hear what it says."""
        if self._trees is not None:
            return self._heard(*self._grow(self._trees, key))
        self._fit(key)
        return self._heard(*self._answers_of(self.member[0]))

    def recall(self, members: Members, t: int) -> GroupAnswers:
        """Hear a member of an earlier fit."""
        if isinstance(members, Trees):
            return self._heard(*_leaves_of(members.forest.tree(t), self._data.X, self._threads))
        return self._heard(*self._answers_of(members.estimators()[t]))

    def reweight(self, factors: FloatArray) -> float:
        """Multiply the weights by a factor for each group and class; their sum."""
        return self._weighing.reweight(self._groups, factors)

    def accept(self, judgement: Judgement, alpha: float) -> None:
        """The member stays, with this vote."""
        if self._working is not None:
            self._working.add(alpha * judgement.raw[self._groups, 1])

    def _heard(self, said: FloatArray, groups: Groups | None) -> GroupAnswers:
        if groups is None:
            self._groups = np.arange(self._n)
            return said, self._weighing.of_rows(), self._weighing.rows.counts
        self._groups = groups
        return said, self._weighing.in_groups(groups, len(said)), None

    def _grow(self, trees: EngineTrees, key: int) -> tuple[FloatArray, Groups]:
        if self._working is not None:
            z, factors = self._working.target_and_weights()
            rounds = trees.rounds(engine.reals(z[:, None], None))
            rounds.set_factors(factors)
            rounds.grow(self._seed, key, self._resample)
            self.member = [engine.Forest(rounds.tree())]
            return rounds.leaf_values, rounds.leaf_of
        target = engine.labels(self._data.y[:, None], [self._k], None)
        if self._resample:  # rows are drawn by their own weights, not by those of their classes
            counts = self._draw(self._weighing.weights, self._data.y, key)
            rounds = trees.rounds(target, counts * self._by_class)
        else:
            rounds = trees.rounds(target)
            rounds.set_factors(self._weighing.factors * self._by_class)
        rounds.grow(self._seed, key, False)
        self.member = [engine.Forest(rounds.tree())]
        # Rows of classes of weight 0 took no part in the growth, but count in the error: find their
        # leaves too.
        return _leaves_of(self.member[0].tree(0), self._data.X, self._threads)

    def _fit(self, key: int) -> None:
        target: npt.NDArray[Any] = self._data.y.astype(np.int64)
        weights = self._weighing.weights
        if self._working is not None:
            target, factors = self._working.target_and_weights()
            weights = self._weighing.rows.fine(factors, keep_light=True)
        target, weights = target[self._present], weights[self._present]
        counts = self._draw(weights, target, key) if self._resample else None
        seed = engine.member_seed(self._seed, key)
        self.member = [
            fitted_member(
                self._estimator, self._there.X, target, weights, counts, seed, self._classes
            )
        ]

    def _answers_of(self, member: Any) -> tuple[FloatArray, Groups | None]:
        """What groups of rows are told, and which row is in which; None: every row is a group."""
        X = self._data.X
        if self._algorithm.regression:
            return member_finite_values(member, X)[:, None], None
        by_shares = self._algorithm.by_shares
        shares = member_shares(member, X, n_classes=self._k, vote=not by_shares)
        if by_shares:
            return shares, None
        return np.eye(self._k), shares.argmax(axis=1)  # all rows it takes for one class are alike

    def _draw(
        self, weights: FloatArray, target: npt.NDArray[Any], key: int
    ) -> npt.NDArray[np.uint32]:
        """How often each row is drawn; of more than one class, which many members need."""
        for again in range(_DRAWS):
            counts = draw_by_weight(weights, self._seed, key + again * _DRAW_KEY)
            drawn = target[counts > 0]
            if (drawn != drawn[0]).any():
                break
        return counts
