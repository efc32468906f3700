"""Stagewise models of two classes: labels in, probabilities out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from weald._engine import FloatArray
from weald.input.fit_data import Validation
from weald.input.labels import encode_again, encode_labels
from weald.input.targets import LogShares
from weald.losses import Loss, names_of
from weald.losses.links import two_shares
from weald.members.formula import Formula, link_data
from weald.params.names import own_names
from weald.stagewise.base import StagewiseBase
from weald.tree import DecisionTreeClassifier

__all__ = ["StagewiseClassifier"]


@own_names
class StagewiseClassifier(LogShares, ClassifierMixin, StagewiseBase):
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

    _kind = "binary"
    classes_: npt.NDArray[Any]
    n_classes_: int

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
            Two classes of any type.
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
            return DecisionTreeClassifier(max_depth=1, max_bins=255)
        return self.estimator

    def _read_target(self, y: Any, n: int, again: bool = False) -> FloatArray:
        if again:
            return encode_again(y, n, self.classes_).astype(np.float64)
        labels = encode_labels(y, n)
        if labels.multi_output:
            raise ValueError("y should be a 1d array, one label per row: fit a model per output.")
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {self.n_classes_} classes, use AdaBoostClassifier or one model per class "
                "(sklearn.multiclass.OneVsRestClassifier)."
            )
        return labels.codes[:, 0].astype(np.float64)

    def _wrong_kind(self, loss: Loss) -> ValueError:
        return ValueError(
            f"loss={self.loss!r} is not a loss of two classes: use "
            f"{', '.join(map(repr, names_of('binary')))}, or a loss of your own whose kind is "
            "'binary'."
        )

    def _sides(self) -> npt.NDArray[Any]:
        return self.classes_

    def _nothing_to_learn(self) -> bool:
        return self.n_classes_ == 1

    def decision_function(self, X: Any) -> FloatArray:
        """Score ``F = init + sum_t nu_t h_t``; above 0 for ``classes_[1]``.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._raw(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class on whose side the score is.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._labels(self._raw(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities, ``P(classes_[1]) = link^-1(F)`` with the link of the loss.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n, n_classes_)
        """
        return self._shares(self._raw(X))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """:meth:`decision_function` after 1, 2, ... rounds."""
        yield from self._staged_raw(X)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """:meth:`predict` after 1, 2, ... rounds."""
        for F in self._staged_raw(X):
            yield self._labels(F)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """:meth:`predict_proba` after 1, 2, ... rounds."""
        for F in self._staged_raw(X):
            yield self._shares(F)

    def _labels(self, F: FloatArray) -> npt.NDArray[Any]:
        return self.classes_.take((F > 0).astype(np.intp))

    def _shares(self, F: FloatArray) -> FloatArray:
        if self.n_classes_ == 1:
            return np.ones((len(F), 1))
        return two_shares(self.loss_.link, F)

    def _formula(self) -> Formula:
        raw = self._raw_formula()
        if self.n_classes_ == 1:
            return replace(raw, choose="first", to_answer=(("ones",),))
        shares = (("two shares", link_data(self.loss_.link)),)
        return replace(raw, choose="positive", to_answer=shares)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
