"""The smooth members: closed forms against brute force, and curves that trees cannot say."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from weald import GradientBoostingRegressor
from weald.superlearner.smooth import (
    LogisticBySize,
    NeighboursBySize,
    RBFFeatures,
    RidgeByLeaveOneOut,
)

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_penalty_is_that_of_least_leave_one_out_error(weighted):
    X, y = RNG.normal(size=(40, 5)), RNG.normal(size=40)
    y += X[:, 0]
    w = RNG.uniform(0.5, 2, 40) if weighted else np.ones(40)
    model = RidgeByLeaveOneOut().fit(X, y, w)

    def left_out(alpha):
        errors = []
        for i in range(40):
            rest = np.arange(40) != i
            one = Ridge(alpha=alpha).fit(X[rest], y[rest], w[rest])
            errors.append(w[i] * (y[i] - one.predict(X[i : i + 1])[0]) ** 2)
        return sum(errors)

    here = left_out(model.alpha_)
    assert all(here <= left_out(model.alpha_ * factor) * 1.001 for factor in (0.2, 0.5, 2, 5))
    same = Ridge(alpha=model.alpha_).fit(X, y, w)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), same.predict(X))


def test_weight_two_is_two_rows():
    X, y = RNG.normal(size=(30, 3)), RNG.normal(size=30)
    w = RNG.integers(1, 3, 30)
    weighed = RidgeByLeaveOneOut().fit(X, y, w.astype(float))
    alpha = weighed.alpha_
    again = np.repeat(np.arange(30), w)
    np.testing.assert_allclose(
        weighed.coef_, Ridge(alpha=alpha).fit(X[again], y[again]).coef_, rtol=1e-6, atol=1e-9
    )


def test_more_columns_than_rows():
    X, y = RNG.normal(size=(20, 50)), RNG.normal(size=20)
    assert np.isfinite(RidgeByLeaveOneOut().fit(X, y).predict(X)).all()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("columns", [4, 450])
def test_logistic_regression_by_either_method(K, columns):
    X = RNG.normal(size=(600, columns))
    y = (X[:, 0] + 0.5 * RNG.normal(size=600) > 0).astype(int) + (K == 3) * (X[:, 1] > 1)
    ours = LogisticBySize().fit(X, y)
    theirs = LogisticRegression(max_iter=2000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.05)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


def test_features_of_the_kernel_have_the_kernel_as_products():
    X, y = RNG.normal(size=(60, 3)), RNG.normal(size=60)
    features = RBFFeatures(60, random_state=0).fit(X, y)
    F = features.transform(X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(F @ F.T, np.exp(squares / (-2 * features.width_**2)), atol=1e-5)


def test_a_curve_is_said_with_fewer_rows_than_by_trees():
    X = RNG.uniform(-2, 2, size=(1300, 3))
    y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + X[:, 2] ** 2 + 0.1 * RNG.normal(size=1300)
    smooth = make_pipeline(RBFFeatures(300, random_state=0), RidgeByLeaveOneOut())
    ours, trees = (
        r2_score(y[300:], model.fit(X[:300], y[:300]).predict(X[300:]))
        for model in (smooth, GradientBoostingRegressor(random_state=0))
    )
    assert ours > max(0.95, trees + 0.01)


def test_the_same_seed_the_same_features():
    X, y = RNG.normal(size=(100, 2)), RNG.integers(0, 3, 100)
    model = RBFFeatures(20, random_state=1)
    one, two = (clone(model).fit(X, y).transform(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert one.shape == (100, 20)


def test_rows_that_are_all_the_same():
    X = np.ones((10, 2))
    F = RBFFeatures(5, random_state=0).fit(X, np.arange(10.0)).transform(X)
    assert np.isfinite(F).all()


def test_neighbours_count_rows_by_weight():
    X, y = RNG.normal(size=(40, 2)), RNG.normal(size=40)
    w = RNG.integers(0, 4, 40).astype(float)
    again = np.repeat(np.arange(40), w.astype(int))
    model = NeighboursBySize(KNeighborsRegressor(5))
    expected = KNeighborsRegressor(5).fit(X[again], y[again]).predict(X)
    np.testing.assert_array_equal(model.fit(X, y, w).predict(X), expected)
    parts = model.fit(X, y, np.where(np.arange(40) < 20, 1.5, 0.5))
    assert (parts.estimator_._y[:, None] == y[:20]).any(axis=1).mean() == pytest.approx(
        0.75, abs=0.05
    )
    few = NeighboursBySize(KNeighborsRegressor(5)).fit(X[:3], y[:3])
    np.testing.assert_allclose(few.predict(X), y[:3].mean())
