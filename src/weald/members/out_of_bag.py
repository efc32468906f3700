"""Out-of-bag: what the members that did not see a row say about it, and how good that is.

One :class:`OutOfBag` follows the growth of one ensemble. After every member it notes the score, so
the curve over the number of members comes for free, and the rule of early stopping with it.

    watch = OutOfBag(target, n_classes, classes=..., scorer=..., patience=..., tol=...)
    watch.follow(members, X, last, n_jobs)      # members 0 .. last - 1, or
    watch.add(rows, values)                     # any member, one at a time
    watch.stopped                               # stop growing?
    watch.score, watch.prediction, watch.score_curve, watch.error_curve

Only rows that some member left out (and that have weight) count in a score; after the first
members that is a part of the rows. A row that every member drew has no prediction: it is NaN and
is not scored, and there is a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald._engine import FloatArray
from weald.input.raw_table import take_rows
from weald.members.base import Members
from weald.members.trees import Trees
from weald.params.stopping import Stopping
from weald.params.warnings import warn_user
from weald.sampling import Sampling

Scorer = Callable[[Any, Any], float]
Rows = npt.NDArray[np.intp] | slice

__all__ = ["OutOfBag", "watch_settings"]

_NEARLY_ALL = 0.99  # of the rows that can have an out-of-bag prediction


def watch_settings(sampling: Sampling, params: Any) -> dict[str, Any]:
    """What :class:`OutOfBag` takes from the draws of an ensemble, and from its parameters."""
    of_draws = {"present": sampling.present, "awaited": sampling.often_out}
    return of_draws | {name: getattr(params, name) for name in ("scorer", "patience", "tol")}


class OutOfBag:
    """The running out-of-bag prediction of an ensemble and its score after every member.

    Parameters
    ----------
    target : array of shape (n, n_outputs)
        Class codes (int), or numbers (float).
    n_classes : int
        Most classes of any output; 1 for numbers.
    classes : list of arrays, optional
        Labels of each output's codes; None for numbers.
    scorer : callable ``(truth, prediction) -> float``, optional
        Gets labels or numbers, in one column if there is one output. By default the accuracy (all
        outputs right), or the mean R² of the outputs.
    present : array of bool of shape (n,), optional
        Rows that count; all by default.
    awaited : array of bool of shape (n,), optional
        Rows that members leave out often enough to wait for; all that count by default.
    patience : int, optional
        Stop when the score has not risen by `tol` over so many members. They are counted from the
        first one at which nearly all awaited rows were left out by somebody: earlier scores cover
        fewer, other rows, and a lucky one would be too hard to beat.
    tol : float
    vote : bool
        The members vote for a class instead of giving shares.
    costs : array of shape (n_classes, n_classes), optional
        Cost of each mistake: of one output, the cheapest class is chosen.

    Attributes
    ----------
    sums : array of shape (n, n_outputs, n_classes)
        Sum of the values (class shares, votes or numbers) each row got from members without it.
    answered : array of int64 of shape (n,)
        How many members that were; of members with weights, the sum of these.
    score_curve, error_curve : list of float
        Score, and error rate or mean squared error, after 1, 2, ... members. NaN as long as no row
        was left out.
    """

    _weighs_alike = True

    def __init__(
        self,
        target: npt.NDArray[Any],
        n_classes: int = 1,
        *,
        classes: list[npt.NDArray[Any]] | None = None,
        scorer: Scorer | None = None,
        present: npt.NDArray[np.bool_] | None = None,
        awaited: npt.NDArray[np.bool_] | None = None,
        patience: int | None = None,
        tol: float = 0.0,
        vote: bool = False,
        costs: FloatArray | None = None,
    ) -> None:
        self.target = target
        self.classes = classes
        self.scorer = scorer
        self.present = present
        self.awaited = awaited
        self.patience = patience
        self.tol = tol
        self.vote = vote
        self.costs = costs
        self.n_classes = n_classes
        self.clear()

    def clear(self) -> None:
        """Forget all members."""
        self.sums: FloatArray = np.zeros((*self.target.shape, self.n_classes))
        self.answered: npt.NDArray[np.int64] = np.zeros(len(self.target), dtype=np.int64)
        self.score_curve: list[float] = []
        self.error_curve: list[float] = []
        self._rule = Stopping(self.patience, self.tol)
        self.comparable = False  # from now on scores cover nearly the same rows

    # --- members ------------------------------------------------------------------------------

    @property
    def n_members(self) -> int:
        """How many members were added."""
        return len(self.score_curve)

    def add(self, rows: npt.NDArray[np.intp], values: FloatArray) -> None:
        """Add a member: the rows it did not see, and its values for them.

        `values` has the shape (len(rows), n_outputs, n_classes), or one that is as large: class
        shares (len(rows), n_classes), or numbers (len(rows),) or (len(rows), n_outputs).
        """
        self.sums[rows] += values.reshape(len(rows), *self.sums.shape[1:])
        self.answered[rows] += 1
        self._note()

    def follow(self, members: Members, X: Any, last: int, n_jobs: int | None) -> None:
        """Add members, from the first that is not in yet up to `last` - 1.

        Ends early at the member with which the curve is flat.

        Parameters
        ----------
        members : Members
        X : the training rows, as the members want them
        last : int
        n_jobs : int, optional
        """
        while self.n_members < last and not self.stopped:
            self._add_member(members, X, self.n_members, n_jobs)

    def _add_member(self, members: Members, X: Any, t: int, n_jobs: int | None) -> None:
        assert members.sampling is not None
        if isinstance(members, Trees) and self._weighs_alike:
            draw, threads = members.sampling.draw, engine.resolve_threads(n_jobs)
            members.forest.add_out_of_bag(
                X, draw, members.seed, t, t + 1, self.sums, self.answered, threads, self.vote
            )
            self._note()
            return
        rows = np.flatnonzero(members.sampling.rows(members.seed, t) == 0)
        values = np.empty((0, *self.sums.shape[1:]))
        if len(rows):
            values = members.one(t, take_rows(X, rows), self.vote, n_jobs)
        self.add(rows, values)

    @property
    def stopped(self) -> bool:
        """The score has not risen by `tol` over the last `patience` members."""
        return self._rule.says_stop

    # --- results ------------------------------------------------------------------------------

    @property
    def score(self) -> float:
        """Score of all members together."""
        return self.score_curve[-1]

    @property
    def prediction(self) -> FloatArray:
        """Mean of what the members without a row say, (n, n_outputs, n_classes); NaN if none."""
        with np.errstate(invalid="ignore"):
            mean: FloatArray = self.sums / self.answered[:, None, None]
        return mean

    def warn_of_rows_never_left_out(self) -> None:
        """Warn if some rows were in the bag of every member."""
        never = self.answered == 0 if self.present is None else self.present & (self.answered == 0)
        if never.any():
            warn_user(
                f"Some inputs do not have OOB scores: {np.count_nonzero(never)} of {len(never)} "
                "rows were drawn by every member, so they have no out-of-bag prediction (NaN) and "
                "do not count in the score. Use more members."
            )

    # --- scores -------------------------------------------------------------------------------

    def _note(self) -> None:
        """Write down the score and the error of the members so far."""
        scored = self.answered > 0 if self.present is None else self.present & (self.answered > 0)
        count = np.count_nonzero(scored)
        rows = slice(None) if count == len(scored) else np.flatnonzero(scored)
        if count == 0:
            score = error = np.nan
        elif self.classes is None:
            score, error = self._score_of_numbers(rows)
        else:
            score, error = self._score_of_classes(rows)
        self.score_curve.append(score)
        self.error_curve.append(error)
        self.comparable = self.comparable or self._nearly_all(scored)
        if self.comparable:
            self._rule.note(score)

    def _nearly_all(self, scored: npt.NDArray[np.bool_]) -> bool:
        awaited = [rows for rows in (self.present, self.awaited) if rows is not None]
        if awaited:
            scored = scored[np.logical_and.reduce(awaited)]
        return bool(np.count_nonzero(scored) >= _NEARLY_ALL * len(scored))

    def _score_of_classes(self, rows: Rows) -> tuple[float, float]:
        assert self.classes is not None
        sums, truth = self.sums[rows], self.target[rows]
        if self.costs is not None:
            chosen = (sums[:, 0] @ self.costs).argmin(axis=1)[:, None]
        elif sums.shape[1:] == (1, 2):  # the common case, several times faster than argmax
            chosen = (sums[:, :, 1] > sums[:, :, 0]).astype(truth.dtype)
        else:
            chosen = sums.argmax(axis=2)
        right = int(np.count_nonzero((chosen == truth).all(axis=1)))
        error = (len(truth) - right) / len(truth)
        if self.scorer is None:
            return right / len(truth), error
        decode = [labels.take for labels in self.classes]
        labels = ([take(codes[:, k]) for k, take in enumerate(decode)] for codes in (truth, chosen))
        return float(self.scorer(*map(_columns, labels))), error

    def _score_of_numbers(self, rows: Rows) -> tuple[float, float]:
        truth = self.target[rows]
        guess = self.sums[rows, :, 0] / self.answered[rows, None]
        squares = ((truth - guess) ** 2).sum(axis=0)
        error = float(squares.mean()) / len(truth)
        if self.scorer is not None:
            return float(self.scorer(_columns(truth.T), _columns(guess.T))), error
        if len(truth) < 2:
            return np.nan, error
        spread = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
        # As in scikit-learn, a constant target is predicted perfectly (1) or not (0).
        safe = np.where(spread > 0, spread, 1.0)
        r2 = np.where(spread > 0, 1 - squares / safe, (squares == 0).astype(float))
        return float(r2.mean()), error


def _columns(outputs: Any) -> npt.NDArray[Any]:
    """One output as it is, several side by side."""
    columns: npt.NDArray[Any] = outputs[0] if len(outputs) == 1 else np.stack(outputs, axis=1)
    return columns
