"""What all tree estimators do: the course of a fit, and the questions to a fitted tree."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from weald import _engine as engine
from weald import pruning
from weald._engine import FloatArray, IntArray
from weald.input.fit_data import read_fit
from weald.input.labels import check_target, check_weights
from weald.input.state import check_trees
from weald.input.table import Table, check_X_predict
from weald.input.targets import TableEstimator, Weights, warn_of_shared_bins
from weald.members.formula import Formula, NoFormula, choice_of
from weald.params.growth import TreeParams, resolve_tree_params

CV_FOLDS = 5


class TreeBase(TableEstimator):
    """What every tree estimator shares: the course of a fit, and the questions to a fitted tree."""

    # Not metadata to be routed: see `fit`.
    __metadata_request__fit = {"check_input": UNUSED}  # noqa: RUF012
    __metadata_request__predict = {"check_input": UNUSED}  # noqa: RUF012

    tree_: engine.Tree

    # --- what the kinds of target differ in --------------------------------------------------

    @abstractmethod
    def _growth_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        """Weights that steer the splits."""

    @abstractmethod
    def _row_loss(self, y: npt.NDArray[Any], weights: Weights) -> pruning.RowLoss:
        """Loss of each row of `y` if a given node predicted it."""

    # --- pickling ----------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "tree_" in vars(self):
            check_trees(self, self.tree_)

    # --- fit ---------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Read, resolve, bin, grow, prune."""
        data = read_fit(self, X, y, sample_weight, tree=self)
        table, target, weights = data.table, data.y, data.weights
        assert table is not None
        params = self._resolve(table, target, weights)
        warn_of_shared_bins(self, table, params.max_bins)
        self.max_features_ = params.max_features
        self.tree_ = self._prune(
            self._grow(table, target, weights, params), table, target, weights, params
        )
        return self

    def _resolve(self, table: Table, target: npt.NDArray[Any], weights: Weights) -> TreeParams:
        growth = self._growth_weights(target, weights)
        n, total = len(table.X), float(len(table.X))
        if growth is not None:  # rows of weight 0 count as absent
            n, total = int(np.count_nonzero(growth)), float(growth.sum())
        return resolve_tree_params(self, self._criteria, n, table.columns, total)

    def _grow(
        self, table: Table, target: npt.NDArray[Any], weights: Weights, params: TreeParams
    ) -> engine.Tree:
        growth = self._growth_weights(target, weights)
        matrix = table.binned(params, growth, params.threads)
        grown_from = self._engine_target(target, growth)
        summed_up = grown_from if growth is weights else self._engine_target(target, weights)
        arrays = engine.grow(
            matrix,
            grown_from,
            summed_up,
            params.criterion,
            params.rules,
            params.threads,
        )
        n_classes = getattr(self, "n_classes_", [1] * self.n_outputs_)
        return engine.Tree(arrays, table.n_categories, np.atleast_1d(n_classes))

    def _prune(
        self,
        tree: engine.Tree,
        table: Table,
        target: npt.NDArray[Any],
        weights: Weights,
        params: TreeParams,
    ) -> engine.Tree:
        alpha = params.prune
        self.__dict__.pop("ccp_path_", None)
        if isinstance(alpha, str) and tree.node_count == 1:
            alpha = 0.0  # nothing to cut
        if isinstance(alpha, str):
            choice = self._choose_alpha(tree, table, target, weights, params)
            self.ccp_path_ = choice
            alpha = choice.best if alpha == "cv" else choice.one_se
        self.ccp_alpha_ = alpha
        return pruning.prune_cost_complexity(tree, alpha) if alpha > 0 else tree

    def _choose_alpha(
        self,
        tree: engine.Tree,
        table: Table,
        target: npt.NDArray[Any],
        weights: Weights,
        params: TreeParams,
    ) -> pruning.AlphaChoice:
        present = np.arange(len(table.X)) if weights is None else np.flatnonzero(weights)
        n = len(present)
        if n < 2 * CV_FOLDS:
            raise ValueError(
                f"ccp_alpha={self.ccp_alpha!r} needs at least {2 * CV_FOLDS} rows to "
                f"cross-validate, got n_samples={n}: give a number instead."
            )
        folds = []
        for inside, outside in self._splitter(target[present], params.rules.seed):
            train, test = present[inside], present[outside]
            w_train = None if weights is None else weights[train]
            part = replace(table, X=table.X[train])
            grown = self._grow(part, target[train], w_train, params)
            w_test = np.ones(len(test)) if weights is None else weights[test]
            folds.append((grown, table.X[test], self._row_loss(target[test], w_test), w_test))
        return pruning.choose_alpha(tree, folds)

    def _splitter(self, target: npt.NDArray[Any], seed: int) -> Any:
        return KFold(CV_FOLDS, shuffle=True, random_state=seed).split(target)

    def prune(self, X_val: Any, y_val: Any, sample_weight: Any = None) -> Any:
        """Reduced-error pruning: cut back, bottom-up, while the error on these rows does not rise.

        Parameters
        ----------
        X_val, y_val : the validation rows
        sample_weight : array-like, optional

        Returns
        -------
        self
        """
        check_is_fitted(self)
        X = check_X_predict(self, X_val)
        target = self._read_validation_target(y_val, len(X))
        weights = check_weights(sample_weight, len(X))
        losses = pruning.node_losses(
            self.tree_, self.tree_.apply(X), self._row_loss(target, weights)
        )
        self.tree_ = pruning.prune_reduced_error(self.tree_, losses)
        return self

    def _read_validation_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        target = check_target(y, n)
        if target.shape[1] != self.n_outputs_:
            raise ValueError(
                f"y_val has {target.shape[1]} outputs, the tree was fitted with {self.n_outputs_}."
            )
        return target

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Effective alphas and total leaf impurities along minimal cost-complexity pruning.

        Returns
        -------
        Bunch with ``ccp_alphas`` and ``impurities``
        """
        fresh = clone(self)  # a fitted tree stays as it is
        data = read_fit(fresh, X, y, sample_weight, tree=fresh)
        assert data.table is not None
        params = fresh._resolve(data.table, data.y, data.weights)
        sequence = pruning.CutSequence.of(fresh._grow(data.table, data.y, data.weights, params))
        return Bunch(
            ccp_alphas=np.concatenate([[0.0], sequence.alpha]), impurities=sequence.impurity
        )

    # --- questions to a fitted tree -----------------------------------------------------------

    def _leaf_values(self, X: Any) -> FloatArray:
        X = check_X_predict(self, X)
        return self.tree_.leaf_values(X, self._threads())

    def _formula(self) -> Formula:
        """The prediction as a formula of one tree."""
        check_is_fitted(self)
        if self.n_outputs_ > 1:
            raise NoFormula("It predicts several targets.")
        tree = self.tree_
        return Formula(lambda t, k: tree, 1, np.zeros(tree.max_n_classes), **choice_of(self))

    def apply(self, X: Any, check_input: bool = True) -> IntArray:
        """Number of the leaf each row ends in."""
        X = check_X_predict(self, X)
        return self.tree_.apply(X, self._threads())

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """Sparse indicator (n, node_count) of the nodes each row passes."""
        X = check_X_predict(self, X)
        return self.tree_.decision_path(X, self._threads())

    def explain_path(self, X: Any) -> Any:
        """Say in words why each row is predicted as it is.

        Returns
        -------
        list of :class:`weald.explain.RowPath`
        """
        from weald.explain import explain_path

        return explain_path(self, X)

    def get_depth(self) -> int:
        """Depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the impurity decrease due to each column."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()
