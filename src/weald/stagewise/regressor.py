"""Stagewise models of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from weald._engine import FloatArray
from weald.input.fit_data import Validation
from weald.input.labels import check_single_target
from weald.losses import Loss
from weald.members.formula import Formula, link_data
from weald.params.names import own_names
from weald.stagewise.base import StagewiseBase
from weald.tree import DecisionTreeRegressor

__all__ = ["StagewiseRegressor"]


@own_names
class StagewiseRegressor(RegressorMixin, StagewiseBase):
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
        Share of all that was gained since the start, in the loss, which the last
        `n_iter_no_change` rounds have to add. So neither the unit of the target nor the weights
        matter. (Where so many rounds at the learning rate are less than a whole step, that part of
        it.)
    verbose : int, default=0
        1 shows a live bar with the time left and the loss.
    callbacks : list, optional
        Look on, stop, choose the learning rate: see :mod:`weald.callbacks`.
    keep_partial : bool, default=False
        Ctrl-C keeps the members there are, with a warning, instead of raising.

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

    _kind = "regression"

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
        callbacks: Any = None,
        keep_partial: bool = False,
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
        self.callbacks = callbacks
        self.keep_partial = keep_partial

    # --- fit --------------------------------------------------------------------------------------

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
        """Fit the model, one member after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            weald's trees take numbers, strings, categoricals and missing values. Other members get
            the table as it is.
        y : array-like of shape (n,)
            Numbers.
        sample_weight : array-like of shape (n,), optional
            A row of weight k adds what k copies of it add; weight 0 is like its absence. (Where
            rows are drawn, for validation or because a member takes no weights, this holds on
            average.)
        X_val, y_val : table and targets, optional
            Rows to judge by, instead of a `validation_fraction` of the training rows. Their loss
            is kept in `validation_losses_`, and stops the fit if `n_iter_no_change` is given.
        sample_weight_val : array-like, optional
            Weights of these rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, Validation(X_val, y_val, sample_weight_val))

    def _get_estimator(self) -> Any:
        if self.estimator is None:
            return DecisionTreeRegressor(max_depth=3, max_bins=255)
        return self.estimator

    def _read_target(self, y: Any, n: int, again: bool = False) -> FloatArray:
        return check_single_target(y, n)

    def _wrong_kind(self, loss: Loss) -> ValueError:
        return ValueError(
            f"loss={self.loss!r} is a loss of classes: use one of numbers such as 'squared_error', "
            "or StagewiseClassifier."
        )

    def _sides(self) -> npt.NDArray[Any]:
        return np.array([-1, 1])

    def predict(self, X: Any) -> FloatArray:
        """What the model predicts, ``link^-1(init + sum_t nu_t h_t)`` with the link of the loss.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._predictions(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """:meth:`predict` after 1, 2, ... rounds."""
        for F in self._staged_raw(X):
            yield self._predictions(F)

    def _predictions(self, F: FloatArray) -> FloatArray:
        return np.asarray(self.loss_.link.inverse(F))

    def _formula(self) -> Formula:
        return replace(self._raw_formula(), to_answer=(("inverse", link_data(self.loss_.link)),))
