"""The certificate of AdaBoost: what its rounds prove about the errors on the rows it learnt from.

Let s = y h be 1 where a member is right and -1 where it is wrong, F = sum alpha h the vote, D_t the
weights of the rows before round t, and the edge g_t = 1/2 sum D_t s_t. Then, on any rows,

    share of errors  <=  mean exp(-y F)  =  prod Z_t,     Z_t = sum D_t exp(-alpha_t s_t)
                     <=  prod B_t,       B_t = (1/2 + g_t) e^-alpha_t + (1/2 - g_t) e^alpha_t
                     <=  exp(-2 sum v_t (2 - v_t) g_t²),    v_t = alpha_t / atanh(2 g_t)

The first step holds as exp(-m) >= 1 where m <= 0; the second is the telescoping of the weights; the
third, with equality for members that say -1 or 1, is the convexity of the exponential. The vote of
AdaBoost, alpha = 1/2 ln((1-e)/e) = atanh(2 g), has v = 1: then B_t = sqrt(1 - 4 g_t²), and the last
line is the well-known exp(-2 sum g²). A learning rate is v itself. For the last step write B =
cosh((1-v) a) / cosh(a) with a = atanh(2g): tanh(u) >= (u/a) tanh(a) for u between 0 and a gives ln
cosh(a) - ln cosh((1-v) a) >= (1 - (1-v)²)/2 a tanh(a) >= v (2-v) tanh(a)² / 2; where v (2 - v) is
negative the first of the two holds still, and is used.

The randomised vote says +1 with probability e^F / (e^F + e^-F). It is wrong with probability
1 / (1 + exp(2 y F)) <= exp(-y F) / 2, so its mean error is at most half of each bound.

Members that say numbers in [-c, c] are members h/c that count alpha c. With more than two classes s
is 1 for the right class and -1 for any other: a row whose class does not get most votes has at
least as much voted against it as for it, so the chain holds for votes (Freund & Schapire 1997,
AdaBoost.M1), but chance is an error of 1/2, and members worse than that (which SAMME takes) raise
the bound.

References
----------
Freund, Y. and Schapire, R. (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55.
Schapire, R. and Singer, Y. (1999). Improved boosting algorithms using confidence-rated predictions.
Machine Learning 37.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from weald._engine import FloatArray
from weald.params.words import counted
from weald.theory.result import Result
from weald.theory.task import Task, read_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Certificate", "certificate"]

_SAME = 1e-6  # relative difference of numbers that were computed in another order


@dataclass(frozen=True, eq=False)
class Certificate(Result):
    """Bounds on the training error after each round.

    Attributes
    ----------
    model : str
        Name of the model's class.
    n_classes, n_rows : int
    edges, alphas, normalizers : arrays of shape (T,)
        g, alpha and Z of each round, of members scaled to [-1, 1].
    error : array of shape (T,)
        Weighted share of errors after each round.
    exponential_loss : array of shape (T,)
        Mean of exp(-y F).
    product : array of shape (T,)
        Product of the normalizers; the same number.
    edge_bound : array of shape (T,)
        Product of B, from edges and votes alone; ``prod sqrt(1 - 4 g²)`` if `full_steps`.
    exponential_bound : array of shape (T,)
        ``exp(-2 sum v (2 - v) g²)``; ``exp(-2 sum g²)`` if `full_steps`.
    randomised_error : array of shape (T,)
        Mean probability that the randomised vote is wrong; NaN for more than two classes.
    full_steps : bool
        Every vote is that of AdaBoost at learning rate 1.
    training_rows : bool or None
        Whether these are the rows (and weights) the model was fitted to, as its own record of the
        rounds tells; None: it keeps no record.
    """

    model: str
    n_classes: int
    n_rows: int
    edges: FloatArray
    alphas: FloatArray
    normalizers: FloatArray
    error: FloatArray
    exponential_loss: FloatArray
    product: FloatArray
    edge_bound: FloatArray
    exponential_bound: FloatArray
    randomised_error: FloatArray
    full_steps: bool
    training_rows: bool | None

    @property
    def randomised_bound(self) -> FloatArray:
        """On the error of the randomised vote: half of `edge_bound`; NaN for more classes."""
        return self.edge_bound / (2 if self.n_classes == 2 else np.nan)

    def columns(self) -> dict[str, Any]:
        """A row for each round."""
        names = (
            "edges alphas normalizers error exponential_loss product edge_bound exponential_bound "
            "randomised_error randomised_bound"
        )
        return {
            "round": np.arange(1, len(self.edges) + 1),
            **{name.removesuffix("s"): getattr(self, name) for name in names.split()},
        }

    def summary(self) -> str:
        """What the certificate proves."""
        rows = {
            True: "the rows it was fitted to",
            False: "rows (or weights) it was not fitted to",
            None: "these rows",
        }[self.training_rows]
        bound = min(float(self.edge_bound[-1]), float(self.product[-1]))
        lines = [
            f"{self.model}, {counted(len(self.edges), 'round')}, {counted(self.n_rows, 'row')}: "
            f"the error on {rows} is {self.error[-1]:.4g}, and the rounds alone prove that it is "
            f"at most {bound:.4g}."
        ]
        if bound >= 1:
            lines.append("That says nothing, as no error is above 1.")
        reached = np.flatnonzero(self.product * self.n_rows < 1)
        if len(reached) and self.training_rows:
            lines.append(
                f"From round {reached[0] + 1} on the bound is below 1/{self.n_rows}: "
                "not one error is possible among rows of equal weight."
            )
        lines.append(
            f"The mean edge over chance is {self.edges.mean():.3g}, the smallest "
            f"{self.edges.min():.3g} (round {self.edges.argmin() + 1}); the bound falls as long as "
            "edges are positive."
        )
        if not self.full_steps:
            lines.append(
                "Votes are not those of AdaBoost at learning rate 1, so the bound from the edges "
                "is that of the votes as they are, above prod sqrt(1 - 4 edge^2)."
            )
        if self.n_classes > 2:
            lines.append(
                f"With {self.n_classes} classes the chain asks for members that are right more "
                "often than not: SAMME takes weaker ones, whose rounds raise the bound."
            )
        else:
            lines.append(
                "A vote at random, +1 with probability e^F/(e^F + e^-F), would err with "
                f"probability {self.randomised_error[-1]:.4g}, at most "
                f"{bound / 2:.4g}."
            )
        if self.training_rows is False:
            lines.append(
                "The inequalities hold on these rows too, but they are not a certificate: boosting "
                "did not work on their weights, and nothing drives the bound down."
            )
        return " ".join(lines)

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.rounds import draw_certificate

        draw_certificate(self, ax)


def certificate(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
    """What the rounds of a boosted classifier prove about its errors on the given rows.

    Parameters
    ----------
    model : fitted classifier
        AdaBoost of weald (any algorithm) or scikit-learn; or a sum of terms for two classes, such
        as a stagewise model or gradient boosting.
    X, y : rows and labels
        Those it was fitted to; on others the inequalities hold, but certify nothing.
    sample_weight : array-like of shape (n,), optional
        As in fit.

    Returns
    -------
    Certificate

    See Also
    --------
    weald.theory.margins : for votes of any kind.

    Notes
    -----
    ``error <= exponential_loss = product <= edge_bound <= exponential_bound``: see
    :mod:`weald.theory.boosting_certificate` for the reasons.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from weald import AdaBoostClassifier
    >>> from weald.theory import certificate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> proof = certificate(AdaBoostClassifier(n_estimators=60).fit(X, y), X, y)
    >>> bool(proof.error[-1] <= proof.product[-1] <= proof.exponential_bound[-1] < 0.1)
    True
    """
    task = read_task(
        model,
        X,
        y,
        sample_weight,
        notion="certificate",
        kind="classes",
        instead="correlation or ambiguity",
    )
    view, K = task.view, task.view.n_classes
    # AdaBoost of both libraries keeps the errors of its rounds, whatever a subclass is called.
    boosted = hasattr(model, "estimator_errors_") or view.combine in ("scores", "sum")
    if not boosted:
        raise TypeError(
            f"certificate is about rounds of boosting, but the members of {view.name} do not build "
            "on each other: use margins instead."
        )
    if K > 2 and view.combine != "votes":
        raise ValueError(
            f"certificate knows no bound for sums of {K} classes' scores, as {view.name} makes "
            "them: use margins instead, or an AdaBoost whose members vote (algorithm='samme')."
        )
    rounds = _rounds(task)
    return Certificate(
        view.name,
        K,
        len(task),
        **rounds,
        training_rows=_same_rounds(model, rounds["normalizers"], rounds["edges"]),
    )


def _signed(task: Task) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Of each member, s = y h; and which rows the vote up to it gets wrong, as 0 or 1."""
    view, y = task.view, task.y
    if view.combine == "votes":
        polls, at = np.zeros((len(task), view.n_classes)), np.arange(len(task))
        for shares, weight in zip(view.shares(task.X), view.weights, strict=True):
            polls += weight * shares
            elected = polls.argmax(axis=1)
            yield np.where(shares[at, y] == 1, 1.0, -1.0), (elected != y).astype(np.float64)
        return
    F = np.zeros(len(task)) + view.start(task.X)
    for term, weight in zip(view.terms(task.X), view.weights, strict=True):
        F += weight * term
        yield task.signs * term, ((F > 0) != (y == 1)).astype(np.float64)


def _rounds(task: Task) -> dict[str, Any]:
    view = task.view
    T = view.n_members
    alphas, log_z, for_it, against = (np.zeros(T) for _ in range(4))
    error, loss, randomised = np.zeros(T), np.zeros(T), np.full(T, np.nan)
    m = np.zeros(len(task))  # the margins y F
    if view.combine != "votes":
        m += task.signs * view.start(task.X)
    log_start, D = _reweighted(task.weights, m)
    for t, (s, wrong) in enumerate(_signed(task)):
        scale = max(float(np.abs(s).max()), np.finfo(np.float64).tiny)
        alphas[t] = view.weights[t] * scale
        # Both are summed up: one may be too small for the difference to 1.
        for_it[t], against[t] = D @ (1 + s / scale) / 2, D @ (1 - s / scale) / 2
        log_z[t] = _reweighted(D, view.weights[t] * s)[0]
        m += view.weights[t] * s
        loss[t], D = _reweighted(task.weights, m)
        error[t] = float(task.weights @ wrong)
        if view.n_classes == 2:
            randomised[t] = float(task.weights @ expit(-2 * m))
    edges = (for_it - against) / 2
    log_b, exponents, full = _by_edges(for_it, against, alphas)
    return {
        "edges": edges,
        "alphas": alphas,
        "normalizers": _exp(log_z),
        "error": error,
        "exponential_loss": _exp(loss),
        "product": _exp(log_start + np.cumsum(log_z)),
        "edge_bound": _exp(log_start + np.cumsum(log_b)),
        "exponential_bound": _exp(log_start - np.cumsum(exponents)),
        "randomised_error": randomised,
        "full_steps": bool(full.all()),
    }


def _reweighted(weights: FloatArray, m: FloatArray) -> tuple[float, FloatArray]:
    """The logarithm of ``sum w exp(-m)``, and the weights ``w exp(-m)`` divided by this sum."""
    least = float(m[weights > 0].min())
    D = weights * np.exp(np.minimum(least - m, 0.0))
    total = float(D.sum())
    D /= total
    return float(np.log(total)) - least, D


def _by_edges(
    for_it: FloatArray, against: FloatArray, alphas: FloatArray
) -> tuple[FloatArray, FloatArray, Any]:
    """``ln B``, the exponents ``2 v (2 - v) g²``, and whether v is 1."""
    edges = (for_it - against) / 2
    with np.errstate(divide="ignore"):
        best = (np.log(for_it) - np.log(against)) / 2
        log_b = np.logaddexp(np.log(for_it) - alphas, np.log(against) + alphas)
    sure = np.isinf(best)
    v = np.divide(alphas, best, out=np.zeros_like(best), where=~sure & (best != 0))
    x = v * (2 - v)
    exponents = np.where(x >= 0, 2 * x * edges**2, x * edges * np.where(x >= 0, 0.0, best))
    # Without an edge a step can only harm; a member that is right (or wrong) about all rows has
    # B = exp(-+alpha), and atanh is infinite.
    exponents = np.where(best == 0, -log_b, exponents)
    exponents = np.where(sure, np.minimum(0.5, np.sign(edges) * alphas), exponents)
    return log_b, exponents, (np.abs(v - 1) < _SAME) | sure


def _exp(logs: FloatArray) -> FloatArray:
    """E to these powers; infinite where that is beyond all numbers."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(logs))


def _same_rounds(model: Any, normalizers: FloatArray, edges: FloatArray) -> bool | None:
    """Whether the rounds are those of the fit, as far as the model has kept a record of them."""
    kept = getattr(model, "normalizers_", None)
    if kept is not None:
        return bool(np.allclose(kept, normalizers, rtol=_SAME))
    kept = getattr(model, "estimator_errors_", None)
    if kept is None:
        return None
    return bool(np.allclose(kept[: len(edges)], 0.5 - edges, rtol=_SAME, atol=1e-12))
