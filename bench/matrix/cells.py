"""Which cells the matrix has, and what a peer cannot do in them.

Not every combination is worth its time. All methods and targets meet on the tall table. Forests,
extra-trees and boosting meet every table with 2 classes, 20 classes and regression; the rest shows
by examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

from bench.data import Data
from bench.matrix.methods import METHODS, Method
from bench.matrix.tables import TABLES, Table
from bench.matrix.targets import TARGETS, Target
from bench.task import Contender
from bench.tasks.libraries import Job, fitting

THREADS = 2


@dataclass(frozen=True)
class Part:
    """All combinations of some names of the three tables; none named means all."""

    methods: Sequence[str] = ()
    targets: Sequence[str] = ()
    tables: Sequence[str] = ()

    def holds(self, cell: Cell) -> bool:
        """Whether a cell is in this part."""
        return all(
            not names or name in names
            for names, name in (
                (self.methods, cell.method.name),
                (self.targets, cell.target.name),
                (self.tables, cell.table.name),
            )
        )


@dataclass(frozen=True)
class Unable:
    """A library that cannot do a part of the matrix, and why."""

    library: str
    part: Part
    why: str


ENSEMBLES = ("forest", "extra-trees", "boosting")
OTHERS = ("tree", "bagging", "AdaBoost")

PARTS = (
    Part(tables=["tall"]),
    Part(ENSEMBLES, ["2 classes", "20 classes", "regression"]),
    Part(ENSEMBLES, ["7 classes", "5 outputs"], ["small"]),
    Part(OTHERS, ["2 classes", "regression"], ["small", "wide", "sparse", "weights"]),
    Part(["tree", "bagging"], ["regression"], ["1,000 levels"]),
)

NOBODY = (Part(["AdaBoost"], ["5 outputs"]),)
"""Cells that neither weald nor a peer can do."""

UNABLE = (
    Unable("LightGBM", Part(["boosting"], ["5 outputs"]), "one output only"),
    Unable("scikit-learn HGB", Part(["boosting"], ["5 outputs"]), "one output only"),
    Unable("scikit-learn HGB", Part(["boosting"], tables=["sparse"]), "no sparse tables"),
)

NOTES = (
    (Part(OTHERS, tables=["1,000 levels"]), "scikit-learn gets codes"),
    (
        Part(["forest", "extra-trees"], tables=["10 levels", "1,000 levels", "10,000 levels"]),
        "scikit-learn gets codes",
    ),
    (Part(["boosting"], tables=["1,000 levels", "10,000 levels"]), "HGB: rare levels merged"),
)
"""What a peer is given in place of the table itself."""


@dataclass(frozen=True)
class Cell:
    """One method, one target, one table."""

    method: Method
    target: Target
    table: Table

    @property
    def name(self) -> str:
        """Name shown in the table and matched by `--only`."""
        return f"{self.method.name}, {self.target.name}, {self.table.name}"

    @property
    def loss(self) -> str:
        """The measure by which models of this cell are as good as each other."""
        return self.method.loss if self.target.kind == "classes" else "rmse"

    @property
    def note(self) -> str:
        """What is different for a peer here."""
        return "; ".join(note for part, note in NOTES if part.holds(self))

    @cached_property
    def unable(self) -> dict[str, str]:
        """The peers that cannot do this cell, and why."""
        return {one.library: one.why for one in UNABLE if one.part.holds(self)}

    def trees(self, part: int = 1) -> int:
        """Trees or rounds of every model, or a part of them, but two at least."""
        size = self.method.size(self.target, self.table)
        return min(size, max(2, size // part))

    def data(self, quick: bool = False) -> Data:
        """The rows and targets."""
        return draw(self.table, self.target, quick)

    def contenders(self, part: int = 1) -> list[Contender]:
        """Our fit of all or a part of the trees, and those of the able peers; ours first."""
        columns = self.table.columns if self.target.kind == "numbers" else "sqrt"
        job = Job(
            self.target.kind,
            THREADS,
            self.trees(part),
            outputs=self.target.outputs,
            columns=columns,
        )
        return [
            fitting(name, library, job)
            for name, library in self.method.libraries.items()
            if name not in self.unable
        ]


# One entry: the cells of one table and target follow each other.
@lru_cache(maxsize=1)
def draw(table: Table, target: Target, quick: bool = False) -> Data:
    """Make a table and a target of it."""
    rows = max(table.rows // 10, 1_000) if quick else table.rows
    test_rows = table.test_rows
    X, scores = table.make(table.generator(), rows + test_rows)
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    rng = table.generator(target.name)
    y = target.draw(rng, scores)
    weight = rng.exponential(size=rows) + 0.01 if table.weighted else None
    return Data(X[:rows], y[:rows], X[rows:], y[rows:], weight=weight)


def cells() -> list[Cell]:
    """The cells of the matrix, those with the same data together."""
    found = [
        Cell(method, target, table) for table, target, method in product(TABLES, TARGETS, METHODS)
    ]
    return [
        cell
        for cell in found
        if any(part.holds(cell) for part in PARTS) and not any(part.holds(cell) for part in NOBODY)
    ]


CELLS = cells()
