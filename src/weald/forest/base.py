"""What all forests do: the course of a fit, and the questions to a fitted forest."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from weald import _engine as engine
from weald._engine import FloatArray, IntArray
from weald.fitting.independent import IndependentMembers, Make, drive_members, make_trees
from weald.fitting.warm_start import check_same, check_size, drawing_of, shape_of
from weald.input.fit_data import FitData, read_fit
from weald.input.state import numbers, require
from weald.input.targets import TableEstimator, Weights, all_or_nothing, warn_of_shared_bins
from weald.members.ensemble import DrawingEnsemble
from weald.members.formula import Formula, mean_formula
from weald.members.out_of_bag import OutOfBag, watch_settings
from weald.members.templates import Templates, as_template, tree_like
from weald.members.trees import Trees
from weald.params.ensembles import ForestParams, resolve_forest_params
from weald.params.growth import resolve_seed
from weald.sampling import Sampling, resolve_draw


class ForestBase(DrawingEnsemble, TableEstimator):
    """What every forest shares: the course of a fit, and the questions to a fitted forest."""

    seed_: int
    _members: Trees
    # Set by each kind of forest.
    _member_kind: type
    _splitter: str

    # --- what the kinds of target differ in --------------------------------------------------

    @abstractmethod
    def _out_of_bag(self, target: npt.NDArray[Any], settings: dict[str, Any]) -> OutOfBag:
        """A watch over the out-of-bag prediction of these targets."""

    def _strata(self, target: npt.NDArray[Any]) -> npt.NDArray[np.int32] | None:
        """Class of each row, if it can be drawn by class."""
        return None

    def _balances_draws(self) -> bool:
        """Classes weigh by their inverse frequency in each draw."""
        return False

    # --- pickling ----------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        self._check_members()
        if "_train_targets" not in vars(self):
            return
        members, targets, weights = self._members, self._train_targets, self._train_weights
        assert members.sampling is not None
        n = members.sampling.n_rows
        require(targets.shape == (n, members.forest.n_outputs), self, "the targets it keeps")
        require(np.isfinite(targets).all(), self, "the targets it keeps")
        require(weights is None or numbers(weights, n, 0), self, "the weights it keeps")
        for t in range(len(members)):
            require(members.forest.leaf_rows(t)[0].max() < n, self, "the rows of a leaf")

    # --- fit ---------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        """Read, resolve, bin, grow, and keep what comes of it."""
        with all_or_nothing(self):
            before = dict(self.__dict__)
            data = read_fit(self, X, y, sample_weight, tree=self)
            sampling = self._resolve_draw(data.y, data.weights, groups)
            drawn_weights = self._drawn_weights(data.y, data.weights, sampling)
            params = self._resolve(data, sampling, drawn_weights)
            members = self._begin_or_continue(before, sampling, params)
            make = self._grower(data, drawn_weights, sampling, params)
            watch = self._watch(data.y, sampling, params)
            work = IndependentMembers(make, members, watch, data.X, params.threads)
            drive_members(work, self, params)
            assert isinstance(work.members, Trees)
            self._keep(work.members, params)
            self._keep_scores(watch)
            self._keep_targets(data.y, drawn_weights, params)
            return self

    def _resolve_draw(self, target: npt.NDArray[Any], weights: Weights, groups: Any) -> Sampling:
        if groups is not None and not self.bootstrap:
            raise ValueError("groups are drawn as a whole, so they need bootstrap=True.")
        return resolve_draw(
            len(target),
            bootstrap=self.bootstrap,
            max_samples=self.max_samples,
            weights=weights,
            groups=groups,
            classes=self._strata(target),
        )

    def _drawn_weights(
        self, target: npt.NDArray[Any], weights: Weights, sampling: Sampling
    ) -> Weights:
        """What drawn rows weigh, besides how often they were drawn."""
        return sampling.member_weights(weights)

    def _resolve(self, data: FitData, sampling: Sampling, drawn_weights: Weights) -> ForestParams:
        present = sampling.present
        assert data.table is not None
        params = resolve_forest_params(
            self,
            self._criteria,
            len(data) if present is None else int(np.count_nonzero(present)),
            data.table.columns,
            sampling.drawn_rows * sampling.mean_weight(drawn_weights),
            splitter=self._splitter,
            draws_rows=sampling.draws_rows,
        )
        warn_of_shared_bins(self, data.table, params.max_bins)
        return params

    def _begin_or_continue(
        self, before: dict[str, Any], sampling: Sampling, params: ForestParams
    ) -> Trees:
        """The trees there are already, to be added to (warm start); none for a new forest."""
        classes = getattr(self, "classes_", None)
        template = as_template(
            tree_like(self._member_kind, self),
            self,
            params.max_features,
            n_outputs=self.n_outputs_,
            classes=classes,
        )
        if not params.warm_start or "_members" not in before:
            self.seed_ = resolve_seed(self.random_state)
            return Trees([], Templates(template), self.seed_, sampling)
        old: Trees = before["_members"]
        self.seed_ = before["seed_"]
        kept, was_drawn = "_train_targets" in before, old.sampling
        assert was_drawn is not None
        was = {"criterion": before["_criterion"], "keep_targets": kept, **shape_of(before)}
        now = {"criterion": params.criterion, "keep_targets": params.keep_rows}
        now |= shape_of(self.__dict__)
        # Trees that saw all rows, and kept none of them, may be joined by trees of other rows.
        if kept or was_drawn.draws_rows or sampling.draws_rows:
            was, now = was | drawing_of(was_drawn), now | drawing_of(sampling)
        check_same(was, now)
        check_size(params.n_estimators, len(old))
        members = old.prefix(len(old))  # a copy: the old ones stay if the fit fails
        members.sampling = sampling
        members.go_on_with(template)
        return members

    def _grower(
        self, data: FitData, drawn_weights: Weights, sampling: Sampling, params: ForestParams
    ) -> Make:
        """What grows the trees, from a table that is binned once."""
        assert data.table is not None
        return make_trees(
            data.table.binned(params, data.weights, params.threads),
            self._engine_target(data.y, drawn_weights),
            params,
            sampling.draw,
            self.seed_,
            params.threads,
            balance=self._balances_draws(),
            keep_rows=params.keep_rows,
        )

    def _keep(self, members: Trees, params: ForestParams) -> None:
        self._members = members
        self.n_estimators_ = len(members)
        self.max_features_ = params.max_features
        self._criterion = params.criterion

    def _watch(
        self, target: npt.NDArray[Any], sampling: Sampling, params: ForestParams
    ) -> OutOfBag | None:
        if not params.out_of_bag and params.patience is None:
            return None
        return self._out_of_bag(target, watch_settings(sampling, params))

    def _keep_targets(
        self, target: npt.NDArray[Any], weights: Weights, params: ForestParams
    ) -> None:
        """Keep what the quantiles of leaves need: targets, and weights beside the draws."""
        for name in ("_train_targets", "_train_weights"):
            self.__dict__.pop(name, None)
        if params.keep_rows:
            self._train_targets = target
            self._train_weights = None if weights is None else weights.copy()

    # --- questions to a fitted forest -----------------------------------------------------------

    def _values(self, X: Any) -> FloatArray:
        """Mean of the trees' values, shape (n, n_outputs, max_n_classes)."""
        members = self._fitted_members()
        return members.mean(members.read(self, X), None, False, self.n_jobs)

    def _formula(self) -> Formula:
        return mean_formula(self)

    def apply(self, X: Any) -> IntArray:
        """Number of the leaf each row ends in, in each tree; shape (n, n_estimators_)."""
        return self.leaf_index(X)

    def decision_path(self, X: Any) -> tuple[Any, IntArray]:
        """The nodes each row passes.

        Returns
        -------
        indicator : sparse matrix of shape (n, number of nodes of all trees)
        n_nodes_ptr : array of shape (n_estimators_ + 1,)
            Columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]`` are the nodes of tree t.
        """
        forest = self.forest_
        paths = engine.paths_of(forest.tree, self.leaf_index(X))
        return paths, np.concatenate([[0], np.cumsum(forest.node_counts)])

    def importance(self, X: Any = None, y: Any = None, kind: Any = None, **settings: Any) -> Any:
        """How much each column matters, with standard errors.

        Parameters
        ----------
        X, y : rows
            Those of the fit, to look out of the bag, or any others for "permutation". Not needed
            for "impurity".
        kind : {"impurity", "unbiased", "permutation"}, optional
            By default "permutation" if X is given, else "impurity".
        **settings
            See :func:`weald.explain.importance.column_importance`.

        Returns
        -------
        weald.explain.importance.Importance
        """
        from weald.explain.importance import column_importance

        return column_importance(self, X, y, kind, **settings)

    @property
    def estimator_(self) -> Any:
        """A tree like the members, not fitted."""
        check_is_fitted(self)
        return clone(self._members.like)

    def _importances(self) -> FloatArray:
        """Share of the impurity decrease due to each column, in each tree that splits at all."""
        per_tree: FloatArray = self._fitted_members().importances()[self.forest_.node_counts > 1, 0]
        totals = per_tree.sum(axis=1, keepdims=True)
        return per_tree / np.where(totals > 0, totals, 1.0)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the impurity decrease due to each column, averaged over the trees."""
        shares = self._importances()
        if len(shares) == 0:
            return np.zeros(self.n_features_in_)
        mean: FloatArray = shares.mean(axis=0)
        total = float(mean.sum())
        return mean / total if total > 0 else mean

    @property
    def feature_importances_std_error_(self) -> FloatArray:
        """Standard error of ``feature_importances_``, over the trees; NaN for a single tree."""
        shares = self._importances()
        if len(shares) < 2:
            return np.full(self.n_features_in_, np.nan)
        error: FloatArray = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
        return error
