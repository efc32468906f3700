"""Rows whose weights differ by many orders of magnitude: the lightest may decide a bound."""

import warnings

import numpy as np
import pytest

from weald import AdaBoostClassifier, DecisionTreeClassifier


def problem(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 60), rng.integers(1, 4)
    X = rng.normal(size=(n, d)).round(rng.integers(0, 3))
    score = X[:, 0] + rng.choice([0, 0.5, 3]) * rng.normal(size=n)
    y = score.argsort(kind="stable").argsort(kind="stable") * 2 // n
    return X, y, 10 ** rng.uniform(-12, 12, n), int(rng.integers(1, 4)), rng.choice([0.5, 1, 1.7])


@pytest.mark.parametrize("seed", range(2900, 3000))
def test_the_product_of_the_normalizers_is_the_exponential_loss(seed):
    X, y, w, depth, rate = problem(seed)
    member = DecisionTreeClassifier(max_depth=depth)
    model = AdaBoostClassifier(member, n_estimators=10, learning_rate=rate)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No member of")
        model.fit(X, y, w)
    shares = w / w.max() / (w / w.max()).sum()
    loss = (shares * np.exp(-(2 * y - 1) * model.decision_function(X))).sum()
    assert loss == pytest.approx(model.normalizers_.prod(), rel=1e-6)
