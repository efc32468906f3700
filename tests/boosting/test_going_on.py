"""Gradient boosting goes on: warm starts, stages, early stopping, callbacks."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from boosting.cases import BOTH, CANCER, DIABETES, IRIS, SMALL, data_of, say, stages
from weald import GradientBoostingClassifier, GradientBoostingRegressor, callbacks

# --- the same bits --------------------------------------------------------------------------------

SETTINGS = [
    {},
    {"subsample": 0.5},
    {"sampling": "gradient"},
    {"max_features_per_tree": 2, "max_features": 1},
    {"dropout": 0.3},
    {"n_iter_no_change": 50},
    {"dropout": 0.3, "n_iter_no_change": 50},
    {"estimator": Ridge(), "subsample": 0.5},
    {"step": "line_search"},
    {"growth": "by_level"},
]


@pytest.mark.parametrize("more", [{}, {"n_iter_no_change": 50}, {"estimator": Ridge()}], ids=str)
def test_rounds_without_dropout_follow_rounds_with_it(more):
    X, y = DIABETES
    model = GradientBoostingRegressor(n_estimators=6, dropout=0.5, warm_start=True, random_state=0)
    model.set_params(**more).fit(X, y)
    before = model.member_weights_
    model.set_params(n_estimators=9, dropout=0.0).fit(X, y)
    np.testing.assert_array_equal(model.member_weights_, [*before, 1.0, 1.0, 1.0])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.predict(X), [*model.staged_predict(X)][model._model.used - 1]
    )


@pytest.mark.parametrize("kind", BOTH)
def test_a_fit_that_has_stopped_early_does_not_go_on(kind):
    X, y = data_of(kind)
    model = kind(n_estimators=40, learning_rate=0.5, n_iter_no_change=2, random_state=0)
    whole = clone(model).set_params(n_estimators=60).fit(X, y)
    assert whole.stop_reason_ == "no_change"
    parts = clone(model).set_params(warm_start=True).fit(X, y)
    parts.set_params(n_estimators=60).fit(X, y)
    assert (parts.stop_reason_, len(parts)) == ("no_change", len(whole))
    np.testing.assert_array_equal(say(whole, X), say(parts, X))
    parts.set_params(n_iter_no_change=20).fit(X, y)
    assert len(parts) > len(whole)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_warm_start_changes_nothing(kind, settings):
    X, y = data_of(kind)
    model = kind(n_estimators=12, random_state=3, max_leaf_nodes=8, warm_start=True, **settings)
    whole = clone(model).fit(X, y)
    parts = clone(model).set_params(n_estimators=5).fit(X, y)
    parts.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(say(whole, X), say(parts, X))
    np.testing.assert_array_equal(whole.train_score_, parts.train_score_)
    if "n_iter_no_change" in settings:
        np.testing.assert_array_equal(whole.validation_score_, parts.validation_score_)
    one = clone(model).set_params(n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(say(whole, X), say(one, X))
    copy = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(say(whole, X), say(copy, X))


@pytest.mark.parametrize("several", ["one_tree_per_output", "vector_leaves"])
def test_a_warm_start_of_several_classes(several):
    X, y = IRIS
    model = GradientBoostingClassifier(
        n_estimators=8, multi_strategy=several, warm_start=True, **SMALL
    )
    whole = clone(model).fit(X, y)
    parts = clone(model).set_params(n_estimators=3).fit(X, y)
    parts.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(say(whole, X), say(parts, X))


def test_what_a_warm_start_refuses():
    X, y = DIABETES
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal"):
        model.set_params(n_estimators=2).fit(X, y)
    model.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="the columns of X changed"):
        model.fit(X[:, :2], y)
    with pytest.raises(ValueError, match="loss changed"):
        model.set_params(loss="poisson").fit(X, y)
    assert model.n_estimators_ == 3  # as before


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("settings", [{}, {"dropout": 0.3}, {"estimator": Ridge()}], ids=str)
def test_the_last_stage_is_the_model(kind, settings):
    X, y = data_of(kind)
    model = kind(n_estimators=6, random_state=0, **settings).fit(X, y)
    each = stages(model, X)
    assert len(each) == 6
    np.testing.assert_array_equal(each[-1], say(model, X))
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y)


# --- when to stop ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_early_stopping_uses_the_best_round(kind):
    X, y = data_of(kind)
    model = kind(n_estimators=500, n_iter_no_change=5, learning_rate=0.5, **SMALL).fit(X, y)
    assert model.stop_reason_ == "no_change"
    assert model.n_estimators_ < 500
    assert len(model.train_score_) == len(model.validation_score_) == model.n_estimators_
    assert model.best_iteration_ == model.validation_score_.argmin() + 1
    np.testing.assert_array_equal(stages(model, X)[model.best_iteration_ - 1], say(model, X))


def test_given_validation_rows_are_watched():
    X, y = DIABETES
    model = GradientBoostingRegressor(n_estimators=30, **SMALL)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert model.n_estimators_ == 30
    last = 0.5 * np.mean((model.predict(X[300:]) - y[300:]) ** 2)
    assert model.validation_score_[-1] == pytest.approx(last)
    model.set_params(n_iter_no_change=3, n_estimators=500, learning_rate=0.5)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    best = 0.5 * np.mean((model.predict(X[300:]) - y[300:]) ** 2)
    assert model.validation_score_.min() == pytest.approx(best)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", None])
def test_metrics_may_judge(scoring):
    X, y = CANCER
    train, held = np.arange(400), np.arange(400, len(y))
    model = GradientBoostingClassifier(
        n_estimators=10, n_iter_no_change=10, scoring=scoring, **SMALL
    ).fit(X[train], y[train], X_val=X[held], y_val=y[held])
    from sklearn.metrics import check_scoring

    expected = check_scoring(model, scoring)(model, X[held], y[held])
    assert model.validation_score_[model.best_iteration_ - 1] == pytest.approx(expected)
    assert model.best_iteration_ == model.validation_score_.argmax() + 1


def test_the_training_rows_may_judge():
    X, y = DIABETES
    model = GradientBoostingRegressor(
        n_estimators=200, n_iter_no_change=3, validation_fraction=None, tol=50.0
    ).fit(X, y)
    assert model.stop_reason_ == "no_change"
    assert not hasattr(model, "validation_score_")


def test_callbacks_look_on():
    X, y = DIABETES
    history = callbacks.History()
    seen = []

    def third(state):
        seen.append(state.estimator)
        return state.round == 3

    model = GradientBoostingRegressor(n_estimators=10, callbacks=[history, third]).fit(X, y)
    assert (model.n_estimators_, model.stop_reason_) == (3, "callback")
    assert history.curve("train_loss") == model.train_score_.tolist()
    assert seen[0] is model

    slow = callbacks.LearningRateSchedule([1.0, 0.1])
    model = GradientBoostingRegressor(n_estimators=2, callbacks=slow, **SMALL).fit(X, y)
    first = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, **SMALL).fit(X, y)
    np.testing.assert_array_equal(stages(model, X)[0], first.predict(X))

    early = callbacks.EarlyStopping(3)
    model = GradientBoostingRegressor(n_estimators=500, learning_rate=0.5, callbacks=[early])
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert model.best_iteration_ == early.best_round == model.n_estimators_ - 3
    best = 0.5 * np.mean((model.predict(X[300:]) - y[300:]) ** 2)
    assert best == pytest.approx(early.best_value)
