"""Naive ensembles: members that all see the same data. A baseline, to be beaten by drawing.

If every one of B members has variance s² at a point, and any two are correlated by rho, then their
mean has the variance::

    rho s² + (1 - rho) s² / B

More members take away the second term only. Members that are fitted to the same rows and columns
make the same mistakes: rho is near 1, and the mean is hardly better than one of them. A learner
without any randomness gives the same member for every seed, rho = 1, and nothing is gained at all.
Bagging lowers rho by drawing rows, random forests and extra-trees lower it further inside the
trees; put a naive ensemble beside them to see how much of their gain is due to that. Different
hyper-parameters bring members apart too, at the price that some of them are worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from weald._engine import FloatArray
from weald.bagging.base import BaggingBase
from weald.bagging.kinds import BaggedClassifier, BaggedRegressor
from weald.input.targets import alike
from weald.members.foreign import make_member
from weald.params.ensembles import BaggingParams, check_verbosity
from weald.params.growth import check_count
from weald.params.names import own_names
from weald.sampling import Sampling, resolve_draw

__all__ = ["NaiveEnsembleClassifier", "NaiveEnsembleRegressor"]

_MEMBERS = 10  # where nothing else says how many


class NaiveEnsemble(BaggingBase):
    """What naive classifiers and regressors share: everybody gets all rows and columns."""

    member_params_: list[dict[str, Any]]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit all members to the same data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            weald's trees take numbers, strings, categoricals and missing values. Other members get
            the table as it is.
        y : array-like of shape (n,) or (n, n_outputs)
        sample_weight : array-like of shape (n,), optional
            Goes to the members.
        **fit_params : dict
            Goes to the members, by metadata routing.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, None, fit_params)

    def _resolve(self, threads: int) -> BaggingParams:
        self.member_params_ = _choose(self.param_grid, self.n_estimators)
        return BaggingParams(
            n_estimators=len(self.member_params_),
            threads=threads,
            vote=self._voting(),
            verbose=check_verbosity(self.verbose),
        )

    def _resolve_draw(self, n: int, weights: FloatArray | None, groups: Any) -> Sampling:
        return resolve_draw(
            n,
            bootstrap=False,
            max_samples=None,
            weights=weights,
            pasting=True,
            n_columns=self.n_features_in_,
        )

    def _grows_trees(self) -> bool:
        return self.param_grid is None and super()._grows_trees()

    def _member_of(self, t: int, seed: int) -> Any:
        classes = self.__dict__.get("classes_")
        return make_member(self.estimator_, seed, self.member_params_[t], classes)


def _choose(param_grid: Any, n_estimators: Any) -> list[dict[str, Any]]:
    """The hyper-parameters of every member.

    >>> _choose({"max_depth": [1, 2, 3]}, 2)
    [{'max_depth': 1}, {'max_depth': 3}]
    """
    if n_estimators is not None:
        n_estimators = check_count("n_estimators", n_estimators, least=1)
    if param_grid is None:
        return [{}] * (n_estimators or _MEMBERS)
    try:
        points: Sequence[dict[str, Any]] = list(ParameterGrid(param_grid))
    except (TypeError, ValueError) as error:
        raise ValueError(
            "param_grid must be a dict {parameter: list of values}, or a list of such dicts, got "
            f"{param_grid!r}."
        ) from error
    if not points:
        raise ValueError("param_grid holds no setting at all.")
    if n_estimators is None:
        return list(points)
    if n_estimators < len(points):  # spread over the grid
        chosen = np.linspace(0, len(points) - 1, n_estimators).round().astype(int)
        return [points[i] for i in chosen]
    return [points[t % len(points)] for t in range(n_estimators)]


@own_names
class NaiveEnsembleClassifier(BaggedClassifier, NaiveEnsemble):
    """A vote of classifiers that were all fitted to the same data: a baseline for comparison.

    Members differ in their seeds, and in their hyper-parameters if a grid is given. As they see the
    same rows and columns they err together, and their vote gains little over one of them; see
    :mod:`weald.naive` for the reason. Use :class:`weald.BaggingClassifier` or a forest for results.

    Parameters
    ----------
    estimator : classifier, optional
        The member, any scikit-learn classifier. None is a :class:`weald.DecisionTreeClassifier`
        with ``max_bins=255``; as such a tree has no randomness, its copies are all the same.
    n_estimators : int, optional
        Members. None is one for each setting of the grid, or 10. If there are more members than
        settings, settings come again with other seeds; if less, they are spread over the grid.
    param_grid : dict or list of dicts, optional
        Hyper-parameters and their values, as for :class:`sklearn.model_selection.ParameterGrid`.
    voting : {"soft", "hard"}, default="soft"
        Average the members' class shares, or let each vote for one class.
    n_jobs : int, optional
        Threads for weald's trees without a grid: None means all cores. Else jobs, as in joblib.
    random_state : int, RandomState instance or None, default=None
        The members' seeds follow from it.
    verbose : int, default=0
        1 shows a live bar with the time left.

    Attributes
    ----------
    estimators_ : sequence
        The fitted members.
    member_params_ : list of dicts
        The hyper-parameters of each.
    member_weights_ : array of shape (n_estimators_,)
        All ones.
    classes_ : array, or list of arrays
    n_classes_ : int, or list of int
    n_estimators_, n_features_in_, n_outputs_, seed_ : int
    feature_names_in_ : array, if the columns had names

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from weald import DecisionTreeClassifier, NaiveEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3).fit(X[::2], y[::2])
    >>> same = NaiveEnsembleClassifier(DecisionTreeClassifier(max_depth=3)).fit(X[::2], y[::2])
    >>> bool((same.predict(X[1::2]) == tree.predict(X[1::2])).all())
    True
    >>> grid = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 5]}
    >>> NaiveEnsembleClassifier(param_grid=grid, random_state=0).fit(X, y).n_estimators_
    8
    """

    def _costs_of_members(self) -> FloatArray | None:
        given = [params.get("cost_matrix") for params in self.member_params_]
        same = all(alike(costs, given[0]) for costs in given)
        return super()._costs_of_members() if same else None  # else by the shares alone

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | None = None,
        *,
        param_grid: Any = None,
        voting: str = "soft",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.param_grid = param_grid
        self.voting = voting
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


@own_names
class NaiveEnsembleRegressor(BaggedRegressor, NaiveEnsemble):
    """A mean of regressors that were all fitted to the same data: a baseline for comparison.

    Members differ in their seeds, and in their hyper-parameters if a grid is given. As they see the
    same rows and columns they err together, and their mean gains little over one of them; see
    :mod:`weald.naive` for the reason. Use :class:`weald.BaggingRegressor` or a forest for results.

    Parameters
    ----------
    estimator : regressor, optional
        The member, any scikit-learn regressor. None is a :class:`weald.DecisionTreeRegressor` with
        ``max_bins=255``; as such a tree has no randomness, its copies are all the same.
    n_estimators : int, optional
        Members. None is one for each setting of the grid, or 10. If there are more members than
        settings, settings come again with other seeds; if less, they are spread over the grid.
    param_grid : dict or list of dicts, optional
        Hyper-parameters and their values, as for :class:`sklearn.model_selection.ParameterGrid`.
    n_jobs : int, optional
        Threads for weald's trees without a grid: None means all cores. Else jobs, as in joblib.
    random_state : int, RandomState instance or None, default=None
        The members' seeds follow from it.
    verbose : int, default=0
        1 shows a live bar with the time left.

    Attributes
    ----------
    estimators_ : sequence
        The fitted members.
    member_params_ : list of dicts
        The hyper-parameters of each.
    member_weights_ : array of shape (n_estimators_,)
        All ones.
    n_estimators_, n_features_in_, n_outputs_, seed_ : int
    feature_names_in_ : array, if the columns had names

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from weald import NaiveEnsembleRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"n_neighbors": [5, 10, 20, 40]}
    >>> NaiveEnsembleRegressor(KNeighborsRegressor(), param_grid=grid).fit(X, y).n_estimators_
    4
    """

    _to_calibrate = ""  # nobody leaves rows out

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | None = None,
        *,
        param_grid: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.param_grid = param_grid
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
