"""EarlyStopping and Ctrl-C where fits go on, end, or are looked at in batches."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from weald import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StagewiseClassifier,
)
from weald.boosting.validation import Monitor
from weald.callbacks import Callback, EarlyStopping, History
from weald.combining import weighted_median
from weald.fitting.listeners import Listeners

X, Y = make_classification(200, 6, n_informative=4, flip_y=0.2, random_state=0)
HELD = {"X_val": X[130:], "y_val": Y[130:]}


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(learning_rate=0.3, random_state=0),
        AdaBoostClassifier(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_best_round_is_remembered_when_a_fit_goes_on(model):
    model = clone(model).set_params(callbacks=[EarlyStopping(50)])
    whole = clone(model).set_params(n_estimators=40).fit(X[:130], Y[:130], **HELD)
    parts = clone(model).set_params(n_estimators=25, warm_start=True)
    parts.fit(X[:130], Y[:130], **HELD)
    for _ in range(3):
        parts.set_params(n_estimators=40).fit(X[:130], Y[:130], **HELD)
        assert parts.callbacks[0].best_round == whole.callbacks[0].best_round
        np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("seed", range(6))
def test_out_of_bag_scores_of_few_rows_are_not_trusted(seed):
    bag = BaggingClassifier(GaussianNB(), 60, oob_score=True, random_state=seed)
    by_callback = clone(bag).set_params(callbacks=[EarlyStopping(5, restore_best=False)]).fit(X, Y)
    by_rule = clone(bag).set_params(n_iter_no_change=5, tol=0.0).fit(X, Y)
    assert len(by_callback) == len(by_rule) > 5


def test_weights_of_rounds_that_are_not_used_are_zero():
    model = GradientBoostingClassifier(
        n_estimators=60, learning_rate=0.3, n_iter_no_change=5, random_state=0
    ).fit(X, Y)
    assert model.best_iteration_ < len(model)
    raw = model.init_ + np.tensordot(model.member_weights_, model.member_predictions(X), 1)
    np.testing.assert_allclose(raw, model.decision_function(X), rtol=1e-12, atol=1e-12)


class Interrupting(Callback):
    def __init__(self, at=None):
        self.at = at

    def on_round(self, state):
        if state.round == self.at:
            raise KeyboardInterrupt

    def on_end(self, state):
        if self.at is None:
            raise KeyboardInterrupt


ALL = [
    RandomForestClassifier(8, random_state=0, oob_score=True),
    BaggingClassifier(n_estimators=8, random_state=0),
    AdaBoostClassifier(n_estimators=8),
    StagewiseClassifier(n_estimators=8),
    # With prices, which otherwise depend on the number of rounds.
    GradientBoostingClassifier(n_estimators=8, l2_regularization=1.0, min_gain=0.0, random_state=0),
]


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_what_callbacks_know_of_is_kept(model):
    history = History()
    few = clone(model).set_params(keep_partial=True)
    few.callbacks = [history, Interrupting(3)]
    with pytest.warns(UserWarning, match="has 3 of 8 members"):
        few.fit(X, Y)
    assert len(few) == len(history.states) == 3
    np.testing.assert_array_equal(
        few.predict_proba(X), clone(model).set_params(n_estimators=3).fit(X, Y).predict_proba(X)
    )
    done = clone(model).set_params(keep_partial=True, callbacks=[Interrupting()])
    with pytest.warns(UserWarning, match="has 8 of 8 members"):
        assert len(done.fit(X, Y)) == 8


@pytest.mark.parametrize("moment", ["look", "round"])
@pytest.mark.parametrize("model", ALL[-2:], ids=lambda model: type(model).__name__)
def test_curves_are_as_long_as_the_model(model, moment, monkeypatch):
    """Ctrl-C after a round is noted and before, or while, callbacks hear of it."""
    owner = {"look": Monitor, "round": Listeners}[moment]
    true, calls = getattr(owner, moment), []

    def interrupted(self, *given):
        calls.append(given)
        known = true(self, *given) if moment == "look" else None
        if len(calls) == 4:
            raise KeyboardInterrupt
        return known if moment == "look" else true(self, *given)

    monkeypatch.setattr(owner, moment, interrupted)
    few = clone(model).set_params(keep_partial=True, n_iter_no_change=6, callbacks=[History()])
    with pytest.warns(UserWarning, match="has 3 of 8 members"):
        few.fit(X[:130], Y[:130], **HELD)
    monkeypatch.undo()
    if isinstance(model, StagewiseClassifier):  # its curves begin with the model before
        curves = few.train_losses_[1:], few.validation_losses_[1:]
    else:
        curves = few.train_score_, few.validation_score_
    assert [len(few), *map(len, curves)] == [3, 3, 3]
    again = pickle.loads(pickle.dumps(few))
    np.testing.assert_array_equal(again.predict_proba(X), few.predict_proba(X))


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_a_model_in_the_making_cannot_predict(model):
    def ask(state):
        with pytest.raises(NotFittedError):
            state.estimator.predict(X)

    clone(model).set_params(callbacks=[ask]).fit(X, Y)


def test_the_median_of_class_shares():
    bag = BaggingClassifier(n_estimators=7, combine=weighted_median, random_state=0).fit(X, Y)
    shares = np.median(bag.member_predictions(X), axis=0)
    np.testing.assert_array_equal(bag.predict_proba(X), shares)
