"""AdaBoost for classes: what users see, and the questions to the fitted ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, is_classifier, is_regressor
from sklearn.metrics import accuracy_score

from weald._engine import FloatArray
from weald.adaboost.algorithms import ALGORITHMS, Algorithm
from weald.adaboost.base import AdaBoostBase
from weald.adaboost.combine import RawValues, largest, leaf_tables, probabilities
from weald.adaboost.learners import AdaBoostLearner, EngineWeightedLearner, NumpyWeightedLearner
from weald.adaboost.params import AdaBoostParams
from weald.adaboost.rounds import Score
from weald.input.fit_data import FitData, Validation
from weald.input.labels import encode_again, encode_labels
from weald.input.state import is_array, require
from weald.members.base import Members
from weald.members.formula import Formula, Step, member_tree, trees_of
from weald.members.trees import Trees
from weald.params.growth import check_choice
from weald.params.names import own_names
from weald.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["AdaBoostClassifier"]

_OLD_NAMES = {"SAMME": "samme", "SAMME.R": "real"}  # scikit-learn's


@own_names
class AdaBoostClassifier(ClassifierMixin, AdaBoostBase):
    """Boosting by weights: a vote of members, each fitted to the rows its elders got wrong.

    Rows start with equal weights. Each round fits a member to the weights, measures its error
    ``e``, gives it the vote ``alpha = 1/2 ln((1 - e) / e)`` and multiplies the weights of the rows
    it got wrong by ``e^alpha``, of the others by ``e^-alpha``. The training error is at most the
    product of the sums ``Z`` by which the weights are divided, and that at most ``exp(-2 sum
    edge^2)``, where the edge ``1/2 - e`` is how much better than chance a member is.

    ============  ======================================================================
    algorithm     members and their votes
    ============  ======================================================================
    "samme"       discrete AdaBoost: members vote for one class; any number of classes
    "arc-gv"      as "samme" until no row is wrong, then votes that raise the smallest
                  margin (Breiman)
    "confidence"  members say how sure they are, ``h = 2p - 1``; the vote from the mean
                  margin (Schapire and Singer)
    "real"        half the log odds of the members' class shares; any number of classes
    "gentle"      as "confidence" with a vote of 1: small steps, less moved by outliers
    "logit"       LogitBoost: regression members, Newton steps for the log loss
    ============  ======================================================================

    Parameters
    ----------
    estimator : estimator, optional
        The member, which should be weak. None is a stump, a :class:`weald.DecisionTreeClassifier`
        with ``max_depth=1, max_bins=255`` (for "logit" the regressor; for "arc-gv"
        by ``criterion="misclassification"``, as it needs the largest edge). weald's trees (without
        a `cost_matrix`, or pruning by cross-validation) are grown by the engine; class weights move
        their splits and leaves, while errors count rows by AdaBoost's own weights. Other members
        get the table as it is and class codes as targets; if they take no weights, their rows are
        drawn by weight.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        Multiplies every vote.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same ensemble, bit for bit, for any `n_jobs`. Without `resample`
        and with members that draw nothing it has no effect.
    algorithm : {"samme", "arc-gv", "confidence", "real", "gentle", "logit"}, default="samme"
        See the table above; only "samme" and "real" take more than two classes. scikit-learn's old
        names "SAMME" and "SAMME.R" stand for "samme" and "real".
    resample : bool, default=False
        Draw as many rows as there are by weight, with replacement, instead of giving the weights
        to the member. The error is measured on all rows.
    when_worse : {"stop", "skip", "redraw"}, default="stop"
        If a member is no better than chance: stop, leave it out and go on (if the next could be
        another one, because something is drawn), or draw the rows again (up to ten times a round;
        needs `resample`).
    min_edge : float, default=0.0
        A member must have a larger edge than this.
    n_iter_no_change : int, optional
        Stop when the accuracy on held-out rows has not risen by `tol` for so many rounds.
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
    callbacks : list, optional
        Look on, stop, and choose learning rates: see :mod:`weald.callbacks`. The validation score
        is the accuracy on the rows held out.

    Attributes
    ----------
    estimator_ : estimator
        The member that was copied.
    estimators_ : sequence
        The fitted members. weald's trees are made when they are asked for.
    alphas_, member_weights_ : array of shape (T,)
        Votes, ``1/2 ln((1 - e) / e)`` times the learning rate.
    estimator_weights_ : array of shape (T,)
        The same as scikit-learn states them, ``ln((1 - e) / e)``: twice the alphas.
    errors_, estimator_errors_ : array of shape (T,)
        Weight of the rows a member got wrong, under the weights it was fitted to.
    edges_ : array of shape (T,)
        ``1 - 1/K - e``: how much better than chance, for K classes; 0 of a lone member without a
        vote, which is kept if there is no better one.
    normalizers_ : array of shape (T,)
        The sums Z by which the weights were divided.
    weights_ : array of shape (T + 1, n)
        Weights of the rows before the first round and after each, with ``keep_weights=True``; of
        the training rows only, if some were held out.
    validation_scores_ : array of shape (T,)
        Accuracy on the held-out rows after each round, if there are any.
    stop_reason_ : str
        "n_estimators"; "perfect": a member made no error (see the notes);
        "worse" or "edge": no member with a sufficient edge was found; "no_change"; "callback";
        "interrupted", with `keep_partial`.
    n_estimators_ : int
        T, the number of members.
    classes_ : array
        Labels, sorted; for two classes the first counts as -1 and the second as +1.
    n_classes_, n_features_in_ : int
    feature_names_in_ : array, if the columns had names
    feature_importances_ : array of shape (d,)
        Mean of the members' importances, weighted by their votes.
    seed_ : int

    Notes
    -----
    A member without error, whose vote would be infinite, ends the fit with the largest vote before
    it, and at least 2 (the vote of an error of 1.8 %) times the learning rate. In scikit-learn it
    has 1/2.

    ``decision_function`` is ``F = sum alpha h`` as it is; scikit-learn divides it by the sum of the
    votes, and doubles it for two classes. Labels are the same.

    "real" takes logarithms of class shares: those below a hundredth of an even share, as in pure
    leaves, are taken for that. "logit" cuts its working responses at 4.

    References
    ----------
    Freund, Y. and Schapire, R. (1997). A decision-theoretic generalization of on-line learning and
    an application to boosting. Journal of Computer and System Sciences 55.
    Breiman, L. (1999). Prediction games and arcing algorithms. Neural Computation 11.
    Schapire, R. and Singer, Y. (1999). Improved boosting algorithms using confidence-rated
    predictions. Machine Learning 37.
    Friedman, J., Hastie, T. and Tibshirani, R. (2000). Additive logistic regression: a statistical
    view of boosting. Annals of Statistics 28.
    Zhu, J., Zou, H., Rosset, S. and Hastie, T. (2009). Multi-class AdaBoost. Statistics and its
    Interface 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from weald import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=100).fit(X, y)
    >>> model.score(X, y) > 0.98
    True
    >>> bool((1 - model.score(X, y)) <= model.normalizers_.prod())
    True
    """

    classes_: npt.NDArray[Any]
    n_classes_: int
    _tables: list[FloatArray] | None
    _methods = ALGORITHMS
    _method_parameter = "algorithm"

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        algorithm: str = "samme",
        resample: bool = False,
        when_worse: str = "stop",
        min_edge: float = 0.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        keep_weights: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        keep_partial: bool = False,
        callbacks: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.algorithm = algorithm
        self.resample = resample
        self.when_worse = when_worse
        self.min_edge = min_edge
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.keep_weights = keep_weights
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.keep_partial = keep_partial
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
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Where the weights of the rows start. Without `resample` a row of weight k adds exactly
            what k copies of it add; a row of weight 0 is like its absence.
        X_val, y_val, sample_weight_val : optional
            Rows on which the ensemble is scored after every round; `n_iter_no_change` watches them.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, Validation(X_val, y_val, sample_weight_val))

    # --- what labels are about -------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "_members" not in vars(self) or self._tables is None:
            return
        members, tables = self._members, self._tables
        require(isinstance(members, Trees) and len(tables) == len(members), self, "its tables")
        sizes = self.forest_.node_counts if tables else np.empty(0)
        for table, n in zip(tables, sizes.tolist(), strict=True):
            good = is_array(table, (n, self.n_classes_)) and np.isfinite(table).all()
            require(good, self, "the raw values of a tree")

    @property
    def _algorithm(self) -> Algorithm:
        return ALGORITHMS[self._method]

    def _chosen(self) -> str:
        name = _OLD_NAMES.get(str(self.algorithm), self.algorithm)
        return check_choice("algorithm", name, tuple(ALGORITHMS))

    def _default_estimator(self) -> Any:
        kind = DecisionTreeRegressor if self._algorithm.regression else DecisionTreeClassifier
        stump = kind(max_depth=1, max_bins=255)
        if self._algorithm.by_margin:  # it needs the largest edge there is
            stump.set_params(criterion="misclassification")
        return stump

    def _check_kind(self, member: Any) -> None:
        algorithm = self._algorithm
        if algorithm.regression and is_classifier(member):
            raise ValueError(
                f"algorithm={self.algorithm!r} fits numbers: estimator={member!r} is a classifier, "
                "give a regressor."
            )
        if not algorithm.regression and is_regressor(member):
            raise ValueError(f"estimator={member!r} is a regressor: give a classifier.")
        if algorithm.by_shares and not hasattr(member, "predict_proba"):
            raise ValueError(
                f"algorithm={self.algorithm!r} needs members with predict_proba, which {member!r} "
                "has not: use algorithm='samme'."
            )

    def _check_data(self) -> None:
        if self._algorithm.two_classes and self.n_classes_ > 2:
            raise ValueError(
                f"Only binary classification is supported by algorithm={self.algorithm!r}, "
                f"but y has {self.n_classes_} classes: use algorithm='samme' or 'real'."
            )

    def _read_target(self, y: Any, n: int, again: bool = False) -> npt.NDArray[Any]:
        if again:
            return encode_again(y, n, self.classes_)
        labels = encode_labels(y, n)
        if labels.multi_output:
            raise ValueError("y should be a 1d array: AdaBoost takes one output.")
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        return np.ascontiguousarray(labels.codes[:, 0])

    def _member_classes(self) -> Any:
        return None if self._algorithm.regression else self.classes_

    def _learner(
        self, member: Any, data: FitData, params: AdaBoostParams
    ) -> AdaBoostLearner | None:
        if self.n_classes_ == 1:
            return None
        by_engine, algorithm = self._by_engine(), self._algorithm
        if by_engine and not algorithm.regression and member.class_weight is None:
            return EngineWeightedLearner(member, data, self.n_classes_, params, self.seed_)
        return NumpyWeightedLearner(
            member, by_engine, algorithm, data, self.classes_, params, self.seed_
        )

    def _begin_scores(self, held: FitData) -> Score:
        total = np.zeros((len(held), self.n_classes_))

        def score(members: Members, alphas: FloatArray, t: int) -> float:
            nonlocal total
            total += self._raw_values(members, alphas).one(t, held.X)
            return float(accuracy_score(held.y, largest(total), sample_weight=held.weights))

        return score

    def _keep(self, members: Members, *details: Any) -> None:
        super()._keep(members, *details)
        self._tables = leaf_tables(members, self._algorithm)

    # --- questions to the ensemble ---------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """The sums ``F = sum alpha_t h_t``.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,) for two classes: positive for ``classes_[1]``; (n, n_classes) for more
        """
        return self._as_decision(self._raw(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label with the largest sum.

        Parameters
        ----------
        X : table of shape (n, d)
        """
        best = largest(self._raw(X))  # first: there may be no classes yet
        return self.classes_.take(best)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities that the sums stand for: for two classes ``e^F / (e^F + e^-F)``.

        Returns
        -------
        array of shape (n, n_classes)
        """
        return probabilities(self._raw(X), self._algorithm)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Natural logarithm of the probabilities, exact where they are too small for a number."""
        return probabilities(self._raw(X), self._algorithm, log=True)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The decision function after 1, 2, ... members."""
        for raw in self._staged(X):
            yield self._as_decision(raw)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """The labels after 1, 2, ... members."""
        for raw in self._staged(X):
            yield self.classes_.take(largest(raw))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """The probabilities after 1, 2, ... members."""
        for raw in self._staged(X):
            yield probabilities(raw, self._algorithm)

    def member_predictions(self, X: Any) -> FloatArray:
        """What every member says, before its vote.

        Returns
        -------
        array of shape (T, n) for two classes, h in [-1, 1] (or any number, by algorithm); else (T,
        n, n_classes)
        """
        members = self._fitted_members()
        X = members.read(self, X)
        raw = self._raw_values(members, np.ones(len(members)))
        each = [self._as_decision(raw.one(t, X)) for t in range(len(members))]
        shape = (0, X.shape[0]) if self.n_classes_ <= 2 else (0, X.shape[0], self.n_classes_)
        return np.array(each) if each else np.empty(shape)

    @property
    def _combination(self) -> str:
        return "votes" if self._algorithm.adds == "votes" else "scores"

    def _terms(self, X: Any) -> Iterator[FloatArray]:
        members = self._fitted_members()
        X = members.read(self, X)
        raw = self._raw_values(members, np.ones(len(members)))
        for t in range(len(members)):
            yield raw.one(t, X)

    def _raw_values(self, members: Members, alphas: FloatArray, tables: Any = None) -> RawValues:
        return RawValues(self._algorithm, members, alphas, self.n_classes_, tables, self.n_jobs)

    def _raw(self, X: Any) -> FloatArray:
        members = self._fitted_members()
        X = members.read(self, X)
        return self._raw_values(members, self.alphas_, self._tables).all(X)

    def _staged(self, X: Any) -> Iterator[FloatArray]:
        members = self._fitted_members()
        X = members.read(self, X)
        return self._raw_values(members, self.alphas_, self._tables).staged(X)

    def _formula(self) -> Formula:
        members, algorithm, k = trees_of(self._fitted_members()), self._algorithm, self.n_classes_
        to_raw: tuple[Step, ...] = (("class less others",),)
        if algorithm.adds in ("numbers", "ratios"):
            to_raw = (("both ways",),) if algorithm.adds == "numbers" else ()
        answer: tuple[Step, ...] = (("times", algorithm.spread(k)), ("inverse", ["softmax"]))
        if k <= 2:
            answer = (("last",), ("two shares", ["half_logit"])) if k == 2 else (("ones",),)
        return Formula(
            tree=member_tree(members),
            rounds=len(members),
            start=np.zeros(1 if algorithm.regression else k),
            weights=self.alphas_,
            vote=algorithm.adds == "votes",
            said=self._tables,
            to_raw=to_raw if k > 1 else (),
            to_answer=answer,
            choose="positive" if k == 2 else "largest",
        )

    def _as_decision(self, raw: FloatArray) -> FloatArray:
        return raw if self.n_classes_ > 2 else raw[:, -1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        name = _OLD_NAMES.get(str(self.algorithm), str(self.algorithm))
        tags.classifier_tags.multi_class = not ALGORITHMS.get(name, ALGORITHMS["samme"]).two_classes
        return tags
