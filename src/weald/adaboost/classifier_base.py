"""What AdaBoost classifiers add: labels, kinds of members, and the questions to the ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin, is_classifier, is_regressor
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from weald.adaboost.algorithms import RULES, Rule, Stage
from weald.adaboost.base import BoostedEnsemble
from weald.adaboost.boosted import BoostedMembers, BoostedTrees
from weald.adaboost.data import BoostData
from weald.adaboost.learners import MemberRounds, Rounds, TreeRounds
from weald.adaboost.loop import History, boost
from weald.adaboost.params import BoostParams
from weald.input.state import require
from weald.input.table import encode_again, encode_labels
from weald.params.growth import check_choice
from weald.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["BoostedClassifier"]

FloatArray = npt.NDArray[np.float64]

_OLD_NAMES = {"SAMME": "samme", "SAMME.R": "real"}  # scikit-learn's


class BoostedClassifier(ClassifierMixin, BoostedEnsemble):
    """Labels in; scores, probabilities and labels out."""

    classes_: npt.NDArray[Any]
    n_classes_: int
    _boosted: BoostedTrees | BoostedMembers

    # --- pickling -------------------------------------------------------------------------------

    def _check_state(self) -> None:
        super()._check_state()
        if "_boosted" in vars(self):
            require(isinstance(self._boosted, BoostedTrees | BoostedMembers), self, "its members")
            require(self._boosted._k == self.n_classes_, self, "n_classes_")

    # --- fit -----------------------------------------------------------------------------------

    def _boost(self, data: BoostData, tree: Any, rule: Rule, params: BoostParams) -> History:
        if self.n_classes_ == 1:  # nothing to tell apart
            self._boosted = self._nobody(rule, tree)
            return History(weights=[data.weights / data.weights.sum()], reason="perfect")
        rounds: Rounds
        if tree is not None and not rule.regression:
            rounds = TreeRounds(tree, data, self.n_classes_, params, self.seed_)
        else:
            member = self.estimator_ if tree is None else tree
            rounds = MemberRounds(
                member, tree is not None, rule, data, self.classes_, params, self.seed_
            )
        boosted = self._nobody(rule, tree)
        alphas: list[float] = []

        def keep(member: Any, stage: Stage, alpha: float) -> None:
            boosted.add(member, stage)
            alphas.append(alpha)

        score = None
        if data.validation is not None:
            held = data.validation
            sums = np.zeros((len(held.y), self.n_classes_))

            def score() -> float:
                last = len(boosted)
                nonlocal sums
                sums += boosted.scores(held.X, np.array(alphas), last - 1, last, self.n_jobs)
                return float(accuracy_score(held.y, self._best(sums), sample_weight=held.weights))

        self._boosted = boosted
        return boost(rounds, rule, params, keep, score, type(self).__name__)

    def _nobody(self, rule: Rule, tree: Any) -> BoostedTrees | BoostedMembers:
        """An ensemble without members yet: of trees like this one, or of any kind."""
        if tree is None:
            return BoostedMembers(rule, self.n_classes_)
        self._describe(tree)
        if not rule.regression:
            tree.classes_, tree.n_classes_ = self.classes_, self.n_classes_
        return BoostedTrees(rule, self.n_classes_, tree)

    def _rule(self) -> Rule:
        name = _OLD_NAMES.get(str(self.algorithm), self.algorithm)
        return RULES[check_choice("algorithm", name, tuple(RULES))]

    def _default_estimator(self, rule: Rule) -> Any:
        kind = DecisionTreeRegressor if rule.regression else DecisionTreeClassifier
        return kind(max_depth=1, max_bins=255)

    def _check_kind(self, member: Any, rule: Rule) -> None:
        if rule.regression and is_classifier(member):
            raise ValueError(
                f"algorithm={self.algorithm!r} fits numbers: estimator={member!r} is a classifier, "
                "give a regressor."
            )
        if not rule.regression and is_regressor(member):
            raise ValueError(f"estimator={member!r} is a regressor: give a classifier.")
        if rule.by_shares and not hasattr(member, "predict_proba"):
            raise ValueError(
                f"algorithm={self.algorithm!r} needs members with predict_proba, which {member!r} "
                "has not: use algorithm='samme'."
            )

    def _check_data(self, rule: Rule) -> None:
        if rule.two_classes and self.n_classes_ > 2:
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

    # --- scores --------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Scores, ``F = sum alpha_t h_t``.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,) for two classes: positive for ``classes_[1]``; (n, n_classes) for more
        """
        return self._as_decision(self._scores(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label with the largest score.

        Parameters
        ----------
        X : table of shape (n, d)
        """
        best = self._best(self._scores(X))
        return self.classes_.take(best)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities that the scores stand for: for two classes ``e^F / (e^F + e^-F)``.

        Returns
        -------
        array of shape (n, n_classes)
        """
        return self._as_shares(self._scores(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Natural logarithm of the probabilities, exact where they are too small for a number."""
        scores = self._scores(X)
        if self.n_classes_ == 2:
            return log_expit(2 * _both_signs(scores[:, 1]))
        return log_softmax(self._spread() * scores, axis=1)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The scores after 1, 2, ... members."""
        for scores in self._staged(X):
            yield self._as_decision(scores).copy()

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """The labels after 1, 2, ... members."""
        for scores in self._staged(X):
            yield self.classes_.take(self._best(scores))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """The probabilities after 1, 2, ... members."""
        for scores in self._staged(X):
            yield self._as_shares(scores)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The accuracy after 1, 2, ... members."""
        for labels in self.staged_predict(X):
            yield float(accuracy_score(y, labels, sample_weight=sample_weight))

    def member_predictions(self, X: Any) -> FloatArray:
        """What every member says, before its vote.

        Returns
        -------
        array of shape (T, n) for two classes, h in [-1, 1] (or any number, by algorithm); else (T,
        n, n_classes)
        """
        check_is_fitted(self)
        X = self._boosted.read(self, X)
        ones = np.ones(len(self.alphas_))
        each = [
            self._as_decision(self._boosted.scores(X, ones, t, t + 1, self.n_jobs))
            for t in range(len(self.alphas_))
        ]
        shape = (0, X.shape[0]) if self.n_classes_ <= 2 else (0, X.shape[0], self.n_classes_)
        return np.array(each) if each else np.empty(shape)

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = self._boosted.read(self, X)
        return self._boosted.scores(X, self.alphas_, 0, len(self.alphas_), self.n_jobs)

    def _staged(self, X: Any) -> Iterator[FloatArray]:
        check_is_fitted(self)
        X = self._boosted.read(self, X)
        return self._boosted.staged(X, self.alphas_, self.n_jobs)

    def _as_decision(self, scores: FloatArray) -> FloatArray:
        return scores if self.n_classes_ > 2 else scores[:, -1]

    def _as_shares(self, scores: FloatArray) -> FloatArray:
        if self.n_classes_ == 2:
            return expit(2 * _both_signs(scores[:, 1]))
        shares: FloatArray = softmax(self._spread() * scores, axis=1)
        return shares

    def _spread(self) -> float:
        return self._boosted.rule.spread(self.n_classes_) if self.n_classes_ > 1 else 1.0

    def _best(self, scores: FloatArray) -> npt.NDArray[np.intp]:
        best: npt.NDArray[np.intp]
        if self.n_classes_ == 2:  # by the sign of what decision_function gives
            best = (scores[:, 1] > 0).astype(np.intp)
        else:
            best = scores.argmax(axis=1)
        return best

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        name = _OLD_NAMES.get(str(self.algorithm), str(self.algorithm))
        tags.classifier_tags.multi_class = not RULES.get(name, RULES["samme"]).two_classes
        return tags


def _both_signs(F: FloatArray) -> FloatArray:
    """Scores of the two classes."""
    return np.stack([-F, F], axis=1)
