"""The digests that were recorded, and where: a file with one line for each case."""

import json
import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn

from digests.digest import PART, WHOLES, Digest

FILE = Path(__file__).with_name("recorded.json")


def environment():
    """What decides about the last bits of numbers besides weald."""
    found = np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])
    return {
        "machine": platform.machine(),
        "vectors": " ".join(found),
        "libc": " ".join(platform.libc_ver()),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def load():
    """The environment and the digests by name, both empty before the first are recorded."""
    if not FILE.is_file():
        return {}, {}
    kept = json.loads(FILE.read_text())
    return kept["environment"], {
        name: unpack(line, kept["parts"]) for name, line in kept["cases"].items()
    }


def save(digests):
    """Write digests by name, in the order of the names."""
    kinds = sorted({names(digest) for digest in digests.values()})
    parts = [" ".join(f"{kind}:{name}" for kind, name in kind_names) for kind_names in kinds]
    lines = [f'"environment": {json.dumps(environment())},', '"parts": [']
    lines += [",\n".join(map(json.dumps, parts)), "],", '"cases": {']
    lines += [
        ",\n".join(
            f"{json.dumps(name)}: {json.dumps(pack(digest, kinds))}"
            for name, digest in sorted(digests.items())
        )
    ]
    FILE.write_text("\n".join(["{", *lines, "}}", ""]))


def names(digest):
    return tuple(digest.parts)


def pack(digest, kinds):
    """The three digests, the number of the list of its parts, and a few digits for each of them."""
    wholes = [getattr(digest, kind) for kind in WHOLES]
    return " ".join([*wholes, str(kinds.index(names(digest))), "".join(digest.parts.values())])


def unpack(line, parts):
    *wholes, number, digits = line.split()
    keys = [tuple(part.split(":")) for part in parts[int(number)].split()]
    values = [digits[i : i + PART] for i in range(0, len(digits), PART)]
    return Digest(*wholes, parts=dict(zip(keys, values, strict=True)))
