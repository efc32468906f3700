"""The distribution of margins, as it grows with the members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.theory.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_margins"]

_BANDS = ((0.05, 1.0, 0.15), (0.25, 0.75, 0.3))  # from quantile, to quantile, opacity


def draw_margins(result: Any, ax: Axes) -> None:
    """Quantiles of the margins over the number of members."""
    members = np.arange(1, len(result.minimum) + 1)
    at = {round(float(q), 3): result.quantiles[:, j] for j, q in enumerate(result.levels)}
    for low, high, opacity in _BANDS:
        label = f"margins of {high - low:.0%} of rows"
        ax.fill_between(
            members, at[low], at[high], color=style.SKY, alpha=opacity, linewidth=0, label=label
        )
    ax.plot(members, at[0.5], color=style.BLUE, label="median")
    ax.plot(members, result.minimum, color=style.VERMILION, label="minimum")
    if np.isfinite(result.best_minimum):
        ax.axhline(
            result.best_minimum,
            color=style.VERMILION,
            linestyle="--",
            label="best minimum of these members",
        )
    ax.axhline(0.0, color=style.GREY, linewidth=0.8, linestyle=":")
    ax.set_ylim(-1.03, 1.03)
    style.members(ax, len(members))
    style.finish(ax, x="members", y="margin (from -1, all wrong, to 1, all right)")
