"""Data and helpers that several of these tests use."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

from weald import StagewiseClassifier, StagewiseRegressor

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
BOTH = (StagewiseClassifier, StagewiseRegressor)


def data_of(kind):
    return CANCER if kind is StagewiseClassifier else DIABETES


def problem(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] - X[:, 1] * X[:, -1] + 0.5 * rng.normal(size=n), rng


def say(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


class OwnSquared:
    def value(self, y, F):
        return 0.5 * (F - y) ** 2

    def gradient(self, y, F):
        return F - y
