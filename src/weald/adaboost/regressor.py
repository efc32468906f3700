"""AdaBoost for numbers: what users see, and the questions to the fitted ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone, is_classifier

from weald._engine import FloatArray
from weald.adaboost.base import AdaBoostBase
from weald.adaboost.combine import median, staged_medians
from weald.adaboost.learners import AdaBoostLearner
from weald.adaboost.params import AdaBoostParams
from weald.adaboost.r2 import R2_LOSSES, R2ForeignLearner, R2TreeLearner
from weald.adaboost.rounds import Score
from weald.combining import RunningMedian
from weald.input.fit_data import FitData, Validation
from weald.input.targets import all_or_nothing
from weald.intervals import Calibration, ConformalIntervals
from weald.intervals.copies import TO_CALIBRATE, check_calibration, keep_errors_of_copies
from weald.members.base import Members
from weald.members.formula import Formula, member_tree, trees_of
from weald.params.names import own_names
from weald.tree import DecisionTreeRegressor

__all__ = ["AdaBoostRegressor"]


@own_names
class AdaBoostRegressor(ConformalIntervals, RegressorMixin, AdaBoostBase):
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
        max_bins=255``. weald's trees are grown by the engine. Other members get the table as it is;
        if they take no weights, their rows are drawn by weight.
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

    warm_start : bool, default=False
        Go on from the last fit, on the same data, up to `n_estimators` rounds: the same model as
        if there had been no break. The weights of the rows are found again by asking the members
        there are.
    keep_partial : bool, default=False
        Ctrl-C keeps the members there are, with a warning, instead of raising.
    calibration : "auto", None, int, splitter or iterable of (train, test), default="auto"
        What :meth:`predict_interval` learns errors from. "auto": the rows held out or given for
        validation, if there are any. A number or a splitter: copies of the model on folds, each
        asked about the rows it has not seen; they have no callbacks. None: neither.
    callbacks : list, optional
        Look on, stop, and choose learning rates: see :mod:`weald.callbacks`. The validation score
        is R² on the rows held out.

    Attributes
    ----------
    estimator_ : estimator
        The member that was copied.
    estimators_ : sequence
        The fitted members. weald's trees are made when they are asked for.
    estimator_weights_ : array of shape (T,)
        Votes, ``ln(1 / beta)`` times the learning rate.
    alphas_, member_weights_ : array of shape (T,)
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
        "no_change"; "callback"; "interrupted", with `keep_partial`.
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

    _methods = R2_LOSSES
    _method_parameter = "loss"
    _to_calibrate = TO_CALIBRATE
    _least_vote = 0.0

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
        warm_start: bool = False,
        keep_partial: bool = False,
        calibration: Any = "auto",
        callbacks: Any = None,
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
        self.warm_start = warm_start
        self.keep_partial = keep_partial
        self.calibration = calibration
        self.callbacks = callbacks

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Any:
        """Make the members, one after another.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            weald's trees take numbers, strings, categoricals and missing values. Other members get
            the table as it is.
        y : array-like of shape (n,)
            Numbers.
        sample_weight : array-like of shape (n,), optional
            Where the weights of the rows start. Without `resample` a row of weight k adds exactly
            what k copies of it add; a row of weight 0 is like its absence.
        X_val, y_val, sample_weight_val : optional
            Rows on which the ensemble is scored after every round; `n_iter_no_change` watches them.

        Returns
        -------
        self
        """
        folds = check_calibration(self.calibration)
        with all_or_nothing(self):
            self.__dict__.pop("_calibration", None)
            self._fit(X, y, sample_weight, Validation(X_val, y_val, sample_weight_val))
            if folds is not None and not isinstance(folds, str):
                keep_errors_of_copies(self, folds, X, y, sample_weight)
        return self

    def _see_errors(self, held: FitData) -> None:
        if self.calibration is not None:
            said = median(self._members, held.X, self.estimator_weights_, self.n_jobs)
            self._keep_calibration(
                Calibration.of(held.y, said, held.weights, source="validation rows")
            )

    # --- what numbers are about ------------------------------------------------------------------

    def _default_estimator(self) -> Any:
        return DecisionTreeRegressor(max_depth=3, max_bins=255)

    def _check_kind(self, member: Any) -> None:
        if is_classifier(member):
            raise ValueError(f"estimator={member!r} is a classifier: give a regressor.")

    def _read_target(self, y: Any, n: int, again: bool = False) -> FloatArray:
        # A tree knows which targets its criterion can learn from.
        learns = self._by_engine() and not again
        reader = clone(self.estimator_) if learns else DecisionTreeRegressor()
        target: FloatArray = reader._read_target(y, n)
        if target.shape[1] > 1:
            raise ValueError("y should be a 1d array: AdaBoost takes one output.")
        return target[:, 0]

    def _learner(self, member: Any, data: FitData, params: AdaBoostParams) -> AdaBoostLearner:
        kind = R2TreeLearner if self._by_engine() else R2ForeignLearner
        return kind(member, data, params, self.seed_)

    def _begin_scores(self, held: FitData) -> Score:
        running = RunningMedian()

        def score(members: Members, alphas: FloatArray, t: int) -> float:
            said = members.one(t, held.X, n_jobs=self.n_jobs)[:, 0, 0]
            return _r_squared(held, running.add(said, 2 * alphas[t]))

        return score

    # --- questions to the ensemble ---------------------------------------------------------------

    def _formula(self) -> Formula:
        members = trees_of(self._fitted_members())
        return Formula(
            tree=member_tree(members),
            rounds=len(members),
            start=np.zeros(1),
            weights=self.estimator_weights_,
            median=True,
        )

    def predict(self, X: Any) -> FloatArray:
        """The median of what the members say, weighted by their votes.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        members = self._fitted_members()
        return median(members, members.read(self, X), self.estimator_weights_, self.n_jobs)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """The predictions after 1, 2, ... members.

        All of them are worked out together, in T times the memory of one.
        """
        members = self._fitted_members()
        X = members.read(self, X)
        return iter(staged_medians(members, X, self.estimator_weights_, self.n_jobs))

    @property
    def _combination(self) -> str:
        return "median"

    def member_predictions(self, X: Any) -> FloatArray:
        """What every member says.

        Returns
        -------
        array of shape (T, n)
        """
        members = self._fitted_members()
        return members.each(members.read(self, X), self.n_jobs)[:, :, 0, 0]


def _r_squared(held: FitData, said: FloatArray) -> float:
    """R² on the validation rows; where their targets are all the same, 1 if right and else 0."""
    weights = held.filled_weights
    missed, centred = held.y - said, held.y - np.average(held.y, weights=weights)
    unit = float(np.abs(centred[weights > 0]).max())
    if np.ptp(held.y[weights > 0]) == 0 or unit == 0:  # equal numbers may have a rounded mean
        return float(not missed[weights > 0].any())
    # In units of the spread, whose square is not too small for a number.
    with np.errstate(over="ignore"):
        score = 1 - float(weights @ (missed / unit) ** 2) / float(weights @ (centred / unit) ** 2)
    return max(score, -np.finfo(np.float64).max)
