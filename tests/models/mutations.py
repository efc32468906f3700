"""Model files in which something is not as it was, most of them with checksums that are right.

Files are taken apart and put together here, not by weald: a test of a reader must not rely on it.
"""

import copy
import json
import os
import random
import signal
import struct
import warnings
from zlib import crc32

import numpy as np

import weald
from state.damage import damaged_array

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
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
SECONDS = 20 * float(os.environ.get("WEALD_STRESS_SLOWER", "1"))  # for one file


def taken_apart(data):
    """The document and the arrays of a file."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__")
    parts = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        flat = np.frombuffer(data[8 + length + first : 8 + length + last], _DTYPES[entry["dtype"]])
        parts[name] = flat.reshape(entry["shape"])
    document = json.loads(parts.pop("document").tobytes())
    return document, [parts[str(k)] for k in range(len(parts))]


def _sum(array):
    kind = f"{array.dtype.str}{array.shape}".encode()
    return crc32(array.tobytes(), crc32(kind))


def put_together(document, arrays, text=None, metadata=None, entries=None):
    """A file with this in it, and checksums that are right.

    Parameters
    ----------
    document : dict
    arrays : list of arrays
    text : bytes, optional
        What stands there instead of the document.
    metadata, entries : dict, optional
        What to change in the header.
    """
    if text is None:
        sums = [_sum(array) for array in arrays]
        text = json.dumps({**document, "checksums": sums}).encode()
    body = {str(k): np.ascontiguousarray(array) for k, array in enumerate(arrays)}
    body["document"] = np.frombuffer(text, dtype=np.uint8)
    header = {
        "__metadata__": {
            "weald": f"model file 1 {_sum(body['document']):08x}",
            **(metadata or {}),
        }
    }
    data, at = [], 0
    for name, array in sorted(body.items(), key=lambda item: -item[1].dtype.itemsize):
        span = [at, at + array.nbytes]
        header[name] = {
            "dtype": _NAMES[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": span,
        }
        at = span[1]
        data.append(array.tobytes())
    header.update(entries or {})
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + b"".join(data)


# --- mutations ------------------------------------------------------------------------------------


def places(value, path=()):
    """The paths to all parts of a JSON value."""
    items = []
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, part in items:
        yield (*path, key)
        yield from places(part, (*path, key))


def part_at(value, path):
    for key in path:
        value = value[key]
    return value


_ODD = [
    None,
    True,
    False,
    0,
    1,
    -1,
    7,
    2**31,
    2**40,
    2**70,
    0.5,
    -1e300,
    1e300,
    "",
    "nan",
    "x",
    [],
    {},
    [0],
    {"float": "nan"},
    {"float": "inf"},
    {"tuple": []},
    {"dict": {}},
    {"object": 0},
    {"array": 0},
    {"values": 0},
    {"type": "object"},
    {"scalar": ["<f8", 3.0]},
    {"scalar": ["<i4", -3]},
    {"function": "mean"},
]


def change_document(document, rng):
    """Change the JSON in one place."""
    paths = list(places(document))
    path = rng.choice(paths)
    parent, key = part_at(document, path[:-1]), path[-1]
    old = parent[key]
    kind = rng.randrange(6)
    if kind == 0:
        del parent[key]
    elif kind == 1:  # what stands elsewhere
        parent[key] = copy.deepcopy(part_at(document, rng.choice(paths)))
    elif kind == 2 and isinstance(old, list) and old:
        rng.choice([old.reverse, old.pop, lambda: old.append(copy.deepcopy(old[0]))])()
    elif kind == 2 and isinstance(parent, dict):
        parent[rng.choice(["", "predict", "fit", "__class__", "_x", str(key) + "_"])] = old
    elif kind == 3 and isinstance(old, int | float):
        parent[key] = rng.choice([old + 1, old - 1, -old, old * 2, old + 0.5, 10**9])
    elif kind == 4 and isinstance(old, str):
        others = [entry.get("class", "x") for entry in document["objects"]]
        parent[key] = rng.choice([*others, old[:-1], old + "x", "LinearRegression", "Forest"])
    else:
        parent[key] = copy.deepcopy(rng.choice(_ODD))


def change_array(arrays, rng):
    """Change one array: its values, its type, its length or its shape."""
    k = rng.randrange(len(arrays))
    array = arrays[k]
    if rng.random() < 0.5 and array.size:  # some bits of it
        data = bytearray(array.tobytes())
        for _ in range(rng.choice([1, 1, 1, 2, 8])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        flat = np.frombuffer(bytes(data), dtype=array.dtype)
        arrays[k] = flat.reshape(array.shape)
        return
    if rng.random() < 0.2:
        arrays[k] = arrays[rng.randrange(len(arrays))]
        return
    choices = [new for _, new in damaged_array(array, rng) if isinstance(new, np.ndarray)]
    choices = [new for new in choices if new.dtype.str in _NAMES]
    arrays[k] = rng.choice(choices)


def change_bytes(data, rng):
    """Change the bytes of a whole file."""
    data = bytearray(data)
    kind = rng.randrange(5)
    if kind == 0:
        del data[rng.randrange(len(data)) :]
    elif kind == 1:
        first = rng.randrange(len(data))
        data[first : first + rng.randrange(1, 64)] = bytes(rng.randrange(64))
    elif kind == 2:
        data += bytes(rng.randrange(1, 9))
    else:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def change_text(document, arrays, rng):
    """Change the bytes of the JSON; its checksum is right."""
    sums = [_sum(array) for array in arrays]
    text = json.dumps({**document, "checksums": sums}).encode()
    return put_together(document, arrays, text=change_bytes(text, rng))


def mutated(document, arrays, rng):
    """A file that is not as it was."""
    kind = rng.random()
    if kind < 0.05:
        return change_bytes(put_together(document, arrays), rng)
    if kind < 0.12:
        return change_text(document, arrays, rng)
    document, arrays = json.loads(json.dumps(document)), list(arrays)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if rng.random() < 0.5 or not arrays:
            change_document(document, rng)
        else:
            change_array(arrays, rng)
        if not isinstance(document.get("objects"), list) or not all(
            isinstance(entry, dict) for entry in document["objects"]
        ):
            break
    return put_together(document, arrays)


# --- what comes of it -----------------------------------------------------------------------------


def outcome(path, X, answers):
    """What comes of a file: "refused", "works", or what is wrong."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                model = weald.load(path)
            except weald.ModelFileError as error:
                clear = str(error).endswith(".") and "\n" not in str(error)
                return "refused" if clear else f"unclear: {error}"
            for parts in answers(model, X).values():
                for part in parts:
                    if len(part) != len(X):
                        return "another number of rows"
                    if part.dtype.kind == "f" and np.isnan(part).any():
                        return "numbers that are none"
            return "works"
    except (TypeError, ValueError) as error:
        clear = str(error) and "\n" not in str(error)
        return "refuses rows" if clear else f"unclear: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def outcomes(files, path, answers, *, seed, first, last):
    """Outcomes of the mutations first .. last - 1, with how many there were of each.

    Parameters
    ----------
    files : list of (name, bytes, X)
    path : Path
    answers : function
    seed, first, last : int
    """
    apart = [(name, *taken_apart(data), X) for name, data, X in files]
    counts, wrong = {}, []
    for case in range(first, last):
        rng = random.Random(f"{seed} {case}")
        name, document, arrays, X = apart[case % len(apart)]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path.write_bytes(mutated(document, arrays, rng))
        said = outcome(path, X, answers)
        if said not in ("refused", "works"):
            wrong.append((case, name, said))
        counts[said] = counts.get(said, 0) + 1
    return counts, wrong
