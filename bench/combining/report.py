"""From kept results to the page: ranks, and losses relative to the best candidate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean, mean
from typing import Any

from bench.combining.contenders import SUPER, everyone
from bench.defaults.run import SPLITS as DEFAULT_SPLITS
from bench.defaults.store import Key, Store
from bench.defaults.tables import CAP, Table
from bench.measure import ROOT
from bench.report import aligned
from bench.task import OURS

DEFAULTS = ROOT / "bench" / "defaults" / "results.json"
PEERS = ("LightGBM", "XGBoost", "CatBoost", "scikit-learn HGB")

SUPER_NAME = f"{OURS} {SUPER}"

INTRODUCTION = f"""\
# The super learner on real tables

Made by `make superlearner`; do not edit. Two threads, default settings for all. Log loss for
classes, root mean squared error for numbers, the mean over three random splits into 80 % training
rows (at most {CAP:,}) and 20 % test rows. The super learner's candidates and their settings were
chosen on the tables of the half "tune"; the half "check" had no say. "weald: ..." are the super
learner's own candidates, each fitted alone to all training rows. The losses of {", ".join(PEERS)}
are those of `make defaults`, on the same splits.
"""


@dataclass(frozen=True)
class Line:
    """One table: mean loss and mean seconds of each contender."""

    table: Table
    losses: dict[str, float]
    seconds: dict[str, float]

    @property
    def ranks(self) -> dict[str, float]:
        """Rank of each contender, 1 for the least loss; equal losses share theirs."""
        values = sorted(self.losses.values())
        return {
            name: values.index(loss) + (values.count(loss) + 1) / 2
            for name, loss in self.losses.items()
        }

    @property
    def against_best_member(self) -> float:
        """Loss of the super learner over that of its best candidate."""
        own = [loss for name, loss in self.losses.items() if name.startswith(f"{OURS}: ")]
        return self.losses[SUPER_NAME] / min(own)


def lines(store: Store, tables: Sequence[Table], splits: int) -> list[Line]:
    """All tables that every contender has been fitted to."""
    made = []
    for table in tables:
        found: dict[str, list[Any]] = {}
        for who in everyone(table.kind):
            keys = [Key.of(table, number, who) for number in range(splits)]
            if all(key in store.results for key in keys):
                found[who.name] = [store.results[key] for key in keys]
        if SUPER_NAME in found and len(found) > 1:
            made.append(
                Line(
                    table,
                    {name: mean(one.loss for one in each) for name, each in found.items()}
                    | (_peers(table) if splits == DEFAULT_SPLITS else {}),
                    {name: mean(one.seconds for one in each) for name, each in found.items()},
                )
            )
    return made


def _peers(table: Table) -> dict[str, float]:
    """Mean losses of the libraries at their defaults, over the same splits."""
    known = json.loads(DEFAULTS.read_text())["tables"]
    [losses] = [one["losses"] for one in known if one["table"]["name"] == table.name]
    return {name: losses[name] for name in PEERS}


def summary(made: Sequence[Line]) -> str:
    """Mean ranks, and how the super learner stands to its best candidate, by half."""
    rows = []
    names = sorted({name for line in made for name in line.losses})
    for name in sorted(names, key=lambda one: _mean_rank(made, one)):
        cells = [name]
        for half in ("tune", "check", None):
            some = [line for line in made if half in (None, line.table.half)]
            known = [line for line in some if name in line.losses]
            if not known:
                cells += ["", ""]
                continue
            ratio = geometric_mean(line.losses[name] / line.losses[SUPER_NAME] for line in known)
            cells += [f"{mean(line.ranks[name] for line in known):.2f}", f"{ratio:.3f}"]
        rows.append(tuple(cells))
    head = ("contender", "rank, tune", "loss, tune", "rank, check", "loss, check", "rank", "loss")
    told = aligned(head, rows)
    ratios = [line.against_best_member for line in made]
    worst = max(made, key=lambda line: line.against_best_member)
    return (
        f"{told}\n\nLosses are geometric means over that of the super learner. Its own over that "
        "of its best candidate, chosen afterwards on the test rows, is "
        f"{geometric_mean(ratios):.4f} "
        f"(geometric mean of {len(made)} tables), at worst {worst.against_best_member:.3f} "
        f"({worst.table.name})."
    )


def _mean_rank(made: Sequence[Line], name: str) -> float:
    return mean(line.ranks[name] for line in made if name in line.losses)


def page(made: Sequence[Line], facts: dict[str, str]) -> str:
    """The whole page."""
    head = ("table", "half", "super learner", "best candidate", "ratio", "seconds")
    rows = []
    for line in made:
        own = {n: v for n, v in line.losses.items() if n.startswith(f"{OURS}: ")}
        best = min(own, key=lambda one: own[one])
        rows.append(
            (
                line.table.name,
                line.table.half,
                f"{line.losses[SUPER_NAME]:.4g}",
                f"{best.partition(': ')[2]} {own[best]:.4g}",
                f"{line.against_best_member:.3f}",
                f"{line.seconds[SUPER_NAME]:.1f}",
            )
        )
    known = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return "\n".join([INTRODUCTION, known, "", summary(made), "", aligned(head, rows), ""])
