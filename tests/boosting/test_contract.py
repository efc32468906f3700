"""What is said about bad input, grid search, defaults, and scikit-learn's own checks."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from boosting.cases import CANCER, DIABETES, IRIS, PAIR
from peers.contract import contract
from weald import GradientBoostingClassifier, GradientBoostingRegressor, callbacks, losses

# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "log_loss"}, "loss must be one of 'squared_error'"),
        ({"loss": losses.LogLoss()}, "is a loss of classes"),
        ({"learning_rate": 0}, "learning_rate must be a finite number > 0 or 'auto', got 0"),
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"n_estimators": "many"}, "n_estimators must be"),
        ({"subsample": 0.0}, "subsample must be a number above 0"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be a whole number >= 2"),
        ({"l2_regularization": -1}, "l2_regularization must be a finite number >= 0 or 'auto'"),
        ({"order": 3}, "order must be None, 1 or 2"),
        ({"order": 2, "loss": "absolute_error"}, "order=2 needs the second derivative"),
        ({"step": "huge"}, "step must be one of"),
        ({"step": "newton", "loss": "quantile"}, "step='newton' needs the second derivative"),
        ({"sampling": "best"}, "sampling must be one of"),
        ({"sampling": "gradient", "top_rate": 0.95}, "must not exceed 1 together"),
        ({"sampling": "gradient", "subsample": 0.5}, "leave subsample at 1"),
        ({"dropout": 1.0}, "dropout must be a number from 0 to 1"),
        ({"max_drop": 0}, "max_drop must be"),
        ({"growth": "wide"}, "growth must be one of"),
        ({"alpha": 1.0}, "alpha must be a number between 0 and 1"),
        ({"alpha": [0.1, 0.9]}, "alpha may be a sequence for loss='quantile' only"),
        ({"alpha": [0.1, 0.1], "loss": "quantile"}, "alpha must be a number"),
        ({"init": "mean"}, "init must be None, 'zero' or an estimator"),
        ({"init": 3}, "init must be None, 'zero' or an estimator"),
        ({"max_features_per_tree": 0}, "max_features_per_tree must be"),
        ({"interaction_cst": "none"}, "interaction_cst must be"),
        ({"interaction_cst": [{99}]}, "interaction_cst has the index 99"),
        ({"monotonic_cst": [1]}, "monotonic_cst has shape"),
        ({"multi_strategy": "both"}, "multi_strategy must be one of"),
        ({"estimator": Ridge(), "monotonic_cst": [1]}, "monotonic_cst is for weald's own trees"),
        ({"estimator": Ridge(), "step": "exact"}, "step='exact' sets the leaves"),
        ({"estimator": LogisticRegression()}, "is a classifier: give a regressor"),
        ({"estimator": 3}, "estimator must be None or an estimator"),
        ({"callbacks": [3]}, "callbacks must be None"),
        ({"scoring": "best", "n_iter_no_change": 2}, "scoring='best'"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be"),
        ({"validation_fraction": 1.0}, "validation_fraction must be"),
        ({"min_gain": -1}, "min_gain must be"),
        ({"min_hessian": "x"}, "min_hessian must be"),
        ({"tol": -1}, "tol must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    X, y = DIABETES
    model = GradientBoostingRegressor(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")  # nothing half-done


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "exponential"}, "Only binary classification is supported by"),
        ({"loss": losses.Softmax(n_classes=4)}, "is for 4 classes, but y has 3"),
        ({"loss": "squared_error"}, "loss must be one of 'log_loss'"),
        ({"loss": losses.SquaredError()}, "is a loss of numbers"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "not supported with more than two classes"),
        ({"class_weight": "heavy"}, "class_weight must be"),
    ],
)
def test_bad_parameters_of_classifiers_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingClassifier(**settings).fit(*IRIS)


def test_bad_data_is_named():
    X, y = DIABETES
    model = GradientBoostingRegressor(n_estimators=2)
    with pytest.raises(ValueError, match=r"offset must have shape \(442,\)"):
        model.fit(X, y, offset=[1.0])
    with pytest.raises(ValueError, match="offset must be finite, got nan in row 3"):
        model.fit(X, y, offset=np.where(np.arange(442) == 3, np.nan, 0.0))
    with pytest.raises(ValueError, match="poisson needs targets >= 0, got -1"):
        GradientBoostingRegressor(loss="poisson").fit(X, -np.ones(442))
    with pytest.raises(ValueError, match="offset_val belongs to the rows of X_val"):
        model.fit(X, y, offset_val=y)
    with pytest.raises(ValueError, match="X_val is provided, but y_val was not"):
        model.fit(X, y, X_val=X)
    model.fit(X, y)
    with pytest.raises(ValueError, match="offset must have shape"):
        model.predict(X, offset=y[:3])
    with pytest.raises(ValueError, match="several outputs"):
        GradientBoostingRegressor(loss="quantile", alpha=[0.1, 0.9]).fit(*PAIR)


# --- scikit-learn ---------------------------------------------------------------------------------


def test_grid_search():
    X, y = CANCER
    grid = {"max_depth": [1, 2], "callbacks": [None, [callbacks.TimeLimit(60)]]}
    few = GradientBoostingClassifier(n_estimators=5, learning_rate=0.3)
    search = GridSearchCV(few, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.9


def test_defaults_are_one_table():
    from weald.boosting.defaults import Task, choose

    X, y = DIABETES
    chosen = choose(Task(len(X), X.shape[1], family="numbers"))
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    given = GradientBoostingRegressor(
        learning_rate=chosen.learning_rate,
        n_estimators=chosen.n_estimators,
        max_leaf_nodes=chosen.max_leaf_nodes,
        max_features=chosen.max_features,
        l2_regularization=chosen.l2,
        min_gain=chosen.min_gain,
        min_hessian=chosen.min_hessian,
        random_state=0,
    ).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), given.predict(X))
    assert model.n_estimators_ == chosen.n_estimators


EXACT = [
    GradientBoostingClassifier(n_estimators=5),
    GradientBoostingClassifier(n_estimators=5, loss="exponential", order=1),
    GradientBoostingClassifier(n_estimators=5, multi_strategy="vector_leaves"),
    GradientBoostingRegressor(n_estimators=5, learning_rate=0.3),
    GradientBoostingRegressor(n_estimators=5, loss="absolute_error", learning_rate=0.5),
    GradientBoostingRegressor(n_estimators=5, loss="poisson", learning_rate=0.5),
    GradientBoostingRegressor(n_estimators=5, estimator=Ridge(), learning_rate=0.5),
    GradientBoostingRegressor(n_estimators=3, step="line_search", init=LinearRegression()),
]
DRAWN = [
    GradientBoostingClassifier(n_estimators=5, subsample=0.7),
    GradientBoostingClassifier(n_estimators=5, n_iter_no_change=2),
    GradientBoostingRegressor(
        n_estimators=5, learning_rate=0.3, sampling="gradient", top_rate=0.4, other_rate=0.4
    ),
    GradientBoostingRegressor(n_estimators=10, dropout=0.2, learning_rate=0.5),
]


@pytest.mark.parametrize(("estimator", "check"), contract(EXACT, DRAWN))
def test_estimator_contract(estimator, check):
    check(estimator)
