"""Super learner of numbers."""

from __future__ import annotations

from typing import Any

from weald.crossfit.kinds import NumberMixture
from weald.params.names import own_names
from weald.superlearner.base import SuperLearner

__all__ = ["SuperLearnerRegressor"]


@own_names
class SuperLearnerRegressor(SuperLearner, NumberMixture):
    """The mixture of regressors with the least cross-validated risk (van der Laan et al. 2007).

    Every candidate predicts rows that it has not seen; weights that are not negative and sum to 1
    are chosen so that the mixture of what they say has the least risk. As the number of rows grows
    it does as well as the best mixture of the candidates.

    Parameters
    ----------
    estimators : list of (str, regressor), optional
        The candidates; "drop" leaves one out. Default: boosting, forests, and smooth models of the
        encoded table.
    method : {"auto", "simplex", "nnls", "greedy", "best"}, default="auto"
        How the mixture is found. "simplex": weights that are not negative and sum to 1, of the
        least risk. "nnls": non-negative least squares. "greedy": forward selection with
        replacement. "best": all weight to the candidate of least risk ("discrete"). "auto" is
        "simplex".
    risk : None, str, Loss or callable, default=None
        A loss of `weald.losses` by name or object, a scorer of scikit-learn by name, or a function
        ``f(y, prediction)`` to minimise, which gets the weights too if it has a parameter
        `sample_weight`. None is the squared error.
    cv : int, splitter, iterable of (train, test), optional
        Default: 5 shuffled folds, 10 of fewer than 1,000 rows.
    screen : int, selector or callable, optional
        Columns every candidate may see, found on its own training rows: the number of most
        important ones, a selector of scikit-learn, or ``f(X, y) -> columns``.
    refit : bool, default=False
        Fit members with weight again, to all rows, as far as `time_limit` allows. Else a member is
        the mean of its copies on the folds.
    reuse_out_of_bag : bool, default=True
        Forests and bags that draw rows with replacement say by themselves what they would of rows
        they have not seen: one fit takes the place of those on folds. Only where `cv` is None or a
        number, and no groups are given.
    time_limit : float, optional
        Seconds after which the model is made of what there is.
    n_jobs : int, optional
        Threads; None means all cores.
    random_state : int, RandomState instance or None, default=None
    keep_partial : bool, default=False
        On Ctrl-C keep the candidates that are complete.
    verbose : int, default=0
        1 shows a bar over candidates and folds.

    Attributes
    ----------
    cv_risks_ : RiskTable
        Risk, standard error, weight and seconds of each candidate; ``to_frame()``, ``plot()``.
    risk_ : float
        Cross-validated risk of the mixture; a little too good, as its weights were chosen by it.
        ``cv_risk`` gives an honest one.
    weights_ : array of shape (n_estimators_,)
    estimators_ : list
        The members: candidates with weight.
    named_estimators_ : Bunch
    n_estimators_, n_features_in_, seed_ : int
    feature_names_in_ : array, if the columns had names
    stop_reason_ : str

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from weald import RandomForestRegressor, SuperLearnerRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> candidates = [
    ...     ("linear", LinearRegression()),
    ...     ("forest", RandomForestRegressor(random_state=0)),
    ... ]
    >>> model = SuperLearnerRegressor(candidates, random_state=0).fit(X[::2], y[::2])
    >>> bool((model.risk_ <= model.cv_risks_.risk).all()), model.score(X[1::2], y[1::2]) > 0.4
    (True, True)
    """

    def __init__(
        self,
        estimators: Any = None,
        *,
        method: str = "auto",
        risk: Any = None,
        cv: Any = None,
        screen: Any = None,
        refit: bool = False,
        reuse_out_of_bag: bool = True,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        keep_partial: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.method = method
        self.risk = risk
        self.cv = cv
        self.screen = screen
        self.refit = refit
        self.reuse_out_of_bag = reuse_out_of_bag
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_partial = keep_partial
        self.verbose = verbose
