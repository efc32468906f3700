"""The driver, on work that only pretends: what is made, looked at, told, cut and kept."""

import warnings

import pytest

from weald.callbacks import Callback, History
from weald.fitting import driver
from weald.fitting.driver import Finished, Outcome, Plan, Seen, drive
from weald.fitting.independent import IndependentMembers, drive_members


class Pretended:
    """Rounds that are numbers: what was asked is written down.

    Parameters
    ----------
    made : list of int
        Rounds of an earlier fit.
    skips, ends : int, optional
        The round that adds nothing, and the one that there is nothing left for.
    seen : dict
        What is known after a round, if that is anything.
    ctrl_c : tuple, optional
        When Ctrl-C comes, such as ``("advance", 3)``.
    """

    number_name = "score"

    def __init__(self, made=(), *, skips=None, ends=None, seen=None, ctrl_c=None):
        self.made, self.rates, self.asked = [*made], [], []
        self.skips, self.ends, self.seen, self.ctrl_c = skips, ends, seen or {}, ctrl_c

    def __len__(self):
        return len(self.made)

    def note(self, *what):
        self.asked.append(what)
        if self.ctrl_c == what[:2]:
            raise KeyboardInterrupt

    def advance(self, first, last, rate):
        self.note("advance", first, last)
        if self.ends is not None and first <= self.ends < last:
            raise Finished("enough")
        if self.skips == first:
            return False
        self.rates.append(rate)
        self.made += range(first, last)
        return True

    def look(self, done):
        self.note("look", done)
        return self.seen.get(done, Seen())

    def cut(self, done):
        self.note("cut", done)
        self.made = [t for t in self.made if t < done]

    def interrupted(self):
        self.note("interrupted")

    def told(self, word):
        return [what[1:] for what in self.asked if what[0] == word]


def run(work, total=6, **settings):
    return drive(work, Plan(name="Pretended", estimator=work, total=total, **settings))


@pytest.fixture
def in_batches_of(monkeypatch):
    """Batches of so many rounds, however long they take."""

    def fixed(done, total, first):
        return ((t, min(t + first, total)) for t in range(done, total, first))

    monkeypatch.setattr(driver, "batches", fixed)
    return lambda size: {"batch": size}


def test_rounds_are_made_and_looked_at_one_by_one():
    work = Pretended()
    assert run(work) == Outcome("n_estimators", None)
    assert work.made == [0, 1, 2, 3, 4, 5]
    assert work.told("advance") == [(t, t + 1) for t in range(6)]
    assert work.told("look") == [(t,) for t in range(1, 7)]
    assert work.told("cut") == []


def test_all_at_once():
    work = Pretended()
    run(work, batch=0)
    assert work.told("advance") == [(0, 6)]
    assert work.told("look") == [(6,)]  # nobody is to be told of the rounds before
    done = Pretended(range(6))
    assert run(done, done=6, batch=0).reason == "n_estimators"
    assert done.told("advance") == []


def test_batches_are_looked_at_round_by_round(in_batches_of):
    work = Pretended()
    run(work, total=7, **in_batches_of(3))
    assert work.told("advance") == [(0, 3), (3, 6), (6, 7)]
    assert work.told("look") == [(t,) for t in range(1, 8)]


def test_batches_of_their_own_size_make_every_round_once():
    work = Pretended(range(3))
    run(work, total=500, done=3, batch=2)
    assert work.made == list(range(500))
    assert work.told("advance")[0] == (3, 5)
    assert max(last - first for first, last in work.told("advance")) > 2


def test_a_round_that_adds_nothing_is_not_looked_at():
    work, history = Pretended(skips=2), History()
    assert run(work, callbacks=[history]).reason == "n_estimators"
    assert work.made == [0, 1, 3, 4, 5]
    assert history.curve("round") == [1, 2, 4, 5, 6]


def test_the_work_says_that_nothing_is_left():
    work, history = Pretended(ends=3), History()
    assert run(work, callbacks=[history]) == Outcome("enough", None)
    assert work.made == [0, 1, 2]
    assert history.curve("round") == [1, 2, 3]
    assert work.told("cut") == []


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (Seen(says_stop=True), "no_change"),
        (Seen(final="perfect"), "perfect"),
        (Seen(says_stop=True, final="perfect"), "perfect"),
    ],
)
def test_what_is_seen_stops_and_the_rest_is_cut(in_batches_of, seen, reason, batch):
    work = Pretended(seen={3: seen, 4: seen})
    assert run(work, **in_batches_of(batch)) == Outcome(reason, None)
    assert work.made == [0, 1, 2]
    assert work.told("cut") == [(3,)]
    assert work.told("look")[-1] == (3,)


@pytest.mark.parametrize("batch", [1, 4])
def test_a_callback_stops_in_the_middle_of_a_batch(in_batches_of, batch):
    work, history = Pretended(), History()
    stop = [history, lambda state: state.round == 2]
    assert run(work, callbacks=stop, **in_batches_of(batch)).reason == "callback"
    assert work.made == [0, 1]
    assert history.curve("round") == [1, 2]


def test_a_callback_is_asked_before_early_stopping():
    work = Pretended(seen={2: Seen(says_stop=True, final="perfect")})
    assert run(work, callbacks=[lambda state: state.round == 2]).reason == "callback"


def test_callbacks_are_told_what_was_seen():
    seen = {t: Seen(train_loss=1 / t, validation_loss=2 / t, validation_score=-t) for t in (1, 2)}
    history = History()
    run(Pretended(seen=seen), total=2, callbacks=[history])
    assert history.curve("train_loss") == [1.0, 0.5]
    assert history.curve("validation_loss") == [2.0, 1.0]
    assert history.curve("validation_score") == [-1, -2]


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        (Seen(), None),
        (Seen(train_loss=3.0), 3.0),
        (Seen(train_loss=3.0, validation_loss=2.0), 2.0),
        (Seen(train_loss=3.0, validation_loss=2.0, validation_score=0.0), 0.0),
    ],
)
def test_the_number_beside_the_bar(seen, shown):
    assert seen.shown == shown


class Halving(Callback):
    def learning_rate(self, state):
        return 0.5**state.round

    def rounds_to_keep(self, state):
        return state.round - 1


def test_rates_and_rounds_to_keep():
    work = Pretended()
    outcome = run(work, total=3, learning_rate=0.1, callbacks=[Halving()])
    assert work.rates == [1.0, 0.5, 0.25]
    assert outcome == Outcome("n_estimators", 2)
    assert work.made == [0, 1, 2]  # the estimator knows what keeping means to it
    work = Pretended()
    run(work, total=3, learning_rate=0.1)
    assert work.rates == [0.1] * 3


# --- warm starts ----------------------------------------------------------------------------------


def test_a_warm_start_looks_back_and_goes_on():
    work, history = Pretended(range(4)), History()
    assert run(work, done=4, callbacks=[history]).reason == "n_estimators"
    assert work.asked[0] == ("look", 4)
    assert work.told("advance") == [(4, 5), (5, 6)]
    assert history.curve("round") == [5, 6]
    assert history.curve("n_rounds") == [6, 6]


def test_a_warm_start_that_had_come_to_rest_adds_nothing():
    work = Pretended(range(4), seen={4: Seen(says_stop=True)})
    assert run(work, done=4).reason == "no_change"
    assert work.asked == [("look", 4), ("cut", 4)]
    assert work.made == [0, 1, 2, 3]


# --- Ctrl-C ---------------------------------------------------------------------------------------

MOMENTS = [("advance", 3), ("look", 3)]


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_is_passed_on(moment):
    work = Pretended(ctrl_c=moment)
    with pytest.raises(KeyboardInterrupt):
        run(work)
    assert work.told("interrupted") == []


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_with_keep_partial(moment):
    work = Pretended(ctrl_c=moment)
    with pytest.warns(UserWarning, match="the Pretended has 3 of 6 members"):
        outcome = run(work, keep_partial=True)
    assert outcome.reason == "interrupted"
    assert work.made == [0, 1, 2]
    assert work.asked[-1] == ("interrupted",)


@pytest.mark.parametrize(("moment", "heard"), [(("advance", 3), 3), (("look", 3), 2)])
def test_ctrl_c_keeps_what_callbacks_have_heard_of(moment, heard):
    work, history = Pretended(ctrl_c=moment), History()
    with pytest.warns(UserWarning, match=f"the Pretended has {heard} of 6 members"):
        run(work, keep_partial=True, callbacks=[history])
    assert len(work.made) == len(history.states) == heard
    assert work.asked[-2:] == [("interrupted",), ("cut", heard)]


def test_ctrl_c_before_the_first_round_leaves_nothing_to_keep():
    work = Pretended(ctrl_c=("advance", 0))
    with pytest.raises(KeyboardInterrupt):
        run(work, keep_partial=True)


def test_ctrl_c_in_a_callback():
    def interrupt(state):
        if state.round == 2:
            raise KeyboardInterrupt

    work = Pretended()
    with pytest.warns(UserWarning, match="has 2 of 6 members"):
        outcome = run(work, keep_partial=True, callbacks=[interrupt])
    assert outcome.reason == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        run(Pretended(), callbacks=[interrupt])


class InterruptedAtTheEnd(Callback):
    def on_end(self, state):
        raise KeyboardInterrupt


def test_ctrl_c_when_all_is_made():
    work = Pretended()
    with pytest.warns(UserWarning, match="has 6 of 6 members"):
        outcome = run(work, keep_partial=True, callbacks=[InterruptedAtTheEnd()])
    assert outcome == Outcome("interrupted", None)
    assert work.made == [0, 1, 2, 3, 4, 5]
    work = Pretended()
    with pytest.raises(KeyboardInterrupt):
        run(work, callbacks=[InterruptedAtTheEnd()])
    assert work.told("interrupted") == []


def test_the_end_is_told_however_it_comes():
    class Last(Callback):
        def on_end(self, state):
            self.round = state.round

    for work, settings, last in (
        (Pretended(), {}, 6),
        (Pretended(ends=2), {}, 2),
        (Pretended(seen={3: Seen(says_stop=True)}), {}, 3),
        (Pretended(ctrl_c=("advance", 4)), {"keep_partial": True}, 4),
    ):
        callback = Last()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            run(work, callbacks=[callback], **settings)
        assert callback.round == last


# --- members that know nothing of each other ------------------------------------------------------


class Numbers(list):
    """Members that are numbers."""

    def add(self, members):
        self.extend(members)

    def prefix(self, n):
        return Numbers(self[:n])


class Watch:
    """The score of t members is t until `best`, and rests after."""

    comparable = True

    def __init__(self, best):
        self.best, self.n_members, self.cleared = best, 0, 0

    def follow(self, members, X, done, n_jobs):
        assert done <= len(members)
        self.n_members = done

    def clear(self):
        self.n_members, self.cleared = 0, self.cleared + 1

    @property
    def score(self):
        return float(min(self.n_members, self.best))

    @property
    def stopped(self):
        return self.n_members > self.best


def independent(watch, made=()):
    make = lambda first, last: range(first, last)  # noqa: E731
    return IndependentMembers(make, Numbers(made), watch, None, None)


def test_members_in_batches_stop_by_the_score(in_batches_of):
    work = independent(Watch(best=4))
    assert run(work, total=20, **in_batches_of(8)).reason == "no_change"
    assert work.members == [0, 1, 2, 3, 4]


def test_a_cut_takes_the_score_back(in_batches_of):
    watch = Watch(best=9)
    work = independent(watch)
    run(work, total=9, **in_batches_of(8))
    work.cut(3)
    assert work.members == [0, 1, 2]
    assert (watch.n_members, watch.cleared) == (3, 1)
    unwatched = independent(None, range(5))
    unwatched.cut(2)
    assert unwatched.members == [0, 1]


def test_a_score_that_was_interrupted_is_made_again():
    watch = Watch(best=9)
    work = independent(watch, range(5))
    watch.n_members = 3  # Ctrl-C came in the fourth
    work.interrupted()
    assert (watch.n_members, watch.cleared) == (5, 1)
    work.interrupted()
    assert watch.cleared == 1


class Params:
    n_estimators, threads, verbose, watched, keep_partial = 10, 1, 0, False, False


class Ensemble:
    callbacks = None


def test_nobody_looks_on_so_all_members_are_made_at_once():
    batches = []
    work = IndependentMembers(
        lambda first, last: batches.append((first, last)) or range(first, last),
        Numbers(),
        None,
        None,
        None,
    )
    drive_members(work, Ensemble(), Params())
    assert batches == [(0, 10)]


def test_rounds_to_keep_of_members_are_at_least_one():
    class Keep(Callback):
        def rounds_to_keep(self, state):
            return 0

    ensemble = Ensemble()
    ensemble.callbacks = [Keep()]
    work = independent(None)
    drive_members(work, ensemble, Params())
    assert work.members == [0]
