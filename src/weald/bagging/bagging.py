"""Bagging classifiers and regressors: every member gets rows and columns of its own."""

from __future__ import annotations

from typing import Any

from weald._engine import FloatArray
from weald.bagging.base import BaggingBase
from weald.bagging.kinds import BaggedClassifier, BaggedRegressor
from weald.params.ensembles import BaggingParams, resolve_bagging_params
from weald.params.names import own_names
from weald.params.warnings import warn_user
from weald.sampling import Sampling, is_sampler, resolve_draw

__all__ = ["BaggingClassifier", "BaggingRegressor"]


class BaggingEnsemble(BaggingBase):
    """What bagging classifiers and regressors share."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Any:
        """Fit the members, each to its own draw of rows and columns.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            weald's trees take numbers, strings, categoricals and missing values. Other members get
            the table as it is.
        y : array-like of shape (n,) or (n, n_outputs)
            Labels of any type, or numbers.
        sample_weight : array-like of shape (n,), optional
            Where rows are drawn, they are drawn in proportion to their weight, and then count
            alike. Otherwise they weigh in the members: a row of weight k adds exactly what k copies
            of it add. A row of weight 0 is like its absence.
        groups : array-like of shape (n,), optional
            Rows of one group are drawn together, so that the out-of-bag score is about new groups.
            Their rows then keep their weights.
        **fit_params : dict
            Goes to the members, by metadata routing.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups, fit_params)

    def _grows_trees(self) -> bool:
        # The engine draws rows by itself. Those of a sampler are weights of a tree that is fitted
        # like any other member.
        return not is_sampler(self.bootstrap) and super()._grows_trees()

    def _resolve(self, threads: int) -> BaggingParams:
        return resolve_bagging_params(self, threads, self._voting())

    def _resolve_draw(self, n: int, weights: FloatArray | None, groups: Any) -> Sampling:
        sampling = resolve_draw(
            n,
            bootstrap=self.bootstrap,
            max_samples=self.max_samples,
            weights=weights,
            groups=groups,
            pasting=True,
            n_columns=self.n_features_in_,
            max_features=self.max_features,
            bootstrap_features=self.bootstrap_features,
        )
        if groups is not None and not sampling.draws_rows:
            raise ValueError(
                "groups are drawn as a whole, so rows must be drawn: set bootstrap=True or a "
                "smaller max_samples."
            )
        if sampling.kind == "pasting" and sampling.weights is not None:
            warn_user(
                f"{type(self).__name__} with sample_weight draws rows by weight, but without "
                "replacement the heavy ones run out: it is recommended to use bootstrap=True."
            )
        return sampling


@own_names
class BaggingClassifier(BaggedClassifier, BaggingEnsemble):
    """A vote of classifiers, each fitted to its own draw of the rows and columns.

    =================  ==================================================================
    bagging            rows with replacement, the default
    pasting            rows without replacement: ``bootstrap=False, max_samples=0.5``
    random subspaces   all rows, some columns: ``bootstrap=False, max_features=0.5``
    random patches     some rows and some columns: ``max_samples=0.5, max_features=0.5``
    =================  ==================================================================

    Parameters
    ----------
    estimator : classifier, optional
        The member, any scikit-learn classifier. None is a
        :class:`weald.DecisionTreeClassifier` with ``max_bins=255``, fully grown. weald's decision
        and extra-trees (without `cost_matrix` and with a number as `ccp_alpha`) are all grown at
        once by the engine. Other members get the table as it is, a data frame with its names, and
        class codes as targets; their rows come by weight if they take weights, else one by one. The
        keys of a `class_weight` are labels for all members.
    n_estimators : int, default=10
        Members; the most of them, if `n_iter_no_change` may stop earlier.
    max_samples : int, float or None, default=None
        Rows (or groups) drawn for each member: a number, or a share of the rows (of the sum of
        their weights, if there are weights). None draws as many as there are.
    max_features : int or float, default=1.0
        Columns drawn for each member: a number, or a share.
    bootstrap : bool or sampler, default=True
        Draw rows with replacement (bagging). False draws without (pasting); with
        ``max_samples=None`` that is all rows, once. An object with ``rows(n, random)`` draws in its
        own way, see :class:`weald.sampling.Sampler`; weald's trees are then fitted one by one.
    bootstrap_features : bool, default=False
        Draw columns with replacement.
    oob_score : bool or callable, default=False
        Score the ensemble on the rows its members did not draw, by the accuracy or by a function
        ``metric(y_true, y_pred)`` of labels; greater is better.
    warm_start : bool, default=False
        Add members to those of the last fit; data, kind of member and draws must be the same.
    n_jobs : int, optional
        Threads for weald's trees: None means all cores. Jobs for other members, as in joblib: None
        means one, unless a :func:`joblib.parallel_config` says otherwise.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same ensemble, bit for bit, for any `n_jobs`; with more members it
        begins with the same ones.
    verbose : int, default=0
        1 shows a live bar with the time left and the out-of-bag score.
    voting : {"soft", "hard"}, default="soft"
        Average the members' class shares, or let each vote for one class. Members without class
        shares always vote.
    weighting : "uniform", "oob" or array of shape (n_estimators,), default="uniform"
        How much each member counts: alike, by its performance on the rows it did not draw (see
        :func:`weald.combining.weights_from_accuracy`), or as given.
    n_iter_no_change : int, optional
        Stop when the out-of-bag score has not risen by `tol` over so many members, counted from
        when nearly all rows have an out-of-bag prediction.
    tol : float, default=1e-4
    keep_partial : bool, default=False
        Ctrl-C keeps the members there are, with a warning, instead of raising.
    callbacks : list, optional
        Look on, and stop: see :mod:`weald.callbacks`. A round is a member, its validation score the
        out-of-bag score.
    combine : callable, optional
        How members become one prediction, instead of by their mean: ``combine(answers, weights)``
        of arrays (n_estimators_, n, n_classes) and (n_estimators_,) returns one (n, n_classes). For
        the prediction only: there is no out-of-bag score then.

    Attributes
    ----------
    estimator_ : estimator
        The member that was copied.
    estimators_ : sequence
        The fitted members. weald's trees are made when they are asked for, and speak labels;
        other members speak class codes, as in scikit-learn.
    estimators_samples_, estimators_features_ : list of arrays
        The rows and columns drawn for each member, ascending, each as often as it was drawn.
    in_bag_ : array of shape (n_estimators_, n)
        How often each row was drawn for each member; worked out from the seed when it is asked for,
        and read-only.
    member_weights_ : array of shape (n_estimators_,)
        1 on average.
    n_estimators_, n_features_in_, n_outputs_ : int
    feature_names_in_ : array, if the columns had names
    seed_ : int
        All draws follow from it.
    oob_score_ : float
        Of all members together, on the rows that some member left out.
    oob_score_curve_, oob_error_curve_ : arrays of shape (n_estimators_,)
        Score, and error rate, after 1, 2, ... members.
    oob_decision_function_ : array of shape (n, n_classes)
        Class shares of each row from the members that did not draw it; NaN if all did.
    classes_ : array, or list of arrays
        Labels, sorted.
    n_classes_ : int, or list of int

    References
    ----------
    Breiman, L. (1996). Bagging predictors. Machine Learning 24.
    Breiman, L. (1999). Pasting small votes for classification. Machine Learning 36.
    Ho, T. K. (1998). The random subspace method. IEEE Trans. PAMI 20.
    Louppe, G. and Geurts, P. (2012). Ensembles on random patches. ECML PKDD.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from weald import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> trees = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> trees.oob_score_ > 0.9
    True
    >>> bayes = BaggingClassifier(GaussianNB(), max_samples=0.5, max_features=2, random_state=0)
    >>> bayes.fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: Any = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        voting: str = "soft",
        weighting: Any = "uniform",
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        keep_partial: bool = False,
        callbacks: Any = None,
        combine: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting
        self.weighting = weighting
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.keep_partial = keep_partial
        self.callbacks = callbacks
        self.combine = combine


@own_names
class BaggingRegressor(BaggedRegressor, BaggingEnsemble):
    """A mean of regressors, each fitted to its own draw of the rows and columns.

    =================  ==================================================================
    bagging            rows with replacement, the default
    pasting            rows without replacement: ``bootstrap=False, max_samples=0.5``
    random subspaces   all rows, some columns: ``bootstrap=False, max_features=0.5``
    random patches     some rows and some columns: ``max_samples=0.5, max_features=0.5``
    =================  ==================================================================

    Parameters
    ----------
    estimator : regressor, optional
        The member, any scikit-learn regressor. None is a :class:`weald.DecisionTreeRegressor` with
        ``max_bins=255``, fully grown. weald's decision and extra-trees (with a number as
        `ccp_alpha`) are all grown at once by the engine. Other members get the table as it is, a
        data frame with its names; their rows come by weight if they take weights, else one by one.
    n_estimators : int, default=10
        Members; the most of them, if `n_iter_no_change` may stop earlier.
    max_samples : int, float or None, default=None
        Rows (or groups) drawn for each member: a number, or a share of the rows (of the sum of
        their weights, if there are weights). None draws as many as there are.
    max_features : int or float, default=1.0
        Columns drawn for each member: a number, or a share.
    bootstrap : bool or sampler, default=True
        Draw rows with replacement (bagging). False draws without (pasting); with
        ``max_samples=None`` that is all rows, once. An object with ``rows(n, random)`` draws in its
        own way, see :class:`weald.sampling.Sampler`; weald's trees are then fitted one by one.
    bootstrap_features : bool, default=False
        Draw columns with replacement.
    oob_score : bool or callable, default=False
        Score the ensemble on the rows its members did not draw, by R² or by a function
        ``metric(y_true, y_pred)`` of numbers; greater is better (negate an error).
    warm_start : bool, default=False
        Add members to those of the last fit; data, kind of member and draws must be the same.
    n_jobs : int, optional
        Threads for weald's trees: None means all cores. Jobs for other members, as in joblib: None
        means one, unless a :func:`joblib.parallel_config` says otherwise.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same ensemble, bit for bit, for any `n_jobs`; with more members it
        begins with the same ones.
    verbose : int, default=0
        1 shows a live bar with the time left and the out-of-bag score.
    weighting : "uniform", "oob" or array of shape (n_estimators,), default="uniform"
        How much each member counts: alike, by its performance on the rows it did not draw (see
        :func:`weald.combining.weights_from_squared_error`), or as given.
    n_iter_no_change : int, optional
        Stop when the out-of-bag score has not risen by `tol` over so many members, counted from
        when nearly all rows have an out-of-bag prediction.
    tol : float, default=1e-4
    keep_partial : bool, default=False
        Ctrl-C keeps the members there are, with a warning, instead of raising.
    callbacks : list, optional
        Look on, and stop: see :mod:`weald.callbacks`. A round is a member, its validation score the
        out-of-bag score.
    combine : callable, optional
        How members become one prediction, instead of by their mean: ``combine(answers, weights)``
        of arrays (n_estimators_, n) and (n_estimators_,) returns one (n,). Several outputs are
        combined one by one. For the prediction only: there is no out-of-bag score then.

    Attributes
    ----------
    estimator_ : estimator
        The member that was copied.
    estimators_ : sequence
        The fitted members. weald's trees are made when they are asked for.
    estimators_samples_, estimators_features_ : list of arrays
        The rows and columns drawn for each member, ascending, each as often as it was drawn.
    in_bag_ : array of shape (n_estimators_, n)
        How often each row was drawn for each member; worked out from the seed when it is asked for,
        and read-only.
    member_weights_ : array of shape (n_estimators_,)
        1 on average.
    n_estimators_, n_features_in_, n_outputs_ : int
    feature_names_in_ : array, if the columns had names
    seed_ : int
        All draws follow from it.
    oob_score_ : float
        Of all members together, on the rows that some member left out.
    oob_score_curve_, oob_error_curve_ : arrays of shape (n_estimators_,)
        Score, and mean squared error, after 1, 2, ... members.
    oob_prediction_ : array of shape (n,) or (n, n_outputs)
        Mean of the members that did not draw the row; NaN if all did.

    References
    ----------
    Breiman, L. (1996). Bagging predictors. Machine Learning 24.
    Breiman, L. (1999). Pasting small votes for classification. Machine Learning 36.
    Ho, T. K. (1998). The random subspace method. IEEE Trans. PAMI 20.
    Louppe, G. and Geurts, P. (2012). Ensembles on random patches. ECML PKDD.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from weald import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> trees = BaggingRegressor(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    >>> trees.oob_score_ > 0.4
    True
    >>> wiggly = make_pipeline(PolynomialFeatures(15), LinearRegression())
    >>> BaggingRegressor(wiggly, random_state=0).fit(X[:, [2]], y).predict(X[:2, [2]]).shape
    (2,)
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: Any = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        weighting: Any = "uniform",
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        keep_partial: bool = False,
        callbacks: Any = None,
        combine: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.weighting = weighting
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.keep_partial = keep_partial
        self.callbacks = callbacks
        self.combine = combine
