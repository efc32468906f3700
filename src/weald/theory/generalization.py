"""Bounds on the error of a classifier on new rows: training error plus complexity.

All hold with probability 1 - delta over the drawing of n independent training rows, whatever their
distribution, at the same time for all numbers of rounds T and leaves L: the probability is divided
as ``delta / (T (T + 1) L (L + 1))``, which sums to delta.

References
----------
M. Mohri, A. Rostamizadeh & A. Talwalkar (2018), Foundations of Machine Learning, 2nd ed.
Y. Freund & R. E. Schapire (1997), A decision-theoretic generalization of on-line learning and an
application to boosting, Journal of Computer and System Sciences 55.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from weald._engine import FloatArray
from weald.combining import add_votes
from weald.input.labels import encode_again
from weald.params.growth import check_choice, check_count, is_real, refuse
from weald.theory.growth import log_sauer, log_shapes, log_trees, vc_of_trees, vc_of_votes
from weald.theory.rademacher_complexity import Rademacher
from weald.theory.reading import check_unwrapped, is_ensemble
from weald.theory.result import Result
from weald.theory.stumps import is_all_numbers, read_table
from weald.theory.task import Task, check_delta, read_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GeneralizationBound", "generalization_bound"]

_METHODS = ("counting", "vc", "rademacher")
_MARGINS = 2.0 ** -np.arange(10)  # at which a margin bound is tried


@dataclass(frozen=True, eq=False)
class GeneralizationBound(Result):
    """Training error, complexity and their sum, after each round; by `generalization_bound`.

    Arrays have an entry for each number of members, or a single one for a single model.
    """

    method: str
    """How complexity was measured."""
    n: int
    """Training rows."""
    delta: float
    """Probability with which the bound may fail."""
    n_classes: int
    """K."""
    training_error: FloatArray
    """Share of the training rows that are wrong, or whose margin is at most `margin`."""
    complexity: FloatArray
    """What the richness of the family adds."""
    confidence: FloatArray
    """What the finite number of rows adds."""
    margin: FloatArray | None
    """At which training errors were counted; None: plain errors."""
    proven: bool
    """Whether this is a bound: not if the complexity is itself a lower estimate."""

    @property
    def bound(self) -> FloatArray:
        """On the probability of error; above 1 it says nothing."""
        return self.training_error + self.complexity + self.confidence

    @property
    def best_round(self) -> int:
        """Number of members with the smallest bound."""
        return int(self.bound.argmin()) + 1

    def summary(self) -> str:
        """What the numbers mean, in plain words; also which of them say nothing."""
        t, chance = self.best_round - 1, 1 - 1 / self.n_classes
        value = float(self.bound[t])
        which = f" with {t + 1} of {len(self.bound)} members" if len(self.bound) > 1 else ""
        wrong = (
            "training error"
            if self.margin is None
            else f"share of rows with margin up to {self.margin[t]:.3g}"
        )
        text = (
            f"With probability {1 - self.delta:.0%} the error on new rows{which} is at most "
            f"{min(value, 1.0):.4g} = {wrong} {self.training_error[t]:.4g} + complexity "
            f"{self.complexity[t]:.4g} + confidence {self.confidence[t]:.4g} ({self.method}). "
        )
        if value >= 1:
            text += (
                "That says nothing: for this many rows the family is too rich. It does not mean "
                "that the model is bad; ask rows it has not seen. "
            )
        elif value >= chance:
            text += "That is no better than guessing, so it says little; ask rows it has not seen. "
        if len(self.bound) > 1 and value < 1:
            text += (
                "Further members do not lower the bound: they cost more than they gain. "
                if t + 1 < len(self.bound)
                else "More members might lower it further. "
            )
        if not self.proven:
            text += (
                "The complexity is a lower estimate, so this is not a guarantee but an optimistic "
                "guess. "
            )
        return text.rstrip()

    def columns(self) -> Mapping[str, Any]:
        """A row for each number of members."""
        columns: dict[str, Any] = {
            "members": np.arange(1, len(self.bound) + 1),
            "training error": self.training_error,
            "complexity": self.complexity,
            "confidence": self.confidence,
            "bound": self.bound,
        }
        return columns if self.margin is None else columns | {"margin": self.margin}

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.complexity import draw_bound

        draw_bound(self, ax)


def generalization_bound(
    model: Any,
    X: Any,
    y: Any,
    *,
    method: str = "counting",
    complexity: Any = None,
    n_leaves: int | None = None,
    delta: float = 0.05,
) -> GeneralizationBound:
    """Bound the error of a fitted tree or ensemble of trees on new rows, from its training rows.

    Parameters
    ----------
    model : fitted classifier
        A tree, or an ensemble of trees, for each number of its members. With "rademacher" any
        classifier of two classes.
    X, y : the rows it was fitted to
    method : "counting", "vc" or "rademacher"
        * counting: ``R <= R_S + sqrt(2 ln(N) / n) + sqrt(ln(1 / delta) / (2 n))``, where N is how
          many ways trees of so many leaves, and votes or sums of so many of them, can label n rows
          (Mohri et al., Corollary 3.9; the counts are in :mod:`weald.theory.growth`).
        * vc: the same with ``ln N = D ln(e n / D)`` (Corollary 3.19) and D the VC dimension: of
          trees, and ``2 (D + 1) (T + 1) log2(e (T + 1))`` of weighted votes of T of them (Freund &
          Schapire 1997, Theorem 8).
        * rademacher: ``R <= R_S + Rad_S + 3 sqrt(ln(2 / delta) / (2 n))`` for one classifier (see
          :func:`rademacher_bound`). For a vote, whose members are from the family,
          ``R <= (share of margins <= r) + 2 / r Rad_S + 3 sqrt(ln(2 / delta) / (2 n))`` (Corollary
          7.5), for the best r among 1, 1/2, 1/4, ... 1/512, each with a tenth of delta. It does not
          grow with the number of members.
    complexity : number or Rademacher, for "rademacher"
        Rademacher complexity, on the same rows, of the family with values +-1 that the classifier
        (or each member of the vote) is chosen from; from :func:`rademacher`. If signs were drawn,
        half of delta is spent on that.
    n_leaves : int, optional
        Leaves of the largest tree, if the model does not tell.
    delta : float
        Probability with which the bound may fail.

    Returns
    -------
    GeneralizationBound

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from weald import AdaBoostClassifier
    >>> X, y = make_classification(20_000, class_sep=2, flip_y=0, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    >>> found = generalization_bound(model, X, y)
    >>> bool((found.bound > found.training_error).all()), found.best_round < 30
    (True, True)
    """
    check_choice("method", method, _METHODS)
    delta = check_delta(delta)
    if not is_ensemble(model):
        return _of_one(model, X, y, method, complexity, n_leaves, delta)
    task = read_task(model, X, y, notion="generalization_bound", kind="classes")
    K = task.view.n_classes
    if method == "rademacher":
        return _by_margins(task, complexity, delta)
    leaves = _leaves_of_members(model, task.view.n_members, n_leaves)
    if method == "vc" and (task.view.combine != "votes" or K != 2):
        raise ValueError(
            'method="vc" is for weighted votes of two classes, and this '
            f'{task.view.name} is none: use "counting".'
        )
    n, d = len(task), _n_columns(X)
    logs = np.array([_log_count(method, task, n, d, t, L) for t, L in enumerate(leaves, 1)])
    rounds = np.arange(1, len(leaves) + 1)
    spent = np.log(rounds * (rounds + 1.0)) + np.log(leaves * (leaves + 1.0))
    return GeneralizationBound(
        method,
        n,
        delta,
        K,
        _staged_errors(task),
        np.sqrt(2 * logs / n),
        np.sqrt((log(1 / delta) + spent) / (2 * n)),
        None,
        True,
    )


def _log_count(method: str, task: Task, n: int, d: int, T: int, L: int) -> float:
    """Logarithm of the labellings that T members with up to L leaves can make."""
    K = task.view.n_classes
    everything = n * log(K)
    if method == "vc":
        return min(log_sauer(n, vc_of_votes(vc_of_trees(d, L), T)), everything)
    # Labels follow from comparisons of two classes each, which are half-spaces of the weights.
    pairs = n * K * (K - 1) / 2
    if task.view.combine == "votes":
        return min(T * log_trees(n, d, L, K) + log_sauer(pairs, T), everything)
    parameters = (T * L + 1) * (1 if K == 2 else K)
    return min(T * log_shapes(n, d, L) + log_sauer(pairs, parameters), everything)


def _of_one(
    model: Any, X: Any, y: Any, method: str, complexity: Any, n_leaves: Any, delta: float
) -> GeneralizationBound:
    """The bound of a single classifier."""
    known = not isinstance(model, type) and hasattr(model, "predict")
    if not (known and is_classifier(model)):
        raise TypeError(f"generalization_bound is for fitted classifiers, got {model!r}.")
    if method != "rademacher" and n_leaves is None and not hasattr(model, "get_n_leaves"):
        check_unwrapped(model)
        raise TypeError(
            f"{type(model).__name__} is no tree whose labellings can be counted: use "
            'method="rademacher".'
        )
    check_is_fitted(model)
    n = _num_samples(X)
    classes = np.asarray(model.classes_)
    if len(classes) < 2:
        raise ValueError("The model was fitted to one class, so there is no error to bound.")
    said = encode_again(model.predict(X), n, classes)
    wrong = np.array([np.mean(said != encode_again(y, n, classes))])
    K = len(classes)
    if method == "rademacher":
        value, left, proven = _check_complexity(complexity, delta, K, n)
        confidence = 3 * sqrt(log(2 / left) / (2 * n))
        parts, margin = (np.array([value]), np.array([confidence])), None
        return GeneralizationBound(method, n, delta, K, wrong, *parts, margin, proven)
    L, d = _leaves_of_one(model, n_leaves), _n_columns(X)
    if method == "vc":
        if K != 2:
            raise ValueError('method="vc" is for two classes: use "counting".')
        logs = min(log_sauer(n, vc_of_trees(d, L)), n * log(2))
    else:
        logs = log_trees(n, d, L, K)
    confidence = sqrt((log(1 / delta) + log(L * (L + 1))) / (2 * n))
    added = np.array([sqrt(2 * logs / n)])
    return GeneralizationBound(
        method, n, delta, K, wrong, added, np.array([confidence]), None, True
    )


def _by_margins(task: Task, complexity: Any, delta: float) -> GeneralizationBound:
    """The margin bound of a vote, at the best of some margins, after each round."""
    view, n = task.view, len(task)
    value, left, proven = _check_complexity(complexity, delta, view.n_classes, n)
    if view.combine != "votes":
        raise ValueError(
            f'method="rademacher" is for votes of members that say -1 or +1, and {view.name} '
            f'combines its members by {view.combine}: use "counting".'
        )
    confidence = 3 * sqrt(log(2 * len(_MARGINS) / left) / (2 * n))
    total, mass = np.zeros(n), 0.0
    errors, margins = [], []
    for votes, weight in zip(task.view.votes(task.X), view.weights, strict=True):
        total += weight * task.signs * (2.0 * votes - 1)
        mass += abs(weight)
        normed = total / mass if mass > 0 else total
        tried = np.array([np.mean(normed <= r) for r in _MARGINS])
        best = int((tried + 2 / _MARGINS * value).argmin())
        errors.append(tried[best])
        margins.append(_MARGINS[best])
    at = np.array(margins)
    return GeneralizationBound(
        "rademacher",
        n,
        delta,
        2,
        np.array(errors),
        2 / at * value,
        np.full(len(at), confidence),
        at,
        proven,
    )


def _check_complexity(
    complexity: Any, delta: float, n_classes: int, n: int
) -> tuple[float, float, bool]:
    """An upper value of the complexity, what is left of delta, and whether it is proven."""
    if n_classes != 2:
        raise ValueError('method="rademacher" is for two classes: use "counting".')
    if isinstance(complexity, Rademacher):
        if complexity.n != n:
            raise ValueError(
                f"complexity is that of a family on {complexity.n} rows, but X has {n}: measure it "
                "on the same rows."
            )
        if complexity.range != 1.0:
            raise ValueError(
                f"complexity is that of {complexity.family}, but a bound on errors needs a family "
                "with values -1 and +1."
            )
        if complexity.all_signs:
            return complexity.value, delta, complexity.attained
        return complexity.upper(delta / 2), delta / 2, complexity.attained
    if not (is_real(complexity) and 0 <= complexity < np.inf):
        raise refuse("complexity", "a number >= 0, or what rademacher returns", complexity)
    return float(complexity), delta, True


def _staged_errors(task: Task) -> FloatArray:
    """Share of wrong rows after each member."""
    view, n, K = task.view, len(task), task.view.n_classes
    errors = []
    scores = np.zeros((n, K))
    if view.combine in ("sum", "scores"):
        raw = view.start(task.X)
        for term, weight in zip(view.terms(task.X), view.weights, strict=True):
            raw = raw + weight * term
            said = raw > 0 if raw.ndim == 1 else raw.argmax(axis=1)
            errors.append(np.mean(said != task.y))
    elif view.combine == "votes":
        for votes, weight in zip(view.votes(task.X), view.weights, strict=True):
            add_votes(scores, votes, weight)
            errors.append(np.mean(scores.argmax(axis=1) != task.y))
    elif view.combine == "mean":
        for shares, weight in zip(view.shares(task.X), view.weights, strict=True):
            scores += weight * shares
            errors.append(np.mean(scores.argmax(axis=1) != task.y))
    else:
        raise ValueError(f"generalization_bound does not know how {view.name} combines members.")
    return np.array(errors)


def _n_columns(X: Any) -> int:
    """Number of columns, which must hold numbers for tests to be counted."""
    table = read_table(X)
    if not is_all_numbers(table):
        raise ValueError(
            "Splits are counted for columns of numbers without missing values, as there are far "
            'more ways to divide categories: use method="rademacher", or margins.'
        )
    return int(table.X.shape[1])


def _leaves_of_one(model: Any, given: Any) -> int:
    return int(model.get_n_leaves()) if given is None else check_count("n_leaves", given, least=1)


def _leaves_of_members(model: Any, T: int, given: Any) -> npt.NDArray[np.int64]:
    """Leaves of the largest tree up to each member."""
    if given is not None:
        return np.full(T, check_count("n_leaves", given, least=1))
    members = np.array([*getattr(model, "estimators_", [])], dtype=object)
    members = members.reshape(len(members), -1)[:T] if len(members) else members
    if len(members) != T or not all(hasattr(one, "get_n_leaves") for one in members.flat):
        raise ValueError(
            f"The members of this {type(model).__name__} are not trees that tell the number of "
            "their leaves: give n_leaves."
        )
    return np.maximum.accumulate([max(one.get_n_leaves() for one in row) for row in members])
