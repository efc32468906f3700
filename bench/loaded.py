"""The fresh process of a model's weight: load its pickle and print the growth in bytes."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

from bench.child import status, trim


def settled() -> int:
    """Memory in use after giving back what is free."""
    trim()  # the buffers of the unpickling
    return status("VmRSS")


def load(path: str) -> Any:
    """Read one pickle as it is read in production: from an open file."""
    with Path(path).open("rb") as file:
        return pickle.load(file)


def main() -> None:
    """Load the small model, then weigh the other."""
    kept = [load(sys.argv[1])]
    before = settled()
    kept.append(load(sys.argv[2]))
    print(settled() - before)
    del kept


if __name__ == "__main__":
    main()
