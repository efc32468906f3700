"""JSON and arrays in one file: the format of safetensors, written whole or not at all.

The JSON document stands in the file as one more array, of bytes. In the text metadata of the header
it would be JSON inside JSON, with every quotation mark escaped, and the header has a limit of size.

Files are written by safetensors and read here: its reader copies every array, which for a forest
takes ten times as long as a memory map, and lets keys occur twice. A large file is mapped, so that
the engine takes its trees straight from the file; arrays that stay with a model are copies.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from weald.models.errors import ModelFileError
from weald.params.whole_file import whole_file

__all__ = ["VERSION", "Contents", "dump_json", "open_container", "parse_json", "write_container"]

VERSION = 1
_MARK = re.compile(r"model file (\d{1,9}) ([0-9a-f]{8})")
DOCUMENT = "document"
_MAPPED = 1 << 20  # smaller files are read
_HEADER_LIMIT = 100_000_000  # that of safetensors
# A dimension of an array without elements is bounded by nothing else.
_EMPTY_LIMIT = 1 << 16
_DTYPES = {
    "BOOL": "|b1",
    "U8": "|u1",
    "I8": "|i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}
STORED_DTYPES = frozenset(_DTYPES.values())


@dataclass(frozen=True)
class Contents:
    """What a file holds.

    Attributes
    ----------
    document : dict
        The JSON.
    arrays : list of arrays
        Views of the file, read-only.
    sizes : dict
        Bytes of the file, of the arrays, and of the document.
    """

    document: dict[str, Any]
    arrays: list[npt.NDArray[Any]]
    sizes: dict[str, int]


# --- writing --------------------------------------------------------------------------------------


def dump_json(document: Any) -> bytes:
    """Strict JSON, the same bytes for the same document."""
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


def checksum(array: npt.NDArray[Any]) -> int:
    """CRC-32 of an array's bytes, its type and its shape."""
    kind = f"{array.dtype.str}{array.shape}".encode()
    return crc32(array.reshape(-1).view(np.uint8).data if array.size else b"", crc32(kind))


def write_container(
    path: str | os.PathLike[str], document: dict[str, Any], arrays: list[npt.NDArray[Any]]
) -> None:
    """Write a file that is there as a whole or not at all.

    Parameters
    ----------
    path : path
    document : dict
    arrays : list of arrays
        In C order, of types that safetensors knows.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    sums = [checksum(array) for array in arrays]
    text = np.frombuffer(dump_json({**document, "checksums": sums}), dtype=np.uint8)
    # One text, since safetensors writes several in any order.
    metadata = {"weald": f"model file {VERSION} {checksum(text):08x}"}
    tensors = {str(k): array for k, array in enumerate(arrays)} | {DOCUMENT: text}
    whole = Path(os.path.realpath(path))  # a link stays a link
    if (whole.exists() and not whole.is_file()) or not whole.parent.is_dir():  # or a pipe is gone
        raise ModelFileError(
            f"Cannot save to {os.fspath(path)!r}: it must be the name of a file in a folder that "
            "exists."
        )
    try:
        with whole_file(path) as part:
            save_file(tensors, part, metadata)
    except SafetensorError as error:
        raise _system_error(error, path) from error


def _system_error(error: Exception, path: str | os.PathLike[str]) -> OSError:
    """What the system said, such as that the disk is full: safetensors has it in words only."""
    number = re.search(r"\(os error (\d+)\)", str(error))
    if number is None:
        return OSError(f"Cannot save to {os.fspath(path)!r}: {error}.")
    return OSError(int(number[1]), os.strerror(int(number[1])), os.fspath(path))


# --- reading --------------------------------------------------------------------------------------


def open_container(path: str | os.PathLike[str], *, check_arrays: bool = True) -> Contents:
    """Read a file and check that it is whole.

    Parameters
    ----------
    path : path
    check_arrays : bool
        Whether to compare the checksums of the arrays.

    Raises
    ------
    ModelFileError
    """
    data = _bytes_of(path)
    header, begin = _header(data)
    metadata = header.pop("__metadata__", None)
    said = metadata.get("weald") if isinstance(metadata, dict) else None
    mark = _MARK.fullmatch(said) if isinstance(said, str) else None
    if mark is None:
        raise ModelFileError("Not a model file of weald: its header does not say that it is one.")
    if int(mark[1]) != VERSION:
        raise ModelFileError(
            f"This model file is of version {mark[1]}, and this weald reads version {VERSION}: "
            "read it with a later version of weald."
        )
    tensors = _tensors(header, data, begin)
    text = tensors.pop(DOCUMENT, None)
    _require(text is not None and text.dtype == np.uint8 and text.ndim == 1, "its document")
    assert text is not None
    _require(mark[2] == f"{checksum(text):08x}", "the checksum of its document")
    document = parse_json(text.tobytes())
    _require(isinstance(document, dict), "its document")
    sums = document.get("checksums")
    names = [str(k) for k in range(len(tensors))]
    _require(set(names) == set(tensors), "the names of its arrays")
    arrays = [tensors[name] for name in names]
    _require(isinstance(sums, list) and len(sums) == len(arrays), "the number of its arrays")
    if check_arrays:
        for k, array in enumerate(arrays):
            _require(
                type(sums[k]) is int and sums[k] == checksum(array), "the checksum of an array"
            )
    sizes = {"file": len(data), "arrays": sum(a.nbytes for a in arrays), "document": text.nbytes}
    return Contents(document, arrays, sizes)


def parse_json(text: bytes) -> Any:
    """Strict JSON: no key twice, no NaN, nothing nested without end."""
    try:
        return json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:  # of decoding as well
        what = "nested too deeply" if isinstance(error, RecursionError) else "not valid JSON"
        raise ModelFileError(f"Not a valid model file: it is damaged, a part is {what}.") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands there twice")
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _require(condition: Any, part: str) -> None:
    if not condition:
        raise ModelFileError(f"Not a valid model file: it is damaged, {part} cannot be right.")


def _bytes_of(path: str | os.PathLike[str]) -> npt.NDArray[np.uint8]:
    """The bytes of a file: a large one is mapped."""
    if not Path(path).is_file():  # a pipe would have us wait
        kind = "a folder or a device" if Path(path).exists() else "not there"
        raise ModelFileError(f"Cannot read the model file {os.fspath(path)!r}: it is {kind}.")
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        _require(size >= 8, "its length")
        if size < _MAPPED:
            data: Any = file.read()
        else:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(data, dtype=np.uint8)


def _header(data: npt.NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """The header of a safetensors file, and where its data begin."""
    length = int.from_bytes(data[:8].tobytes(), "little")
    _require(length <= min(len(data) - 8, _HEADER_LIMIT), "the length of its header")
    header = parse_json(data[8 : 8 + length].tobytes())
    _require(isinstance(header, dict), "its header")
    return header, 8 + length


def _tensors(
    header: dict[str, Any], data: npt.NDArray[np.uint8], begin: int
) -> dict[str, npt.NDArray[Any]]:
    """The arrays by name, which must fill the file without gaps or overlaps."""
    room = len(data) - begin
    out, spans = {}, []
    for name, entry in header.items():
        _require(isinstance(entry, dict), "an array")
        _require(entry.keys() == {"dtype", "shape", "data_offsets"}, "an array")
        shape, span = entry["shape"], entry["data_offsets"]
        dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        _require(dtype is not None, "the type of an array")
        assert dtype is not None
        _require(isinstance(span, list) and len(span) == 2, "the place of an array")
        for numbers in (span, shape):
            whole = isinstance(numbers, list) and all(type(n) is int and n >= 0 for n in numbers)
            _require(whole and len(numbers) <= 8, "the shape of an array")
        first, last = span
        size = prod(shape) * np.dtype(dtype).itemsize
        _require(first <= last <= room and last - first == size, "the size of an array")
        longest = prod(n for n in shape if n)
        _require(size or longest <= max(len(data), _EMPTY_LIMIT), "the shape of an array")
        flat = data[begin + first : begin + last]
        _require(dtype != "|b1" or not size or flat.max() <= 1, "a truth value")
        if flat.ctypes.data % np.dtype(dtype).itemsize:  # written by somebody else
            flat = flat.copy()
        out[name] = flat.view(dtype).reshape(shape)
        spans.append((first, last))
    at = 0
    for first, last in sorted(spans):
        _require(first == at, "the places of its arrays")
        at = last
    _require(at == room, "its length")
    return out
