"""The growth of a forest in steps, with an eye on the out-of-bag score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from weald import _engine as engine
from weald.params.ensembles import EnsembleParams, ForestParams
from weald.members.out_of_bag import OutOfBag
from weald.fitting.progress import progress, steps
from weald.params.warnings import warn_user

__all__ = ["Look", "grow_in_steps"]

Grow = Callable[[int, int], engine.Forest]


@dataclass(frozen=True, eq=False)
class Look:
    """A look at the trees that are new: what they say about rows they did not draw."""

    watch: OutOfBag
    X: npt.NDArray[Any]
    draw: engine.Draw
    seed: int
    threads: int

    def at(self, forest: engine.Forest) -> None:
        """Score the forest after each tree that was not there at the last look."""
        self.watch.add_trees(forest, self.X, self.draw, self.seed, forest.n_trees, self.threads)


def grow_in_steps(
    grow: Grow,
    forest: engine.Forest | None,
    look: Look | None,
    params: ForestParams | EnsembleParams,
    name: str,
) -> engine.Forest:
    """Grow until there are enough trees, the out-of-bag score rests, or somebody says stop.

    Steps change nothing in the forest: it ends with the tree at which the score was found to rest.

    Parameters
    ----------
    grow : callable
        Gives the trees first .. last - 1.
    forest : the trees there are already, if any; it is added to
    look : after every step, if there is an out-of-bag score
    params : ForestParams or EnsembleParams
    name : str
        What is fitted, in the words of the bar.
    """
    done, total = 0 if forest is None else forest.n_trees, params.n_estimators
    todo = steps(done, total, first=params.threads) if params.watched else [(done, total)]
    with progress(total, done, params.verbose, name) as bar:
        try:
            if forest is not None and look is not None:
                look.at(forest)
            for first, last in todo:
                if first == last or (look is not None and look.watch.stopped):
                    break
                forest = _joined(forest, grow(first, last))
                if look is None:
                    bar.show(last)
                else:
                    look.at(forest)
                    bar.show(look.watch.n_members, look.watch.score)
        except KeyboardInterrupt:
            if not params.keep_partial or forest is None:
                raise
            warn_user(
                f"The growth was stopped: the {name} has {forest.n_trees} of {total} members."
            )
            if look is not None and look.watch.n_members < forest.n_trees:
                look.watch.clear()  # it may have been in the middle of a tree
                look.at(forest)
    assert forest is not None
    if look is not None and look.watch.n_members < forest.n_trees:
        return forest.prefix(look.watch.n_members)
    return forest


def _joined(forest: engine.Forest | None, more: engine.Forest) -> engine.Forest:
    if forest is None:
        return more
    forest.extend(more)
    return forest
