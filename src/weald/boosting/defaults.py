"""What "auto" means in gradient boosting: one decision, by loss, table and what is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf, log, log2, sqrt
from typing import Any, Literal, TypeAlias

__all__ = ["AUTO", "LARGEST_RATE", "Family", "Given", "Settings", "Task", "choose", "is_auto"]

Family: TypeAlias = Literal["likelihood", "numbers", "exact"]
"""Losses in units of log likelihood; others with a second derivative; those with exact steps."""

Auto: TypeAlias = Literal["auto"]
AUTO: Auto = "auto"


@dataclass(frozen=True)
class Task:
    """What there is to be learned, as far as the choice goes.

    Attributes
    ----------
    n_rows : float
        A row of weight k is k rows here, too (:func:`weald.boosting.units.row_scale`).
    n_columns : int
    n_classes : int
        Classes; 2 for losses of other targets.
    family : {"likelihood", "numbers", "exact"}
        "likelihood": log loss and others of classes, poisson, gamma.
    order : {1, 2}
        Of the trees.
    unit : float
        Second derivative of a row, where it has a unit
        (:func:`weald.boosting.units.curvature_unit`).
    worth : float
        How much a row tells, at most 1: one of counts that are nearly all 0 tells less.
    slow : bool
        Rounds are expensive: members of other kinds, dropout.
    """

    n_rows: float
    n_columns: int
    n_classes: int = 2
    family: Family = "likelihood"
    order: int = 2
    unit: float = 1.0
    worth: float = 1.0
    slow: bool = False


@dataclass(frozen=True)
class Given:
    """What the user has set, checked; "auto" is left to us.

    Attributes
    ----------
    learning_rate, n_estimators, max_features, l2, min_gain, min_hessian, categorical_smoothing
        As in :class:`Settings`.
    max_leaf_nodes, patience, max_depth : None says no limit
    goes_on : bool
        There may be more rounds later (`warm_start`): their number has no say in the rest.
    """

    learning_rate: float | Auto = AUTO
    n_estimators: int | Auto = AUTO
    max_leaf_nodes: int | Auto | None = AUTO
    max_features: int | Auto = AUTO
    l2: float | Auto = AUTO
    min_gain: float | Auto = AUTO
    min_hessian: float | Auto = AUTO
    categorical_smoothing: float | Auto = AUTO
    patience: int | Auto | None = AUTO
    max_depth: int | None = None
    goes_on: bool = False


@dataclass(frozen=True)
class Settings:
    """All values: those given, and those that stand for "auto".

    Attributes
    ----------
    learning_rate : float
    n_estimators : int
    max_leaf_nodes : int or None
    max_features : int
        Columns tried at each node.
    l2 : float
    min_gain : float
        Holds for trees of second order, whose gains are in units of the loss.
    min_hessian : float
    categorical_smoothing : float
    patience : int or None
        Rounds without gain before a fit stops early; None never stops it.
    """

    learning_rate: float
    n_estimators: int
    max_leaf_nodes: int | None
    max_features: int
    l2: float
    min_gain: float
    min_hessian: float
    categorical_smoothing: float
    patience: int | None


@dataclass(frozen=True)
class _Usual:
    """A line of the table in :func:`choose`."""

    rounds: tuple[int, int]  # least and most, in between a fifth of the rows
    leaves: tuple[int, int]  # least and most, in between a row in 25
    columns: float  # this power of all
    share: float  # and this share of them
    l2: float
    min_gain: float  # times 1 / n_classes


_USUAL: dict[Family, _Usual] = {
    "likelihood": _Usual((500, 500), (64, 64), 0.5, 1.0, 1.0, 0.4),
    "numbers": _Usual((200, 1000), (16, 64), 1.0, 0.5, 3.0, 0.0),
    "exact": _Usual((200, 400), (16, 64), 1.0, 0.5, 3.0, 0.0),
}
_RATE, LARGEST_RATE = 0.05, 0.3
_FEWEST_ROUNDS, _MOST_TIMES = 100, 10  # where the rate is given: at least, and times the usual
_ROWS_PER_STEP = 1_000, 4_000  # up to here columns are drawn, from there on all are tried
_A_FEW_HUNDRED = 500
_MANY_ROWS = 10_000  # from here on rows can be spared for validation
_PATIENCE = 10
_ALL_PRICES = 5.0  # steps from which on l2 and min_gain are needed in full,
_LEAST_PRICE = 0.1  # and this part of them for any
_RAREST = 10.0  # counts pay so many times as much, at most
_MIN_HESSIAN = 1e-3


def is_auto(value: Any) -> bool:
    """The value is the word "auto"."""
    return isinstance(value, str) and value == AUTO


def choose(task: Task, given: Given | None = None) -> Settings:
    """Choose all that is not given, jointly with what is.

    Where nothing is given:

    ==========  ========================  =====================  ===========  ==  ===============
    family      rounds                    leaves                 columns      l2  min_gain
    ==========  ========================  =====================  ===========  ==  ===============
    likelihood  500                       64                     root of all  1   0.4 / n_classes
    numbers     n_rows / 5, 200 to 1,000  n_rows / 25, 16 to 64  half         3   0
    exact       n_rows / 5, 200 to 400    n_rows / 25, 16 to 64  half         3   0
    ==========  ========================  =====================  ===========  ==  ===============

    The rate is 0.05 (100 rounds at 0.1, if they are slow). Up to 10,000 rows of numbers get twice
    the rounds at half the rate, if neither is given. And where something is:

    =============  ===========================================================================
    given          the others
    =============  ===========================================================================
    rounds         rate: 0.05 sqrt(usual rounds / rounds), at most 0.3
    rate           rounds: the usual ones * 0.05 / rate, at least 100, at most 10 times as many;
                   patience: 10 rounds, or 0.5 / rate if that is more
    depth          leaves: no limit
    small trees    rate: times sqrt(1 / size), where not given; numbers: half / size columns
    few rounds     numbers: times (100 / rounds)^(1/4) columns, below 100 rounds
    few steps      l2 and min_gain: times (steps / 5)^2, at least a tenth, below 5 steps
    anything       columns: as above up to 1,000 rows per step, more and more beyond that, and
                   from 4,000 on all of them
    =============  ===========================================================================

    A step is ``rate * rounds * size = 1``: what brings a model to what its trees say. The `size` is
    ``log2(leaves) / log2(usual leaves)``, at most 1.

    Parameters
    ----------
    task : Task
    given : Given, optional
        Default: nothing.

    Notes
    -----
    Reasons:

    - Columns are drawn anew at each node, so that trees of many rounds differ and average out.
      Classes do best with as few as in a forest, numbers with more. That keeps a model from
      learning its rows by heart, and it has to be paid for in rounds. A model of few steps and many
      rows is far from that danger, and needs the best split that there is in every round.
    - Half the rate with twice the rounds is 1 % better for numbers, and twice the work.
    - Of few rounds, or small trees, each has to go further; but a rate in proportion would be far
      too large for most tables, as they do not need all that a longer fit adds.
    - Of two columns drawn none may be one that matters, so that 3 are the least (2 for classes in
      tables of less than 500 rows). Few rounds for numbers cannot wait until a column is drawn.
    - A split of pure noise still gains a little log likelihood. Where no split gains more than
      `min_gain`, the fit has found what there is, and the rounds that are left add nothing. So a
      noisy table ends early and a clean one late, without rows held out. With more classes a row's
      loss is shared by more trees, and each asks for less. Losses with a unit have no such scale:
      there the rounds and the leaves grow with the rows.
    - An `l2` of 1 is what four rows or more weigh in log loss, whose second derivative is at most
      1/4; one of 3 is three rows in squared error. `l2`, `min_gain` and `min_hessian` are numbers
      of rows, and are multiplied by what a row is (`unit`). They keep a model from learning its
      rows by heart, which a fit of few steps has no time for: there they only hold it back.
    - `categorical_smoothing` grows with the root of the rows: the order of many categories in a
      large table overfits, while in a small one smoothing hides them.
    - Rare counts are never without noise, however many rows there are: `min_gain` and
      `categorical_smoothing` are divided by what a row tells (`worth`), up to 10 times as much.

    All this was chosen on the tables of the half "tune" in bench/defaults, and, for small tables,
    which that half lacks, on parts of its larger ones, on some of its classes taken for numbers, on
    scikit-learn's data and on tables outside the study (sonar, votes, ecoli, soybean); see
    bench/defaults/RESULTS.md for nothing given, and bench/defaults/GIVEN.md. The losses of "exact",
    of "gamma" and of "tweedie" are not in the study; the first had a short look.

    Tried for many classes and not taken: an `l2` in proportion to 1 / n_classes (no gain, and worse
    with noise), a smaller `min_gain` (clean tables gain 5 to 40 %, noisy ones lose as much, so that
    :mod:`weald.boosting.trial` asks the table), more columns in few rounds (4 % worse, all columns
    14 %, though few of many that matter are found sooner), a `min_hessian` of up to 1/2 (1 %; worse
    in few rounds) and half the rate with twice the rounds (1 % more).

    Examples
    --------
    >>> choose(Task(1000, 10, family="numbers")).max_leaf_nodes
    40
    >>> choose(Task(1000, 10)).max_features
    3
    >>> few_rounds = choose(Task(100_000, 28), Given(n_estimators=100, learning_rate=0.1))
    >>> few_rounds.max_features
    28
    >>> round(choose(Task(1000, 10), Given(n_estimators=20)).learning_rate, 2)
    0.25
    """
    given = Given() if given is None else given
    usual = _USUAL[task.family]
    size = _size(usual, task, given)
    rounds, rate = _rounds_and_rate(usual, task, given, size)
    expected = rounds
    if given.goes_on:
        expected, _ = _rounds_and_rate(usual, task, replace(given, n_estimators=AUTO), size)
    steps = rate * expected * size
    ease = min(1.0, max(_LEAST_PRICE, (steps / _ALL_PRICES) ** 2))
    leaves = None if given.max_depth is not None else _between(usual.leaves, task.n_rows / 25)
    patience = max(_PATIENCE, ceil(0.5 / rate)) if task.n_rows > _MANY_ROWS else None
    rarity = min(_RAREST, 1 / task.worth)
    min_gain = rarity * ease * task.unit * usual.min_gain / task.n_classes
    return Settings(
        learning_rate=rate,
        n_estimators=rounds,
        max_leaf_nodes=_or(given.max_leaf_nodes, leaves),
        max_features=_or(given.max_features, _columns(usual, task, expected, steps, size)),
        l2=_or(given.l2, ease * task.unit * usual.l2),
        min_gain=_or(given.min_gain, min_gain if task.order == 2 else 0.0),
        min_hessian=_or(given.min_hessian, task.unit * _MIN_HESSIAN),
        categorical_smoothing=_or(given.categorical_smoothing, rarity * sqrt(task.n_rows / 200)),
        patience=_or(given.patience, patience),
    )


def _or(given: Any, auto: Any) -> Any:
    return auto if is_auto(given) else given


def _between(limits: tuple[int, int], value: float) -> int:
    low, high = limits
    return min(high, max(low, int(value)))


def _size(usual: _Usual, task: Task, given: Given) -> float:
    """How large trees are, of those that we would choose."""
    largest = log2(_between(usual.leaves, task.n_rows / 25))
    asked = given.max_leaf_nodes
    leaves = inf if asked is None or is_auto(asked) else float(asked)
    depth = inf if given.max_depth is None else given.max_depth
    return min(1.0, log2(leaves) / largest, depth / largest)


def _rounds_and_rate(usual: _Usual, task: Task, given: Given, size: float) -> tuple[int, float]:
    """The two that say how far a fit goes."""
    most, rate = _between(usual.rounds, task.n_rows / 5), _RATE
    if task.slow:
        most, rate = 100, 0.1
    elif _has_time(task, given):
        most, rate = 2 * most, rate / 2
    if not is_auto(given.learning_rate):
        asked = float(given.learning_rate)
        least = min(most, _FEWEST_ROUNDS)
        rounds = _between((least, _MOST_TIMES * most), most * rate / asked)
        return _or(given.n_estimators, rounds), asked
    rounds = int(_or(given.n_estimators, most))
    of = most if given.goes_on else rounds
    return rounds, min(LARGEST_RATE, rate * sqrt(most / of / size))


def _has_time(task: Task, given: Given) -> bool:
    """Small steps pay for numbers, and a small table can afford them."""
    return (
        task.family == "numbers"
        and task.n_rows <= _MANY_ROWS
        and is_auto(given.n_estimators)
        and is_auto(given.learning_rate)
        and not given.goes_on
    )


def _columns(usual: _Usual, task: Task, rounds: int, steps: float, size: float) -> int:
    """Columns tried at each node."""
    d = task.n_columns
    fewest = 3 if task.n_rows >= _A_FEW_HUNDRED or task.family != "likelihood" else 2
    share = usual.share / size
    if task.family != "likelihood":
        share *= max(1.0, (_FEWEST_ROUNDS / rounds) ** 0.25)
    few = min(d, max(fewest, int(min(1.0, share) * d**usual.columns)))
    low, high = _ROWS_PER_STEP
    rows = min(high, max(low, task.worth * task.n_rows / steps))
    more: float = (d / few) ** (log(rows / low) / log(high / low))
    return round(few * more)
