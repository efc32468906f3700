"""Some parameters given, the others left alone: `make defaults-given`.

Users set a few parameters and expect the others to follow. Each library gets the same rounds, rate
and size of trees, under its own names, and keeps its defaults for all else. For example
`python -m bench.defaults.given --rounds 20 100 --rates unset 0.1 --trees unset leaves=31`.
Results are kept with those of :mod:`bench.defaults.run`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import geometric_mean, mean
from typing import Any

from bench import machine
from bench.defaults.contenders import PEERS, Contender, Maker, ours
from bench.defaults.run import KEPT, by_size, run
from bench.defaults.store import Key, Result, Store
from bench.defaults.tables import CAP, TABLES, Half, Table
from bench.measure import ROOT
from bench.report import aligned
from bench.task import OURS

UNSET = "unset"
ROUNDS = ("20", "100", "300", "1000")
RATES = (UNSET, "0.03", "0.1", "0.3")
TREES = (UNSET, "leaves=31", "depth=3", "depth=6")


@dataclass(frozen=True)
class Library:
    """How a library calls the parameters, and what they are where nobody sets them.

    Parameters
    ----------
    rounds, rate, leaves, depth : str
        Names of the parameters.
    usual : tuple of (str, value)
        Defaults: to give one of them is to give nothing, so that such a fit is made once.
    with_leaves : tuple of (str, value)
        What a limit on leaves needs besides.
    """

    rounds: str = "n_estimators"
    rate: str = "learning_rate"
    leaves: str = "max_leaf_nodes"
    depth: str = "max_depth"
    usual: tuple[tuple[str, Any], ...] = ()
    with_leaves: tuple[tuple[str, Any], ...] = ()


LIBRARIES = {
    OURS: Library(),
    "LightGBM": Library(
        leaves="num_leaves",
        usual=(("n_estimators", 100), ("learning_rate", 0.1), ("num_leaves", 31)),
    ),
    # XGBoost grows level by level and no deeper than 6 unless told.
    "XGBoost": Library(
        leaves="max_leaves",
        usual=(("n_estimators", 100), ("learning_rate", 0.3), ("max_depth", 6)),
        with_leaves=(("grow_policy", "lossguide"), ("max_depth", 0)),
    ),
    "scikit-learn HGB": Library(
        rounds="max_iter",
        usual=(("max_iter", 100), ("learning_rate", 0.1), ("max_leaf_nodes", 31)),
    ),
}
RIVALS = tuple(name for name in LIBRARIES if name != OURS)


@dataclass(frozen=True)
class Given:
    """What the user sets; None is left alone."""

    rounds: int | None = None
    rate: float | None = None
    trees: str | None = None

    @classmethod
    def read(cls, rounds: str, rate: str, trees: str) -> Given:
        """From the words of the command line."""
        return cls(
            None if rounds == UNSET else int(rounds),
            None if rate == UNSET else float(rate),
            None if trees == UNSET else trees,
        )

    def settings(self, library: Library) -> dict[str, Any]:
        """The same under the names of a library, without what is its default anyway.

        Examples
        --------
        >>> Given(20, 0.1, "leaves=31").settings(LIBRARIES["LightGBM"])
        {'n_estimators': 20}
        """
        found: dict[str, Any] = {}
        if self.rounds is not None:
            found[library.rounds] = self.rounds
        if self.rate is not None:
            found[library.rate] = self.rate
        if self.trees is not None:
            what, _, size = self.trees.partition("=")
            found[getattr(library, what)] = int(size)
            found |= dict(library.with_leaves) if what == "leaves" else {}
        usual = dict(library.usual)
        return {name: value for name, value in found.items() if usual.get(name) != value}

    @property
    def words(self) -> tuple[str, str, str]:
        """For the page."""
        rounds, rate, trees = (
            "" if one is None else str(one) for one in (self.rounds, self.rate, self.trees)
        )
        return rounds, rate, trees


def contender(name: str, given: Given) -> Contender:
    """A library with the parameters given."""
    plain = ours("defaults") if name == OURS else next(one for one in PEERS if one.name == name)
    settings = given.settings(LIBRARIES[name])

    def make(kind: Any, categorical: list[str], plain: Maker = plain.make) -> Any:
        return plain(kind, categorical).set_params(**settings)

    return replace(plain, make=make, settings=json.dumps(settings, sort_keys=True))


@dataclass(frozen=True)
class Cell:
    """One table and one set of parameters given: mean loss and CPU seconds of every library."""

    table: Table
    given: Given
    losses: dict[str, float]
    seconds: dict[str, float]

    def relative(self, name: str = "") -> float:
        """Our loss over that of a library, or of the best of them."""
        rivals = [name] if name else RIVALS
        return self.losses[OURS] / min(self.losses[one] for one in rivals)


def cells(store: Store, tables: Iterable[Table], asked: Sequence[Given], splits: int) -> list[Cell]:
    """All cells for which every fit was made."""
    made = []
    for table, given in product(tables, asked):
        found: dict[str, list[Result | None]] = {
            name: [
                store.results.get(Key.of(table, number, contender(name, given)))
                for number in range(splits)
            ]
            for name in LIBRARIES
        }
        results = {name: [one for one in each if one is not None] for name, each in found.items()}
        if all(len(each) == splits for each in results.values()):
            made.append(
                Cell(
                    table,
                    given,
                    {name: mean(one.loss for one in each) for name, each in results.items()},
                    {name: sum(one.seconds for one in each) for name, each in results.items()},
                )
            )
    return made


def summary(shown: Sequence[Cell], asked: Sequence[Given]) -> str:
    """One line for each set of parameters given."""
    head = ("rounds", "rate", "trees", "tables", *(f"/ {name}" for name in RIVALS))
    lines = []
    for given in asked:
        group = [cell for cell in shown if cell.given == given]
        if not group:
            continue
        over = [geometric_mean(cell.relative(name) for cell in group) for name in RIVALS]
        total = {name: sum(cell.seconds[name] for cell in group) for name in LIBRARIES}
        lines.append(
            (
                *given.words,
                str(len(group)),
                *(f"{one:.3f}" for one in over),
                f"{_bar(group):.3f}",
                f"{geometric_mean(cell.relative() for cell in group):.3f}",
                f"{total[OURS] / min(total[name] for name in RIVALS):.1f}",
            )
        )
    return aligned((*head, "/ best library", "/ best of each table", "CPU / least"), lines)


def _bar(group: Sequence[Cell]) -> float:
    """Our mean loss over that of the best library."""
    return max(geometric_mean(cell.relative(name) for cell in group) for name in RIVALS)


def details(shown: Sequence[Cell], asked: Sequence[Given]) -> str:
    """One line for each table: our loss over that of the best of the others."""
    ratio = {(cell.table, cell.given): f"{cell.relative():.3f}" for cell in shown}
    tables = list(dict.fromkeys(cell.table for cell in shown))
    used = [given for given in asked if any(cell.given == given for cell in shown)]
    head = ("table", "half", "task", *(" ".join(filter(None, one.words)) for one in used))
    return aligned(
        head,
        [
            (table.name, table.half, table.kind, *(ratio.get((table, one), "") for one in used))
            for table in tables
        ],
    )


def page(shown: Sequence[Cell], asked: Sequence[Given], splits: int, facts: dict[str, str]) -> str:
    """The page that people read."""
    names = {cell.table.name for cell in shown}
    missing = [table.name for table in TABLES if table.name not in names]
    above = [
        " ".join(filter(None, given.words))
        for given in asked
        if (group := [cell for cell in shown if cell.given == given]) and _bar(group) > 1
    ]
    halves: tuple[Half, ...] = ("tune", "check")
    text = [
        "# Some parameters given",
        "",
        "Made by `make defaults-given`; do not edit. Every library gets the same number of rounds,",
        "rate and size of trees, and keeps its defaults for all else. An empty cell is not given.",
        f"Losses and splits are those of [RESULTS.md](RESULTS.md) (at most {CAP:,} training rows),",
        "with one thread. Figures are weald's loss over another library's, as geometric means over",
        'the tables: below 1, weald is better. "Best library" is the one with the least mean loss',
        'in that line, "best of each table" the best of the three on every table by itself, with',
        "hindsight. CPU is the time of all fits over that of the fastest library in the line.",
        'What "auto" means was chosen on the half "tune", and on tables outside the study.',
        "",
        f"- CPU: {facts['CPU']}",
        f"- packages: {facts['packages']}",
        f"- run: {splits} random split{'s' * (splits > 1)} of {len(names)} tables, "
        f"{len(asked)} sets of parameters",
        f"- the whole grid has rounds {', '.join(ROUNDS)}; rates {', '.join(RATES)}; "
        f"trees {', '.join(TREES)}",
        f"- tables of the study that are not in it: {', '.join(missing) or 'none'}",
        f"- sets of parameters with more loss than the best library: {', '.join(above) or 'none'}",
        "",
        "## All tables",
        "",
        summary(shown, asked),
    ]
    for half in halves:
        part = [cell for cell in shown if cell.table.half == half]
        if part:
            text += ["", f'## The half "{half}"', "", summary(part, asked)]
    text += ["", "## Each table, over the best of the three", "", details(shown, asked)]
    return "\n".join(text) + "\n"


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.defaults.given", description=__doc__)
    parser.add_argument("--rounds", nargs="+", default=ROUNDS)
    parser.add_argument("--rates", nargs="+", default=RATES)
    parser.add_argument("--trees", nargs="+", default=TREES, help="unset, leaves=N or depth=N")
    parser.add_argument("--half", choices=("tune", "check", "all"), default="all")
    parser.add_argument("--only", default="", metavar="PATTERN", help="tables, as a regex")
    parser.add_argument("--splits", type=int, default=1, help="random splits of each table")
    parser.add_argument("--run", choices=("all", "ours", "peers", "none"), default="all")
    parser.add_argument("--fresh", action="store_true", help="fit ours again though it is kept")
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "defaults" / "GIVEN.md")
    return parser.parse_args()


def main() -> None:
    """Make the missing fits and write the page."""
    chosen = options()
    tables = [
        table
        for table in TABLES
        if chosen.half in ("all", table.half) and re.search(chosen.only, table.name)
    ]
    asked = [Given.read(*each) for each in product(chosen.rounds, chosen.rates, chosen.trees)]
    names = {"all": list(LIBRARIES), "ours": [OURS], "peers": list(RIVALS), "none": []}[chosen.run]
    store = Store(KEPT)
    runners = [contender(name, given) for given in asked for name in names]
    failures = run(store, by_size(tables), runners, chosen.splits, chosen.fresh)
    made = cells(store, tables, asked, chosen.splits)
    if made:
        chosen.output.write_text(page(made, asked, chosen.splits, machine.facts()))
        print(f"\n{summary(made, asked)}\n\nwritten to {chosen.output}")
    if failures:
        raise SystemExit(f"{failures} fits failed")


if __name__ == "__main__":
    main()
