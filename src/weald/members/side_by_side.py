"""Calls that run at the same time: in processes, or in threads that end together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Condition, Event
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from weald import _engine as engine

__all__ = ["in_threads", "side_by_side"]

_PATIENCE = 0.5  # seconds for work that does not ask whether it is to stop


def side_by_side(calls: Iterable[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """What calls return, in the order in which they are given.

    Parameters
    ----------
    calls : functions without arguments
        In processes of joblib, if its user chose nothing else: members may be slow Python.
    n_jobs : int, optional
        As in joblib.
    """
    return list(Parallel(n_jobs=n_jobs)(delayed(call)() for call in calls))


def in_threads(calls: Iterable[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """The same for calls that share much memory, or leave Python to others.

    Ctrl-C reaches the main thread only. The others are told of it, and waited for: a thread that is
    still in the engine when the interpreter ends would end it with an error.
    """
    if effective_n_jobs(n_jobs) == 1:
        return [call() for call in calls]
    stop, left = Event(), Condition()
    inside = 0

    def beside(call: Callable[[], Any]) -> Any:
        nonlocal inside
        with left:
            inside += 1
        try:
            with engine.beside_others(stop):
                engine.pause()
                return call()
        finally:
            with left:
                inside -= 1
                left.notify_all()

    try:
        return list(
            Parallel(n_jobs=n_jobs, prefer="threads")(delayed(beside)(call) for call in calls)
        )
    except BaseException:
        stop.set()
        with left:
            left.wait_for(lambda: inside == 0, _PATIENCE)
        raise
