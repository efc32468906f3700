"""The kept results of the matrix: a file with a line per cell, rewritten after every cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.matrix.cells import CELLS
from bench.matrix.measure import Result
from bench.task import Row, Side

FILE = "results.json"


@dataclass
class Store:
    """Results by the name of their cell, rows of promises, and the machine of the last run."""

    quick: bool = False
    machine: dict[str, str] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path, quick: bool) -> Store:
        """What a folder holds; quick results are not kept beside thorough ones."""
        path = folder / FILE
        if not path.exists():
            return cls(quick)
        kept = json.loads(path.read_text())
        if kept["quick"] != quick:
            return cls(quick)
        results = [result_from(one) for one in kept["cells"]]
        rows = [Row.from_json(one) for one in kept["rows"]]
        return cls(quick, kept["machine"], {one.cell: one for one in results}, rows)

    def add(self, result: Result) -> None:
        """Put a result in the place of the cell's last one, whose memory stays if it is not new."""
        old = self.results.get(result.cell)
        if old is not None and not result.memory:
            result = replace(result, memory=old.memory, memory_date=old.memory_date)
        self.results[result.cell] = result

    def add_rows(self, rows: Sequence[Row], date: str) -> None:
        """Put rows in the place of the last ones of their tasks."""
        measured = {row.task for row in rows}
        old = [row for row in self.rows if row.task not in measured]
        self.rows = [*old, *(replace(row, date=date) for row in rows)]

    def write(self, folder: Path) -> None:
        """Write all of it; cells that are no longer in the matrix go."""
        folder.mkdir(parents=True, exist_ok=True)
        known = [self.results[cell.name] for cell in CELLS if cell.name in self.results]
        parts = [
            f'"quick": {json.dumps(self.quick)}',
            f'"machine": {json.dumps(self.machine, indent=1)}',
            f'"cells": {_lines(asdict(one) for one in known)}',
            f'"rows": {_lines(row.as_json() for row in self.rows)}',
        ]
        (folder / FILE).write_text("{" + ",\n".join(parts) + "}\n")


def _lines(values: Iterable[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(_short(value)) for value in values) + "\n]"


def _short(value: Any) -> Any:
    """Numbers with six digits: more are noise."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_short(each) for each in value]
    return value


def result_from(kept: dict[str, Any]) -> Result:
    """A result from the file."""
    sides = {
        part: tuple(
            Side(one["library"], one["threads"], tuple(one["values"]), one["quality"])
            for one in kept[part]
        )
        for part in ("fit", "predict", "memory")
    }
    return Result(**{**kept, **sides})
