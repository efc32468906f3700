"""Tables, outputs and parameters of forests; intervals and importance asked through them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

import weald
from forest.cases import ALL, LABELS, NEW, NOISY, REGRESSORS, X, target
from weald import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

# --- tables, outputs, parameters ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_categories_and_missing_values(kind):
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "one", "two"))
    frame.loc[::7, "b"] = np.nan
    frame.loc[::11, "kind"] = None
    forest = kind(20, random_state=0).fit(frame, target(kind))
    assert forest.score(frame, target(kind)) > 0.8
    assert list(forest.categories_[-1]) == ["one", "two"]
    new = frame.head(3).assign(kind=["three", None, "one"])
    assert len(forest.predict(new)) == 3
    as_codes = frame.assign(kind=frame["kind"].cat.codes.replace(-1, np.nan))
    coded = kind(20, random_state=0, categorical_features=["kind"]).fit(as_codes, target(kind))
    np.testing.assert_array_equal(coded.predict(as_codes), forest.predict(frame))


def test_several_outputs():
    Y = np.c_[LABELS, np.where(X[:, 2] > 0, "yes", "no")]
    forest = RandomForestClassifier(20, random_state=0).fit(X, Y)
    assert forest.n_outputs_ == 2
    assert [shares.shape for shares in forest.predict_proba(NEW)] == [(80, 3), (80, 2)]
    assert [m.shape for m in forest.member_predictions(NEW)] == [(20, 80, 3), (20, 80, 2)]
    assert [(forest.predict(X)[:, k] == Y[:, k]).mean() > 0.95 for k in (0, 1)] == [True, True]
    numbers = ExtraTreesRegressor(10, random_state=0).fit(X, np.c_[NOISY, X[:, 2]])
    assert numbers.predict(NEW).shape == (80, 2)
    assert numbers.member_predictions(NEW).shape == (10, 80, 2)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss", "misclassification"])
def test_classification_criteria(criterion):
    forest = RandomForestClassifier(20, criterion=criterion, random_state=0).fit(X, LABELS)
    assert forest.score(X, LABELS) > 0.95


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_criteria(criterion):
    y = np.exp(NOISY / 3)
    for kind in REGRESSORS:
        assert kind(20, criterion=criterion, random_state=0).fit(X, y).score(X, y) > 0.8
    with pytest.raises(ValueError, match="negative"):
        RandomForestRegressor(criterion="poisson").fit(X, NOISY)


def test_the_criterion_of_friedman():
    with pytest.raises(ValueError, match="same splits as 'squared_error'"):
        RandomForestRegressor(criterion="friedman_mse").fit(X, NOISY)


@pytest.mark.parametrize(
    ("settings", "smaller"),
    [
        ({"max_depth": 3}, True),
        ({"max_leaf_nodes": 8}, True),
        ({"min_samples_leaf": 0.05}, True),
        ({"min_samples_split": 40}, True),
        ({"min_weight_fraction_leaf": 0.1}, True),
        ({"min_impurity_decrease": 0.01}, True),
        ({"ccp_alpha": 0.02}, True),
        ({"max_bins": 4}, False),
        ({"max_bins": None}, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ALL)
def test_rules_of_growth(kind, settings, smaller):
    plain = kind(5, random_state=0).fit(X, target(kind))
    ruled = kind(5, random_state=0, **settings).fit(X, target(kind))
    if smaller:
        assert ruled.forest_.node_counts.sum() < plain.forest_.node_counts.sum() / 1.5
    assert ruled.score(X, target(kind)) > 0.3


def test_monotone_forests():
    forest = RandomForestRegressor(20, monotonic_cst=[1, 0, 0, 0, 0], random_state=0).fit(X, NOISY)
    line = np.repeat(NEW[:1], 50, axis=0)
    line[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(forest.predict(line)) >= -1e-12).all()
    with pytest.raises(ValueError, match="multiclass"):
        RandomForestClassifier(monotonic_cst=[1, 0, 0, 0, 0]).fit(X, LABELS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"bootstrap": 1}, "bootstrap must be"),
        ({"oob_score": "yes"}, "oob_score must be True, False or a function metric"),
        ({"warm_start": 2}, "warm_start must be"),
        ({"ccp_alpha": "cv"}, "ccp_alpha must be a number >= 0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be"),
        ({"tol": -1.0}, "tol must be"),
        ({"keep_partial": None}, "keep_partial must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"max_samples": "half"}, "max_samples must be"),
        ({"max_bins": 256}, "max_bins must be"),
        ({"max_features": 0.0}, "max_features must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "one"}, "random_state must be"),
        ({"criterion": "mse"}, "criterion must be one of"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesRegressor])
def test_parameters_that_make_no_sense(kind, settings, message):
    with pytest.raises(ValueError, match=message):
        kind(**{"n_estimators": 2, "bootstrap": True, **settings}).fit(X, target(kind))


def test_clone_pipeline_and_search():
    forest = RandomForestClassifier(5, bootstrap="balanced", n_iter_no_change=3, random_state=0)
    assert clone(forest).get_params() == forest.get_params()
    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0))
    assert cross_val_score(pipe, *load_iris(return_X_y=True)).mean() > 0.9
    search = GridSearchCV(RandomForestRegressor(5, random_state=0), {"max_depth": [1, 5]}, cv=2)
    assert search.fit(X, NOISY).best_params_ == {"max_depth": 5}


def test_weights_and_groups_are_metadata():
    request = get_routing_for_object(RandomForestClassifier())
    assert set(request.fit.requests) == {"sample_weight", "groups"}
    assert not request.predict.requests


def test_tiny_tables():
    assert RandomForestClassifier(3).fit([[1.0]], ["a"]).predict([[2.0]]).tolist() == ["a"]
    assert RandomForestRegressor(3).fit([[1.0], [2.0]], [1, 1]).predict([[5]]).tolist() == [1.0]
    with pytest.warns(UserWarning, match="OOB"):
        forest = RandomForestRegressor(1, oob_score=True, random_state=0).fit([[1.0]], [1.0])
    assert np.isnan(forest.oob_score_)


# --- intervals and importance are asked through the forest --------------------------------------


def test_intervals_through_the_forest():
    many, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(50, oob_score=True, keep_targets=True, random_state=0)
    forest.fit(many[:300], y[:300])
    for method in ("conformal", "quantile"):
        low, high = forest.predict_interval(many[300:], coverage=0.8, method=method).T
        inside = ((low <= y[300:]) & (y[300:] <= high)).mean()
        assert 0.65 < inside < 0.95
    middle = forest.predict_quantiles(many[300:], [0.1, 0.5, 0.9])
    assert (np.diff(middle, axis=1) >= 0).all()
    with pytest.raises(ValueError, match="method must be one of"):
        forest.predict_interval(many, method="guess")
    plain = RandomForestRegressor(5).fit(many, y)
    with pytest.raises(ValueError, match="keep_targets=True"):
        plain.predict_quantiles(many)
    with pytest.raises(ValueError, match="oob_score=True"):
        plain.predict_interval(many)


def test_importance_through_the_forest():
    forest = RandomForestRegressor(30, random_state=0).fit(X, NOISY)
    for kind in ("impurity", "unbiased", "permutation"):
        result = forest.importance(X, NOISY, kind=kind)
        assert set(np.argsort(-result.mean)[:2]) == {0, 1}


# --- more categories than bins ------------------------------------------------------------------


@pytest.fixture(scope="module")
def cities():
    """400 levels, of which every other is of class 1."""
    level = np.arange(4000) % 400
    return pd.DataFrame({"n": level % 7, "city": level.astype(str)}), level % 2


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(2),
        ExtraTreesClassifier(2, max_bins=100),
        weald.DecisionTreeClassifier(max_bins=255),
        weald.BaggingClassifier(n_estimators=2),
    ],
    ids=str,
)
def test_categories_that_share_a_bin_are_remarked_on(model, cities):
    bins = getattr(model, "max_bins", 255)
    message = f"Column 'city' has 400 categories, but max_bins={bins} keeps only the {bins - 1} .*"
    message += f"the other {401 - bins} for one: max_bins=None"
    with pytest.warns(UserWarning, match=message) as said:
        model.fit(*cities)
    assert len(said) == 1
    assert said[0].filename == __file__


def test_nothing_is_said_where_all_are_kept_apart(cities):
    frame, y = cities
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = RandomForestClassifier(3, max_bins=None, random_state=0).fit(frame, y)
        weald.DecisionTreeClassifier().fit(frame, y)
        RandomForestClassifier(2).fit(np.arange(4000.0)[:, None], y)
        RandomForestClassifier(2).fit(frame[frame["city"].str.len() < 3], y[: 100 * 10])
    assert exact.score(frame, y) == 1.0


def test_several_columns_of_many_categories(cities):
    frame, y = cities
    with pytest.warns(UserWarning, match="Column 'city', the first of 2 such columns, has 400"):
        RandomForestClassifier(2).fit(frame.assign(street=frame["city"]), y)
