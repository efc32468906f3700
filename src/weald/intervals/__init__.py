"""Intervals around predictions: from errors on rows the model has not seen, or from leaves.

Both answer "where will the next target lie?", not "how sure is the model of its mean?".

* The *conformal* interval (:mod:`weald.intervals.conformal`) is the prediction plus or minus one
  number: a quantile of the errors on rows that the model, or its members, had not seen. It holds
  the share it names, on average over the rows, whatever the distribution. All regressors have it.
* The *quantile forest* (:mod:`weald.intervals.quantile_forest`) reads the whole distribution of the
  target off the training rows that share the leaves of a new row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weald._engine import FloatArray
from weald.intervals.conformal import Calibration, ConformalIntervals, conformal_interval
from weald.intervals.coverage import IntervalCoverage, interval_coverage
from weald.intervals.quantile_forest import forest_quantiles, quantile_interval

__all__ = [
    "INTERVALS",
    "Calibration",
    "ConformalIntervals",
    "IntervalCoverage",
    "conformal_interval",
    "forest_quantiles",
    "interval_coverage",
    "quantile_interval",
]

INTERVALS: dict[str, Callable[[Any, Any, float], FloatArray]] = {
    "conformal": conformal_interval,
    "quantile": quantile_interval,
}
"""What `method` may be in the ``predict_interval`` of forests."""
