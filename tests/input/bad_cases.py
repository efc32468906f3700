"""Data and helpers that several of these tests use."""

import re

import numpy as np
import pandas as pd
import pytest

from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

CLASSIFIERS = (DecisionTreeClassifier, ExtraTreeClassifier)
REGRESSORS = (DecisionTreeRegressor, ExtraTreeRegressor)
ALL = CLASSIFIERS + REGRESSORS

X = np.array([[1.0, 5.0], [2.0, 1.0], [3.0, 4.0], [4.0, 2.0], [5.0, 3.0], [6.0, 0.0]])
Y = np.array([0, 0, 1, 0, 1, 1])


def frame(**columns):
    return pd.DataFrame({"height": X[:, 0], "age": X[:, 1], **columns})


def refuses(sentence, *, kinds=(ValueError, TypeError)):
    """The call must fail with a message that says what the pattern asks for."""
    return pytest.raises(kinds, match=sentence)


def assert_healthy(est, data):
    """A usable model: finite numbers, one answer per row."""
    tree = est.tree_
    assert np.all(np.isfinite(tree.value))
    assert np.all(np.isfinite(tree.impurity))
    assert not np.any(np.isnan(tree.threshold[~tree.is_categorical]))
    says = est.predict(data)
    assert len(says) == len(data)
    if hasattr(est, "classes_"):
        assert np.isin(says, est.classes_).all()
        np.testing.assert_allclose(est.predict_proba(data).sum(axis=1), 1)
    else:
        assert np.all(np.isfinite(says))


def try_to_fit(est, data, target, weights=None, sentence=r"\w"):
    """A healthy model (True) or a ValueError or TypeError with a sentence to read (False)."""
    message = None
    try:
        est.fit(data, target, sample_weight=weights)
    except (ValueError, TypeError) as error:
        message = str(error)
    if message is None:
        assert_healthy(est, data)
    else:
        assert re.search(sentence, message)
    return message is None
