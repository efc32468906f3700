"""Work of several threads that Ctrl-C ends as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Condition, Event
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from weald import _engine as engine

__all__ = ["side_by_side"]

Item = TypeVar("Item")
_PATIENCE = 5.0  # seconds for work that does not ask whether it is to stop


def side_by_side(
    work: Callable[[Item], Any], items: Sequence[Item], n_jobs: int | None
) -> list[Any]:
    """What `work` makes of each item, in their order.

    Ctrl-C reaches the main thread only. The others are told of it, and waited for: a thread that is
    still in the engine when the interpreter ends would end it with an error.

    Parameters
    ----------
    work : callable
    items : sequence
    n_jobs : int, optional
        Threads, as in joblib.
    """
    if effective_n_jobs(n_jobs) == 1:
        return [work(item) for item in items]
    stop, left = Event(), Condition()
    inside = 0

    def beside(item: Item) -> Any:
        nonlocal inside
        with left:
            inside += 1
        try:
            with engine.beside_others(stop):
                engine.pause()
                return work(item)
        finally:
            with left:
                inside -= 1
                left.notify_all()

    try:
        return list(
            Parallel(n_jobs=n_jobs, prefer="threads")(delayed(beside)(item) for item in items)
        )
    except BaseException:
        stop.set()
        with left:
            left.wait_for(lambda: inside == 0, _PATIENCE)
        raise
