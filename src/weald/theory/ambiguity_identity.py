"""The ambiguity identity: an ensemble errs less than its members by as much as they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weald._engine import FloatArray
from weald.combining import ballots
from weald.params.words import counted
from weald.theory.result import Result
from weald.theory.task import Task, check_opinions, read_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Ambiguity", "ambiguity"]


@dataclass(frozen=True, eq=False)
class Ambiguity(Result):
    """The squared error of a weighted mean, and where it comes from.

    Attributes
    ----------
    model : str
    loss : "squared error" or "Brier score"
    member_errors, member_spreads : arrays of shape (T,)
        Mean error of each member, and its mean squared distance from the ensemble.
    weights : array of shape (T,)
        Of the members, 1 in total.
    mean_member_error, ensemble_error, spread : float
        ``mean_member_error - spread = ensemble_error``, each computed by itself.
    row_spread : array of shape (n,)
        How much the members differ about each row.
    is_the_model : bool
        The model predicts this mean; else it puts its members together in another way.
    """

    model: str
    loss: str
    member_errors: FloatArray
    member_spreads: FloatArray
    weights: FloatArray
    mean_member_error: float
    ensemble_error: float
    spread: float
    row_spread: FloatArray
    is_the_model: bool

    @property
    def share(self) -> float:
        """Share of the members' mean error that averaging takes away."""
        return self.spread / self.mean_member_error if self.mean_member_error > 0 else 0.0

    def columns(self) -> dict[str, Any]:
        """A row for each member."""
        return {
            "member": np.arange(len(self.weights)),
            "weight": self.weights,
            "error": self.member_errors,
            "spread": self.member_spreads,
        }

    def summary(self) -> str:
        """What averaging gains."""
        T = len(self.weights)
        lines = [
            f"{self.model}, {counted(T, 'member')}: the {self.loss} of a member is "
            f"{self.mean_member_error:.4g} on average, that of their mean "
            f"{self.ensemble_error:.4g}. The difference, {self.spread:.4g} ({self.share:.0%}), is "
            "exactly how much members differ."
        ]
        best = int(self.member_errors.argmin())
        if self.member_errors[best] < self.ensemble_error:
            lines.append(
                f"Member {best} alone is better than the ensemble "
                f"({self.member_errors[best]:.4g}): the others differ from it too little to make "
                "up for their errors."
            )
        elif self.share < 0.05:
            lines.append("They hardly differ: more members like these will not help.")
        if not self.is_the_model:
            lines.append(
                f"Here the ensemble is the weighted mean of its members; {self.model} itself puts "
                "them together in another way, for which there is no such identity."
            )
        return " ".join(lines)

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.members import draw_ambiguity

        draw_ambiguity(self, ax)


def ambiguity(ensemble: Any, X: Any, y: Any, sample_weight: Any = None) -> Ambiguity:
    """Mean error of the members = error of their mean + how much they differ.

    Parameters
    ----------
    ensemble : fitted ensemble
        Regressors, or classifiers (by class shares, or votes of members that give none). Not
        gradient boosting, whose trees have no opinions of their own.
    X, y : rows and targets
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    Ambiguity

    Notes
    -----
    For weights w that sum up to 1 and the mean ``m = sum w_t f_t`` of the members, at every row

        sum w_t (f_t - y)²  =  (m - y)²  +  sum w_t (f_t - m)²

    For classes f are the class shares, y is 1 for the right class and 0 for the others, and squares
    are summed up over the classes (the Brier score).

    References
    ----------
    Krogh, A. and Vedelsby, J. (1995). Neural network ensembles, cross validation, and active
    learning. Advances in Neural Information Processing Systems 7.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from weald import RandomForestRegressor
    >>> from weald.theory import ambiguity
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(50, random_state=0).fit(X[::2], y[::2])
    >>> found = ambiguity(forest, X[1::2], y[1::2])
    >>> abs(found.mean_member_error - found.spread - found.ensemble_error) < 1e-9 * found.spread
    True
    """
    task = read_task(ensemble, X, y, sample_weight, notion="ambiguity")
    view = task.view
    check_opinions(view, "ambiguity")
    total = float(view.weights.sum())
    if not total > 0:
        raise ValueError(
            f"The weights of the members of {view.name} sum up to {total:g}, not above 0."
        )
    w = view.weights / total
    return _identity(task, w)


def _identity(task: Task, w: FloatArray) -> Ambiguity:
    view, rows = task.view, task.weights
    numbers = view.kind == "numbers"
    truth = task.y[:, None] if numbers else ballots(task.y, view.n_classes)

    def said() -> Any:  # twice, so that one member is held at a time
        assert view.answers is not None
        for one in view.answers(task.X):
            yield one[:, None] if numbers else one

    mean = np.zeros(truth.shape)
    errors, spreads = np.empty(len(w)), np.empty(len(w))
    for t, one in enumerate(said()):
        mean += w[t] * one
        errors[t] = rows @ ((one - truth) ** 2).sum(axis=1)
    row_spread = np.zeros(len(task))
    for t, one in enumerate(said()):
        apart = ((one - mean) ** 2).sum(axis=1)
        row_spread += w[t] * apart
        spreads[t] = rows @ apart
    return Ambiguity(
        view.name,
        "squared error" if numbers else "Brier score",
        errors,
        spreads,
        w,
        float(w @ errors),
        float(rows @ ((mean - truth) ** 2).sum(axis=1)),
        float(rows @ row_spread),
        row_spread,
        view.combine == "mean",
    )
