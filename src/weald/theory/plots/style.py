"""How all pictures of the theory look: colours that colour-blind readers tell apart, and legends.

The colours are those of Okabe and Ito, "Color Universal Design" (2008). The yellow is left out: it
is too light for lines on white.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BLACK",
    "BLUE",
    "COLOURS",
    "GREEN",
    "GREY",
    "ORANGE",
    "PURPLE",
    "SKY",
    "VERMILION",
    "finish",
    "members",
    "percent",
]

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILION = "#D55E00"
SKY = "#56B4E9"
PURPLE = "#CC79A7"
BLACK = "#000000"
GREY = "#999999"
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, BLACK)


def finish(ax: Axes, *, x: str, y: str, title: str = "", columns: int = 2) -> None:
    """Name the axes (with units), and put the legend above them, where it hides nothing.

    Parameters
    ----------
    ax : matplotlib Axes
    x, y : str
    title : str
        Of the legend, or of the picture if it has no legend.
    columns : int
        Of the legend.
    """
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_legend_handles_labels()[0]:
        legend = ax.legend(
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=columns,
            frameon=False,
            title=title or None,
        )
        for handle in legend.legend_handles:
            if handle is not None and not isinstance(handle, Rectangle):
                handle.set_alpha(1.0)  # faint dots are for clouds of them
    elif title:
        ax.set_title(title)


def members(ax: Axes, n: int) -> None:
    """Numbers of members or rounds on the x axis: whole ones, and a dot if there is only one."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if n == 1:
        for line in ax.lines:
            if np.size(line.get_xdata()) == 1:
                line.set_marker("o")


def percent(axis: object) -> None:
    """Show the numbers of an axis, which are shares, as percentages."""
    axis.set_major_formatter(PercentFormatter(1.0))  # type: ignore[attr-defined]
