"""Gradient boosting: trees added one after another, each along the negative gradient of a loss.

A model is a sum of trees, ``F = init + h_1 + h_2 + ...``. Every round looks at the derivatives
``g = dl/dF`` and ``h = d2l/dF2`` of the loss at each row, grows a tree that points where the loss
falls, gives each of its leaves a step, and adds the tree to the scores (Friedman 2001). Of second
order, trees and leaves minimise the parabola that touches the loss (Chen & Guestrin 2016)::

    leaf = -G / (H + l2),   gain = 1/2 [G_L²/(H_L + l2) + G_R²/(H_R + l2) - G²/(H + l2)] - min_gain

with G and H the sums of ``w g`` and ``w h``. Of first order, trees fit ``-g`` by least squares.

==============  =====================  ==========  ================================================
loss            for                    step        prediction
==============  =====================  ==========  ================================================
squared_error   numbers                newton      mean
absolute_error  numbers                exact       median
huber           numbers                exact       mean without the pull of outliers
quantile        numbers                exact       quantiles `alpha`, one or several
log_cosh        numbers                exact       between mean and median
poisson         counts                 newton      mean, exp(F)
gamma           positive amounts       newton      mean, exp(F)
tweedie         amounts, often 0       newton      mean, exp(F)
log_loss        any number of classes  newton      probabilities
exponential     two classes            newton      probabilities, 1 / (1 + exp(-2F))
smooth_hinge    two classes            exact       labels; probabilities inside the margin
focal           two classes            newton      labels; scores are closer to 0 than log odds
your own        its ``kind``           by hessian  by its ``link``
==============  =====================  ==========  ================================================
"""

from __future__ import annotations

from weald.boosting.classifier_base import GradientClassifier
from weald.boosting.regressor_base import GradientRegressor

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]


class GradientBoostingClassifier(GradientClassifier):
    """Gradient boosting of classes.

    A drop-in for scikit-learn's class of the same name. See :mod:`weald.boosting` for the idea.

    Parameters
    ----------
    loss : str or object, default="log_loss"
        "log_loss" (any number of classes), "exponential", "smooth_hinge", "focal" (two classes), an
        object of :mod:`weald.losses` such as ``Focal(gamma=1.0)``, or your own: an object with
        ``kind = "binary"`` or ``"multiclass"``, ``value(y, F)``, ``gradient(y, F)`` and perhaps
        ``hessian(y, F)``.
    learning_rate : float or "auto", default="auto"
        Every step is multiplied by it. "auto" chooses by the loss and the size of
        the data (:func:`weald.boosting.defaults.choose`), as in all parameters that take the word.
    n_estimators : int or "auto", default="auto"
        Rounds, at most.
    subsample : float, default=1.0
        Share of the rows that each round draws, without replacement.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows a node needs to be split, and rows a leaf needs; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of all rows that a leaf needs.
    max_depth : int, optional
        None sets no limit.
    max_leaf_nodes : int, None or "auto", default="auto"
        Leaves of a tree. "auto" sets no limit if `max_depth` does.
    min_impurity_decrease : float, default=0.0
        Decrease of the mean squared distance to the gradient that a split needs.
    init : None, "zero" or estimator, default=None
        Where scores start: at the best constant, at 0, or at what another model predicts. A model
        that is not fitted is fitted first; one that is, is used as it is.
    random_state : int, RandomState instance or None, default=None
        For rows, columns and trees that are drawn. The same seed gives the same model, bit for bit,
        for any `n_jobs`.
    max_features : int, float, "sqrt", "log2", "auto" or None, default="auto"
        Columns that are drawn and tried at each node; None tries all.
    warm_start : bool, default=False
        Go on from the last fit: 50 rounds and 50 more are the same, bit for bit, as 100.
    validation_fraction : float or None, default=0.1
        Share of the rows held out to judge by, if `n_iter_no_change` asks for it and ``fit`` is
        given no `X_val`. None judges by the training rows.
    n_iter_no_change : int, "auto" or None, default=None
        Stop when the loss (or score) of the rows held out has not improved by `tol` over so many
        rounds. Predictions then use the rounds up to the best one.
    tol : float, default=1e-4
    verbose : int, default=0
        1 shows a live bar with the time left and the loss.
    l2_regularization : float or "auto", default="auto"
        Added to the sum of second derivatives in gains and steps.
    max_bins : int or None, default=255
        Values of a column are put into so many bins; None keeps all apart.
    categorical_features : "from_dtype", None, list or mask, default="from_dtype"
        Columns that hold categories.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name to these, optional
        Columns in which the prediction must not rise (-1) or not fall (1).
    interaction_cst : "pairwise", "no_interactions", sequence of sets or None, default=None
        Columns that may meet in a branch of a tree. Those in no set form one more.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    scoring : str, callable or None, default="loss"
        What judges the rows held out: the loss, or a metric of scikit-learn. None is the score
        method.
    order : {None, 1, 2}, default=None
        Whether trees are grown by gradients alone or by second derivatives too. None is 2 where
        the step is "newton".
    step : {"auto", "newton", "exact", "line_search", "gradient"}, default="auto"
        What leaves say: the bottom of the parabola; the best value for their rows; what least
        squares says, times one factor for the whole tree with which the training loss never rises;
        or what least squares says. "auto" is in the table of :mod:`weald.boosting`. A loss of your
        own goes by "newton" if it has a hessian, else by "exact".
    min_gain : float or "auto", default="auto"
        Gain that a split needs, in units of the loss summed over rows. "auto" is above 0 for
        second-order trees of losses of classes, "poisson" and "gamma": where only noise is left,
        trees end, and more rounds do no harm.
    min_hessian : float or "auto", default=1e-3
        Sum of second derivatives that a leaf needs (second order only).
    categorical_smoothing : float or "auto", default="auto"
        Rows (on average) that a category needs to choose its side of a split: rarer ones go where
        the missing values go. Categories are put in order by ``G / (H + this)``, and their splits
        are judged with this much more `l2_regularization`.
    sampling : {"uniform", "gradient"}, default="uniform"
        "gradient" keeps the rows with the largest gradients and draws some of the others.
    top_rate, other_rate : float, default=0.2 and 0.1
        Shares of the rows that are kept, and drawn, by "gradient".
    max_features_per_tree : int, float, "sqrt", "log2" or None, default=None
        Columns that each round draws; None takes all.
    growth : {"best_first", "by_level"}, default="best_first"
        Which leaf is split next: that with the largest gain, or level by level.
    dropout : float, default=0.0
        DART: the chance of each earlier round to be left out while a new one is made. The time
        then grows with the square of the rounds.
    max_drop : int, default=50
        Rounds that are left out at most.
    multi_strategy : {"one_tree_per_output", "vector_leaves"}, default="one_tree_per_output"
        With several scores: a tree for each, or one tree whose leaves say all.
    estimator : regressor, optional
        Any regressor as member, instead of weald's trees; fitted to ``-g / h`` with the weights
        ``w h`` (order 2), or to ``-g``. One that takes no weights gets rows drawn by weight.
    callbacks : list, optional
        Objects of :mod:`weald.callbacks`, or functions of a state that return True to stop.
    n_jobs : int, optional
        Threads; None means all cores. The model is the same for any number.

    Attributes
    ----------
    estimators_ : sequence of shape (n_estimators_, n_trees_per_iteration_)
        The trees, made when they are asked for. Their leaves are what is added to the score.
    init_ : float, array or estimator
        Where scores start.
    loss_ : Loss, or a tuple of one for each score if these differ
    n_estimators_ : int
        Rounds that were made.
    best_iteration_ : int
        The round, counted from 1, after which the rows held out were best; without such rows the
        last one. With early stopping predictions use the rounds up to it. (``staged_`` methods go
        on to the last round made.)
    train_score_ : array of shape (n_estimators_,)
        Mean loss of the training rows after each round. (Of a loss of your own that of every
        second, third, ... row, if there are more than 65,536.)
    validation_score_ : array of shape (n_estimators_,)
        The same of the rows held out, or their score by `scoring`; if there are any.
    stop_reason_ : str
        "n_estimators": all rounds were made. "no_change": the rows held out saw no gain.
        "callback": a callback said so. "no_step": the line search found no way down.
        "one_class": there is nothing to learn.
    learning_rate_ : float
        What `learning_rate` stands for.
    feature_importances_ : array of shape (d,)
        Share of the gain due to each column.
    n_trees_per_iteration_, n_features_in_, max_features_, seed_ : int
    feature_names_in_ : array, if the columns had names
    classes_ : array
    n_classes_ : int

    Notes
    -----
    More than two classes have a score and a tree each. Their steps use the diagonal of the second
    derivatives, as those of XGBoost and LightGBM. The second derivative of "focal", which can be
    negative, and of "smooth_hinge", which can be 0, is taken for at least 0.01.

    Weights of rows are numbers of rows: weights that sum to 1 are a fit to one row, on which
    `l2_regularization` and `min_hessian` have a large effect.

    References
    ----------
    Friedman, J. (2001). Greedy function approximation: a gradient boosting machine. Annals of
    Statistics 29.
    Friedman, J. (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis 38.
    Rashmi, K. and Gilad-Bachrach, R. (2015). DART: dropouts meet multiple additive regression
    trees. AISTATS.
    Chen, T. and Guestrin, C. (2016). XGBoost: a scalable tree boosting system. KDD.
    Ke, G. et al. (2017). LightGBM: a highly efficient gradient boosting decision tree. NIPS 30.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from weald import GradientBoostingClassifier
    >>> X, X_new, y, y_new = train_test_split(
    ...     *load_breast_cancer(return_X_y=True), random_state=0
    ... )
    >>> model = GradientBoostingClassifier(random_state=0).fit(X, y)
    >>> model.score(X_new, y_new) > 0.95
    True

    Stop when rows held out see no gain:

    >>> early = GradientBoostingClassifier(n_estimators=1000, n_iter_no_change=10, random_state=0)
    >>> early.fit(X, y).n_estimators_ < 1000, early.stop_reason_
    (True, 'no_change')

    A loss of your own is checked against finite differences before it is used:

    >>> import numpy as np
    >>> class Brier:
    ...     kind = "binary"
    ...     def value(self, y, F):
    ...         return (1 / (1 + np.exp(-F)) - y) ** 2
    ...     def gradient(self, y, F):
    ...         p = 1 / (1 + np.exp(-F))
    ...         return 2 * (p - y) * p * (1 - p)
    >>> own = GradientBoostingClassifier(loss=Brier(), n_estimators=20).fit(X, y)
    >>> own.score(X_new, y_new) > 0.9
    True
    """


class GradientBoostingRegressor(GradientRegressor):
    """Gradient boosting of numbers: means, medians, quantiles, counts and amounts.

    A drop-in for scikit-learn's class of the same name. See :mod:`weald.boosting` for the idea.

    Parameters
    ----------
    loss : str or object, default="squared_error"
        "squared_error", "absolute_error", "huber", "quantile", "log_cosh", "poisson", "gamma",
        "tweedie", an object of :mod:`weald.losses` such as ``Tweedie(1.8)``, or your own: an object
        with ``value(y, F)``, ``gradient(y, F)`` and perhaps ``hessian(y, F)``.
    learning_rate : float or "auto", default="auto"
        Every step is multiplied by it. "auto" chooses by the loss and the size of
        the data (:func:`weald.boosting.defaults.choose`), as in all parameters that take the word.
    n_estimators : int or "auto", default="auto"
        Rounds, at most.
    subsample : float, default=1.0
        Share of the rows that each round draws, without replacement.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows a node needs to be split, and rows a leaf needs; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the weight of all rows that a leaf needs.
    max_depth : int, optional
        None sets no limit.
    max_leaf_nodes : int, None or "auto", default="auto"
        Leaves of a tree. "auto" sets no limit if `max_depth` does.
    min_impurity_decrease : float, default=0.0
        Decrease of the mean squared distance to the gradient that a split needs.
    init : None, "zero" or estimator, default=None
        Where scores start: at the best constant, at 0, or at what another model predicts. A model
        that is not fitted is fitted first; one that is, is used as it is.
    random_state : int, RandomState instance or None, default=None
        For rows, columns and trees that are drawn. The same seed gives the same model, bit for bit,
        for any `n_jobs`.
    max_features : int, float, "sqrt", "log2", "auto" or None, default="auto"
        Columns that are drawn and tried at each node; None tries all.
    alpha : float or sequence of float, default=0.9
        For "quantile" the quantile, or several of them: predictions then have a column for each,
        and never cross. For "huber" the quantile of the absolute residuals beyond which they count
        as outliers, found anew in each round; an object ``Huber(delta=2.0)`` keeps its delta.
    warm_start : bool, default=False
        Go on from the last fit: 50 rounds and 50 more are the same, bit for bit, as 100.
    validation_fraction : float or None, default=0.1
        Share of the rows held out to judge by, if `n_iter_no_change` asks for it and ``fit`` is
        given no `X_val`. None judges by the training rows.
    n_iter_no_change : int, "auto" or None, default=None
        Stop when the loss (or score) of the rows held out has not improved by `tol` over so many
        rounds. Predictions then use the rounds up to the best one.
    tol : float, default=1e-4
    verbose : int, default=0
        1 shows a live bar with the time left and the loss.
    l2_regularization : float or "auto", default="auto"
        Added to the sum of second derivatives in gains and steps.
    max_bins : int or None, default=255
        Values of a column are put into so many bins; None keeps all apart.
    categorical_features : "from_dtype", None, list or mask, default="from_dtype"
        Columns that hold categories.
    monotonic_cst : sequence of -1, 0, 1, or dict from column name to these, optional
        Columns in which the prediction must not rise (-1) or not fall (1).
    interaction_cst : "pairwise", "no_interactions", sequence of sets or None, default=None
        Columns that may meet in a branch of a tree. Those in no set form one more.
    scoring : str, callable or None, default="loss"
        What judges the rows held out: the loss, or a metric of scikit-learn. None is the score
        method.
    order : {None, 1, 2}, default=None
        Whether trees are grown by gradients alone or by second derivatives too. None is 2 where
        the step is "newton".
    step : {"auto", "newton", "exact", "line_search", "gradient"}, default="auto"
        What leaves say: the bottom of the parabola; the best value for their rows; what least
        squares says, times one factor for the whole tree with which the training loss never rises;
        or what least squares says. "auto" is in the table of :mod:`weald.boosting`. A loss of your
        own goes by "newton" if it has a hessian, else by "exact".
    min_gain : float or "auto", default="auto"
        Gain that a split needs, in units of the loss summed over rows. "auto" is above 0 for
        second-order trees of losses of classes, "poisson" and "gamma": where only noise is left,
        trees end, and more rounds do no harm.
    min_hessian : float or "auto", default=1e-3
        Sum of second derivatives that a leaf needs (second order only).
    categorical_smoothing : float or "auto", default="auto"
        Rows (on average) that a category needs to choose its side of a split: rarer ones go where
        the missing values go. Categories are put in order by ``G / (H + this)``, and their splits
        are judged with this much more `l2_regularization`.
    sampling : {"uniform", "gradient"}, default="uniform"
        "gradient" keeps the rows with the largest gradients and draws some of the others.
    top_rate, other_rate : float, default=0.2 and 0.1
        Shares of the rows that are kept, and drawn, by "gradient".
    max_features_per_tree : int, float, "sqrt", "log2" or None, default=None
        Columns that each round draws; None takes all.
    growth : {"best_first", "by_level"}, default="best_first"
        Which leaf is split next: that with the largest gain, or level by level.
    dropout : float, default=0.0
        DART: the chance of each earlier round to be left out while a new one is made. The time
        then grows with the square of the rounds.
    max_drop : int, default=50
        Rounds that are left out at most.
    multi_strategy : {"one_tree_per_output", "vector_leaves"}, default="one_tree_per_output"
        With several scores: a tree for each, or one tree whose leaves say all.
    estimator : regressor, optional
        Any regressor as member, instead of weald's trees; fitted to ``-g / h`` with the weights
        ``w h`` (order 2), or to ``-g``. One that takes no weights gets rows drawn by weight.
    callbacks : list, optional
        Objects of :mod:`weald.callbacks`, or functions of a state that return True to stop.
    n_jobs : int, optional
        Threads; None means all cores. The model is the same for any number.

    Attributes
    ----------
    estimators_ : sequence of shape (n_estimators_, n_trees_per_iteration_)
        The trees, made when they are asked for. Their leaves are what is added to the score.
    init_ : float, array or estimator
        Where scores start.
    loss_ : Loss, or a tuple of one for each score if these differ
    n_estimators_ : int
        Rounds that were made.
    best_iteration_ : int
        The round, counted from 1, after which the rows held out were best; without such rows the
        last one. With early stopping predictions use the rounds up to it. (``staged_`` methods go
        on to the last round made.)
    train_score_ : array of shape (n_estimators_,)
        Mean loss of the training rows after each round. (Of a loss of your own that of every
        second, third, ... row, if there are more than 65,536.)
    validation_score_ : array of shape (n_estimators_,)
        The same of the rows held out, or their score by `scoring`; if there are any.
    stop_reason_ : str
        "n_estimators": all rounds were made. "no_change": the rows held out saw no gain.
        "callback": a callback said so. "no_step": the line search found no way down.
    learning_rate_ : float
        What `learning_rate` stands for.
    feature_importances_ : array of shape (d,)
        Share of the gain due to each column.
    n_trees_per_iteration_, n_features_in_, max_features_, seed_ : int
    feature_names_in_ : array, if the columns had names
    n_outputs_ : int

    Notes
    -----
    Several outputs, or quantiles, have a score and a tree each.

    The losses of "huber" that are reported are those for the delta of the first round, so that
    rounds can be compared.

    Weights of rows are numbers of rows: weights that sum to 1 are a fit to one row, on which
    `l2_regularization` and `min_hessian` have a large effect.

    References
    ----------
    See :class:`GradientBoostingClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from weald import GradientBoostingRegressor
    >>> X, X_new, y, y_new = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
    >>> model = GradientBoostingRegressor(max_depth=2, random_state=0).fit(X, y)
    >>> model.score(X_new, y_new) > 0.25
    True

    Three quantiles at once, from the lowest to the highest:

    >>> import numpy as np
    >>> range_ = GradientBoostingRegressor(
    ...     loss="quantile", alpha=[0.1, 0.5, 0.9], max_leaf_nodes=4
    ... ).fit(X, y)
    >>> bool((np.diff(range_.predict(X_new), axis=1) >= 0).all())
    True

    Counts over different times, with the logarithm of the time as offset:

    >>> random = np.random.default_rng(0)
    >>> x, time = random.uniform(size=(500, 1)), random.uniform(1, 10, size=500)
    >>> count = random.poisson(time * np.exp(x[:, 0]))
    >>> rate = GradientBoostingRegressor(loss="poisson", max_depth=1, learning_rate=0.1)
    >>> rate.fit(x, count, offset=np.log(time)).predict([[0.0], [1.0]]).round()
    array([1., 3.])
    """
