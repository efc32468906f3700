"""What complete candidates say of rows they have not seen, and the risk of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.crossfit.fits import CandidateFits
from weald.crossfit.folds import Fold
from weald.crossfit.level_one import level_one
from weald.crossfit.problem import Problem, Rows
from weald.crossfit.risk_table import RiskTable, risk_table
from weald.params.warnings import warn_user

__all__ = ["LevelOneRows", "candidate_risks", "complete_candidates", "report_failures"]


@dataclass(frozen=True, eq=False)
class LevelOneRows:
    """What the complete candidates say of rows they have not seen, with targets and weights.

    Attributes
    ----------
    rows : array of shape (n,)
    Z : array of shape (n, M, K)
    y, w : arrays of shape (n,)
    cluster : array of shape (n,)
        Rows that may be alike: the same row in several folds, or a group.
    chosen : list of int
        Numbers of the candidates.
    """

    rows: Rows
    Z: FloatArray
    y: npt.NDArray[Any]
    w: FloatArray
    cluster: Rows
    chosen: list[int]


def complete_candidates(work: CandidateFits) -> list[int]:
    """The candidates that are complete; those that failed are reported."""
    chosen = [m for m in range(len(work.candidates)) if work.complete(m)]
    if not chosen:
        if work.failed:
            raise next(iter(work.failed.values()))
        raise ValueError("No candidate was fitted on all folds: give a longer time_limit.")
    report_failures(work, "failed and is left out")
    return chosen


def report_failures(work: CandidateFits, what: str) -> None:
    """Warn of the candidates that failed, and say what becomes of them."""
    for m, error in work.failed.items():
        warn_user(
            f"The candidate {work.candidates[m].name!r} {what}: {type(error).__name__}: {error}"
        )


def candidate_risks(
    work: CandidateFits, chosen: list[int], folds: list[Fold], problem: Problem
) -> tuple[LevelOneRows, RiskTable]:
    """The level-1 rows of the chosen candidates, and a table of risks in which none has weight."""
    data, level = problem.data, level_one(work, chosen, folds)
    if not len(level.rows):
        raise ValueError("No row is predicted by a model that has not seen it.")
    y = data.y[level.rows]
    given = level.weights(data.weights, len(data))
    w = np.ones(len(y)) if given is None else given
    said = [one.reshape(len(y), -1) for one in level.said]
    same = level.rows if problem.groups is None else problem.groups[level.rows]
    parts = risk_table(problem.risk, said, y, w, level.fold, same)
    M = len(work.candidates)
    risks, errors, by_fold = (_in_all(part, chosen, M) for part in parts)
    table = RiskTable(
        name=problem.risk.name,
        candidates=[one.name for one in work.candidates],
        risk=risks,
        standard_error=errors,
        fold_risks=by_fold,
        weights=np.zeros(M),
        seconds=np.array([sum(one.seconds for _, one in work.of(m)) for m in range(M)]),
        notes=[work.note(m) for m in range(M)],
    )
    return LevelOneRows(level.rows, np.stack(said, axis=1), y, w, same, chosen), table


def _in_all(values: FloatArray, chosen: list[int], M: int) -> FloatArray:
    """Values of the chosen candidates, NaN for the others."""
    every = np.full((M, *values.shape[1:]), np.nan)
    every[chosen] = values
    return every
