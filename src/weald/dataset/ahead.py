"""Read the next block while the last one is worked on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

__all__ = ["read_ahead"]

Item = TypeVar("Item")
_BLOCKS = 2  # that wait, so that memory stays bounded
_LOOK = 0.1  # seconds after which a reader looks whether anybody still waits


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Give the items in their order, made by another thread.

    An error comes where its item would; the thread ends when the caller stops asking.

    >>> list(read_ahead(range(3)))
    [0, 1, 2]
    """
    queue: Queue[tuple[str, object]] = Queue(_BLOCKS)
    stop = Event()

    def put(kind: str, item: object) -> None:
        while not stop.is_set():
            try:
                queue.put((kind, item), timeout=_LOOK)
                return
            except Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put("item", item)
                if stop.is_set():
                    return
            put("end", None)
        except BaseException as error:
            put("error", error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            try:
                kind, item = queue.get(timeout=_LOOK)  # Ctrl-C is heard in between
            except Empty:
                continue
            if kind == "end":
                return
            if kind == "error":
                raise item  # type: ignore[misc]
            yield item  # type: ignore[misc]
    finally:
        stop.set()
        thread.join()
