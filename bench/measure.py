"""The kinds of measurement: time, growth with n, memory, import time, wheel size."""

from __future__ import annotations

import gc
import math
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np
from threadpoolctl import threadpool_limits

from bench.data import Data
from bench.task import (
    OURS,
    Contender,
    Quality,
    Row,
    Settings,
    Side,
    facts_note,
    limit,
    pair,
    unjudged,
)

# Processes that have imported everything, but done nothing yet.
FRESH = get_context("forkserver")
FRESH.set_forkserver_preload(["bench.child"])

ROOT = Path(__file__).resolve().parent.parent
UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6}


def time_calls(contender: Contender, data: Data, state: Any, calls: int) -> tuple[float, Any]:
    """Seconds per call, and what the last call returned."""
    result = None
    gc.collect()
    with threadpool_limits(contender.threads):
        start = perf_counter()
        for _ in range(calls):
            result = contender.run(data, state)
        seconds = perf_counter() - start
    return seconds / calls, result


def interleave(
    contenders: Sequence[Contender], data: Data, settings: Settings, calls: int, quality: Quality
) -> list[Side]:
    """Time the contenders turn by turn, so that a busy spell of the machine hits all of them.

    The order turns by one each round: nobody always runs right after the same neighbour.
    """
    states = [contender.prepare(data) for contender in contenders]
    seconds: list[list[float]] = [[] for _ in contenders]
    judged: list[dict[str, float]] = [{} for _ in contenders]
    started = perf_counter()
    for turn in range(settings.repeats):
        if turn >= settings.least and perf_counter() - started > settings.budget:
            break
        for step in range(len(contenders)):
            i = (turn + step) % len(contenders)
            if turn >= (contenders[i].rounds or settings.repeats):
                continue
            if turn and contenders[i].library != OURS and sum(seconds[i]) > settings.patience:
                continue
            taken, result = time_calls(contenders[i], data, states[i], calls)
            seconds[i].append(taken)
            if turn == 0:
                judged[i] = quality(result, data)
            del result
    return [
        Side(contender.library, contender.threads, tuple(taken), quality_of)
        for contender, taken, quality_of in zip(contenders, seconds, judged, strict=True)
    ]


def _scaled(side: Side, factor: float) -> Side:
    return replace(side, values=tuple(value * factor for value in side.values))


@dataclass(frozen=True)
class Timed:
    """Time a call.

    Parameters
    ----------
    name : str
        Name of the task.
    data : callable
        Makes the data from the settings.
    contenders : sequence of Contender
        Ours and the peers.
    quality : callable
        Judges what the call returned.
    calls : int
        Calls per measurement, for work too short for the clock.
    unit : {"s", "ms", "us"}
        Unit of the table.
    promise : float or None
        The most that ours may take, in that unit.
    """

    name: str
    data: Callable[[Settings], Data]
    contenders: Sequence[Contender]
    quality: Quality = unjudged
    calls: int = 1
    unit: str = "s"
    promise: float | None = None

    def measure(self, settings: Settings) -> list[Row]:
        """Time all contenders turn by turn."""
        data = self.data(settings)
        sides = interleave(self.contenders, data, settings, self.calls, self.quality)
        scaled = [_scaled(side, UNITS[self.unit]) for side in sides]
        if self.promise is not None:
            scaled.append(limit(self.promise))
        return pair(self.name, self.unit, scaled, facts_note(data))


@dataclass(frozen=True)
class Growth:
    """Time a call for growing n and fit the exponent of its growth.

    The exponent is the slope of log time over log n; n log n itself has a slope a little above
    one over these sizes, which the note states.
    """

    name: str
    data: Callable[[int], Data]
    contenders: Sequence[Contender]
    sizes: Sequence[int]

    def measure(self, settings: Settings) -> list[Row]:
        """Time every size, then fit one exponent per contender."""
        sizes = [settings.rows(n) for n in self.sizes]
        rows: list[Row] = []
        best: dict[tuple[str, int], list[float]] = {}
        for n in sizes:
            sides = interleave(self.contenders, self.data(n), settings, 1, unjudged)
            rows += pair(f"{self.name}, n = {n:,}", "s", sides)
            for side in sides:
                best.setdefault((side.library, side.threads), []).append(side.best)
        reference = exponent(sizes, [n * math.log(n) for n in sizes])
        sides = [Side(*who, (exponent(sizes, seconds),)) for who, seconds in best.items()]
        note = f"slope of log time over log n; n log n has {reference:.2f}"
        return rows + pair(f"{self.name}, exponent of growth", "exponent", sides, note)


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Least-squares slope of log(seconds) over log(sizes)."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def save(data: Data, folder: str) -> None:
    """Keep data for a fresh process."""
    with (Path(folder) / "data.pickle").open("wb") as file:
        pickle.dump(data, file, protocol=pickle.HIGHEST_PROTOCOL)


def load(folder: str) -> Data:
    """The data kept in a folder."""
    with (Path(folder) / "data.pickle").open("rb") as file:
        return cast(Data, pickle.load(file))


def size(X: Any) -> int:
    """Bytes of a matrix, of a sparse one's parts, or of a frame."""
    if isinstance(X, np.ndarray):
        return X.nbytes
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False, deep=False).sum())
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


@dataclass(frozen=True)
class Memory:
    """Measure the peak of memory above the data, each contender in a fresh process.

    Parameters
    ----------
    name : str
        Name of the task, by which the fresh process finds it again.
    data : callable
        Makes the data from the settings.
    contenders : sequence of Contender
        Ours and the peers; `run` is measured.
    code_bytes : int or None
        Bytes per value of our binned matrix; the promise is at most twice that matrix
        above the input. None where nothing is binned.
    promise : float or None
        The most that ours may take, in MB, where nothing is binned.
    """

    name: str
    data: Callable[[Settings], Data]
    contenders: Sequence[Contender]
    code_bytes: int | None = None
    promise: float | None = None

    def measure(self, settings: Settings) -> list[Row]:
        """Take each contender's worst child and set ours against the peers and the limit."""
        data = self.data(settings)
        n, d = data.X.shape
        repeats = min(settings.repeats, 2)
        with tempfile.TemporaryDirectory() as folder:
            save(data, folder)
            peaks = {
                contender: max(self._child(contender, folder) for _ in range(repeats))
                for contender in self.contenders
            }
        sides = [Side(who.library, who.threads, (mb,)) for who, mb in peaks.items()]
        note = f"above the input's {size(data.X) / 1e6:.0f} MB"
        if self.code_bytes is not None:
            sides.append(limit(2 * n * d * self.code_bytes / 1e6))
            note += "; the limit is 2 x binned matrix"
        elif self.promise is not None:
            sides.append(limit(self.promise))
        return pair(self.name, "MB", sides, note)

    def _child(self, contender: Contender, folder: str) -> float:
        from bench.child import above_baseline  # which knows all tasks, this one among them

        with ProcessPoolExecutor(1, FRESH) as child:
            grown = child.submit(above_baseline, self.name, contender.key, folder).result()
        return max(grown / 1e6, 1e-3)


@dataclass(frozen=True)
class ModelSize:
    """Weigh fitted models: their pickle, and what a fresh process grows by when it loads it.

    Parameters
    ----------
    name : str
        Name of the task.
    data : callable
        Makes the data from the settings.
    fits : dict
        Per library the function that fits its model to data; ours and one peer.
    share : float
        The promise: ours is at most this share of the peer's.
    """

    name: str
    data: Callable[[Settings], Data]
    fits: dict[str, Callable[[Data], Any]]
    share: float

    def measure(self, settings: Settings) -> list[Row]:
        """Pickle every model and load it again elsewhere."""
        data = self.data(settings)
        few = data.few(100)
        pickled, loaded = [], []
        for library, fit in self.fits.items():
            # A model of a few rows goes first: it loads what is loaded once, such as modules.
            disk, ram = self._weigh(fit(few), fit(data))
            pickled.append(Side(library, 1, (disk,)))
            loaded.append(Side(library, 1, (ram,)))
        rows = []
        for kind, sides in (("in memory", loaded), ("pickled", pickled)):
            [peer] = [side for side in sides if side.library != OURS]
            promise = limit(self.share * peer.best)
            note = f"the limit is {self.share:.0%} of the peer's"
            rows += pair(f"{self.name}, {kind}", "MB", [*sides, promise], note)
        return rows

    @staticmethod
    def _weigh(small: Any, model: Any) -> tuple[float, float]:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("small.pickle", "model.pickle")]
            for path, content in zip(paths, (small, model), strict=True):
                path.write_bytes(pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL))
            command = [sys.executable, "-m", "bench.loaded", *map(str, paths)]
            grown = float(subprocess.check_output(command, cwd=ROOT, text=True))
            return paths[1].stat().st_size / 1e6, max(grown / 1e6, 1e-3)


@dataclass(frozen=True)
class ImportTime:
    """Time an import in fresh processes, ours and the peers' in turn."""

    name: str
    modules: dict[str, str]

    def measure(self, settings: Settings) -> list[Row]:
        """Import each module once to fill the disk cache, then measure."""
        seconds: dict[str, list[float]] = {library: [] for library in self.modules}
        for turn in range(2 if settings.quick else 11):
            for library, module in self.modules.items():
                taken = self._child(module)
                if turn:
                    seconds[library].append(taken * 1e3)
        return pair(self.name, "ms", [Side(who, 1, tuple(t)) for who, t in seconds.items()])

    @staticmethod
    def _child(module: str) -> float:
        code = (
            "from time import perf_counter; start = perf_counter(); "
            f"import {module}; print(perf_counter() - start)"
        )
        return float(subprocess.check_output([sys.executable, "-P", "-c", code], text=True))


@dataclass(frozen=True)
class WheelSize:
    """Weigh the wheel that `make wheel` left in dist/."""

    name: str
    limit_mb: float

    def measure(self, settings: Settings) -> list[Row]:
        """Read the size of the one wheel."""
        wheels = list((ROOT / "dist").glob("weald-*.whl"))
        if len(wheels) != 1:
            raise FileNotFoundError("dist/ must hold one wheel: run `make wheel` first")
        ours = Side(OURS, 1, (wheels[0].stat().st_size / 1e6,))
        return pair(self.name, "MB", [ours, limit(self.limit_mb)])
