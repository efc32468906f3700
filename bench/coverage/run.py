"""Coverage of quantiles and intervals on real tables: `make coverage`.

Results are kept in build/coverage, and only what is not there yet is run; `--fresh` runs all again.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from threadpoolctl import threadpool_limits

from bench import machine
from bench.coverage import report
from bench.coverage.experiment import (
    INTERVAL_MODELS,
    QUANTILE_MODELS,
    SETS,
    Figures,
    interval_figures,
    quantile_figures,
)
from bench.measure import ROOT

KEPT = ROOT / "build" / "coverage"
SPLITS = 3


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.coverage.run", description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN", help="tables, as a regex")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--fresh", action="store_true", help="run again what is kept")
    return parser.parse_args()


def repeat(
    measure: Callable[[str, int, str], Figures], name: str, who: str, chosen: argparse.Namespace
) -> list[Figures]:
    """Measure a model on the splits of a table that are not kept yet."""
    path: Path = KEPT / f"{measure.__name__}-{name}-{who}.json"
    made: list[Figures] = []
    if path.exists() and not chosen.fresh:
        made = json.loads(path.read_text())
    for number in range(len(made), chosen.splits):
        made.append(measure(name, number, who))
        path.write_text(json.dumps(made))
        print(f"{name}, split {number}, {who}: {made[-1]['coverage']:.3f}", flush=True)
    return made[: chosen.splits]


def main() -> None:
    """Make the missing fits and write the page."""
    chosen = options()
    KEPT.mkdir(parents=True, exist_ok=True)
    names = [name for name in SETS if re.search(chosen.only, name)]

    def all_of(measure: Callable[[str, int, str], Figures], models: Iterable[str]) -> report.Runs:
        return {name: {who: repeat(measure, name, who, chosen) for who in models} for name in names}

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantiles = all_of(quantile_figures, QUANTILE_MODELS)
        intervals = all_of(interval_figures, INTERVAL_MODELS)
    full = len(names) == len(SETS) and chosen.splits == SPLITS
    target = (ROOT / "bench" / "coverage" if full else KEPT) / "RESULTS.md"
    target.write_text(report.page(quantiles, intervals, machine.facts()))
    print(f"written to {target}")


if __name__ == "__main__":
    main()
