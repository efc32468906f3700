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
from typing import IO, Any

from weald.cli.errors import UserError
from weald.dataset.cells import Coded
from weald.params.extras import import_extra
from weald.params.whole_file import whole_file

__all__ = ["ENDINGS", "Writer", "open_writer"]

ENDINGS = (".csv", ".csv.gz", ".jsonl", ".parquet")


class Writer:
    """Writes blocks of columns as CSV."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._begun = file, False

    def write(self, columns: dict[str, Any]) -> None:
        """Write a block: names, and numbers or labels of as many rows."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        by_arrow = importlib.util.find_spec("pyarrow") is not None
        if not self._begun:
            rows.writerow(columns)
            self._begun = True
        if not by_arrow:
            rows.writerows(_rows(columns))
        self._file.write(text.getvalue().encode())
        if by_arrow:
            self._file.write(_by_arrow(columns))

    def close(self) -> None:
        """Write what is left."""


class _Lines(Writer):
    """Writes lines of JSON."""

    def write(self, columns: dict[str, Any]) -> None:
        names = list(columns)
        for row in _rows(columns):
            line = json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False)
            self._file.write(line.encode() + b"\n")


class _Parquet(Writer):
    """Writes Parquet."""

    _writer: Any = None

    def write(self, columns: dict[str, Any]) -> None:
        from pyarrow import parquet

        table = _table(columns)
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _rows(columns: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    arrays = (one.texts() if isinstance(one, Coded) else one for one in columns.values())
    return zip(*(one.tolist() for one in arrays), strict=True)


def _table(columns: dict[str, Any]) -> Any:
    """An Arrow table, with labels as text."""
    import pyarrow as pa

    def array(one: Any) -> Any:
        if not isinstance(one, Coded):
            return pa.array(one)
        labels = pa.array(one.labels, pa.string())
        return labels.take(pa.array(one.codes, mask=one.codes < 0))

    return pa.table({name: array(one) for name, one in columns.items()})


def _by_arrow(columns: dict[str, Any]) -> memoryview:
    """The rows as CSV; text is quoted only if some of it must be."""
    from pyarrow import csv as arrow_csv

    labels = (label for one in columns.values() if isinstance(one, Coded) for label in one.labels)
    special = any(set(label) & set(',"\r\n') for label in labels)
    out = io.BytesIO()
    options = arrow_csv.WriteOptions(
        include_header=False, quoting_style="needed" if special else "none"
    )
    arrow_csv.write_csv(_table(columns), out, options)
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
    if kind is _Parquet:  # before anything is predicted
        import_extra("pyarrow.parquet", "Writing Parquet", UserError)
    with whole_file(path) as part, part.open("wb") as file:
        gz = name.endswith(".gz")
        packed: Any = gzip.GzipFile(fileobj=file, mode="wb") if gz else nullcontext(file)
        with packed as inner:
            writer = kind(inner)
            yield writer
            writer.close()
