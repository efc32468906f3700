"""AdaBoost: members made one after another, each on what those before it got wrong.

A drop-in for scikit-learn's classes of the same names, with the confidence-rated and robust kinds
beside the discrete one, and weald's trees on a fast path: the table is binned once, and a round of
stumps is one pass over it.
"""

from __future__ import annotations

from typing import Any

from weald.adaboost.classifier_base import BoostedClassifier
from weald.adaboost.regressor_base import BoostedRegressor

__all__ = ["AdaBoostClassifier", "AdaBoostRegressor"]


class AdaBoostClassifier(BoostedClassifier):
    """Boosting by weights: a vote of members, each fitted to the rows its elders got wrong.

    Rows start with equal weights. Each round fits a member to the weights, measures its error
    ``e``, gives it the vote ``alpha = 1/2 ln((1 - e) / e)`` and multiplies the weights of the rows
    it got wrong by ``e^alpha``, of the others by ``e^-alpha``. The training error is at most the
    product of the sums ``Z`` by which the weights are divided, and that at most ``exp(-2 sum
    edge^2)``, where the edge ``1/2 - e`` is how much better than chance a member is.

    ============  ======================================================================
    algorithm     members and their votes
    ============  ======================================================================
    "samme"       discrete AdaBoost: members vote for one class; any number of classes
    "confidence"  members say how sure they are, ``h = 2p - 1``; the vote from the mean
                  margin (Schapire and Singer)
    "real"        half the log odds of the members' class shares; any number of classes
    "gentle"      as "confidence" with a vote of 1: small steps, less moved by outliers
    "logit"       LogitBoost: regression members, Newton steps for the log loss
    ============  ======================================================================

    Parameters
    ----------
    estimator : estimator, optional
        The member, which should be weak. None is a stump, a :class:`weald.DecisionTreeClassifier`
        with ``max_depth=1, max_bins=255`` (for "logit" the regressor). weald's trees (without
        pruning, class weights or costs) are grown by the engine. Other members get the table as it
        is and class codes as targets; if they take no weights, their rows are drawn by weight.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        Multiplies every vote.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same ensemble, bit for bit, for any `n_jobs`. Without `resample`
        and with members that draw nothing it has no effect.
    algorithm : {"samme", "confidence", "real", "gentle", "logit"}, default="samme"
        See the table above; the last two and "confidence" are for two classes. scikit-learn's old
        names "SAMME" and "SAMME.R" stand for "samme" and "real".
    resample : bool, default=False
        Draw as many rows as there are by weight, with replacement, instead of giving the weights
        to the member. The error is measured on all rows.
    when_worse : {"stop", "skip", "redraw"}, default="stop"
        If a member is no better than chance: stop, leave it out and go on (if the next could be
        another one, because something is drawn), or draw the rows again (up to ten times a round;
        needs `resample`).
    min_edge : float, default=0.0
        A member must have a larger edge than this.
    n_iter_no_change : int, optional
        Stop when the accuracy on held-out rows has not risen by `tol` for so many rounds.
    validation_fraction : float, default=0.1
        Share of the rows held out for that, unless ``fit`` is given a validation set.
    tol : float, default=1e-4
    keep_weights : bool, default=False
        Keep the weights of all rounds.
    n_jobs : int, optional
        Threads for weald's trees; None means all cores. The model is the same for any number.
    verbose : int, default=0
        1 shows a live bar with the time left and the validation score.

    Attributes
    ----------
    estimator_ : estimator
        The member that was copied.
    estimators_ : sequence
        The fitted members. weald's trees are made when they are asked for.
    alphas_ : array of shape (T,)
        Votes, ``1/2 ln((1 - e) / e)`` times the learning rate.
    estimator_weights_ : array of shape (T,)
        The same as scikit-learn states them, ``ln((1 - e) / e)``: twice the alphas.
    errors_, estimator_errors_ : array of shape (T,)
        Weight of the rows a member got wrong, under the weights it was fitted to.
    edges_ : array of shape (T,)
        ``1 - 1/K - e``: how much better than chance, for K classes; 0 of a lone member without a
        vote, which is kept if there is no better one.
    normalizers_ : array of shape (T,)
        The sums Z by which the weights were divided.
    weights_ : array of shape (T + 1, n)
        Weights of the rows before the first round and after each, with ``keep_weights=True``; of
        the training rows only, if some were held out.
    validation_scores_ : array of shape (T,)
        Accuracy on the held-out rows after each round, if there are any.
    stop_reason_ : str
        "n_estimators"; "perfect": a member made no error (see the notes);
        "worse" or "edge": no member with a sufficient edge was found; "no_change".
    n_estimators_ : int
        T, the number of members.
    classes_ : array
        Labels, sorted; for two classes the first counts as -1 and the second as +1.
    n_classes_, n_features_in_ : int
    feature_names_in_ : array, if the columns had names
    feature_importances_ : array of shape (d,)
        Mean of the members' importances, weighted by their votes.
    seed_ : int

    Notes
    -----
    A member without error, whose vote would be infinite, ends the fit with the largest vote before
    it, and at least 2 (the vote of an error of 1.8 %) times the learning rate. In scikit-learn it
    has 1/2.

    ``decision_function`` is ``F = sum alpha h`` as it is; scikit-learn divides it by the sum of the
    votes, and doubles it for two classes. Labels are the same.

    "real" takes logarithms of class shares: those below a hundredth of an even share, as in pure
    leaves, are taken for that. "logit" cuts its working responses at 4.

    References
    ----------
    Freund, Y. and Schapire, R. (1997). A decision-theoretic generalization of on-line learning and
    an application to boosting. Journal of Computer and System Sciences 55.
    Schapire, R. and Singer, Y. (1999). Improved boosting algorithms using confidence-rated
    predictions. Machine Learning 37.
    Friedman, J., Hastie, T. and Tibshirani, R. (2000). Additive logistic regression: a statistical
    view of boosting. Annals of Statistics 28.
    Zhu, J., Zou, H., Rosset, S. and Hastie, T. (2009). Multi-class AdaBoost. Statistics and its
    Interface 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from weald import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=100).fit(X, y)
    >>> model.score(X, y) > 0.98
    True
    >>> bool((1 - model.score(X, y)) <= model.normalizers_.prod())
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        algorithm: str = "samme",
        resample: bool = False,
        when_worse: str = "stop",
        min_edge: float = 0.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        keep_weights: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.algorithm = algorithm
        self.resample = resample
        self.when_worse = when_worse
        self.min_edge = min_edge
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.keep_weights = keep_weights
        self.n_jobs = n_jobs
        self.verbose = verbose


class AdaBoostRegressor(BoostedRegressor):
    """AdaBoost.R2: a median of regressors, each made for the rows its elders missed most.

    Rows start with equal weights. Each round fits a member to the weights, turns its errors into
    losses L between 0 and 1, and takes their weighted mean ``e`` for its error. With ``beta =
    e / (1 - e)`` the weights are multiplied by ``beta^(1 - L)``, so that rows predicted well lose
    weight, and the member's vote is ``ln(1 / beta)``. Predictions are the members' median, weighted
    by their votes.

    ============= =============================================
    loss          L, with ``d = |y - h| / max |y - h|``
    ============= =============================================
    "linear"      ``d``
    "square"      ``d^2``
    "exponential" ``1 - exp(-d)``
    ============= =============================================

    Parameters
    ----------
    estimator : estimator, optional
        The member. None is a :class:`weald.DecisionTreeRegressor` with ``max_depth=3,
        max_bins=255``. weald's trees (without pruning) are grown by the engine. Other members get
        the table as it is; if they take no weights, their rows are drawn by weight.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        Multiplies every vote; the weights change less if it is small.
    loss : {"linear", "square", "exponential"}, default="linear"
        See the table above.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same ensemble, bit for bit, for any `n_jobs`. Without `resample`
        and with members that draw nothing it has no effect.
    resample : bool, default=True
        Draw as many rows as there are by weight, with replacement, as Drucker and scikit-learn do.
        False gives the weights to the member. The error is measured on all rows either way. Of 15
        data sets drawing was clearly better on 6 and clearly worse on none; and a full-grown tree
        that is given weights fits all rows at once, which ends boosting after one member.
    when_worse : {"stop", "skip", "redraw"}, default="stop"
        If the error of a member is 1/2 or more: stop, leave it out and go on, or draw the rows
        again (up to ten times a round; needs `resample`).
    n_iter_no_change : int, optional
        Stop when R² on held-out rows has not risen by `tol` for so many rounds.
    validation_fraction : float, default=0.1
        Share of the rows held out for that, unless ``fit`` is given a validation set.
    tol : float, default=1e-4
    keep_weights : bool, default=False
        Keep the weights of all rounds.
    n_jobs : int, optional
        Threads for weald's trees; None means all cores. The model is the same for any number.
    verbose : int, default=0
        1 shows a live bar with the time left and the validation score.

    Attributes
    ----------
    estimator_ : estimator
        The member that was copied.
    estimators_ : sequence
        The fitted members. weald's trees are made when they are asked for.
    estimator_weights_ : array of shape (T,)
        Votes, ``ln(1 / beta)`` times the learning rate.
    alphas_ : array of shape (T,)
        Half of them, as for :class:`AdaBoostClassifier`.
    errors_, estimator_errors_ : array of shape (T,)
        Mean losses of the members, under the weights they were fitted to.
    edges_ : array of shape (T,)
        ``1/2 - e``.
    normalizers_ : array of shape (T,)
        The sums by which the weights were divided after each round.
    weights_ : array of shape (T + 1, n)
        Weights of the rows before the first round and after each, with ``keep_weights=True``; of
        the training rows only, if some were held out.
    validation_scores_ : array of shape (T,)
        R² on the held-out rows after each round, if there are any.
    stop_reason_ : str
        "n_estimators"; "perfect": a member made no error (see the notes);
        "worse": a member had an error of 1/2 or more, and is left out unless it is the only one;
        "no_change".
    n_estimators_ : int
        T, the number of members.
    n_features_in_ : int
    feature_names_in_ : array, if the columns had names
    feature_importances_ : array of shape (d,)
        Mean of the members' importances, weighted by their votes.
    seed_ : int

    Notes
    -----
    Errors, votes, weights and medians are scikit-learn's, with two differences. A member without
    any error, which ends the fit, gets the largest alpha before it, and at least 2; there
    `estimator_weights_` has a 1 for it, as if alpha were 1/2. Arrays have one entry for each member
    that is kept; there they are padded to `n_estimators`.

    The largest error sets the scale, so one target far from all others makes the other errors small
    beside it, and the weights follow that row. Deeper members or a smaller `learning_rate` help.

    References
    ----------
    Drucker, H. (1997). Improving regressors using boosting techniques. Proceedings of the 14th
    International Conference on Machine Learning.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from weald import AdaBoostRegressor
    >>> X, y = make_friedman1(500, noise=1.0, random_state=0)
    >>> model = AdaBoostRegressor(random_state=0).fit(X[:250], y[:250])
    >>> model.score(X[250:], y[250:]) > 0.75
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Any = None,
        resample: bool = True,
        when_worse: str = "stop",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        keep_weights: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.resample = resample
        self.when_worse = when_worse
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.keep_weights = keep_weights
        self.n_jobs = n_jobs
        self.verbose = verbose
