"""Members that know nothing of each other, as work for the driver: forests and bagging.

All members are made in one call of the engine, unless somebody looks on (a live bar, callbacks,
early stopping, ``keep_partial``). Then they come in batches of about 0.3 seconds. A member depends
on the seed and its own number only, so batches cannot change an ensemble.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from weald import _engine as engine
from weald.fitting.driver import NOTHING, Outcome, Plan, Seen, drive
from weald.members.base import Members
from weald.members.out_of_bag import OutOfBag
from weald.params.ensembles import BaggingParams, ForestParams
from weald.params.growth import GrowthParams

__all__ = ["IndependentMembers", "Make", "drive_members", "make_trees"]

Make = Callable[[int, int], list[Any]]  # members first .. last - 1, as Members take them


def make_trees(
    matrix: engine.Binned,
    target: engine.Target,
    growth: GrowthParams,
    draw: engine.Draw,
    seed: int,
    threads: int,
    *,
    balance: bool = False,
    keep_rows: bool = False,
) -> Make:
    """What makes trees of the engine, many in one call.

    Parameters
    ----------
    matrix : engine.Binned
    target : engine.Target
    growth : GrowthParams
    draw : engine.Draw
        Rows and columns of each tree.
    seed : int
        Of the ensemble.
    threads : int
    balance : bool
        Classes weigh by their inverse frequency in each draw.
    keep_rows : bool
        The forest knows which rows are in which leaf.
    """

    def make(first: int, last: int) -> list[engine.Forest]:
        forest = engine.grow_forest(
            matrix,
            target,
            growth.criterion,
            growth.rules,
            draw,
            balance,
            seed,
            first,
            last,
            threads,
            keep_rows,
        )
        return [forest]

    return make


class IndependentMembers:
    """Members that are made in batches, with an eye on the out-of-bag score.

    Parameters
    ----------
    make : callable
        Gives the members first .. last - 1.
    members : Members
        Those there are already; it is added to.
    watch : OutOfBag, optional
    X : the training rows, as members want them
    n_jobs : int, optional
    """

    number_name = "out-of-bag score"

    def __init__(
        self,
        make: Make,
        members: Members,
        watch: OutOfBag | None,
        X: Any,
        n_jobs: int | None,
    ) -> None:
        self.members, self._make = members, make
        self._watch, self._X, self._n_jobs = watch, X, n_jobs

    def __len__(self) -> int:
        return len(self.members)

    def advance(self, first: int, last: int, rate: float) -> bool:
        """Make the members first .. last - 1."""
        self.members.add(self._make(first, last))
        return True

    def look(self, done: int) -> Seen:
        """What the first members say about rows they did not draw."""
        if self._watch is None:
            return NOTHING
        watch = self._watch
        watch.follow(self.members, self._X, done, self._n_jobs)
        # Scores of few rows are not to be compared with later ones.
        score = watch.score if watch.comparable else np.nan
        return Seen(validation_score=score, says_stop=watch.stopped)

    def cut(self, done: int) -> None:
        """Keep the first members, no more than the out-of-bag score knows."""
        known = done if self._watch is None else min(done, self._watch.n_members)
        if known < len(self.members):
            self.members = self.members.prefix(known)
        if self._watch is not None and self._watch.n_members > known:
            self._watch.clear()
            self.look(known)

    def interrupted(self) -> None:
        """Score again: the score may have been in the middle of a member."""
        if self._watch is not None and self._watch.n_members < len(self.members):
            self._watch.clear()
            self.look(len(self.members))
            self.cut(len(self.members))


def drive_members(
    work: IndependentMembers, estimator: Any, params: ForestParams | BaggingParams
) -> Outcome:
    """Make the members that are missing, in batches if somebody looks on."""
    plan = Plan.of(estimator, params, done=len(work))
    watched = params.watched or bool(plan.callbacks)
    outcome = drive(work, replace(plan, batch=max(params.threads, 2) if watched else 0))
    if outcome.kept is not None:
        work.cut(max(outcome.kept, 1))
    return outcome
