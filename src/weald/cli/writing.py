"""Predictions into a file or onto standard output, block by block."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from weald.cli.errors import UserError

__all__ = ["ENDINGS", "Writer", "open_writer"]

ENDINGS = (".csv", ".csv.gz", ".jsonl", ".parquet")


class Writer:
    """Writes blocks of columns as CSV."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._begun = file, False

    def write(self, columns: dict[str, Any]) -> None:
        """Write a block: names and arrays of one length."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        if not self._begun:
            rows.writerow(columns)
            self._begun = True
        if importlib.util.find_spec("pyarrow") is None:
            rows.writerows(zip(*(one.tolist() for one in columns.values()), strict=True))
        self._file.write(text.getvalue().encode())
        if importlib.util.find_spec("pyarrow") is not None:
            self._file.write(_by_arrow(columns))

    def close(self) -> None:
        """Write what is left."""


class _Lines(Writer):
    """Writes lines of JSON."""

    def write(self, columns: dict[str, Any]) -> None:
        names = list(columns)
        rows = zip(*(one.tolist() for one in columns.values()), strict=True)
        for row in rows:
            line = json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False)
            self._file.write(line.encode() + b"\n")


class _Parquet(Writer):
    """Writes Parquet."""

    _writer: Any = None

    def write(self, columns: dict[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table(columns)
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _by_arrow(columns: dict[str, Any]) -> memoryview:
    """The rows as CSV; text is quoted only if it must be, as the csv module would."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    table = pa.table(columns)
    special = any(
        pa.types.is_string(column.type)
        and pa.compute.any(pa.compute.match_substring_regex(column, '[,"\r\n]')).as_py()
        for column in table.columns
    )
    out = io.BytesIO()
    options = arrow_csv.WriteOptions(
        include_header=False, quoting_style="needed" if special else "none"
    )
    arrow_csv.write_csv(table, out, options)
    return out.getbuffer()


@contextmanager
def open_writer(path: str | None, *, lines: bool = False) -> Iterator[Writer]:
    """A writer; a file appears when it is complete, and is left as it was if something fails.

    Parameters
    ----------
    path : str, optional
        Its ending says the format. Default: CSV on standard output.
    lines : bool
        Lines of JSON on standard output.
    """
    if path is None:
        writer = (_Lines if lines else Writer)(sys.stdout.buffer)
        yield writer
        sys.stdout.buffer.flush()
        return
    name = path.lower()
    kinds = {".csv": Writer, ".csv.gz": Writer, ".jsonl": _Lines, ".parquet": _Parquet}
    kind = next((kinds[one] for one in ENDINGS if name.endswith(one)), None)
    if kind is None:
        raise UserError(f"--output {path} must end in {', '.join(ENDINGS)}.")
    if kind is _Parquet and not importlib.util.find_spec("pyarrow"):
        raise UserError("Writing Parquet needs pyarrow: pip install weald[arrow]")
    part = Path(f"{path}.part")
    try:
        with part.open("wb") as file:
            gz = name.endswith(".gz")
            packed: Any = gzip.GzipFile(fileobj=file, mode="wb") if gz else nullcontext(file)
            with packed as inner:
                writer = kind(inner)
                yield writer
                writer.close()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
