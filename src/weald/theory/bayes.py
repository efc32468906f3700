"""The Bayes error of two classes with known densities: what no classifier can go below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from weald._engine import FloatArray
from weald.params.growth import check_count, is_real
from weald.theory.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BayesError", "bayes_error"]

Density = Callable[[FloatArray], FloatArray]

_LOOKS = 4001  # places in each piece at which the sign of the difference is looked at
_TAIL = 1e-13  # probability of the tails of a distribution that are cut off
_MASS = 1e-3  # by which the integral of a density may differ from 1


@dataclass(frozen=True, eq=False)
class BayesError(Result):
    """The smallest possible probability of error; from :func:`bayes_error`."""

    error: float
    """Integral of min(p1 f1, p2 f2)."""
    overlap: float
    """Integral of min(f1, f2): 0 if the classes never meet, 1 if they are the same."""
    precision: float
    """Estimated numerical error of both."""
    priors: tuple[float, float]
    """Probabilities of the classes."""
    boundaries: FloatArray
    """Where the best decision changes, in one dimension."""
    grid: FloatArray
    """Places for the picture and the table, in one dimension."""
    weighted: FloatArray
    """Prior times density of both classes there, shape (2, len(grid))."""

    def summary(self) -> str:
        """What the numbers mean, in plain words; also which of them say nothing."""
        p, q = self.priors
        text = (
            f"The Bayes error is {self.error:.6g} (up to {self.precision:.1g}): no classifier, "
            f"whatever its data, errs less often. The densities overlap by {self.overlap:.6g}. "
        )
        if self.error < 1e-9:
            text += "The classes can be told apart without error. "
        if self.error > min(p, q) - 1e-9:
            text += (
                "It is as good to always say the more frequent class: what is observed does not "
                "change the decision. "
            )
        if 0 < len(self.boundaries) <= 6:
            places = ", ".join(f"{place:.4g}" for place in self.boundaries)
            text += f"The best decision changes at {places}. "
        return text.rstrip()

    def columns(self) -> Mapping[str, Any]:
        """Weighted densities and the best decision on a grid; one row of figures for a box."""
        if not len(self.grid):
            return {"Bayes error": [self.error], "overlap": [self.overlap]}
        one, two = self.weighted
        return {"x": self.grid, "class 1": one, "class 2": two, "decision": 1 + (two > one)}

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.complexity import draw_densities

        if not len(self.grid):
            raise ValueError("Only Bayes errors in one dimension can be drawn.")
        draw_densities(self, ax)


def bayes_error(
    density_1: Any,
    density_2: Any,
    priors: Sequence[float] = (0.5, 0.5),
    *,
    supports: Any = None,
    box: Any = None,
    n_grid: int = 200,
) -> BayesError:
    """The probability of error of the best possible classifier, by numerical integration.

    With priors p1, p2 and densities f1, f2,

        error = integral of min(p1 f1(x), p2 f2(x)) dx,

    which the rule "say the class with the larger p f" attains (Duda, Hart & Stork 2001, section
    2.4). In one dimension the line is cut where supports begin and end and where the weighted
    densities cross, and each piece is integrated by adaptive quadrature. In more dimensions the
    midpoints of a grid in a box are summed, and the error is estimated from a coarser one.

    Parameters
    ----------
    density_1, density_2 : callable, or frozen distribution of scipy.stats
        A callable takes numbers x and gives densities, or, with a `box`, rows of shape (m, d).
    priors : two numbers
        Probabilities of the classes; they are divided by their sum.
    supports : pair of (low, high), optional
        Where each density is positive, for callables in one dimension; outside it is taken as 0.
    box : list of (low, high), optional
        Region of integration in d dimensions, which must hold nearly all of both densities.
    n_grid : int
        Places along each side of the box.

    Returns
    -------
    BayesError

    Examples
    --------
    >>> found = bayes_error(lambda x: 1.5 * x**2 + x, lambda x: 1, supports=[(0, 1), (0.75, 1.75)])
    >>> round(found.overlap, 8), round(found.error, 8)
    (0.25, 0.125)

    Two normal distributions whose means are two standard deviations apart:

    >>> from scipy.stats import norm
    >>> found = bayes_error(norm(-1), norm(1))
    >>> round(found.error, 8), round(float(norm.cdf(-1)), 8)
    (0.15865525, 0.15865525)
    """
    p = _check_priors(priors)
    if box is not None:
        return _in_box(density_1, density_2, p, box, check_count("n_grid", n_grid, least=8))
    pair = list(supports) if supports is not None else [None, None]
    if len(pair) != 2:
        raise ValueError("supports must be a pair: (low, high) of each of the two densities.")
    sides = [
        _Side.of(density, support, k)
        for k, (density, support) in enumerate(zip((density_1, density_2), pair, strict=True), 1)
    ]
    low, high = min(s.lowest() for s in sides), max(s.highest() for s in sides)
    sides = [side.within(low, high) for side in sides]
    for k, side in enumerate(sides, 1):
        mass = sum(quad(side.at, *piece, limit=500)[0] for piece in side.pieces())
        if not abs(mass - 1) <= _MASS:
            raise ValueError(
                f"density_{k} integrates to {mass:.6g} and not to 1: divide it by that, or give "
                "the supports outside of which it is 0."
            )
    error, slip, cuts = _integral_of_least(sides, p)
    overlap, other_slip, _ = _integral_of_least(sides, (1.0, 1.0))
    grid = np.linspace(low, high, 1001)
    weighted = np.stack([q * side.many(grid) for q, side in zip(p, sides, strict=True)])
    return BayesError(error, overlap, slip + other_slip, p, cuts, grid, weighted)


@dataclass(frozen=True, eq=False)
class _Side:
    """A density on an interval, outside of which it is 0."""

    density: Density
    low: float
    high: float
    knots: tuple[float, ...]
    """Quantiles, which show quadrature where to look; of infinite sides all but the tails."""

    @staticmethod
    def of(density: Any, support: Any, k: int) -> _Side:
        if hasattr(density, "pdf") and hasattr(density, "support"):
            low, high = map(float, density.support())
            knots = list(map(float, density.ppf([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])))
            if not np.isfinite(low):
                knots.insert(0, float(density.ppf(_TAIL)))
            if not np.isfinite(high):
                knots.append(float(density.isf(_TAIL)))
            return _Side(density.pdf, low, high, tuple(knots))
        if not callable(density):
            raise TypeError(
                f"density_{k} must be a function or a frozen distribution of scipy.stats, got "
                f"{density!r}."
            )
        try:
            low, high = map(float, support)
        except (TypeError, ValueError):
            low, high = 1.0, 0.0
        if not (np.isfinite([low, high]).all() and low < high):
            raise ValueError(
                f"density_{k} is a function, so supports must give the finite interval (low, high) "
                "in which it is positive."
            )
        return _Side(density, low, high, ())

    def lowest(self) -> float:
        return self.low if np.isfinite(self.low) else self.knots[0]

    def highest(self) -> float:
        return self.high if np.isfinite(self.high) else self.knots[-1]

    def within(self, low: float, high: float) -> _Side:
        """The same with ends that are finite."""
        return replace(self, low=max(self.low, low), high=min(self.high, high))

    def at(self, x: float) -> float:
        return float(self.many(np.array([x]))[0])

    def many(self, x: FloatArray) -> FloatArray:
        inside = (x >= self.low) & (x <= self.high)
        values = np.zeros(len(x))
        if inside.any():
            values[inside] = _ask(self.density, x[inside])
        return values

    def pieces(self) -> list[tuple[float, float]]:
        ends = [self.low, *self.knots, self.high]
        return list(pairwise(ends))


def _ask(density: Density, x: FloatArray) -> FloatArray:
    try:
        values = np.broadcast_to(np.asarray(density(x), dtype=np.float64), len(x))
    except (TypeError, ValueError):  # a function of one number
        values = np.array([float(density(one)) for one in x])
    if np.isnan(values).any() or (values < 0).any():
        raise ValueError(
            "A density must be a number >= 0 wherever it is positive: look at its support."
        )
    return values


def _integral_of_least(
    sides: list[_Side], p: tuple[float, float]
) -> tuple[float, float, FloatArray]:
    """Integral of min(p1 f1, p2 f2), its estimated error, and where the smaller one changes."""
    one, two = sides

    def difference(x: float) -> float:
        return p[0] * one.at(x) - p[1] * two.at(x)

    def least(x: float) -> float:
        return min(p[0] * one.at(x), p[1] * two.at(x))

    ends = sorted({one.low, one.high, two.low, two.high, *one.knots, *two.knots})
    total, slip, pieces = 0.0, 0.0, []
    cuts: list[float] = []
    for low, high in pairwise(ends):
        # Strictly inside: at the ends of a support a density jumps.
        x = low + (high - low) * (np.arange(_LOOKS) + 0.5) / _LOOKS
        sign = np.sign(p[0] * one.many(x) - p[1] * two.many(x))
        inner = [low]
        decided = np.flatnonzero(sign)
        for a, b in pairwise(decided):
            if sign[a] != sign[b]:
                inner.append(float(brentq(difference, x[a], x[b], xtol=1e-14)))
        inner.append(high)
        pieces += pairwise(inner)
    before = 0.0
    for low, high in pieces:
        middle = (low + high) / 2
        now = float(np.sign(difference(middle)))
        if now * before < 0:
            cuts.append(low)
        before = now or before
        if max(one.low, two.low) <= middle <= min(one.high, two.high):
            value, error = quad(least, low, high, limit=200, epsabs=1e-12, epsrel=1e-12)
            total, slip = total + value, slip + error
    return total, slip, np.array(cuts)


def _in_box(
    density_1: Any, density_2: Any, p: tuple[float, float], box: Any, n_grid: int
) -> BayesError:
    try:
        sides = np.asarray(box, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        sides = np.empty((0, 2))
    if not len(sides) or not (np.isfinite(sides).all() and (sides[:, 0] < sides[:, 1]).all()):
        raise ValueError("box must be a list of finite intervals (low, high), one per dimension.")
    if n_grid ** len(sides) > 2e7:
        raise ValueError(
            f"A grid of {n_grid} places in {len(sides)} dimensions is too large: give a smaller "
            "n_grid."
        )
    densities = [getattr(f, "pdf", f) for f in (density_1, density_2)]
    if not all(map(callable, densities)):
        raise TypeError("Densities must be functions or frozen distributions of scipy.stats.")
    fine, coarse = (_grid_sums(densities, p, sides, m) for m in (n_grid, n_grid // 2))
    for k in (0, 1):
        if not abs(fine[2 + k] - 1) <= 10 * _MASS:
            raise ValueError(
                f"density_{k + 1} has a mass of {fine[2 + k]:.4g} in the box and not of 1: give "
                "a box that holds it, or a larger n_grid."
            )
    slip = float(np.abs(fine - coarse)[:2].max())
    none = np.empty(0)
    return BayesError(float(fine[0]), float(fine[1]), slip, p, none, none, np.empty((2, 0)))


def _grid_sums(
    densities: list[Any], p: tuple[float, float], sides: FloatArray, m: int
) -> FloatArray:
    """Midpoint sums of min(p1 f1, p2 f2), min(f1, f2), f1 and f2, a slice of the box at a time."""
    width = (sides[:, 1] - sides[:, 0]) / m
    places = [low + w * (np.arange(m) + 0.5) for (low, _), w in zip(sides, width, strict=True)]
    rest = np.stack(np.meshgrid(*places[1:], indexing="ij"), axis=-1).reshape(-1, len(sides) - 1)
    sums = np.zeros(4)
    for first in places[0]:
        rows = np.column_stack([np.full(len(rest), first), rest])
        f, g = (_ask_rows(density, rows) for density in densities)
        sums += [np.minimum(p[0] * f, p[1] * g).sum(), np.minimum(f, g).sum(), f.sum(), g.sum()]
    return np.asarray(sums * width.prod())


def _ask_rows(density: Any, rows: FloatArray) -> FloatArray:
    values = np.asarray(density(rows), dtype=np.float64)
    if values.shape != (len(rows),) or np.isnan(values).any() or (values < 0).any():
        raise ValueError("With a box, densities take rows of shape (m, d) and give m numbers >= 0.")
    return values


def _check_priors(priors: Any) -> tuple[float, float]:
    pair = list(priors) if isinstance(priors, Sequence | np.ndarray) else []
    if len(pair) != 2 or not all(is_real(p) and 0 < p < np.inf for p in pair):
        raise ValueError(f"priors must be two positive numbers, got {priors!r}.")
    return float(pair[0] / sum(pair)), float(pair[1] / sum(pair))
