"""What conditional classifiers and regressors share: the gate, its questions, and its picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.conditional.gate import Gate, learn_gate
from weald.crossfit.candidate_risks import LevelOneRows
from weald.crossfit.folds import Fold, make_folds
from weald.crossfit.mixture import Mixture
from weald.crossfit.problem import Problem, Rows
from weald.input.fit_data import FitData
from weald.input.raw_table import take_rows
from weald.input.state import require
from weald.params.growth import check_choice, check_flag

__all__ = ["Conditional"]


class Conditional(Mixture):
    """A mixture whose weights depend on the row."""

    method = "simplex"  # of the weights that are best everywhere
    _hope = True  # a member may be bad everywhere but in its region
    _gate: Gate

    @property
    def _combination(self) -> str:
        return "other"

    def _folds(self, data: FitData, groups: Rows | None, rows: Rows) -> list[Fold]:
        return make_folds(self.cv, data.X, data.y, groups, classes=self._classifier, present=rows)

    def _keep_rule(self, problem: Problem, level: LevelOneRows) -> None:
        """Learn the gate from the level-1 rows."""
        if not problem.risk.by_row:
            raise ValueError(
                f"A gate learns from the loss of each row, but risk={self.risk!r} is not a mean "
                "over rows: use a loss of weald.losses."
            )
        overall = self.cv_risks_.weights[level.chosen]
        self._gate, weights, self.risk_ = learn_gate(
            self.gate,
            take_rows(problem.data.X, level.rows),
            level,
            problem.risk,
            overall,
            mode=check_choice("mode", self.mode, ("mix", "choose")),
            outputs=check_flag("outputs", self.outputs),
            seed=self.seed_,
            n_jobs=problem.threads,
        )
        self.overall_risk_ = problem.risk.mixed(overall, level.Z, level.y, level.w)
        share = np.zeros(len(self.cv_risks_.weights))
        kept = [level.chosen[m] for m in self._gate.kept]
        summing_to_one = weights / weights.sum(axis=1, keepdims=True)
        said = level.Z[:, self._gate.kept]
        self._see_mixed(level, np.einsum("nm,nmk->nk", summing_to_one, said))
        share[kept] = level.w @ weights / level.w.sum()
        self.cv_risks_.weights[:] = share
        self._kept = set(kept)

    def _has_say(self, m: int) -> bool:
        return m in self._kept

    # --- questions --------------------------------------------------------------------------------

    @property
    def gate_(self) -> Any:
        """The fitted gate: a regressor of what each candidate loses, relative to their mean."""
        self._fitted_members()
        return self._gate.model

    def gate_weights(self, X: Any) -> FloatArray:
        """How much each member counts on each row, shape (n, n_estimators_); rows sum to 1."""
        members = self._fitted_members()
        rows = members.read(self, X)
        return self._gate_weights(rows, self._each(rows))

    def ruling_member(self, X: Any) -> npt.NDArray[Any]:
        """Name of the member that counts most, for each row."""
        names = np.array(list(self.named_estimators_), dtype=object)
        return np.asarray(names[self.gate_weights(X).argmax(axis=1)])

    def _each(self, rows: Any) -> FloatArray:
        """What each member says, shape (n, M, K)."""
        return self._fitted_members().each(rows, 1)[:, :, 0].transpose(1, 0, 2)

    def _gate_weights(self, rows: Any, said: FloatArray) -> FloatArray:
        weights = self._gate.weights(rows, said)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _mixed(self, X: Any) -> FloatArray:
        rows = self._fitted_members().read(self, X)
        said = self._each(rows)
        return np.asarray(np.einsum("nm,nmk->nk", self._gate_weights(rows, said), said))

    def plot_regions(self, X: Any, columns: Any = None, ax: Any = None) -> Any:
        """Which member rules where: rows of a table in two columns, coloured by ruling member.

        Parameters
        ----------
        X : table
        columns : pair of int or str, optional
            Default: those on which the weights depend most, columns of numbers first.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        from weald.conditional.regions import plot_regions

        return plot_regions(self, X, columns, ax)

    def _check_state(self) -> None:
        super()._check_state()
        if self.__sklearn_is_fitted__():
            require(isinstance(self._gate, Gate), self, "its gate")
            require(len(self._gate.kept) == len(self._members), self, "whom its gate knows")
