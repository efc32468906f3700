"""Losses: how bad a score is for a target, and in which direction it should move.

A loss is a link, a value and a gradient, perhaps a second derivative (:class:`Loss`). Built-in
losses have a name and a class; both go through :func:`get_loss`, and so do losses of your own.

>>> import numpy as np
>>> loss = get_loss("huber", delta=2.0)
>>> loss.gradient(np.zeros(3), np.array([-1.0, 0.5, 5.0]))
array([-1. ,  0.5,  2. ])
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any, get_args

from weald.losses.base import REGISTERED, Kind, Loss
from weald.losses.binary import Exponential, Focal, LogLoss, SmoothHinge
from weald.losses.checking import check_derivatives
from weald.losses.links import (
    HalfLogit,
    HingeLink,
    Identity,
    Link,
    Log,
    Logit,
    SoftmaxLink,
)
from weald.losses.multiclass import Softmax
from weald.losses.own import OwnLoss
from weald.losses.positive import Gamma, Poisson, Tweedie
from weald.losses.regression import AbsoluteError, Huber, LogCosh, Quantile, SquaredError

__all__ = [
    "LOSSES",
    "AbsoluteError",
    "Exponential",
    "Focal",
    "Gamma",
    "HalfLogit",
    "HingeLink",
    "Huber",
    "Identity",
    "Link",
    "Log",
    "LogCosh",
    "LogLoss",
    "Logit",
    "Loss",
    "OwnLoss",
    "Poisson",
    "Quantile",
    "SmoothHinge",
    "Softmax",
    "SoftmaxLink",
    "SquaredError",
    "Tweedie",
    "check_derivatives",
    "get_loss",
    "names_of",
]

for _module in iter_modules(__path__):  # a loss is registered where it is defined
    import_module(f"{__name__}.{_module.name}")
_KINDS = get_args(Kind)
LOSSES: dict[str, type[Any]] = {
    loss.name: loss
    for loss in sorted(REGISTERED, key=lambda one: (_KINDS.index(one.kind), one.positive_only))
}


def names_of(kind: Kind) -> list[str]:
    """The names of all losses of a kind.

    >>> names_of("binary")
    ['log_loss', 'exponential', 'smooth_hinge', 'focal']
    """
    return [name for name, loss in LOSSES.items() if loss.kind == kind]


def get_loss(loss: Any, **params: Any) -> Loss:
    """Turn a name, or an object of your own, into a loss.

    Parameters
    ----------
    loss : str, Loss, or any object with ``value`` and ``gradient``
        Names are the keys of ``LOSSES``.
    **params
        Parameters of a loss given by name. "log_loss" takes ``n_classes`` as well, and is the
        softmax if there are more than two.

    Examples
    --------
    >>> get_loss("quantile", quantile=0.9)
    Quantile(quantile=0.9)
    >>> get_loss("log_loss"), get_loss("log_loss", n_classes=3)
    (LogLoss(), Softmax(n_classes=3))
    """
    if isinstance(loss, str) and loss in LOSSES:
        if LOSSES[loss].multiclass is not None and "n_classes" in params:
            several: Loss = LOSSES[loss].multiclass(**params)
            return get_loss(loss) if several.n_classes == 2 else several
        return _with_params(loss, params)
    own = not isinstance(loss, str | type) and all(
        callable(getattr(loss, method, None)) for method in ("value", "gradient")
    )
    if not own:
        names = ", ".join(map(repr, LOSSES))
        raise ValueError(
            f"loss must be one of {names}, or an object with value and gradient, got {loss!r}."
        )
    if params:
        raise ValueError(f"{', '.join(params)} can be given with the name of a loss only.")
    return loss if isinstance(loss, Loss) else OwnLoss(loss)


def _with_params(name: str, params: dict[str, Any]) -> Loss:
    known = list(signature(LOSSES[name]).parameters)
    for param in params:
        if param not in known:
            takes = ", ".join(known) or "none"
            raise ValueError(f"{name} has no parameter {param!r} (its parameters: {takes}).")
    made: Loss = LOSSES[name](**params)
    return made
