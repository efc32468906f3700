"""A fitted additive model: where raw predictions start, and what each round adds, in that order.

The order is the same in training, in prediction, in stages and after a warm start, so that 50
rounds and 50 more are 100 rounds, to the last bit. DART changes how much earlier rounds count,
so it sums up all of them anew in every round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald._engine import FloatArray
from weald.input.fit_data import check_offset
from weald.input.raw_table import keep_X_predict
from weald.input.state import CheckedState, is_whole, numbers, require
from weald.members.base import Members
from weald.members.ensemble import Ensemble, StagedScore
from weald.members.formula import Formula, NoFormula, member_tree, trees_of
from weald.members.trees import Trees

__all__ = ["AdditiveEnsemble", "AdditiveModel", "Start"]

Scales = FloatArray | None  # of each round; None: 1


@dataclass(frozen=True, eq=False)
class Start(CheckedState):
    """Raw predictions before the first round: the same for all rows, or another model's.

    Attributes
    ----------
    constant : array of shape (n_raw,)
    model : callable, optional
        Gives the raw predictions (n, n_raw) of a table as users give it.
    """

    constant: FloatArray
    model: Callable[[Any], FloatArray] | None = None

    def _check_state(self) -> None:
        require(numbers(self.constant), self, "the constant")
        require(self.model is None or callable(self.model), self, "the model")

    def raw(self, table: Any, n: int, offset: FloatArray | None) -> FloatArray:
        """Shape (n, n_raw)."""
        F = np.empty((n, len(self.constant)))
        self.fill(F, table, offset)
        return F

    def fill(self, F: FloatArray, table: Any, offset: FloatArray | None) -> None:
        """The same in place."""
        F[:] = self.constant if self.model is None else self.model(table)
        if offset is not None:
            F += offset


@dataclass(eq=False)
class AdditiveModel(CheckedState):
    """``F = start + shift + offset + sum_t scale_t h_t``.

    Attributes
    ----------
    start : Start
    members : Members
    scales : array of shape (rounds,), optional
        Of each round; None: 1.
    members_vote : bool
        The members are classifiers, and say -1 or 1.
    used : int
        Rounds that predictions use.
    used_scales : array, optional
        What `scales` were when the last round that is used was made.
    shift : array of shape (n_raw,), optional
        Added to what is said of new rows, so that quantiles hold; not in fits.
    """

    start: Start
    members: Members
    scales: Scales = None
    members_vote: bool = False
    used: int = 0
    used_scales: Scales = None
    shift: FloatArray | None = None

    def _check_state(self) -> None:
        require(isinstance(self.start, Start), self, "where it starts")
        require(isinstance(self.members, Members), self, "its members")
        require(isinstance(self.members_vote, bool), self, "whether its members vote")
        if isinstance(self.members, Trees):
            classes = {forest.max_n_classes for forest in self.members.forests}
        else:
            classes = {getattr(self.members, "n_classes", 0) or 1}
        require(classes <= {2 if self.members_vote else 1}, self, "whether its members vote")
        require(is_whole(self.used, 0, len(self.members)), self, "the number of rounds in use")
        for scales in (self.scales, self.used_scales):
            require(scales is None or numbers(scales, len(self.members)), self, "the scales")
        require(self.shift is None or numbers(self.shift, self.n_raw), self, "the shift")

    @property
    def n_raw(self) -> int:
        """Raw predictions of a row."""
        return len(self.start.constant)

    def added(
        self,
        X: Any,
        F: FloatArray,
        first: int,
        last: int,
        n_jobs: int | None,
        scales: Scales = None,
    ) -> FloatArray:
        """F of shape (n, n_raw), and what the rounds first .. last - 1 add to it."""
        if first >= last:
            return F
        if self.members_vote and isinstance(self.members, Trees):
            sums = self.members.sum(X, scales, first=first, last=last, vote=True, n_jobs=n_jobs)
            total: FloatArray = F + (sums[:, :, 1] - sums[:, :, 0])
            return total
        if self.members_vote:
            for t in range(first, last):
                said = self.members.one(t, X, vote=True)
                sign = said[:, :, 1] - said[:, :, 0]
                F = F + (sign if scales is None else scales[t] * sign)
            return F
        sums = self.members.sum(X, scales, first=first, last=last, start=F, n_jobs=n_jobs)
        return sums.reshape(F.shape)

    def raw(self, ensemble: Any, X: Any, offset: Any, n_jobs: int | None) -> FloatArray:
        """F of new rows, shape (n, n_raw)."""
        rows, F = self._begin(ensemble, X, offset)
        return self.added(rows, F, 0, self.used, n_jobs, self.used_scales)

    def staged(
        self, ensemble: Any, X: Any, offset: Any, n_jobs: int | None
    ) -> Iterator[FloatArray]:
        """F after 1, 2, ... rounds, all that were made."""
        rows, F = self._begin(ensemble, X, offset)
        for t in range(len(self.members)):
            F = self.added(rows, F, t, t + 1, n_jobs, self.scales)
            yield F

    def _begin(self, ensemble: Any, X: Any, offset: Any) -> tuple[Any, FloatArray]:
        rows = self.members.read(ensemble, X)
        n = rows.shape[0]
        table = keep_X_predict(ensemble, X) if self.start.model is not None else None
        F = self.start.raw(table, n, check_offset(offset, n, self.n_raw))
        return rows, F if self.shift is None else F + self.shift

    def cut(self, rounds: int) -> None:
        """Keep the first rounds only."""
        self.members = self.members.prefix(rounds)
        if self.scales is not None:
            self.scales = self.scales[:rounds]

    def copy(self) -> AdditiveModel:
        """The same model, to be added to."""
        scales = None if self.scales is None else self.scales.copy()
        members = self.members.prefix(len(self.members))
        return AdditiveModel(self.start, members, scales, self.members_vote)


class AdditiveEnsemble(StagedScore, Ensemble):
    """An estimator that holds its members in an additive model."""

    _model: AdditiveModel

    @property
    def _members(self) -> Members:  # type: ignore[override]
        return self._model.members

    @property
    def _combination(self) -> str:
        return "sum"

    def _terms(self, X: Any) -> Iterator[FloatArray]:
        model = self._fitted_model()
        rows = model.members.read(self, X)
        nothing = np.zeros((rows.shape[0], model.n_raw))
        for t in range(len(model.members)):
            yield model.added(rows, nothing, t, t + 1, self._jobs())

    def _raw_start(self, X: Any) -> FloatArray:
        return self._fitted_model()._begin(self, X, None)[1]

    def _raw_formula(self) -> Formula:
        """Raw predictions as a formula of trees; what comes of them is left to the kinds."""
        model = self._fitted_model()
        trees = trees_of(model.members)
        if model.start.model is not None:
            raise NoFormula("It starts from the predictions of another model.")
        start = model.start.constant
        return Formula(
            tree=member_tree(trees),
            rounds=model.used,
            per_round=trees.per_round,
            start=start if model.shift is None else start + model.shift,
            weights=model.used_scales,
        )

    def _fitted_model(self) -> AdditiveModel:
        """The model, if there is one."""
        self._fitted_members()
        return self._model

    def _check_model(self) -> None:
        """Check the model that came out of a pickle."""
        require(isinstance(self._model, AdditiveModel), self, "its members")
        self._check_members(same_target=False)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__
