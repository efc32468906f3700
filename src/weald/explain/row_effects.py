"""What each column changes about the prediction of one row, for any model.

The effect of a column is the prediction of the row, less the mean of its predictions with that
column's value taken from other rows, one after another. Columns that act together are not shared
out: effects need not add up to the prediction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from weald._engine import FloatArray
from weald.explain._view import is_missing, label_words, number_words
from weald.input.raw_table import gather_cells
from weald.params.words import listed

__all__ = ["ColumnEffect", "RowEffects", "row_effects"]


@dataclass(frozen=True)
class ColumnEffect:
    """How much a column's value moves a prediction."""

    feature: str
    value: object
    """The row's own value; None where it is missing."""
    effect: float
    """Prediction with this value, less the mean with the values of other rows."""

    def __str__(self) -> str:
        if self.value is None:
            words = f"{self.feature} is missing"
        elif isinstance(self.value, str):
            words = f"{self.feature} = {label_words(self.value)}"
        else:
            words = f"{self.feature} = {number_words(float(self.value))}"  # type: ignore[arg-type]
        return f"{words} ({self.effect:+.3g})"


@dataclass(frozen=True)
class RowEffects:
    """Why one row gets its prediction. ``str()`` gives it as a sentence."""

    prediction: object
    """A label, or a number."""
    value: float
    """The number that is explained: the share of the predicted class, or the prediction."""
    usual: float
    """Its mean over the other rows."""
    effects: tuple[ColumnEffect, ...]
    """The largest first, whatever their sign."""

    def words(self, top: int = 5) -> str:
        """A sentence that names the columns of the largest effects."""
        if isinstance(self.prediction, str | int | np.integer) or self.value != self.prediction:
            said = f"predicts {self.prediction} with a share of {self.value:.3g}"
        else:
            said = f"predicts {number_words(float(f'{self.value:.4g}'))}"
        said += f" (on average {number_words(float(f'{self.usual:.3g}'))})"
        there = [one for one in self.effects[:top] if one.effect != 0]
        raising = [str(one) for one in there if one.effect > 0]
        lowering = [str(one) for one in there if one.effect < 0]
        if raising and lowering:
            return f"{said} because {listed(raising)}, although {listed(lowering)}"
        if not there:
            return f"{said}; no single column changes that"
        return f"{said} because {listed(raising or lowering)}"

    def __str__(self) -> str:
        return self.words()


def row_effects(
    model: Any, X: Any, row: int, *, feature_names: Iterable[str] | None = None
) -> RowEffects:
    """Tell which columns move the prediction of a row, and by how much.

    Parameters
    ----------
    model : fitted classifier or regressor
    X : array or data frame of shape (n, d)
        The row, and others to compare it with; a few hundred are enough.
    row : int
        Its number.
    feature_names : iterable of str, optional
        Default: the names of the columns, else ``feature_0``, ...

    Examples
    --------
    >>> from weald import DecisionTreeRegressor
    >>> X = [[0, 5], [0, 6], [1, 5], [1, 6]]
    >>> tree = DecisionTreeRegressor().fit(X, [10, 10, 30, 30])
    >>> print(row_effects(tree, np.array(X), 2, feature_names=["garden", "age"]))
    predicts 30 (on average 20) because garden = 1 (+10)
    """
    n, d = X.shape
    plain = isinstance(X, np.ndarray)
    frame = None if plain else nw.from_native(X, eager_only=True)
    if feature_names is not None:
        names = list(feature_names)
    else:
        names = [f"feature_{j}" for j in range(d)] if frame is None else list(frame.columns)
    said = _said(model, X)
    shares = said.ndim == 2
    column = int(said[row].argmax()) if shares else 0
    now = said[:, column] if shares else said
    same = np.full(n, row)
    effects = []
    for j in range(d):
        there = _said(model, gather_cells(X, [None if k == j else same for k in range(d)]))
        mean = float((there[:, column] if shares else there).mean())
        cell = X[row, j] if frame is None else frame[:, j].to_list()[row]
        effects.append(ColumnEffect(names[j], _cell(cell), float(now[row]) - mean))
    effects.sort(key=lambda one: -abs(one.effect))
    label: Any = model.classes_[column] if shares else now[row]
    return RowEffects(
        prediction=label.item() if hasattr(label, "item") else label,
        value=float(now[row]),
        usual=float(now.mean()),
        effects=tuple(effects),
    )


def _said(model: Any, X: Any) -> FloatArray:
    ask = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    return np.asarray(ask(X), dtype=np.float64)


def _cell(cell: Any) -> Any:
    if is_missing(cell):
        return None
    return cell.item() if hasattr(cell, "item") else cell
