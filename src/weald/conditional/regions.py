"""A picture of which member rules where."""

from __future__ import annotations

from typing import Any

import numpy as np

from weald._engine import FloatArray
from weald.forest import ExtraTreesRegressor
from weald.input.table import check_X_predict
from weald.params.extras import axes_or_new

__all__ = ["plot_regions"]

_WIDTH = 0.3  # of the stripe of a category
_LABELS = 20  # more categories than these have no names at the axis


def plot_regions(model: Any, X: Any, columns: Any, ax: Any) -> Any:
    """See :meth:`weald.conditional.base.Conditional.plot_regions`."""
    weights = model.gate_weights(X)
    ruling = weights.argmax(axis=1)
    guide = ExtraTreesRegressor(50, max_depth=5, max_bins=None, random_state=0).fit(X, weights)
    table = np.asarray(check_X_predict(guide, X), dtype=np.float64)
    names = list(
        getattr(guide, "feature_names_in_", (f"column {j}" for j in range(table.shape[1])))
    )
    shown = _best_two(guide) if columns is None else _numbers(columns, names)
    ax = axes_or_new(ax, "plot_regions", (7, 5))
    chance = np.random.default_rng(0)
    places = [_places(table[:, j], guide.categories_[j], chance) for j in shown]
    if len(places) == 1:  # there is no other column
        places.append(weights.max(axis=1))
        ax.set_ylabel("weight of the member")
    for m, name in enumerate(model.named_estimators_):
        rows = ruling == m
        label = f"{name}: rules {rows.mean():.0%}, mean weight {weights[:, m].mean():.2f}"
        ax.scatter(places[0][rows], places[1][rows], s=9, color=f"C{m % 10}", label=label)
    for j, axis in zip(shown, (ax.xaxis, ax.yaxis), strict=False):
        axis.set_label_text(str(names[j]))
        labels = guide.categories_[j]
        if labels is not None:
            axis.set_ticks(range(len(labels)), labels if len(labels) <= _LABELS else ())
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), title="who counts most")
    return ax


def _best_two(guide: Any) -> list[int]:
    """The columns on which the weights depend most; those of numbers first."""
    text = [labels is not None for labels in guide.categories_]
    order = sorted(range(len(text)), key=lambda j: (text[j], -guide.feature_importances_[j]))
    return order[:2]


def _numbers(columns: Any, names: list[Any]) -> list[int]:
    """Two columns, by number or by name."""
    given = list(columns) if np.iterable(columns) and not isinstance(columns, str) else [columns]
    found = [names.index(c) if c in names else c for c in given]
    if len(found) != 2 or not all(
        isinstance(c, int | np.integer) and 0 <= c < len(names) for c in found
    ):
        raise ValueError(
            f"columns must be two columns of the table, by name or by number, got {columns!r}."
        )
    return [int(c) for c in found]


def _places(values: FloatArray, labels: Any, chance: np.random.Generator) -> FloatArray:
    """Where to draw the rows: numbers as they are, those of a category in a stripe."""
    if labels is None:
        return values
    return values + _WIDTH * chance.uniform(-1, 1, len(values))
