"""Whether intervals hold the share of targets that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.input.labels import check_target

__all__ = ["IntervalCoverage", "interval_coverage"]


@dataclass(frozen=True)
class IntervalCoverage:
    """How many targets lie in their intervals, and how wide these are."""

    n: int
    """Number of targets."""
    coverage: float
    """Share of the targets that lie in their intervals, ends included."""
    standard_error: float
    """Of that share, if the targets are independent."""
    mean_width: float
    """Mean of upper minus lower end."""

    @property
    def reading(self) -> str:
        """The result in plain words."""
        inside = round(self.coverage * self.n)
        return (
            f"{inside} of {self.n} targets ({self.coverage:.1%}) lie in their intervals, which are "
            f"{self.mean_width:.4g} wide on average. In other samples of this size from the same "
            f"source the share would vary by about {100 * self.standard_error:.1f} points."
        )

    def __str__(self) -> str:
        return self.reading


def interval_coverage(y: Any, interval: Any) -> IntervalCoverage:
    """Measure intervals on targets that were not used to make them.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, n_outputs)
    interval : array of shape (n, 2) or (n, n_outputs, 2)
        Lower and upper ends, as from ``predict_interval``.

    Returns
    -------
    IntervalCoverage
        ``str()`` gives it in words.

    Examples
    --------
    >>> from weald.intervals import interval_coverage
    >>> found = interval_coverage([1.0, 2.0, 3.0, 9.0], [[0, 2], [1, 3], [2, 4], [3, 5]])
    >>> found.coverage, found.mean_width
    (0.75, 2.0)
    """
    ends = np.asarray(interval, dtype=np.float64)
    if ends.ndim not in (2, 3) or ends.shape[-1] != 2:
        raise ValueError(
            "interval must have shape (n, 2) or (n, n_outputs, 2), lower and upper ends, "
            f"not {ends.shape}."
        )
    target = check_target(y, len(ends)).ravel()
    lower, upper = ends.reshape(-1, 2).T
    if len(lower) != len(target):
        raise ValueError(f"interval has {len(lower)} pairs of ends but y has {len(target)} values.")
    share = float(((lower <= target) & (target <= upper)).mean())
    error = float(np.sqrt(share * (1 - share) / len(target)))
    return IntervalCoverage(len(target), share, error, float((upper - lower).mean()))
