"""Short fits, and what is asked of a model of odd data."""

import re

import numpy as np

from weald import GradientBoostingClassifier, GradientBoostingRegressor

BOTH = (GradientBoostingClassifier, GradientBoostingRegressor)
SHORT = {"n_estimators": 3}


def short(kind, **more):
    return kind(**SHORT | more)


def assert_healthy(est, data):
    """A usable model: finite numbers, one answer per row."""
    says = est.predict(data)
    assert len(says) == len(data)
    if hasattr(est, "classes_"):
        assert np.isin(says, est.classes_).all()
        np.testing.assert_allclose(est.predict_proba(data).sum(axis=1), 1)
    else:
        assert np.isfinite(says).all()
    assert np.isfinite(est.train_score_).all()


def try_to_fit(est, data, target, weights, sentence):
    """A healthy model, or a ValueError or TypeError with a sentence to read."""
    message = None
    try:
        est.fit(data, target, weights)
    except (ValueError, TypeError) as error:
        message = str(error)
    if message is None:
        assert_healthy(est, data)
    else:
        assert re.search(sentence, message)
