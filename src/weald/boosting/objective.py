"""What gradient boosting minimises: one loss of all raw predictions of a row, or one for each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.boosting.defaults import Family
from weald.input.row_weights import RowWeights
from weald.input.state import CheckedState, is_whole, require
from weald.losses import AbsoluteError, Huber, Identity, Link, Loss, check_derivatives
from weald.losses.base import FAR
from weald.losses.search import bottom, weighted_quantile

__all__ = ["Objective", "residual_quantile"]

_CHECKED = 50  # rows on which the derivatives of a loss of the user's own are looked at


@dataclass(frozen=True)
class Objective(CheckedState):
    """One loss of all raw predictions of a row (`joint`: classes), or one for each of them.

    Attributes
    ----------
    losses : tuple of Loss
        One if `joint`, else as many as raw predictions.
    n_raw : int
    alpha : float, optional
        Huber's delta is this quantile of the absolute residuals, found anew in each round
        (Friedman 2001, section 4.4). `losses` then have that of the first round.
    """

    losses: tuple[Loss, ...]
    n_raw: int
    alpha: float | None = None

    def _check_state(self) -> None:
        require(len(self.losses) > 0, self, "the number of its losses")
        require(all(isinstance(loss, Loss) for loss in self.losses), self, "a loss")
        require(is_whole(self.n_raw, 1), self, "the number of scores")
        require(self.joint or len(self.losses) == self.n_raw, self, "the number of its losses")

    @property
    def joint(self) -> bool:
        """The raw predictions of a row have one loss."""
        return self.losses[0].kind == "multiclass"

    @property
    def name(self) -> str:
        """For messages."""
        return self.losses[0].name

    @property
    def link(self) -> Link:
        """From predictions to raw predictions."""
        return self.losses[0].link

    @property
    def built_in(self) -> bool:
        """The losses are weald's own."""
        return all(loss.built_in for loss in self.losses)

    @property
    def in_engine(self) -> bool:
        """The engine can work out the derivatives."""
        return len(self.losses) == 1 and self.losses[0].engine_parameters is not None

    @property
    def has_hessian(self) -> bool:
        """There are second derivatives."""
        return all(loss.has_hessian for loss in self.losses)

    @property
    def constant_hessian(self) -> bool:
        """Second derivatives are 1 everywhere."""
        return all(loss.constant_hessian for loss in self.losses)

    @property
    def floor(self) -> float | None:
        """Second derivatives are raised to at least this; None if they are positive by nature."""
        return self.losses[0].hessian_floor

    @property
    def usual_step(self) -> str:
        """The step that serves the loss best: Newton, or exact if it has (almost) no curvature."""
        return "newton" if self.has_hessian and self.losses[0].newton else "exact"

    @property
    def family(self) -> Family:
        """Which defaults suit the loss."""
        if self.usual_step == "exact":
            return "exact"
        return "likelihood" if self.losses[0].unit_free else "numbers"

    @property
    def shares_below(self) -> list[float] | None:
        """Of quantiles, the share of targets that is to lie below each raw prediction."""
        shares = [loss.share_below for loss in self.losses]
        return None if None in shares else [float(share) for share in shares if share is not None]

    def targets(self, y: FloatArray) -> list[FloatArray]:
        """The targets of each loss, from those of shape (n,) or (n, n_raw)."""
        if y.ndim == 1:
            return [y] * len(self.losses)
        return [np.ascontiguousarray(column) for column in y.T]

    def check_target(self, y: FloatArray) -> None:
        """Raise ValueError unless the losses are defined for all targets."""
        for loss, target in zip(self.losses, self.targets(y), strict=True):
            loss.check_target(target)

    def mean(self, y: FloatArray, F: FloatArray, weights: FloatArray | None) -> float:
        """Mean loss of rows with raw predictions F (n, n_raw); the mean of several losses."""
        if self.joint:
            return self.losses[0].mean(y, F, weights)
        parts = [
            loss.mean(target, F[:, k], weights)
            for k, (loss, target) in enumerate(zip(self.losses, self.targets(y), strict=True))
        ]
        return sum(parts) / len(parts)

    # --- where to begin --------------------------------------------------------------------------

    def constant(
        self, y: FloatArray, weights: FloatArray | None, offset: FloatArray | None
    ) -> FloatArray:
        """The best constant for all rows, shape (n_raw,): ``argmin_c sum w l(y, offset + c)``.

        With raw predictions of several classes the offset is left out of account.
        """
        if self.joint:
            found = np.atleast_1d(np.asarray(self.losses[0].constant(y, weights), dtype=np.float64))
            absent = np.full(self.n_raw - len(found), -FAR)  # classes that no row has
            return np.concatenate([found, absent])
        starts = []
        for k, (loss, target) in enumerate(zip(self.losses, self.targets(y), strict=True)):
            of_loss = AbsoluteError() if self.alpha is not None else loss  # Huber begins there
            if offset is None:
                starts.append(of_loss.constant(target, weights))
            else:
                starts.append(_constant(of_loss, target, weights, offset[:, k]))
        return np.array(starts, dtype=np.float64)

    def settled(self, y: FloatArray, F: FloatArray, weights: FloatArray | None) -> Objective:
        """With Huber's delta for the raw predictions F of shape (n_raw, n)."""
        if self.alpha is None:
            return self
        deltas = [
            residual_quantile(target, F[k], weights, self.alpha)
            for k, target in enumerate(self.targets(y))
        ]
        return replace(self, losses=tuple(map(Huber, deltas)))

    def check_own(
        self, y: FloatArray, F: FloatArray, uses_hessian: bool, numbers: npt.NDArray[np.intp] | None
    ) -> None:
        """Compare the derivatives of a loss of the user's own with finite differences.

        Parameters
        ----------
        y : array of shape (n,) or (n, n_raw)
        F : array of shape (n_raw, n)
            Raw predictions before the first round; the loss is looked at around them.
        uses_hessian : bool
            Otherwise a second derivative may be anything.
        numbers : array of shape (n,), optional
            Numbers of the rows in messages.
        """
        n = F.shape[1]
        some = np.unique(np.linspace(0, n - 1, _CHECKED).astype(np.intp))
        away = np.linspace(-1, 1, len(some))  # both sides of the start
        names = some if numbers is None else numbers[some]
        for k, (loss, target) in enumerate(zip(self.losses, self.targets(y), strict=True)):
            if loss.built_in:
                continue
            scale = 1.0
            if loss.kind == "regression" and isinstance(loss.link, Identity):
                scale = float(np.std(target[some])) or 1.0
            if self.joint:
                at = F[:, some].T + np.outer(away, np.linspace(-1, 1, len(F)))
            else:
                at = F[k, some] + scale * away
            check_derivatives(loss, target[some], at, rows=names, hessian=uses_hessian)


def residual_quantile(
    y: FloatArray, F: FloatArray, weights: FloatArray | None, alpha: float
) -> float:
    """Weighted quantile of ``|y - F|``; above 0, as a threshold has to be.

    Examples
    --------
    >>> residual_quantile(np.arange(10.0), np.zeros(10), None, 0.9)
    8.5
    """
    distance = np.abs(y - F)
    if weights is None:
        # Two neighbours in rank instead of a sort.
        wanted = alpha * len(distance)
        low = min(max(int(np.ceil(wanted - 1e-9)) - 1, 0), len(distance) - 1)
        high = min(int(np.floor(wanted + 1e-9)), len(distance) - 1)
        pair = np.partition(distance, (low, high))[[low, high]]
        found = float(pair[0] + (pair[1] - pair[0]) / 2)
    else:
        found = weighted_quantile(distance, weights, alpha)
    if found > 0:
        return found
    positive = distance[distance > 0]
    return float(positive.min()) if len(positive) else 1.0


def _constant(loss: Loss, y: FloatArray, weights: FloatArray | None, offset: FloatArray) -> float:
    """``argmin_c sum w l(y, offset + c)``."""
    if loss.of_difference:
        return float(np.asarray(loss.constant(y - offset, weights)))
    rows = RowWeights(weights, len(y))

    def slope(c: float) -> float:
        parts = loss.gradient(y, offset + c)
        total = rows.sum(parts)
        return 0.0 if abs(total) <= 1e-14 * rows.sum(np.abs(parts)) else total

    if loss.kind == "regression" and isinstance(loss.link, Identity):
        near = rows.mean(y - offset)
        spread = float(np.ptp(y - offset)) or abs(near) or 1.0
        return bottom(slope, near, spread, 1e9 * spread)
    near = float(np.asarray(loss.constant(y, weights)) - rows.mean(offset))
    return bottom(slope, near, 1.0, 2 * FAR)
