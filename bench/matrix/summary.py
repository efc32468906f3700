"""What the measured cells come to: ratios, geometric means, and the bars they are held to.

A ratio is the peer's time over ours: above one we are faster. The peer is the fastest of those
whose model is as good as ours, within the noise of the table; if none is, the fastest of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench.matrix.cells import CELLS, Cell, Part
from bench.matrix.measure import Result
from bench.task import OURS, Row, Side

Kind = str
"""Which part of a result is looked at: "fit", "predict" or "memory"."""


@dataclass(frozen=True)
class View:
    """A result beside its cell."""

    cell: Cell
    result: Result

    def sides(self, kind: Kind) -> dict[str, Side]:
        """What was measured, by library."""
        return {side.library: side for side in getattr(self.result, kind)}

    def loss(self, library: str) -> float:
        """The loss of a library's model; smaller is better."""
        side = self.sides("predict").get(library)
        return math.inf if side is None else side.quality[self.cell.loss]

    def as_good(self, library: str) -> bool:
        """Whether a peer's model is as good as ours, or better."""
        return self.loss(library) <= self.loss(OURS) * (1.0 + self.cell.table.noise)

    @property
    def worse(self) -> bool:
        """Whether our model is worse than that of a peer it is measured against."""
        peer = self.peer("fit")
        if peer is None:
            return False
        return self.loss(OURS) > self.loss(peer.library) * (1.0 + self.cell.table.noise)

    def peers(self, kind: Kind) -> list[Side]:
        """The peers, the fastest (or leanest) first."""
        found = [side for name, side in self.sides(kind).items() if name != OURS]
        return sorted(found, key=lambda side: side.best)

    def peer(self, kind: Kind) -> Side | None:
        """The peer that counts: the best of those that are as good; None where there is none."""
        found = self.peers(kind)
        good = [side for side in found if self.as_good(side.library)]
        return next(iter(good or found), None)

    def ratio(self, kind: Kind, library: str = "") -> float | None:
        """A peer over ours; without a name, the peer that counts."""
        sides = self.sides(kind)
        peer = sides.get(library) if library else self.peer(kind)
        ours = sides.get(OURS)
        return None if peer is None or ours is None else peer.best / ours.best

    def faster_but_worse(self, kind: Kind) -> list[Side]:
        """Peers that are faster than the one that counts, with a worse model."""
        peer = self.peer(kind)
        return [side for side in self.peers(kind) if peer and side.best < peer.best]


def views(results: dict[str, Result]) -> list[View]:
    """The measured cells in the order of the matrix."""
    return [View(cell, results[cell.name]) for cell in CELLS if cell.name in results]


def mean(values: Iterable[float]) -> float:
    """Geometric mean."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def ratios(found: Sequence[View], kind: Kind, library: str = "") -> list[tuple[float, View]]:
    """The ratios that there are, the worst first."""
    pairs = [(view.ratio(kind, library), view) for view in found]
    known = [(value, view) for value, view in pairs if value is not None]
    return sorted(known, key=lambda pair: pair[0])


@dataclass(frozen=True)
class Bar:
    """What the cells of a part are held to.

    Parameters
    ----------
    name : str
        What is asked, in words.
    part : Part
        The cells.
    least : float
        The least ratio.
    mean : bool
        Whether their geometric mean is asked for, and not each of them.
    library : str
        The peer; the one that counts if none is named.
    kind : {"fit", "predict", "memory"}
        What is compared.
    """

    name: str
    part: Part
    least: float
    mean: bool = False
    library: str = ""
    kind: Kind = "fit"

    def verdict(self, found: Sequence[View]) -> Verdict:
        """Hold the measured cells to it."""
        known = ratios(
            [view for view in found if self.part.holds(view.cell)], self.kind, self.library
        )
        if not known:
            return Verdict(self.name, self.least, None)
        value, where = known[0]
        if self.mean:
            return Verdict(self.name, self.least, mean(each for each, _ in known), "", len(known))
        missed = sum(each < self.least for each, _ in known)
        return Verdict(self.name, self.least, value, where.cell.name, len(known), missed)


@dataclass(frozen=True)
class Verdict:
    """How a bar stands: the value, where it is worst, and how many of the cells miss it."""

    name: str
    least: float
    value: float | None
    where: str = ""
    cells: int = 1
    missed: int = 0

    @property
    def met(self) -> bool | None:
        """Whether it is met; None if nothing of it was measured."""
        return None if self.value is None else self.value >= self.least


BAGGED = ("forest", "extra-trees", "bagging")
BESIDE_SCIKIT_LEARN = ("tree", *BAGGED, "AdaBoost")
NOT_SPARSE = tuple(
    table for table in dict.fromkeys(cell.table.name for cell in CELLS) if table != "sparse"
)

BARS = (
    Bar(
        "forests, extra-trees, bagging: every cell but the sparse",
        Part(BAGGED, (), NOT_SPARSE),
        4.0,
    ),
    Bar("forest, 2 classes, tall", Part(["forest"], ["2 classes"], ["tall"]), 18.0),
    Bar("extra-trees, 2 classes, tall", Part(["extra-trees"], ["2 classes"], ["tall"]), 8.0),
    Bar("forest, regression, tall", Part(["forest"], ["regression"], ["tall"]), 9.0),
    Bar("extra-trees, regression, tall", Part(["extra-trees"], ["regression"], ["tall"]), 4.0),
    Bar("forest, 20 classes, tall", Part(["forest"], ["20 classes"], ["tall"]), 6.0),
    Bar("extra-trees, 20 classes, tall", Part(["extra-trees"], ["20 classes"], ["tall"]), 4.0),
    Bar("forest, wide", Part(["forest"], (), ["wide"]), 8.0),
    Bar("extra-trees, wide", Part(["extra-trees"], (), ["wide"]), 4.0),
    Bar("forests, extra-trees, bagging: sparse", Part(BAGGED, (), ["sparse"]), 3.0),
    Bar("forests, extra-trees, bagging: geometric mean", Part(BAGGED), 8.0, mean=True),
    Bar("all methods but boosting: geometric mean", Part(BESIDE_SCIKIT_LEARN), 8.0, mean=True),
    Bar("boosting: every cell", Part(["boosting"]), 1.3),
    Bar("boosting: geometric mean", Part(["boosting"]), 2.2, mean=True),
    Bar(
        "boosting: sparse, beside LightGBM",
        Part(["boosting"], (), ["sparse"]),
        2.0,
        library="LightGBM",
    ),
    Bar("memory of a fit: leanest peer over ours", Part(), 1 / 1.2, kind="memory"),
)


@dataclass(frozen=True)
class Promise:
    """Tasks beside the cells that have a bar: the least of peer over ours in their rows."""

    name: str
    least: float
    tasks: Callable[[str], bool]

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Hold the rows of its tasks to it."""
        known = sorted((1.0 / row.ratio, row.task) for row in rows if self.tasks(row.task))
        if not known:
            return Verdict(self.name, self.least, None)
        missed = sum(value < self.least for value, _ in known)
        return Verdict(self.name, self.least, known[0][0], known[0][1], len(known), missed)
