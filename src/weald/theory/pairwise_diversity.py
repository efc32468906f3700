"""How much the members of a classifier differ, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.theory.result import Result
from weald.theory.task import read_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Diversity", "diversity"]

_ROWS = 16384  # at a time: the 0/1 matrices of a block stay small
Pairs = npt.NDArray[np.intp]
MEASURES = ("disagreement", "q", "correlation", "kappa", "double_fault")


@dataclass(frozen=True, eq=False)
class Diversity(Result):
    """Pairwise measures of how members differ.

    Attributes
    ----------
    model : str
    errors : array of shape (T,)
        Of each member.
    vote_error : float
        Of their weighted vote.
    disagreement : array of shape (T, T)
        Share of rows where one of two members is right and the other wrong.
    q : array of shape (T, T)
        Yule's Q of being right: 1 if they are right about the same rows, 0 if independent.
    correlation : array of shape (T, T)
        Correlation of being right; NaN for members that are always, or never, right.
    kappa : array of shape (T, T)
        Agreement about the class beyond chance.
    double_fault : array of shape (T, T)
        Share of rows where both are wrong.
    """

    model: str
    errors: FloatArray
    vote_error: float
    disagreement: FloatArray
    q: FloatArray
    correlation: FloatArray
    kappa: FloatArray
    double_fault: FloatArray

    @property
    def pairs(self) -> tuple[Pairs, Pairs]:
        """The numbers of the members of each pair, the smaller one first."""
        return np.triu_indices(len(self.errors), 1)

    def mean(self, measure: str) -> float:
        """Mean of a measure over the pairs that have it; NaN if none has."""
        values = getattr(self, measure)[self.pairs]
        known = np.isfinite(values)
        return float(values[known].mean()) if known.any() else float("nan")

    def columns(self) -> dict[str, Any]:
        """A row for each pair of members."""
        first, second = self.pairs
        return {
            "first": first,
            "second": second,
            "mean_error": (self.errors[first] + self.errors[second]) / 2,
            **{name: getattr(self, name)[self.pairs] for name in MEASURES},
        }

    def summary(self) -> str:
        """How different the members are."""
        T = len(self.errors)
        if T == 1:
            return f"{self.model} has one member, which errs on {self.errors[0]:.2%} of the rows."
        lines = [
            f"{self.model}, {T} members: a member errs on {self.errors.mean():.2%} of the rows, "
            f"their vote on {self.vote_error:.2%}. Two members disagree on being right in "
            f"{self.mean('disagreement'):.2%} of the rows and are wrong together in "
            f"{self.mean('double_fault'):.2%}."
        ]
        named = {"kappa": "kappa", "correlation": "correlation of errors", "q": "Q"}
        means = [
            f"{name} {value:.3g}"
            for measure, name in named.items()
            if np.isfinite(value := self.mean(measure))
        ]
        if means:
            lines.append(f"Means over the pairs: {', '.join(means)}.")
        rho = self.mean("correlation")
        if rho > 0.8:
            lines.append("They err on the same rows: a vote can correct little.")
        elif rho < 0.1:
            lines.append("Their errors have little to do with each other: a vote corrects most.")
        return " ".join(lines)

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.members import draw_diversity

        draw_diversity(self, ax)


def diversity(ensemble: Any, X: Any, y: Any) -> Diversity:
    """Disagreement, Q, correlation of errors, kappa and double faults of all pairs of members.

    Parameters
    ----------
    ensemble : fitted classifier
        A round of gradient boosting votes for the class that it raises most.
    X, y : rows and labels
        Rows the members have not seen; on those they were fitted to, all look alike.

    Returns
    -------
    Diversity

    Notes
    -----
    For two members let a, b, c, d be the shares of rows where both are right, only the first, only
    the second, none. Then disagreement = b + c, double fault = d, Q = (ad - bc) / (ad + bc), the
    correlation is (ad - bc) / sqrt((a+b)(c+d)(a+c)(b+d)); and kappa = (s - e) / (1 - e) for the
    share s of rows where both say the same class, and e what independent members with the same
    frequencies of classes would have. All come from products of 0/1 matrices.

    References
    ----------
    Kuncheva, L. and Whitaker, C. (2003). Measures of diversity in classifier ensembles and their
    relationship with the ensemble accuracy. Machine Learning 51.
    Margineantu, D. and Dietterich, T. (1997). Pruning adaptive boosting. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from weald import RandomForestClassifier
    >>> from weald.theory import diversity
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> found = diversity(forest, X[1::2], y[1::2])
    >>> bool(found.vote_error < found.errors.mean())
    True
    """
    task = read_task(
        ensemble, X, y, notion="diversity", kind="classes", instead="correlation or ambiguity"
    )
    votes, view, n = task.view.votes(X), task.view, len(task)
    T, K = votes.shape[0], view.n_classes
    both_right, same = np.zeros((T, T)), np.zeros((T, T))
    frequencies, wrong = np.zeros((T, K)), 0
    for begin in range(0, n, _ROWS):
        rows = slice(begin, begin + _ROWS)
        part, truth = votes[:, rows], task.y[rows]
        right = (part == truth).astype(np.float32)
        both_right += right @ right.T  # exact: whole numbers below 2^24
        polls = np.zeros((part.shape[1], K))
        for k in range(K):
            for_k = (part == k).astype(np.float32)
            same += for_k @ for_k.T
            frequencies[:, k] += for_k.sum(axis=1)
            polls[:, k] = view.weights @ for_k
        wrong += int((polls.argmax(axis=1) != truth).sum())
    a = both_right / n
    accuracy = np.diag(a)
    b, c = accuracy[:, None] - a, accuracy[None, :] - a
    d = 1 - a - b - c
    chance = (frequencies / n) @ (frequencies / n).T
    spread = accuracy * (1 - accuracy)
    return Diversity(
        view.name,
        1 - accuracy,
        wrong / n,
        b + c,
        _ratio(a * d - b * c, a * d + b * c),
        _ratio(a * d - b * c, np.sqrt(np.outer(spread, spread))),
        _ratio(same / n - chance, 1 - chance),
        d,
    )


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """NaN where it is not defined."""
    out = np.full(above.shape, np.nan)
    np.divide(above, below, out=out, where=np.abs(below) > 1e-15)
    return out
