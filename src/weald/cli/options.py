"""Options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from weald.cli.errors import UserError

if TYPE_CHECKING:
    from weald.dataset import Source

__all__ = ["Data", "File", "Json", "Model", "Quiet", "at_least", "spare", "the_source"]

File = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help=".csv, .tsv or .txt of any dialect, .jsonl (these also as .gz), .parquet, .arrow or "
        ".feather.",
        show_default=False,
    ),
]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, as `weald fit` writes it.")
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A bundled table instead of a file: iris, wine, digits, breast_cancer or diabetes.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def the_source(file: str | None, data: str | None) -> Source:
    """The table that a command is about: a file or a bundled one."""
    from weald.dataset import BUNDLED, bundled, open_file

    if file is None and data is None:
        raise UserError("Give a FILE, or the name of a bundled table with --data.")
    if file is not None and data is not None:
        raise UserError("Give a FILE or --data, not both.")
    if data is not None:
        return bundled(data)
    assert file is not None
    if file in BUNDLED:
        from pathlib import Path

        if not Path(file).exists():
            raise UserError(f"There is no file {file}; for the bundled table say --data {file}.")
    return open_file(file)


def at_least(option: str, value: float, least: float) -> None:
    """Refuse a number that is too small."""
    if not value >= least:
        raise UserError(f"{option} must be at least {least}, got {value}.")


def spare(path: str, option: str, *others: str | None) -> None:
    """Refuse to write over a file that is needed: what is read, or what else is written."""
    from pathlib import Path

    wanted = Path(path)
    for other in others:
        if other is None:
            continue
        same = wanted.resolve() == Path(other).resolve()
        if same or (wanted.exists() and Path(other).exists() and wanted.samefile(other)):
            raise UserError(f"{option} {path} would overwrite {other}: give another name.")
