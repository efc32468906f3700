"""The heat map: a row per method and target, a column per table, fit beside predict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import BytesIO
from itertools import product
from pathlib import Path

from bench.matrix.cells import Cell
from bench.matrix.methods import METHODS
from bench.matrix.summary import Kind, View
from bench.matrix.tables import TABLES
from bench.matrix.targets import TARGETS

LARGEST = 16.0
"""The ratio from which on colours do not change; its inverse is the other end."""


def draw(found: Sequence[View], path: Path) -> None:
    """Draw the ratios of all cells."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt
    from PIL import Image

    by_name = {view.cell.name: view for view in found}
    lines = [
        (method, target)
        for method, target in product(METHODS, TARGETS)
        if any(Cell(method, target, table).name in by_name for table in TABLES)
    ]
    if not lines:
        return
    with plt.rc_context({"font.size": 8}):
        figure, panels = plt.subplots(
            1, 2, figsize=(13, 1.2 + 0.26 * len(lines)), sharey=True, layout="constrained"
        )
        for panel, kind in zip(panels, ("fit", "predict"), strict=True):
            values = [
                [ratio(by_name.get(Cell(method, target, table).name), kind) for table in TABLES]
                for method, target in lines
            ]
            colours = [[math.log2(value) for value in line] for line in values]
            end = math.log2(LARGEST)
            panel.pcolormesh(colours, cmap="RdYlGn", vmin=-end, vmax=end, edgecolors="white")
            panel.set_title(f"{kind}: fastest peer's time / weald's")
            panel.set_xticks(
                [i + 0.5 for i in range(len(TABLES))],
                [table.name for table in TABLES],
                rotation=45,
                ha="right",
            )
            panel.set_yticks(
                [i + 0.5 for i in range(len(lines))],
                [f"{method.name}, {target.name}" for method, target in lines],
            )
            panel.tick_params(length=0)
            for (i, line), j in product(enumerate(values), range(len(TABLES))):
                if not math.isnan(line[j]):
                    digits = 2 if line[j] < 0.995 else 1 if line[j] < 9.95 else 0
                    colour = "white" if abs(colours[i][j]) > 0.8 * end else "black"
                    where = {"ha": "center", "va": "center", "color": colour}
                    panel.text(j + 0.5, i + 0.5, f"{line[j]:.{digits}f}", **where)
                elif Cell(*lines[i], TABLES[j]).name in by_name:
                    panel.text(j + 0.5, i + 0.5, "no peer", ha="center", va="center")
        panels[0].invert_yaxis()
        drawn = BytesIO()
        figure.savefig(drawn, dpi=90)
        plt.close(figure)
    # A picture of few colours is a third of the size.
    Image.open(drawn).convert("RGB").quantize(64).save(path, optimize=True)


def ratio(view: View | None, kind: Kind) -> float:
    """The ratio of a cell; NaN where there is none."""
    value = view.ratio(kind) if view else None
    return math.nan if value is None else value
