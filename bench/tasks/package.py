"""What the package as a whole costs: its import and its wheel."""

from __future__ import annotations

from bench.measure import ImportTime, WheelSize
from bench.task import OURS, Task

TASKS: list[Task] = [
    ImportTime("import", {OURS: "weald", "sklearn": "sklearn", "sklearn.tree": "sklearn.tree"}),
    # The line above loads weald's parts when they are asked for; this one asks for the trees.
    ImportTime("import of the tree classes", {OURS: "weald.tree", "sklearn.tree": "sklearn.tree"}),
    WheelSize("wheel size", limit_mb=5.0),
]
