"""Conformal intervals: as wide as errors on rows the model has not seen say they must be.

Where these errors come from is the only thing in which estimators differ:

==============================  =================================================================
forests, bagging                out-of-bag predictions (``oob_score=True``)
super learner, blending         what the mixture says of the rows that each candidate had not seen
gradient boosting, AdaBoost     rows held out for validation, or copies on folds (`calibration`)
stacking                        copies of the final model on folds of the level-1 rows
any of them                     ``calibrate(X, y)``, rows that were not used to fit it
==============================  =================================================================

What is made of them is the same for all: :class:`Calibration` and :func:`conformal_interval`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from numbers import Real
from typing import Any

import numpy as np

from weald._engine import FloatArray
from weald.input.labels import check_target, check_weights
from weald.input.state import CheckedState, numbers, require
from weald.members.out_of_bag import OutOfBag

__all__ = ["ROUNDING", "Calibration", "ConformalIntervals", "check_coverage", "conformal_interval"]

ROUNDING = 1e-9  # a share that is met but for this is met: 0.7 * 10 is not 7 in binary


@dataclass(frozen=True, eq=False)
class Calibration(CheckedState):
    """Errors on rows that a model, or those of its members that were asked, had not seen.

    Attributes
    ----------
    errors : array of shape (m, n_columns)
        Target minus prediction, for each output or quantile.
    weights : array of shape (m,), optional
        None: all rows count alike.
    source : str
        What the rows are, in messages.
    """

    errors: FloatArray
    weights: FloatArray | None
    source: str

    def __len__(self) -> int:
        return len(self.errors)

    def _check_state(self) -> None:
        require(numbers(self.errors.ravel()) and self.errors.ndim == 2, self, "its errors")
        if self.weights is not None:
            require(numbers(self.weights, len(self)), self, "its weights")
            require((self.weights > 0).all(), self, "its weights")

    @staticmethod
    def of(
        y: FloatArray, predicted: FloatArray, weights: FloatArray | None = None, *, source: str
    ) -> Calibration:
        """The errors of some predictions.

        Parameters
        ----------
        y : array of shape (n,) or (n, n_outputs)
        predicted : array of shape (n,), (n, n_outputs) or (n, n_quantiles)
            NaN where nobody could say anything: such rows do not count.
        weights : array of shape (n,), optional
            Rows of weight 0 do not count.
        source : str

        Examples
        --------
        >>> said = np.array([1.5, np.nan, 2.0])
        >>> Calibration.of(np.array([1.0, 2.0, 3.0]), said, source="rows").errors
        array([[-0.5],
               [ 1. ]])
        """
        n = len(y)
        errors = y.reshape(n, -1) - predicted.reshape(n, -1)
        counts = ~np.isnan(errors).any(axis=1)
        if weights is not None:
            counts &= weights > 0
            weights = weights[counts]
            weights = None if (weights == weights[:1]).all() else weights
        return Calibration(errors[counts], weights, source)

    @staticmethod
    def joined(parts: Sequence[Calibration]) -> Calibration:
        """The errors of several models of the same kind, each on rows of its own."""
        weights = None
        if any(part.weights is not None for part in parts):
            each = (np.ones(len(p)) if p.weights is None else p.weights for p in parts)
            weights = np.concatenate(list(each))
        errors = np.concatenate([part.errors for part in parts])
        return Calibration(errors, weights, parts[0].source)

    def moved(self, shift: FloatArray) -> Calibration:
        """The errors if all predictions are moved by this much."""
        return replace(self, errors=self.errors - shift)

    # --- quantiles ------------------------------------------------------------------------------

    def bound(self, scores: FloatArray, coverage: float) -> FloatArray:
        """What at least `coverage` of new scores do not exceed, for each column of scores (m, k).

        The score of rank ``ceil((m + 1) coverage)``: a new score is as likely as any to have each
        of the m + 1 ranks (Vovk et al. 2005). With weights, of mean 1, the first one up to which
        they sum to ``(m + 1) coverage``, the new row having the mean weight (Tibshirani et al.
        2019).
        """
        m = len(scores)
        wanted = (m + 1) * coverage * (1 - ROUNDING)
        if ceil(wanted) > m:
            raise ValueError(
                f"coverage={coverage:g} needs at least {ceil(coverage / (1 - coverage))} "
                f"{self.source}, but there are {m}: ask for less coverage."
            )
        return np.array([self._around(column, wanted)[1] for column in scores.T])

    def shift(self, shares: Sequence[float]) -> FloatArray:
        """How far to move the predictions of each column so that a share of targets lies below.

        The quantile of the errors, of the rank that is farther from the middle where there are two:
        ``ceil((m + 1) q)`` above the median and ``floor((m + 1) q)`` below it, so that intervals
        between two quantiles hold at least what they say (Romano et al. 2019, each end by itself).
        Beyond the errors there are, the last of them.
        """
        found = np.empty(len(shares))
        for k, q in enumerate(shares):
            low, high = self._around(self.errors[:, k], (len(self) + 1) * q)
            found[k] = low if q < 0.5 else high if q > 0.5 else low + (high - low) / 2
        return found

    def _around(self, scores: FloatArray, wanted: float) -> tuple[float, float]:
        """The last score up to which at most so many rows lie, and the first for at least so many.

        Rows are counted by their weights, in units of their mean.
        """
        m, order = len(scores), np.argsort(scores, kind="stable")
        climb = np.arange(1.0, m + 1)
        if self.weights is not None:
            climb = np.cumsum(self.weights[order]) / self.weights.mean()
        low = int(np.searchsorted(climb, wanted + ROUNDING, side="right")) - 1
        high = int(np.searchsorted(climb, wanted - ROUNDING))
        return float(scores[order[max(low, 0)]]), float(scores[order[min(high, m - 1)]])


def conformal_interval(estimator: Any, X: Any, coverage: float, **asked: Any) -> FloatArray:
    """The prediction plus or minus a quantile of the errors on rows not seen.

    With R_(1) <= ... <= R_(m) the absolute errors, the interval is

        prediction +- R_(k),    k = ceil((m + 1) coverage),

    the rank that gives at least the named coverage, in any sample size and distribution, if the
    errors are those of a model that saw none of these rows (split conformal prediction, Vovk et al.
    2005). An out-of-bag prediction comes from the members that did not see its row, about a third
    of them, and a copy on folds has seen fewer rows: the errors are if anything a little larger
    than those of the whole model. Johansson et al. (2014) and Zhang et al. (2020) found the
    coverage of out-of-bag errors to hold on many real sets; that of folds is Barber et al.'s
    (2021) CV+ with one width for all rows.

    A model of several quantiles has two ends already, and only how far targets lie outside of them
    is to be learned (Romano et al. 2019): R_i = max(lower_i - y_i, y_i - upper_i), which may be
    negative. Such intervals are wide where the target scatters.

    Parameters
    ----------
    estimator : fitted regressor with errors to learn from
    X : array-like, data frame or sparse matrix of shape (n, d)
    coverage : float
        Share of the targets the intervals should hold, between 0 and 1.
    **asked : dict
        What else ``predict`` gets.

    Returns
    -------
    array of shape (n, 2), or (n, n_outputs, 2) with several outputs (each covered by itself)
        Lower and upper ends.

    References
    ----------
    R. F. Barber, E. J. Candès, A. Ramdas & R. J. Tibshirani (2021), Predictive inference with the
    jackknife+, Annals of Statistics 49.
    U. Johansson, H. Boström, T. Löfström & H. Linusson (2014), Regression conformal prediction with
    random forests, Machine Learning 97.
    Y. Romano, E. Patterson & E. J. Candès (2019), Conformalized quantile regression, Advances in
    Neural Information Processing Systems 32.
    R. J. Tibshirani, R. F. Barber, E. J. Candès & A. Ramdas (2019), Conformal prediction under
    covariate shift, Advances in Neural Information Processing Systems 32.
    V. Vovk, A. Gammerman & G. Shafer (2005), Algorithmic learning in a random world, Springer.
    H. Zhang, J. Zimmerman, D. Nettleton & D. J. Nordman (2020), Random forest prediction intervals,
    The American Statistician 74.
    """
    coverage = check_coverage(coverage)
    prediction = estimator.predict(X, **asked)
    calibration: Calibration | None = getattr(estimator, "_calibration", None)
    if calibration is None:
        raise ValueError(
            f"This {type(estimator).__name__} has no predictions of rows it has not seen to learn "
            f"its errors from: {estimator._to_calibrate}call calibrate(X, y) with such rows."
        )
    errors, ends = calibration.errors, estimator._end_columns()
    if ends is None:
        half = calibration.bound(np.abs(errors), coverage)
        half = half[0] if prediction.ndim == 1 else half
        return np.stack([prediction - half, prediction + half], axis=-1)
    lower, upper = ends
    outside = np.maximum(-errors[:, [lower]], errors[:, [upper]])
    half = calibration.bound(outside, coverage)
    found = np.stack([prediction[:, lower] - half, prediction[:, upper] + half], axis=-1)
    found.sort(axis=-1)  # where so little coverage is asked for that the ends have met
    return found


def check_coverage(coverage: Any) -> float:
    """A share of targets to be held, between 0 and 1."""
    if not (isinstance(coverage, Real) and 0 < float(coverage) < 1):
        raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}.")
    return float(coverage)


class ConformalIntervals:
    """``predict_interval`` and ``calibrate``, for regressors."""

    _calibration: Calibration
    _to_calibrate = "refit it with oob_score=True (and bootstrap=True), or "  # in messages

    def _check_state(self) -> None:
        super()._check_state()  # type: ignore[misc]
        known = vars(self).get("_calibration")
        require(known is None or isinstance(known, Calibration), self, "its calibration")

    def _end_columns(self) -> tuple[int, int] | None:
        """Columns of the prediction that are the ends of intervals, if it has such columns."""
        return None

    def _keep_calibration(self, calibration: Calibration) -> None:
        self._calibration = calibration

    def _keep_out_of_bag(self, watch: OutOfBag) -> None:
        """Note the out-of-bag prediction of an ensemble that draws rows, and its errors."""
        self.oob_prediction_ = self._by_output(watch.prediction)  # type: ignore[attr-defined]
        weights = None if watch.present is None else watch.present.astype(np.float64)
        self._calibration = Calibration.of(
            watch.target, self.oob_prediction_, weights, source="out-of-bag predictions"
        )

    def predict_interval(self, X: Any, coverage: float = 0.9) -> FloatArray:
        """Intervals that should hold the targets of new rows (conformal).

        Parameters
        ----------
        X : table of shape (n, d)
        coverage : float
            Share of the targets that the intervals should hold.

        Returns
        -------
        array of shape (n, 2), or (n, n_outputs, 2)
            Lower and upper ends; see :func:`weald.intervals.conformal_interval`.
        """
        return conformal_interval(self, X, coverage)

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn the errors from rows that were not used to fit the model, in place of those known.

        Parameters
        ----------
        X : table of shape (n, d)
        y : array-like of shape (n,) or (n, n_outputs)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        predicted = self.predict(X)  # type: ignore[attr-defined]
        self._keep_calibration(of_new_rows(predicted, y, sample_weight))
        return self


def of_new_rows(predicted: FloatArray, y: Any, sample_weight: Any) -> Calibration:
    """Errors of the predictions of rows as users give them."""
    target = check_target(y, len(predicted))
    weights = check_weights(sample_weight, len(predicted))
    return Calibration.of(target, predicted, weights, source="calibration rows")
