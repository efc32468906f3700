"""What a benchmark is made of: contenders, tasks, and the rows they fill.

A task is a small declarative object. To add a row to the table, add a task to a file in
`bench/tasks/`; nothing else needs to change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Protocol

from bench.data import Data

OURS = "weald"

Quality = Callable[[Any, Data], dict[str, float]]
"""From what a contender's `run` returned to named numbers, such as its test error."""


def nothing(data: Data) -> None:
    """Prepare nothing."""


def unjudged(result: Any, data: Data) -> dict[str, float]:
    """Judge nothing, for tasks whose results are not models."""
    return {}


@dataclass(frozen=True)
class Contender:
    """One library's way to do a task.

    Parameters
    ----------
    library : str
        Name shown in the table; `OURS` marks weald.
    run : callable
        The timed part: takes the data and what `prepare` returned.
    prepare : callable
        The untimed part, called once: takes the data.
    threads : int
        Threads it is allowed to use.
    rounds : int or None
        Most rounds it takes part in, for a peer that needs half a minute; None means all.
    """

    library: str
    run: Callable[[Data, Any], Any]
    prepare: Callable[[Data], Any] = nothing
    threads: int = 1
    rounds: int | None = None

    @property
    def key(self) -> str:
        """Name that is unique within a task."""
        return f"{self.library} x{self.threads}"


@dataclass(frozen=True)
class Settings:
    """How thoroughly to measure.

    Parameters
    ----------
    quick : bool
        A tenth of the rows, one repeat: shows that the harness works, not who is faster.
    repeats : int
        Rounds over all contenders; the best counts.
    budget : float
        Seconds after which a task starts no further round.
    least : int
        Rounds that are run whatever the budget.
    patience : float
        Seconds altogether after which a peer takes part in no further round.
    """

    quick: bool = False
    repeats: int = 5
    budget: float = 60.0
    least: int = 2
    patience: float = math.inf

    def rows(self, n: int) -> int:
        """Number of rows to use where a thorough run uses n."""
        return max(n // 10, 100) if self.quick else n


@dataclass(frozen=True)
class Side:
    """One contender's measurement: every value and the quality of what it made."""

    library: str
    threads: int
    values: tuple[float, ...]
    quality: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """Smallest value: the one least disturbed by the rest of the machine."""
        return min(self.values)


@dataclass(frozen=True)
class Row:
    """One line of the table: weald and one peer (or a limit) on one task.

    A date is that of a row measured again after the full run.
    """

    task: str
    unit: str
    ours: Side
    peer: Side
    note: str = ""
    date: str = ""

    @property
    def ratio(self) -> float:
        """Ours over theirs; below one is better."""
        return self.ours.best / self.peer.best

    def as_json(self) -> dict[str, Any]:
        """Plain numbers for the results file."""
        sides = {
            name: {**asdict(side), "best": side.best, "median": median(side.values)}
            for name, side in (("ours", self.ours), ("peer", self.peer))
        }
        return {
            "task": self.task,
            "unit": self.unit,
            "ratio": self.ratio,
            "note": self.note,
            "date": self.date,
            **sides,
        }

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Row:
        """A row from the results file."""
        ours, peer = (
            Side(one["library"], one["threads"], tuple(one["values"]), one["quality"])
            for one in (kept["ours"], kept["peer"])
        )
        return cls(kept["task"], kept["unit"], ours, peer, kept["note"], kept.get("date", ""))


class Task(Protocol):
    """Anything with a name that can fill rows of the table."""

    @property
    def name(self) -> str:
        """Name shown in the table and matched by `--only`."""
        ...

    def measure(self, settings: Settings) -> list[Row]:
        """Do the work and return the rows."""
        ...


def limit(value: float) -> Side:
    """Stand in for a peer with a number that we promised not to pass."""
    return Side("limit", 0, (value,))


def pair(name: str, unit: str, sides: Sequence[Side], note: str = "") -> list[Row]:
    """Set each of our measurements against each peer at the same number of threads.

    A peer that was not measured with as many threads is taken at the most it has: a library
    that cannot thread a task is compared as it is.
    """
    rows = []
    for ours in (side for side in sides if side.library == OURS):
        for library in dict.fromkeys(side.library for side in sides if side.library != OURS):
            theirs = [side for side in sides if side.library == library]
            peer = max(theirs, key=lambda side: (side.threads == ours.threads, side.threads))
            rows.append(Row(name, unit, ours, peer, note))
    return rows


def facts_note(data: Data) -> str:
    """Known constants of a task in words."""
    return ", ".join(f"{name} {value:.4g}" for name, value in data.facts.items())
