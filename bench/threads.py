"""What threads gain, on paper and on this machine: `make bench-threads` writes bench/THREADS.md.

Processor time of one thread, part by part, says how much a fit could gain from more threads than
this machine has. Then fits with 1, 2 and 8 threads, and two processes of one thread each at the
same time, are repeated: what these two swing by is the machine's own.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import warnings
from collections.abc import Callable
from math import ceil
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import weald
from bench.data import Data, noisy_classes
from bench.machine import facts
from bench.measure import ROOT
from bench.report import aligned
from bench.tasks.boosting import ours
from bench.tasks.libraries import Job

TREES = 100
LEAVES = 31
COLUMNS = 28
DIVIDED = 0.15
"""Of the instructions of a boosted tree, those that divide rows and keep the queue (callgrind)."""

PAPER = (2, 4, 8)
"""The numbers of threads of the table on paper."""

HEAD = """\
# What threads gain

Made by `make bench-threads` on {machine}.
Two classes, {rows:,} x 28, {trees} trees or rounds of {leaves} leaves.

## On paper

Processor time of a fit with one thread by part, and the speed-up if nothing else limits it.
Columns of the table, rows, and trees of a forest are shared out. In a tree of boosting threads
share the {columns} columns of each node, but one of them divides its rows: {divided:.0%} of the
instructions. The rest is serial: reading the input, Python, packing trees. Calls of threads, a
microsecond for each node, memory bandwidth and caches that cores share are not on paper.
"""

COUNTED = """
Instructions of smaller fits (callgrind, 10,000 x 28, 20 trees or rounds, one thread) say the same:
trees and bins are 99.4 % of those of a forest and of extra-trees, and with derivatives, sums of
leaves and scores 98 % of those of boosting.
"""

SWING = """\
## On this machine

{reps} fits each, in milliseconds. Two processes of one thread each share nothing: where these take
longer than one alone, or swing as two threads do, it is the machine that gives less than two cores.
More threads than cores should cost nothing: compare eight with two.
"""

WHERE = {
    ("table.py", "binned"): "bins",
    ("_forest.py", "grow_forest"): "trees",
    ("learners.py", "grow"): "trees",
    ("gradients.py", "differentiate"): "rows",
    ("steps.py", "newton"): "rows",
    ("learners.py", "add"): "rows",
}
"""The Python functions that call the engine, and what it does there."""

Make = Callable[[int], Any]
METHODS: dict[str, Make] = {
    "forest": lambda threads: weald.RandomForestClassifier(TREES, n_jobs=threads, random_state=0),
    "extra-trees": lambda threads: weald.ExtraTreesClassifier(
        TREES, n_jobs=threads, random_state=0
    ),
    "boosting": lambda threads: ours(Job(threads=threads, trees=TREES)),
}


def parts(make: Make, data: Data) -> dict[str, float]:
    """Seconds of processor time of a fit with one thread, by part."""
    make(1).fit(data.X[:200], data.y[:200])  # loads what is loaded late
    profile = cProfile.Profile(process_time)
    profile.runcall(make(1).fit, data.X, data.y)
    found = dict.fromkeys(("bins", "trees", "rows", "serial"), 0.0)
    stats: dict[tuple[str, int, str], tuple[Any, ...]] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    for (file, _, function), (_, _, own, *_) in stats.items():
        found[WHERE.get((Path(file).name, function), "serial")] += own
    return found


def on_paper(method: str, known: dict[str, float], threads: int) -> float:
    """How many times as fast a fit with so many threads would be."""
    if method == "boosting":
        share = DIVIDED + (1 - DIVIDED) * ceil(COLUMNS / threads) / COLUMNS
    else:
        share = ceil(TREES / threads) / TREES
    shared = (known["bins"] + known["rows"]) / threads + known["trees"] * share
    return sum(known.values()) / (known["serial"] + shared)


def paper(data: Data) -> str:
    """The table on paper."""
    lines = []
    for method, make in METHODS.items():
        known = parts(make, data)
        shown = [f"{1e3 * seconds:.0f} ms" for seconds in known.values()]
        gains = [f"{on_paper(method, known, threads):.1f}x" for threads in PAPER]
        lines.append([method, *shown, *gains])
    head = ["", "bins", "trees", "rows", "serial", *(f"{threads} threads" for threads in PAPER)]
    return aligned(head, lines)


def repeat(method: str, threads: int, rows: int, reps: int) -> list[float]:
    """Seconds of repeated fits."""
    data, make = noisy_classes(rows), METHODS[method]
    make(threads).fit(data.X, data.y)
    taken = []
    for _ in range(reps):
        start = perf_counter()
        make(threads).fit(data.X, data.y)
        taken.append(perf_counter() - start)
    return taken


def together(method: str, threads: int, rows: int, reps: int, processes: int) -> list[float]:
    """The same in so many processes at the same time."""
    asked = ["--fit", method, "--threads", str(threads), "--rows", str(rows), "--reps", str(reps)]
    command = [sys.executable, "-m", "bench.threads", *asked]
    running = [
        subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    return [seconds for one in running for seconds in json.loads(one.communicate()[0])]


def swing(rows: int, reps: int) -> str:
    """The table of repeated fits."""
    lines = []
    for method in METHODS:
        for name, threads, processes in (
            ("1 thread", 1, 1),
            ("2 threads", 2, 1),
            ("8 threads", 8, 1),
            ("1 thread, two processes", 1, 2),
        ):
            taken = 1e3 * np.array(together(method, threads, rows, reps, processes))
            spread = [float(np.quantile(taken, q)) for q in (0.0, 0.5, 0.9)]
            lines.append([method, name, *(f"{value:.0f}" for value in spread)])
    return aligned(["", "", "least", "median", "nine of ten below"], lines)


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(prog="bench.threads", description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--reps", type=int, default=20)
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.fit:
        print(json.dumps(repeat(given.fit, given.threads, given.rows, given.reps)))
        return
    known = facts()
    machine = f"{known['CPU']}, {known['cores']} cores, {known['date']}"
    busy = os.getloadavg()[0] > 1.0
    counts = {
        "rows": given.rows,
        "trees": TREES,
        "leaves": LEAVES,
        "columns": COLUMNS,
        "divided": DIVIDED,
    }
    page = [HEAD.format(machine=machine, **counts), paper(noisy_classes(given.rows))]
    page += [COUNTED, SWING.format(reps=given.reps)]
    # Others at work would be taken for the machine's own swing.
    page.append("(The machine was busy.)" if busy else swing(given.rows, given.reps))
    (ROOT / "bench" / "THREADS.md").write_text("\n".join(page) + "\n")
    print(*page, sep="\n")


if __name__ == "__main__":
    main()
