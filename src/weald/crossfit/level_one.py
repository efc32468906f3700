"""Level-1 data: what candidates say of rows that they have not seen (Wolpert 1992)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.crossfit.fits import CandidateFits, Job
from weald.crossfit.folds import Fold

__all__ = ["LevelOne", "fold_jobs", "level_one"]

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LevelOne:
    """What each candidate says of every row that some fold predicts.

    Attributes
    ----------
    rows : array of shape (n,)
        Numbers of the rows, ascending: some perhaps more than once, some not at all.
    fold : array of shape (n,)
        Which fold predicted them.
    said : list, one entry for each candidate
        Arrays with n rows, or lists of such arrays.
    """

    rows: IntArray
    fold: IntArray
    said: list[Any]

    def weights(self, weights: FloatArray | None, n: int) -> FloatArray | None:
        """Weights of the level-1 rows: a row that k folds predict counts 1/k each time.

        None if all count the same.
        """
        times = np.bincount(self.rows, minlength=n)[self.rows]
        if weights is None and (times == times[0]).all():
            return None
        of_rows = np.ones(len(times)) if weights is None else weights[self.rows]
        return np.asarray(of_rows / times)


def fold_jobs(m: int, folds: list[Fold]) -> list[Job]:
    """A fit of a candidate for every fold."""
    return [Job(m, fold) for fold in folds]


def level_one(work: CandidateFits, chosen: list[int], folds: list[Fold]) -> LevelOne:
    """Put together what the chosen candidates said of the rows of all folds.

    A candidate that knows its out-of-bag predictions says those. Rows of which one of them says
    nothing at all (NaN: every member saw them) are left out.
    """
    rows = np.concatenate([fold.test for fold in folds])
    number = np.repeat(np.arange(len(folds)), [len(fold.test) for fold in folds])
    order = np.argsort(rows, kind="stable")
    rows, number = rows[order], number[order]
    said = []
    for m in chosen:
        parts = [one.said for job, one in work.of(m) if one.said is not None]
        whole = work.candidates[m].out_of_bag is not None
        said.append(_taken(parts[0], rows) if whole else _taken(_joined(parts), order))
    known = np.ones(len(rows), dtype=bool)
    for m, one in zip(chosen, said, strict=True):
        if work.candidates[m].out_of_bag is not None:
            known &= ~np.isnan(one.reshape(len(rows), -1)).any(axis=1)
    if not known.all():
        rows, number = rows[known], number[known]
        said = [_taken(one, np.flatnonzero(known)) for one in said]
    return LevelOne(rows, number, said)


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], list):  # several outputs
        return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    return np.concatenate(parts)


def _taken(said: Any, rows: IntArray) -> Any:
    return [array[rows] for array in said] if isinstance(said, list) else said[rows]
