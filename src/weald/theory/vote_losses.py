"""Losses of members, and of pairs of members, on rows that they did not see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from weald._engine import FloatArray
from weald.combining import add_votes

__all__ = ["BoolArray", "VoteLosses", "vote_error", "vote_losses"]

BoolArray = npt.NDArray[np.bool_]

_BLOCK = 2**14  # rows whose errors are numbers at a time: float32 counts them exactly


@dataclass(frozen=True, eq=False)
class VoteLosses:
    """What the bounds need to know of T members.

    Parameters
    ----------
    members : ndarray of shape (T,)
        Share of a member's rows on which it errs.
    pairs : ndarray of shape (T, T)
        Tandem loss: share of the rows of both on which both err. The diagonal is `members`.
    disagreements : ndarray of shape (T, T)
        Share of the rows of both on which exactly one errs. With two classes that is where they
        disagree.
    n : int
        Rows of the member that has fewest.
    n_pair : int
        Rows of the pair that has fewest in common.
    """

    members: FloatArray
    pairs: FloatArray
    disagreements: FloatArray
    n: int
    n_pair: int

    def gibbs(self, weights: FloatArray) -> float:
        """Mean loss of a member drawn by its weight: the Gibbs loss."""
        return float(weights @ self.members)

    def tandem(self, weights: FloatArray) -> float:
        """Mean tandem loss of two members drawn by their weights."""
        return float(weights @ self.pairs @ weights)

    def disagreement(self, weights: FloatArray) -> float:
        """Mean share of rows on which exactly one of two drawn members errs."""
        return float(weights @ self.disagreements @ weights)


def vote_losses(errors: BoolArray, seen: BoolArray | None = None) -> VoteLosses:
    """Count the errors of members and pairs.

    The counts of pairs are products of 0/1 matrices, made for some rows at a time.

    Parameters
    ----------
    errors : ndarray of shape (T, n), bool
        Where a member errs.
    seen : ndarray of shape (T, n), bool, or None
        Where a row belongs to the member's training rows, and says nothing. None: nowhere.

    Examples
    --------
    >>> import numpy as np
    >>> losses = vote_losses(np.array([[1, 0, 0, 1], [1, 1, 0, 0]], dtype=bool))
    >>> print(losses.members, losses.pairs[0, 1])
    [0.5 0.5] 0.25
    """
    T, n = errors.shape
    # Rows and errors counted for the pair (s, t): rows of both, errors of s there, errors of both.
    rows, single, both = (np.zeros((T, T)) for _ in range(3))
    with threadpool_limits(1):  # products this small only wait for each other on a busy machine
        for start in range(0, n, _BLOCK):
            some = slice(start, start + _BLOCK)
            counts = np.ones_like(errors[:, some]) if seen is None else ~seen[:, some]
            wrong = (errors[:, some] & counts).astype(np.float32)
            asked = counts.astype(np.float32)
            rows += asked @ asked.T
            single += wrong @ asked.T
            both += wrong @ wrong.T
    own = np.diagonal(rows)
    if not own.all():
        raise ValueError(
            f"member {int(np.argmin(own))} has no row that it did not see: give rows held out "
            "with rows='held_out', or more rows."
        )
    if not rows.all():
        first, second = np.argwhere(rows == 0)[0]
        raise ValueError(
            f"members {first} and {second} have no row that neither of them saw, which bounds "
            "for pairs need: give rows held out with rows='held_out', or more rows."
        )
    return VoteLosses(
        np.diagonal(single) / own,
        both / rows,
        (single + single.T - 2.0 * both) / rows,
        int(own.min()),
        int(rows.min()),
    )


def vote_error(
    votes: npt.NDArray[np.integer],
    y: npt.NDArray[np.integer],
    weights: FloatArray,
    n_classes: int,
    seen: BoolArray | None = None,
) -> float:
    """Error of the weighted majority vote; of members that did not see the row, if `seen` is given.

    Rows that every member saw are left out. Ties go to the first class.
    """
    wrong = judged = 0
    for start in range(0, len(y), _BLOCK):
        some = slice(start, start + _BLOCK)
        tally = np.zeros((len(y[some]), n_classes))
        for t, weight in enumerate(weights):
            share = weight if seen is None else weight * ~seen[t, some]
            add_votes(tally, votes[t, some], share)
        asked = tally.any(axis=1)
        wrong += int(np.sum((np.argmax(tally, axis=1) != y[some]) & asked))
        judged += int(asked.sum())
    return wrong / judged if judged else float("nan")
