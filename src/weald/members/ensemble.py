"""What users can ask of every ensemble about its members.

``estimators_``, ``member_weights_``, ``member_predictions(X)`` and, where rows are drawn,
``in_bag_`` and ``estimators_samples_``. If the members are trees of the engine there are
``forest_`` and ``leaf_index(X)`` as well.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from weald import _engine as engine
from weald._engine import FloatArray, IntArray
from weald.input.state import check_trees, is_whole, require
from weald.members.base import Members
from weald.members.foreign_members import ForeignMembers
from weald.members.formula import Formula, NoFormula
from weald.members.out_of_bag import OutOfBag
from weald.members.trees import Trees

__all__ = ["DrawingEnsemble", "Ensemble", "StagedScore"]


class Ensemble:
    """An estimator that holds its members as :class:`weald.members.base.Members`."""

    n_estimators_: int
    _members: Members

    def _check_members(self, *, same_target: bool = True) -> None:
        """Check what came out of a pickle, if there are members."""
        if not self.__sklearn_is_fitted__():
            return
        members = self._members
        require(isinstance(members, Members), self, "what holds its members")
        require(is_whole(self.n_estimators_, len(members), len(members)), self, "n_estimators_")
        if isinstance(members, ForeignMembers):  # memory is taken for each of their classes
            classes = getattr(self, "classes_", [])
            lists = classes if isinstance(classes, list) else [classes]
            most = max([2, *map(len, lists)])  # in a model of numbers members may vote, too
            require(members.n_classes <= most, self, "the number of classes of its members")
        if isinstance(members, Trees):
            for forest in members.forests:
                check_trees(self, forest, same_target=same_target)

    def _fitted_members(self) -> Members:
        """The members, if there are any."""
        try:
            return self._members
        except AttributeError:  # checking first would cost as much as predicting one row
            check_is_fitted(self)
            raise

    def __sklearn_is_fitted__(self) -> bool:
        return "_members" in self.__dict__

    @property
    def _combination(self) -> str:
        """How members become one prediction, each counting by `member_weights_`.

        "mean" of numbers or class shares; "votes"; "median"; "sum" of terms of a raw prediction,
        from a start; "scores": the same, from 0, of classifiers; "other".
        """
        return "mean"

    def _terms(self, X: Any) -> Iterator[FloatArray]:
        """What each round adds to a raw prediction, its weight not included, shape (n, n_raw)."""
        raise AttributeError(f"{type(self).__name__} is not a sum of its members.")

    def _raw_start(self, X: Any) -> FloatArray:
        """The raw prediction before the first round, shape (n, n_raw) or one that fits it."""
        return np.zeros((1, 1))

    def _formula(self) -> Formula:
        """The prediction as a formula of trees.

        Raises
        ------
        NoFormula
            Says why there is none.
        """
        raise NoFormula(f"A {type(self).__name__} is no formula of trees.")

    def _jobs(self) -> int | None:
        """Threads, or jobs, for questions to the members."""
        jobs: int | None = getattr(self, "n_jobs", None)
        return jobs

    @property
    def estimators_(self) -> Sequence[Any]:
        """The fitted members; trees of weald are made when they are asked for."""
        return self._fitted_members().estimators()

    @estimators_.setter
    def estimators_(self, members: Any) -> None:
        raise AttributeError(
            f"The estimators_ of {type(self).__name__} cannot be set: add members by warm_start="
            "True and a larger n_estimators, or put the predictions of several ensembles together "
            "by weald.combining."
        )

    @property
    def forest_(self) -> engine.Forest:
        """The members, if they are trees grown by the engine."""
        members = self._fitted_members()
        if not isinstance(members, Trees) or len(members.forests) != 1:
            raise AttributeError(
                "forest_ is only there if the members are weald's trees, one in each round."
            )
        return members.forest

    @property
    def member_weights_(self) -> FloatArray:
        """How much each member counts: all the same, unless the ensemble says otherwise."""
        return np.ones(len(self._fitted_members()))

    def leaf_index(self, X: Any) -> IntArray:
        """Number of the leaf each row ends in, in each tree.

        Returns
        -------
        array of shape (n, n_estimators_), or (n, n_estimators_, trees of a round) if a round has
        several
        """
        members = self._fitted_members()
        leaves = members.leaves(members.read(self, X), self._jobs())
        return leaves[:, :, 0] if leaves.shape[2] == 1 else leaves

    def __len__(self) -> int:
        return len(self._fitted_members())

    def __getitem__(self, t: Any) -> Any:
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


class StagedScore:
    """``staged_score`` of ensembles that make rounds one after the other."""

    staged_predict: Any

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """:meth:`score` after 1, 2, ... rounds: the accuracy of classifiers, else R²."""
        yield from self._ratings(self.staged_predict(X), y, sample_weight)

    def _ratings(self, stages: Iterator[Any], y: Any, weights: Any) -> Iterator[float]:
        return (self._rated(y, said, weights) for said in stages)

    def _rated(self, y: Any, said: Any, weights: Any) -> float:
        score = accuracy_score if is_classifier(self) else r2_score
        return float(score(y, said, sample_weight=weights))


class DrawingEnsemble(Ensemble):
    """An ensemble whose members see rows of their own."""

    oob_score_: float
    oob_score_curve_: FloatArray
    oob_error_curve_: FloatArray
    oob_decision_function_: FloatArray  # of classifiers
    n_outputs_: int

    @abstractmethod
    def _by_output(self, values: FloatArray, /) -> Any:
        """Values (..., n_outputs, n_classes) as users get them."""

    def member_predictions(self, X: Any) -> Any:
        """What each member says.

        Returns
        -------
        array of shape (n_estimators_, n) or (n_estimators_, n, n_outputs) for numbers,
        (n_estimators_, n, n_classes_) for class shares (votes, if the members give no shares); a
        list of these for several outputs
        """
        members = self._fitted_members()
        return self._by_output(members.each(members.read(self, X), self._jobs()))

    def _keep_out_of_bag(self, watch: OutOfBag) -> None:
        """Note the out-of-bag prediction on self: class shares here, regressors note numbers."""
        # Several outputs come last, as in scikit-learn: (n, n_classes, n_outputs).
        prediction, several = watch.prediction, self.n_outputs_ > 1
        self.oob_decision_function_ = prediction.transpose(0, 2, 1) if several else prediction[:, 0]

    def _keep_scores(self, watch: OutOfBag | None) -> None:
        """Note the out-of-bag scores, and forget those of an earlier fit."""
        for name in [name for name in self.__dict__ if name.startswith(("oob_", "_oob_"))]:
            if name != "oob_score":  # the one that is a parameter
                del self.__dict__[name]
        self.__dict__.pop("_calibration", None)
        if watch is None:
            return
        watch.warn_of_rows_never_left_out()
        self.oob_score_ = watch.score
        self.oob_score_curve_ = np.array(watch.score_curve)
        self.oob_error_curve_ = np.array(watch.error_curve)
        self._keep_out_of_bag(watch)

    @property
    def in_bag_(self) -> npt.NDArray[np.uint32]:
        """How often each row was drawn for each member, shape (n_estimators_, n); read-only."""
        return self._fitted_members().in_bag()

    @property
    def estimators_samples_(self) -> list[npt.NDArray[np.intp]]:
        """The rows drawn for each member, each as often as it was drawn; made anew."""
        members = self._fitted_members()
        return [members.rows_of(t) for t in range(len(members))]
