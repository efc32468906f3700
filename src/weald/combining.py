"""How members become one prediction: mean, soft vote, majority vote, and their weights.

Everything here is a function of arrays: what the members say, shape ``(T, n)`` for numbers,
``(T, n, n_outputs)`` for several outputs, ``(T, n, K)`` for class shares, and one weight per
member, ``(T,)``. Sums run in the order of the members, so the result does not depend on threads.

If members err independently and less often than chance, the vote of many errs less than any of them
(Condorcet 1785). Weights say that some members are known to be better than others.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

__all__ = [
    "ballots",
    "mean",
    "normalised",
    "soft_vote",
    "votes",
    "weighted_vote",
    "weights_from_accuracy",
    "weights_from_squared_error",
]

FloatArray = npt.NDArray[np.float64]

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
