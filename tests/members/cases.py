"""Members of all kinds, with rows to ask them about."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as PeerTree

import weald

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 5))
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.5])]
NUMBERS = X[:, 0] - X[:, 1] ** 2 + rng.normal(scale=0.1, size=120)
NEW = rng.normal(size=(40, 5))
ROUNDS = 7
SOME = {"n_estimators": ROUNDS, "random_state": 0}


@dataclass(frozen=True)
class Case:
    """An ensemble, fitted; its members are asked by themselves."""

    model: Any
    votes: bool = False

    @property
    def members(self):
        return self.model._members

    @property
    def rows(self):
        return self.members.read(self.model, NEW)


def _bag(kind, member, y, **settings):
    return kind(member, **SOME, **settings).fit(X, y)


CASES = {
    "forest of classes": Case(
        weald.RandomForestClassifier(max_depth=4, **SOME).fit(X, LABELS), votes=True
    ),
    "forest of numbers": Case(weald.ExtraTreesRegressor(max_depth=4, **SOME).fit(X, NUMBERS)),
    "forest of two outputs": Case(
        weald.RandomForestRegressor(max_depth=4, **SOME).fit(X, np.c_[NUMBERS, X[:, 2]])
    ),
    "trees with columns of their own": Case(
        _bag(weald.BaggingRegressor, None, NUMBERS, max_features=3)
    ),
    "boosted trees, three a round": Case(
        weald.GradientBoostingClassifier(max_depth=2, **SOME).fit(X, LABELS)
    ),
    "AdaBoost's trees": Case(
        weald.AdaBoostClassifier(weald.DecisionTreeClassifier(max_depth=2), **SOME).fit(X, LABELS),
        votes=True,
    ),
    "other classifiers": Case(_bag(weald.BaggingClassifier, GaussianNB(), LABELS), votes=True),
    "others with columns of their own": Case(
        _bag(weald.BaggingClassifier, PeerTree(max_depth=2), LABELS, max_features=2), votes=True
    ),
    "other regressors": Case(_bag(weald.BaggingRegressor, LinearRegression(), NUMBERS)),
    "boosted others, three a round": Case(
        weald.GradientBoostingClassifier(estimator=LinearRegression(), **SOME).fit(X, LABELS)
    ),
}
