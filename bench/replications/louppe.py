"""Louppe 2014, chapter 8: forests, extra-trees, pasting, subspaces and patches of 250 trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from math import hypot, sqrt
from typing import Any

import numpy as np

from bench.categories import Inputs
from bench.replications.figures import (
    ROUNDING,
    Figure,
    Published,
    Values,
    figure,
    paired,
    signed,
    spread,
)
from bench.replications.library import OURS, PEER, Library, error
from bench.replications.part import Part, Result, say
from bench.replications.published import LOUPPE
from bench.replications.sets import GENERATORS, read, split, take
from bench.report import aligned

TREES = 250
TRIAL_TREES = 50
GRID = (0.01, *(tenth / 10 for tenth in range(1, 11)))
COARSE = (0.1, 0.25, 0.5, 0.75, 1.0)
REPEATS = {"pima_diabetes": 50, "ionosphere": 50, "sonar": 50, "vowel": 50, "letter": 5}
SAMPLES = {"twonorm": 9999, "ringnorm": 10_000}
THEIR_RUNS = 50

Settings = dict[str, float]


@dataclass(frozen=True)
class Method:
    """One method: its class, fixed settings, its grid, and the class of its members."""

    cls: str
    grid: tuple[Settings, ...] = ({},)
    member: str | None = None

    def make(self, library: Library, trees: int, seed: int, chosen: Settings) -> Any:
        """Make the unfitted ensemble of some trees."""
        settings: dict[str, Any] = {"n_estimators": trees, "random_state": seed, **chosen}
        if self.member is not None:
            # Members try every column of their patch: K = alpha_f p.
            settings["estimator"] = library(self.member, max_features=None)
        return library(self.cls, **settings)


COLUMNS = tuple({"max_features": share} for share in GRID)
ROWS = tuple({"max_samples": share, "bootstrap": False} for share in GRID[1:])
SUBSPACES = tuple({"max_features": share, "bootstrap": False} for share in GRID)
PATCHES = tuple(
    {"max_samples": rows, "max_features": columns, "bootstrap": False}
    for rows, columns in product(COARSE, COARSE)
)

METHODS = {
    "ET": Method("ExtraTreesClassifier", COLUMNS),
    "RP-ET": Method("BaggingClassifier", PATCHES, "ExtraTreeClassifier"),
    "RS-ET": Method("BaggingClassifier", SUBSPACES, "ExtraTreeClassifier"),
    "RF": Method("RandomForestClassifier", COLUMNS),
    "P-DT": Method("BaggingClassifier", ROWS, "DecisionTreeClassifier"),
    "bagging": Method("BaggingClassifier", member="DecisionTreeClassifier"),
}

ORDER = ("ET", "RP-ET", "RF", "P-DT", "one tree")
"""What the chapter finds, best first; pasting stands for bagging, which it does not report."""


def cuts(name: str, repeats: int) -> Iterator[tuple[Inputs, np.ndarray, list[np.ndarray]]]:
    """Inputs, classes and the rows for training, validation and test of each repeat."""
    for seed in range(repeats):
        if name in GENERATORS:
            X, y = GENERATORS[name](SAMPLES[name], np.random.default_rng(1000 + seed))
        else:
            X, y = read(name)
        yield X, y, split(len(y), (0.5, 0.25, 0.25), seed)


def tuned(library: Library, method: Method, seed: int, rows: list[Any]) -> float:
    """Test accuracy of the settings that are best on the validation rows."""
    train, validation, test = rows
    chosen = method.grid[0]
    if len(method.grid) > 1:
        errors = [
            error(method.make(library, TRIAL_TREES, seed, settings).fit(*train), *validation)
            for settings in method.grid
        ]
        chosen = method.grid[int(np.argmin(errors))]
    return 100.0 - error(method.make(library, TREES, seed, chosen).fit(*train), *test)


def measure(library: Library, quick: bool) -> Result:
    """Test accuracy of every method in every repeat."""
    result: Result = {}
    for name in LOUPPE:
        repeats = 2 if quick else REPEATS.get(name, 10)
        lists: dict[str, list[float]] = {method: [] for method in (*METHODS, "one tree")}
        for seed, (X, y, parts) in enumerate(cuts(name, repeats)):
            rows = [(take(X, part), y[part]) for part in parts]
            for key, method in METHODS.items():
                lists[key].append(tuned(library, method, seed, rows))
            tree = library("DecisionTreeClassifier", random_state=seed).fit(*rows[0])
            lists["one tree"].append(100.0 - error(tree, *rows[2]))
        result[name] = lists
        say(f"{name}: " + ", ".join(f"{key} {figure(v)}" for key, v in lists.items()))
    return result


TEXT = f"""\
{TREES} trees; random cuts into 50 % training, 25 % validation and 25 % test rows, the same for all
methods. RF and ET tune the share of columns tried at a node, RS-ET (subspaces of extra-trees) that
of each tree, over 0.01, 0.1, 0.2, ..., 1; P-DT (pasting of trees) tunes the share of rows over 0.1,
0.2, ..., 1, and RP-ET (patches of extra-trees) both over 0.1, 0.25, 0.5, 0.75, 1. Bagging has
nothing to tune. The thesis tunes patches over the fine grid too, and all with {TREES} trees;
here ensembles of {TRIAL_TREES} trees are compared on the validation rows to save time. It repeats
everything 50 times; here the column *runs* says how often. Test accuracy in per cent, with the
standard error of the mean.

*Distance* is the gap to the published accuracy in standard errors of the difference. The thesis'
error is taken from our runs at its 50 repeats; its samples of `twonorm` and `ringnorm` are not
ours (which are drawn anew for each repeat), so the binomial error of its one sample is added.
"""


def published_error(name: str, values: Values) -> float:
    """Standard error of the thesis' figure, taken from our runs."""
    share = figure(values).mean / 100.0
    sample = 100.0 * sqrt(share * (1.0 - share) / SAMPLES[name]) if name in SAMPLES else 0.0
    return hypot(spread(values) / sqrt(THEIR_RUNS), sample, 0.01 * ROUNDING)


def _cells(name: str, method: str, values: Values) -> tuple[str, float]:
    """Ours, theirs and the distance in one cell, and the distance."""
    theirs = LOUPPE[name][method]
    gap = Published(theirs, theirs, published_error(name, values)).distance(figure(values))
    return f"{figure(values)} ({theirs}, {signed(gap, 1)})", gap


def _order_line(better: str, worse: str, ours: Result) -> list[str]:
    """Count the sets on which one method beats the next, in the thesis and here."""
    reported = [
        name
        for name in ours
        if worse not in LOUPPE[name] or LOUPPE[name][better] > LOUPPE[name][worse]
    ]
    gaps: dict[str, Figure] = {
        name: paired(ours[name][better], ours[name][worse]) for name in reported
    }
    same = [name for name in reported if gaps[name].mean > 0.0]
    reversed_ = [name for name in reported if gaps[name].mean < -2.0 * gaps[name].se]
    mean = sum(gap.mean for gap in gaps.values()) / len(gaps)
    return [
        f"{better} over {worse}",
        f"{len(reported)}",
        f"{len(same)}",
        ", ".join(reversed_) or "none",
        f"{mean:+.2f}",
    ]


def section(results: dict[str, Result]) -> str:
    """Accuracies beside the published ones, and the order of the methods."""
    ours = results[OURS]
    lines, gaps = [], []
    for name in ours:
        cells = [
            _cells(name, method, ours[name][method]) for method in METHODS if method in LOUPPE[name]
        ]
        gaps += [gap for _, gap in cells]
        others = [str(figure(ours[name][key])) for key in ("bagging", "one tree")]
        runs = len(ours[name]["one tree"])
        lines.append([name, f"{runs}", *(text for text, _ in cells), *others])
    held = sum(abs(gap) <= 2.0 for gap in gaps)
    parts = [
        TEXT,
        "Each cell: weald (published, distance).",
        "",
        aligned(["set", "runs", *METHODS, "one tree"], lines),
        "",
        f"{held} of {len(gaps)} cells within two standard errors.",
    ]
    if PEER in results:
        peer = results[PEER]
        head = ["set", *METHODS, "one tree"]
        rows = [[name, *(str(figure(peer[name][key])) for key in head[1:])] for name in peer]
        parts += ["", "scikit-learn under this protocol:", "", aligned(head, rows)]
    order = [_order_line(better, worse, ours) for better, worse in pairwise(ORDER)]
    head = ["order", "sets that report it", "the same here", "reversed beyond 2 SE", "mean gap"]
    return "\n".join([*parts, "", aligned(head, order)])


PART = Part("louppe", "Louppe 2014: extra-trees, patches, forests, pasting", measure, section)
