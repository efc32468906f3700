"""How far to go: what each leaf adds to the scores, before the learning rate.

=============  =================================================================================
newton         ``-sum w g / (sum w h + l2)``, the bottom of the parabola that touches the loss
gradient       ``-sum w g / (sum w + l2)``, what least squares gives
exact          ``argmin_v sum w l(y, F + v)`` over the rows of the leaf
line_search    what the trees were fitted to say, times ``argmin_a sum w l(y, F + a h)``
=============  =================================================================================

By default losses with curvature everywhere take Newton steps. Losses with corners or flat parts,
and losses of the user's own without a second derivative, take exact steps: quantiles, Friedman's
step for Huber, else a search in all leaves at once. With a line search the training loss never
rises.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray, Tree
from weald.boosting.gradients import Gradients
from weald.boosting.learners import GradientForeignLearner, GradientTreeLearner
from weald.boosting.params import GradientParams
from weald.input.row_weights import RowWeights
from weald.losses import Identity, Log, Loss
from weald.losses.base import FAR
from weald.losses.line_search import best_step

__all__ = ["Step", "make_step"]

# From the learning rate to leaf values of the trees of all scores, before that rate. Members of
# other kinds have one "leaf", the factor of what they say.
Find = Callable[[float], list[FloatArray]]

_CLOSE = 1e-9  # of a step that is searched for, relative to its size
_HALVINGS = 40
# Where predictions are exp(F) the parabola may be far too flat: a row of 1,000 where 2 was expected
# asks for a step of 499 instead of ln 500. No step multiplies predictions by more than e^10.
_LONGEST = 10.0
# In a leaf of one class the loss falls for ever, and no other has its bottom so far away. The step
# then ends at log odds of 98 %.
_ENDLESS, _SURE_SCORE = 16.0, 4.0


class Step:
    """How far to go in a round.

    Attributes
    ----------
    endless : bool
        The loss falls all the way along the last step, so that nothing is left to be done.
    """

    endless = False

    def __init__(self, find: Find) -> None:
        self._find = find

    def __call__(self, rate: float) -> list[FloatArray]:
        """Values of the leaves of all trees, before the learning rate."""
        return self._find(rate)


def make_step(
    learner: GradientTreeLearner | GradientForeignLearner,
    gradients: Gradients,
    params: GradientParams,
    monotone: list[int],
) -> Step:
    """The step of every round of gradient boosting.

    Parameters
    ----------
    learner : members in the making
    gradients : Gradients
    params : GradientParams
    monotone : list of -1, 0, 1
        Direction of each column; empty if none has one.
    """
    if isinstance(learner, GradientForeignLearner):
        # A member is fitted to -g / h with the weights w h, or to -g: what it says is the step.
        if params.step != "line_search":
            return Step(lambda rate: learner.factors())
        return Step(lambda rate: _line_search(learner, gradients, learner.factors(), rate))
    return Step(_of_leaves(learner, gradients, params, monotone))


def _of_leaves(
    trees: GradientTreeLearner, gradients: Gradients, params: GradientParams, monotone: list[int]
) -> Find:
    scores = range(gradients.objective.n_raw)
    l2 = params.l2

    def leaves(of: Callable[[int], FloatArray], fitted: bool) -> list[FloatArray]:
        """Values of all leaves; `fitted` if they are what the engine grew the tree by."""
        values = [of(k) for k in scores]
        return _within_monotone_bounds(trees, values, monotone, fitted) if monotone else values

    of_logarithm = isinstance(gradients.objective.link, Log)

    def newton(k: int) -> FloatArray:
        sums = trees.leaf_sums(k)
        values = _ratio(sums[:, 0], sums[:, 1], l2)
        return np.clip(values, -_LONGEST, _LONGEST) if of_logarithm else values

    def gradient(k: int) -> FloatArray:
        sums = trees.leaf_sums(k)
        return _ratio(sums[:, 0], sums[:, 2], l2)

    def exact(k: int) -> FloatArray:
        return _exact(trees, gradients, k)

    if params.step == "exact":
        return lambda rate: leaves(exact, fitted=False)
    if params.step == "line_search":
        of = newton if params.order == 2 else gradient
        return lambda rate: _line_search(trees, gradients, leaves(of, fitted=True), rate)
    if params.step == "newton":
        return lambda rate: leaves(newton, fitted=params.order == 2)
    return lambda rate: leaves(gradient, fitted=params.order == 1)


def _ratio(G: FloatArray, H: FloatArray, l2: float) -> FloatArray:
    """``-G / (H + l2)``; 0 where there is nothing to divide by."""
    if l2 > 0:
        return -G / (H + l2)
    return np.divide(-G, H, out=np.zeros_like(G), where=H > 0)


# --- exact steps ----------------------------------------------------------------------------------


class _Leaves:
    """The rows of the leaves of the tree of score k, for :meth:`weald.losses.Loss.leaf_steps`."""

    def __init__(self, trees: GradientTreeLearner, gradients: Gradients, k: int) -> None:
        self._trees, self._gradients, self._k = trees, gradients, k
        self._y = gradients.y[0 if gradients.objective.joint else k]

    @cached_property
    def rows(self) -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp], FloatArray]:
        """Targets, scores, leaves and weights of the rows that take part."""
        part, leaf, w = self._trees.taking_part(self._k)
        F = self._gradients.raw
        F = F.T if self._gradients.objective.joint else F[self._k]
        return self._y[part], F[part], leaf, w

    def sums(self, parts: Callable[[slice], FloatArray]) -> FloatArray:
        """Weighted sums over the rows of each leaf, of what a function says block by block."""
        _, _, leaf, w = self.rows

        def work(block: slice) -> FloatArray:
            total = np.bincount(leaf[block], w[block] * parts(block), self._trees.n_leaves(self._k))
            return total.astype(np.float64, copy=False)

        blocks = self._gradients.in_blocks(len(leaf), work)
        total: FloatArray = np.sum(blocks, axis=0, dtype=np.float64)
        return total

    def quantiles(self, q: float) -> FloatArray:
        """Weighted quantile of ``y - F`` in each leaf."""
        return self._trees.leaf_quantiles(self._k, self._y, q)

    def means(self, of: Callable[[FloatArray], FloatArray], centre: FloatArray) -> FloatArray:
        """Weighted mean in each leaf of a function of ``y - F - centre``."""
        y, F, leaf, _ = self.rows
        total = self.sums(lambda b: of(y[b] - F[b] - centre[leaf[b]]))
        return total / self.sums(lambda b: np.ones(len(leaf[b])))


def _exact(trees: GradientTreeLearner, gradients: Gradients, k: int) -> FloatArray:
    """The best step of each leaf of score k, the other scores as they are."""
    joint, leaves = gradients.objective.joint, _Leaves(trees, gradients, k)
    loss = gradients.losses[0 if joint else k]
    steps = None if joint else loss.leaf_steps(leaves)
    if steps is not None:
        return steps
    y, F, leaf, _ = leaves.rows
    sums = leaves.sums

    def moved(v: FloatArray, block: slice) -> FloatArray:
        if not joint:
            return F[block] + v[leaf[block]]
        scores = F[block].copy()
        scores[:, k] += v[leaf[block]]
        return scores

    def slope(v: FloatArray, block: slice) -> FloatArray:
        g = loss.gradient(y[block], moved(v, block))
        return g[:, k] if joint else g

    def slopes(v: FloatArray) -> FloatArray:
        return sums(lambda block: slope(v, block))

    def risks(v: FloatArray) -> FloatArray:
        return sums(lambda block: loss.value(y[block], moved(v, block)))

    first, reach = 1.0, FAR
    if loss.kind == "regression" and isinstance(loss.link, Identity):
        first = float(np.abs(y - F).mean()) or 1.0
        reach = 1e9 * first
    found = _bottoms(slopes, trees.n_leaves(k), first, reach)
    if loss.kind != "regression":
        found = np.where(np.abs(found) > _ENDLESS, np.copysign(_SURE_SCORE, found), found)
    return found if loss.convex else _halved_until_lower(risks, found)


def _bottoms(
    slopes: Callable[[FloatArray], FloatArray], n: int, first: float, reach: float
) -> FloatArray:
    """Where n convex functions are least, from their slopes, all at once and starting from 0.

    Doubling until the slope changes its sign, then the Illinois method (Dowell & Jarratt 1971).

    Examples
    --------
    >>> _bottoms(lambda v: v - np.array([3.0, -0.5]), 2, 1.0, 100.0).round(9)
    array([ 3. , -0.5])
    """
    a, at_a = np.zeros(n), slopes(np.zeros(n))
    b = -first * np.sign(at_a)
    at_b = slopes(b)
    while (falls := (at_a * at_b > 0) & (np.abs(b) < reach)).any():
        a, at_a = np.where(falls, b, a), np.where(falls, at_b, at_a)
        b = np.where(falls, np.clip(2 * b, -reach, reach), b)
        at_b = np.where(falls, slopes(b), at_b)
    between = at_a * at_b < 0
    for _ in range(100):
        if not between.any():
            break
        gap = np.where(between, at_b - at_a, 1.0)
        c = np.where(between, b - at_b * (b - a) / gap, b)
        at_c = np.where(between, slopes(c), at_b)
        across = at_c * at_b < 0
        still = between & (np.abs(c - b) > _CLOSE * (np.abs(c) + _CLOSE * first)) & (at_c != 0)
        a, at_a = np.where(across, b, a), np.where(across, at_b, at_a / 2)
        b, at_b = c, at_c
        between = still
    return b


def _halved_until_lower(risks: Callable[[FloatArray], FloatArray], found: FloatArray) -> FloatArray:
    """Halve steps that raise the loss, as they may where it is not convex; 0 if all do."""
    here = risks(np.zeros_like(found))
    for _ in range(_HALVINGS):
        worse = ~(risks(found) <= here)
        if not worse.any():
            return found
        found = np.where(worse, found / 2, found)
    return np.where(worse, 0.0, found)


# --- line search ----------------------------------------------------------------------------------


class _InColumns(Loss):
    """A loss of several scores whose value is a column, so that weights in a column multiply it."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss
        self.name, self.kind, self.convex = loss.name, loss.kind, loss.convex
        self.link = loss.link

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        return self._loss.value(y, F)[:, None]

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        return self._loss.gradient(y, F)


def _line_search(
    learner: GradientTreeLearner | GradientForeignLearner,
    gradients: Gradients,
    values: list[FloatArray],
    rate: float,
) -> list[FloatArray]:
    """Values times the best common factor, such that the training loss does not rise.

    One factor for each loss, so that several losses do not hold each other back.
    """
    n = gradients.raw.shape[1]
    rows = RowWeights(gradients.weights, n)
    h = learner.said(values)
    if gradients.objective.joint:
        loss, y, F = _InColumns(gradients.losses[0]), gradients.y[0], gradients.raw.T
        factor = _factor(loss, y, F, h.T, -gradients.gradients.T, rows, rate)
        return [factor * of_score for of_score in values]
    return [
        of_score * _factor(loss, y, gradients.raw[k], h[k], -gradients.gradients[k], rows, rate)
        for k, (loss, y, of_score) in enumerate(
            zip(gradients.losses, gradients.y, values, strict=True)
        )
    ]


def _factor(
    loss: Loss,
    y: FloatArray,
    F: FloatArray,
    h: FloatArray,
    r: FloatArray,
    rows: RowWeights,
    rate: float,
) -> float:
    if not r.any():
        return 0.0
    length = best_step(loss, y, F, h, r, rows, 0.0).length
    here = rows.sum(loss.value(y, F))
    for _ in range(_HALVINGS):  # the first time, unless the rate is above 1 or the loss not convex
        if rows.sum(loss.value(y, F + rate * length * h)) <= here:
            return length
        length /= 2
    return 0.0


# --- monotone columns -----------------------------------------------------------------------------


def _within_monotone_bounds(
    trees: GradientTreeLearner, values: list[FloatArray], monotone: list[int], fitted: bool
) -> list[FloatArray]:
    """Values within the bounds of monotone columns.

    The bounds of the engine are those of the values it grew the tree by. For other values new
    ones are found (:func:`_hold_monotone`).
    """
    if fitted:
        bounds = (trees.bounds(k) for k in range(len(values)))
        return [
            value if bound is None else np.clip(value, bound[:, 0], bound[:, 1])
            for value, bound in zip(values, bounds, strict=True)
        ]
    weights = (trees.leaf_sums(k)[:, 2] for k in range(len(values)))
    shapes = trees.shapes()
    return [
        _hold_monotone(shape, value, weight, monotone)
        for shape, value, weight in zip(shapes, values, weights, strict=True)
    ]


def _hold_monotone(
    tree: Tree, values: FloatArray, weights: FloatArray, monotone: list[int]
) -> FloatArray:
    """Cut leaf values so that no test of a monotone column has a larger value on its lower side.

    At such a test both sides are kept apart by the middle of their means, from the root down.
    Rows that differ in the monotone column alone part at one of these tests.
    """
    n = tree.node_count
    mass, mean = np.zeros(n), np.zeros(n)
    leaf = tree.is_leaf
    mass[leaf], mean[leaf] = weights, values
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for node in range(n - 1, -1, -1):  # children come after their parent
        if not leaf[node]:
            yes, no = node + 1, int(tree.children_right[node])
            mass[node] = mass[yes] + mass[no]
            both = mass[yes] * mean[yes] + mass[no] * mean[no]
            mean[node] = both / mass[node] if mass[node] > 0 else 0.0
    for node in range(n):
        if leaf[node]:
            continue
        yes, no = node + 1, int(tree.children_right[node])
        low[yes] = low[no] = low[node]
        high[yes] = high[no] = high[node]
        direction = monotone[int(tree.feature[node])]
        if direction:
            sides = (float(np.clip(mean[side], low[node], high[node])) for side in (yes, no))
            middle = sum(sides) / 2
            lower, upper = (yes, no) if direction > 0 else (no, yes)
            high[lower], low[upper] = middle, middle
    return np.clip(values, low[leaf], high[leaf])
