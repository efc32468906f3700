"""Margins: how sure a vote is of the rows, and what that says about new rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.params.growth import is_real, refuse
from weald.params.words import counted
from weald.theory import member_game
from weald.theory.margin_bounds import Family, MarginBounds, margin_bounds, tree_family
from weald.theory.result import Result
from weald.theory.task import Task, check_delta, read_task
from weald.theory.view import Codes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Margins", "margins"]

_LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, eq=False)
class Margins(Result):
    """Margins of a weighted vote on the given rows.

    Attributes
    ----------
    model : str
    n_classes : int
    values : array of shape (n,)
        Margin of each row: positive if it is classified correctly, 1 if all members agree on it.
    levels : array of shape (Q,)
    quantiles : array of shape (T, Q)
        Quantiles of the margins of the first 1, 2, ... members.
    mean : array of shape (T,)
        Of those margins.
    best_minimum : float
        The largest minimum margin that weights of the same members can reach: the value of the game
        of members against rows. NaN for sums of several classes' scores.
    best_minimum_upper : float
        A bound above it; the same number, unless the linear program was stopped early.
    best_weights : array of shape (T,)
        Weights of the members, 1 in total, that reach it.
    bounds : MarginBounds or None
        Bounds on the error on new rows; None if nothing is known of the family of the members.
    family : Family or None
    delta : float
        Chance that the bounds fail.
    """

    model: str
    n_classes: int
    values: FloatArray
    levels: FloatArray
    quantiles: FloatArray
    mean: FloatArray
    best_minimum: float
    best_minimum_upper: float
    best_weights: FloatArray
    bounds: MarginBounds | None
    family: Family | None
    delta: float

    @property
    def minimum(self) -> FloatArray:
        """The smallest margin of the first 1, 2, ... members, shape (T,)."""
        return self.quantiles[:, 0]

    @property
    def bound(self) -> float:
        """The best of the bounds on the error on new rows, 1 at most; NaN if there are none."""
        if self.bounds is None:
            return float("nan")
        return float(np.nanmin([*self.bounds.hoeffding, *self.bounds.chernoff, 1.0]))

    def columns(self) -> dict[str, Any]:
        """A row for each number of members."""
        named = {f"quantile_{q:g}": self.quantiles[:, j] for j, q in enumerate(self.levels)}
        rounds = np.arange(1, len(self.minimum) + 1)
        return {"members": rounds, "minimum": self.minimum, "mean": self.mean, **named}

    def summary(self) -> str:
        """What the margins mean."""
        wrong = float((self.values <= 0).mean())
        n, T = len(self.values), len(self.minimum)
        lines = [
            f"{self.model}, {counted(T, 'member')}, {counted(n, 'row')}: {wrong:.2%} of the "
            "margins are not positive "
            f"(errors), the median is {np.median(self.values):.3g}, the smallest "
            f"{self.minimum[-1]:.3g}."
        ]
        if np.isfinite(self.best_minimum):
            low, high = (round(x, 9) + 0.0 for x in (self.best_minimum, self.best_minimum_upper))
            lines.append(
                "Other weights of the same members could raise the smallest margin to "
                f"{low:.3g}, and no higher."
                if high - low < 1e-6
                else "Other weights of the same members can raise the smallest margin to between "
                f"{low:.3g} and {high:.3g}."
            )
        if self.bounds is None or self.family is None:
            lines.append(
                "There is no bound for new rows, as nothing is known of the family the members are "
                "taken from: give log_size or vc_dimension."
            )
        elif self.bound >= 1:
            lines.append(
                f"The margin bounds for new rows ({self.family.name}) are above 1 and say nothing: "
                "they need more rows, larger margins or smaller members."
            )
        else:
            lines.append(
                f"If these are the training rows, then with probability {1 - self.delta:g} the "
                f"error on new rows is at most {self.bound:.3g} ({self.family.name})."
            )
        return " ".join(lines)

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.margins import draw_margins

        draw_margins(self, ax)


def margins(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    log_size: float | None = None,
    vc_dimension: float | None = None,
) -> Margins:
    """Margins of a vote: how many more members are right than wrong about a row.

    Parameters
    ----------
    model : fitted classifier
        Any ensemble. Members of forests and bagging vote, whatever the model makes of their class
        shares; those of boosting that say numbers are scaled to [-1, 1].
    X, y : rows and labels
        The training rows, if the bounds are to hold.
    delta : float, default=0.05
        Chance that the bounds may fail, over the draw of the training rows.
    log_size : float, optional
        ln of the number of functions members are taken from. Default: that of trees with as many
        leaves as the largest member, if members are trees.
    vc_dimension : float, optional
        VC dimension of that family, in its place.

    Returns
    -------
    Margins

    Notes
    -----
    For two classes ``y F / sum |alpha|`` with F = sum alpha h; for more, the share of votes for the
    right class less that for the best other one. :mod:`weald.theory.margin_bounds` has the bounds
    with their reasons, :mod:`weald.theory.member_game` the best minimum margin.

    The number of leaves of the trees is taken for a choice made before the fit (as `max_depth` or
    `max_leaf_nodes` are); for trees without limits give the family you had in mind.

    References
    ----------
    Schapire, R., Freund, Y., Bartlett, P. and Lee, W. S. (1998). Boosting the margin: a new
    explanation for the effectiveness of voting methods. Annals of Statistics 26.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from weald import AdaBoostClassifier
    >>> from weald.theory import margins
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = margins(AdaBoostClassifier(n_estimators=100).fit(X, y), X, y)
    >>> bool(0 < found.minimum[-1] <= found.best_minimum)
    True
    """
    delta = check_delta(delta)
    for name, value in (("log_size", log_size), ("vc_dimension", vc_dimension)):
        if value is not None and not (is_real(value) and 0 < value < np.inf):
            raise refuse(name, "a positive number", value)
    if log_size is not None and vc_dimension is not None:
        raise ValueError("log_size and vc_dimension say the same in two ways: give one of them.")
    task = read_task(
        model, X, y, notion="margins", kind="classes", instead="correlation or ambiguity"
    )
    K, T = task.view.n_classes, task.view.n_members
    votes = task.view.combine in ("votes", "mean", "median", "other")
    if votes:
        said: Any = task.view.votes(X)
        stages = _of_votes(said, task)
    else:
        said = []
        stages = _of_sums(task, said if K == 2 else None)
    levels = np.array(_LEVELS)
    quantiles, mean = np.empty((T, len(levels))), np.empty(T)
    values = np.zeros(len(task))
    for t, values in enumerate(stages):
        quantiles[t], mean[t] = np.quantile(values, levels), values.mean()
    solution = _best(task, said, votes)
    family = _family(task, log_size, vc_dimension, votes)
    return Margins(
        task.view.name,
        K,
        values,
        levels,
        quantiles,
        mean,
        solution.value,
        solution.upper,
        solution.weights,
        None if family is None else margin_bounds(values, family, delta, K),
        family,
        delta,
    )


def _of_votes(votes: Codes, task: Task) -> Iterator[FloatArray]:
    """Margins of the first 1, 2, ... members that vote."""
    K, y, n = task.view.n_classes, task.y, len(task)
    polls, at, total = np.zeros((n, K)), np.arange(n), 0.0
    for vote, weight in zip(votes, task.view.weights, strict=True):
        polls[at, vote] += weight
        total += abs(float(weight))
        margins = member_game.lead(polls, y)
        yield margins / total if total > 0 else margins


def _of_sums(task: Task, kept: list[FloatArray] | None) -> Iterator[FloatArray]:
    """Margins of the first 1, 2, ... terms of a sum; their y h in [-1, 1] are added to `kept`."""
    view, n = task.view, len(task)
    start = np.zeros((n, view.n_classes) if view.n_classes > 2 else n) + view.start(task.X)
    F, total = start.copy(), _reach(start)
    if kept is not None:
        kept.append(_unit(task.signs * start))
    for term, weight in zip(view.terms(task.X), view.weights, strict=True):
        F += weight * term
        total += abs(float(weight)) * _reach(term)
        if kept is not None:
            kept.append(np.sign(weight) * _unit(task.signs * term))
        ahead = task.signs * F if F.ndim == 1 else member_game.lead(F, task.y)
        yield ahead / total if total > 0 else np.zeros(n)


def _reach(term: FloatArray) -> float:
    """By how much a term can put one class ahead of another."""
    if term.ndim == 1:
        return float(np.abs(term).max())
    return float((term.max(axis=1) - term.min(axis=1)).max())


def _unit(s: FloatArray) -> FloatArray:
    most = float(np.abs(s).max())
    return s / most if most > 0 else s


def _best(task: Task, said: Any, votes: bool) -> member_game.Solution:
    view = task.view
    T = view.n_members
    even = np.full(T, 1 / T)
    total = np.abs(view.weights).sum()
    start = np.abs(view.weights) / total if votes and total > 0 else even
    if votes and view.n_classes == 2:
        s: npt.NDArray[np.int8] = np.where(said == task.y, np.int8(1), np.int8(-1))
        return member_game.solve(member_game.Signed(s), start)
    if votes:
        return member_game.solve(member_game.Votes(said, task.y, view.n_classes), start)
    if view.n_classes > 2:
        return member_game.Solution(np.nan, np.nan, np.full(T, np.nan))
    s_of = np.stack(said)
    found = member_game.solve(member_game.Signed(s_of), np.full(T + 1, 1 / (T + 1)))
    return member_game.Solution(found.value, found.upper, found.weights[1:])


def _family(
    task: Task, log_size: float | None, vc_dimension: float | None, votes: bool
) -> Family | None:
    if log_size is not None:
        return Family(f"a family of e^{log_size:g} functions", float(log_size))
    if vc_dimension is not None:
        return Family(f"a family of VC dimension {vc_dimension:g}", np.nan, float(vc_dimension))
    view = task.view
    leaves = view.leaves()
    if leaves is None or (not votes and np.ptp(view.start(task.X), axis=0).any()):
        return None  # members of other kinds, or a start that is no constant
    K = view.n_classes
    family = tree_family(leaves, view.n_columns, K, numbers=not votes)
    if not votes and K > 2:  # a tree for each class
        family = Family(f"{K} {family.name}", K * family.log_size)
    return family
