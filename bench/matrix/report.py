"""The page of the matrix: the bars, the means, the worst cells, and every cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from bench import report as page
from bench.matrix.cells import CELLS, NOBODY, UNABLE, Cell, Part
from bench.matrix.methods import METHODS
from bench.matrix.picture import draw
from bench.matrix.promises import PROMISES
from bench.matrix.store import Store
from bench.matrix.summary import BARS, Kind, Verdict, View, mean, ratios, views
from bench.matrix.tables import TABLES
from bench.matrix.targets import TARGETS
from bench.task import OURS, Side

LEGEND = """\
Every cell is a method, a target and a table. weald and its peers fit and predict in turns, in one
process with two threads, and the best counts; ours runs at least three times, a peer until it has
taken six seconds. What a library needs in another form or order it gets so before the clock starts.
A ratio is the peer's time over ours: **above 1 weald is faster**. The peer is the fastest of those
whose model is as good (error or log loss or RMSE at most 3 % above ours; 8 % on the small table,
where noise is larger); faster ones with a worse model are named beside it. `!` marks a cell where
our model is the worse one. The log loss clips class shares at 0.1 %.

Fully grown trees; forests and extra-trees try the root of the number of columns (a third of them
for numbers, except on the wide and the sparse table), bagging tries all. AdaBoost has trees of
depth 3. Boosting has 31 leaves, rate 0.1, 255 bins, penalty 1, 20 rows in a leaf, CatBoost depth 5.
Forests and extra-trees have 100 trees; bagging, AdaBoost and boosting fewer where a peer takes
seconds for each. Memory is the peak above the table in a process of its own, with a tenth of the
trees, two at least. Each library has the table in its form and has fitted a few rows and columns
before. scikit-learn's bagging, which would start processes of its own, is weighed with threads: it
takes the least so. Less than 4 MB counts as 4.
"""


def times(value: float | None) -> str:
    """A ratio as it is shown: 6.1x."""
    if value is None or math.isnan(value):
        return ""
    digits = 2 if value < 0.995 else 1 if value < 99.5 else 0
    return f"{value:.{digits}f}x"


def seconds(side: Side | None) -> str:
    """The best time of a side, in seconds or milliseconds."""
    if side is None:
        return ""
    return f"{side.best:.2f} s" if side.best >= 1.0 else f"{side.best * 1e3:.3g} ms"


def short(view: View) -> str:
    """A cell of the grid: the ratios of fit and predict, or why there are none."""
    if view.peer("fit") is None:
        return "no peer"
    mark = "!" if view.worse else ""
    return f"{times(view.ratio('fit'))} / {times(view.ratio('predict'))}{mark}"


def grid(found: Sequence[View]) -> str:
    """All cells at a glance: fit / predict."""
    by_name = {view.cell.name: view for view in found}
    lines = []
    for method, target in product(METHODS, TARGETS):
        row = [Cell(method, target, table) for table in TABLES]
        shown = [short(by_name[cell.name]) if cell.name in by_name else empty(cell) for cell in row]
        if any(shown):
            lines.append([method.name, target.name, *shown])
    return page.aligned(["method", "target", *(table.name for table in TABLES)], lines)


def empty(cell: Cell) -> str:
    """What stands where nothing was measured."""
    if any(part.holds(cell) for part in NOBODY):
        return "nobody"
    return "?" if any(cell.name == known.name for known in CELLS) else ""


def quality(view: View) -> str:
    """The measures of quality, ours and those of the peer that counts."""
    peer = view.peer("fit")
    predict = view.sides("predict")
    if peer is None or OURS not in predict:
        return ""
    theirs = predict.get(peer.library)
    return "; ".join(
        f"{name} {value:.4g} / {theirs.quality[name]:.4g}" if theirs else f"{name} {value:.4g}"
        for name, value in predict[OURS].quality.items()
    )


def others(view: View) -> str:
    """The peers that do not count: slower, worse, or unable."""
    counts = view.peer("fit")
    named = []
    for side in view.peers("fit"):
        if counts is None or side.library == counts.library:
            continue
        loss = view.loss(side.library) / view.loss(OURS) - 1.0
        worse = "" if view.as_good(side.library) else f", {view.cell.loss} {loss:+.0%}"
        named.append(f"{side.library} {times(view.ratio('fit', side.library))}{worse}")
    unable = [f"{library}: {why}" for library, why in view.result.unable.items()]
    return "; ".join(filter(None, [*named, *unable, view.cell.note]))


def memory(view: View) -> str:
    """Our peak and the leanest peer's, in MB."""
    sides = view.sides("memory")
    peer = view.peer("memory")
    if OURS not in sides:
        return ""
    theirs = f" / {peer.best:.0f} ({peer.library})" if peer else ""
    return f"{sides[OURS].best:.0f}{theirs}"


HEAD = (
    *("cell", "trees", "fit", "peer", "", "ratio", "predict", "peer", "", "ratio"),
    *("quality, weald / peer of the fit", "other peers of the fit", "MB, weald / leanest", "date"),
)


def line(view: View) -> list[str]:
    """One cell in full."""
    fit, predict = view.sides("fit"), view.sides("predict")
    peers = {kind: view.peer(kind) for kind in ("fit", "predict")}
    names = {kind: peer.library if peer else "none" for kind, peer in peers.items()}
    return [
        view.cell.name,
        str(view.result.trees),
        seconds(fit.get(OURS)),
        names["fit"],
        seconds(peers["fit"]),
        times(view.ratio("fit")) + ("!" if view.worse else ""),
        seconds(predict.get(OURS)),
        names["predict"],
        seconds(peers["predict"]),
        times(view.ratio("predict")),
        quality(view),
        others(view),
        memory(view),
        view.result.date[:10],
    ]


def bars(store: Store) -> str:
    """Each bar, and whether it is met."""
    found = views(store.results)
    verdicts = [bar.verdict(found) for bar in BARS]
    verdicts += [promise.verdict(store.rows) for promise in PROMISES]
    words = {None: "not measured", True: "met", False: "**not met**"}
    lines = [
        [one.name, f"{one.least:.2g}x", value_of(one), words[one.met], missed(one), one.where]
        for one in verdicts
    ]
    return page.aligned(["bar", "asked", "is", "", "cells below", "worst"], lines)


def value_of(verdict: Verdict) -> str:
    """The value of a bar."""
    return "" if verdict.value is None else f"{verdict.value:.2f}x"


def missed(verdict: Verdict) -> str:
    """How many of the cells miss it."""
    return f"{verdict.missed} of {verdict.cells}" if verdict.where else ""


def means(found: Sequence[View]) -> str:
    """The geometric mean of each method, its range, and where it is worst."""
    lines = []
    for method in METHODS:
        part = [view for view in found if Part([method.name]).holds(view.cell)]
        for kind in ("fit", "predict"):
            known = ratios(part, kind)
            if known:
                worst = [f"{times(value)} {view.cell.name}" for value, view in known[:3]]
                values = [value for value, _ in known]
                lines.append(
                    [method.name, kind, str(len(known)), times(mean(values)), "; ".join(worst)]
                )
    return page.aligned(["method", "", "cells", "geometric mean", "worst"], lines)


def worst(found: Sequence[View], kind: Kind, count: int = 15) -> str:
    """The cells with the smallest ratios."""
    lines = [[times(value), view.cell.name] for value, view in ratios(found, kind)[:count]]
    return page.aligned([f"{kind}, ratio", "cell"], lines)


def unable() -> str:
    """What nobody or some peer cannot do, as declared."""
    lines = [f"- {part_name(part)}: nobody, weald included" for part in NOBODY]
    lines += [f"- {part_name(one.part)}: {one.library}, {one.why}" for one in UNABLE]
    return "\n".join(lines)


def part_name(part: Part) -> str:
    """A part of the matrix in words."""
    return ", ".join(
        " or ".join(names) for names in (part.methods, part.targets, part.tables) if names
    )


def summary(store: Store) -> str:
    """What is printed after a run: bars, means, worst cells."""
    found = views(store.results)
    parts = [bars(store), means(found), worst(found, "fit"), worst(found, "predict")]
    return "\n\n".join(parts)


def write(folder: Path, store: Store) -> None:
    """Write the file of results, the picture and the page."""
    store.write(folder)
    found = views(store.results)
    draw(found, folder / "matrix.png")
    facts = "\n".join(f"- {name}: {value}" for name, value in store.machine.items())
    quick = "\n**A quick run: a tenth of the rows, not for comparison.**\n" if store.quick else ""
    taken = sum(view.result.seconds for view in found)
    text = f"""\
# The matrix

Made by `make bench`; do not edit.
{quick}
{LEGEND}
{facts}
- {len(found)} of {len(CELLS)} cells measured, {taken / 60:.0f} minutes without memory

![Ratios of all cells](matrix.png)

## Bars

{bars(store)}

## Means and worst cells

{means(found)}

{worst(found, "fit")}

{worst(found, "predict")}

## At a glance

Peer's time over ours, fit / predict. Empty: not in the matrix; `?`: not measured yet.

{grid(found)}

What peers cannot do:

{unable()}

## Every cell

{page.aligned(HEAD, [line(view) for view in found])}

## Rows beside the cells

Here the ratio is ours over the peer's, as in [the list](../RESULTS.md).

{page.table(store.rows)}
"""
    (folder / "RESULTS.md").write_text(text)
