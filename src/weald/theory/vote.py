"""PAC-Bayes at work: how often a weighted vote can err on new rows, at most.

The bounds are in :mod:`~weald.theory.vote_bounds`, the weights that minimise them in
:mod:`~weald.theory.vote_weights`; here a fitted ensemble meets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weald._engine import FloatArray
from weald.params.words import counted
from weald.theory.result import Result
from weald.theory.task import ROWS, Task, check_delta, read_task
from weald.theory.vote_bounds import BOUNDS, Seen
from weald.theory.vote_losses import BoolArray, vote_error, vote_losses
from weald.theory.vote_weights import minimise_first_order, minimise_tandem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["VoteBounds", "pac_bayes"]

MINIMISERS = {"first_order": minimise_first_order, "tandem": minimise_tandem}
# Standard errors between a member's errors in its bag and outside it that chance does not make.
_SUSPICIOUS = 6.0


@dataclass(frozen=True, eq=False)
class VoteBounds(Result):
    """Bounds on the error of a weighted vote; see :func:`pac_bayes`.

    Attributes
    ----------
    model : str
        Class of the ensemble.
    combine : str
        How it puts its members together itself; the bounds are about their vote.
    n_classes : int
    rows : str
        Whose rows were used: "out_of_bag" or "held_out".
    delta : float
        Probability with which a bound may fail.
    chosen : str
        How the weights came about.
    weights, prior : arrays of shape (T,)
        rho and pi, 1 in total.
    seen : Seen
        Losses on the rows: `gibbs`, `tandem`, `disagreement`, their numbers of rows `n` and
        `n_pair`, and the `divergence` KL(rho || pi).
    vote_error : float
        Error of the vote on the rows; out of bag, of the members that did not see a row.
    guess_error : float
        Error of naming the most frequent class of the rows.
    bounds : dict
        Each holds with probability 1 - delta by itself.
    best : str
        Which bound of the vote is smallest.
    bound : float
        The smallest bound of the vote, which pays for the choice: every one had its part of delta.
    test_error : float or None
        Error of the vote on the test rows, if they were given.
    """

    model: str
    combine: str
    n_classes: int
    rows: str
    delta: float
    chosen: str
    weights: FloatArray
    prior: FloatArray
    seen: Seen
    vote_error: float
    guess_error: float
    bounds: dict[str, float]
    best: str
    bound: float
    test_error: float | None

    def summary(self) -> str:
        """What the bounds promise, and whether that is more than a guess."""
        where = "out of bag" if self.rows == "out_of_bag" else "on the rows held out"
        sentences = [self._promise()]
        sentences.append(
            f"{where.capitalize()} the vote erred on {self.vote_error:.1%} and a single member on "
            f"{self.seen.gibbs:.1%}; the bound rests on {self.seen.n:,} rows of every member and "
            f"{self.seen.n_pair:,} of every pair."
        )
        if self.test_error is not None:
            sentences.append(f"On the test rows the vote erred on {self.test_error:.1%}.")
        if self.bounds["tandem"] < self.bounds["first_order"]:
            sentences.append(
                "The bound for pairs is below the one for single members: members err on different "
                "rows, and the vote corrects them."
            )
        if self.seen.divergence > 0:
            used = 1.0 / float(np.sum(self.weights**2))
            sentences.append(
                f"The weights ({self.chosen}) are those of about {used:.0f} equal members of "
                f"{len(self.weights)}; their distance from the prior, {self.seen.divergence:.2f} "
                "nats, is paid for."
            )
        if self.combine != "votes":
            sentences.append(
                f"All this is about the vote of the members; {self.model} itself puts them "
                f"together otherwise ({self.combine}), and may decide otherwise."
            )
        return " ".join(sentences)

    def _promise(self) -> str:
        if self.bound >= 1.0:
            return (
                "The bounds say nothing here, none is below 100 %: the rows are too few or the "
                "members too weak for a promise."
            )
        promise = (
            f"With probability {1 - self.delta:.0%} or more, the vote of "
            f"{counted(len(self.weights), 'member')} errs on at most {self.bound:.1%} of new rows "
            f"(bound: {self.best})."
        )
        guess = f"naming the most frequent class, which errs on {self.guess_error:.1%}"
        if self.bound >= self.guess_error:
            return f"{promise} That promises no more than {guess}."
        return f"{promise} That is better than {guess}."

    def columns(self) -> Mapping[str, Any]:
        """A row for each bound: what it bounds, what was seen, and the bound."""
        used = [bound for bound in BOUNDS if bound.name in self.bounds]
        errors = {"gibbs": self.seen.gibbs, "vote": self.vote_error}
        return {
            "bound": [bound.name for bound in used],
            "of": [bound.of for bound in used],
            "seen": [errors[bound.of] for bound in used],
            "value": [self.bounds[bound.name] for bound in used],
        }

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.vote import draw_bounds

        draw_bounds(self, ax)


def pac_bayes(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    rows: str = "out_of_bag",
    weights: Any = "given",
    prior: Any = "uniform",
    test: tuple[Any, Any] | None = None,
) -> VoteBounds:
    """Bound the error of an ensemble's weighted majority vote on new rows (PAC-Bayes).

    The vote errs only where members of at least half the weight err. So its error is at most twice
    the loss G of a drawn member, four times the loss S of a drawn pair (both must err: the tandem
    loss), and ``(S - G^2) / (S - G + 1/4)``, the C-bound, for any number of classes. G and S are
    not known, but

        kl(seen G || G) <= (KL(rho || pi) + ln(2 sqrt(n) / delta)) / n

    with probability 1 - delta for all weights rho at once, and the same for S with 2 KL and the
    rows of pairs. This needs rows that are independent of the members: those outside their bags,
    or rows held out. There, if the weights were fixed before, the vote is bounded as any classifier
    on test rows as well, which is hard to beat.

    Parameters
    ----------
    model : fitted ensemble of classifiers
        Forest, bagging, AdaBoost, voting; of weald or scikit-learn.
    X : table of shape (n, d)
        The training rows in their order for ``rows="out_of_bag"``, else rows no member has seen.
    y : array-like of shape (n,)
        Their labels.
    delta : float
        Probability with which a bound may fail.
    rows : {"out_of_bag", "held_out"}
        What X is. Rows that are said to be held out but show the traces of the bags are refused.
        Rows out of bag stand for new ones only where they were drawn alike: not by weight (of rows
        or classes), group or class.
    weights : {"given", "uniform", "first_order", "tandem"} or array of shape (T,)
        Weights rho of the vote: the ensemble's own, equal ones, those that minimise the
        first-order or the tandem bound, or any others. They may be chosen on the same rows.
    prior : {"uniform", "given"} or array of shape (T,)
        Weights pi that were fixed before the rows were seen: equal ones, the ensemble's own, or
        any others that are positive.
    test : (X, y), optional
        Rows on which the error of the vote is measured beside its bound.

    Returns
    -------
    VoteBounds

    References
    ----------
    Seeger (2002), PAC-Bayesian generalisation error bounds; Maurer (2004), A note on the PAC
    Bayesian theorem. Lacasse et al. (2007); Germain et al. (2015), Risk bounds for the majority
    vote: the C-bound. Thiemann et al. (2017), A strongly quasiconvex PAC-Bayesian bound. Lorenzen,
    Igel and Seldin (2019), On PAC-Bayesian bounds for random forests: out-of-bag rows. Masegosa,
    Lorenzen, Igel and Seldin (2020), Second order PAC-Bayesian bounds for the weighted majority
    vote: the tandem loss.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from weald import RandomForestClassifier
    >>> from weald.theory import pac_bayes
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    >>> result = pac_bayes(forest, X, y)
    >>> print(f"{result.vote_error:.3f} seen, {result.bound:.3f} at most ({result.best})")
    0.033 seen, 0.347 at most (first_order)
    """
    delta = check_delta(delta)
    if rows not in ROWS:
        raise ValueError(f"rows must be 'out_of_bag' or 'held_out', got {rows!r}.")
    task = _read(model, X, y)
    view = task.view
    bags = view.in_bag()
    drawn = None if bags is None else bags > 0
    if rows == "out_of_bag":
        drawn = _check_out_of_bag(task, drawn)
    votes = view.votes(X)
    errors: BoolArray = votes != task.y
    if rows == "held_out":
        _check_held_out(task, errors, drawn)
        drawn = None
    losses = vote_losses(errors, drawn)
    pi = _prior(prior, rows, view.weights)
    rho, chosen = _weights(weights, view.weights), weights
    if rho is None:
        rho = MINIMISERS[weights](losses, pi, delta)
        chosen = f"minimising {weights}"
    elif not isinstance(weights, str):
        chosen = "of your own"

    error = vote_error(votes, task.y, rho, view.n_classes, drawn)
    fixed = rows == "held_out" and isinstance(weights, str) and weights not in MINIMISERS
    seen = Seen.of(losses, rho, pi, error if fixed else None)
    met = {"", "two classes" if view.n_classes == 2 else "", "fixed vote" if fixed else ""}
    usable = [bound for bound in BOUNDS if bound.needs in met]
    of_vote = [bound for bound in usable if bound.of == "vote"]
    best = min((bound.value(seen, delta / len(of_vote)), bound.name) for bound in of_vote)
    return VoteBounds(
        view.name,
        view.combine,
        view.n_classes,
        rows,
        delta,
        chosen,
        rho,
        pi,
        seen,
        error,
        1.0 - float(np.bincount(task.y).max()) / len(task),
        {bound.name: bound.value(seen, delta) for bound in usable},
        best[1],
        best[0],
        None if test is None else _test_error(model, test, rho),
    )


# --- reading -------------------------------------------------------------------------------------


def _read(model: Any, X: Any, y: Any) -> Task:
    task = read_task(model, X, y, notion="pac_bayes", kind="classes")
    if task.view.additive:
        raise TypeError(
            f"The members of {task.view.name} are terms of a sum and do not vote: pac_bayes is for "
            "forests, bagging, AdaBoost and voting."
        )
    return task


def _test_error(model: Any, test: Any, weights: FloatArray) -> float:
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise ValueError("test must be a pair (X, y) of rows and labels.")
    task = _read(model, *test)
    return vote_error(task.view.votes(task.X), task.y, weights, task.view.n_classes)


def _check_out_of_bag(task: Task, drawn: BoolArray | None) -> BoolArray:
    name = task.view.name
    if drawn is None:
        raise ValueError(
            f"The members of this {name} drew no rows, so that all training rows were seen by all "
            "of them: give rows held out with rows='held_out'."
        )
    if drawn.shape[1] != len(task):
        raise ValueError(
            f"Out-of-bag bounds need the {drawn.shape[1]} rows that this {name} was fitted to, in "
            f"their order, but X has {len(task)}: give those, or rows='held_out'."
        )
    if task.view.drawing not in ("rows", "sampler"):
        raise ValueError(
            f"This {name} drew its rows by {task.view.drawing}, so that those out of bag are not "
            "like new ones: give rows held out with rows='held_out'."
        )
    return drawn


def _check_held_out(task: Task, errors: BoolArray, drawn: BoolArray | None) -> None:
    """Refuse training rows: there members err less on the rows of their own bags.

    For rows that no member saw the bags are labels without meaning, and the two errors of a row
    differ by chance only.
    """
    if drawn is None or drawn.shape[1] != len(task):
        return
    inside = drawn.sum(axis=0)
    both = (inside > 0) & (inside < len(drawn))
    outside_error = (errors & ~drawn).sum(axis=0)[both] / (len(drawn) - inside[both])
    inside_error = (errors & drawn).sum(axis=0)[both] / inside[both]
    gaps = outside_error - inside_error
    if len(gaps) < 2 or gaps.mean() <= _SUSPICIOUS * gaps.std(ddof=1) / np.sqrt(len(gaps)):
        return
    raise ValueError(
        f"These are rows that the {task.view.name} was fitted to: its members err on "
        f"{inside_error.mean():.1%} of those in their bags and {outside_error.mean():.1%} of the "
        "others; use rows='out_of_bag', or give rows that no member saw."
    )


# --- weights -------------------------------------------------------------------------------------


def _prior(prior: Any, rows: str, given: FloatArray) -> FloatArray:
    if isinstance(prior, str) and prior == "uniform":
        return np.full(len(given), 1.0 / len(given))
    if isinstance(prior, str) and prior != "given":
        raise ValueError(f"prior must be 'uniform', 'given' or an array, got {prior!r}.")
    own = isinstance(prior, str)
    name = "the ensemble's weights" if own else "prior"
    pi = _normalised(given if own else prior, len(given), name)
    if own and rows == "out_of_bag" and np.ptp(pi) > 0.0:
        raise ValueError(
            "prior='given' needs weights that do not depend on the rows of the bound, and those of "
            "members may come from out-of-bag rows: use rows='held_out' or prior='uniform'."
        )
    if pi.min() <= 0.0:
        raise ValueError(f"The prior of member {int(pi.argmin())} is 0, but must be positive.")
    return pi


def _weights(weights: Any, given: FloatArray) -> FloatArray | None:
    """Weights rho; None if they are to be chosen."""
    if not isinstance(weights, str):
        return _normalised(weights, len(given), "weights")
    if weights in MINIMISERS:
        return None
    if weights == "uniform":
        return np.full(len(given), 1.0 / len(given))
    if weights == "given":
        return _normalised(given, len(given), "the ensemble's weights")
    raise ValueError(
        f"weights must be 'given', 'uniform', 'first_order', 'tandem' or an array, got {weights!r}."
    )


def _normalised(weights: Any, T: int, name: str) -> FloatArray:
    try:
        values: FloatArray = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, got {weights!r}.") from None
    if values.shape != (T,):
        raise ValueError(f"{name} must hold one number for each of {T} members.")
    if not np.isfinite(values).all() or values.min() < 0.0 or values.sum() <= 0.0:
        raise ValueError(f"{name} must be finite, not negative, and not all zero.")
    return values / float(values.sum())
