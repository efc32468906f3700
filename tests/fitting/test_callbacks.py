"""Callbacks: driven by a loop that only pretends to fit, and by the estimators."""

import copy
import io
import pickle
from time import monotonic

import numpy as np
import pytest
from sklearn.base import clone

from weald.callbacks import (
    Callback,
    EarlyStopping,
    History,
    LearningRateSchedule,
    Progress,
    TimeLimit,
)
from weald.fitting import listeners
from weald.fitting.listeners import Listeners, check_callbacks

# --- a loop that only pretends to fit -------------------------------------------------------------


class Clock:
    """A second goes by whenever somebody looks at it."""

    def __init__(self, seconds):
        self.now, self.seconds = -seconds, seconds

    def __call__(self):
        self.now += self.seconds
        return self.now


@pytest.fixture
def pretend(monkeypatch):
    """The protocol: begin, then rate and round in turn, then end; how it went."""

    def loop(callbacks, losses, *, of="validation_loss", begin=0, seconds=1.0, rate=0.1):
        monkeypatch.setattr(listeners, "monotonic", Clock(seconds))
        told = Listeners(check_callbacks(callbacks), None, begin + len(losses), rate, begin)
        monkeypatch.setattr(listeners, "monotonic", Clock(seconds))
        told._began = listeners.monotonic()
        rates, stopped, made = [], False, begin
        for made, loss in enumerate(losses, begin + 1):
            rates.append(told.rate())
            stopped = told.round(made, {"train_loss": loss, of: loss})
            if stopped:
                break
        return made, stopped, rates, told.end()

    return loop


class Diary(Callback):
    """Writes down who was called."""

    def __init__(self, stop_at=None):
        self.stop_at, self.lines = stop_at, []

    def on_begin(self, state):
        self.lines = [("begin", state.round)]

    def on_round(self, state):
        self.lines.append(("round", state.round))
        return state.round == self.stop_at

    def on_end(self, state):
        self.lines.append(("end", state.round))


def test_a_callback_is_told_of_the_beginning_every_round_and_the_end(pretend):
    diary = Diary()
    assert pretend([diary], [1.0, 1.0]) == (2, False, [0.1, 0.1], None)
    assert diary.lines == [("begin", 0), ("round", 1), ("round", 2), ("end", 2)]


def test_all_are_told_of_the_round_that_stops(pretend):
    first, second = Diary(stop_at=2), Diary()
    made, stopped, _, _ = pretend([first, second], [1.0] * 5)
    assert (made, stopped) == (2, True)
    assert second.lines == first.lines == [("begin", 0), ("round", 1), ("round", 2), ("end", 2)]


def test_functions_are_callbacks(pretend):
    seen = []
    assert pretend(lambda state: seen.append(state.round), [1.0] * 3)[:2] == (3, False)
    assert seen == [1, 2, 3]
    assert pretend(lambda state: state.round == 2, [1.0] * 3)[:2] == (2, True)
    assert pretend([lambda state: np.bool_(state.round >= 1)], [1.0] * 3)[:2] == (1, True)


def test_no_callbacks(pretend):
    for nothing in (None, [], ()):
        assert check_callbacks(nothing) == []
        assert pretend(nothing, [1.0] * 2) == (2, False, [0.1, 0.1], None)


@pytest.mark.parametrize("odd", [3, "stop", [3], TimeLimit, [History], [None]])
def test_what_is_no_callback_is_refused(odd):
    with pytest.raises(ValueError, match="callbacks must be None, or a list of"):
        check_callbacks(odd)


def test_an_answer_that_is_neither_yes_nor_no_is_a_mistake(pretend):
    with pytest.raises(TypeError, match=r"must return True \(stop\), False or None, got 0\.5"):
        pretend(lambda state: state.validation_loss, [0.5])


def test_errors_are_not_swallowed(pretend):
    def fails(state):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        pretend([fails], [1.0])


# --- the callbacks weald has ----------------------------------------------------------------------


def test_time_limit(pretend):
    assert pretend(TimeLimit(3), [1.0] * 10)[:2] == (3, True)
    assert pretend(TimeLimit(2.5), [1.0] * 10)[:2] == (3, True)
    assert pretend(TimeLimit(np.inf), [1.0] * 10)[:2] == (10, False)


@pytest.mark.parametrize(
    ("settings", "stops", "best"),
    [
        ({"patience": 1}, 3, 2),
        ({"patience": 2}, 4, 2),
        ({"patience": 3}, 8, 5),
        ({"patience": 9}, 9, 5),
        ({"patience": 3, "tol": 1.5}, 4, 2),
        ({"patience": 3, "tol": 0.3}, 8, 5),
    ],
)
def test_early_stopping(pretend, settings, stops, best):
    losses = [3.0, 2.0, 2.5, 2.0, 1.0, 1.0, 1.1, 1.2, 1.3]
    callback = EarlyStopping(**settings)
    made, stopped, _, kept = pretend(callback, losses)
    assert (made, callback.best_round, kept) == (stops, best, best)
    assert stopped == (stops < 9)
    assert callback.best_value == losses[best - 1]
    scores = [-loss for loss in losses]
    assert pretend(callback, scores, of="validation_score")[0] == stops
    assert callback.best_value == -losses[best - 1]
    kept = pretend(EarlyStopping(**settings, restore_best=False), losses)[3]
    assert kept is None


def test_early_stopping_counts_from_where_a_warm_start_begins(pretend):
    callback = EarlyStopping(2)
    assert pretend(callback, [1.0, 2.0, 2.0], begin=50) == (53, True, [0.1] * 3, 51)


def test_early_stopping_does_not_take_nan_for_a_gain(pretend):
    assert pretend(EarlyStopping(2), [3.0] + [np.nan] * 4) == (3, True, [0.1] * 3, 1)
    assert pretend(EarlyStopping(2), [1.0, np.nan, np.nan])[3] == 1


def test_early_stopping_needs_rows_to_watch(pretend):
    with pytest.raises(ValueError, match="give X_val and y_val to fit"):
        pretend(EarlyStopping(2), [1.0], of="train_loss")


class Keeping(Callback):
    def __init__(self, n):
        self.n = n

    def rounds_to_keep(self, state):
        return self.n


def test_the_fewest_rounds_are_kept(pretend):
    both = [EarlyStopping(5), EarlyStopping(5, restore_best=False), lambda state: None]
    assert pretend(both, [3.0, 2.5, 1.0, 1.1])[3] == 3
    assert pretend([Keeping(4), Keeping(2)], [3.0, 2.5, 1.0, 1.1])[3] == 2


def test_schedules(pretend):
    assert pretend(LearningRateSchedule(lambda t: 1 / t), [1.0] * 3)[2] == [1, 1 / 2, 1 / 3]
    steps = LearningRateSchedule([0.5, 0.2])
    assert pretend(steps, [1.0] * 4)[2] == [0.5, 0.2, 0.2, 0.2]
    assert pretend(steps, [1.0] * 2, begin=1)[2] == [0.2, 0.2]
    assert pretend([steps, LearningRateSchedule(np.array([0.3]))], [1.0] * 2)[2] == [0.3, 0.3]


@pytest.mark.parametrize("rate", [0.0, -1, np.nan, np.inf, "0.1", True])
def test_a_rate_must_be_a_number_above_zero(pretend, rate):
    with pytest.raises(ValueError, match=r"learning rate .*: it must be a finite number > 0"):
        pretend(LearningRateSchedule(lambda t: 0.1 if t == 1 else rate), [1.0] * 3)
    with pytest.raises(ValueError, match="finite number > 0"):
        pretend(LearningRateSchedule([rate]), [1.0])


def test_history(pretend):
    history = History()
    pretend([history, lambda state: state.round == 2], [3.0, 2.0, 1.0], rate=0.3)
    assert history.curve("round") == [1, 2]
    assert history.curve("validation_loss") == [3.0, 2.0]
    assert history.curve("train_loss") == [3.0, 2.0]
    assert history.curve("validation_score") == [None, None]
    assert history.curve("learning_rate") == [0.3, 0.3]
    pretend(history, [5.0])
    assert history.curve("validation_loss") == [5.0]


def test_progress(pretend, capsys):
    text = io.StringIO()
    pretend(Progress(every=2, stream=text), [3.0, 2.0, 1.0], seconds=1.5)
    assert text.getvalue().splitlines() == [
        "round 2 of 3, train loss 2, validation loss 2, 3.0 s, 1.5 s left",
        "round 3 of 3, train loss 1, validation loss 1, 4.5 s",
    ]
    pretend(Progress(every=1), [0.123456789], of="validation_score", begin=7)
    said = "round 8 of 8, train loss 0.123457, validation score 0.123457, 1.0 s\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TimeLimit(0), "seconds of TimeLimit must be a number > 0"),
        (lambda: TimeLimit("1"), "seconds of TimeLimit"),
        (lambda: TimeLimit(np.nan), "seconds of TimeLimit"),
        (lambda: EarlyStopping(0), "patience of EarlyStopping must be a whole number >= 1"),
        (lambda: EarlyStopping(1.5), "patience of EarlyStopping"),
        (lambda: EarlyStopping(1, tol=-1), "tol of EarlyStopping"),
        (lambda: EarlyStopping(1, restore_best=3), "restore_best of EarlyStopping"),
        (lambda: LearningRateSchedule([]), "schedule of LearningRateSchedule must be a function"),
        (lambda: LearningRateSchedule(0.1), "schedule of LearningRateSchedule"),
        (lambda: LearningRateSchedule("fast"), "schedule of LearningRateSchedule"),
        (lambda: Progress(every=0), "every of Progress"),
    ],
)
def test_wrong_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_copies_are_independent_and_streams_are_shared(pretend):
    text = io.StringIO()
    for callback in (TimeLimit(3), EarlyStopping(2), History(), Progress(), Progress(1, text)):
        pretend(callback, [1.0, 2.0, 3.0])
        copied = copy.deepcopy(callback)
        assert type(copied) is type(callback)
    assert copied.stream is text
    history = History()
    pretend(history, [1.0])
    copied = copy.deepcopy(history)
    pretend(copied, [2.0, 3.0])
    assert history.curve("round") == [1]
    assert pickle.loads(pickle.dumps(copied)).curve("round") == [1, 2]


# --- the estimators -------------------------------------------------------------------------------


def data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] - X[:, 1] * X[:, 2] + rng.normal(size=n)


def model(kind="Regressor", **settings):
    import weald

    settings = {
        "n_estimators": 20,
        "learning_rate": 0.3,
        "max_depth": 2,
        "max_features": 2,  # these three would else depend on the rounds and the rate
        "l2_regularization": 1.0,
        "min_gain": 0.0,
        "random_state": 0,
    } | settings
    return getattr(weald, f"GradientBoosting{kind}")(**settings)


def test_the_estimators_tell_the_state():
    X, y = data()
    seen = []
    est = model(callbacks=lambda state: seen.append(state), n_estimators=5)
    est.fit(X, y, X_val=X[:50], y_val=y[:50])
    assert [state.round for state in seen] == [1, 2, 3, 4, 5]
    assert {state.n_rounds for state in seen} == {5}
    assert {state.learning_rate for state in seen} == {0.3}
    assert all(state.estimator is est for state in seen)
    np.testing.assert_array_equal([state.train_loss for state in seen], est.train_score_[-5:])
    np.testing.assert_array_equal(
        [state.validation_loss for state in seen], est.validation_score_[-5:]
    )
    times = [state.elapsed for state in seen]
    assert times == sorted(times)
    assert 0 < times[-1] < 60


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_a_function_stops_the_fit(kind):
    X, y = data()
    y = y if kind == "Regressor" else y > 0
    est = model(kind, callbacks=[lambda state: state.round == 7]).fit(X, y)
    assert est.n_estimators_ == 7
    short = model(kind, n_estimators=7).fit(X, y)
    np.testing.assert_array_equal(est.predict(X), short.predict(X))
    assert "callback" in est.stop_reason_


def test_a_schedule_of_one_rate_is_that_rate():
    X, y = data()
    fixed = model(learning_rate=0.17).fit(X, y)
    scheduled = model(callbacks=[LearningRateSchedule(lambda t: 0.17)]).fit(X, y)
    np.testing.assert_array_equal(fixed.predict(X), scheduled.predict(X))


def test_a_schedule_goes_on_in_a_warm_start():
    X, y = data()
    falling = LearningRateSchedule(lambda t: 0.5 * 0.9**t)
    whole = model(callbacks=[falling]).fit(X, y)
    parts = model(n_estimators=8, warm_start=True, callbacks=[falling]).fit(X, y)
    parts.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))
    history = History()
    model(callbacks=[falling, history]).fit(X, y)
    np.testing.assert_allclose(history.curve("learning_rate"), 0.5 * 0.9 ** np.arange(1, 21))


def test_the_best_rounds_are_restored():
    X, y = data(60)
    new, truth = data(200, seed=1)
    stop, history = EarlyStopping(5), History()
    est = model(n_estimators=300, learning_rate=0.5, callbacks=[stop, history])
    est.fit(X, y, X_val=new, y_val=truth)
    best = stop.best_round
    assert best == int(np.argmin(history.curve("validation_loss"))) + 1
    assert len(history.states) == best + 5
    short = model(n_estimators=best, learning_rate=0.5).fit(X, y)
    np.testing.assert_array_equal(est.predict(new), short.predict(new))
    stays = model(
        n_estimators=300, learning_rate=0.5, callbacks=[EarlyStopping(5, restore_best=False)]
    ).fit(X, y, X_val=new, y_val=truth)
    longer = model(n_estimators=best + 5, learning_rate=0.5).fit(X, y)
    np.testing.assert_array_equal(stays.predict(new), longer.predict(new))


def test_a_score_is_watched_if_there_is_one():
    X, y = data()
    new, truth = data(200, seed=1)
    seen = []
    est = model("Classifier", scoring="roc_auc", callbacks=[seen.append], n_estimators=5)
    est.fit(X, y > 0, X_val=new, y_val=truth > 0)
    from sklearn.metrics import roc_auc_score

    expected = [roc_auc_score(truth > 0, F) for F in est.staged_decision_function(new)]
    np.testing.assert_allclose([state.validation_score for state in seen], expected)


def test_a_time_limit_holds():
    X, y = data(2000)
    began = monotonic()
    est = model(n_estimators=1_000_000, callbacks=[TimeLimit(0.2)]).fit(X, y)
    assert monotonic() - began < 5
    assert 0 < est.n_estimators_ < 1_000_000


def test_clones_have_callbacks_of_their_own():
    X, y = data()
    history, text = History(), io.StringIO()
    est = model(callbacks=[history, Progress(5, text)])
    copied = clone(est).fit(X, y)
    assert history.states == []
    assert len(copied.callbacks[0].states) == 20
    assert len(text.getvalue().splitlines()) == 4
    est.fit(X, y)
    est.fit(X, y)
    assert len(history.states) == 20


@pytest.mark.parametrize("odd", [3, [TimeLimit], ["stop"]])
def test_estimators_refuse_what_is_no_callback(odd):
    with pytest.raises(ValueError, match="callbacks must be"):
        model(callbacks=odd).fit(*data())


def test_an_error_in_a_callback_leaves_the_old_model():
    X, y = data()
    est = model().fit(X, y)
    before = est.predict(X)

    def fails(state):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        est.set_params(callbacks=[fails]).fit(X, y)
    np.testing.assert_array_equal(est.predict(X), before)
