"""A live bar for long fits, and the size of the batches in which they go.

This is the bar of ``verbose``; voting alone prints scikit-learn's lines in its place. Two others
write about progress and are no part of a fit's own display: :class:`weald.callbacks.Progress`
writes lines for users who ask for them, and the command line shows a bar that counts the fits of a
cross-validation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

__all__ = ["SilentBar", "batches", "live_bar"]

_SECONDS = 0.3  # of work in a batch: a bar that moves, and little lost when a fit is stopped


class SilentBar:
    """Shows nothing."""

    def show(self, done: int, score: float | None = None) -> None:
        """So many members are there, with this score."""


@contextmanager
def live_bar(
    total: int,
    done: int,
    verbose: int,
    name: str,
    number_name: str = "out-of-bag score",
    *,
    transient: bool = False,
) -> Iterator[SilentBar]:
    """A bar on standard error if `verbose`, with the time left and a score.

    Parameters
    ----------
    total, done : int
        Members in the end, and now.
    verbose : int
        0: no bar.
    name : str
        What is fitted.
    number_name : str
        What the score is.
    transient : bool
        The bar goes away at the end.
    """
    if verbose == 0:
        yield SilentBar()
        return
    # Imported here: quiet fits need not wait for it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[score]}"),
        console=Console(file=sys.stderr),
        transient=transient,
    )
    with bar:
        task = bar.add_task(name, total=total, completed=done, score="")

        class LiveBar(SilentBar):
            def show(self, done: int, score: float | None = None) -> None:
                text = "" if score is None else f"{number_name} {score:.4f}"
                bar.update(task, completed=done, score=text)

        yield LiveBar()


def batches(done: int, total: int, first: int) -> Iterator[tuple[int, int]]:
    """Cut the members `done` .. `total` - 1 into batches of about a third of a second each.

    No batch is shorter than the first, and none has more than four times the members of the one
    before.

    >>> list(batches(0, 10, first=4))[0]
    (0, 4)
    """
    size = first
    while done < total:
        last = min(done + size, total)
        began = monotonic()
        yield done, last
        pace = (monotonic() - began) / (last - done)
        size = max(first, min(4 * size, int(_SECONDS / max(pace, 1e-9))))
        done = last
