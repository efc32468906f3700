"""What the tests of super learners share: tables, candidates, and some that misbehave."""

import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from weald import DecisionTreeRegressor

X, Y = load_diabetes(return_X_y=True)
XC, YC = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(YC))
XC, YC = XC[ORDER], np.array(["red", "green", "blue"])[YC[ORDER]]
FOLDS = KFold(4, shuffle=True, random_state=3)
CANDIDATES = [
    ("line", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=3)),
    ("near", KNeighborsRegressor()),
]
CLASSIFIERS = [("line", LogisticRegression(max_iter=500)), ("bayes", GaussianNB())]


class Fails(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no luck today")

    def predict(self, X):
        return np.zeros(len(X))


class SaysNothing(Fails):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


class Slow(Fails):
    def fit(self, X, y):
        time.sleep(0.3)
        return self


class Votes(ClassifierMixin, BaseEstimator):
    """Lacks predict_proba and has labels of its own."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), "purple")
