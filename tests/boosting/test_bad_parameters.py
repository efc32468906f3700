"""Parameters, losses, members and warm starts that make no sense are refused by name."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from boosting.odd_cases import BOTH, assert_healthy, short
from input.bad_cases import X, Y, refuses
from weald import GradientBoostingClassifier, GradientBoostingRegressor, losses

# --- parameters -----------------------------------------------------------------------------------

BAD_PARAMETERS = {
    "loss": ["nonsense", 3, None, losses.SquaredError],
    "learning_rate": [0, -0.1, np.nan, np.inf, "fast", True, None],
    "n_estimators": [0, -1, 2.5, "many", True, None],
    "subsample": [0, -0.5, 1.5, "half", np.nan, None],
    "min_samples_split": [1, 0, -2, 0.0, 1.5, "2", None],
    "min_samples_leaf": [0, -1, 0.0, 1.0, 1.5, "1", None],
    "min_weight_fraction_leaf": [-0.1, 0.6, "0", None, np.nan],
    "max_depth": [0, -1, 2.5, "3"],
    "max_leaf_nodes": [1, 0, -1, 2.5, "3"],
    "min_impurity_decrease": [-0.1, "0", None, np.nan],
    "init": ["mean", 3, Ridge],
    "random_state": ["seed", -1, 1.5],
    "max_features": [0, -1, 0.0, 1.5, "nonsense"],
    "warm_start": ["yes", 1, None],
    "validation_fraction": [0, 1.0, -0.1, "tenth", np.nan],
    "n_iter_no_change": [0, -1, 2.5, "soon"],
    "tol": [-1, "0", None, np.nan],
    "verbose": [-1, "yes", None],
    "l2_regularization": [-1, "strong", None, np.nan, np.inf],
    "max_bins": [1, 0, -1, 256, 2.5, "8"],
    "monotonic_cst": [[1], [1, 2], [0.5, 0], 3, "up", {"height": 1}],
    "categorical_features": [[2], [-3], ["weight"], [True], [0.5], "nonsense", 1.5],
    "interaction_cst": [[[2]], [[-1]], [[0.5]], "all", 3, [0, 1], [["height"]]],
    "scoring": ["nonsense", 3],
    "order": [0, 3, 1.5, "2", True],
    "step": ["nonsense", 3, None],
    "min_gain": [-1, "0", None, np.nan, np.inf],
    "min_hessian": [-1, "0", None, np.nan, np.inf],
    "sampling": ["nonsense", 3, None],
    "top_rate": [-0.1, 1.1, "0", None],
    "other_rate": [0, -0.1, 1.1, "0", None],
    "max_features_per_tree": [0, -1, 0.0, 1.5, "nonsense"],
    "growth": ["depth_first", None, 3],
    "dropout": [-0.1, 1.0, "0", None, np.nan],
    "max_drop": [0, -1, 1.5, None],
    "multi_strategy": ["nonsense", None],
    "estimator": ["tree", Ridge, LogisticRegression(), 3],
    "callbacks": [3, "stop", [3], [None]],
    "n_jobs": [0, 1.5, "2"],
}
BAD_CLASSIFIER_PARAMETERS = {
    "loss": ["squared_error", "poisson", losses.SquaredError(), losses.Softmax(7)],
    "init": [LinearSVC(), Ridge()],
    "class_weight": ["nonsense", 3, [1, 2], {0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}],
}
BAD_REGRESSOR_PARAMETERS = {
    "loss": ["log_loss", "softmax", losses.LogLoss(), losses.Softmax(3)],
    "alpha": [0, 1, -0.1, 1.5, "half", None, [], [0.1, 1.2], [[0.1]], np.nan],
}


def bad_parameters(table):
    return [
        pytest.param(name, value, id=f"{name}={value}")
        for name, values in table.items()
        for value in values
    ]


def needs(name):
    """What a parameter has a say in only together with others."""
    return {
        "scoring": {"n_iter_no_change": 1},
        "alpha": {"loss": "quantile"},
    }.get(name, {})


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_PARAMETERS))
def test_bad_parameters(kind, name, value):
    with refuses(name):
        short(kind, **needs(name) | {name: value}).fit(X, Y)


@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_CLASSIFIER_PARAMETERS))
def test_bad_classifier_parameters(name, value):
    with refuses(name):
        short(GradientBoostingClassifier, **{name: value}).fit(X, Y)


@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_REGRESSOR_PARAMETERS))
def test_bad_regressor_parameters(name, value):
    with refuses(name):
        short(GradientBoostingRegressor, **needs(name) | {name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"loss": "absolute_error", "order": 2}, "order=2 needs the second derivative"),
        ({"loss": "quantile", "step": "newton"}, "step='newton' needs the second derivative"),
        ({"sampling": "gradient", "subsample": 0.5}, "subsample"),
        ({"sampling": "gradient", "top_rate": 0.6, "other_rate": 0.6}, "top_rate.*other_rate"),
        ({"alpha": [0.1, 0.9]}, "alpha may be a sequence for loss='quantile' only"),
        ({"estimator": Ridge(), "step": "exact"}, "step='exact'"),
        ({"estimator": Ridge(), "monotonic_cst": [1, 0]}, "monotonic_cst is for weald's own trees"),
        ({"estimator": Ridge(), "interaction_cst": "pairwise"}, "interaction_cst"),
        ({"monotonic_cst": [1, 0], "categorical_features": [0]}, "monotonic_cst.*categorical"),
    ],
    ids=str,
)
def test_parameters_that_do_not_go_together(more, message):
    with refuses(message):
        short(GradientBoostingRegressor, **more).fit(X, Y)


def test_monotone_columns_of_many_classes():
    with refuses("monotonic_cst.* two classes"):
        short(GradientBoostingClassifier, monotonic_cst=[1, 0]).fit(X, [0, 1, 2, 0, 1, 2])
    with refuses("several quantiles and y has several outputs"):
        short(GradientBoostingRegressor, loss="quantile", alpha=[0.1, 0.9]).fit(X, np.c_[Y, Y])
    for loss in ("exponential", "smooth_hinge", "focal"):
        with refuses(f"Only binary classification is supported by loss='{loss}'"):
            short(GradientBoostingClassifier, loss=loss).fit(X, [0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize("kind", BOTH)
def test_a_failed_fit_leaves_the_old_model(kind):
    est = short(kind).fit(X, Y)
    before = est.predict(X)
    with refuses("max_depth"):
        est.set_params(max_depth=-1).fit(X[:, :1], Y)
    np.testing.assert_array_equal(est.predict(X), before)
    assert_healthy(est.set_params(max_depth=None).fit(X, Y), X)


# --- losses and members of one's own --------------------------------------------------------------


class Own:
    """A squared loss with a mistake or two."""

    def __init__(self, value=None, gradient=None):
        self._value, self._gradient = value, gradient

    def value(self, y, F):
        return (F - y) ** 2 if self._value is None else self._value(y, F)

    def gradient(self, y, F):
        return 2 * (F - y) if self._gradient is None else self._gradient(y, F)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (Own(gradient=lambda y, F: F - y), "gradient"),
        (Own(gradient=lambda y, F: np.full(len(y), np.nan)), "gradient"),
        (Own(gradient=lambda y, F: np.zeros(3)), "gradient"),
        (Own(value=lambda y, F: np.full(len(y), np.inf)), "value"),
        (Own(value=lambda y, F: "high"), "value"),
    ],
)
def test_a_loss_with_a_mistake(own, message):
    with refuses(message):
        short(GradientBoostingRegressor, loss=own).fit(X, 1.5 * Y)


def test_a_rate_that_is_too_large_is_said_to_be_so():
    rng = np.random.default_rng(0)
    data, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    steep = Own(value=lambda y, F: (F - y) ** 4, gradient=lambda y, F: 4 * (F - y) ** 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with refuses("learning_rate=100 may be too large|must be finite everywhere"):
            GradientBoostingRegressor(
                loss=steep, learning_rate=100.0, step="gradient", n_estimators=200
            ).fit(data, y)


def test_a_member_that_predicts_nonsense():
    class Nonsense(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), np.nan)

    with refuses("Nonsense.*not finite"):
        short(GradientBoostingRegressor, estimator=Nonsense()).fit(X, Y)
    with refuses("init=Nonsense.*not finite"):
        short(GradientBoostingRegressor, init=Nonsense()).fit(X, Y)


# --- warm starts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_a_warm_start_about_something_else_is_refused(kind):
    est = short(kind, warm_start=True).fit(X, Y)
    before = est.predict(X)
    more = {"n_estimators": 5}
    with refuses("n_estimators=2 must be larger or equal"):
        est.set_params(n_estimators=2).fit(X, Y)
    est.set_params(**more)
    with refuses("the columns of X changed"):
        est.fit(X[:, :1], Y)
    with refuses("changed"):
        est.fit(X, np.arange(6) % 3 if kind is BOTH[0] else np.c_[Y, Y])
    with refuses("loss"):
        est.set_params(loss="exponential" if kind is BOTH[0] else "log_cosh").fit(X, Y)
    np.testing.assert_array_equal(est.predict(X), before)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        short(kind, warm_start=True).fit(X, Y).fit(X, Y)
