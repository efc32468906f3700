"""How good predictions are: figures with standard errors, and the curves and tables behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from weald._engine import FloatArray
from weald.report.honest import Honest

__all__ = [
    "Calibration",
    "ClassQuality",
    "Figure",
    "NumberQuality",
    "RankCurves",
    "quality_of",
]

_BINS = 10
_POINTS = 160  # of a curve in the page
_SCATTERED = 400  # rows shown as points
_MATRIX = 12  # classes in a confusion matrix
_CURVES = 6  # classes with a curve each


@dataclass(frozen=True)
class Figure:
    """A number with its standard error; `better`: which way is better."""

    name: str
    value: float
    std_error: float | None
    better: str
    plain: float | None = None
    """The same of a guess that looks at no column: the most frequent class, or the mean."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predicted probabilities and observed shares, in groups of about as many rows.

    Attributes
    ----------
    what : str
        Of which the probability is.
    predicted, observed, low, high : arrays of shape (groups,)
        Mean prediction, share observed, and its 95 % interval (Wilson 1927).
    count : array of shape (groups,)
    gap : float
        Mean distance of prediction and share, weighted by rows.
    """

    what: str
    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    count: npt.NDArray[np.intp]
    gap: float


@dataclass(frozen=True, eq=False)
class RankCurves:
    """ROC and precision-recall of one class against the others."""

    name: str
    false_positive: FloatArray
    true_positive: FloatArray
    recall: FloatArray
    precision: FloatArray
    area: float
    average_precision: float


@dataclass(frozen=True, eq=False)
class ClassQuality:
    """Of a classifier.

    Attributes
    ----------
    figures : tuple of Figure
    calibration : Calibration
    curves : tuple of RankCurves
    names : tuple of str
        Classes of the matrix; the last may stand for all others.
    confusion : array of shape (classes, classes)
        Rows of each true class by the class predicted.
    """

    figures: tuple[Figure, ...]
    calibration: Calibration
    curves: tuple[RankCurves, ...]
    names: tuple[str, ...]
    confusion: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class NumberQuality:
    """Of a regressor: figures, some rows as points, and the distribution of residuals."""

    figures: tuple[Figure, ...]
    predicted: FloatArray
    truth: FloatArray
    edges: FloatArray
    count: npt.NDArray[np.intp]


def quality_of(
    honest: Honest, classes: tuple[str, ...] | None, seed: int = 0
) -> ClassQuality | NumberQuality:
    """Judge predictions of rows that were not seen.

    Parameters
    ----------
    honest : Honest
    classes : tuple of str, optional
        None for numbers.
    seed : int
        For the rows shown as points.
    """
    if classes is None:
        return _of_numbers(honest, seed)
    return _of_classes(honest, classes)


# --- classes -------------------------------------------------------------------------------------


def _of_classes(honest: Honest, classes: tuple[str, ...]) -> ClassQuality:
    y, shares = honest.y, honest.answer
    present = [k for k in range(len(classes)) if 0 < np.count_nonzero(y == k) < len(y)]
    shown = present[-1:] if len(classes) == 2 else _most_frequent(y, present, _CURVES)
    curves = tuple(_rank_curves(classes[k], y == k, shares[:, k]) for k in shown)
    names, confusion = _confusion(y, honest.chosen, classes)
    figures = _class_figures(y, shares, honest.chosen, curves if len(classes) == 2 else ())
    return ClassQuality(figures, _calibration(y, shares, classes), curves, names, confusion)


def _most_frequent(y: npt.NDArray[Any], classes: list[int], most: int) -> list[int]:
    order = sorted(classes, key=lambda k: -np.count_nonzero(y == k))
    return sorted(order[:most])


def _class_figures(
    y: npt.NDArray[Any],
    shares: FloatArray,
    chosen: npt.NDArray[Any],
    curves: tuple[RankCurves, ...],
) -> tuple[Figure, ...]:
    n = len(y)
    right = chosen == y
    # Probabilities of 0 that come true would cost infinitely much.
    logs = -np.log(np.clip(shares[np.arange(n), y], 1e-15, 1.0))
    base = np.bincount(y, minlength=shares.shape[1]) / n
    entropy = -float((base[base > 0] * np.log(base[base > 0])).sum())
    figures = [
        Figure("Accuracy", float(right.mean()), _std_error(right), "higher", float(base.max())),
        Figure("Log loss", float(logs.mean()), _std_error(logs), "lower", entropy),
    ]
    if curves:
        positive = int((y == shares.shape[1] - 1).sum())
        error = area_std_error(curves[0].area, positive, n - positive)
        figures.insert(0, Figure("Area under ROC", curves[0].area, error, "higher", 0.5))
    return tuple(figures)


def _std_error(each: npt.NDArray[Any]) -> float | None:
    n = len(each)
    return float(each.std(ddof=1) / np.sqrt(n)) if n > 1 else None


def area_std_error(area: float, n_positive: int, n_negative: int) -> float:
    """Standard error of the area under the ROC curve (Hanley & McNeil 1982)."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (
        area * (1 - area) + (n_positive - 1) * (q1 - area**2) + (n_negative - 1) * (q2 - area**2)
    ) / (n_positive * n_negative)
    return float(np.sqrt(max(variance, 0.0)))


def _rank_curves(name: str, is_it: npt.NDArray[np.bool_], score: FloatArray) -> RankCurves:
    false, true, _ = roc_curve(is_it, score)
    precision, recall, _ = precision_recall_curve(is_it, score)
    roc, pr = _thinned(len(false)), _thinned(len(recall))
    return RankCurves(
        name,
        false[roc],
        true[roc],
        recall[pr],
        precision[pr],
        float(roc_auc_score(is_it, score)),
        float(average_precision_score(is_it, score)),
    )


def _thinned(n: int) -> npt.NDArray[np.intp]:
    """Places of a curve that are kept, both ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp))


def _calibration(y: npt.NDArray[Any], shares: FloatArray, classes: tuple[str, ...]) -> Calibration:
    if len(classes) == 2:
        p, hit, what = shares[:, 1], y == 1, f"the class {classes[1]}"
    else:
        p, hit, what = shares.max(axis=1), shares.argmax(axis=1) == y, "the most likely class"
    # Equal predictions stay together.
    edges = np.unique(np.quantile(p, np.linspace(0, 1, _BINS + 1)))
    group = np.searchsorted(edges[1:-1], p, side="right")
    _, group = np.unique(group, return_inverse=True)
    count = np.bincount(group)
    predicted = np.bincount(group, p) / count
    observed = np.bincount(group, hit) / count
    low, high = wilson(observed, count)
    gap = float((count * np.abs(predicted - observed)).sum() / len(y))
    return Calibration(what, predicted, observed, low, high, count, gap)


def wilson(share: FloatArray, count: npt.NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """95 % interval of a share that was observed in so many rows (Wilson 1927)."""
    z = 1.959963984540054
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return middle - half, middle + half


def _confusion(
    y: npt.NDArray[Any], chosen: npt.NDArray[Any], classes: tuple[str, ...]
) -> tuple[tuple[str, ...], npt.NDArray[np.intp]]:
    k = len(classes)
    place, names = np.arange(k), classes
    if k > _MATRIX:
        kept = _most_frequent(y, list(range(k)), _MATRIX - 1)
        place = np.full(k, len(kept))
        place[kept] = np.arange(len(kept))
        names = (*(classes[j] for j in kept), f"{k - len(kept)} others")
        k = len(names)
    flat = np.bincount(place[y] * k + place[chosen], minlength=k * k)
    return names, flat.reshape(k, k)


# --- numbers -------------------------------------------------------------------------------------


def _of_numbers(honest: Honest, seed: int) -> NumberQuality:
    y, said = honest.y.astype(np.float64), honest.answer
    residual, n = y - said, len(y)
    squares, away = residual**2, (y - y.mean()) ** 2
    mse, spread = float(squares.mean()), float(away.mean())
    rmse = float(np.sqrt(mse))
    figures = [
        Figure(
            "Mean absolute error",
            float(np.abs(residual).mean()),
            _std_error(np.abs(residual)),
            "lower",
            float(np.abs(y - np.median(y)).mean()),
        ),
        Figure(
            "Root mean squared error",
            rmse,
            float(squares.std() / np.sqrt(n) / (2 * rmse)) if rmse > 0 else None,
            "lower",
            float(np.sqrt(spread)),
        ),
    ]
    if spread > 0:
        r2 = 1 - mse / spread
        error = float(
            (squares - (1 - r2) * away).std() / np.sqrt(n) / spread
        )  # of a ratio of means
        figures.insert(0, Figure("R squared", r2, error, "higher", 0.0))
    some = np.arange(n)
    if n > _SCATTERED:
        some = np.sort(np.random.default_rng(seed).choice(n, _SCATTERED, replace=False))
    bins = int(np.clip(np.sqrt(n), 5, 30))
    count, edges = np.histogram(residual, bins)
    return NumberQuality(tuple(figures), said[some], y[some], edges, count)
