"""What all forests do: the walk of a fit, and the questions to a fitted forest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from weald import _engine as engine
from weald.input.table import Table, check_X_predict
from weald.params.ensembles import ForestParams, resolve_forest_params
from weald.fitting.growth import Look, grow_in_steps
from weald.members.views import (
    MemberTrees,
    Templates,
    fitted_tree,
    refuse_members,
    tree_template,
)
from weald.members.out_of_bag import OutOfBag
from weald.params.growth import resolve_seed
from weald.input.state import check_trees, is_whole, numbers, require
from weald.input.targets import (
    FloatArray,
    IntArray,
    TableEstimator,
    Weights,
    all_or_nothing,
    warn_of_shared_bins,
)
from weald.fitting.warm_start import check_same, check_size, drawing_of, shape_of
from weald.sampling import Sampling, resolve_draw


class ForestBase(TableEstimator):
    """What every forest shares: the walk of a fit, and the questions to a fitted forest."""

    forest_: engine.Forest
    seed_: int
    oob_score_: float
    oob_score_curve_: FloatArray
    oob_error_curve_: FloatArray
    _sampling: Sampling
    # Set by each kind of forest.
    _member_kind: type
    _splitter: str

    # --- what the kinds of target differ in --------------------------------------------------

    @abstractmethod
    def _out_of_bag(self, target: npt.NDArray[Any], settings: dict[str, Any]) -> OutOfBag:
        """A watch over the out-of-bag prediction of these targets."""

    @abstractmethod
    def _keep_out_of_bag(self, prediction: FloatArray, target: npt.NDArray[Any]) -> None:
        """Note the out-of-bag prediction (n, n_outputs, max_n_classes) on self."""

    def _strata(self, target: npt.NDArray[Any]) -> npt.NDArray[np.int32] | None:
        """Class of each row, if it can be drawn by class."""
        return None

    def _balances_draws(self) -> bool:
        """Classes weigh by their inverse frequency in each draw."""
        return False

    # --- pickling ----------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "forest_" not in vars(self):
            return
        check_trees(self, self.forest_)
        n_trees = self.forest_.n_trees
        require(is_whole(self.n_estimators_, n_trees, n_trees), self, "n_estimators_")
        require(isinstance(self._sampling, Sampling), self, "how rows were drawn")
        if "_train_targets" not in vars(self):
            return
        targets, weights = self._train_targets, self._train_weights
        n = self._sampling.n_rows
        require(targets.shape == (n, self.forest_.n_outputs), self, "the targets it keeps")
        require(np.isfinite(targets).all(), self, "the targets it keeps")
        require(weights is None or numbers(weights, n, 0), self, "the weights it keeps")
        for t in range(n_trees):
            require(self.forest_.leaf_rows(t)[0].max() < n, self, "the rows of a leaf")

    # --- fit ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Grow the forest.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, booleans, strings or categoricals; missing values are welcome.
        y : array-like of shape (n,) or (n, n_outputs)
            Labels of any type, or numbers.
        sample_weight : array-like of shape (n,), optional
            Where rows are drawn, they are drawn in proportion to their weight, and then count
            alike. Otherwise a row of weight k adds exactly what k copies of it add. A row of
            weight 0 is like its absence.
        groups : array-like of shape (n,), optional
            Rows of one group are drawn together, so that the out-of-bag score is about new groups.
            Their rows then keep their weights.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight, groups)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        before = dict(self.__dict__)
        table, target, weights = self._read(X, y, sample_weight)
        sampling = self._resolve_draw(target, weights, groups)
        drawn_weights = self._drawn_weights(target, weights, sampling)
        params = self._resolve(table, sampling, drawn_weights)
        warn_of_shared_bins(self, table, params.max_bins)
        forest = self._continued(before, table, sampling, params)
        self.seed_ = resolve_seed(self.random_state) if forest is None else before["seed_"]
        matrix = engine.bin_table(
            table.X, table.n_categories, params.max_bins, params.keys, weights, params.threads
        )
        grow = self._grower(matrix, self._engine_target(target, drawn_weights), sampling, params)
        watch = self._watch(target, sampling, params)
        look = None
        if watch is not None:
            look = Look(watch, table.X, sampling.draw, self.seed_, params.threads)
        self.forest_ = grow_in_steps(grow, forest, look, params, type(self).__name__)
        self.categories_ = list(table.categories)
        self.max_features_ = params.max_features
        self._templates = self._all_templates(before, forest)
        self._criterion = params.criterion
        self.n_estimators_ = self.forest_.n_trees
        self._sampling = sampling
        self._keep_scores(watch, target)
        self._keep_targets(target, drawn_weights, params)
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

    def _resolve(self, table: Table, sampling: Sampling, drawn_weights: Weights) -> ForestParams:
        present = sampling.present
        return resolve_forest_params(
            self,
            self._criteria,
            len(table.X) if present is None else int(np.count_nonzero(present)),
            table.is_categorical,
            sampling.drawn_rows * sampling.mean_weight(drawn_weights),
            splitter=self._splitter,
            draws_rows=sampling.draws_rows,
        )

    def _continued(
        self, before: dict[str, Any], table: Table, sampling: Sampling, params: ForestParams
    ) -> engine.Forest | None:
        """The trees there are already, to be added to (warm start); None for a new forest."""
        if not params.warm_start or "forest_" not in before:
            return None
        forest: engine.Forest = before["forest_"]
        kept, old = "_train_targets" in before, before["_sampling"]
        was = {"criterion": before["_criterion"], "keep_targets": kept, **shape_of(before)}
        now = {"criterion": params.criterion, "keep_targets": params.keep_rows}
        now |= shape_of({**self.__dict__, "categories_": list(table.categories)})
        # Trees that saw all rows, and kept none of them, may be joined by trees of other rows.
        if kept or old.draws_rows or sampling.draws_rows:
            was, now = was | drawing_of(old), now | drawing_of(sampling)
        check_same(was, now)
        check_size(params.n_estimators, forest.n_trees)
        return forest.prefix(forest.n_trees)  # a copy: the old one stays if the fit fails

    def _all_templates(self, before: dict[str, Any], grown: engine.Forest | None) -> Templates:
        """Of the members there are already, and of those to come."""
        template = tree_template(self._member_kind, self)
        template.max_features_ = self.max_features_
        if grown is None:
            return Templates(template)
        return Templates(template, before["_templates"], before["forest_"].n_trees)

    def _grower(
        self, matrix: engine.Binned, target: engine.Target, sampling: Sampling, params: ForestParams
    ) -> Callable[[int, int], engine.Forest]:
        """A function that grows the trees first .. last - 1."""
        balance = self._balances_draws()

        def grow(first: int, last: int) -> engine.Forest:
            return engine.grow_forest(
                matrix,
                target,
                params.criterion,
                params.rules,
                sampling.draw,
                balance,
                self.seed_,
                first,
                last,
                params.threads,
                params.keep_rows,
            )

        return grow

    def _watch(
        self, target: npt.NDArray[Any], sampling: Sampling, params: ForestParams
    ) -> OutOfBag | None:
        if not params.out_of_bag and params.patience is None:
            return None
        settings = {
            "scorer": params.scorer,
            "present": sampling.present,
            "awaited": sampling.often_out,
            "patience": params.patience,
            "tol": params.tol,
        }
        return self._out_of_bag(target, settings)

    def _keep_scores(self, watch: OutOfBag | None, target: npt.NDArray[Any]) -> None:
        for name in [name for name in self.__dict__ if name.startswith(("oob_", "_oob_"))]:
            if name != "oob_score":  # the one that is a parameter
                del self.__dict__[name]
        if watch is None:
            return
        watch.warn_of_rows_without()
        self.oob_score_ = watch.score
        self.oob_score_curve_ = np.array(watch.score_curve)
        self.oob_error_curve_ = np.array(watch.error_curve)
        self._keep_out_of_bag(watch.prediction, target)

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
        X = check_X_predict(self, X)
        values = self.forest_.values(X, self._threads())
        values /= self.forest_.n_trees
        return values

    def apply(self, X: Any) -> IntArray:
        """Number of the leaf each row ends in, in each tree; shape (n, n_estimators_)."""
        X = check_X_predict(self, X)
        return self.forest_.apply(X, self._threads())

    def leaf_index(self, X: Any) -> IntArray:
        """The same as :meth:`apply`, by the name all of weald's ensembles have for it."""
        return self.apply(X)

    def decision_path(self, X: Any) -> tuple[Any, IntArray]:
        """The nodes each row passes.

        Returns
        -------
        indicator : sparse matrix of shape (n, number of nodes of all trees)
        n_nodes_ptr : array of shape (n_estimators_ + 1,)
            Columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]`` are the nodes of tree t.
        """
        X = check_X_predict(self, X)
        forest, threads = self.forest_, self._threads()
        paths = engine.paths_of(forest.tree, forest.apply(X, threads))
        return paths, np.concatenate([[0], np.cumsum(forest.node_counts)])

    def member_predictions(self, X: Any) -> Any:
        """What each tree says.

        Returns
        -------
        array of shape (n_estimators_, n) or (n_estimators_, n, n_outputs) for numbers,
        (n_estimators_, n, n_classes_) for class shares; a list of these for several outputs
        """
        X = check_X_predict(self, X)
        return self._by_output(self.forest_.member_values(X, self._threads()))

    def importance(
        self, X: Any = None, y: Any = None, kind: Any = "impurity", **settings: Any
    ) -> Any:
        """How much each column matters, with standard errors.

        Parameters
        ----------
        X, y : the training data
            Not needed for "impurity".
        kind : {"impurity", "unbiased", "permutation"}
        **settings
            See :func:`weald.explain.importance.forest_importance`.

        Returns
        -------
        weald.explain.importance.Importance
        """
        from weald.explain.importance import forest_importance

        return forest_importance(self, X, y, kind, **settings)

    # --- members -----------------------------------------------------------------------------

    @property
    def estimator_(self) -> Any:
        """A tree like the members, not fitted."""
        check_is_fitted(self)
        return clone(self._templates.last)

    @property
    def estimators_(self) -> Sequence[Any]:
        """The members as tree estimators, made when they are asked for."""
        check_is_fitted(self)
        return MemberTrees(self.forest_.n_trees, self._member)

    @estimators_.setter
    def estimators_(self, members: Any) -> None:
        refuse_members(self, members)

    def _member(self, t: int) -> Any:
        seed = engine.member_seed(self.seed_, t)
        return fitted_tree(self._templates[t], self.forest_.tree(t), self, seed)

    def __len__(self) -> int:
        return self.forest_.n_trees

    def __getitem__(self, t: Any) -> Any:
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def member_weights_(self) -> FloatArray:
        """Weight of each member in the ensemble: all the same."""
        check_is_fitted(self)
        return np.ones(self.forest_.n_trees)

    @property
    def in_bag_(self) -> npt.NDArray[np.uint32]:
        """How often each row was drawn for each tree, shape (n_estimators_, n); read-only."""
        check_is_fitted(self)
        return self._sampling.in_bag(self.seed_, self.forest_.n_trees)

    @property
    def estimators_samples_(self) -> list[npt.NDArray[np.intp]]:
        """The rows drawn for each tree, each as often as it was drawn; made anew."""
        check_is_fitted(self)
        return [self._sampling.row_numbers(self.seed_, t) for t in range(self.forest_.n_trees)]

    def _importances(self) -> FloatArray:
        """Share of the impurity decrease due to each column, in each tree that splits at all."""
        check_is_fitted(self)
        per_tree = self.forest_.importances[self.forest_.node_counts > 1]
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
