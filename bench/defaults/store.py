"""Results kept as lines of JSON, one file per library, so that a run goes on where it ended.

Lines are only added: several runs may write at once, and of two results of one fit the last counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.defaults.contenders import Contender
from bench.defaults.tables import CAP, Table


@dataclass(frozen=True)
class Key:
    """What a result belongs to."""

    table: str
    split: int
    library: str
    settings: str
    version: str
    cap: int = CAP

    @classmethod
    def of(cls, table: Table, split: int, contender: Contender) -> Key:
        """Key of a fit with the versions installed now."""
        who = contender.library, contender.settings, contender.version
        return cls(table.name, split, *who, table.cap)


@dataclass(frozen=True)
class Result:
    """What one fit came to: the loss on the test rows, and the seconds of CPU to fit."""

    loss: float
    seconds: float
    rows: int


class Store:
    """All results in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results: dict[Key, Result] = dict(self._lines())

    def _lines(self) -> Iterator[tuple[Key, Result]]:
        for path in sorted(self.folder.glob("*.jsonl")):
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                yield Key(**entry["key"]), Result(**entry["result"])

    def add(self, key: Key, result: Result) -> None:
        """Keep a result, on disk at once."""
        self.results[key] = result
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{key.library.replace(' ', '-')}.jsonl"
        line = json.dumps({"key": asdict(key), "result": asdict(result)})
        with path.open("a") as file:
            file.write(line + "\n")
