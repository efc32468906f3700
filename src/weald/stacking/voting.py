"""Voting: members of any kinds are fitted to all rows, and their predictions averaged or counted.

The face is scikit-learn's, and so is the code of questions; the members are fitted by weald.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import ensemble as sk
from sklearn.utils.validation import check_is_fitted

from weald.combining import add_votes
from weald.crossfit.fits import Fitted, Job
from weald.input.fit_data import FitData
from weald.input.targets import all_or_nothing
from weald.params.names import own_names
from weald.stacking.named import NamedMembers, copies, routed_to_members

__all__ = ["VotingClassifier", "VotingRegressor"]

_Base: Any = sk.VotingRegressor.__bases__[-1]


class VotingEnsemble(NamedMembers, _Base):
    """What voting classifiers and regressors share."""

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Any:
        """Fit the members; labels are codes here already."""
        names, estimators = self._validate_estimators()
        if self.weights is not None and len(self.weights) != len(self.estimators):
            raise ValueError(
                "Number of `estimators` and weights must be equal; got "
                f"{len(self.weights)} weights, {len(self.estimators)} estimators"
            )
        params = routed_to_members(self, names, fit_params)
        candidates = copies(names, estimators, params, ask=lambda *_: None)
        jobs = [Job(m) for m in range(len(candidates))]

        # Lines instead of the bar of all other fits: scikit-learn's own tests of voting want them.
        def told(t: int, fitted: Fitted) -> None:
            print(
                f"[Voting] ({t + 1} of {len(jobs)}) Processing {candidates[t].name}, "
                f"total={fitted.seconds:6.1f}s"
            )

        data = FitData(X, np.asarray(y))
        work = self._fit_jobs(
            candidates, jobs, data, verbose=0, told=told if self.verbose else None
        )
        self._keep([work.done[t].model for t in range(len(jobs))])
        return self

    @property
    def _combination(self) -> str:
        return "votes" if getattr(self, "voting", "soft") == "hard" else "mean"

    @property
    def member_weights_(self) -> npt.NDArray[np.float64]:
        """How much each member counts."""
        given = self._weights_not_none
        return (
            np.ones(len(self._fitted_members()))
            if given is None
            else np.asarray(given, dtype=float)
        )


@own_names
class VotingClassifier(sk.VotingClassifier, VotingEnsemble):
    """A vote of classifiers of any kinds, as scikit-learn's.

    Parameters
    ----------
    estimators : list of (str, classifier)
        A member may be "drop".
    voting : {"hard", "soft"}, default="hard"
        Count the classes members predict, or average their class probabilities.
    weights : array-like of shape (n_members,), optional
        How much each member counts; default: all the same.
    n_jobs : int, optional
        Fits that run at the same time. None means 1; weald's own estimators then use all cores.
    flatten_transform : bool, default=True
        Whether ``transform`` of a soft vote gives one row for each sample.
    verbose : bool, default=False
        Print how long each member took.

    Attributes
    ----------
    estimators_ : list of fitted classifiers
        Fitted to class codes, see `le_`.
    named_estimators_ : Bunch
    le_ : LabelEncoder
    classes_ : array
    member_weights_ : array of shape (n_estimators_,)
    n_estimators_ : int
    n_features_in_, feature_names_in_ : if members know them

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from weald import RandomForestClassifier, VotingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [
    ...     ("linear", LogisticRegression(max_iter=1000)),
    ...     ("bayes", GaussianNB()),
    ...     ("forest", RandomForestClassifier(random_state=0)),
    ... ]
    >>> vote = VotingClassifier(members, voting="soft", weights=[1, 1, 2]).fit(X[::2], y[::2])
    >>> vote.score(X[1::2], y[1::2]) > 0.9, vote.member_predictions(X).shape
    (True, (3, 150, 3))
    """

    def fit(self, X: Any, y: Any, **fit_params: Any) -> VotingClassifier:
        """Fit the members.

        Parameters
        ----------
        X : table, as the members take it
        y : array-like of shape (n,)
        **fit_params : dict
            ``sample_weight``, and with metadata routing whatever members ask for.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return super().fit(X, y, **fit_params)  # type: ignore[no-any-return]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with most votes, or the largest mean share; of equal ones the first.

        Parameters
        ----------
        X : table, as the members take it

        Returns
        -------
        array of shape (n,)
        """
        if self.voting == "soft":
            return super().predict(X)  # type: ignore[no-any-return]
        check_is_fitted(self)
        codes = self._predict(X)
        k = len(self.classes_)
        # scikit-learn counts row by row, with np.bincount, which writes outside its memory if a
        # member says a number that is no class.
        known = codes.dtype.kind in "iu" and ((codes >= 0) & (codes < k)).all()
        if not known:
            raise ValueError(f"A member of this vote predicts a class that is not one of the {k}.")
        tally = np.zeros((len(codes), k))
        for votes, weight in zip(codes.T, self.member_weights_, strict=True):
            add_votes(tally, votes, weight)
        return self.le_.inverse_transform(tally.argmax(axis=1))  # type: ignore[no-any-return]


@own_names
class VotingRegressor(sk.VotingRegressor, VotingEnsemble):
    """The mean of regressors of any kinds, as scikit-learn's.

    Parameters
    ----------
    estimators : list of (str, regressor)
        A member may be "drop".
    weights : array-like of shape (n_members,), optional
        How much each member counts; default: all the same.
    n_jobs : int, optional
        Fits that run at the same time. None means 1; weald's own estimators then use all cores.
    verbose : bool, default=False
        Print how long each member took.

    Attributes
    ----------
    estimators_ : list of fitted regressors
    named_estimators_ : Bunch
    member_weights_ : array of shape (n_estimators_,)
    n_estimators_ : int
    n_features_in_, feature_names_in_ : if members know them

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from weald import RandomForestRegressor, VotingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(random_state=0)
    >>> members = [("linear", LinearRegression()), ("forest", forest)]
    >>> mean = VotingRegressor(members).fit(X[::2], y[::2])
    >>> bool((mean.predict(X) == mean.member_predictions(X).mean(axis=0)).all())
    True
    """

    def fit(self, X: Any, y: Any, **fit_params: Any) -> VotingRegressor:
        """Fit the members.

        Parameters
        ----------
        X : table, as the members take it
        y : array-like of shape (n,)
        **fit_params : dict
            ``sample_weight``, and with metadata routing whatever members ask for.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return super().fit(X, y, **fit_params)  # type: ignore[no-any-return]
