"""Losses that users bring along: any object with ``value`` and ``gradient``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.losses.base import Kind, Loss
from weald.losses.links import Identity, Link, Logit, SoftmaxLink

_LINKS: dict[str, Link] = {
    "regression": Identity(),
    "binary": Logit(),
    "multiclass": SoftmaxLink(),
}
_FACTS = ("positive_only", "newton", "hessian_floor", "unit_free", "of_difference")


@dataclass(frozen=True)
class OwnLoss(Loss):
    """Any object with ``value(y, F)`` and ``gradient(y, F)``, as a :class:`Loss`.

    What else the object has of a Loss is used: ``hessian``, ``constant``, ``check_target``,
    ``kind`` ("regression" unless it says so), ``link`` (the usual one of its kind), ``name`` (that
    of its class), ``smooth``, ``convex`` (not assumed), ``constant_hessian``, ``n_classes``,
    ``positive_only``, ``newton``, ``hessian_floor``, ``unit_free``, ``of_difference``.

    Parameters
    ----------
    loss : object

    Examples
    --------
    >>> class Cubic:
    ...     def value(self, y, F):
    ...         return np.abs(F - y) ** 3
    ...     def gradient(self, y, F):
    ...         return 3 * (F - y) * np.abs(F - y)
    >>> loss = OwnLoss(Cubic())
    >>> loss.name, loss.has_hessian
    ('Cubic', False)
    >>> round(float(loss.constant(np.array([0.0, 0.0, 3.0]))), 6)
    1.242641
    """

    loss: Any

    def __post_init__(self) -> None:
        kind = getattr(self.loss, "kind", "regression")
        if kind not in get_args(Kind):
            words = ", ".join(map(repr, get_args(Kind)))
            raise ValueError(f"kind of a loss must be one of {words}, got {kind!r}.")
        taken = {
            "kind": kind,
            "link": getattr(self.loss, "link", _LINKS[kind]),
            "name": getattr(self.loss, "name", type(self.loss).__name__),
            "smooth": getattr(self.loss, "smooth", True),
            "convex": getattr(self.loss, "convex", False),
            "constant_hessian": getattr(self.loss, "constant_hessian", False),
            "n_classes": getattr(self.loss, "n_classes", None),
        }
        taken |= {name: getattr(self.loss, name) for name in _FACTS if hasattr(self.loss, name)}
        for name, value in taken.items():
            object.__setattr__(self, name, value)

    @property
    def has_hessian(self) -> bool:
        """Whether the object has a second derivative."""
        return has_hessian(self.loss)

    def value(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """The object's ``value``."""
        return self._array("value", self.loss.value(y, F), np.shape(y))

    def gradient(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """The object's ``gradient``."""
        return self._array("gradient", self.loss.gradient(y, F), np.shape(F))

    def hessian(self, y: FloatArray, F: FloatArray) -> FloatArray:
        """The object's ``hessian``."""
        if not self.has_hessian:
            return super().hessian(y, F)
        return self._array("hessian", self.loss.hessian(y, F), np.shape(F))

    def constant(
        self, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float | FloatArray:
        """The object's ``constant``, or a search."""
        if not hasattr(self.loss, "constant"):
            return super().constant(y, sample_weight)
        own: float | FloatArray = self.loss.constant(y, sample_weight)
        return own

    def check_target(self, y: npt.ArrayLike) -> None:
        """The rule of the kind, and the object's ``check_target``."""
        super().check_target(y)
        if hasattr(self.loss, "check_target"):
            self.loss.check_target(y)

    def _array(self, what: str, given: Any, shape: tuple[int, ...]) -> FloatArray:
        return checked(self.name, what, given, shape)


def has_hessian(loss: Any) -> bool:
    """Whether an object has a second derivative, be it a Loss or not."""
    return callable(getattr(loss, "hessian", None)) and bool(getattr(loss, "has_hessian", True))


def checked(name: str, what: str, given: Any, shape: tuple[int, ...]) -> FloatArray:
    """What a loss gave back, as an array of the shape it must have."""
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what} of {name} must be an array of numbers: {error}.") from error
    if array.shape != shape:
        raise ValueError(f"{what} of {name} must have shape {shape}, got {array.shape}.")
    return array
