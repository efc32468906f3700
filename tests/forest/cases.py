"""Data and helpers that several of these tests use."""

import numpy as np

from weald import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)
ALL = CLASSIFIERS + REGRESSORS

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5))
NOISY = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=300)
LABELS = np.array(["low", "mid", "top"])[np.digitize(NOISY, [0.5, 1.5])]
NEW = rng.normal(size=(80, 5))


def target(kind):
    return LABELS if kind in CLASSIFIERS else NOISY


def answers(forest, rows=NEW):
    return forest.predict_proba(rows) if hasattr(forest, "classes_") else forest.predict(rows)


def same(a, b):
    return np.array_equal(answers(a), answers(b))
