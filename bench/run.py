"""Run the benchmarks: `make bench`, or `python -m bench.run --quick --only tree`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from bench import machine, report
from bench.measure import ROOT
from bench.task import Row, Settings
from bench.tasks import TASKS


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.run", description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN", help="tasks to run, as a regex")
    parser.add_argument("--quick", action="store_true", help="small data, one repeat")
    parser.add_argument("--repeats", type=int, default=5, help="rounds over all contenders")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per task, roughly")
    parser.add_argument(
        "--update", action="store_true", help="put the chosen tasks into the published page"
    )
    parser.add_argument("--list", action="store_true", help="name the tasks and stop")
    parser.add_argument("--output", type=Path, help="folder for results.json and RESULTS.md")
    return parser.parse_args()


def main() -> None:
    """Run the chosen tasks and write the results.

    Only a full run replaces the published page; a partial or quick one goes to build/bench, unless
    it is to update the page.
    """
    chosen = options()
    if chosen.update and chosen.quick:
        raise SystemExit("a quick run is not for the published page")
    tasks = [task for task in TASKS if re.search(chosen.only, task.name, re.IGNORECASE)]
    if not tasks:
        raise SystemExit(f"no task matches {chosen.only!r}: see --list")
    if chosen.list:
        print(*(task.name for task in tasks), sep="\n")
        return
    settings = Settings(chosen.quick, 1 if chosen.quick else chosen.repeats, chosen.budget)
    facts = machine.facts()
    rows: list[Row] = []
    for number, task in enumerate(tasks, 1):
        print(f"[{number}/{len(tasks)}] {task.name}", flush=True)
        rows += task.measure(settings)
    full = chosen.update or not (chosen.only or chosen.quick)
    folder = chosen.output or (ROOT / "bench" if full else ROOT / "build" / "bench")
    if chosen.update:
        rows, facts = report.updated(folder, rows, facts["date"])
    report.write(folder, rows, facts, settings)
    print(f"\n{report.table(rows)}\n\nwritten to {folder}")


if __name__ == "__main__":
    main()
