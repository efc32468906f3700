"""Members that are estimators of any kind, each with its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import combining
from weald._engine import FloatArray, IntArray
from weald.input.raw_table import keep_X_predict, take_columns
from weald.input.state import is_whole, require
from weald.members.base import Members, PlainMembers
from weald.members.foreign import (
    member_decisions,
    member_finite_values,
    member_log_shares,
    member_shares,
    member_values,
    stream,
)
from weald.members.views import MemberGrid
from weald.sampling import Sampling

__all__ = ["ForeignMembers"]


class ForeignMembers(Members):
    """Estimators of any kind.

    Parameters
    ----------
    members : list of fitted estimators
        Round after round.
    n_classes : int
        Classifiers were fitted to class codes; 0 if they predict numbers.
    seed : int
    sampling : Sampling, optional
    factors : list of float, optional
        What each member is multiplied by; default: 1.
    per_round, grid : see :class:`weald.members.base.Members`
    finite : bool
        Members must say one finite number for each row, else an error names them.
    """

    def __init__(
        self,
        members: list[Any],
        n_classes: int,
        seed: int,
        sampling: Sampling | None = None,
        *,
        factors: list[float] | None = None,
        per_round: int = 1,
        grid: bool = False,
        finite: bool = False,
    ) -> None:
        self.members, self.n_classes, self.factors = members, n_classes, factors
        self.seed, self.sampling = seed, sampling
        self.per_round, self.grid, self.finite = per_round, grid, finite

    def _check_state(self) -> None:
        super()._check_state()
        require(isinstance(self.members, list), self, "the list of its members")
        require(all(hasattr(one, "predict") for one in self.members), self, "a member")
        require(len(self.members) % self.per_round == 0, self, "the number of its members")
        require(is_whole(self.n_classes, 0), self, "the number of classes")
        require(isinstance(self.finite, bool), self, "what its members may say")
        if self.factors is not None:
            require(len(self.factors) == len(self.members), self, "the number of its factors")
            require(np.isfinite(self.factors).all(), self, "a factor")

    def __len__(self) -> int:
        return len(self.members) // self.per_round

    # --- growing --------------------------------------------------------------------------------

    def add(self, members: list[Any]) -> None:
        """Append the members of a round, each with its factor if members have factors."""
        if self.factors is None:
            self.members += members
        else:
            self.members += [member for member, _ in members]
            self.factors += [float(factor) for _, factor in members]

    def prefix(self, n: int) -> ForeignMembers:
        """A copy of the first rounds, that may be added to."""
        last = n * self.per_round
        return ForeignMembers(
            self.members[:last],
            self.n_classes,
            self.seed,
            self.sampling,
            factors=None if self.factors is None else self.factors[:last],
            per_round=self.per_round,
            grid=self.grid,
            finite=self.finite,
        )

    # --- questions ------------------------------------------------------------------------------

    def read(self, ensemble: Any, X: Any) -> Any:
        """Rows to predict, as they are."""
        return keep_X_predict(ensemble, X)

    def one(self, t: int, X: Any, vote: bool = False, n_jobs: int | None = None) -> FloatArray:
        """What one member says, shape (n, n_outputs, n_classes)."""
        columns = self._columns(t)
        part = X if columns is None else take_columns(X, columns)
        return self._shaped(self._ask(vote)(self.members[t], part))

    def sum(
        self,
        X: Any,
        weights: FloatArray | None = None,
        *,
        first: int = 0,
        last: int | None = None,
        vote: bool = False,
        start: FloatArray | None = None,
        n_jobs: int | None = None,
    ) -> FloatArray:
        """What the rounds first .. last - 1 say, added up in their order."""
        shape = (X.shape[0], self.per_round, max(self.n_classes, 1))
        total = np.zeros(shape) if start is None else start[:, :, None].copy()
        for t in range(first, len(self) if last is None else last):
            for k in range(self.per_round):
                number = t * self.per_round + k
                part = self.one(number, X, vote)[:, 0]
                if self.factors is not None:
                    part = self.factors[number] * part
                total[:, k] += part if weights is None else weights[t] * part
        return total

    def mean(
        self,
        X: Any,
        weights: FloatArray | None,
        vote: bool,
        n_jobs: int | None,
        params: dict[str, Any] | None = None,
    ) -> FloatArray:
        """Weighted mean of what the members say."""
        said = self._stream(self._ask(vote), X, n_jobs, params)
        return self._shaped(combining.mean(said, weights))

    def each(
        self,
        X: Any,
        n_jobs: int | None,
        vote: bool = False,
        params: dict[str, Any] | None = None,
    ) -> FloatArray:
        """What every round says, shape (rounds, n, n_outputs, n_classes)."""
        said = [self._shaped(part) for part in self._stream(self._ask(vote), X, n_jobs, params)]
        if self.factors is not None:
            said = [factor * part for factor, part in zip(self.factors, said, strict=True)]
        rounds = range(0, len(said), self.per_round)
        return np.stack([np.concatenate(said[t : t + self.per_round], axis=1) for t in rounds])

    def log_shares(
        self, X: Any, weights: FloatArray, n_jobs: int | None, params: dict[str, Any] | None
    ) -> FloatArray:
        """Logarithm of the mean of the class shares, without leaving the logarithms."""
        ask = partial(member_log_shares, n_classes=self.n_classes)
        total: FloatArray = np.array(-np.inf)
        with np.errstate(divide="ignore"):
            logs = np.log(weights / weights.sum())
        for log_weight, part in zip(logs, self._stream(ask, X, n_jobs, params), strict=True):
            total = np.logaddexp(total, part + log_weight)
        return total

    def decisions(
        self, X: Any, weights: FloatArray | None, n_jobs: int | None, params: dict[str, Any] | None
    ) -> FloatArray:
        """Mean of the decision functions."""
        ask = partial(member_decisions, n_classes=self.n_classes)
        return combining.mean(self._stream(ask, X, n_jobs, params), weights)

    def leaves(self, X: Any, n_jobs: int | None) -> IntArray:
        """There are none."""
        raise AttributeError("Leaves are for weald's own trees, not for members of other kinds.")

    def importances(self) -> FloatArray:
        """Importance of each column in each member, if the members know it."""
        try:
            each = np.array([member.feature_importances_ for member in self.members])
        except AttributeError as error:
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a "
                "feature_importances_ attribute"
            ) from error
        return each.reshape(len(self), self.per_round, -1)

    def estimators(self) -> Sequence[Any]:
        """The members themselves, in a list of the user's own."""
        if self.grid:
            shape = (len(self), self.per_round)
            return MemberGrid(shape, lambda t, k: self.members[t * self.per_round + k])
        return list(self.members)

    def state(self) -> PlainMembers:
        """All but the members themselves as plain values."""
        values = {
            "kind": "foreignmembers",
            "seed": self.seed,
            "n_classes": self.n_classes,
            "per_round": self.per_round,
            "grid": self.grid,
            "finite": self.finite,
        }
        arrays: dict[str, npt.NDArray[Any]] = {}
        if self.factors is not None:
            arrays["factors"] = np.array(self.factors)
        return PlainMembers(values, arrays, list(self.members))

    def _stream(
        self, ask: Any, X: Any, n_jobs: int | None, params: dict[str, Any] | None
    ) -> Iterator[FloatArray]:
        columns = (self._columns(t) for t in range(len(self.members)))
        return stream(ask, self.members, columns, X, n_jobs, params=params)

    def _columns(self, t: int) -> IntArray | None:
        """The columns of a member; None: all."""
        if self.sampling is None or self.sampling.columns == 0:
            return None
        return self.columns_of(t)

    def _ask(self, vote: bool) -> Any:
        if self.n_classes == 0:
            return member_finite_values if self.finite else member_values
        return partial(member_shares, n_classes=self.n_classes, vote=vote)

    def _shaped(self, values: FloatArray) -> FloatArray:
        if self.n_classes:
            return values[:, None, :]
        return values.reshape(len(values), -1, 1)
