"""What the examples share: colours, a sheet of panels, and saving."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

# Okabe and Ito's colours, which the colour-blind tell apart too; the theory's plots have them.
from weald.theory.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "PURPLE",
    "SKY",
    "VERMILION",
    "Example",
    "log_rounds",
    "name",
    "panels",
    "save",
]

STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}


@dataclass(frozen=True)
class Example:
    """What an example shows: a figure, its point in a line or two, and the numbers behind that."""

    figure: Figure
    point: str
    numbers: Mapping[str, Any]


def panels(columns: int = 1, rows: int = 1, *, height: float = 3.3, **kwargs: Any) -> Any:
    """A figure, and its panels: one, or an array of them."""
    figure = Figure(figsize=(7.2, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **kwargs)


def name(ax: Axes, title: str, x: str, y: str) -> None:
    """Title and axis labels of a panel."""
    ax.set_title(title)
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def log_rounds(ax: Axes) -> None:
    """Make the x axis, a number of rounds or members, logarithmic with plain numbers."""
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")


def save(main: Callable[[], Example], folder: Path | None = None) -> Example:
    """Run an example, print its point, and save its figure as a PNG of the example's name."""
    folder = folder or Path(*sys.argv[1:2] or ["build/gallery"])
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        example = main()
        file = folder / f"{Path(main.__code__.co_filename).stem}.png"
        buffer = BytesIO()
        example.figure.savefig(buffer, dpi=100, format="png")
    # 64 colours are enough, and make a quarter of the bytes.
    Image.open(buffer).convert("RGB").quantize(64).save(file, optimize=True)
    print(example.point)
    return example
