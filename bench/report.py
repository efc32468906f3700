"""From rows to the results file and the page that people read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.task import Row, Settings, Side

LEGEND = """\
Every row sets weald against one peer, or against a limit we promised to keep. Both ran in turns
in the same process (memory and import rows: in fresh processes), and the best of the repeats
counts. The ratio is weald over the peer: below 1 weald is faster, smaller or lighter. A peer that
cannot thread a task is shown with the one thread it uses. A peer that needs half a minute takes
part in one or two rounds only. The log loss of ensembles clips class shares at 0.1 %, as they may
be zero. Rows with a date in their note were measured then, all others in the full run.
"""


def _number(value: float) -> str:
    if value >= 1000 and value == int(value):
        return f"{int(value):,}"
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _value(side: Side, unit: str) -> str:
    shown = {"exponent": "", "us": " µs"}.get(unit, f" {unit}")
    return f"{_number(side.best)}{shown}"


def _threads(row: Row) -> str:
    theirs = row.peer.threads
    return (
        str(row.ours.threads)
        if theirs in (0, row.ours.threads)
        else f"{row.ours.threads} : {theirs}"
    )


def _quality(row: Row) -> str:
    """Each measure of quality once, ours before the slash and theirs after it."""
    return "; ".join(
        f"{name} {_quality_number(value)} / {_quality_number(row.peer.quality[name])}"
        for name, value in row.ours.quality.items()
        if name in row.peer.quality
    )


def _quality_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.4f}".rstrip("0").rstrip(".")


HEAD = ("task", "threads", "weald", "peer", "", "ratio", "quality, weald / peer", "note")


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.task,
        _threads(row),
        _value(row.ours, row.unit),
        row.peer.library,
        _value(row.peer, row.unit),
        f"{row.ratio:.2f}" if row.ratio >= 0.1 else f"{row.ratio:.3f}",
        _quality(row),
        "; ".join(filter(None, (row.note, row.date))),
    )


def aligned(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Lay cells out as a Markdown table that is legible as plain text too."""
    lines = [head, *lines]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = [
        "| "
        + " | ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def table(rows: Sequence[Row]) -> str:
    """Set the rows in a table."""
    return aligned(HEAD, [_cells(row) for row in rows])


def updated(folder: Path, rows: Sequence[Row], date: str) -> tuple[list[Row], dict[str, str]]:
    """The published rows with some tasks measured again or new, and the facts of the full run."""
    kept = json.loads((folder / "results.json").read_text())
    measured = {row.task for row in rows}
    old = [row for row in map(Row.from_json, kept["rows"]) if row.task not in measured]
    return [*old, *(replace(row, date=date) for row in rows)], kept["machine"]


def write(folder: Path, rows: Sequence[Row], machine: dict[str, str], settings: Settings) -> None:
    """Write results.json and RESULTS.md into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "machine": machine,
        "repeats": settings.repeats,
        "quick": settings.quick,
        "rows": [row.as_json() for row in rows],
    }
    (folder / "results.json").write_text(json.dumps(content, indent=1) + "\n")
    warning = (
        "\n**A quick run: a tenth of the rows, not for comparison.**\n" if settings.quick else ""
    )
    facts = "\n".join(f"- {name}: {value}" for name, value in machine.items())
    (folder / "RESULTS.md").write_text(
        f"# Benchmarks\n\nMade by `make bench`; do not edit.\n{warning}\n{LEGEND}\n{facts}\n"
        f"- repeats: best of up to {settings.repeats}\n\n{table(rows)}\n"
    )
