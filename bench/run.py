"""Run the benchmarks, list and matrix: `make bench`, or `python -m bench.run --only tree`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from bench import machine, report
from bench.matrix import run as matrix
from bench.measure import ROOT
from bench.task import Row, Settings, Task
from bench.tasks import TASKS


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.run", description=__doc__)
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="tasks and cells to run, as a regex"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--matrix-only", action="store_true", help="the matrix, not the list")
    which.add_argument("--list-only", action="store_true", help="the list, not the matrix")
    parser.add_argument(
        "--memory", action="store_true", help="memory of the cells, whose time is known by now"
    )
    parser.add_argument("--quick", action="store_true", help="small data, one repeat")
    parser.add_argument("--repeats", type=int, default=5, help="rounds over all contenders")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per task, roughly")
    parser.add_argument(
        "--update", action="store_true", help="put the chosen ones into the published pages"
    )
    parser.add_argument("--list", action="store_true", help="name tasks and cells and stop")
    parser.add_argument("--output", type=Path, help="folder of the results")
    return parser.parse_args()


def main() -> None:
    """Run the chosen tasks and cells and write the results.

    Only a full run replaces the published pages; a partial or quick one goes to build/bench, unless
    it is to update them. Cells of the matrix always stay as they are until they are run again.
    """
    chosen = options()
    if chosen.update and chosen.quick:
        raise SystemExit("a quick run is not for the published page")
    tasks = [task for task in TASKS if re.search(chosen.only, task.name, re.IGNORECASE)]
    if chosen.matrix_only:
        tasks = []
    cells, beside = ([], []) if chosen.list_only else matrix.chosen(chosen.only)
    if not (tasks or cells or beside):
        raise SystemExit(f"nothing matches {chosen.only!r}: see --list")
    if chosen.list:
        print(*(task.name for task in (*tasks, *beside)), *(cell.name for cell in cells), sep="\n")
        return
    settings = Settings(chosen.quick, 1 if chosen.quick else chosen.repeats, chosen.budget)
    full = chosen.update or not (chosen.only or chosen.quick)
    folder = chosen.output or (ROOT / "bench" if full else ROOT / "build" / "bench")
    if chosen.memory:
        matrix.weigh(cells, folder / "matrix", settings)
        return
    if tasks:
        run_list(tasks, folder, settings, chosen.update)
    if cells or beside:
        matrix.run(cells, beside, folder / "matrix", settings)


def run_list(tasks: Sequence[Task], folder: Path, settings: Settings, update: bool) -> None:
    """Run tasks of the list and write their page."""
    facts = machine.facts()
    rows: list[Row] = []
    for number, task in enumerate(tasks, 1):
        print(f"[{number}/{len(tasks)}] {task.name}", flush=True)
        rows += task.measure(settings)
    if update:
        rows, facts = report.updated(folder, rows, facts["date"])
    report.write(folder, rows, facts, settings)
    print(f"\n{report.table(rows)}\n\nwritten to {folder}")


if __name__ == "__main__":
    main()
