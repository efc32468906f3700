"""Empirical Rademacher complexity: how well a family of functions can follow random signs.

For rows x_1 .. x_n and independent signs s_i = +-1,

    Rad_S(F) = E_s sup over f in F of  1/n sum_i s_i f(x_i).

A family that can follow any signs has complexity 1 (for functions with values +-1) and can learn
nothing reliable from n rows; a single function has complexity 0.

References
----------
M. Mohri, A. Rostamizadeh & A. Talwalkar (2018), Foundations of Machine Learning, 2nd ed.,
Definition 3.1, Theorems 3.7 (Massart), 5.10 and 11.15.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from weald._engine import FloatArray
from weald.params.growth import check_count, resolve_seed
from weald.theory.families import make_family
from weald.theory.result import Result
from weald.theory.task import check_delta

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Rademacher", "rademacher", "rademacher_bound"]

_ALL = 16  # rows up to which all sign vectors are tried on demand: 65,536 of them
_CELLS = 2**22  # signs, and their products with functions, held at a time


@dataclass(frozen=True, eq=False)
class Rademacher(Result):
    """How well a family follows random signs on given rows; from :func:`rademacher`."""

    family: str
    """Name of the family."""
    n: int
    """Number of rows."""
    value: float
    """The complexity: the mean of `suprema`."""
    standard_error: float
    """Of the value, from the drawing of signs; 0 if all sign vectors were tried."""
    suprema: FloatArray
    """For each sign vector, the largest mean of sign times function that was found."""
    all_signs: bool
    """Whether all 2^n sign vectors were tried."""
    attained: bool
    """Whether suprema are those of the family; else they come from fits and are lower bounds."""
    bound: float | None
    """An upper bound on the complexity in closed form, if one is known."""
    range: float | None
    """Largest absolute value of a function on the rows, if it is known."""

    def upper(self, delta: float) -> float:
        """A number that the complexity exceeds with probability `delta` at most, over the signs.

        By McDiarmid's inequality for m drawn vectors of n signs and functions of range r,
        ``value + r sqrt(2 ln(1 / delta) / (n m))``; and never more than `bound`.
        """
        if self.all_signs:
            drawn = self.value
        elif self.range is None:
            drawn = np.inf
        else:
            deviation = np.sqrt(2 * np.log(1 / delta) / (self.n * len(self.suprema)))
            drawn = self.value + self.range * float(deviation)
        return drawn if self.bound is None else min(drawn, self.bound)

    def summary(self) -> str:
        """What the numbers mean, in plain words; also which of them say nothing."""
        how = (
            f"over all {len(self.suprema)} sign vectors"
            if self.all_signs
            else f"+- {self.standard_error:.2g} from {len(self.suprema)} drawn sign vectors"
        )
        text = (
            f"Rademacher complexity of {self.family} on {self.n} rows: {self.value:.4g} ({how}). "
        )
        if self.range is not None and self.range > 0:
            part = min(self.value / self.range, 1.0)
            text += (
                "On labels that are pure chance the family finds a function that agrees with "
                f"about {(1 + part) / 2:.0%} of them. "
                if self.range == 1
                else f"That is {part:.1%} of what a family that can follow any signs would have. "
            )
            if part > 0.5:
                text += (
                    "A family this rich fits noise nearly as well as truth, so its training error "
                    "says little; more rows or a smaller family would help. "
                )
        if not self.attained:
            text += (
                "This is a LOWER estimate: each fit gives some function of the family and not "
                "always the best one, so a bound built on it is no guarantee. "
            )
        if self.bound is not None:
            text += f"In closed form it is at most {self.bound:.4g}. "
        return text.rstrip()

    def columns(self) -> Mapping[str, Any]:
        """The supremum of each sign vector."""
        return {"draw": np.arange(len(self.suprema)), "supremum": self.suprema}

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.complexity import draw_suprema

        draw_suprema(self, ax)


def rademacher(
    family: Any,
    X: Any = None,
    *,
    n_draws: int | str = 100,
    radius: float = 1.0,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Rademacher:
    """Empirical Rademacher complexity of a family of functions on the rows of a table.

    Parameters
    ----------
    family : "stumps", "l2", "l1", an array of predictions, or an estimator
        * ``"stumps"``: decision stumps and constants, with values +-1. The engine finds the best
          one for each sign vector, so every supremum is exact.
        * ``"l2"``: linear functions x -> v'x with Euclidean norm of v at most `radius`. The
          supremum is ``radius / n * norm(sum_i s_i x_i)``, and the complexity is at most
          ``radius / n * sqrt(sum_i norm(x_i)^2)`` (Mohri et al., Theorem 5.10).
        * ``"l1"``: the same with the sum of absolute values at most `radius`. The supremum is
          ``radius / n * max_j abs(sum_i s_i x_ij)``, and the complexity is at most
          ``radius / n * sqrt(2 ln(2 d)) * max_j norm(column j)`` (Theorem 11.15).
        * array of shape (m, n): a finite set of functions by their values on the rows. The supremum
          is a maximum; the complexity is at most ``max norm(f) sqrt(2 ln m) / n`` (Massart,
          Theorem 3.7). X is not needed.
        * an estimator: a classifier or regressor that is fitted to the signs as targets. Its
          answers are one function of the family, so this gives a lower estimate unless the fit
          finds the best function for any signs.
    X : table of shape (n, d)
    n_draws : int or "all"
        Sign vectors to draw, or all 2^n of them, for up to 16 rows.
    radius : float
        Of the linear families.
    n_jobs : int, optional
        Fits of an estimator at the same time, as in joblib. The result does not depend on it.
    random_state : int, optional
        Of the signs, and of estimators.

    Returns
    -------
    Rademacher

    Examples
    --------
    Two functions that differ in one of two rows:

    >>> from weald.theory import rademacher
    >>> rademacher([[1, 1], [1, -1]], n_draws="all").value
    0.5
    """
    if not isinstance(n_draws, str) or n_draws != "all":
        n_draws = check_count("n_draws", n_draws, least=2)
    seed = resolve_seed(random_state)
    chosen = make_family(family, X, radius, seed, n_jobs)
    n = chosen.n
    if n_draws == "all" and n > _ALL:
        raise ValueError(
            f'n_draws="all" tries 2^n sign vectors and is for up to {_ALL} rows, got n={n}: give a '
            "number of draws."
        )
    step = max(1, _CELLS // (n + chosen.held))
    total = 2**n if n_draws == "all" else int(n_draws)
    random = None if n_draws == "all" else np.random.default_rng(seed)
    suprema = np.concatenate([chosen.suprema(_signs(n, r, random)) for r in _ranges(total, step)])
    m = len(suprema)
    error = 0.0 if n_draws == "all" else float(suprema.std(ddof=1) / np.sqrt(m))
    return Rademacher(
        chosen.name,
        n,
        float(suprema.mean()),
        error,
        suprema,
        n_draws == "all",
        chosen.attained,
        chosen.bound,
        chosen.range,
    )


def rademacher_bound(
    training_error: float, complexity: float, n: int, delta: float = 0.05, *, signs: bool = True
) -> float:
    """``R <= R_S + 2 Rad_S(losses) + 3 sqrt(ln(2 / delta) / (2 n))``.

    Parameters
    ----------
    training_error : float
        R_S.
    complexity : float
        Rademacher complexity on the n training rows.
    n : int
    delta : float
    signs : bool
        The complexity is that of classifiers with values +-1. That of their 0/1 losses is half of
        it (Lemma 3.4), so the bound is ``R_S + Rad_S + 3 sqrt(...)`` (Theorem 3.5). If False, it is
        that of the losses (Theorem 3.3).

    Examples
    --------
    >>> round(rademacher_bound(0.1, 0.05, n=10_000), 4)
    0.1907
    """
    delta = check_delta(delta)
    n = check_count("n", n, least=1)
    return training_error + (1 if signs else 2) * complexity + 3 * sqrt(log(2 / delta) / (2 * n))


def _ranges(total: int, step: int) -> list[range]:
    return [range(first, min(first + step, total)) for first in range(0, total, step)]


def _signs(n: int, numbers: range, random: np.random.Generator | None) -> FloatArray:
    """Sign vectors: drawn, or else the digits of the numbers."""
    if random is not None:
        return np.where(random.random((len(numbers), n)) < 0.5, -1.0, 1.0)
    digits = np.array(numbers)[:, None] >> np.arange(n) & 1
    return np.where(digits == 1, 1.0, -1.0)
