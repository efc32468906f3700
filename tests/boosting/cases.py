"""Data and models that several of these tests use."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from weald import GradientBoostingClassifier, GradientBoostingRegressor, losses

CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
PAIR = (DIABETES[0], np.stack([DIABETES[1], -2 * DIABETES[1]], axis=1))
BOTH = (GradientBoostingClassifier, GradientBoostingRegressor)
SMALL = {"max_depth": 3, "max_features": None, "min_gain": 0.0, "random_state": 0}

NUMBERS = ["squared_error", "absolute_error", "quantile", "huber", "log_cosh"]
POSITIVE = ["poisson", "gamma", "tweedie"]
TWO_CLASSES = ["log_loss", "exponential", "smooth_hinge", "focal"]
LOSSES = [*NUMBERS, *POSITIVE, *TWO_CLASSES, "three classes"]
# All columns at every node and no least gain, whatever "auto" chooses: nothing is left to chance.
PLAIN = {
    "max_features": None,
    "min_gain": 0.0,
    "l2_regularization": 0.0,
    "categorical_smoothing": 2.0,
}
STEPS = ["newton", "exact", "line_search", "gradient"]


def has_hessian(loss):
    return loss not in ("absolute_error", "quantile")


def steps_of(loss):
    return [step for step in STEPS if step != "newton" or has_hessian(loss)]


def model(loss, **settings):
    """An estimator for the loss; ten rounds of small trees unless told otherwise."""
    usual = {"n_estimators": 10, "learning_rate": 0.3, "max_leaf_nodes": 5}
    settings = PLAIN | usual | settings
    if loss == "three classes":
        return GradientBoostingClassifier(loss="log_loss", **settings)
    if loss in TWO_CLASSES:
        return GradientBoostingClassifier(loss=loss, **settings)
    if loss == "huber":  # by name it takes another delta in each round
        loss = losses.Huber(0.7)
    # The laws are about the training rows alone: quantiles are not moved, and no leaf is refused.
    settings = {"calibration": None, "min_samples_leaf": 1} | settings
    return GradientBoostingRegressor(loss=loss, **settings)


def target(loss, rng, signal):
    """Targets of the loss that follow the signal, with some noise."""
    noisy = signal + rng.normal(size=len(signal))
    if loss == "three classes":
        return noisy.argsort().argsort() * 3 // len(noisy)
    if loss in TWO_CLASSES:
        return (noisy > np.median(noisy)).astype(int)
    if loss in POSITIVE:
        return rng.poisson(np.exp(np.clip(noisy, -2, 2))) + (0.5 if loss == "gamma" else 0.0)
    return noisy


def mixed(loss, seed=0, n=80):
    """Real columns, one of them with gaps, and categories (the last); and targets."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(size=(n, 3)), rng.integers(0, 6, n)]
    y = target(loss, rng, X[:, 0] - X[:, 1] * X[:, 2] + np.cos(3 * X[:, 3]))
    X[rng.random(n) < 0.2, 1] = np.nan
    return X, y, rng


def real(loss, seed=0, n=80, d=3):
    """Real columns, so that hardly any two splits are equally good; and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, target(loss, rng, X[:, 0] - X[:, 1] * X[:, 2]), rng


def scores(est, X, **offset):
    """F of the rows, shape (n, K)."""
    if hasattr(est, "classes_"):
        return np.reshape(est.decision_function(X, **offset), (len(X), -1))
    return np.reshape(est.loss_.link.link(est.predict(X, **offset)), (len(X), -1))


def data_of(kind):
    """Bundled data for a classifier or a regressor."""
    return CANCER if kind is GradientBoostingClassifier else DIABETES


def say(model, X):
    """Scores, or numbers."""
    if hasattr(model, "classes_"):
        return model.decision_function(X)
    return model.predict(X)


def stages(model, X):
    """The same after every round."""
    if hasattr(model, "classes_"):
        return list(model.staged_decision_function(X))
    return list(model.staged_predict(X))
