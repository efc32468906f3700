"""Breiman 2001: the error of forests of 100 trees under the protocol of table 2."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, isnan, log2, nan
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
from bench.replications.published import BREIMAN
from bench.replications.sets import GENERATORS, read, split, take
from bench.report import aligned

FIXED_TRAIN = {"letter": 15_000, "satimage": 4435, "zipcode": 7291}
"""Sets with a test part of their own, and the rows before it."""

Rows = tuple[Inputs, np.ndarray]


def draws(name: str, library: Library, quick: bool) -> Iterator[tuple[int, Rows, Rows]]:
    """Seed, training and test rows of each run on a set."""
    if name in GENERATORS:
        for seed in range(5 if quick else 100):
            rng = np.random.default_rng(seed)
            yield seed, GENERATORS[name](300, rng), GENERATORS[name](3000, rng)
        return
    X, y = read(name)
    X = library.inputs(X)
    if name in FIXED_TRAIN:
        cut = FIXED_TRAIN[name]
        for seed in range(1 if quick else 5):
            yield seed, (X[:cut], y[:cut]), (X[cut:], y[cut:])
        return
    for seed in range(5 if quick else 100):
        test, train = split(len(y), (0.1, 0.9), seed)
        yield seed, (take(X, train), y[train]), (take(X, test), y[test])


def one_run(library: Library, seed: int, train: Rows, test: Rows) -> dict[str, float]:
    """Errors of the two forests, the chosen one, its single trees, bagging and a whole tree."""
    features = train[0].shape[1]
    forests, errors, out_of_bag = [], [], []
    for tried in (1, int(log2(features) + 1)):
        forest = library(
            "RandomForestClassifier", max_features=tried, oob_score=True, random_state=seed
        ).fit(*train)
        forests.append(forest)
        errors.append(error(forest, *test))
        out_of_bag.append(1.0 - forest.oob_score_)
    best = int(np.argmin(out_of_bag))
    bagging = library("BaggingClassifier", n_estimators=100, random_state=seed).fit(*train)
    tree = library("DecisionTreeClassifier", random_state=seed).fit(*train)
    return {
        "single": errors[0],
        "several": errors[1],
        "chosen": errors[best],
        "member": library.member_error(forests[best], *test),
        "bagging": error(bagging, *test),
        "tree": error(tree, *test),
    }


def measure(library: Library, quick: bool) -> Result:
    """Errors of every run on every set."""
    result: Result = {}
    for name in BREIMAN:
        runs = [one_run(library, *draw) for draw in draws(name, library, quick)]
        result[name] = {key: [run[key] for run in runs] for key in runs[0]}
        say(f"{name}: {figure(result[name]['chosen'])} (published {BREIMAN[name].chosen})")
    return result


def published_error(name: str, values: Values) -> float:
    """Standard error of the paper's figure, taken from our runs: see the text of the section."""
    runs = 1 if name in FIXED_TRAIN else 100
    return hypot(spread(values) / runs**0.5, 0.1 * ROUNDING)


TEXT = """\
100 trees; 100 random cuts into 90 % training and 10 % test rows, or 100 fresh samples of 300
training and 3,000 test rows for the four generators; `letter`, `satimage` and `zipcode` have a test
part of their own and five seeds. F is the number of columns tried at a node: 1, or the whole part
of log2(M) + 1, whichever has the smaller out-of-bag error in that run. Errors in per cent, with
the standard error of the mean over runs.

The paper gives no standard errors. Its figures come from as many runs of the same kind, so each is
given our own standard error (on the three sets with a fixed test part: that of a single run), and
the error of rounding to a tenth. *Distances* are gaps in standard errors of the difference: to the
published figure, to the nearer end of modern re-runs where they are known, and to scikit-learn
under this very protocol (paired by cut). A line holds if one of them is at most 2. Figures with a
star are quoted at second hand and were not checked against the paper.
"""


def _distance(name: str, values: Values, low: float, high: float) -> float:
    return Published(low, high, published_error(name, values)).distance(figure(values))


def _from_peer(name: str, ours: Values, theirs: Values) -> float:
    """Gap to the peer in standard errors; runs on one fixed cut have nothing to pair."""
    gap = figure(ours) - figure(theirs) if name in FIXED_TRAIN else paired(ours, theirs)
    return gap.mean / gap.se if gap.se else 0.0


def _forest_line(name: str, ours: Any, peer: Any) -> list[str]:
    paper = BREIMAN[name]
    chosen: Values = ours["chosen"]
    gaps = [_distance(name, chosen, paper.chosen, paper.chosen)]
    gaps.append(_distance(name, chosen, *paper.rerun) if paper.rerun else nan)
    gaps.append(_from_peer(name, chosen, peer["chosen"]) if peer else nan)
    return [
        name,
        str(figure(chosen)),
        f"{paper.chosen}{'' if paper.checked else '*'}",
        str(Published(*paper.rerun)) if paper.rerun else "",
        str(figure(peer["chosen"])) if peer else "",
        *("" if isnan(gap) else signed(gap, 1) for gap in gaps),
        "yes" if any(abs(gap) <= 2.0 for gap in gaps) else "no",
        str(figure(ours["single"])),
        f"{paper.single}{'' if paper.checked else '*'}",
        signed(_distance(name, ours["single"], paper.single, paper.single), 1),
    ]


def _order_line(name: str, ours: Any, peer: Any) -> list[str]:
    paper = BREIMAN[name]
    means = [figure(ours[key]).mean for key in ("chosen", "bagging", "tree")]
    return [
        name,
        str(figure(ours["chosen"])),
        str(figure(ours["bagging"])),
        str(figure(peer["bagging"])) if peer else "",
        f"{paper.bagged}" if paper.bagged else "",
        str(figure(ours["tree"])),
        "yes" if means == sorted(means) else "no",
        str(figure(ours["member"])),
        f"{paper.tree}",
    ]


def section(results: dict[str, Result]) -> str:
    """Two tables: the forest against the paper, and forest, bagging and tree in order."""
    ours, peer = results[OURS], results.get(PEER, {})
    lines = [_forest_line(name, ours[name], peer.get(name)) for name in ours]
    held = sum(line[8] == "yes" for line in lines)
    near = sum(abs(float(line[5])) <= 2.0 for line in lines)
    gaps: list[Figure] = [
        figure(ours[name]["chosen"]) - figure(peer[name]["chosen"]) for name in ours if name in peer
    ]
    summary = (
        f"Of {len(lines)} sets, {near} lie within two standard errors of the paper's figure, and "
        f"{held} of the paper's or a modern one."
    )
    if gaps:
        mean = sum(gap.mean for gap in gaps) / len(gaps)
        summary += f" Mean difference from scikit-learn on the same cuts: {mean:+.2f} points."
    forest_head = [
        "set",
        "F chosen",
        "published",
        "re-runs",
        "scikit-learn",
        "from paper",
        "from re-runs",
        "from scikit-learn",
        "holds",
        "F = 1",
        "published",
        "distance",
    ]
    order_head = [
        "set",
        "forest",
        "100 bagged trees",
        "scikit-learn",
        "published (50, pruned)",
        "one tree",
        "in order",
        "trees of the forest",
        "published",
    ]
    return "\n".join(
        [
            TEXT,
            aligned(forest_head, lines),
            "",
            summary,
            "",
            "The forest, bagging and one fully grown tree on all rows. The last two columns are",
            "the mean error of the forest's own trees and, at second hand, the paper's *one tree*.",
            "",
            aligned(order_head, [_order_line(name, ours[name], peer.get(name)) for name in ours]),
        ]
    )


PART = Part("breiman", "Breiman 2001: forests, bagging, one tree", measure, section)
