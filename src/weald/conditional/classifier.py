"""Conditional mixture of classifiers."""

from __future__ import annotations

from typing import Any

from weald.conditional.base import Conditional
from weald.crossfit.kinds import ClassMixture
from weald.params.names import own_names

__all__ = ["ConditionalClassifier"]


@own_names
class ConditionalClassifier(Conditional, ClassMixture):
    """Classifiers that count more where they lose less.

    Members are fitted on folds, as in stacking; a gate learns from what they say of rows they have
    not seen which of them loses least where, and mixes or chooses them row by row (after Jacobs et
    al. 1991). If it finds no such regions the weights are the same everywhere.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The candidates; "drop" leaves one out.
    gate : regressor, optional
        Of several targets, what each candidate loses on a row; default: a random forest. A shallow
        ``DecisionTreeRegressor`` makes few regions that can be read.
    mode : {"mix", "choose"}, default="mix"
        Mix the members by weights that depend on the row, or let the one that is expected to lose
        least speak alone.
    outputs : bool, default=False
        The gate sees what members say of a row as well as its columns.
    risk : None, str or Loss, default=None
        A loss of `weald.losses`. None is the log loss.
    cv : int, splitter, iterable of (train, test), optional
        Default: 5 folds.
    refit : bool, default=True
        Fit members again, to all rows. Else a member is the mean of its copies on the folds.
    n_jobs : int, optional
        Threads; None means all cores.
    random_state : int, RandomState instance or None, default=None
    keep_partial : bool, default=False
        On Ctrl-C keep the candidates that are complete.
    verbose : int, default=0
        1 shows a bar.

    Attributes
    ----------
    gate_ : fitted regressor
    risk_, overall_risk_ : float
        Risk of the mixture, and of the one with the same weights everywhere, on rows that neither
        members nor gate have seen.
    weights_ : array of shape (n_estimators_,)
        Mean weights.
    cv_risks_ : RiskTable
    estimators_ : list
        The members. Fitted to class codes.
    named_estimators_ : Bunch
    classes_ : array
    n_classes_ : int
    n_estimators_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from weald import ConditionalClassifier, DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (800, 2))
    >>> y = np.where(X[:, 0] < 0, X[:, 1] > 0, (4 * X[:, 1]).astype(int) % 2 == 0).astype(int)
    >>> tree = DecisionTreeClassifier(min_samples_leaf=20)
    >>> members = [("linear", LogisticRegression()), ("tree", tree)]
    >>> model = ConditionalClassifier(members, random_state=0).fit(X[::2], y[::2])
    >>> model.risk_ <= model.overall_risk_, model.score(X[1::2], y[1::2]) > 0.85
    (True, True)
    """

    def __init__(
        self,
        estimators: Any,
        *,
        gate: Any = None,
        mode: str = "mix",
        outputs: bool = False,
        risk: Any = None,
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        keep_partial: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.gate = gate
        self.mode = mode
        self.outputs = outputs
        self.risk = risk
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_partial = keep_partial
        self.verbose = verbose
