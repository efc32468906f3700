"""How many threads a call may use. The answer never changes a model, only its speed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from threading import Event
from typing import Any

from weald._engine import _core

_MOST = 256  # threads beyond this only cost memory

_limit: ContextVar[int | None] = ContextVar("weald_threads", default=None)
_beside: ContextVar[Event | None] = ContextVar("weald_beside", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Limit the threads used by weald inside a ``with`` block.

    Parameters
    ----------
    n : int
        Threads for every estimator whose ``n_jobs`` is None.

    Examples
    --------
    >>> import weald
    >>> with weald.threads(1):
    ...     tree = weald.DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    """
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"threads(n) needs a positive whole number, got {n!r}.")
    token = _limit.set(int(n))
    try:
        yield
    finally:
        _limit.reset(token)


@contextmanager
def beside_others(stop: Event) -> Iterator[None]:
    """Keep to one thread inside a ``with`` block, whatever ``n_jobs`` says: others are at work too.

    Parameters
    ----------
    stop : Event
        Ctrl-C reaches the main thread only. Set there, it ends what runs here.
    """
    token = _beside.set(stop)
    try:
        yield
    finally:
        _beside.reset(token)


def pause() -> None:
    """Asked by the engine a few times a second, and by the driver: whether this thread is to stop.

    Raises
    ------
    KeyboardInterrupt
    """
    stop = _beside.get()
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


def check_n_jobs(n_jobs: Any) -> int | None:
    """None, or a whole number other than 0."""
    # Asking an abstract class takes longer than a tree takes for a row: plain integers first.
    whole = type(n_jobs) is int or (isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool))
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}.")
    return None if n_jobs is None else int(n_jobs)


def resolve_threads(n_jobs: Any) -> int:
    """Turn ``n_jobs`` into a number of threads.

    None means: the surrounding :func:`threads` block, else the environment variable
    ``WEALD_NUM_THREADS``, else ``OMP_NUM_THREADS`` (which joblib sets in its worker processes, so
    that nested parallelism does not oversubscribe the machine), else every core there is.
    Negative numbers count from the end as in joblib: -1 is all cores, -2 all but one.
    """
    jobs = check_n_jobs(n_jobs)
    if _beside.get() is not None:
        return 1
    if jobs is None:
        limit = _limit.get()
        if limit is not None:
            return min(limit, _MOST)
        for name in ("WEALD_NUM_THREADS", "OMP_NUM_THREADS"):
            text = os.environ.get(name, "").split(",")[0].strip()
            if text.isdigit() and int(text) > 0:
                return min(int(text), _MOST)
        return _core.hardware_threads()
    if jobs < 0:
        return max(1, _core.hardware_threads() + 1 + jobs)
    return min(jobs, _MOST)
