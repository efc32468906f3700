"""A picture of which member rules where."""

from __future__ import annotations

from typing import Any

from weald.forest import ExtraTreesClassifier
from weald.input.table import check_X_predict
from weald.params.extras import import_extra

__all__ = ["plot_regions"]


def plot_regions(model: Any, X: Any, columns: Any, ax: Any) -> Any:
    """See :meth:`weald.conditional.base.Conditional.plot_regions`."""
    plt = import_extra("matplotlib.pyplot", "plot_regions")
    weights = model.gate_weights(X)
    ruling = weights.argmax(axis=1)
    guide = ExtraTreesClassifier(50, max_depth=5, random_state=0).fit(X, ruling)
    table = check_X_predict(guide, X)
    names = getattr(guide, "feature_names_in_", [f"column {j}" for j in range(table.shape[1])])
    if columns is None:
        numeric = [j for j, labels in enumerate(guide.categories_) if labels is None]
        order = sorted(numeric, key=lambda j: -guide.feature_importances_[j])
        columns = (order * 2)[:2] if order else (0, 0)
    a, b = (list(names).index(c) if isinstance(c, str) else int(c) for c in columns)
    if ax is None:
        ax = plt.subplots(figsize=(7, 5), layout="constrained")[1]
    for m, name in enumerate(model.named_estimators_):
        rows = ruling == m
        label = f"{name}: rules {rows.mean():.0%}, mean weight {weights[:, m].mean():.2f}"
        ax.scatter(table[rows, a], table[rows, b], s=9, color=f"C{m % 10}", label=label)
    ax.set_xlabel(str(names[a]))
    ax.set_ylabel(str(names[b]))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), title="who counts most")
    return ax
