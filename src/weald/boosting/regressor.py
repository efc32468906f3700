"""Gradient boosting of numbers: numbers in, numbers out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_pinball_score

from weald._engine import FloatArray
from weald.boosting.base import GradientEnsemble
from weald.boosting.objective import Objective
from weald.input.fit_data import FitData, Validation
from weald.input.labels import check_squares, check_target
from weald.input.targets import all_or_nothing
from weald.intervals.conformal import (
    Calibration,
    ConformalIntervals,
    conformal_interval,
    of_new_rows,
)
from weald.intervals.copies import TO_CALIBRATE, check_calibration, keep_errors_of_copies
from weald.losses import LOSSES, Huber, Quantile, get_loss, names_of
from weald.members.formula import Formula, link_data
from weald.params.growth import is_real, refuse
from weald.params.names import own_names

__all__ = ["GradientBoostingRegressor"]


@own_names
class GradientBoostingRegressor(ConformalIntervals, RegressorMixin, GradientEnsemble):
    """Gradient boosting of numbers: means, medians, quantiles, counts and amounts.

    A drop-in for scikit-learn's class of the same name. See :mod:`weald.boosting` for the idea.

    Parameters
    ----------
    loss : str or object, default="squared_error"
        "squared_error", "absolute_error", "huber", "quantile", "log_cosh", "poisson", "gamma",
        "tweedie", an object of :mod:`weald.losses` such as ``Tweedie(1.8)``, or your own: an object
        with ``value(y, F)``, ``gradient(y, F)`` and perhaps ``hessian(y, F)``.
    learning_rate : float or "auto", default="auto"
        Every step is multiplied by it. "auto" chooses by the loss, the size of the data and what
        else is given (:func:`weald.boosting.defaults.choose`), as in all parameters that take the
        word.
    n_estimators : int or "auto", default="auto"
        Rounds, at most. With "auto" a fit ends when its trees find no split any more.
    subsample : float, default=1.0
        Share of the rows that each round draws, without replacement.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a share of all rows.
    min_samples_leaf : int, float or "auto", default="auto"
        Rows a leaf needs. "auto" is 1; of quantiles such that 3 rows lie beyond each of them (30
        for 0.1 or 0.9), but at most a tenth of all rows.
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
    calibration : "auto", None, int, splitter or iterable of (train, test), default="auto"
        What :meth:`predict_interval` learns errors from, and how far quantiles are moved so that
        they hold on new rows. "auto": the rows held out or given for validation, if there are any;
        else, for quantiles only, copies of the model on five folds, until 2,000 rows (or all) are
        predicted by a copy that has not seen them. A number or a splitter makes copies for any
        loss, on all of its folds; they have no callbacks. None: neither.
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
    learning_rate_, l2_regularization_, min_gain_, min_hessian_, categorical_smoothing_ : float
    max_leaf_nodes_, n_iter_no_change_ : int or None
    max_features_, min_samples_leaf_, order_ : int
    step_ : str
        What these parameters stand for: as given, or what "auto" (or None) chose. The HTML picture
        of a fitted model shows them beside the parameters.
    feature_importances_ : array of shape (d,)
        Share of the gain due to each column.
    calibration_ : str or None
        Which rows :meth:`predict_interval` learned errors from: "validation rows", "rows of the
        folds" or "calibration rows"; None: of no rows.
    quantile_shift_ : array of shape (n_raw,)
        How far quantiles were moved by `calibration`; if they were.
    n_trees_per_iteration_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names
    n_outputs_ : int

    Notes
    -----
    Several outputs, or quantiles, have a score and a tree each.

    The losses of "huber" that are reported are those for the delta of the first round, so that
    rounds can be compared.

    Weights that are all whole are numbers of rows. Others have no scale: they are taken as if they
    were 1 on average, so that shares that sum to 1 and the same in millions give the same model.

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

    _kind = "regression"
    _to_calibrate = TO_CALIBRATE

    def __init__(
        self,
        *,
        loss: Any = "squared_error",
        learning_rate: float | str = "auto",
        n_estimators: int | str = "auto",
        subsample: float = 1.0,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float | str = "auto",
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        max_leaf_nodes: int | str | None = "auto",
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = "auto",
        alpha: Any = 0.9,
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
        calibration: Any = "auto",
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
        self.alpha = alpha
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
        self.calibration = calibration
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
        y : array-like of shape (n,) or (n, n_outputs)
            Numbers.
        sample_weight : array-like of shape (n,), optional
            A row of weight k adds exactly what k copies of it add, where no rows are drawn. A row
            of weight 0 is like its absence.
        offset : array-like of shape (n,) or (n, n_raw), optional
            Added to the score of each row, such as the logarithm of its exposure. Give it to
            ``predict`` as well.
        X_val, y_val, sample_weight_val, offset_val : optional
            Rows to judge by after every round. With `n_iter_no_change` they decide when to stop,
            instead of a `validation_fraction` of the training rows. Where the training rows have
            an `offset`, these need one.

        Returns
        -------
        self
        """
        held = Validation(X_val, y_val, sample_weight_val, offset_val)
        folds = check_calibration(self.calibration)
        with all_or_nothing(self):
            for name in ("_calibration", "quantile_shift_"):
                self.__dict__.pop(name, None)
            self._fit(X, y, sample_weight, offset, held)
            auto = isinstance(folds, str)
            wanted = self._objective.shares_below is not None and "_calibration" not in vars(self)
            if folds is not None and (wanted or not auto):
                keep_errors_of_copies(self, folds, X, y, sample_weight, offset)
        return self

    def _see_errors(self, held: FitData) -> None:
        if self.calibration is not None:
            model = self._model
            F = model.start.raw(held.given, len(held), held.offset)
            F = model.added(held.X, F, 0, model.used, self.n_jobs, model.used_scales)
            said = self._as_numbers(F)
            self._keep_calibration(
                Calibration.of(held.y, said, held.weights, source="validation rows")
            )

    @property
    def calibration_(self) -> str | None:
        """Which rows intervals (and quantiles) are calibrated on; None: on none."""
        self._fitted_model()
        known: Calibration | None = vars(self).get("_calibration")
        return None if known is None else known.source

    def _keep_calibration(self, calibration: Calibration) -> None:
        """Move quantiles so that they hold on the calibration rows."""
        shares = self._objective.shares_below
        if shares is not None and len(calibration):
            shift = calibration.shift(shares)
            calibration = calibration.moved(shift)
            known = getattr(self, "quantile_shift_", 0.0)
            self.quantile_shift_ = self._model.shift = known + shift
        self._calibration = calibration

    def _end_columns(self) -> tuple[int, int] | None:
        quantiles = self._several_quantiles()
        return None if quantiles is None else (int(np.argmin(quantiles)), int(np.argmax(quantiles)))

    def _read_target(self, y: Any, n: int, again: bool = False) -> FloatArray:
        target = check_target(y, n)
        check_squares(target)
        if not again:
            self.n_outputs_ = target.shape[1]
        elif target.shape[1] != self.n_outputs_:
            raise ValueError(f"there are {target.shape[1]} outputs, but y has {self.n_outputs_}.")
        return target if self.n_outputs_ > 1 else np.ascontiguousarray(target[:, 0])

    def _make_objective(self) -> Objective:
        given, K = self.loss, self.n_outputs_
        if isinstance(given, str) and given not in names_of("regression"):
            names = ", ".join(map(repr, names_of("regression")))
            raise refuse("loss", f"one of {names}, or an object with value and gradient", given)
        quantiles = self._quantiles()
        if isinstance(given, str) and given == "quantile":
            if len(quantiles) > 1 and K > 1:
                raise ValueError(
                    "alpha asks for several quantiles and y has several outputs: fit a model per "
                    "output."
                )
            losses = tuple(map(Quantile, quantiles))
            return Objective(losses if K == 1 else losses * K, max(K, len(losses)))
        if np.ndim(self.alpha) > 0:
            raise ValueError("alpha may be a sequence for loss='quantile' only.")
        if isinstance(given, str) and given == "huber":
            return Objective((Huber(),) * K, K, alpha=quantiles[0])
        loss = get_loss(given)
        if loss.kind != "regression":
            raise ValueError(
                f"loss={given!r} is a loss of classes: use one of numbers such as "
                "'squared_error', or GradientBoostingClassifier."
            )
        return Objective((loss,) * K, K)

    def _quantiles(self) -> list[float]:
        """What `alpha` asks for."""
        wanted = "a number between 0 and 1 (exclusive), or a sequence of different ones"
        try:
            given = [self.alpha] if np.ndim(self.alpha) == 0 else list(self.alpha)
        except (TypeError, ValueError) as error:
            raise refuse("alpha", wanted, self.alpha) from error
        good = all(is_real(q) and 0 < q < 1 for q in given)
        if not given or not good or len(set(given)) < len(given):
            raise refuse("alpha", wanted, self.alpha)
        return [float(q) for q in given]

    def _truth(self, y: FloatArray) -> npt.NDArray[Any]:
        return y

    # --- questions ------------------------------------------------------------------------------

    def predict(self, X: Any, *, offset: Any = None) -> FloatArray:
        """What the model predicts, ``link^-1(init + offset + sum of what the trees say)``.

        Parameters
        ----------
        X : table of shape (n, d)
        offset : array of shape (n,) or (n, n_raw), optional
            Added to the scores, as in ``fit``.

        Returns
        -------
        array of shape (n,); (n, n_outputs_) for several outputs, (n, n_quantiles) for several
        quantiles, in the order of `alpha` and such that they never cross
        """
        return self._as_numbers(self._raw(X, offset))

    def predict_interval(self, X: Any, coverage: float = 0.9, *, offset: Any = None) -> FloatArray:
        """Intervals that should hold the targets of new rows (conformal).

        Parameters
        ----------
        X : table of shape (n, d)
        coverage : float
            Share of the targets that the intervals should hold.
        offset : array of shape (n,) or (n, n_raw), optional
            As in :meth:`predict`.

        Returns
        -------
        array of shape (n, 2), or (n, n_outputs, 2)
            Lower and upper ends; see :func:`weald.intervals.conformal_interval`. They need
            `calibration`, or :meth:`calibrate`. Of several quantiles they begin and end as far
            from the outer ones as it takes; else they are as wide for all rows.
        """
        return conformal_interval(self, X, coverage, offset=offset)

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Any:
        """Learn the errors from rows that were not used to fit the model, in place of those known.

        Quantiles are moved such that they hold on these rows.

        Parameters
        ----------
        X : table of shape (n, d)
        y : array-like of shape (n,) or (n, n_outputs)
        sample_weight : array-like of shape (n,), optional
        offset : array of shape (n,) or (n, n_raw), optional
            As in :meth:`predict`.

        Returns
        -------
        self
        """
        predicted = self.predict(X, offset=offset)
        self._keep_calibration(of_new_rows(predicted, y, sample_weight))
        return self

    def staged_predict(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray]:
        """:meth:`predict` after 1, 2, ... rounds, all that were made."""
        for F in self._staged_raw(X, offset):
            yield self._as_numbers(F)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the share of the variance that is explained.

        For several quantiles the mean of D², the share of each one's loss (that of the best
        constant quantile) that is saved.
        """
        return self._rated(y, self.predict(X), sample_weight)

    def _rated(self, y: Any, said: FloatArray, weights: Any) -> float:
        quantiles = self._several_quantiles()
        if quantiles is None:
            return super()._rated(y, said, weights)
        each = [
            d2_pinball_score(y, said[:, k], sample_weight=weights, alpha=q)
            for k, q in enumerate(quantiles)
        ]
        return float(np.mean(each))

    def _several_quantiles(self) -> list[float] | None:
        if self.n_outputs_ > 1 or self._objective.n_raw == 1:
            return None
        return [loss.quantile for loss in self._objective.losses if isinstance(loss, Quantile)]

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Number of the leaf each row ends in.

        Returns
        -------
        array of shape (n, n_estimators_), or (n, n_estimators_, n_trees_per_iteration_) if a round
        has several trees
        """
        return self.leaf_index(X)

    def _as_numbers(self, F: FloatArray) -> FloatArray:
        said = np.asarray(self._objective.link.inverse(F))
        if said.shape[1] == 1:
            return said[:, 0]
        quantiles = self._several_quantiles()
        if quantiles is not None:  # the lowest prediction for the lowest of them, and so on
            in_order = np.empty_like(said)
            in_order[:, np.argsort(quantiles)] = np.sort(said, axis=1)
            return in_order
        return said

    def _formula(self) -> Formula:
        raw, steps = self._raw_formula(), [("inverse", link_data(self._objective.link))]
        quantiles = self._several_quantiles()
        if quantiles is not None:
            steps.append(("in order", np.argsort(quantiles).tolist()))
        return replace(raw, to_answer=tuple(steps))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        loss = LOSSES.get(self.loss) if isinstance(self.loss, str) else self.loss
        positive = bool(getattr(loss, "positive_only", False))
        tags.target_tags.positive_only = positive
        # Several quantiles are predictions of another shape than the targets.
        tags.target_tags.multi_output = np.ndim(self.alpha) == 0 and not positive
        return tags
