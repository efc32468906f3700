"""Run cases by the thousand: ``PYTHONPATH=tests python -m stress.run --cases 5000``.

Children run cases one after another, so that what one fit leaves behind reaches the next. Each says
which case it begins, so that the case is known when a child dies or hangs; the run then goes on in
a new child. One case again: ``PYTHONPATH=tests python -m stress.run --case 4711``; if it is fine by
itself, ``--first 4700 --cases 12 --workers 1`` runs what came before it as well.
"""

import argparse
import faulthandler
import multiprocessing
import os
import secrets
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import wait

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "SCIPY_ARRAY_API"):
    os.environ.setdefault(_name, "1")

from stress.cases import draw_case  # noqa: E402
from stress.checks import check_case  # noqa: E402

SERIES = 25  # cases that a child is given at a time
SECONDS = 60.0  # for one case
MOST_REFUSALS = 0.1


@dataclass
class Report:
    """What a run has found."""

    first: int
    cases: int = 0
    seconds: float = 0.0
    refusals: Counter = field(default_factory=Counter)
    findings: dict = field(default_factory=dict)  # case -> text
    slowest: tuple = (0.0, None)  # seconds, case

    @property
    def share_refused(self):
        return sum(self.refusals.values()) / max(self.cases, 1)

    @property
    def failed(self):
        return bool(self.findings) or (self.cases >= 200 and self.share_refused > MOST_REFUSALS)

    def add(self, kind, number, text):
        self.cases += 1
        if kind == "refused":
            self.refusals[text[:100]] += 1
        elif kind == "wrong":
            self.findings[number] = text
            print(finding(number, text), flush=True)

    def __str__(self):
        lines = [
            f"stress: first case {self.first}, {self.cases} cases in {self.seconds:.1f} s, "
            f"{len(self.findings)} findings, {self.share_refused:.1%} refused, "
            f"slowest {self.slowest[0]:.1f} s (case {self.slowest[1]})"
        ]
        lines += [f"  refused {n} x: {text}" for text, n in self.refusals.most_common(10)]
        lines += [f"  finding: {again(number)}" for number in sorted(self.findings)]
        return "\n".join(lines)


def again(number):
    return f"PYTHONPATH=tests python -m stress.run --case {number}"


def finding(number, text):
    return "\n".join([f"finding: {again(number)}", *("  " + line for line in text.splitlines())])


# --- in a child ---------------------------------------------------------------------------------


def run_case(number):
    """How a case ends: ("fine", "refused" or "wrong", text)."""
    case = "a case that could not be drawn"
    try:
        case = draw_case(number)
        refusal = check_case(case)
    except Exception:
        return "wrong", f"{case}\n{traceback.format_exc(limit=-5)}"
    return ("fine", "") if refusal is None else ("refused", refusal)


def serve(pipe, run_case, seconds):
    """Run what the parent asks for, and say what begins and how it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    while True:
        for number in pipe.recv():
            faulthandler.dump_traceback_later(0.9 * seconds)
            pipe.send(("begins", number, ""))
            pipe.send((run_case(number), number))
            faulthandler.cancel_dump_traceback_later()
        pipe.send(None)


# --- in the parent ------------------------------------------------------------------------------


class Child:
    """A process that runs cases in series, and is replaced if it dies or hangs."""

    def __init__(self, run_case, seconds):
        self.run_case, self.seconds = run_case, seconds
        self.series = []
        self.start()

    def start(self):
        context = multiprocessing.get_context("spawn")  # the thread sanitizer follows no fork
        self.pipe, other = context.Pipe()
        self.process = context.Process(
            target=serve, args=(other, self.run_case, self.seconds), daemon=True
        )
        self.process.start()
        other.close()
        self.case, self.since = None, time.monotonic()
        if self.series:
            self.pipe.send(self.series)

    def give(self, series):
        self.series = list(series)
        self.pipe.send(self.series)

    @property
    def late(self):
        return self.case is not None and time.monotonic() - self.since > self.seconds

    def hear(self, report):
        """Read one message; the child is idle if there are no more cases in its series."""
        try:
            message = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.replace(report, "died")
            return
        if message is None:
            return
        if message[0] == "begins":
            self.case, self.since = message[1], time.monotonic()
            return
        (kind, text), number = message
        report.slowest = max(report.slowest, (time.monotonic() - self.since, number))
        self.case = None
        self.series.remove(number)
        report.add(kind, number, text)

    def replace(self, report, how):
        """Note the case that the child was at, and go on behind it."""
        self.process.kill()
        self.process.join()
        number = self.case if self.case is not None else self.series[0]
        if how == "died":
            how += f" with exit code {self.process.exitcode}"
        report.add("wrong", number, f"the process {how}\n{draw_case(number)}")
        self.series.remove(number)
        self.start()

    def stop(self):
        self.process.kill()
        self.process.join()


def run(first, cases, workers=2, seconds=SECONDS, run_case=run_case):
    """Run so many cases from the first on."""
    report, began = Report(first), time.monotonic()
    numbers = iter(range(first, first + cases))
    children = [Child(run_case, seconds) for _ in range(workers)]
    try:
        while report.cases < cases:
            for child in children:
                if not child.series:
                    series = [number for _, number in zip(range(SERIES), numbers, strict=False)]
                    if series:
                        child.give(series)
                elif child.late:
                    child.replace(report, f"took more than {seconds:g} s")
            for pipe in wait([child.pipe for child in children], timeout=1.0):
                next(child for child in children if child.pipe is pipe).hear(report)
    finally:
        for child in children:
            child.stop()
        report.seconds = time.monotonic() - began
    return report


def fresh_seed():
    """The first case of a run: given by WEALD_STRESS_SEED, or new."""
    return int(os.environ.get("WEALD_STRESS_SEED") or secrets.randbelow(2**31))


def main():
    parser = argparse.ArgumentParser(prog="python -m stress.run", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", "--seed", type=int, help="the first case; default: a new one")
    parser.add_argument("--case", type=int, help="run this one case, in this process")
    parser.add_argument("--workers", type=int, default=2)
    slower = float(os.environ.get("WEALD_STRESS_SLOWER", "1"))
    parser.add_argument("--seconds", type=float, default=SECONDS * slower, help="for one case")
    given = parser.parse_args()
    if given.case is not None:
        faulthandler.enable()
        print(draw_case(given.case), flush=True)
        kind, text = run_case(given.case)
        print(f"{kind}: {text}" if text else kind)
        return int(kind == "wrong")
    first = fresh_seed() if given.first is None else given.first
    print(f"stress: {given.cases} cases from {first} on", flush=True)
    report = run(first, given.cases, given.workers, given.seconds)
    print(report, flush=True)
    return int(report.failed)


if __name__ == "__main__":
    sys.exit(main())
