"""Pictures with rounds of boosting from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.theory.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_certificate"]


def draw_certificate(result: Any, ax: Axes) -> None:
    """The error and its bounds after each round, on a logarithmic scale."""
    rounds = np.arange(1, len(result.error) + 1)
    full = result.full_steps
    chord = "Π √(1 - 4 edge²)" if full else "Π B, from edges and votes"
    sharp = np.allclose(result.edge_bound, result.product, rtol=1e-9)
    lines = [
        (
            "exponential_bound",
            "exp(-2 Σ edge²)" if full else "exponential bound of the edges",
            style.VERMILION,
            ":",
        ),
        ("edge_bound", chord, style.ORANGE, "-."),
        ("product", "Π Z = mean exp(-y F)" + f" = {chord}" * sharp, style.BLUE, "-"),
        ("randomised_error", "error of the randomised vote", style.GREEN, "--"),
        ("error", "error of the vote", style.BLACK, "-"),
    ]
    if sharp:
        del lines[1]
    for name, label, colour, dashes in lines:
        values = getattr(result, name)
        if np.isfinite(values).any():
            shown = np.where(values > 0, values, np.nan)  # zero has no place on this scale
            ax.plot(rounds, shown, color=colour, linestyle=dashes, label=label)
    free = np.flatnonzero(result.error == 0)
    if len(free):
        ax.axvline(free[0] + 1, color=style.GREY, linewidth=0.8, label="no error from here on")
    ax.set_yscale("log")
    ax.set_ylim(top=min(ax.get_ylim()[1], 5.0))  # what is far above 1 says nothing
    ax.axhline(1.0, color=style.GREY, linewidth=0.8, linestyle=":")
    style.members(ax, len(rounds))
    which = "training rows" if result.training_rows else "rows given"
    style.finish(ax, x="rounds", y=f"share of {which} (log scale)")
