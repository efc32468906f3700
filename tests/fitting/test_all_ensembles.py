"""Callbacks and Ctrl-C mean the same in every ensemble: they all go through one driver."""

import time
from inspect import signature

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor as PeerTree

import weald
from weald import DecisionTreeClassifier, DecisionTreeRegressor
from weald.callbacks import EarlyStopping, History, TimeLimit

N = 12
STUMP, SHORT = DecisionTreeRegressor(max_depth=2), DecisionTreeClassifier(max_depth=2)
# One of every kind, with members that the engine grows and with others.
IN_BATCHES = {
    "RandomForestClassifier": weald.RandomForestClassifier(max_depth=4),
    "RandomForestRegressor": weald.RandomForestRegressor(max_depth=4),
    "ExtraTreesClassifier": weald.ExtraTreesClassifier(max_depth=4),
    "ExtraTreesRegressor": weald.ExtraTreesRegressor(max_depth=4),
    "BaggingClassifier": weald.BaggingClassifier(SHORT),
    "BaggingRegressor": weald.BaggingRegressor(STUMP),
    "BaggingClassifier of others": weald.BaggingClassifier(GaussianNB()),
    "BaggingRegressor of others": weald.BaggingRegressor(PeerTree(max_depth=2)),
}
ONE_BY_ONE = {
    "AdaBoostClassifier": weald.AdaBoostClassifier(SHORT),
    "AdaBoostRegressor": weald.AdaBoostRegressor(STUMP),
    "AdaBoostClassifier of others": weald.AdaBoostClassifier(GaussianNB(), when_worse="skip"),
    "AdaBoostRegressor of others": weald.AdaBoostRegressor(PeerTree(max_depth=2)),
    # With a rate, columns and prices, which otherwise depend on the number of rounds.
    "GradientBoostingClassifier": weald.GradientBoostingClassifier(
        max_depth=2, learning_rate=0.1, max_features=2, l2_regularization=1.0, min_gain=0.0
    ),
    "GradientBoostingRegressor": weald.GradientBoostingRegressor(
        max_depth=2, learning_rate=0.1, max_features=2, l2_regularization=1.0, min_gain=0.0
    ),
    "GradientBoostingRegressor of others": weald.GradientBoostingRegressor(
        estimator=PeerTree(max_depth=2), learning_rate=0.1
    ),
    "StagewiseClassifier": weald.StagewiseClassifier(STUMP),
    "StagewiseRegressor": weald.StagewiseRegressor(STUMP),
    "StagewiseRegressor of others": weald.StagewiseRegressor(PeerTree(max_depth=2)),
}
ALL = IN_BATCHES | ONE_BY_ONE


def ensembles(kinds):
    return pytest.mark.parametrize("kind", [pytest.param(kinds[name], id=name) for name in kinds])


def data_of(model):
    load = load_breast_cancer if is_classifier(model) else load_diabetes
    X, y = load(return_X_y=True)
    return X[::2], y[::2]


def fitted(kind, **settings):
    """A copy of the ensemble with these settings, fitted."""
    model = clone(kind).set_params(**{"n_estimators": N, "random_state": 0, **settings})
    return model.fit(*data_of(model))


def says(model):
    X, _ = data_of(model)
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def assert_same(model, other):
    assert model.n_estimators_ == other.n_estimators_ == len(model) == len(other)
    np.testing.assert_array_equal(says(model), says(other))


def test_no_ensemble_is_forgotten():
    kinds = {type(kind).__name__ for kind in ALL.values()}
    has = {
        name
        for name in weald.__all__
        if isinstance(getattr(weald, name), type)
        and issubclass(getattr(weald, name), BaseEstimator)
        and "callbacks" in signature(getattr(weald, name)).parameters
    }
    assert kinds == has
    assert all("keep_partial" in kind.get_params() for kind in ALL.values())


@ensembles(ALL)
def test_history_tells_every_round_once(kind):
    history = History()
    model = fitted(kind, callbacks=history)
    assert history.curve("round") == list(range(1, N + 1))
    assert set(history.curve("n_rounds")) == {N}
    assert (np.diff(history.curve("elapsed")) >= 0).all()
    assert_same(model, fitted(kind))  # looking on changes nothing


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@ensembles(IN_BATCHES)
def test_out_of_bag_scores_are_told(kind):
    history = History()
    plain = {"bootstrap": True, "oob_score": True}
    model = fitted(kind, callbacks=[history], n_estimators=24, **plain)
    told = history.curve("validation_score")
    assert np.isnan(told[:3]).all()  # of few rows
    for t in (18, 21):
        assert told[t - 1] == fitted(kind, n_estimators=t, **plain).oob_score_
    assert told[-1] == model.oob_score_
    assert history.curve("train_loss") == history.curve("validation_loss") == [None] * 24


@ensembles({name: kind for name, kind in ONE_BY_ONE.items() if name.startswith("Ada")})
def test_validation_scores_are_told(kind):
    X, y = data_of(kind)
    history = History()
    model = clone(kind).set_params(n_estimators=N, callbacks=history, random_state=0)
    model.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    stages = list(model.staged_score(X[1::2], y[1::2]))
    assert history.curve("validation_score") == pytest.approx(stages)


@ensembles({name: kind for name, kind in ONE_BY_ONE.items() if not name.startswith("Ada")})
def test_losses_are_told(kind):
    history = History()
    model = fitted(kind, callbacks=history)
    curve = model.train_losses_[1:] if hasattr(model, "train_losses_") else model.train_score_
    np.testing.assert_array_equal(history.curve("train_loss"), curve)
    assert curve[-1] < curve[0]
    assert history.curve("validation_loss") == history.curve("validation_score") == [None] * N


@ensembles(ALL)
def test_a_function_stops_the_fit(kind):
    seen = []

    def five(state):
        seen.append(state.round)
        assert isinstance(state.estimator, type(kind))
        return state.round == 5

    model = fitted(kind, callbacks=[five])
    assert seen == [1, 2, 3, 4, 5]  # nobody is told of what a batch had made beyond
    assert_same(model, fitted(kind, n_estimators=5))
    assert getattr(model, "stop_reason_", "callback") == "callback"


@ensembles(ALL)
def test_the_time_is_up(kind):
    def tarry(state):
        if state.round == 3:
            time.sleep(0.02)

    history = History()
    model = fitted(kind, callbacks=[tarry, history, TimeLimit(1e-9)])
    assert_same(model, fitted(kind, n_estimators=1))
    assert history.curve("round") == [1]
    begun = time.monotonic()
    model = fitted(kind, callbacks=[tarry, TimeLimit(3600)])
    assert model.n_estimators_ == N
    assert time.monotonic() - begun > 0.02


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@ensembles(IN_BATCHES)
def test_early_stopping_by_the_out_of_bag_score(kind):
    stop, history = EarlyStopping(patience=3), History()
    settings = {"bootstrap": True, "oob_score": True, "n_estimators": 60}
    model = fitted(kind, callbacks=[history, stop], **settings)
    told = history.curve("validation_score")
    made = len(told)
    assert made < 60, "a score that rises 60 times in a row"
    begin = int(np.isnan(told).sum())  # members before the scores count
    scores = told[begin:]
    assert np.isfinite(scores).all()
    assert max(scores[:-3]) >= max(scores[-3:])
    assert all(max(scores[: t - 3]) < max(scores[t - 3 : t]) for t in range(4, made - begin))
    assert stop.best_round == begin + np.argmax(scores) + 1 == model.n_estimators_
    assert stop.best_value == max(scores) == model.oob_score_
    best = fitted(kind, **settings | {"n_estimators": stop.best_round})
    assert_same(model, best)


@ensembles(IN_BATCHES)
def test_early_stopping_needs_a_score(kind):
    with pytest.raises(ValueError, match=r"EarlyStopping needs .*oob_score=True for forests"):
        fitted(kind, callbacks=[EarlyStopping(patience=3)])


def interrupt(state):
    if state.round == 4:
        raise KeyboardInterrupt


@ensembles(ALL)
def test_ctrl_c_keeps_what_is_there(kind):
    with pytest.warns(UserWarning, match=rf"has \d+ of {N} members"):
        model = fitted(kind, callbacks=[interrupt], keep_partial=True)
    assert 4 <= model.n_estimators_ <= N
    if kind in ONE_BY_ONE.values():
        assert model.n_estimators_ == 4
        assert model.stop_reason_ == "interrupted"
    assert_same(model, fitted(kind, n_estimators=model.n_estimators_))


@ensembles(ALL)
def test_ctrl_c_without_keep_partial_leaves_the_old_model(kind):
    model = fitted(kind, n_estimators=2)
    before = says(model)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=N, callbacks=[interrupt]).fit(*data_of(model))
    assert model.n_estimators_ == 2
    np.testing.assert_array_equal(says(model), before)


WARM = {name: kind for name, kind in ALL.items() if "warm_start" in kind.get_params()}


@ensembles(WARM)
def test_a_warm_start_counts_on(kind):
    history = History()
    model = fitted(kind, n_estimators=5, warm_start=True)
    model.set_params(n_estimators=N, callbacks=history).fit(*data_of(model))
    assert history.curve("round") == list(range(6, N + 1))
    assert_same(model, fitted(kind))


@ensembles(WARM)
def test_a_warm_start_goes_on_after_a_stop(kind):
    model = fitted(kind, warm_start=True, callbacks=[lambda state: state.round == 5])
    model.set_params(callbacks=None).fit(*data_of(model))
    assert_same(model, fitted(kind))


@ensembles(ALL)
def test_what_is_no_callback_is_refused(kind):
    with pytest.raises(ValueError, match=r"^callbacks must be None, or a list of"):
        fitted(kind, callbacks=[TimeLimit])
