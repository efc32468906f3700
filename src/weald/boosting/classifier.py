"""Gradient boosting of classes: labels in, scores, probabilities and labels out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_expit, log_softmax

from weald._engine import FloatArray
from weald.boosting.base import GradientEnsemble
from weald.boosting.objective import Objective
from weald.input.fit_data import Validation
from weald.input.labels import encode_again, encode_labels
from weald.input.targets import LabelTarget, Weights
from weald.losses import LOSSES, Logit, SoftmaxLink, get_loss, names_of
from weald.losses.links import two_shares
from weald.members.formula import Formula, link_data
from weald.params.growth import refuse
from weald.params.names import own_names

__all__ = ["GradientBoostingClassifier"]


@own_names
class GradientBoostingClassifier(LabelTarget, GradientEnsemble):
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
        Every step is multiplied by it. "auto" chooses by the loss, the size of the data and what
        else is given (:func:`weald.boosting.defaults.choose`), as in all parameters that take the
        word.
    n_estimators : int or "auto", default="auto"
        Rounds, at most. With "auto" a fit ends when its trees find no split any more.
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
        Go on from the last fit: 50 rounds and 50 more are the same, bit for bit, as 100. (The
        number of rounds then has no say in what "auto" means.)
    validation_fraction : float or None, default=0.1
        Share of the rows held out to judge by, if `n_iter_no_change` asks for it and ``fit`` is
        given no `X_val`. None judges by the training rows.
    n_iter_no_change : int, "auto" or None, default=None
        Stop when the loss (or score) of the rows held out has not improved by `tol` over so many
        rounds. Predictions then use the rounds up to the best one.
    tol : float, default=1e-4
        Share of all that was gained since the start, in the loss or score, which the last
        `n_iter_no_change` rounds have to add. So neither the unit of the target nor the weights
        matter. (Where so many rounds at the learning rate are less than a whole step, that part of
        it.)
    verbose : int, default=0
        1 shows a live bar with the time left and the loss.
    l2_regularization : float or "auto", default="auto"
        Added to the sum of second derivatives in gains and steps.
    max_bins : int or None, default=255
        Values of a column are put into so many bins; None keeps all apart.
    categorical_features : "from_dtype", None, list or mask, default="from_dtype"
        Columns that hold categories. By default those of string or categorical type; a list (of
        names or of indices) or a mask names others that are categories too. None: no column does.
    monotonic_cst : sequence of -1, 0, 1, or dict from columns to these, optional
        Columns in which the prediction must not rise (-1) or not fall (1); in a dict by name or
        index.
    interaction_cst : "pairwise", "no_interactions", sequence of sets or None, default=None
        Columns, by name or index, that may meet in a branch of a tree. Those in no set form one
        more.
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
    min_hessian : float or "auto", default="auto"
        Sum of second derivatives that a leaf needs (second order only). "auto" is 1e-3, but for
        losses with a unit.
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
    keep_partial : bool, default=False
        Ctrl-C keeps the rounds made so far, with a warning, instead of raising.
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
        "callback": a callback said so. "no_step": the line search found no way down. "no_split":
        trees found no split any more (`n_estimators` "auto" only).
        "one_class": there is nothing to learn.
    learning_rate_, l2_regularization_, min_gain_, min_hessian_, categorical_smoothing_ : float
    max_leaf_nodes_, n_iter_no_change_ : int or None
    max_features_, min_samples_leaf_, order_ : int
    step_ : str
        What these parameters stand for: as given, or what "auto" (or None) chose. The HTML picture
        of a fitted model shows them beside the parameters.
    feature_importances_ : array of shape (d,)
        Share of the gain due to each column.
    n_trees_per_iteration_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names
    classes_ : array
    n_classes_ : int

    Notes
    -----
    More than two classes have a score and a tree each. Their steps use the diagonal of the second
    derivatives, as those of XGBoost and LightGBM. The second derivative of "focal", which can be
    negative, and of "smooth_hinge", which can be 0, is taken for at least 0.01.

    Weights that are all whole are numbers of rows. Others have no scale: they are taken as if they
    were 1 on average, so that shares that sum to 1 and the same in millions give the same model.

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

    _kind = "classification"
    _balances_by_weight = True  # as if rows were repeated
    classes_: npt.NDArray[Any]
    n_classes_: int

    def __init__(
        self,
        *,
        loss: Any = "log_loss",
        learning_rate: float | str = "auto",
        n_estimators: int | str = "auto",
        subsample: float = 1.0,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        max_leaf_nodes: int | str | None = "auto",
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = "auto",
        warm_start: bool = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int | str | None = None,
        tol: float = 1e-4,
        verbose: int = 0,
        l2_regularization: float | str = "auto",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Any = None,
        scoring: Any = "loss",
        order: int | None = None,
        step: str = "auto",
        min_gain: float | str = "auto",
        min_hessian: float | str = "auto",
        categorical_smoothing: float | str = "auto",
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        max_features_per_tree: int | float | str | None = None,
        growth: str = "best_first",
        dropout: float = 0.0,
        max_drop: int = 50,
        multi_strategy: str = "one_tree_per_output",
        estimator: Any = None,
        callbacks: Any = None,
        keep_partial: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.scoring = scoring
        self.order = order
        self.step = step
        self.min_gain = min_gain
        self.min_hessian = min_hessian
        self.categorical_smoothing = categorical_smoothing
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.max_features_per_tree = max_features_per_tree
        self.growth = growth
        self.dropout = dropout
        self.max_drop = max_drop
        self.multi_strategy = multi_strategy
        self.estimator = estimator
        self.callbacks = callbacks
        self.keep_partial = keep_partial
        self.n_jobs = n_jobs

    # --- fit ------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        offset_val: Any = None,
    ) -> Any:
        """Boost, one round after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Numbers, booleans, strings or categoricals; missing values are welcome. (An `estimator`
            or an `init` gets the table as it is.)
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            A row of weight k adds exactly what k copies of it add, where no rows are drawn. A row
            of weight 0 is like its absence.
        offset : array-like of shape (n,) or (n, n_raw), optional
            Added to the score of each row, such as the logarithm of its exposure. Give it to
            ``predict`` as well.
        X_val, y_val, sample_weight_val, offset_val : optional
            Rows to judge by after every round. With `n_iter_no_change` they decide when to stop,
            instead of a `validation_fraction` of the training rows. Where the training rows have
            an `offset`, these need one. `class_weight` does not count for them.

        Returns
        -------
        self
        """
        held = Validation(X_val, y_val, sample_weight_val, offset_val)
        return self._fit(X, y, sample_weight, offset, held)

    def _read_target(self, y: Any, n: int, again: bool = False) -> FloatArray:
        if again:
            return encode_again(y, n, self.classes_).astype(np.float64)
        labels = encode_labels(y, n)
        if labels.multi_output:
            raise ValueError("y should be a 1d array, one label per row: fit a model per output.")
        self.n_outputs_ = 1
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        return labels.codes[:, 0].astype(np.float64)

    def _row_weights(self, y: FloatArray, weights: Weights) -> Weights:
        return super()._row_weights(y.astype(np.int32)[:, None], weights)

    def _make_objective(self) -> Objective:
        given, K = self.loss, self.n_classes_
        if isinstance(given, str) and given not in names_of("binary"):
            names = ", ".join(map(repr, names_of("binary")))
            raise refuse("loss", f"one of {names}, or an object with value and gradient", given)
        several = isinstance(given, str) and LOSSES[given].multiclass and K > 2
        loss = get_loss(given, n_classes=K) if several else get_loss(given)
        if loss.kind == "regression":
            raise ValueError(
                f"loss={given!r} is a loss of numbers: use 'log_loss' or another one of classes, "
                "an object whose kind is 'binary' or 'multiclass', or GradientBoostingRegressor."
            )
        if loss.kind == "binary":
            if K > 2:
                raise ValueError(
                    f"Only binary classification is supported by loss={given!r}, but y has {K} "
                    "classes: use 'log_loss'."
                )
            return Objective((loss,), 1)
        if loss.n_classes not in (None, K):
            raise ValueError(f"loss={given!r} is for {loss.n_classes} classes, but y has {K}.")
        return Objective((loss,), K)

    def _nothing_to_learn(self) -> bool:
        return self.n_classes_ == 1

    def _truth(self, y: FloatArray) -> npt.NDArray[Any]:
        return self.classes_.take(y.astype(np.intp))

    # --- questions ------------------------------------------------------------------------------

    def decision_function(self, X: Any, *, offset: Any = None) -> FloatArray:
        """Scores ``F = init + offset + sum of what the trees say``.

        Parameters
        ----------
        X : table of shape (n, d)
        offset : array of shape (n,) or (n, n_classes_), optional
            Added to the scores, as in ``fit``.

        Returns
        -------
        array of shape (n,) for two classes, positive for ``classes_[1]``; (n, n_classes_) for more
        """
        return self._as_decision(self._raw(X, offset))

    def predict(self, X: Any, *, offset: Any = None) -> npt.NDArray[Any]:
        """The label with the largest score.

        Parameters
        ----------
        X : table of shape (n, d)
        offset : array of shape (n,) or (n, n_classes_), optional

        Returns
        -------
        array of shape (n,)
        """
        return self._as_labels(self._raw(X, offset))

    def predict_proba(self, X: Any, *, offset: Any = None) -> FloatArray:
        """Probabilities that the scores stand for, by the link of the loss.

        Parameters
        ----------
        X : table of shape (n, d)
        offset : array of shape (n,) or (n, n_classes_), optional

        Returns
        -------
        array of shape (n, n_classes_)
        """
        return self._as_shares(self._raw(X, offset))

    def predict_log_proba(self, X: Any, *, offset: Any = None) -> FloatArray:
        """Natural logarithm of the probabilities, exact where they are too small for a number."""
        F, link = self._raw(X, offset), self._objective.link
        if self.n_classes_ > 1 and isinstance(link, Logit):
            return log_expit(np.concatenate([-F, F], axis=1))
        if self.n_classes_ > 1 and isinstance(link, SoftmaxLink):
            return log_softmax(F, axis=1)
        with np.errstate(divide="ignore"):
            return np.log(self._as_shares(F))

    def staged_decision_function(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray]:
        """:meth:`decision_function` after 1, 2, ... rounds, all that were made."""
        for F in self._staged_raw(X, offset):
            yield self._as_decision(F)

    def staged_predict(self, X: Any, *, offset: Any = None) -> Iterator[npt.NDArray[Any]]:
        """:meth:`predict` after 1, 2, ... rounds, all that were made."""
        for F in self._staged_raw(X, offset):
            yield self._as_labels(F)

    def staged_predict_proba(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray]:
        """:meth:`predict_proba` after 1, 2, ... rounds, all that were made."""
        for F in self._staged_raw(X, offset):
            yield self._as_shares(F)

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf each row ends in.

        Returns
        -------
        array of shape (n, n_estimators_, n_trees_per_iteration_)
        """
        members = self._fitted_members()
        return members.leaves(members.read(self, X), self.n_jobs)

    def _as_decision(self, F: FloatArray) -> FloatArray:
        if self.n_classes_ > 2:
            return F
        decision: FloatArray = F[:, 0] if F.shape[1] == 1 else F[:, 1] - F[:, 0]
        return decision

    def _as_labels(self, F: FloatArray) -> npt.NDArray[Any]:
        if self.n_classes_ == 1:
            return self.classes_.take(np.zeros(len(F), dtype=np.intp))
        if self.n_classes_ == 2:
            best = (self._as_decision(F) > 0).astype(np.intp)
        else:
            best = F.argmax(axis=1)
        return self.classes_.take(best)

    def _as_shares(self, F: FloatArray) -> FloatArray:
        link = self._objective.link
        if self.n_classes_ == 1:
            return np.ones((len(F), 1))
        if F.shape[1] > 1:
            return np.asarray(link.inverse(F))
        return two_shares(link, F[:, 0])

    def _formula(self) -> Formula:
        raw = self._raw_formula()
        if self.n_classes_ == 1:
            return replace(raw, choose="first", to_answer=(("ones",),))
        link = link_data(self._objective.link)
        if len(raw.start) > 1:
            return replace(raw, choose="largest", to_answer=(("inverse", link),))
        return replace(raw, choose="positive", to_answer=(("two shares", link),))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        if isinstance(self.loss, str):
            two = self.loss in names_of("binary") and LOSSES[self.loss].multiclass is None
        else:
            two = getattr(self.loss, "kind", None) == "binary"
        tags.classifier_tags.multi_class = not two
        return tags
