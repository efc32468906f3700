"""The super learner in use: real tables, the tools of scikit-learn, its own table and picture."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import log_loss, make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superlearner.cases import CANDIDATES, CLASSIFIERS, XC, YC, X, Y
from weald import (
    BlendingClassifier,
    BlendingRegressor,
    ConditionalClassifier,
    ConditionalRegressor,
    RandomForestClassifier,
    SuperLearnerClassifier,
    SuperLearnerRegressor,
    TableEncoder,
)


def test_defaults_on_a_mixed_table():
    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "kind": rng.choice(["a", "b", "c"], n),
            "size": rng.normal(size=n),
            "flag": rng.integers(0, 2, n).astype(bool),
            "empty": np.nan,
        }
    )
    table.loc[::5, "size"] = np.nan
    y = np.where((table["kind"] == "a") ^ (table["size"] > 0), "yes", "no")
    model = SuperLearnerClassifier(random_state=0).fit(table[:200], y[:200])
    assert not [note for note in model.cv_risks_.notes if "failed" in note]
    assert model.score(table[200:], y[200:]) > 0.85
    assert log_loss(y[200:], model.predict_proba(table[200:])) < 0.5
    numbers = SuperLearnerRegressor(random_state=0).fit(table[:200], (y[:200] == "yes") * 1.0)
    assert numbers.score(table[200:], (y[200:] == "yes") * 1.0) > 0.4


def test_cancer_with_the_defaults():
    points, y = load_breast_cancer(return_X_y=True)
    model = SuperLearnerClassifier(random_state=0).fit(points[::2], y[::2])
    assert log_loss(y[1::2], model.predict_proba(points[1::2])) < 0.15
    forest = RandomForestClassifier(random_state=0).fit(points[::2], y[::2])
    ours = log_loss(y[1::2], model.predict_proba(points[1::2]))
    assert ours < log_loss(y[1::2], forest.predict_proba(points[1::2]))


def test_in_the_company_of_scikit_learn():
    grid = GridSearchCV(
        SuperLearnerRegressor(CANDIDATES, cv=3, random_state=0),
        {"tree__max_depth": [1, 3], "method": ["simplex", "best"], "near": ["drop"]},
        cv=2,
    ).fit(X, Y)
    assert grid.best_score_ > 0.3
    pipe = make_pipeline(StandardScaler(), SuperLearnerClassifier(CLASSIFIERS, cv=3))
    assert pipe.fit(XC, YC).score(XC, YC) > 0.9
    calibrated = CalibratedClassifierCV(SuperLearnerClassifier(CLASSIFIERS, cv=3), cv=3)
    assert calibrated.fit(XC, YC).predict_proba(XC).shape == (150, 3)


def test_metadata_routing():
    from sklearn.model_selection import cross_validate

    w = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    with config_context(enable_metadata_routing=True):
        model = SuperLearnerRegressor(
            [("line", LinearRegression().set_fit_request(sample_weight=True))], cv=3, random_state=0
        ).set_fit_request(sample_weight=True)
        scores = cross_validate(
            model,
            X,
            Y,
            params={"sample_weight": w},
            scoring=make_scorer(mean_squared_error).set_score_request(sample_weight=True),
            cv=2,
            error_score="raise",
        )
    assert np.isfinite(scores["test_score"]).all()


def test_the_table_as_frame_text_and_picture():
    import matplotlib as mpl

    mpl.use("Agg")
    model = SuperLearnerClassifier(
        [*CLASSIFIERS, ("near", KNeighborsClassifier())], cv=3, random_state=0
    ).fit(XC, YC)
    frame = model.cv_risks_.to_frame()
    assert list(frame.columns) == ["candidate", "risk", "standard_error", "weight", "seconds"]
    assert frame["risk"].is_monotonic_increasing
    assert frame["candidate"][0] in str(model.cv_risks_)
    ax = model.cv_risks_.plot()
    assert "log loss" in ax.get_xlabel()
    assert len(ax.get_yticklabels()) == 3


@pytest.mark.parametrize("n", [3, 6, 20])
def test_defaults_on_few_rows(n, recwarn):
    table = pd.DataFrame({"kind": ["a", "b", "c"] * 7, "size": np.arange(21.0)})[:n]
    model = SuperLearnerRegressor(random_state=0).fit(table, np.arange(n))
    assert np.isfinite(model.predict(table)).all()
    if n > 3:
        y = np.arange(n) % 2
        SuperLearnerClassifier(random_state=0).fit(table, y)
    SuperLearnerClassifier(random_state=0).fit(table, ["one"] * n)
    assert not [str(one.message) for one in recwarn if "failed" in str(one.message)]


KINDS = [
    BlendingClassifier(CLASSIFIERS, random_state=0),
    BlendingRegressor(CANDIDATES, random_state=0),
    ConditionalClassifier(CLASSIFIERS, cv=3, random_state=0),
    ConditionalRegressor(CANDIDATES, cv=3, random_state=0),
    SuperLearnerClassifier(CLASSIFIERS, cv=3, random_state=0),
    SuperLearnerRegressor(CANDIDATES, cv=3, random_state=0),
]


@pytest.mark.parametrize("model", KINDS, ids=lambda model: type(model).__name__)
def test_every_mixture_in_company(model):
    points, y = (XC, YC) if is_classifier(model) else (X, Y)
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    fitted = clone(model).fit(points, y, w)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(points), fitted.predict(points))
    clone(fitted).set_params(line="drop").fit(points, y)
    tried = {f"{type(model).__name__.lower()}__line": ["drop", model.estimators[0][1]]}
    grid = GridSearchCV(make_pipeline(StandardScaler(), model), tried, cv=2)
    assert grid.fit(points, y).best_score_ > 0.2
    if is_classifier(model):
        calibrated = CalibratedClassifierCV(model, cv=2).fit(points, y)
        assert calibrated.predict_proba(points).shape == (150, 3)
    with config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True, groups=True)
        asking.set_score_request(sample_weight=False)
        given = {"sample_weight": w, "groups": np.arange(len(y)) % 10}
        scores = cross_validate(asking, points, y, params=given, cv=2, error_score="raise")
    assert np.isfinite(scores["test_score"]).all()


def test_the_encoder_names_its_columns():
    table = pd.DataFrame({"kind": ["a", "b", "c", "a"], "size": [1.0, np.nan, 3.0, 4.0]})
    frame = TableEncoder().set_output(transform="pandas").fit_transform(table)
    assert list(frame.columns) == ["size", "size_missing", "kind_a", "kind_b", "kind_c"]


@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_all_default_candidates(routing):
    table = pd.DataFrame({"size": X[:, 2], "kind": np.where(X[:, 1] > 0, "a", "b")})
    w = np.where(X[:, 2] > 0, 1.5, 0.01)
    with config_context(enable_metadata_routing=routing):
        model = SuperLearnerRegressor(cv=2, random_state=0).fit(table, Y, w)
        classes = SuperLearnerClassifier(cv=2, random_state=0).fit(table, Y > 150, w)
        screened = SuperLearnerRegressor(cv=2, screen=1, random_state=0).fit(table, Y, w)
    for one in (model, classes, screened):
        assert not [note for note in one.cv_risks_.notes if "failed" in note]


def test_the_last_step_of_a_pipeline_gets_the_weights():
    w = np.random.default_rng(0).uniform(0.1, 3, len(Y))
    line = make_pipeline(StandardScaler(), Ridge())
    model = SuperLearnerRegressor([("line", line)], refit=True, cv=3, random_state=0).fit(X, Y, w)
    expected = line.fit(X, Y, ridge__sample_weight=w).predict(X)
    np.testing.assert_allclose(model.predict(X), expected)
