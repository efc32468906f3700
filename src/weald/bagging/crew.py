"""The members of an ensemble in the making: what they are fitted to, and how.

A crew reads the data for its kind of members and makes any of them on demand. It lives as long as a
fit; what stays is a bag (:mod:`weald.members.bag`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from weald import _engine as engine
from weald.members.bag import MemberBag, TreeBag
from weald.input.table import check_weights, check_X_fit
from weald.members.views import Templates
from weald.members.weighted_out_of_bag import WeighingOutOfBag
from weald.members.foreign import fit_members
from weald.members.out_of_bag import OutOfBag
from weald.params.growth import (
    GrowthParams,
    check_choice,
    resolve_growth,
    resolve_max_features,
    resolve_prune,
)
from weald.input.raw_table import keep_X_fit
from weald.input.targets import warn_of_shared_bins
from weald.sampling import Sampling

__all__ = ["Look", "MemberCrew", "TreeCrew"]

FloatArray = npt.NDArray[np.float64]


class TreeCrew:
    """Trees of weald, all grown in one call of the engine.

    Attributes
    ----------
    target : array of shape (n, n_outputs)
        Class codes, or numbers.
    weights : array of shape (n,), optional
        Weights of the rows, for drawing them or else for the members.
    X : float matrix, for out-of-bag predictions
    """

    def __init__(self, ensemble: Any, X: Any, y: Any, sample_weight: Any) -> None:
        tree = clone(ensemble.estimator_)
        table = check_X_fit(ensemble, X, categorical_features=tree.categorical_features)
        n = len(table.X)
        self.target = tree._read_target(y, n)
        self.weights = check_weights(sample_weight, n)
        # The classes' weights are the member's own business: rows are not drawn by them. But rows
        # of a class without weight count as absent.
        self._class_weights = tree._row_weights(self.target, None)
        if self._class_weights is not None and not self._class_weights.all():
            there = (self._class_weights > 0).astype(np.float64)
            self.weights = there if self.weights is None else self.weights * there
            if not self.weights.any():
                raise ValueError("class_weight and sample_weight leave every row without weight.")
        self._tree = tree
        self._table = table.without_weightless_categories(self.weights)
        self._threads = engine.resolve_threads(ensemble.n_jobs)
        self.X = self._table.X
        ensemble.categories_ = tree.categories_ = list(self._table.categories)
        for name in ("n_outputs_", "classes_", "n_classes_"):
            if hasattr(tree, name):
                setattr(ensemble, name, getattr(tree, name))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(ensemble, name):
                setattr(tree, name, getattr(ensemble, name))

    def grower(self, sampling: Sampling, seed: int) -> Callable[[int, int], engine.Forest]:
        """A function that grows the trees first .. last - 1."""
        weights = self._times_class_weights(sampling.member_weights(self.weights))
        growth = self._resolve(sampling, weights)
        table, tree = self._table, self._tree
        warn_of_shared_bins(tree, table, growth.max_bins)
        matrix = engine.bin_table(
            table.X,
            table.n_categories,
            growth.max_bins,
            growth.keys,
            self._times_class_weights(self.weights),
            self._threads,
        )
        target = tree._engine_target(self.target, weights)

        def grow(first: int, last: int) -> engine.Forest:
            return engine.grow_forest(
                matrix,
                target,
                growth.criterion,
                growth.rules,
                sampling.draw,
                False,
                seed,
                first,
                last,
                self._threads,
                False,
            )

        return grow

    def _times_class_weights(self, weights: FloatArray | None) -> FloatArray | None:
        if self._class_weights is None or weights is None:
            return weights if self._class_weights is None else self._class_weights
        product: FloatArray = weights * self._class_weights
        return product

    def _resolve(self, sampling: Sampling, weights: FloatArray | None) -> GrowthParams:
        tree, table = self._tree, self._table
        present = sampling.present
        growth = resolve_growth(
            tree,
            tree._criteria,
            len(table.X) if present is None else int(np.count_nonzero(present)),
            table.is_categorical,
            sampling.drawn_rows * sampling.mean_weight(weights),
            splitter=check_choice("splitter", tree.splitter, ("best", "random")),
        )
        prune = resolve_prune(tree.ccp_alpha)
        assert not isinstance(prune, str)  # those take the other path
        growth.rules.prune_alpha = prune
        # Members that all favour the same of two equal columns are more alike than they need be.
        # Where nothing is drawn a member is the tree itself.
        growth.rules.random_ties = sampling.draws_rows or sampling.columns > 0
        # A tree draws from the columns it has.
        there = sampling.columns or len(table.categories)
        tree.max_features_ = resolve_max_features(tree.max_features, there)
        growth.rules.max_features = 0 if tree.max_features_ >= there else tree.max_features_
        return growth

    def bag(self, grown: engine.Forest, before: TreeBag | None = None) -> TreeBag:
        """What stays of the members; those of a bag before came first."""
        if before is None:
            return TreeBag(grown, Templates(self._tree))
        return TreeBag(grown, Templates(self._tree, before.templates, len(before)))


class MemberCrew:
    """Members of any kind, fitted by joblib to the user's own table.

    Attributes are those of :class:`TreeCrew`, but `X` is the table as it came.
    """

    def __init__(
        self, ensemble: Any, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any]
    ) -> None:
        ensemble.__dict__.pop("categories_", None)  # of trees that were here before
        self.X = keep_X_fit(ensemble, X)
        n = self.X.shape[0]
        self.target, self._y = ensemble._read_member_target(y, n)
        self.weights = check_weights(sample_weight, n)
        self._member_of = ensemble._member_of
        self._n_jobs = ensemble.n_jobs
        self._fit_params = fit_params
        self._n_classes = int(getattr(ensemble, "n_classes_", 0))

    def grower(self, sampling: Sampling, seed: int) -> Callable[[int, int], MemberBag]:
        """A function that fits the members first .. last - 1."""
        weights = sampling.member_weights(self.weights)

        def grow(first: int, last: int) -> MemberBag:
            columns = [sampling.columns_of(seed, t) for t in range(first, last)]
            jobs = (
                (
                    self._member_of(t, engine.member_seed(seed, t)),
                    sampling.rows(seed, t) if sampling.draws_rows else None,
                    columns[t - first],
                )
                for t in range(first, last)
            )
            members = fit_members(jobs, self.X, self._y, weights, self._fit_params, self._n_jobs)
            return MemberBag(members, columns, self._n_classes)

        return grow

    def bag(self, grown: MemberBag, before: MemberBag | None = None) -> MemberBag:
        """What stays of the members."""
        return grown


@dataclass(frozen=True, eq=False)
class Look:
    """A look at members that are new, and at what they say about the rows they did not draw."""

    watch: OutOfBag | WeighingOutOfBag
    crew: TreeCrew | MemberCrew
    sampling: Sampling
    seed: int
    n_jobs: int | None

    def at(self, grown: Any) -> None:
        """Score the ensemble after each member that was not there at the last look."""
        bag, watch = self.crew.bag(grown), self.watch
        while watch.n_members < len(bag) and not watch.stopped:
            t = watch.n_members
            rows = np.flatnonzero(self.sampling.rows(self.seed, t) == 0)
            values = np.empty((0, *watch.sums.shape[1:]))
            if len(rows):
                values = bag.one(t, self.crew.X, rows, watch.vote, self.n_jobs)
            watch.add(rows, values)
