"""Files as blocks of rows, whatever their format; memory holds a block at a time.

Text is read by pyarrow where it is installed and else, more slowly, by the csv module of Python,
so that text files need no library beside those weald needs anyway.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import importlib.util
import io
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from weald.dataset.cells import BLANKS, ArrowText, Cells, Numbers, PlainText
from weald.dataset.dialect import Dialect, sniff, unique_names
from weald.dataset.errors import DataError, first_line, suggestion
from weald.params.extras import import_extra

__all__ = ["Block", "Source", "open_file", "stem"]

Block = dict[str, Cells]

_TEXT = (".csv", ".tsv", ".tab", ".txt", ".data")
_LINES = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
_PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_SAMPLE = 2**18  # bytes, from which the dialect is found
_BYTES = 4 * 2**20  # of text in a block
_ROWS = 50_000  # in a block of other formats


@dataclass(frozen=True, eq=False)
class Source:
    """A table that can be read block by block.

    Attributes
    ----------
    name : str
        How a message calls it.
    names : list of str
        Of the columns.
    notes : tuple of str
        What is unusual about the file, in sentences.
    open : callable
        ``open(wanted)``: the blocks, with the wanted columns only.
    unusable : dict
        Columns that are neither numbers nor text nor dates, and what they are.
    reading : tuple of str
        How a text file is written where it is not plain CSV, in a few words each.
    path : str or None
        Of the file, if it is one.
    """

    name: str
    names: list[str]
    notes: tuple[str, ...]
    open: Callable[[list[str]], Iterator[Block]]
    unusable: dict[str, str]
    reading: tuple[str, ...] = ()
    path: str | None = None

    def blocks(self, wanted: list[str] | None = None) -> Iterator[Block]:
        """The rows, block by block.

        Parameters
        ----------
        wanted : list of str, optional
            Which columns; default: all that can be used.
        """
        usable = [name for name in self.names if name not in self.unusable]
        try:
            yield from self.open(usable if wanted is None else wanted)
        except DataError:
            raise
        except Exception as error:  # each library has errors of its own for a damaged file
            raise DataError(f"Cannot read {self.name}: {_words(error)}") from error


def stem(path: str) -> str:
    """The name of a file without folder and endings.

    >>> stem("data/adult.csv.gz")
    'adult'
    """
    name = Path(path).name
    for ending in (*_PACKED, *_TEXT, *_LINES, *_PARQUET, *_ARROW):
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
    return name


def open_file(path: str) -> Source:
    """Look at a file and prepare its reading."""
    file = Path(path)
    if not file.exists():
        raise DataError(f"There is no file {path}.{_beside(file)}")
    if file.is_dir():
        raise DataError(f"{path} is a folder: name a file in it.")
    name = file.name.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    try:
        if file.stat().st_size == 0:
            raise DataError(f"{path} is empty.")
        for endings, opened in (
            (_TEXT, _open_text),
            (_LINES, _open_lines),
            (_PARQUET, _open_parquet),
            (_ARROW, _open_arrow),
        ):
            if name.endswith(endings):
                return opened(path)
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"Cannot read {path}: {_words(error)}") from error
    if name.endswith((".xlsx", ".xls", ".ods")):
        raise DataError(f"Cannot read {path}: save the sheet as CSV first.")
    known = ", ".join((*_TEXT[:2], *_LINES[:1], *_PARQUET[:1], *_ARROW[:2]))
    raise DataError(
        f"Cannot read {path}: its name must end in {known}, or in one of the text endings and .gz."
    )


# --- text -----------------------------------------------------------------------------------------


def _open_text(path: str) -> Source:
    with _bytes(path) as file:
        sample = file.read(_SAMPLE)
        rest = file.read(_BYTES)
        whole = not rest
        quoted = b'"' in sample
        # The first letter with an accent, which tells the encoding, may come late.
        while rest and sample.isascii() and rest.isascii():
            quoted = quoted or b'"' in rest
            rest = file.read(_BYTES)
        quoted = quoted or bool(rest) or not sample.isascii()  # who knows what follows
    dialect = sniff(sample, whole=whole, where=path, later=rest if sample.isascii() else b"")
    by_arrow = importlib.util.find_spec("pyarrow") is not None

    def blocks(wanted: list[str]) -> Iterator[Block]:
        if by_arrow:
            return _arrow_text(path, dialect, wanted, quoted)
        return _plain_text(path, dialect, wanted)

    return Source(path, list(dialect.names), dialect.notes, blocks, {}, dialect.reading, path)


def _arrow_text(path: str, dialect: Dialect, wanted: list[str], quoted: bool) -> Iterator[Block]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    wrong: list[Any] = []

    def refuse(row: Any) -> str:
        wrong.append(row)
        return "error"

    names = list(dialect.names)
    encoding = "utf-8" if dialect.encoding == "utf-8-sig" else dialect.encoding
    with _bytes(path, raw=encoding == "utf-8") as file:
        try:
            reader = arrow_csv.open_csv(
                file,
                read_options=arrow_csv.ReadOptions(
                    column_names=names,
                    skip_rows=dialect.blank_lines,
                    skip_rows_after_names=1,  # the header, which may go over several lines
                    block_size=_BYTES,
                    encoding=encoding,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=dialect.delimiter,
                    newlines_in_values=quoted,  # else lines are found in two thirds of the time
                    invalid_row_handler=refuse,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, pa.string()),
                    null_values=list(BLANKS),
                    strings_can_be_null=True,
                ),
            )
            for batch in reader:
                yield {
                    name: ArrowText(batch.column(i), dialect.decimal_comma)
                    for i, name in enumerate(wanted)
                }
        except pa.ArrowInvalid as error:
            if wrong:
                row = wrong[0]
                raise _ragged(path, row.text, row.actual_columns, len(names)) from error
            raise


def _plain_text(path: str, dialect: Dialect, wanted: list[str]) -> Iterator[Block]:
    places = [dialect.names.index(name) for name in wanted]
    width = len(dialect.names)
    with _bytes(path) as raw:
        text = io.TextIOWrapper(raw, encoding=dialect.encoding, newline="")
        rows = csv.reader(text, delimiter=dialect.delimiter)
        next(row for row in rows if any(cell.strip() for cell in row))  # the header
        block: list[list[str]] = []
        for row in rows:
            if not row:
                continue
            if len(row) != width:
                raise _ragged(path, dialect.delimiter.join(row), len(row), width)
            block.append(row)
            if len(block) == _ROWS:
                yield _plain_block(block, wanted, places, dialect)
                block = []
        if block:
            yield _plain_block(block, wanted, places, dialect)


def _plain_block(
    rows: list[list[str]], wanted: list[str], places: list[int], dialect: Dialect
) -> Block:
    return {
        name: PlainText([row[j] for row in rows], dialect.decimal_comma)
        for name, j in zip(wanted, places, strict=True)
    }


def _ragged(path: str, text: Any, found: int, expected: int) -> DataError:
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return DataError(
        f"{path} has a row of {found} cells where its header has {expected}: {shown!r}; mend the "
        "row, or quote cells that hold the delimiter."
    )


# --- lines of JSON --------------------------------------------------------------------------------


def _open_lines(path: str) -> Source:
    with _bytes(path) as file:
        beginning = file.read(1)
        rest = file.read(_SAMPLE)
    if beginning == b"[":
        raise DataError(
            f"{path} is one JSON list: write one object per line (JSON lines), as "
            "to_json(..., orient='records', lines=True) of pandas does."
        )
    names: dict[str, None] = {}
    for k, line in enumerate((beginning + rest).decode("utf-8-sig", "replace").splitlines()):
        if k < 1000 and line.strip():
            try:
                names |= dict.fromkeys(_object(path, line, k + 1))
            except DataError:
                if k == 0 or len(rest) < _SAMPLE:  # else the last line may be cut off
                    raise
    if not names:
        raise DataError(f"{path} is empty.")

    def blocks(wanted: list[str]) -> Iterator[Block]:
        return _json_blocks(path, wanted)

    return Source(path, list(names), (), blocks, {}, path=path)


def _json_blocks(path: str, wanted: list[str]) -> Iterator[Block]:
    with _bytes(path) as raw:
        rows: list[dict[str, Any]] = []
        for number, line in enumerate(io.TextIOWrapper(raw, encoding="utf-8-sig"), start=1):
            if line.strip():
                rows.append(_object(path, line, number))
            if len(rows) == _ROWS:
                yield {name: _json_cells(path, name, rows) for name in wanted}
                rows = []
        if rows:
            yield {name: _json_cells(path, name, rows) for name in wanted}


def _object(path: str, line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"Line {number} of {path} is not JSON: {_words(error)}") from error
    if not isinstance(row, dict):
        raise DataError(f"Line {number} of {path} is not a JSON object such as {{'age': 31}}.")
    return row


def _json_cells(path: str, name: str, rows: list[dict[str, Any]]) -> Cells:
    """Text, so that a column may hold numbers in one block and words in the next."""
    cells: list[str | None] = []
    for row in rows:
        value = row.get(name)
        if isinstance(value, dict | list):
            raise DataError(
                f"Column {name!r} of {path} holds lists or objects: make plain columns of them, or "
                f"leave it out with --drop {name!r}."
            )
        cells.append(value if value is None or isinstance(value, str) else str(value))
    return PlainText(cells)


# --- files with types -----------------------------------------------------------------------------


def _open_parquet(path: str) -> Source:
    parquet = import_extra("pyarrow.parquet", f"Reading {path}", DataError)
    schema = parquet.read_schema(path)

    def batches() -> Iterator[Any]:
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=_ROWS)

    return _typed(path, schema, batches)


def _open_arrow(path: str) -> Source:
    pa = import_extra("pyarrow", f"Reading {path}", DataError)

    def opened() -> Any:
        try:
            return pa.ipc.open_file(path)
        except pa.ArrowInvalid:  # a stream, or Feather of the first version
            try:
                return pa.ipc.open_stream(path)
            except pa.ArrowInvalid:
                from pyarrow import feather

                return feather.read_table(path)

    def batches() -> Iterator[Any]:
        reader = opened()
        if isinstance(reader, pa.Table):
            whole = reader.to_batches(max_chunksize=_ROWS)
        elif isinstance(reader, pa.ipc.RecordBatchFileReader):
            whole = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            whole = reader
        for batch in whole:
            for start in range(0, len(batch), _ROWS):
                yield batch.slice(start, _ROWS)

    return _typed(path, opened().schema, batches)


def _typed(path: str, schema: Any, batches: Callable[[], Iterator[Any]]) -> Source:
    import pyarrow as pa

    names, notes = unique_names(schema.names)
    # pandas writes its row numbers as a column.
    index = {name for name in schema.names if name.startswith("__index_level_")}
    unusable = {}
    for name, kind in zip(names, schema.types, strict=True):
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_nested(plain) or pa.types.is_binary(plain) or pa.types.is_duration(plain):
            unusable[name] = str(kind)
        elif name in index:
            unusable[name] = "the row numbers of pandas"

    def blocks(wanted: list[str]) -> Iterator[Block]:
        places = {name: j for j, name in enumerate(names)}
        for batch in batches():
            yield {name: _typed_cells(batch.column(places[name])) for name in wanted}

    return Source(path, names, tuple(notes), blocks, unusable, path=path)


def _typed_cells(array: Any) -> Cells:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.cast(kind.value_type)
        kind = array.type
    if pa.types.is_boolean(kind):
        return PlainText([None if cell is None else str(cell) for cell in array.to_pylist()])
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        floats = array.cast(pa.float64(), safe=False)
        return Numbers(np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64))
    return ArrowText(array.cast(pa.string()))


# --- small things ---------------------------------------------------------------------------------


def _bytes(path: str, *, raw: bool = False) -> IO[bytes]:
    """A file as bytes, unpacked; `raw`: for a reader that wants no buffer of Python."""
    packed = _PACKED.get(Path(path).suffix.lower())
    if packed is not None:
        return packed(path, "rb")  # type: ignore[no-any-return]
    if raw:
        import pyarrow as pa

        return pa.OSFile(path)  # type: ignore[no-any-return]
    return Path(path).open("rb")


def _beside(file: Path) -> str:
    if not file.parent.is_dir():
        return f" Nor is there a folder {file.parent}."
    return suggestion(file.name, (one.name for one in file.parent.iterdir()))


def _words(error: Exception) -> str:
    words = first_line(error)
    return words if words.endswith(".") else words + "."
