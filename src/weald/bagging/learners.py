"""The members of a bag in the making: what they are fitted to, and how.

weald's own trees are grown by the engine: a bag of trees is a forest with another draw. Any other
estimator is cloned, seeded and fitted to the user's own table by joblib; weights carry how often
each row was drawn if ``fit`` takes weights, else rows are repeated. weald's trees with a cost
matrix or ``ccp_alpha="cv"`` go the second way. Costs then apply to the mean of the shares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from weald import _engine as engine
from weald._engine import FloatArray
from weald.fitting.independent import Make, make_trees
from weald.input.fit_data import FitData
from weald.input.targets import warn_of_shared_bins
from weald.members.base import Members
from weald.members.foreign import fit_members
from weald.members.foreign_members import ForeignMembers
from weald.members.templates import Templates, as_template
from weald.members.trees import Trees
from weald.params.growth import GrowthParams, resolve_max_features, resolve_member_tree
from weald.sampling import Sampling

__all__ = ["BaggingForeignLearner", "BaggingTreeLearner"]


class BaggingTreeLearner:
    """Trees of weald, all grown in one call of the engine.

    Parameters
    ----------
    ensemble : estimator
        Gets what is known of targets and columns.
    """

    def __init__(self, ensemble: Any) -> None:
        self.tree = clone(ensemble.estimator_)
        self._ensemble = ensemble
        self._threads = engine.resolve_threads(ensemble.n_jobs)
        self._class_weights: FloatArray | None = None

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        target: npt.NDArray[Any] = self.tree._read_target(y, n)
        for name in ("n_outputs_", "classes_", "n_classes_"):
            if hasattr(self.tree, name):
                setattr(self._ensemble, name, getattr(self.tree, name))
        return target

    def _row_weights(
        self, target: npt.NDArray[Any], weights: FloatArray | None
    ) -> FloatArray | None:
        """The classes' weights are the members' own business: rows are not drawn by them.

        But rows of a class without weight count as absent.
        """
        self._class_weights = self.tree._row_weights(target, None)
        if self._class_weights is None or self._class_weights.all():
            return weights
        there = (self._class_weights > 0).astype(np.float64)
        weights = there if weights is None else weights * there
        if not weights.any():
            raise ValueError("class_weight and sample_weight leave every row without weight.")
        return weights

    def begin(
        self, data: FitData, sampling: Sampling, seed: int, before: Members | None
    ) -> tuple[Members, Make]:
        """The members of a fit before, or none, and a function that makes more of them."""
        assert data.table is not None
        weights = self._times_class_weights(sampling.member_weights(data.weights))
        growth, max_features = self._resolve(data, sampling, weights)
        table, tree = data.table, self.tree
        warn_of_shared_bins(self._ensemble, table, growth.max_bins)
        template = as_template(
            tree,
            self._ensemble,
            max_features,
            n_outputs=tree.n_outputs_,
            classes=getattr(tree, "classes_", None),
        )
        matrix = table.binned(growth, self._times_class_weights(data.weights), self._threads)
        target = tree._engine_target(data.y, weights)
        make = make_trees(matrix, target, growth, sampling.draw, seed, self._threads)
        if before is None:
            return Trees([], Templates(template), seed, sampling), make
        assert isinstance(before, Trees)
        before.go_on_with(template)
        return before, make

    def _times_class_weights(self, weights: FloatArray | None) -> FloatArray | None:
        if self._class_weights is None or weights is None:
            return weights if self._class_weights is None else self._class_weights
        product: FloatArray = weights * self._class_weights
        return product

    def _resolve(
        self, data: FitData, sampling: Sampling, weights: FloatArray | None
    ) -> tuple[GrowthParams, int]:
        tree, table, present = self.tree, data.table, sampling.present
        assert table is not None
        growth = resolve_member_tree(
            tree,
            tree._criteria,
            len(data) if present is None else int(np.count_nonzero(present)),
            table.columns,
            sampling.drawn_rows * sampling.mean_weight(weights),
        )
        # Members that all favour the same of two equal columns are more alike than they need be.
        # Where nothing is drawn a member is the tree itself.
        growth.rules.random_ties = sampling.draws_rows or sampling.columns > 0
        # A tree draws from the columns it has.
        there = sampling.columns or len(table.categories)
        max_features = resolve_max_features(tree.max_features, there)
        growth.rules.max_features = 0 if max_features >= there else max_features
        return growth, max_features


class BaggingForeignLearner:
    """Members of any kind, fitted by joblib to the user's own table.

    Parameters
    ----------
    ensemble : estimator
    fit_params : dict
        What else goes to ``fit`` of the members.
    """

    tree = None

    def __init__(self, ensemble: Any, fit_params: dict[str, Any]) -> None:
        self._ensemble, self._fit_params = ensemble, fit_params
        self._y: npt.NDArray[Any] | None = None

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        target: npt.NDArray[Any]
        target, self._y = self._ensemble._read_member_target(y, n)
        return target

    def _row_weights(
        self, target: npt.NDArray[Any], weights: FloatArray | None
    ) -> FloatArray | None:
        return weights

    def begin(
        self, data: FitData, sampling: Sampling, seed: int, before: Members | None
    ) -> tuple[Members, Make]:
        """The members of a fit before, or none, and a function that makes more of them."""
        weights = sampling.member_weights(data.weights)
        ensemble, y = self._ensemble, self._y
        assert y is not None

        def fit(first: int, last: int) -> list[Any]:
            jobs = (
                (
                    ensemble._member_of(t, engine.member_seed(seed, t)),
                    sampling.rows(seed, t) if sampling.draws_rows else None,
                    sampling.columns_of(seed, t),
                )
                for t in range(first, last)
            )
            return fit_members(jobs, data.X, y, weights, self._fit_params, ensemble.n_jobs)

        n_classes = int(getattr(ensemble, "n_classes_", 0))
        return (ForeignMembers([], n_classes, seed, sampling) if before is None else before), fit
