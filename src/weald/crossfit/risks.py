"""Risk: how bad predictions are for targets, by a loss of weald or by a metric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.metrics._scorer import _BaseScorer

from weald import combining
from weald._engine import FloatArray
from weald.losses import Loss, Softmax, SquaredError, get_loss

__all__ = ["LossRisk", "MetricRisk", "NoRisk", "Risk", "make_risk"]


_SMALLEST = float(np.finfo(np.float64).eps)  # a share of 0 or 1 is taken for this far from it
_SMALL_MEAN = 1e-6  # of the mean of the targets: what a mean of 0 or less is taken for


class Risk(ABC):
    """Mean loss of predictions ``P`` of shape (n, K): shares of K classes, or one number.

    Attributes
    ----------
    name : str
    by_row : bool
        Every row has a loss of its own, so that there is a standard error.
    has_slopes : bool
        The derivative by the predictions is known.
    """

    name: str
    by_row = False
    has_slopes = False

    @abstractmethod
    def mean(self, P: FloatArray, y: FloatArray, w: FloatArray) -> float:
        """The risk; less is better.

        Parameters
        ----------
        P : array of shape (n, K)
        y : array of shape (n,)
            Class codes, or numbers.
        w : array of shape (n,)
        """

    def mixed(self, a: FloatArray, Z: FloatArray, y: FloatArray, w: FloatArray) -> float:
        """The risk of a mixture of candidates."""
        return self.mean(np.einsum("m,nmk->nk", a, Z, optimize=True), y, w)

    def losses(self, P: FloatArray, y: FloatArray) -> FloatArray:
        """Loss of each row, shape (n,)."""
        raise NotImplementedError(f"{self.name} is not a mean over rows.")

    def derivatives(
        self, a: FloatArray, Z: FloatArray, y: FloatArray, w: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Slope (M,) and curvature (M, M) of the risk of a mixture, by its weights."""
        raise NotImplementedError(f"{self.name} has no derivatives.")

    @staticmethod
    def indicators(y: FloatArray, K: int) -> FloatArray:
        """What least squares aims at: the targets, or 1 for the class of a row; shape (n, K)."""
        return y[:, None] if K == 1 else combining.ballots(y, K)


class LossRisk(Risk):
    """Mean of a loss.

    Parameters
    ----------
    loss : Loss
        Of its kind "binary" it sees the share of the second class.
    mean_target : float
        By the size of which a prediction is too small, if it must be positive.
    """

    by_row = has_slopes = True

    def __init__(self, loss: Loss, mean_target: float = 1.0) -> None:
        self.loss, self.name = loss, "log_loss" if loss.kind == "multiclass" else loss.name
        self._times = 2.0 if type(loss) is SquaredError else 1.0  # that loss is half the square
        self._least_mean = _SMALL_MEAN * abs(mean_target) or np.finfo(np.float64).tiny

    def mean(self, P: FloatArray, y: FloatArray, w: FloatArray) -> float:
        """Weighted mean of the rows' losses."""
        return float(w @ self.losses(P, y) / w.sum())

    def losses(self, P: FloatArray, y: FloatArray) -> FloatArray:
        """Loss of each row."""
        return self._value(self._of_loss(P), y)

    def derivatives(
        self, a: FloatArray, Z: FloatArray, y: FloatArray, w: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """By the chain rule; second derivatives by differences of the first."""
        parts = self._of_loss(Z) if self.loss.kind == "binary" else Z
        P = np.einsum("m,nmk->nk", a, parts)
        h = 1e-5 * np.maximum(self._room(P), np.finfo(np.float64).tiny)
        first = self._slope(P, y)
        second = (self._slope(P + h, y) - self._slope(P - h, y)) / (2 * h)
        share = (w / w.sum())[:, None]
        slopes = np.einsum("nk,nmk->m", share * first, parts, optimize=True)
        bent = np.sqrt(share * np.maximum(second, 0.0))[:, None, :] * parts
        flat = bent.transpose(1, 0, 2).reshape(len(a), -1)
        return slopes, flat @ flat.T

    def _of_loss(self, P: FloatArray) -> FloatArray:
        """What the loss sees of the shares."""
        return P[..., 1:] if self.loss.kind == "binary" else P

    def _inside(self, P: FloatArray) -> FloatArray:
        """Predictions that the link takes."""
        if self.loss.kind != "regression":
            return np.clip(P, _SMALLEST, 1 - _SMALLEST)
        return np.maximum(P, self._least_mean) if self.loss.link.name == "log" else P

    def _room(self, P: FloatArray) -> FloatArray:
        """How far the second derivative may look."""
        inside = self._inside(P)
        if self.loss.kind != "regression":
            return np.minimum(inside, 1 - inside)
        if self.loss.link.name == "log":
            return inside
        return np.full_like(P, np.abs(P).mean() or 1.0)

    def _value(self, P: FloatArray, y: FloatArray) -> FloatArray:
        F = self.loss.link.link(self._inside(P))
        return self._times * self.loss.value(y, F[:, 0] if F.shape[1] == 1 else F)

    def _slope(self, P: FloatArray, y: FloatArray) -> FloatArray:
        """Derivative of the loss of each row by its predictions, shape (n, K)."""
        inside = self._inside(P)
        if type(self.loss) is Softmax:  # -ln p of the true class: what the shares sum to is fixed
            return -self.indicators(y, P.shape[1]) / inside
        F = self.loss.link.link(inside)
        by_raw = self.loss.gradient(y, F[:, 0] if F.shape[1] == 1 else F).reshape(F.shape)
        return self._times * by_raw * self.loss.link.slope(inside)


class MetricRisk(Risk):
    """Any metric: minus a scorer of scikit-learn, or a function ``f(y, prediction)`` to minimise.

    A function with a parameter `sample_weight`, as metrics of scikit-learn have, gets the weights.

    Parameters
    ----------
    metric : scorer or callable
    classes : array, optional
        Labels, if there are classes.
    name : str
    """

    def __init__(self, metric: Callable[..., float], classes: Any, name: str) -> None:
        self._metric, self._classes, self.name = metric, classes, name
        try:
            self._weighs = "sample_weight" in signature(metric).parameters
        except ValueError:  # compiled functions may have none
            self._weighs = False

    def mean(self, P: FloatArray, y: FloatArray, w: FloatArray) -> float:
        """What the metric says, with its sign turned if more is better."""
        target = y if self._classes is None else self._classes[y.astype(np.intp)]
        if isinstance(self._metric, _BaseScorer):
            known = self._classes is not None
            asked = _KnownShares(P, self._classes) if known else _KnownNumbers(P)
            try:
                score = self._metric(asked, None, target, sample_weight=w)
            except TypeError:  # some metrics know no weights
                score = self._metric(asked, None, target)
            return -float(score)
        said = P[:, 0] if self._classes is None else P
        given = {"sample_weight": w} if self._weighs else {}
        return float(self._metric(target, said, **given))


class NoRisk(Risk):
    """Of a single class: nothing can go wrong."""

    name = "log_loss"
    by_row = True

    def mean(self, P: FloatArray, y: FloatArray, w: FloatArray) -> float:
        """0."""
        return 0.0

    def losses(self, P: FloatArray, y: FloatArray) -> FloatArray:
        """0."""
        return np.zeros(len(y))


class _KnownNumbers(RegressorMixin, BaseEstimator):
    """A model that says what is known already: what a scorer of scikit-learn may ask."""

    def __init__(self, P: FloatArray) -> None:
        self.P = P

    def predict(self, X: Any) -> FloatArray:
        """The numbers."""
        return self.P[:, 0]


class _KnownShares(ClassifierMixin, BaseEstimator):
    """The same for class shares."""

    def __init__(self, P: FloatArray, classes: Any) -> None:
        self.P, self.classes_ = P, classes

    def predict_proba(self, X: Any) -> FloatArray:
        """The shares."""
        return self.P

    def predict(self, X: Any) -> Any:
        """The class of the largest share."""
        return self.classes_[self.P.argmax(axis=1)]


def _turned(scorer: str) -> str:
    """The name of a score whose sign is turned."""
    return scorer.removeprefix("neg_") if scorer.startswith("neg_") else f"-{scorer}"


def make_risk(risk: Any, y: FloatArray, w: FloatArray, classes: Any = None) -> Risk:
    """Turn the parameter `risk` into a risk.

    Parameters
    ----------
    risk : None, str, Loss or callable
        None: log loss, or squared error. A name is that of a loss of weald, else of a scorer of
        scikit-learn.
    y, w : arrays of shape (n,)
    classes : array, optional
        Labels, if there are classes.
    """
    K = 1 if classes is None else len(classes)
    if classes is not None and K == 1:
        return NoRisk()
    if risk is None:
        risk = "squared_error" if classes is None else "log_loss"
    loss: Loss | None = None
    if isinstance(risk, str):
        try:
            loss = get_loss(risk, n_classes=K) if risk == "log_loss" and K > 1 else get_loss(risk)
        except ValueError as error:
            try:
                return MetricRisk(get_scorer(risk), classes, _turned(risk))
            except ValueError:
                raise ValueError(
                    f"risk={risk!r} is neither a loss of weald.losses nor a scorer of "
                    "scikit-learn (sklearn.metrics.get_scorer_names())."
                ) from error
    elif hasattr(risk, "value") and hasattr(risk, "gradient"):
        loss = get_loss(risk)
    elif callable(risk):
        score = getattr(risk, "_score_func", risk)  # of a scorer
        return MetricRisk(risk, classes, getattr(score, "__name__", type(score).__name__))
    else:
        raise ValueError(
            "risk must be None, the name of a loss or of a scorer, a loss of weald.losses, or a "
            f"function of (y, prediction), got {risk!r}."
        )
    assert loss is not None
    wanted = {1: "regression", 2: "binary"}.get(K, "multiclass")
    if loss.kind != wanted:
        raise ValueError(
            f"risk={loss.name!r} is a loss for {loss.kind} targets, but y is {wanted}."
        )
    loss.check_target(y)
    mean = float(w @ np.abs(y) / w.sum()) if classes is None else 1.0
    return LossRisk(loss, mean)
