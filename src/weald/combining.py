"""How members become one prediction: mean, median, soft vote, majority vote, and their weights.

Everything here is a function of arrays: what the members say, shape ``(T, n)`` for numbers,
``(T, n, n_outputs)`` for several outputs, ``(T, n, K)`` for class shares, and one weight per
member, ``(T,)``. Sums run in the order of the members, so the result does not depend on threads.

If members err independently and less often than chance, the vote of many errs less than any of them
(Condorcet 1785). Weights say that some members are known to be better than others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray

__all__ = [
    "RunningMedian",
    "ballots",
    "mean",
    "normalised",
    "soft_vote",
    "votes",
    "weighted_median",
    "weighted_vote",
    "weights_from_accuracy",
    "weights_from_squared_error",
]

_CACHED = 1 << 16  # numbers at a time, so that they stay in the cache
_WHISPER = 1e-6  # weight of a member that is no better than chance


def mean(members: Iterable[npt.ArrayLike], weights: npt.ArrayLike | None = None) -> FloatArray:
    """Weighted mean over the members, ``sum_t w_t f_t / sum_t w_t``.

    Parameters
    ----------
    members : array of shape (T, ...), or an iterable of T arrays
        An iterable is read once, so that the members need not be held together.
    weights : array of shape (T,), optional
        Not negative; None counts every member alike.

    Examples
    --------
    >>> mean([[1.0, 2.0], [3.0, 2.0]])
    array([2., 2.])
    >>> mean([[1.0, 2.0], [3.0, 2.0]], weights=[3, 1])
    array([1.5, 2. ])
    """
    share = None if weights is None else np.asarray(weights, dtype=np.float64)
    total: FloatArray | None = None
    count = 0
    for t, member in enumerate(members):
        part = np.asarray(member, dtype=np.float64)
        if share is not None:
            part = part * share[t]
        total = part.copy() if total is None else np.add(total, part, out=total)
        count += 1
    if total is None:
        raise ValueError("There are no members to combine.")
    total /= count if share is None else share[:count].sum()
    return total


def weighted_median(members: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> FloatArray:
    """The lower weighted median over the members, shape (n,) or (n, n_classes).

    The smallest number such that the members that say at most this have half the weight.

    Parameters
    ----------
    members : array of shape (T, n) or (T, n, n_classes)
    weights : array of shape (T,), optional
        Not negative; None counts every member alike.

    Examples
    --------
    >>> weighted_median([[1.0, 2.0], [3.0, 9.0], [8.0, 4.0]])
    array([3., 4.])
    >>> weighted_median([[1.0, 2.0], [3.0, 9.0], [8.0, 4.0]], weights=[3, 1, 1])
    array([1., 2.])
    """
    values = np.asarray(members, dtype=np.float64)
    if len(values) == 0:
        raise ValueError("There are no members to combine.")
    each = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows = values.reshape(len(values), -1).T
    order = rows.argsort(axis=1, kind="stable")
    median = _median_of_sorted(np.take_along_axis(rows, order, axis=1), each[order])
    return median.reshape(values.shape[1:])


class RunningMedian:
    """:func:`weighted_median` of more and more members.

    A member moves the median of a row by a place or two, so that each row keeps where it stands:
    the weight of the members below its median and of those that say just that.

    Examples
    --------
    >>> running = RunningMedian()
    >>> running.add([1.0, 2.0], 1.0), running.add([3.0, 0.0], 2.0)
    (array([1., 2.]), array([3., 0.]))
    """

    def __init__(self) -> None:
        self._members = np.empty((0, 0))  # (n, room for members)
        self._weights = np.empty(0)

    def add(self, member: npt.ArrayLike, weight: float) -> FloatArray:
        """The median with one more member.

        Parameters
        ----------
        member : array of shape (n,)
        weight : float
        """
        values, t = np.asarray(member, dtype=np.float64), len(self._weights)
        if t == 0:
            self._median = values.copy()
            self._below, self._at = np.zeros(len(values)), np.zeros(len(values))
        if t >= self._members.shape[1]:
            more = np.empty((len(values), max(16, t)))
            self._members = np.hstack([self._members.reshape(len(values), t), more])
        self._members[:, t] = values
        self._weights = np.append(self._weights, weight)
        self._below += weight * (values < self._median)
        self._at += weight * (values == self._median)
        half = 0.5 * self._weights.sum()
        while (rows := np.flatnonzero((self._below >= half) & (self._below > 0))).size:
            self._move(rows, -1)
        while (rows := np.flatnonzero(self._below + self._at < half)).size:
            self._move(rows, 1)
        return self._median.copy()

    def _move(self, rows: npt.NDArray[np.intp], way: int) -> None:
        """Go on to the next smaller (-1) or larger (1) number that a member says."""
        t = len(self._weights)
        at_once = max(1, _CACHED // t)
        for block in (rows[i : i + at_once] for i in range(0, len(rows), at_once)):
            said = way * self._members[block, :t]
            here = way * self._median[block, None]
            following = np.where(said > here, said, np.inf).min(axis=1, keepdims=True)
            passed = said < following if way == 1 else said > following
            self._median[block] = way * following[:, 0]
            self._at[block] = (said == following) @ self._weights
            self._below[block] = passed @ self._weights


def _median_of_sorted(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Lower weighted median of each row of (n, T) numbers in ascending order."""
    up_to = weights.cumsum(axis=1)
    place = (up_to >= 0.5 * up_to[:, -1:]).argmax(axis=1)
    median: FloatArray = values[np.arange(len(values)), place]
    return median


def votes(shares: npt.ArrayLike) -> FloatArray:
    """Turn class shares into votes: 1 for a member's largest class, 0 for the others.

    The first of several equally large classes gets the vote.

    Parameters
    ----------
    shares : array of shape (..., K)

    Examples
    --------
    >>> votes([[0.2, 0.7, 0.1], [0.5, 0.5, 0.0]])
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    shares = np.asarray(shares)
    return ballots(shares.argmax(axis=-1), shares.shape[-1])


def ballots(codes: npt.ArrayLike, n_classes: int) -> FloatArray:
    """Votes for the given classes: a 1 in the column of each code.

    Examples
    --------
    >>> ballots([1, 0], 3)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    codes = np.asarray(codes, dtype=np.intp)
    ballot = np.zeros((*codes.shape, n_classes))
    np.put_along_axis(ballot, codes[..., None], 1.0, axis=-1)
    return ballot


def add_votes(tally: FloatArray, codes: npt.NDArray[Any], weight: npt.ArrayLike) -> None:
    """Add a member's weight to the classes it votes for, in a tally (n, K), in place.

    >>> tally = np.zeros((2, 3))
    >>> add_votes(tally, np.array([2, 0]), 1.5)
    >>> tally.tolist()
    [[0.0, 0.0, 1.5], [1.5, 0.0, 0.0]]
    """
    tally[np.arange(len(tally)), codes] += weight


def soft_vote(shares: Iterable[npt.ArrayLike], weights: npt.ArrayLike | None = None) -> FloatArray:
    """Mean of the members' class shares, shape (n, K); the largest is the ensemble's class.

    Parameters
    ----------
    shares : array of shape (T, n, K), or an iterable of T arrays (n, K)
    weights : array of shape (T,), optional

    Examples
    --------
    >>> soft_vote([[[0.9, 0.1]], [[0.4, 0.6]], [[0.4, 0.6]]]).round(2)
    array([[0.57, 0.43]])
    """
    return mean(shares, weights)


def weighted_vote(
    shares: Iterable[npt.ArrayLike], weights: npt.ArrayLike | None = None
) -> FloatArray:
    """Share of the votes each class gets, shape (n, K); without weights, the majority vote.

    Parameters
    ----------
    shares : array of shape (T, n, K), or an iterable of T arrays (n, K)
    weights : array of shape (T,), optional

    Examples
    --------
    >>> weighted_vote([[[0.9, 0.1]], [[0.4, 0.6]], [[0.4, 0.6]]]).round(2)
    array([[0.33, 0.67]])
    >>> weighted_vote([[[0.9, 0.1]], [[0.4, 0.6]], [[0.4, 0.6]]], weights=[3, 1, 1])
    array([[0.6, 0.4]])
    """
    return mean((votes(member) for member in shares), weights)


def normalised(weights: npt.ArrayLike) -> FloatArray:
    """Scale weights to a mean of 1, so that equal members weigh 1 each.

    Examples
    --------
    >>> normalised([3, 1])
    array([1.5, 0.5])
    """
    weights = np.asarray(weights, dtype=np.float64)
    scaled: FloatArray = weights / weights.mean()
    return scaled


def weights_from_accuracy(
    accuracy: npt.ArrayLike, n_rows: npt.ArrayLike, n_classes: int
) -> FloatArray:
    """Weights of voters from their accuracy on rows they have not seen.

    The log odds of being right, above those of chance::

        w_t = max(log(a_t / (1 - a_t)) + log(K - 1), 1e-6),   a_t = (A_t n_t + 1) / (n_t + K)

    With accuracies ``A_t``, independent members and errors spread evenly over the other K - 1
    classes, these weights elect the most probable class (Nitzan & Paroush 1982). ``a_t`` adds K
    rows guessed at chance, so that a member that was never wrong has a finite weight. One that is
    no better than chance, or was never tried, is heard only where no other speaks.

    Parameters
    ----------
    accuracy : array of shape (T,)
        Share of right answers; whatever stands there for a member without rows is not used.
    n_rows : array of shape (T,)
        Rows each member was tried on.
    n_classes : int

    Returns
    -------
    array of shape (T,)
        Each depends on its own member only.

    Examples
    --------
    >>> weights_from_accuracy([0.9, 0.6, 0.3], [100, 100, 100], 2).round(2)
    array([2.11, 0.4 , 0.  ])
    """
    rows = np.asarray(n_rows, dtype=np.float64)
    if n_classes < 2:
        return np.ones(len(rows))
    right = np.where(rows > 0, np.asarray(accuracy, dtype=np.float64), 0.0) * rows
    smooth = (right + 1) / (rows + n_classes)
    log_odds: FloatArray = np.log(smooth / (1 - smooth)) + np.log(n_classes - 1)
    return np.maximum(log_odds, _WHISPER)


def weights_from_squared_error(error: npt.ArrayLike, n_rows: npt.ArrayLike) -> FloatArray:
    """Weights of regressors from their squared error on rows they have not seen.

    The inverse error, which makes the mean of unbiased members with uncorrelated errors as good as
    it can be::

        w_t = (n_t + 1) / (n_t E_t + 1),   E_t = MSE_t / Var(y)

    One row on which the member is as bad as the constant mean (``E = 1``) is added, so that a
    member that never erred has a finite weight and one that was never tried counts like a constant.

    Parameters
    ----------
    error : array of shape (T,)
        Mean squared error as a share of the variance of the target; whatever stands there for a
        member without rows is not used.
    n_rows : array of shape (T,)
        Rows each member was tried on.

    Returns
    -------
    array of shape (T,)
        Each depends on its own member only.

    Examples
    --------
    >>> weights_from_squared_error([0.1, 0.5, 2.0], [100, 100, 100]).round(2)
    array([9.18, 1.98, 0.5 ])
    """
    rows = np.asarray(n_rows, dtype=np.float64)
    total = np.where(rows > 0, np.asarray(error, dtype=np.float64), 0.0) * rows
    return (rows + 1) / (total + 1)
