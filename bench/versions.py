"""Two versions of weald side by side: `make bench-versions OLD=path/to/old.whl`.

Each version has a process of its own, which makes the data and waits. Turn by turn one of them is
asked to run a row while the other rests, so that a busy spell of the machine hits both. Only our
own side of each timed row is run: what the peers take does not change with our version.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench.data import Data
from bench.matrix.cells import CELLS
from bench.measure import ROOT, Growth, Timed, time_calls
from bench.task import OURS, Contender, Settings
from bench.tasks import TASKS

FULL = Settings()


class Job(NamedTuple):
    """Our side of a timed row."""

    name: str
    data: Callable[[], Data]
    contender: Contender
    calls: int


def cells(pattern: str) -> list[Job]:
    """List our fit in every cell of the matrix whose name matches."""
    return [
        Job(cell.name, cell.data, who, 1)
        for cell in CELLS
        if re.search(pattern, cell.name, re.IGNORECASE)
        for who in cell.contenders()
        if who.library == OURS
    ]


def jobs(pattern: str, matrix: bool) -> list[Job]:
    """List our side of every timed row, or of every cell of the matrix, whose name matches."""
    if matrix:
        return cells(pattern)
    found = []
    for task in TASKS:
        sources: list[tuple[str, Callable[[], Data], int]]
        if isinstance(task, Timed):
            sources = [(task.name, partial(task.data, FULL), task.calls)]
        elif isinstance(task, Growth):
            sources = [(f"{task.name}, n = {n:,}", partial(task.data, n), 1) for n in task.sizes]
        else:
            continue
        for name, data, calls in sources:
            if not re.search(pattern, name, re.IGNORECASE):
                continue
            ours = [contender for contender in task.contenders if contender.library == OURS]
            found += [Job(f"{name}, x{who.threads}", data, who, calls) for who in ours]
    return found


def serve(pattern: str, matrix: bool) -> None:
    """Answer lines of JSON: a number prepares that job, "run" times it."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not pass for an answer
    known = jobs(pattern, matrix)
    run: Callable[[], float] | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if asked != "run":
            run = None  # lets the data of the job before go
            run = prepared(known[asked])
            answer = 0.0
        else:
            assert run is not None
            try:
                answer = run()
            except AttributeError:  # this version has no such estimator yet
                answer = math.inf
        print(json.dumps(answer), file=answers, flush=True)


def prepared(job: Job) -> Callable[[], float]:
    """Make the data of a job; what is returned times it."""
    data = job.data()
    state = job.contender.prepare(data)
    return lambda: time_calls(job.contender, data, state, job.calls)[0]


class Version:
    """A process with one version of weald on its path."""

    def __init__(self, wheel: Path, pattern: str, matrix: bool, folder: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "bench.versions", "--serve", "--only", pattern),
                *(["--matrix"] if matrix else []),
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, what: object) -> float:
        """Send one question and wait for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("a version has died on this row")
        return float(json.loads(answer))


def compare(old: Version, new: Version, budget: float) -> tuple[float, float]:
    """Best time of both, taking turns until the budget is spent; seven turns at the most."""
    best = [math.inf, math.inf]
    started = perf_counter()
    for turn in range(7):
        if turn >= 2 and perf_counter() - started > budget:
            break
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        for which in order:
            best[which] = min(best[which], (old, new)[which].ask("run"))
    return best[0], best[1]


def main() -> None:
    """Compare the versions row by row and print the ratios and their geometric mean."""
    parser = argparse.ArgumentParser(prog="bench.versions", description=__doc__)
    parser.add_argument("--old", type=Path, help="the old wheel")
    parser.add_argument("--new", type=Path, help="the new wheel")
    parser.add_argument("--only", default="", metavar="PATTERN", help="tasks to run, as a regex")
    parser.add_argument(
        "--matrix", action="store_true", help="the fits of the matrix, not the rows of the list"
    )
    parser.add_argument("--budget", type=float, default=10.0, help="seconds per row, roughly")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.only, chosen.matrix)
        return
    if chosen.old is None or chosen.new is None:
        parser.error("--old and --new are needed")
    ratios = []
    with contextlib.ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        old, new = (
            Version(wheel, chosen.only, chosen.matrix, folder)
            for wheel, folder in zip((chosen.old, chosen.new), folders, strict=True)
        )
        for number, job in enumerate(jobs(chosen.only, chosen.matrix)):
            for version in (old, new):
                version.ask(number)
            before, after = compare(old, new, chosen.budget)
            if math.inf in (before, after):
                print(f"   new  {job.name}: not in both versions", flush=True)
                continue
            ratios.append(after / before)
            times = f"{before:10.4g} s -> {after:10.4g} s"
            print(f"{after / before:6.3f}  {times}  {job.name}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(
        f"{mean:6.3f}  geometric mean of {len(ratios)} rows, new over old; worst {max(ratios):.3f}"
    )


if __name__ == "__main__":
    main()
