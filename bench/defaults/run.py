"""Compare default settings on real tables: `make defaults`, or try other settings of ours.

For example `python -m bench.defaults.run --half tune --ours 'slow:{"learning_rate": 0.05}'`.
Results are kept in build/defaults, and only what is not there yet is run; the same version of
weald with changed code needs `--fresh`.
"""

from __future__ import annotations

import argparse
import re
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.metrics import log_loss, mean_poisson_deviance, root_mean_squared_error
from threadpoolctl import threadpool_limits

from bench import machine
from bench.categories import categorical
from bench.defaults import report
from bench.defaults.contenders import PEERS, Contender, fit, ours, predictions
from bench.defaults.store import Key, Result, Store
from bench.defaults.tables import LARGE, TABLES, Part, Table, split
from bench.measure import ROOT
from bench.replications import sets
from bench.task import OURS

SPLITS = 3
KEPT = ROOT / "build" / "defaults"


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.defaults.run", description=__doc__)
    parser.add_argument("--half", choices=("tune", "check", "all"), default="all")
    parser.add_argument("--only", default="", metavar="PATTERN", help="tables, as a regex")
    parser.add_argument("--splits", type=int, default=SPLITS, help="random splits of each table")
    parser.add_argument(
        "--ours", action="append", metavar="NAME:JSON", help="settings of weald; may be repeated"
    )
    parser.add_argument("--run", choices=("all", "ours", "peers"), default="all", help="who fits")
    parser.add_argument("--large", action="store_true", help="fit to the large tables, whole, once")
    parser.add_argument("--fresh", action="store_true", help="fit ours again though it is kept")
    parser.add_argument("--output", type=Path, help="folder for results.json and RESULTS.md")
    return parser.parse_args()


def loss(table: Table, part: Part, predicted: np.ndarray) -> float:
    """Loss of the table's kind; shares are clipped where single precision ends."""
    if table.kind == "numbers":
        return float(root_mean_squared_error(part.y, predicted))
    if table.kind == "counts":
        return float(mean_poisson_deviance(part.y, predicted, sample_weight=part.weights))
    shares = np.clip(predicted, 1e-7, None)
    return float(log_loss(part.y, shares / shares.sum(axis=1, keepdims=True)))


def measure(table: Table, number: int, contender: Contender) -> Result:
    """Fit once with one thread and judge the model on the test rows."""
    train, test = split(table, number)
    convert = contender.prepare(train.X)
    X, X_test = convert(train.X), convert(test.X)
    model = contender.make(table.kind, categorical(train.X))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = process_time()
        fit(model, X, train)
        seconds = process_time() - start
        predicted = predictions(model, X_test, table.kind)
    return Result(loss(table, test, predicted), seconds, len(train.y))


def by_size(tables: list[Table]) -> list[Table]:
    """Smallest file first, so that results come early."""
    return sorted(tables, key=lambda table: sets.path(table.name).stat().st_size)


def run(
    store: Store, tables: list[Table], contenders: list[Contender], splits: int, fresh: bool
) -> int:
    """Make all fits that are not kept yet; one that fails is told and left out."""
    failures = 0
    for table in tables:
        for number in range(splits):
            for contender in contenders:
                key = Key.of(table, number, contender)
                if key in store.results and not (fresh and contender.library == OURS):
                    continue
                name = f"{table.name}, split {number}, {contender.name}"
                try:
                    result = measure(table, number, contender)
                except Exception as error:
                    failures += 1
                    print(f"{name}: FAILED, {type(error).__name__}: {error}", flush=True)
                    continue
                store.add(key, result)
                print(f"{name}: {result.loss:.5g}, {result.seconds:.2f} s", flush=True)
    return failures


def main() -> None:
    """Make the missing fits and write the page."""
    chosen = options()
    tables = [
        table
        for table in (LARGE if chosen.large else TABLES)
        if chosen.half in ("all", table.half) and re.search(chosen.only, table.name)
    ]
    if not tables:
        raise SystemExit(f"no table matches: {', '.join(table.name for table in TABLES)}")
    mine = [ours(text) for text in chosen.ours or ["defaults"]]
    runners = {"all": [*mine, *PEERS], "ours": mine, "peers": list(PEERS)}[chosen.run]
    store = Store(KEPT)
    splits = 1 if chosen.large else chosen.splits
    failures = run(store, by_size(tables), runners, splits, chosen.fresh)
    if not chosen.large:
        write(store, tables, mine, splits, chosen.output)
    if failures:
        raise SystemExit(f"{failures} fits failed")


def write(
    store: Store, tables: list[Table], mine: list[Contender], splits: int, output: Path | None
) -> None:
    """Write the page; the published one only where all tables and libraries are in it.

    Peers that were not fitted here are taken from what is published, if they have the same version.
    """
    home = ROOT / "bench" / "defaults"
    old = report.published(home, "tables", PEERS)
    known = {name for line in old for name in line.losses}
    shown = [
        who
        for who in (*mine, *PEERS)
        if who.name in known or any(_kept(store, table, who) for table in tables)
    ]
    made = report.lines(store, tables, shown, splits, old)
    large = report.lines(store, LARGE, shown, 1, report.published(home, "large", PEERS))
    everyone = [(OURS, "{}"), *((peer.name, peer.settings) for peer in PEERS)]
    full = [(who.name, who.settings) for who in shown] == everyone and (
        len(made) >= len(old) and tables == list(TABLES) and splits == SPLITS
    )
    folder = output or (home if full else KEPT)
    facts = machine.facts()
    older = [who.name for who in shown if not all(_kept(store, line.table, who) for line in made)]
    if older:
        facts["figures of an earlier run"] = ", ".join(older)
    if made:
        report.write(folder, made, large, shown, facts)
        print(f"\n{report.summary(made, [who.name for who in shown])}\n\nwritten to {folder}")


def _kept(store: Store, table: Table, contender: Contender) -> bool:
    return Key.of(table, 0, contender) in store.results


if __name__ == "__main__":
    main()
