"""Do the derivatives of a loss belong to its value? Finite differences tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.losses.own import checked, has_hessian

_EPS = float(np.finfo(np.float64).eps)
_STEP = _EPS ** (1 / 3)  # balances the rounding of a difference against its curvature
_CLOSE = 1e-5  # a relative error that no mistake in a formula is likely to stay below


def check_derivatives(
    loss: Any,
    y: npt.ArrayLike,
    F: npt.ArrayLike,
    *,
    rows: npt.ArrayLike | None = None,
    hessian: bool = True,
) -> None:
    """Compare the gradient of a loss (and its hessian, if there) with finite differences.

    The gradient is compared with differences of ``value``, the hessian with differences of
    ``gradient``, both at a distance of about 6e-6 from each score. Where the slopes on the two
    sides of a score differ, a corner is near, and nothing between them is called wrong. Scores on
    both sides of their targets, and not too close to them, make the test sharp.

    Parameters
    ----------
    loss : Loss or any object with ``value`` and ``gradient``
    y : array of shape (n,)
    F : array of shape (n,) or (n, K)
    rows : array of shape (n,), optional
        What to call the rows in messages; 0, 1, 2, ... by default.
    hessian : bool, default True
        False looks at the gradient only.

    Raises
    ------
    ValueError
        If they disagree: names the row, its target and score, what the loss says and what the
        differences say. Also if a result has the wrong shape or is not finite.

    Examples
    --------
    >>> class Wrong:
    ...     def value(self, y, F):
    ...         return (F - y) ** 2
    ...     def gradient(self, y, F):
    ...         return F - y
    >>> check_derivatives(Wrong(), [0.0, 1.0], [0.0, 3.0])
    Traceback (most recent call last):
    ...
    ValueError: gradient of Wrong is 2 in row 1 (y=1, F=3), but differences of its value give 4.
    """
    y = np.asarray(y, dtype=np.float64)
    F = np.asarray(F, dtype=np.float64)
    name = getattr(loss, "name", type(loss).__name__)
    numbers = np.arange(len(y)) if rows is None else np.asarray(rows)

    def value(scores: FloatArray) -> FloatArray:
        # A copy each time: what a loss writes into its arguments must not spoil the comparison.
        return _finite(name, "value", loss.value(y.copy(), scores.copy()), y.shape, numbers)

    def gradient(scores: FloatArray) -> FloatArray:
        found = loss.gradient(y.copy(), scores.copy())
        return _finite(name, "gradient", found, F.shape, numbers)

    def row_value(scores: FloatArray, column: int | None) -> FloatArray:
        return value(scores)

    def own_gradient(scores: FloatArray, column: int | None) -> FloatArray:
        found = gradient(scores)
        return found if column is None else found[:, column]

    _compare(name, "gradient", "value", gradient(F), row_value, y, F, numbers)
    if hessian and has_hessian(loss):
        second = _finite(name, "hessian", loss.hessian(y.copy(), F.copy()), F.shape, numbers)
        _compare(name, "hessian", "gradient", second, own_gradient, y, F, numbers)


def _finite(
    name: str, what: str, given: Any, shape: tuple[int, ...], numbers: npt.NDArray[Any]
) -> FloatArray:
    array = checked(name, what, given, shape)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = tuple(bad[0])
        row = numbers[place[0]]
        raise ValueError(f"{what} of {name} must be finite, got {array[place]} in row {row}.")
    return array


def _compare(
    name: str,
    what: str,
    source: str,
    given: FloatArray,
    function: Callable[[FloatArray, int | None], FloatArray],
    y: FloatArray,
    F: FloatArray,
    numbers: npt.NDArray[Any],
) -> None:
    """Raise if `given` is not the derivative of `function`, column by column."""
    columns: list[int | None] = [None] if F.ndim == 1 else list(range(F.shape[1]))
    for column in columns:
        place = np.s_[:] if column is None else np.s_[:, column]
        said, scores = given[place], F[place]
        right, left = F.copy(), F.copy()
        right[place] += _STEP * np.maximum(1, np.abs(scores))
        left[place] -= _STEP * np.maximum(1, np.abs(scores))
        # The steps actually taken, after rounding.
        forth, back = right[place] - scores, scores - left[place]
        above, here, below = (function(at, column) for at in (right, F, left))
        ahead, behind = (above - here) / forth, (here - below) / back
        found = (above - below) / (forth + back)

        largest = np.max(np.abs([said, ahead, behind]), axis=0)
        bend = np.abs(ahead - behind)
        rounding = 8 * _EPS * np.max(np.abs([above, here, below]), axis=0) / forth
        # The slopes of both sides differ where a corner is near. Any slope between them will do.
        allowed = _CLOSE * largest + bend + rounding
        wrong = np.abs(said - found) > allowed
        if wrong.any():
            row = int(wrong.argmax())
            where = "" if column is None else f", column {column}"
            raise ValueError(
                f"{what} of {name} is {said[row]:.6g} in row {numbers[row]}{where} "
                f"(y={y[row]:.6g}, F={scores[row]:.6g}), but differences of its {source} give "
                f"{found[row]:.6g}."
            )
