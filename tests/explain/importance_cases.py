"""Data and models that the tests of importance share."""

import numpy as np

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)


def problem(n=200, seed=0, classes=0, n_outputs=1):
    """Two columns that matter, one with two values and two with many that do not."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(size=(n, 2)), rng.integers(0, 2, n), rng.normal(size=(n, 2))]
    y = (X[:, 0] + np.sin(3 * X[:, 1]))[:, None] + rng.normal(size=(n, n_outputs)) / 2
    if classes:
        y = y.argsort(axis=0).argsort(axis=0) * classes // n
    return X, y[:, 0] if n_outputs == 1 else y


MODELS = {
    "regression": (RandomForestRegressor(8, random_state=0), {}),
    "shallow": (RandomForestRegressor(8, max_depth=2, max_features=2, random_state=0), {}),
    "outputs": (RandomForestRegressor(8, random_state=0), {"n_outputs": 2}),
    "two classes": (RandomForestClassifier(8, random_state=0), {"classes": 2}),
    "classes": (RandomForestClassifier(8, min_samples_leaf=5, random_state=0), {"classes": 4}),
    "class outputs": (
        RandomForestClassifier(8, random_state=0),
        {"classes": 3, "n_outputs": 2},
    ),
    "bagging": (BaggingRegressor(n_estimators=8, random_state=0), {}),
    "patches": (
        BaggingClassifier(
            DecisionTreeClassifier(),
            n_estimators=8,
            max_samples=0.5,
            max_features=0.6,
            bootstrap=False,
            random_state=0,
        ),
        {"classes": 3},
    ),
}


def fitted(name):
    model, what = MODELS[name]
    X, y = problem(**what)
    return model.fit(X, y), X, y
