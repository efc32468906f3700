"""The boosting game, solved by linear programming on a part of its rows and columns at a time.

One player weighs the rows, the other one picks a stump h for a reward of ``sum_i w_i y_i h(x_i)``.
The value of the game is

    v = min over w of max over h of sum_i w_i y_i h(x_i)
      = max over a of min over i of y_i sum_h a_h h(x_i),        w, a >= 0 and summing to 1

(von Neumann's theorem; Freund & Schapire 1996). A table has many stumps and many rows, but few of
each decide: the linear program of some rows and some stumps gives weights w and a mixture a. The
engine finds the best stump under w: its reward is an upper bound on v, as w is one way to weigh all
rows. The least margin of the mixture over all rows is a lower bound. The best stumps, and the rows
of the least margins, join the program until the bounds meet (Gilmore & Gomory 1961; for boosting
Demiriz, Bennett & Shawe-Taylor 2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.input.table import Table
from weald.theory.matrix_game import solve_matrix_game
from weald.theory.stumps import StumpSearch

__all__ = ["Solution", "solve_game"]

_WARM = 60  # rounds of AdaBoost before the first program, whose stumps it has
_PART = 10_000  # rows of larger tables with which AdaBoost begins
_LONG = 240  # rounds before these: with fewer rows there is time for more
_FIRST = 100  # rows the first program has of each class
_MORE = 100  # rows that join at a time
_CROWD = 400  # stumps beyond which those leave that are
_IDLE = 0.05  # this far below the value
_ROUNDING = 1e-12  # a reward that is 1 but for this is 1
_SMOOTH = 0.5  # part of the best weights so far in those that are asked

Signs = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Solution:
    """Bounds on the value after each round, and what attains them."""

    lower: FloatArray
    upper: FloatArray
    weights: FloatArray
    """Weights of the rows under which no stump has a larger reward than `upper`."""
    margins: FloatArray
    """Margins of the rows in the mixture, none of them below `lower`."""
    n_functions: int
    """Functions in the mixture."""


def solve_game(
    table: Table, y: Signs, *, tolerance: float, max_rounds: int, max_rows: int
) -> Solution:
    """Bound the value of the game for labels `y` of +-1.

    Rounds end when the bounds are within the tolerance, and when the program would need more than
    `max_rows` rows. The value is 0 at least: a stump and its opposite make a mixture of margins 0.
    """
    n = len(y)
    signs, hardest, reward = _warm_up(table, y)
    rows = _first_rows(y, hardest)
    best_margins, n_stumps = np.zeros(n), 2
    lower, upper = [0.0], [reward]
    for _ in range(max_rounds):
        part = solve_matrix_game(signs[:, rows])
        value, mixture = part.value, part.mixture
        corner = np.zeros(n)
        corner[rows] = part.weights
        # Weights at a corner of the program jump about; those on the way to it from the best ones
        # so far make better stumps (Wentges 1997). Where these are no news, the corner is asked.
        least = upper[-1]
        for weights in (_SMOOTH * hardest + (1 - _SMOOTH) * corner, corner):
            news, reward = _best_stumps(table, y, weights, corner, value + tolerance / 4)
            if reward < least:
                hardest, least = weights, reward
            if len(news):
                break
        used = mixture > 0
        margins = mixture[used] @ signs[used]
        if margins.min() > lower[-1]:
            best_margins, n_stumps = margins, int(used.sum())
        lower.append(max(lower[-1], float(margins.min())))
        upper.append(max(least, lower[-1]))  # rounding may cross them
        low = np.argsort(margins, kind="stable")[:_MORE]
        low = np.setdiff1d(low[margins[low] < value - tolerance / 4], rows)
        if upper[-1] - lower[-1] <= tolerance or len(rows) + len(low) > max_rows:
            break
        rows = np.append(rows, low)
        if len(signs) > _CROWD:
            kept = signs @ corner > value - _IDLE
            kept[:2] = True  # the constants, without which the value might be negative
            signs = signs[kept]
        signs = np.concatenate([signs, news])
    return Solution(np.array(lower), np.array(upper), hardest, best_margins, n_stumps)


def _warm_up(table: Table, y: Signs) -> tuple[Signs, FloatArray, float]:
    """AdaBoost: y h of its stumps and of the constants, its hardest weights, and their reward.

    Of all cheap ways to find weights under which every stump is poor this one is the best: it
    weighs the rows that the stumps so far get wrong. Weights may be 0, so that those of a part of
    the rows do as well, and the edges of AdaBoost fall with the number of rounds.
    """
    rows = _part(y)
    some = table if len(rows) == len(y) else Table(table.X[rows], table.categories)
    search, truth = StumpSearch.of(some), y[rows]
    weights = np.full(len(rows), 1 / len(rows))
    hardest, least = weights, 1.0
    stumps = []
    for _ in range(_WARM if len(rows) == len(y) else _LONG + _WARM):
        stumps.append(search.best(weights * truth))
        agree = truth * search.signs(stumps[-1])
        reward = float(weights @ agree)
        if reward < least:
            hardest, least = weights, reward
        if not 0 < reward < 1 - _ROUNDING:
            break
        weights = weights / (1 + agree * reward)  # those of AdaBoost's next round, but for rounding
        weights /= weights.sum()
    signs = [y * search.signs(stump, table.X).astype(np.int8) for stump in stumps[-_WARM:]]
    on_all = np.zeros(len(y))
    on_all[rows] = hardest
    return np.stack([y, -y, *signs]), on_all, max(least, 0.0)


def _part(y: Signs) -> npt.NDArray[np.intp]:
    """All rows, or of large tables some of both classes."""
    if len(y) <= _PART:
        return np.arange(len(y))
    order = np.random.default_rng(0).permutation(len(y))
    return np.sort(np.concatenate([order[y[order] == sign][: _PART // 2] for sign in (-1, 1)]))


def _first_rows(y: Signs, hardest: FloatArray) -> npt.NDArray[np.intp]:
    """Rows of both classes, those that weigh most."""
    order = np.argsort(-hardest, kind="stable")
    return np.concatenate([order[y[order] == sign][:_FIRST] for sign in (-1, 1)])


def _best_stumps(
    table: Table, y: Signs, weights: FloatArray, corner: FloatArray, value: float
) -> tuple[Signs, float]:
    """The best stump of each column, and the largest reward under the weights.

    Of the stumps those are given, as y h of all rows, whose reward in the corner is above `value`.
    """
    rows = np.flatnonzero(weights)
    signed, signed_corner = weights[rows] * y[rows], corner[rows] * y[rows]
    rewards, news = [], []
    for j, categories in enumerate(table.categories):
        search = StumpSearch.of(Table(table.X[rows, j : j + 1], (categories,)))
        stump = search.best(signed)
        h = search.signs(stump)
        rewards.append(float(signed @ h))
        if signed_corner @ h > value:
            all_rows = search.signs(stump, np.ascontiguousarray(table.X[:, j : j + 1]))
            news.append((y * all_rows).astype(np.int8))
    return np.array(news, dtype=np.int8).reshape(-1, len(y)), max(rewards)
