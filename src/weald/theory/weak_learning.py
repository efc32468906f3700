"""Weak learnability: the edge that some stump has under every weighting of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from weald._engine import FloatArray
from weald.input.labels import encode_labels
from weald.members.foreign import check_member, fit_member, make_member, takes_weights
from weald.params.growth import check_count, is_real, refuse, resolve_seed
from weald.theory.boosting_game import Solution, solve_game
from weald.theory.result import Result
from weald.theory.stumps import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["WeakLearnability", "weak_learnability"]

_ZERO = 1e-9  # rounding of the linear program


@dataclass(frozen=True, eq=False)
class WeakLearnability(Result):
    """Bounds on the edge that a learner has under every weighting; by :func:`weak_learnability`."""

    learner: str
    """Name of the weak learner."""
    lower: FloatArray
    """After each round, an edge that some function has under every weighting of the rows."""
    upper: FloatArray
    """After each round, the best edge under the hardest weighting found so far."""
    weights: FloatArray
    """That weighting, shape (n,)."""
    margins: FloatArray
    """Margins of the rows in the best mixture found, shape (n,); none is below 2 `lower[-1]`."""
    n_functions: int
    """Functions in that mixture."""
    searched: bool
    """Whether each best edge is that of all functions there are, or of what a fit gave."""

    @property
    def gap(self) -> float:
        """What the bounds leave open."""
        return float(self.upper[-1] - self.lower[-1])

    @property
    def separable(self) -> bool | None:
        """Whether a mixture classifies all rows; None if the bounds leave it open."""
        if self.lower[-1] > _ZERO:
            return True
        return False if self.searched and self.upper[-1] <= _ZERO else None

    def summary(self) -> str:
        """What the numbers mean, in plain words; also which of them say nothing."""
        n, low, high = len(self.weights), float(self.lower[-1]), float(self.upper[-1])
        hard = int(np.count_nonzero(self.weights > 1e-3 / n))
        if self.gap <= 5e-4:
            text = f"The edge of {self.learner} on these {n} rows is {(low + high) / 2:.4f}: "
        else:
            text = (
                f"The edge of {self.learner} on these {n} rows is between {low:.4f} and "
                f"{high:.4f}: "
            )
        if self.separable:
            rounds = floor(log(n) / (2 * low**2)) + 1 if low > 1e-6 else None
            text += (
                f"under every weighting one of them errs on at most {0.5 - low:.2%} of the weight. "
                f"A weighted vote of {self.n_functions} of them classifies every row right, with "
                f"margins of at least {2 * low:.4f}"
            )
            text += (
                f", and AdaBoost gets there in at most {rounds:,} rounds. "
                if rounds is not None
                else ". "
            )
            if high < 0.01:
                text += (
                    "But an edge this small is hardly more than chance: boosting them would "
                    "need very many rounds, and fit noise. "
                )
        elif self.separable is False:
            text += (
                f"there are weights, on {hard} rows, under which none is better than chance. No "
                "vote of them classifies all rows right, and boosting cannot bring the training "
                "error to 0; look at those rows, or boost deeper trees. "
            )
        elif self.searched:
            text += (
                f"under the hardest weights found the best one errs on {0.5 - high:.2%} of the "
                "weight. Whether a vote of them classifies all rows right is not settled; more "
                "rounds or rows may tell. "
            )
        else:
            text += (
                f"in the hardest weighting it met, it erred on {0.5 - high:.2%} of the weight. "
                "Other weights may be harder still. "
            )
        if not self.searched:
            text += (
                "The upper number is about this learner's fits, which need not be the best "
                "functions of its kind. "
            )
        return text.rstrip()

    def columns(self) -> Mapping[str, Any]:
        """The bounds after each round."""
        return {
            "round": np.arange(1, len(self.lower) + 1),
            "edge, at least": self.lower,
            "edge, at most": self.upper,
        }

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.complexity import draw_edge_bounds

        draw_edge_bounds(self, ax)


def weak_learnability(
    X: Any,
    y: Any,
    *,
    learner: Any = "stumps",
    tolerance: float = 0.005,
    max_rounds: int = 50,
    max_rows: int = 500,
    random_state: Any = None,
) -> WeakLearnability:
    """The smallest best edge over all weightings of the rows: the value of the boosting game.

    With weights w on the rows, the edge of a function h is ``1/2 - (weight where h is wrong)``. The
    weak learning assumption says that some edge is reached under every w. The best such edge is

        gamma = min over w of max over h of edge(w, h),

    and ``2 gamma`` is the largest margin that all rows can have in a vote of such functions. So
    gamma > 0 if and only if some vote classifies all rows right (Freund & Schapire 1996), and then
    AdaBoost does after more than ``ln(n) / (2 gamma^2)`` rounds.

    With a column of many different values stumps always have some edge, about 1/n or more, as a
    vote of very many of them can follow any labels. It is the size that matters.

    Parameters
    ----------
    X : table of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes.
    learner : "stumps" or a classifier
        With stumps the engine finds the best one under given weights, so that both bounds are
        proven. A classifier that takes weights plays against multiplicative weights; it gives
        `lower`, an edge its functions do have, and `upper`, the smallest edge it was seen to have.
    tolerance : float
        Rounds end when the bounds are this close.
    max_rounds : int
        Of linear programs, or of fits.
    max_rows : int
        Rows that the linear program may hold; of larger tables it holds those that matter. More of
        them may bring the bounds closer, and take longer.
    random_state : int, optional
        Of a classifier.

    Returns
    -------
    WeakLearnability

    References
    ----------
    Y. Freund & R. E. Schapire (1996), Game theory, on-line prediction and boosting, COLT.

    Examples
    --------
    In one column the labels ``0 1 0`` need two cuts: two stumps, less a constant.

    >>> found = weak_learnability([[0], [1], [2]], [0, 1, 0])
    >>> found.lower[-1].round(6), found.upper[-1].round(6)
    (np.float64(0.166667), np.float64(0.166667))
    """
    if not (is_real(tolerance) and 0 < tolerance < 1):
        raise refuse("tolerance", "a number between 0 and 1", tolerance)
    max_rounds = check_count("max_rounds", max_rounds, least=1)
    max_rows = check_count("max_rows", max_rows, least=1)
    signs = _signs(y, _num_samples(X))
    if isinstance(learner, str):
        if learner != "stumps":
            raise refuse("learner", '"stumps" or a classifier', learner)
        solution = solve_game(
            read_table(X),
            signs,
            tolerance=2 * tolerance,
            max_rounds=max_rounds,
            max_rows=max_rows,
        )
        name = "decision stumps"
    else:
        solution = _play(learner, X, signs, 2 * tolerance, max_rounds, resolve_seed(random_state))
        name = type(learner).__name__
    return WeakLearnability(
        name,
        solution.lower / 2,
        solution.upper / 2,
        solution.weights,
        solution.margins,
        solution.n_functions,
        isinstance(learner, str),
    )


def _signs(y: Any, n: int) -> npt.NDArray[np.int8]:
    labels = encode_labels(y, n)
    if labels.multi_output or len(labels.classes[0]) != 2:
        found = "several outputs" if labels.multi_output else f"{len(labels.classes[0])}"
        raise ValueError(
            f"weak_learnability needs y with two classes, got {found}: compare one class with the "
            "others, as in y == label."
        )
    return (2 * labels.codes[:, 0] - 1).astype(np.int8)


def _play(
    learner: Any, X: Any, y: npt.NDArray[np.int8], tolerance: float, rounds: int, seed: int
) -> Solution:
    """Multiplicative weights against a learner (Freund & Schapire 1996).

    Weights fall by ``exp(-rate y h)``. After T rounds with rate ``sqrt(2 ln(n) / T)``, the mean of
    the functions has margins that are at most ``sqrt(2 ln(n) / T)`` below the mean reward.
    """
    check_member(learner)
    if not takes_weights(learner, routed=False):
        raise ValueError(
            f"{type(learner).__name__} takes no sample_weight, so rows cannot be reweighted for it."
        )
    n = len(y)
    rate = np.sqrt(2 * log(n) / rounds)
    total = np.zeros(n)
    hardest, best_margins, n_functions = np.full(n, 1 / n), np.zeros(n), 0
    lower, upper = [-1.0], [1.0]
    for t in range(1, rounds + 1):
        weights = np.exp(-rate * (total - total.min()))
        weights /= weights.sum()
        member = fit_member(make_member(learner, seed + t), X, y, weights, routed=False)
        agree = y * np.asarray(member.predict(X))
        reward = float(weights @ agree)
        total += agree
        if reward < upper[-1]:
            hardest = weights
        if total.min() / t > lower[-1]:
            best_margins, n_functions = total / t, t
        lower.append(max(lower[-1], float(total.min()) / t))
        upper.append(min(upper[-1], reward))
        if upper[-1] - lower[-1] <= tolerance:
            break
    return Solution(np.array(lower[1:]), np.array(upper[1:]), hardest, best_margins, n_functions)
