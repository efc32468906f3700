"""Run cells of the matrix and put them in the place of their last results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bench import machine
from bench.matrix import promises, report
from bench.matrix.cells import CELLS, Cell
from bench.matrix.measure import Result, measure, with_memory
from bench.matrix.store import Store
from bench.matrix.summary import View
from bench.task import Settings, Task


def chosen(pattern: str) -> tuple[list[Cell], list[Task]]:
    """The cells, and the tasks beside them, whose name matches."""
    cells = [cell for cell in CELLS if re.search(pattern, cell.name, re.IGNORECASE)]
    tasks = [task for task in promises.TASKS if re.search(pattern, task.name, re.IGNORECASE)]
    return cells, tasks


def estimate(cells: Sequence[Cell], kept: dict[str, Result]) -> float:
    """Seconds that cells will take: what they took, or the mean of their method's others."""
    known = {cell.name: kept[cell.name].seconds for cell in CELLS if cell.name in kept}
    total = 0.0
    for cell in cells:
        like = [
            known[other.name]
            for other in CELLS
            if other.name in known and other.method.name == cell.method.name
        ]
        default = sum(like) / len(like) if like else 10.0
        total += known.get(cell.name, default)
    return total


def weigh(cells: Sequence[Cell], folder: Path, settings: Settings) -> None:
    """Measure the memory of those cells whose time is known."""
    store = Store.read(folder, settings.quick)
    date = machine.facts()["date"]
    known = [cell for cell in cells if cell.name in store.results]
    for number, cell in enumerate(known, 1):
        result = with_memory(store.results[cell.name], cell, settings, date)
        store.add(result)
        store.write(folder)
        shown = report.memory(View(cell, result))
        print(f"[{number}/{len(known)}] {cell.name}: {shown} MB", flush=True)
    report.write(folder, store)
    print(f"\n{report.bars(store)}\n\nwritten to {folder}")


def run(cells: Sequence[Cell], tasks: Sequence[Task], folder: Path, settings: Settings) -> None:
    """Measure cells and tasks; the file of results is rewritten after every cell."""
    store = Store.read(folder, settings.quick)
    facts = machine.facts()
    store.machine = facts
    expected = estimate(cells, store.results)
    print(f"the matrix: {len(cells)} cells, about {expected / 60:.1f} minutes", flush=True)
    for number, cell in enumerate(cells, 1):
        result = measure(cell, settings, facts["date"])
        store.add(result)
        store.write(folder)
        view = View(cell, result)
        ratios = (
            f"fit {report.times(view.ratio('fit'))}, predict {report.times(view.ratio('predict'))}"
        )
        print(f"[{number}/{len(cells)}] {cell.name}: {ratios} ({result.seconds:.0f} s)", flush=True)
    for number, task in enumerate(tasks, 1):
        print(f"[{number}/{len(tasks)}] {task.name}", flush=True)
        store.add_rows(task.measure(settings), facts["date"])
    report.write(folder, store)
    print(f"\n{report.summary(store)}\n\nwritten to {folder}")
