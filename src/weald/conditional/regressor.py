"""Conditional mixture of regressors."""

from __future__ import annotations

from typing import Any

from weald.conditional.base import Conditional
from weald.crossfit.kinds import NumberMixture
from weald.params.names import own_names

__all__ = ["ConditionalRegressor"]


@own_names
class ConditionalRegressor(Conditional, NumberMixture):
    """Regressors that count more where they lose less.

    Members are fitted on folds, as in stacking; a gate learns from what they say of rows they have
    not seen which of them loses least where, and mixes or chooses them row by row (after Jacobs et
    al. 1991). If it finds no such regions the weights are the same everywhere.

    Parameters
    ----------
    estimators : list of (str, regressor)
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
        A loss of `weald.losses`. None is the squared error.
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
        The members.
    named_estimators_ : Bunch
    n_estimators_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names

    Examples
    --------
    Left of 0 the truth is a line, right of it a step:

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from weald import ConditionalRegressor, DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (600, 1))
    >>> y = np.where(X[:, 0] < 0, 3 * X[:, 0], np.sign(X[:, 0] - 0.5)) + rng.normal(0, 0.1, 600)
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_leaf_nodes=4))]
    >>> model = ConditionalRegressor(members, mode="choose", random_state=0).fit(X, y)
    >>> bool(model.risk_ < model.cv_risks_.risk.min())
    True
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
