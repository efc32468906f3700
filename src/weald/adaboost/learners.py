"""The members of AdaBoost in the making: fitted to the weights of a round, and what they say then.

Whatever the members are, a round looks the same from outside: ``fit`` says, for every group of rows
that the member treats alike, what it says there and how much of each class is in it; ``reweight``
multiplies the rows' weights by a factor for each group and class. For weald's trees both happen in
the engine. All sums are exact, see :mod:`weald.input.row_weights`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from weald import _engine as engine
from weald.adaboost.algorithms import Rule, Stage
from weald.adaboost.data import BoostData
from weald.adaboost.params import BoostParams
from weald.input.raw_table import take_rows
from weald.input.row_weights import RowWeights
from weald.members.foreign import (
    Counts,
    fit_members,
    make_member,
    member_outputs,
    member_shares,
    takes_weights,
)
from weald.params.growth import check_choice, resolve_growth

__all__ = [
    "MemberRounds",
    "Rounds",
    "TreeRounds",
    "Weighing",
    "bin_rows",
    "draw_by_weight",
    "draws",
    "fit_member",
    "grow_rules",
]

FloatArray = npt.NDArray[np.float64]
Groups = npt.NDArray[Any]

_MOST_RESPONSE = (
    4.0  # of LogitBoost's working response (Friedman, Hastie & Tibshirani 2000, p. 352)
)
_LEAST_WEIGHT = 1e-12
_DRAWS = 10  # at most, to get rows of two classes
_DRAW_KEY = 1 << 40


class Rounds(Protocol):
    """Members made one after another, under changing weights.

    Attributes
    ----------
    varies : bool
        Another member may come out under the same weights.
    """

    varies: bool

    def fit(self, key: int) -> tuple[FloatArray, FloatArray, Counts]:
        """Fit a member; what each group says, the weight of each class in it, how often it counts.

        None: once.
        """

    def reweight(self, factors: FloatArray) -> float:
        """Multiply the weights by a factor for each group and class; their sum, then made 1."""

    def advance(self, stage: Stage, alpha: float) -> None:
        """The member stays, with this vote."""

    @property
    def weights(self) -> FloatArray: ...

    @property
    def member(self) -> Any:
        """The member fitted last."""


def grow_rules(tree: Any, data: BoostData) -> Any:
    """The growth parameters of a tree that is a member."""
    assert data.table is not None
    n = int(np.count_nonzero(data.weights))
    return resolve_growth(
        tree,
        tree._criteria,
        n,
        data.table.is_categorical,
        1.0,  # weights are given to the engine as shares of their sum
        splitter=check_choice("splitter", tree.splitter, ("best", "random")),
    )


def draws(growth: Any, params: BoostParams) -> bool:
    """Whether two trees from the same weights may differ."""
    return params.resample or growth.rules.random_split or growth.rules.max_features > 0


def bin_rows(data: BoostData, growth: Any, threads: int) -> engine.Binned:
    """The training table as codes."""
    assert data.table is not None
    n_categories = data.table.n_categories
    return engine.bin_table(
        data.X, n_categories, growth.max_bins, growth.keys, data.weights, threads
    )


def draw_by_weight(weights: FloatArray, seed: int, key: int) -> npt.NDArray[np.uint32]:
    """How often each row is drawn: as many as there are, with replacement."""
    draw = engine.Draw()
    draw.kind, draw.size = "bootstrap", len(weights)
    draw.set_weights(weights)
    return engine.draw_rows(draw, len(weights), seed, key)


def fit_member(
    estimator: Any,
    X: Any,
    target: npt.NDArray[Any],
    weights: FloatArray | None,
    counts: Counts,
    seed: int,
    key: int,
    classes: npt.NDArray[Any] | None = None,
) -> Any:
    """A copy of a member of any kind, fitted to the weights, or to drawn rows if there are counts.

    Parameters
    ----------
    estimator : the member
    X, target : table, class codes or numbers
    weights : array of shape (n,), optional
    counts : array of shape (n,), optional
        How often each row was drawn.
    seed, key : int
        What its random states follow from.
    classes : array, optional
        Labels of the class codes.
    """
    member = make_member(estimator, engine.member_seed(seed, key), classes=classes)
    job = (member, counts, np.arange(X.shape[1]))
    [member] = fit_members([job], X, target, weights if counts is None else None, {}, 1)
    return member


class TreeRounds:
    """Classification trees of weald, all in the engine."""

    def __init__(self, tree: Any, data: BoostData, n_classes: int, params: BoostParams, seed: int):
        growth = grow_rules(tree, data)
        matrix = bin_rows(data, growth, params.threads)
        target = engine.labels(data.y[:, None], [n_classes], None)
        self._rounds = engine.make_rounds(
            matrix, target, growth.criterion, growth.rules, data.weights, params.threads
        )
        self._seed, self._resample = seed, params.resample
        self.varies = draws(growth, params)

    def fit(self, key: int) -> tuple[FloatArray, FloatArray, Counts]:
        self._rounds.grow(self._seed, key, self._resample)
        return self._rounds.leaf_values, self._rounds.class_weights, None

    def reweight(self, factors: FloatArray) -> float:
        return self._rounds.reweight(factors)

    def advance(self, stage: Stage, alpha: float) -> None:
        pass

    @property
    def weights(self) -> FloatArray:
        return self._rounds.weights

    @property
    def member(self) -> engine.Forest:
        return engine.Forest(self._rounds.tree())


class Weighing:
    """Weights of rows of some classes, 1 in total."""

    def __init__(self, codes: npt.NDArray[Any], weights: FloatArray, n_classes: int) -> None:
        self._codes, self._n_classes = codes, n_classes
        self.rows = RowWeights(weights, len(codes))
        self._factors = self.rows.start / self.rows.total

    @property
    def weights(self) -> FloatArray:
        """Of every row."""
        return self.rows.fine(self._factors, keep_light=True)

    def in_groups(self, groups: Groups, n_groups: int) -> FloatArray:
        """Weight of each class in each group."""
        k = self._n_classes
        place = groups.astype(np.intp) * k + self._codes
        sums: FloatArray = np.bincount(place, self.weights, n_groups * k).astype(np.float64)
        return sums.reshape(n_groups, k)

    def of_rows(self) -> FloatArray:
        """The same where every row is a group that counts as often as the row does."""
        out = np.zeros((len(self._codes), self._n_classes))
        there = self.rows.counts if self.rows.counts is not None else self._factors
        out[np.arange(len(out)), self._codes] = np.where(there > 0, self._factors, 0.0)
        return out

    def reweight(self, groups: Groups, factors: FloatArray) -> float:
        """Multiply by the factor of each row's group and class; divide by the sum and return it."""
        self._factors = self._factors * factors[groups, self._codes]
        total = self.rows.count(self._factors)
        self._factors /= total
        return total


class _Working:
    """What LogitBoost fits its members to: a Newton step for the log loss, as least squares.

    The target is cut at 4. In trees, rows that are far off thereby lose their pull, which is what
    makes LogitBoost robust. A linear member could then go ever further off; for members other than
    trees (`keeps_pull`) the weight rises instead, so that weight times target stays the gradient.
    """

    def __init__(self, codes: npt.NDArray[Any], rows: RowWeights, keeps_pull: bool = False) -> None:
        self._codes, self._keeps_pull = codes, keeps_pull
        self._start = rows.start
        self._F = np.zeros(len(codes))

    def problem(self) -> tuple[FloatArray, FloatArray]:
        """Target of the next member, and weights to be multiplied by what rows count."""
        p = expit(2 * self._F)
        spread = np.maximum(p * (1 - p), _LEAST_WEIGHT)
        if self._keeps_pull:
            spread = np.maximum(spread, np.abs(self._codes - p) / _MOST_RESPONSE)
        z = np.clip((self._codes - p) / spread, -_MOST_RESPONSE, _MOST_RESPONSE)
        return z, self._start * spread

    def add(self, step: FloatArray) -> None:
        self._F += step


class MemberRounds:
    """Members of any kind, and regression trees of weald for LogitBoost.

    Parameters
    ----------
    estimator : the member
    tree : bool
        It is a regression tree of weald, to be grown by the engine.
    """

    varies = True  # nobody knows

    def __init__(
        self,
        estimator: Any,
        tree: bool,
        rule: Rule,
        data: BoostData,
        classes: npt.NDArray[Any],
        params: BoostParams,
        seed: int,
    ) -> None:
        self._estimator, self._rule, self._data, self._classes = estimator, rule, data, classes
        self._n, self._k, self._seed = len(data.y), len(classes), seed
        self._resample = params.resample or not takes_weights(estimator)
        self._present = np.flatnonzero(data.weights)  # rows of no weight are as good as absent
        self._X = data.X if len(self._present) == self._n else take_rows(data.X, self._present)
        self._weighing = Weighing(data.y, data.weights, self._k)
        self._working = (
            _Working(data.y, self._weighing.rows, keeps_pull=not tree) if rule.regression else None
        )
        self._threads = params.threads
        self._growth = self._matrix = None
        if tree:
            self._growth = grow_rules(estimator, data)
            self._matrix = bin_rows(data, self._growth, params.threads)
        self.member: Any = None

    @property
    def weights(self) -> FloatArray:
        return self._weighing.weights

    def fit(self, key: int) -> tuple[FloatArray, FloatArray, Counts]:
        said, groups = self._grow(key) if self._matrix is not None else self._fit(key)
        if groups is None:
            self._groups = np.arange(self._n)
            return said, self._weighing.of_rows(), self._weighing.rows.counts
        self._groups = groups
        return said, self._weighing.in_groups(groups, len(said)), None

    def reweight(self, factors: FloatArray) -> float:
        return self._weighing.reweight(self._groups, factors)

    def advance(self, stage: Stage, alpha: float) -> None:
        if self._working is not None:
            self._working.add(alpha * stage.scores[self._groups, 1])

    def _grow(self, key: int) -> tuple[FloatArray, Groups]:
        assert self._working is not None
        assert self._growth is not None
        assert self._matrix is not None
        z, factors = self._working.problem()
        growth = self._growth
        rounds = engine.make_rounds(
            self._matrix,
            engine.reals(z[:, None], None),
            growth.criterion,
            growth.rules,
            self._data.weights,
            self._threads,
        )
        rounds.set_factors(factors)
        rounds.grow(self._seed, key, self._resample)
        self.member = engine.Forest(rounds.tree())
        return rounds.leaf_values, rounds.leaf_of

    def _fit(self, key: int) -> tuple[FloatArray, Groups | None]:
        """What groups of rows are told, and which row is in which; None: every row is a group."""
        target: npt.NDArray[Any] = self._data.y.astype(np.int64)
        weights = self._weighing.weights
        if self._working is not None:
            target, factors = self._working.problem()
            weights = self._weighing.rows.fine(factors, keep_light=True)
        rows, X = self._present, self._data.X
        target, weights = target[rows], weights[rows]
        counts = self._draw(weights, target, key) if self._resample else None
        classes = None if self._rule.regression else self._classes
        self.member = fit_member(
            self._estimator, self._X, target, weights, counts, self._seed, key, classes
        )
        if self._rule.regression:
            return member_outputs(self.member, X)[:, None], None
        shares = member_shares(self.member, X, n_classes=self._k, vote=not self._rule.by_shares)
        if self._rule.by_shares:
            return shares, None
        return np.eye(self._k), shares.argmax(axis=1)  # all rows it takes for one class are alike

    def _draw(self, weights: FloatArray, target: npt.NDArray[Any], key: int) -> Counts:
        """How often each row is drawn; of more than one class, which many members need."""
        for again in range(_DRAWS):
            counts = draw_by_weight(weights, self._seed, key + again * _DRAW_KEY)
            drawn = target[counts > 0]
            if (drawn != drawn[0]).any():
                break
        return counts
