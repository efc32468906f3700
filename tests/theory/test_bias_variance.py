"""Bias and variance of estimators, against closed forms and laws."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from weald import BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from weald.theory import bias_variance

COEFFICIENTS = np.array([1.0, -2.0, 0.5])
SIGMA = 0.7


class FixedDesign:
    """y = X b + noise at the same rows in every draw, so that ridge has a closed form."""

    def __init__(self, n):
        self.X = np.random.default_rng(5).normal(size=(n, 3))

    def __call__(self, rng, n):
        X = self.X if n == len(self.X) else rng.normal(size=(n, 3))
        return X, X @ COEFFICIENTS + rng.normal(0, SIGMA, len(X))


def linear_truth(X):
    return X @ COEFFICIENTS


@pytest.mark.parametrize("alpha", [0.01, 5.0, 50.0])
def test_ridge_regression_in_closed_form(alpha):
    """Hoerl & Kennard (1970): E b = (X'X + a)^-1 X'X b, Var b = s^2 (X'X + a)^-1 X'X (X'X + a)^-1."""
    design = FixedDesign(30)
    found = bias_variance(
        Ridge(alpha=alpha, fit_intercept=False),
        generator=design,
        truth=linear_truth,
        n_repeats=400,
        n_train=30,
        test_size=2000,
        random_state=0,
    )
    gram = design.X.T @ design.X
    inverse = np.linalg.inv(gram + alpha * np.eye(3))
    away = inverse @ gram @ COEFFICIENTS - COEFFICIENTS
    # Over test rows with unit covariance.
    expected = [SIGMA**2, away @ away, SIGMA**2 * np.trace(inverse @ gram @ inverse)]
    for value, error, truth in zip(found.values[0], found.errors[0], expected, strict=False):
        assert abs(value - truth) < 4 * error + 1e-12
    assert (found.errors[0, :3] < [0.05, 0.2, 0.02]).all()


def wave(X):
    return np.sin(6 * X[:, 0])


def draw_wave(rng, n):
    X = rng.random((n, 1))
    return X, wave(X) + rng.normal(0, 0.5, n)


def test_bagging_lowers_the_variance_and_depth_the_bias():
    models = {
        "stump": DecisionTreeRegressor(max_depth=1),
        "tree": DecisionTreeRegressor(),
        "bagged": BaggingRegressor(n_estimators=20),
    }
    found = bias_variance(models, generator=draw_wave, truth=wave, n_repeats=30, random_state=0)
    stump, tree, bagged = (found.of(name) for name in models)
    assert bagged["variance"] < 0.6 * tree["variance"]
    assert tree["bias"] < 0.1 * stump["bias"]
    assert stump["variance"] < tree["variance"]
    assert tree["noise"] == pytest.approx(0.25, abs=0.05)
    assert "more variance" in found.summary()
    assert found.to_frame().shape == (3, 9)
    assert len(found.plot().containers) >= 3


def draw_classes(rng, n):
    X = rng.normal(size=(n, 2))
    return X, np.array(["no", "yes"])[(rng.random(n) < class_shares(X)[:, 1]).astype(int)]


def class_shares(X):
    p = 1 / (1 + np.exp(-3 * X[:, 0]))
    return np.column_stack([1 - p, p])


def test_zero_one_loss_with_known_shares():
    models = [LogisticRegression(), DecisionTreeClassifier()]
    found = bias_variance(
        models, generator=draw_classes, truth=class_shares, n_repeats=15, random_state=1
    )
    assert found.names == ("LogisticRegression", "DecisionTreeClassifier")
    assert found.loss == "zero_one"
    signs = np.array([1, 1, 1, -1])
    np.testing.assert_allclose(found.values[:, :4] @ signs, found.values[:, 4], atol=1e-12)
    assert (
        found.of("LogisticRegression")["variance"] < found.of("DecisionTreeClassifier")["variance"]
    )
    assert found.plot() is not None


@pytest.mark.parametrize(
    ("resample", "n_train"), [("half", 70), ("bootstrap", 140), ("disjoint", 28)]
)
def test_pools(resample, n_train):
    X, y = draw_wave(np.random.default_rng(0), 200)
    found = bias_variance(
        DecisionTreeRegressor(), X, y, n_repeats=5, resample=resample, random_state=0
    )
    assert (found.n_train, found.n_test) == (n_train, 60)
    assert found.values[0, 0] == 0  # noise is not known
    assert "noise counts as bias" in found.summary()
    assert bias_variance(LinearRegression(), X, y, test_size=30, n_repeats=3).n_test == 30


class Remember(RegressorMixin, BaseEstimator):
    """Predicts the mean of the targets it was fitted to, and keeps how many rows those were."""

    def fit(self, X, y):
        self.mean_, self.rows_ = np.mean(y), len({*X[:, 0]})
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_half_samples_have_the_variance_of_the_whole_pool():
    """Of a mean: s^2 / m, as the docstring says; disjoint parts have that of their own size."""
    X, y = draw_wave(np.random.default_rng(1), 2000)
    variance = {
        way: bias_variance(Remember(), X, y, resample=way, n_repeats=100, random_state=0).values[
            0, 2
        ]
        for way in ("half", "bootstrap", "disjoint")
    }
    s2 = y.var()
    assert variance["half"] == pytest.approx(s2 / 1400, rel=0.5)
    assert variance["bootstrap"] == pytest.approx(s2 / 1400, rel=0.5)
    assert variance["disjoint"] == pytest.approx(s2 / 14, rel=0.5)


def test_the_number_of_jobs_changes_nothing():
    models = [DecisionTreeRegressor(max_features=1), BaggingRegressor(n_estimators=3)]
    one, two = (
        bias_variance(
            models, generator=draw_wave, n_repeats=4, n_jobs=jobs, test_size=50, random_state=7
        ).values
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("estimators", "data", "options", "message"),
    [
        ([], (), {}, "estimators is empty"),
        (3, (), {}, "estimator object with fit"),
        ([Ridge(), LogisticRegression()], (), {}, "all classifiers or all regressors"),
        (Ridge(), (), {}, "Give X and y, or a generator"),
        (Ridge(), ([[1.0]], [1.0]), {"generator": draw_wave}, "either X and y or a generator"),
        (Ridge(), (), {"generator": lambda rng, n: 3}, "must return a pair"),
        (Ridge(), (), {"generator": draw_wave, "loss": "zero_one"}, "is for classifiers"),
        (Ridge(), (), {"generator": draw_wave, "loss": "hinge"}, "loss must be one of"),
        (Ridge(), (), {"generator": draw_wave, "n_repeats": 2}, "n_repeats must be"),
        (Ridge(), (), {"generator": draw_wave, "resample": "no"}, "resample must be one of"),
        (
            Ridge(),
            (),
            {"generator": draw_wave, "truth": lambda X: X},
            "finite numbers, one per row",
        ),
        (Ridge(), ([[1.0]], [1.0]), {}, "leave none for 50 training sets"),
        (Ridge(), ([[1.0]] * 9, [1.0] * 8 + [np.nan]), {}, "missing values"),
        (Ridge(), (np.ones((9, 1)), np.ones((9, 2))), {}, "one target per row"),
        (
            LogisticRegression(),
            (),
            {"generator": draw_classes, "truth": lambda X: np.ones((len(X), 3)), "n_repeats": 3},
            "in the order of the labels",
        ),
    ],
)
def test_bad_input_gets_one_sentence(estimators, data, options, message):
    with pytest.raises(ValueError, match=message):
        bias_variance(estimators, *data, random_state=0, **options)


def test_an_unknown_name():
    found = bias_variance(Ridge(), generator=draw_wave, n_repeats=3, random_state=0)
    with pytest.raises(KeyError, match="there are Ridge"):
        found.of("tree")
