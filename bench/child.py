"""The fresh process of a memory row: load the data, run once, report the peak."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
import warnings
from pathlib import Path

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from bench.matrix.cells import CELLS
from bench.matrix.measure import memory
from bench.measure import Memory, load
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


def trim() -> None:
    """Give back what is free, or the C library may keep it and let the next user have it."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def baseline() -> int:
    """Memory in use now; where the kernel allows it, the peak starts anew from here."""
    trim()
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


def above_baseline(name: str, key: str, folder: str) -> int:
    """Bytes that one contender of one task takes at its peak, on data saved by the parent."""
    warnings.simplefilter("ignore")
    data = load(folder)
    [task] = [task for task in (*TASKS, *map(memory, CELLS)) if task.name == name]
    if not isinstance(task, Memory):
        raise TypeError(f"the task {name!r} does not measure memory")
    [contender] = [contender for contender in task.contenders if contender.key == key]
    # Threads in place of the processes that scikit-learn's bagging would start: each of these has a
    # copy of all that is loaded, and what it takes would not be counted.
    with threadpool_limits(contender.threads), parallel_config("threading"):
        # A first fit on a few rows loads what is loaded late, so that only the fit is counted.
        few = data.few(100)
        contender.run(few, contender.prepare(few))
        state = contender.prepare(data)
        before = baseline()
        model = contender.run(data, state)
        grown = peak() - before
        del model
    return grown
