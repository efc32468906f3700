"""From kept results to the page: losses relative to the reference, and shares of CPU time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import geometric_mean, mean

from bench.defaults.contenders import REFERENCE, Contender
from bench.defaults.store import Key, Store
from bench.defaults.tables import CAP, LARGE, TABLES, Table
from bench.report import aligned

FACTS = ("CPU", "packages", "figures of an earlier run")

INTRODUCTION = f"""\
# Default settings on real tables

Made by `make defaults`; do not edit. Every library fits every table with its default settings and
one thread; {REFERENCE} makes 1,000 trees, the other peers 100. The loss is log loss for classes,
root mean squared error for numbers and Poisson deviance for counts (claims per year, weighted by
years; each library is told its Poisson loss). It is the mean over random splits into 80 % training
rows, of which at most {CAP:,} are used, and 20 % test rows. Tables of 50 columns or more are `ames`
(79) and `splice` (60). All losses are shown relative to {REFERENCE}'s: below 1 is better.
Categorical columns are handed over natively. Settings of weald are chosen on the half "tune"; the
half "check" has no say in them. CPU is the processor time of the fits.
"""


@dataclass(frozen=True)
class Line:
    """One table: mean loss and total CPU seconds per contender."""

    table: Table
    rows: int
    losses: dict[str, float]
    seconds: dict[str, float]

    def relative(self, name: str) -> float:
        """Loss relative to the reference."""
        return self.losses[name] / self.losses[REFERENCE]


def lines(
    store: Store,
    tables: Sequence[Table],
    contenders: Sequence[Contender],
    splits: int,
    published: Sequence[Line] = (),
) -> list[Line]:
    """All tables on which every contender, the reference too, has been fitted to every split.

    What is not in the store is taken from the lines published, if it is there.
    """
    made: list[Line] = []
    if REFERENCE not in [who.name for who in contenders]:
        return made
    known = {line.table: line for line in published}
    for table in tables:
        rows, losses, seconds = 0, {}, {}
        for who in contenders:
            keys = [Key.of(table, number, who) for number in range(splits)]
            results = [store.results[key] for key in keys if key in store.results]
            if len(results) == splits:
                rows = results[0].rows
                losses[who.name] = mean(one.loss for one in results)
                seconds[who.name] = sum(one.seconds for one in results)
            elif table in known and who.name in known[table].losses:
                rows = known[table].rows
                losses[who.name] = known[table].losses[who.name]
                seconds[who.name] = known[table].seconds[who.name]
        if len(losses) == len(contenders):
            made.append(Line(table, rows, losses, seconds))
    return made


def published(folder: Path, part: str, contenders: Sequence[Contender]) -> list[Line]:
    """Lines of results.json, with the libraries whose versions are installed now."""
    path = folder / "results.json"
    content = json.loads(path.read_text()) if path.exists() else {}
    packages = content.get("machine", {}).get("packages", "").split(", ")
    kept = {who.name for who in contenders if f"{who.package} {who.version}" in packages}
    found = []
    for entry in content.get(part, ()):
        line = Line(**entry | {"table": Table(**entry["table"])})
        losses = {name: loss for name, loss in line.losses.items() if name in kept}
        found.append(replace(line, losses=losses))
    return found


Choice = Callable[[Table], bool]

SUMMARIES: dict[str, Choice] = {
    "all": lambda table: True,
    "tune": lambda table: table.half == "tune",
    "check": lambda table: table.half == "check",
    "two classes": lambda table: table.kind == "two classes",
    "more classes": lambda table: table.kind == "classes",
    "numbers": lambda table: table.kind == "numbers",
    "counts": lambda table: table.kind == "counts",
}


def summary(shown: Sequence[Line], names: Sequence[str]) -> str:
    """Geometric means of the relative losses, tables won, and the ratio of the total CPU time."""
    groups = {
        title: chosen
        for title, choice in SUMMARIES.items()
        if (chosen := [line for line in shown if choice(line.table)])
    }
    head = ("library", *(f"{title} ({len(each)})" for title, each in groups.items()), "wins", "CPU")
    total = {name: sum(line.seconds[name] for line in shown) for name in names}
    cells = [
        (
            name,
            *(
                f"{geometric_mean(line.relative(name) for line in each):.4f}"
                for each in groups.values()
            ),
            str(sum(line.relative(name) < 1.0 for line in shown)) if name != REFERENCE else "",
            f"{total[name] / total[REFERENCE]:.3f}",
        )
        for name in names
    ]
    return aligned(head, cells)


def details(shown: Sequence[Line], names: Sequence[str]) -> str:
    """One line per table."""
    others = [name for name in names if name != REFERENCE]
    head = ("table", "half", "task", "training rows", f"loss of {REFERENCE}", *others)
    cells = [
        (
            line.table.name,
            line.table.half,
            line.table.kind,
            f"{line.rows:,}",
            f"{line.losses[REFERENCE]:.4g}",
            *(f"{line.relative(name):.3f}" for name in others),
        )
        for line in shown
    ]
    return aligned(head, cells)


def page(
    shown: Sequence[Line],
    large: Sequence[Line],
    contenders: Sequence[Contender],
    facts: dict[str, str],
) -> str:
    """The page that people read."""
    names = [who.name for who in contenders]
    settings = [f"- {who.name}: {who.settings}" for who in contenders if who.settings != "{}"]
    seen = {line.table.name for line in shown}
    unseen = [table.name for table in TABLES if table.name not in seen]
    if unseen:
        settings.append(
            f"- left out, since not every library was fitted to it: {', '.join(unseen)}"
        )
    if large:
        settings.append("- tables with all of their rows stand at the end")
    text = [
        INTRODUCTION,
        *(f"- {name}: {facts[name]}" for name in FACTS if name in facts),
        *settings,
        "",
        'Geometric means of the relative losses (number of tables); "wins" counts the tables with',
        f"less loss than {REFERENCE}'s; CPU is the total of all fits over {REFERENCE}'s.",
        "",
        summary(shown, names),
        "",
        "Each table, and the loss relative to the reference:",
        "",
        details(shown, names),
    ]
    if large:
        text += ["", *_of_large(large, names)]
    return "\n".join(text) + "\n"


def _of_large(large: Sequence[Line], names: Sequence[str]) -> list[str]:
    head = ("library", *(line.table.name for line in large), "geometric mean", "CPU")
    total = {name: sum(line.seconds[name] for line in large) for name in names}
    seconds = [
        (
            name,
            *(f"{line.seconds[name]:.0f} s" for line in large),
            f"{geometric_mean(line.relative(name) for line in large):.4f}",
            f"{total[name] / total[REFERENCE]:.3f}",
        )
        for name in names
    ]
    return [
        "## Large tables, whole",
        "",
        "All training rows, one split, one thread; nothing was chosen on these tables.",
        *(
            f"- not fitted by every library: {table.name}"
            for table in LARGE
            if table not in [line.table for line in large]
        ),
        "",
        details(large, names),
        "",
        "Seconds of CPU of each fit, the mean of the relative losses, and all seconds over",
        f"{REFERENCE}'s:",
        "",
        aligned(head, seconds),
    ]


def write(
    folder: Path,
    shown: Sequence[Line],
    large: Sequence[Line],
    contenders: Sequence[Contender],
    facts: dict[str, str],
) -> None:
    """Write results.json and RESULTS.md into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "machine": facts,
        "tables": [asdict(line) for line in shown],
        "large": [asdict(line) for line in large],
    }
    (folder / "results.json").write_text(json.dumps(content, indent=1) + "\n")
    (folder / "RESULTS.md").write_text(page(shown, large, contenders, facts))
