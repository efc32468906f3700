"""Means with their standard errors, and how far two figures may differ by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import mean, stdev

Values = Sequence[float]
"""One number per run."""

ROUNDING = 1.0 / sqrt(12.0)
"""Standard deviation of what rounding takes off, in units of the last digit kept."""


@dataclass(frozen=True)
class Figure:
    """A mean over runs and its standard error."""

    mean: float
    se: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.se:.2f}"

    def __sub__(self, other: Figure) -> Figure:
        return Figure(self.mean - other.mean, hypot(self.se, other.se))


def figure(values: Values) -> Figure:
    """Mean of the runs and the standard error of that mean."""
    return Figure(mean(values), spread(values) / sqrt(len(values)))


def spread(values: Values) -> float:
    """Standard deviation of one run."""
    return stdev(values) if len(values) > 1 else 0.0


def paired(ours: Values, theirs: Values) -> Figure:
    """Mean difference over runs that shared their data."""
    return figure([a - b for a, b in zip(ours, theirs, strict=True)])


@dataclass(frozen=True)
class Published:
    """A published figure: the ends of its range (the same twice if single) and its own error."""

    low: float
    high: float
    se: float = 0.0

    def __str__(self) -> str:
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g}-{self.high:g}"

    def distance(self, ours: Figure) -> float:
        """How many standard errors of the difference ours lies above (+) or below (-) it."""
        gap = max(ours.mean - self.high, 0.0) + min(ours.mean - self.low, 0.0)
        return gap / max(hypot(ours.se, self.se), 1e-12) if gap else 0.0


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign."""
    return f"{value:+.{digits}f}"
