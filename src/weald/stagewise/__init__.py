"""Forward stagewise additive modelling: any loss, any family of members, one step at a time.

A model ``F = init + nu_1 h_1 + nu_2 h_2 + ...`` grows by one member in every round. What is there
stays as it is, and the new member and its step are to lower the loss as far as one step can::

    (nu, h) = argmin sum_i w_i L(y_i, F(x_i) + nu h(x_i))

The member is the one that points most nearly where the loss falls: it is fitted to the negative
gradient ``r_i = -dL/dF``. Then the best step along it is taken. Well-known methods come out of it:

===================  ==========================  ==================================================
loss                 members                     is
===================  ==========================  ==================================================
exponential          classifiers (-1 or 1)       AdaBoost: the weights are ``w_i |r_i|``, the step
                                                 is ``1/2 ln((1 - e) / e)``
squared error        regressors                  L2 boosting, or matching pursuit on residuals: the
                                                 step is ``sum w h r / sum w h²``
log_loss             regressors or classifiers   logistic boosting with a line search
absolute, quantile   regressors or classifiers   robust boosting; the step is a weighted quantile
===================  ==========================  ==================================================
"""

from __future__ import annotations

from typing import Any

from weald.stagewise.kinds import Numbers, TwoClasses

__all__ = ["StagewiseClassifier", "StagewiseRegressor"]


class StagewiseClassifier(TwoClasses):
    """A weighted vote of members for two classes, found step by step for any loss.

    With its defaults it is AdaBoost with stumps: the same members and votes as
    ``AdaBoostClassifier(algorithm="samme")``. See :mod:`weald.stagewise` for the idea.

    Parameters
    ----------
    estimator : classifier or regressor, optional
        The member, any scikit-learn estimator. None is a :class:`weald.DecisionTreeClassifier` with
        ``max_depth=1, max_bins=255``. Classifiers say -1 or 1 and are fitted to the sign of the
        negative gradient r with weights ``w |r|``; regressors say numbers and are fitted to r by
        least squares. Members that take no weights get rows drawn by weight, if weights differ.
    loss : str or object, default="exponential"
        "exponential", "log_loss", "smooth_hinge", "focal", an object of :mod:`weald.losses` such as
        ``Focal(gamma=1.0)``, or your own: an object with ``kind = "binary"``, ``value(y, F)`` and
        ``gradient(y, F)`` for targets 0 and 1.
    n_estimators : int, default=100
        Rounds, at most.
    learning_rate : float, default=1.0
        Every step is multiplied by it.
    init : {"zero", "constant"}, default="zero"
        The score before the first round: 0, or the best constant.
    random_state : int, RandomState instance or None, default=None
        Seeds of the members, rows that are drawn, and rows that are held out.
    n_iter_no_change : int, optional
        Stop when the loss of held-out rows has not fallen by `tol` over so many rounds.
    validation_fraction : float or None, default=0.1
        Share of the rows held out for that, if ``fit`` is given no `X_val`; classes are held out
        alike. None watches the training loss.
    tol : float, default=1e-4
    verbose : int, default=0
        1 shows a live bar with the time left and the loss.

    Attributes
    ----------
    estimators_ : sequence
        The fitted members. weald's trees are made when they are asked for, and speak labels; other
        classifiers speak 0 and 1.
    steps_ : array of shape (n_estimators_,)
        The steps nu, times `learning_rate`; also called `member_weights_`.
    train_losses_, validation_losses_ : arrays of shape (n_estimators_ + 1,)
        Mean loss after 0, 1, ... rounds; the second if rows are held out or given.
    init_ : float
        The score before the first round. (Of a single class a score of it, and no members.)
    loss_ : Loss
    stop_reason_ : str
        "n_estimators": all rounds were made. "no_step": no member lowers the loss any more.
        "perfect": a member is right about every row, so that it may say all. "no_change": the loss
        that is watched has come to rest.
    estimator_ : estimator
        The member that was copied.
    classes_ : array
    n_classes_, n_estimators_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names

    Notes
    -----
    The training loss falls in every round: a step that would not lower it is not taken, and ends
    the fit. Where it would fall for ever, as it does if a member is right about every row, the step
    is as large as the largest before it, and at least the score of a probability of 98.2 % (2 for
    exponential loss, 4 for losses whose score is the log odds). The probabilities of "smooth_hinge"
    are exactly 0 and 1 outside the margin.

    References
    ----------
    Freund, Y. and Schapire, R. (1997). A decision-theoretic generalization of on-line learning and
    an application to boosting. JCSS 55.
    Friedman, J., Hastie, T. and Tibshirani, R. (2000). Additive logistic regression: a statistical
    view of boosting. Annals of Statistics 28.
    Mason, L., Baxter, J., Bartlett, P. and Frean, M. (2000). Boosting algorithms as gradient
    descent. NIPS 12.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import Ridge
    >>> from weald import StagewiseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> votes = StagewiseClassifier(n_estimators=50).fit(X, y)
    >>> votes.score(X, y) > 0.98, bool(votes.train_losses_[-1] < 0.3)
    (True, True)
    >>> lines = StagewiseClassifier(Ridge(), loss="log_loss", n_estimators=20).fit(X, y)
    >>> lines.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: Any = "exponential",
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        init: str = "zero",
        random_state: Any = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = 0.1,
        tol: float = 1e-4,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.init = init
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.verbose = verbose


class StagewiseRegressor(Numbers):
    """A weighted sum of members, found step by step for any loss.

    With squared error it is L2 boosting, also known as matching pursuit on residuals. See
    :mod:`weald.stagewise` for the idea.

    Parameters
    ----------
    estimator : regressor or classifier, optional
        The member, any scikit-learn estimator. None is a :class:`weald.DecisionTreeRegressor` with
        ``max_depth=3, max_bins=255``. Regressors are fitted to the negative gradient r by least
        squares; classifiers say -1 or 1 and are fitted to the sign of r with weights ``w |r|``.
        Members that take no weights get rows drawn by weight, if weights differ.
    loss : str or object, default="squared_error"
        "squared_error", "absolute_error", "huber", "quantile", "log_cosh", "poisson", "gamma",
        "tweedie", an object of :mod:`weald.losses` such as ``Quantile(0.9)``, or your own: an
        object with ``value(y, F)`` and ``gradient(y, F)``.
    n_estimators : int, default=100
        Rounds, at most.
    learning_rate : float, default=1.0
        Every step is multiplied by it.
    init : {"constant", "zero"}, default="constant"
        The score before the first round: the best constant, or 0.
    random_state : int, RandomState instance or None, default=None
        Seeds of the members, rows that are drawn, and rows that are held out.
    n_iter_no_change : int, optional
        Stop when the loss of held-out rows has not fallen by `tol` over so many rounds.
    validation_fraction : float or None, default=0.1
        Share of the rows held out for that, if ``fit`` is given no `X_val`. None watches the
        training loss.
    tol : float, default=1e-4
    verbose : int, default=0
        1 shows a live bar with the time left and the loss.

    Attributes
    ----------
    estimators_ : sequence
        The fitted members. weald's trees are made when they are asked for.
    steps_ : array of shape (n_estimators_,)
        The steps nu, times `learning_rate`; also called `member_weights_`.
    train_losses_, validation_losses_ : arrays of shape (n_estimators_ + 1,)
        Mean loss after 0, 1, ... rounds; the second if rows are held out or given.
    init_ : float
        The score before the first round.
    loss_ : Loss
    stop_reason_ : str
        "n_estimators": all rounds were made. "no_step": no member lowers the loss any more.
        "no_change": the loss that is watched has come to rest.
    estimator_ : estimator
        The member that was copied.
    n_estimators_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names

    Notes
    -----
    The training loss falls in every round: a step that would not lower it is not taken, and ends
    the fit. After a full step (``learning_rate=1``) of squared error the residuals are orthogonal
    to the member, ``sum w r h = 0``.

    One step serves the whole member. With "absolute_error" and "quantile" it ends where enough rows
    have met their targets, so it is short, and small learning rates need very many rounds: take 1.

    References
    ----------
    Mallat, S. and Zhang, Z. (1993). Matching pursuits with time-frequency dictionaries. IEEE Trans.
    Signal Processing 41.
    Friedman, J. (2001). Greedy function approximation: a gradient boosting machine. Annals of
    Statistics 29.
    Bühlmann, P. and Yu, B. (2003). Boosting with the L2 loss: regression and classification. JASA
    98.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from weald import StagewiseRegressor
    >>> X, X_new, y, y_new = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
    >>> slow = StagewiseRegressor(learning_rate=0.1, n_iter_no_change=10, random_state=0)
    >>> slow.fit(X, y).score(X_new, y_new) > 0.2
    True
    >>> slow.stop_reason_
    'no_change'

    A loss of your own, in which too low costs three times as much as too high:

    >>> import numpy as np
    >>> class Careful:
    ...     def value(self, y, F):
    ...         return np.where(F < y, 3, 1) * (F - y) ** 2
    ...     def gradient(self, y, F):
    ...         return 2 * np.where(F < y, 3, 1) * (F - y)
    >>> careful = StagewiseRegressor(loss=Careful(), n_estimators=20).fit(X, y)
    >>> bool(np.mean(careful.predict(X) > y) > 0.55)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: Any = "squared_error",
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        init: str = "constant",
        random_state: Any = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = 0.1,
        tol: float = 1e-4,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.init = init
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.verbose = verbose
