"""How alike the members of a forest are, and what that leaves for more of them to gain.

For a mean of B identically distributed numbers with variance s² and pairwise correlation rho

    Var(mean of B) = rho s² + (1 - rho) s² / B          (Hastie, Tibshirani & Friedman, ESL, 15.1)

More members remove the second term; the first is the floor. In ESL the numbers are predictions at
one point x, over training sets and trees. Of one forest, fitted to one training set, the trees are
known but not the training sets: given the data its trees are independent at every x. So here the
numbers are what members say of a row drawn at random: s² is the mean variance of a member over the
rows, rho s² the mean covariance of two different members. These are the estimates from all pairs.
The formula then is an identity, for the mean over all choices of B members, and the measured curve
shows groups of B in the order of the members. With targets the numbers are the errors y - f(x), not
centred, s² is the mean squared error of a member, and the floor rho s² that of an infinite forest
(Breiman 2001, theorem 11.2).

At each x the variance of the members given the data, v(x), tells how far a forest of B members is
from an infinite one: v(x) / B. (`weald.theory.stability` is about other training sets.)

For classes, Breiman (2001, section 2.2) bounds the error by strength and correlation. With
``mr = P(h = y) - P(h = j)`` over the members, j the best other class, strength is s = E mr, and

    error <= Var(mr) / s² <= rho (1 - s²) / s²,       rho = Var(mr) / (E sd)²

by Chebyshev's inequality; sd is the standard deviation of ``1[h = y] - 1[h = j]`` of one member.
Means over the members are weighted, if the model weighs its members. On given rows all of this is
exact. Out-of-bag every row has members of its own, so that the second step, and rho <= 1, hold only
up to chance: with few members Var(mr) is too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.params.growth import check_choice
from weald.theory.result import Result
from weald.theory.task import ROWS, Task, check_opinions, read_model, read_task
from weald.theory.view import EnsembleView

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Correlation", "Strength", "correlation"]


@dataclass(frozen=True, eq=False)
class Correlation(Result):
    """Variance of means of a forest's members.

    Attributes
    ----------
    model : str
    of_errors : bool
        Of errors y - f(x) (mean squares), or of predictions (variances over rows).
    rho, sigma2 : float
        Mean covariance of two members divided by the mean variance of one, and that.
    sizes : array
        Numbers B of members.
    measured : array
        The mean over disjoint groups of B members.
    matrix : array of shape (T, T)
        Correlation of each pair of members.
    row_variance : array of shape (n,)
        Variance of the members at each row, given the data.
    is_the_model : bool
        The model predicts the plain mean; else it puts its members together in another way.
    """

    model: str
    of_errors: bool
    rho: float
    sigma2: float
    sizes: npt.NDArray[np.intp]
    measured: FloatArray
    matrix: FloatArray
    row_variance: FloatArray
    is_the_model: bool

    @property
    def predicted(self) -> FloatArray:
        """What the formula says for each B: ``rho s² + (1 - rho) s² / B``."""
        return self.rho * self.sigma2 + (1 - self.rho) * self.sigma2 / self.sizes

    @property
    def floor(self) -> float:
        """What is left with infinitely many members: rho s²."""
        return self.rho * self.sigma2

    def columns(self) -> dict[str, Any]:
        """A row for each number of members."""
        return {"members": self.sizes, "predicted": self.predicted, "measured": self.measured}

    def summary(self) -> str:
        """What more members could gain."""
        T = len(self.matrix)
        what = "mean squared error" if self.of_errors else "variance of the predictions over rows"
        now = self.predicted[-1]
        gain = (now - self.floor) / now if now > 0 else 0.0
        error = float(np.sqrt(self.row_variance.mean() / T))
        line = (
            f"{self.model}, {T} members: the {what} of one member is {self.sigma2:.4g}, two "
            f"members correlate with {self.rho:.3f}, so the mean of all has {now:.4g} and that of "
            f"infinitely many would have {self.floor:.4g}: more members would lower it by "
            f"{gain:.1%} at most. At a row, the prediction is {error:.3g} (standard deviation) "
            "from that of an infinite forest of the same data."
        )
        if not self.is_the_model:
            line += (
                f" This is about the plain mean of the members; {self.model} itself puts them "
                "together in another way."
            )
        return line

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.members import draw_correlation

        draw_correlation(self, ax)


@dataclass(frozen=True, eq=False)
class Strength(Result):
    """Breiman's strength and correlation of a forest of classifiers.

    Attributes
    ----------
    model : str
    out_of_bag : bool
        Members were asked only about rows they had not been fitted to.
    strength, rho : float
    margins : array of shape (n,)
        ``mr`` of each row; NaN for rows that all members were fitted to.
    error : float
        Share of rows whose class does not win the vote.
    chebyshev : float
        ``Var(mr) / s²``, above the error on the same rows; infinite if the strength is not
        positive.
    bound : float
        ``rho (1 - s²) / s²``.
    """

    model: str
    out_of_bag: bool
    strength: float
    rho: float
    margins: FloatArray
    error: float
    chebyshev: float
    bound: float

    def columns(self) -> dict[str, Any]:
        """One row."""
        names = ("strength", "rho", "error", "chebyshev", "bound")
        return {name: [getattr(self, name)] for name in names}

    def summary(self) -> str:
        """What strength and correlation say about the error."""
        seen = "out-of-bag" if self.out_of_bag else "on the rows given"
        line = (
            f"{self.model}: strength {self.strength:.3f} (mean margin of the vote, {seen}), mean "
            f"correlation {self.rho:.3f}. Breiman's bound on the error is {self.bound:.3g}; the "
            f"error {seen} is {self.error:.3g}."
        )
        if self.rho > 1:
            line += " A correlation above 1 is chance: there are few votes for a row."
        if not self.bound < 1:
            line += " The bound is not below 1 and says nothing."
        return line + " Stronger members or less alike ones would lower it."

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.members import draw_strength

        draw_strength(self, ax)


def correlation(
    forest: Any, X: Any, y: Any = None, *, rows: str | None = None
) -> Correlation | Strength:
    """Correlation of the members of a forest, and what it means for its error.

    Parameters
    ----------
    forest : fitted forest or bagging
    X : rows
        For regressors better those the forest has not seen.
    y : array-like of shape (n,), optional
        Needed for classifiers; makes it about errors for regressors.
    rows : "out_of_bag" or "held_out", optional
        For classifiers, what X is: the training rows in their order, of which members are asked
        only about those that they did not draw; or other rows. By default rows that are as many as
        those of the training are taken for them.

    Returns
    -------
    Correlation
        For regressors.
    Strength
        For classifiers.

    Notes
    -----
    See :mod:`weald.theory.forest_correlation` for what is estimated, and how.

    References
    ----------
    Breiman, L. (2001). Random forests. Machine Learning 45.
    Hastie, T., Tibshirani, R. and Friedman, J. (2009). The Elements of Statistical Learning, 15.2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from weald import RandomForestRegressor
    >>> from weald.theory import correlation
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = correlation(RandomForestRegressor(64, random_state=0).fit(X[::2], y[::2]), X[1::2])
    >>> bool(abs(found.measured[-1] - found.predicted[-1]) < 1e-9 * found.sigma2)
    True
    """
    view = read_model(forest, notion="correlation")
    check_opinions(view, "correlation")
    if view.n_members < 2:
        raise ValueError(f"This {view.name} has one member: correlation needs two or more.")
    if view.kind == "classes":
        return _strength(read_task(forest, X, y, notion="correlation of classifiers"), rows)
    if rows is not None:
        raise ValueError("rows is for classifiers: regressors are asked about all rows of X.")
    values = view.values(X)
    row_variance = values.var(axis=0, ddof=1)
    if y is None:
        values -= values.mean(axis=1, keepdims=True)
    else:
        values -= read_task(forest, X, y, notion="correlation").y
    return _pairs(values, view, y is not None, row_variance)


def _pairs(e: FloatArray, view: EnsembleView, of_errors: bool, at_row: FloatArray) -> Correlation:
    """Of numbers e of shape (T, n)."""
    T, n = e.shape
    products = e @ e.T / n
    squares = np.diag(products)
    sigma2 = float(squares.mean())
    covariance = float((products.sum() - squares.sum()) / (T * (T - 1)))
    rho = covariance / sigma2 if sigma2 > 0 else 0.0
    sizes = np.unique(np.append(2 ** np.arange(int(np.log2(T)) + 1), T))
    measured = np.array([_measured(e, int(B)) for B in sizes])
    scale = np.sqrt(np.outer(squares, squares))
    matrix = np.divide(products, scale, out=np.full((T, T), np.nan), where=scale > 0)
    plain = view.combine == "mean" and not np.ptp(view.weights) > 0
    return Correlation(view.name, of_errors, rho, sigma2, sizes, measured, matrix, at_row, plain)


def _measured(e: FloatArray, B: int) -> float:
    """Mean square of means of B members, over disjoint groups."""
    groups = len(e) // B
    total = 0.0
    for g in range(groups):
        mean = e[g * B : (g + 1) * B].mean(axis=0)
        total += float(mean @ mean) / len(mean)
    return total / groups


def _out_of_bag(task: Task, rows: str | None) -> npt.NDArray[np.bool_] | None:
    """Which rows each member did not draw, (T, n); None if it is asked about all of them."""
    if rows is not None:
        check_choice("rows", rows, ROWS)
    bags = None if rows == "held_out" else task.view.in_bag()
    if bags is not None and bags.shape[1] == len(task):
        return np.equal(bags, 0)
    if rows == "out_of_bag":
        raise ValueError(
            f"rows='out_of_bag' needs a {task.view.name} that drew rows for its members, and the "
            "rows it was fitted to, in their order: use rows='held_out' otherwise."
        )
    return None


def _strength(task: Task, rows_are: str | None) -> Strength:
    view, y, n = task.view, task.y, len(task)
    weights = view.weights
    if weights.min() < 0 or not weights.sum() > 0:
        raise ValueError(
            f"The members of this {view.name} have weights that are negative, or all 0: strength "
            "is a mean over members."
        )
    votes, at = view.votes(task.X), np.arange(n)
    outside = _out_of_bag(task, rows_are)
    asked = np.ones(votes.shape, dtype=bool) if outside is None else outside
    polls = np.zeros((n, view.n_classes))
    for vote, rows, weight in zip(votes, asked, weights, strict=True):
        polls[at[rows], vote[rows]] += weight
    seen = polls.sum(axis=1)
    known = seen > 0
    if not known.any():
        raise ValueError("Every row was drawn for every member: there is no out-of-bag vote.")
    shares = polls[known] / seen[known, None]
    right = shares[np.arange(len(shares)), y[known]]
    others = shares.copy()
    others[np.arange(len(shares)), y[known]] = -1.0
    rival = np.zeros(n, dtype=np.intp)
    rival[known] = others.argmax(axis=1)
    margins = np.full(n, np.nan)
    margins[known] = right - others.max(axis=1)
    deviations = [
        (_deviation(vote[rows], y[rows], rival[rows]), weight)
        for vote, rows, weight in zip(votes, asked, weights, strict=True)
        if rows.any()
    ]
    s, variance = float(margins[known].mean()), float(margins[known].var())
    each, of_each = np.transpose(deviations)
    spread = float(np.average(each, weights=of_each)) ** 2
    rho = variance / spread if spread > 0 else 0.0
    wrong = float((shares.argmax(axis=1) != y[known]).mean())
    chebyshev = variance / s**2 if s > 0 else np.inf
    bound = rho * (1 - s**2) / s**2 if s > 0 else np.inf
    return Strength(view.name, outside is not None, s, rho, margins, wrong, chebyshev, bound)


def _deviation(vote: Any, y: Any, rival: Any) -> float:
    """Standard deviation of being right less voting for the rival, of one member."""
    p, q = float((vote == y).mean()), float((vote == rival).mean())
    return float(np.sqrt(max(p + q - (p - q) ** 2, 0.0)))
