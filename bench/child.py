"""The fresh process of a memory row: load the data, run once, report the peak as JSON."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import numpy as np

from bench.data import Data
from bench.measure import Memory
from bench.tasks import TASKS

PROC = Path("/proc/self")


def status(field: str) -> int:
    """Read a memory field of the kernel's status file, in bytes."""
    for line in (PROC / "status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(f"the kernel does not report {field}")


def _lifetime_peak() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def baseline() -> int:
    """Memory in use now; where the kernel allows it, the peak starts anew from here."""
    try:
        (PROC / "clear_refs").write_text("5")
        return status("VmRSS")
    except OSError:
        return _lifetime_peak()


def peak() -> int:
    """Peak of memory since `baseline`."""
    try:
        return status("VmHWM")
    except OSError:
        return _lifetime_peak()


def main() -> None:
    """Measure one contender of one task on data saved by the parent."""
    name, key, folder = sys.argv[1:]
    parts = {part: np.load(f"{folder}/{part}.npy") for part in ("X", "y", "X_test", "y_test")}
    data = Data(**parts)
    [task] = [task for task in TASKS if task.name == name]
    if not isinstance(task, Memory):
        raise TypeError(f"the task {name!r} does not measure memory")
    [contender] = [contender for contender in task.contenders if contender.key == key]
    # A first fit on a few rows loads what is loaded late, so that only the fit is counted.
    few = Data(data.X[:100], data.y[:100], data.X_test, data.y_test)
    contender.run(few, contender.prepare(few))
    state = contender.prepare(data)
    before = baseline()
    model = contender.run(data, state)
    print(json.dumps({"baseline": before, "peak": peak()}))
    del model


if __name__ == "__main__":
    main()
