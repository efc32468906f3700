"""What a loss is: a link, a value and a gradient, perhaps a second derivative.

A loss says how bad score F is for target y. Everything here works on arrays, one row per entry:
targets ``y`` of shape (n,), scores ``F`` of shape (n,), or (n, K) for K classes. Derivatives are
with respect to the score. Losses are small frozen objects that can be compared, hashed and pickled.

Targets are numbers (regression), 0 or 1 (binary), or codes 0 .. K-1 (multiclass). Weights are not a
matter of the loss of a row; :meth:`Loss.mean` and :meth:`Loss.constant` take them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from weald._engine import FloatArray
from weald.input.row_weights import RowWeights
from weald.losses.links import Identity, Link
from weald.losses.search import bottom, present

Kind = Literal["regression", "binary", "multiclass"]

# The best constant is infinitely far away if all counts are 0 or only one class is there. We stop
# where the prediction is within 1e-13 of it.
FAR = 30.0

_BLOCK = 65_536  # rows looked at together

# What is known of a formula is not known of a variation of it: a subclass says it again, or has the
# defaults of Loss.
_OF_THE_FORMULA = (
    "built_in",
    "engine_parameters",
    "newton",
    "hessian_floor",
    "unit_free",
    "of_difference",
    "share_below",
    "line_step",
    "leaf_steps",
)


class Leaves(Protocol):
    """The rows of the leaves of a tree, by their distances ``y - F``."""

    def quantiles(self, q: float) -> FloatArray:
        """Weighted quantile of the distances in each leaf."""

    def means(self, of: Callable[[FloatArray], FloatArray], centre: FloatArray) -> FloatArray:
        """Weighted mean in each leaf of a function of the distances from its centre."""


class Loss(ABC):
    """A loss of your own: subclass it with ``value`` and ``gradient``, the rest is given.

    ``hessian`` is optional; without it a model uses the gradient alone. Check your formulas with
    :func:`weald.losses.check_derivatives`.

    Attributes
    ----------
    name : str
        Used in messages and by :func:`weald.losses.get_loss`.
    kind : "regression", "binary" or "multiclass"
        What targets are, see above.
    link : Link
        Turns scores into predictions: the target's mean or quantile, or probabilities.
    smooth : bool
        Whether the gradient is continuous.
    convex : bool
        Whether every row's loss is convex in its score.
    constant_hessian : bool
        Whether the second derivative is 1 everywhere.
    has_hessian : bool
        Whether there is a second derivative at all.
    n_classes : int or None
        Of a multiclass loss, the number of classes; None takes the largest code as the last class.
    positive_only : bool
        Whether negative targets have no loss.
    multiclass : type of Loss or None
        Of a loss of two classes, the one that goes by its name if there are more.
    newton : bool
        Whether Newton steps serve it well, if it has second derivatives. False: they are (almost) 0
        in places, and the step of a leaf is found from its rows.
    hessian_floor : float or None
        What second derivatives are held at; None if they are positive by nature.
    unit_free : bool
        Whether the loss does not depend on the unit of the target.
    of_difference : bool
        Whether it is a function of ``F - y``.
    share_below : float or None
        Of a quantile, the share of targets that is to lie below the prediction.
    engine_parameters : tuple of str or None
        Attributes the engine needs, if it has the formula under this `name`. None: it is evaluated
        in NumPy.
    built_in : bool
        Whether it is one of weald's own, see :func:`register`.

    The last seven hold for the class that sets them and not for its subclasses, whose formulas may
    differ. The same is true of the methods `line_step` and `leaf_steps`.

    Examples
    --------
    >>> class Squared(Loss):
    ...     name = "squared"
    ...     def value(self, y, F):
    ...         return (F - y) ** 2
    ...     def gradient(self, y, F):
    ...         return 2 * (F - y)
    >>> Squared().constant(np.array([1.0, 2.0, 6.0]))
    3.0
    """

    name: str = "loss"
    kind: Kind = "regression"
    link: Link = Identity()
    smooth: bool = True
    convex: bool = True
    constant_hessian: bool = False
    n_classes: int | None = None
    positive_only: bool = False
    multiclass: type[Loss] | None = None
    newton: bool = True
    hessian_floor: float | None = 1e-9  # a loss may be in any unit
    unit_free: bool = False
    of_difference: bool = False
    engine_parameters: tuple[str, ...] | None = None
    built_in: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in _OF_THE_FORMULA:
            if name not in vars(cls):
                setattr(cls, name, vars(Loss)[name])

    @property
    def share_below(self) -> float | None:
        """The share of targets that is to lie below the prediction, if it is a quantile."""
        return None

    @property
    def has_hessian(self) -> bool:
        """Whether there is a second derivative."""
        return type(self).hessian is not Loss.hessian

    @abstractmethod
    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """Loss of each row, shape (n,)."""

    @abstractmethod
    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """Derivative of the loss with respect to the score, shape of F."""

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """Second derivative with respect to the score, shape of F; with K classes, its diagonal."""
        raise NotImplementedError(
            f"{self.name} has no second derivative: use its gradient only (has_hessian is False)."
        )

    def mean(
        self, y: npt.ArrayLike, F: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Weighted mean of the rows' losses, ``sum w_i l(y_i, F_i) / sum w_i``.

        Parameters
        ----------
        y : array of shape (n,)
        F : array of shape (n,) or (n, K)
        sample_weight : array of shape (n,), optional
            Not negative; rows of weight 0 do not count.
        """
        y, w, counts = present(y, sample_weight)
        F = np.asarray(F, dtype=np.float64)
        values = self.value(y, F if counts is None else F[counts])
        return RowWeights(w, len(y)).mean(values)

    def constant(
        self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float | FloatArray:
        """The one score that is best for all rows, ``argmin_c sum w_i l(y_i, c)``.

        Found from the gradient, which must change its sign once (as it does if the loss is convex).
        Of several best scores it is the middle one. Where the loss falls without end, as for a
        single class, the search stops: for classes at a score of -30 or 30, else a billion times
        the spread of the targets from their mean (identity link) or 30 from the score of their
        mean (other links).

        Parameters
        ----------
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Not negative; rows of weight 0 do not count.

        Returns
        -------
        float, or array of shape (K,)
        """
        y, w, _ = present(y, sample_weight)
        if self.kind == "multiclass":
            return self._constant_of_classes(class_weights(y, w, self.n_classes or 2))
        if self.kind == "binary":
            # Rows with the same target have the same loss, so two rows say it all.
            w = class_weights(y, w, 2)
            y = np.array([0.0, 1.0])

        rows = RowWeights(w, len(y))

        def slope(c: float) -> float:
            parts = self.gradient(y, np.full(len(y), c))
            total, noise = rows.sum(parts), 1e-14 * rows.sum(np.abs(parts))
            return 0.0 if abs(total) <= noise else total

        return bottom(slope, *self._where_to_search(y, rows))

    def line_step(
        self, y: FloatArray, F: FloatArray, h: FloatArray, r: FloatArray, rows: RowWeights
    ) -> float | None:
        """``argmin_{nu >= 0} sum w_i l(y_i, F_i + nu h_i)`` if there is a formula, else None.

        Infinity if the loss falls for ever.

        Parameters
        ----------
        y, F, h, r : arrays of shape (n,)
            Targets, scores, the direction (of which the largest number is 1 or -1), the negative
            gradient.
        rows : RowWeights
        """
        return None

    def leaf_steps(self, leaves: Leaves) -> FloatArray | None:
        """The best step of each leaf, ``argmin_v sum w_i l(y_i, F_i + v)``, if there is a formula.

        None: it is found from the sign of the slope.
        """
        return None

    def check_target(self, y: npt.ArrayLike) -> None:
        """Raise ValueError unless the loss is defined for all targets."""
        y = np.asarray(y, dtype=np.float64)
        if y.ndim != 1:
            raise ValueError(f"{self.name} needs targets of shape (n,), got shape {y.shape}.")
        rule, allowed = self._domain(y)
        wrong = ~(np.isfinite(y) & allowed)
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(f"{self.name} needs {rule}, got {float(y[row])} in row {row}.")

    def _domain(self, y: FloatArray) -> tuple[str, npt.NDArray[np.bool_]]:
        """Which targets have a loss, in words and row by row."""
        if self.kind == "regression":
            return "finite targets", np.isfinite(y)
        if self.kind == "binary":
            return "targets 0 or 1", (y == 0) | (y == 1)
        codes = (y >= 0) & (y == np.floor(y))
        if self.n_classes is None:
            return "class codes 0, 1, 2, ... as targets", codes
        return f"class codes 0 to {self.n_classes - 1} as targets", codes & (y < self.n_classes)

    def _where_to_search(self, y: FloatArray, rows: RowWeights) -> tuple[float, float, float]:
        """Start, first step and reach of the search for the best constant."""
        if self.kind == "binary":
            return 0.0, 1.0, FAR
        centre = rows.mean(y)
        if isinstance(self.link, Identity):
            spread = float(y.max() - y.min()) or abs(centre) or 1.0
            return centre, spread, 1e9 * spread
        start = float(self.link.link(np.asarray(centre)))
        return float(np.clip(np.nan_to_num(start), -FAR, FAR)), 1.0, FAR

    def _constant_of_classes(self, w: FloatArray) -> FloatArray:
        """Best scores of K classes by quasi-Newton steps (L-BFGS), from 0 and within -30 .. 30."""
        codes, n_classes = np.arange(len(w), dtype=np.float64), len(w)
        share = w / w.sum()

        def risk(c: FloatArray) -> tuple[float, FloatArray]:
            F = np.tile(c, (n_classes, 1))
            return float(share @ self.value(codes, F)), share @ self.gradient(codes, F)

        found = minimize(
            *(risk, np.zeros(n_classes)),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-FAR, FAR)] * n_classes,
            options={"ftol": 1e-15, "gtol": 1e-10},
        )
        return np.asarray(found.x, dtype=np.float64)


REGISTERED: list[type[Loss]] = []
_AnyLoss = TypeVar("_AnyLoss", bound=type[Loss])


def register(loss: _AnyLoss) -> _AnyLoss:
    """Make a loss of this package known by its name, which estimators then take for it."""
    loss.built_in = True
    REGISTERED.append(loss)
    return loss


def class_weights(y: FloatArray, w: FloatArray, n_classes: int) -> FloatArray:
    """Sum of the weights of each class, from codes, for `n_classes` classes or more."""
    total = np.zeros(n_classes)
    for begin in range(0, len(y), _BLOCK):  # no copies of all rows
        codes = y[begin : begin + _BLOCK].astype(np.intp)
        part = np.bincount(codes, weights=w[begin : begin + _BLOCK], minlength=len(total))
        total = np.append(total, np.zeros(len(part) - len(total))) + part
    return total


def set_number(loss: Loss, name: str, rule: str, *, low: float, high: float = np.inf) -> None:
    """Check a parameter of a frozen loss and make it a float; `low` and `high` are excluded."""
    value = getattr(loss, name)
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not low < float(value) < high:
        raise ValueError(f"{name} of {loss.name} must be {rule}, got {value!r}.")
    object.__setattr__(loss, name, float(value))
