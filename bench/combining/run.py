"""The super learner on real tables: `make superlearner`.

Every contender fits the training rows of three random splits of each table with two threads. The
super learner's default candidates were chosen on the half "tune". Results are kept in
build/combining, and only what is not there yet is run; `--fresh` fits ours again.
"""

from __future__ import annotations

import argparse
import re
import warnings
from time import perf_counter

from bench import machine
from bench.categories import categorical
from bench.combining import report
from bench.combining.contenders import everyone
from bench.defaults.contenders import Contender, fit, predictions
from bench.defaults.run import by_size, loss
from bench.defaults.store import Key, Result, Store
from bench.defaults.tables import TABLES, Table, split
from bench.measure import ROOT
from bench.task import OURS

SPLITS = 3
KEPT = ROOT / "build" / "combining"
CHOSEN = [table for table in TABLES if table.kind != "counts" and table.name != "diabetes130"]


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.combining.run", description=__doc__)
    parser.add_argument("--half", choices=("tune", "check", "all"), default="all")
    parser.add_argument("--only", default="", metavar="PATTERN", help="tables, as a regex")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--who", default="", metavar="PATTERN", help="contenders, as a regex")
    parser.add_argument("--fresh", action="store_true", help="fit ours again though it is kept")
    return parser.parse_args()


def measure(table: Table, number: int, contender: Contender) -> Result:
    """Fit once and judge the model on the test rows; seconds are those of the clock."""
    train, test = split(table, number)
    convert = contender.prepare(train.X)
    X, X_test = convert(train.X), convert(test.X)
    model = contender.make(table.kind, categorical(train.X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        fit(model, X, train)
        seconds = perf_counter() - start
        predicted = predictions(model, X_test, table.kind)
    return Result(loss(table, test, predicted), seconds, len(train.y))


def main() -> None:
    """Make the missing fits and write the page."""
    chosen = options()
    store = Store(KEPT)
    tables = [
        table
        for table in by_size(CHOSEN)
        if chosen.half in ("all", table.half) and re.search(chosen.only, table.name)
    ]
    for table in tables:
        for number in range(chosen.splits):
            for contender in everyone(table.kind):
                key = Key.of(table, number, contender)
                fresh = chosen.fresh and contender.library.startswith(OURS)
                if not re.search(chosen.who, contender.name) or (
                    key in store.results and not fresh
                ):
                    continue
                name = f"{table.name}, split {number}, {contender.name}"
                try:
                    result = measure(table, number, contender)
                except Exception as error:
                    print(f"{name}: FAILED, {type(error).__name__}: {error}", flush=True)
                    continue
                store.add(key, result)
                print(f"{name}: {result.loss:.5g}, {result.seconds:.2f} s", flush=True)
    made = report.lines(store, tables, chosen.splits)
    page = report.page(made, machine.facts())
    full = len(made) >= 20 and chosen.splits == SPLITS and chosen.half == "all"
    target = (ROOT / "bench" / "combining" if full else KEPT) / "RESULTS.md"
    target.write_text(page)
    print(f"{report.summary(made)}\nwritten to {target}")


if __name__ == "__main__":
    main()
