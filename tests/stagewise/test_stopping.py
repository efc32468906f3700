"""Early stopping, and the bar."""

import numpy as np
import pytest

from stagewise.cases import BOTH, DIABETES, data_of, say
from weald import StagewiseRegressor


@pytest.mark.parametrize("kind", BOTH)
def test_early_stopping_on_rows_held_out(kind):
    X, y = data_of(kind)
    settings = {"learning_rate": 0.3, "n_estimators": 500, "random_state": 3}
    model = kind(n_iter_no_change=5, tol=1e-3, **settings).fit(X, y)
    assert model.stop_reason_ == "no_change"
    assert len(model.validation_losses_) == len(model.train_losses_) == model.n_estimators_ + 1
    best = np.minimum.accumulate(model.validation_losses_)
    falls = best[:-5] - best[5:]
    assert (falls[:-1] > 1e-3).all()
    assert falls[-1] <= 1e-3
    np.testing.assert_array_equal(
        say(model, X), say(kind(n_iter_no_change=5, tol=1e-3, **settings).fit(X, y), X)
    )


@pytest.mark.parametrize("kind", BOTH)
def test_early_stopping_on_given_rows(kind):
    X, y = data_of(kind)
    w = np.random.default_rng(0).integers(0, 3, len(y[1::2]))
    model = kind(n_estimators=300, learning_rate=0.5, n_iter_no_change=5)
    model.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2], sample_weight_val=w)
    scores = [np.full(len(w), model.init_), *model._staged_raw(X[1::2])]
    curve = [model.loss_.mean(y[1::2], F, w) for F in scores]
    np.testing.assert_allclose(model.validation_losses_, curve, rtol=1e-9)
    full = kind(n_estimators=300, learning_rate=0.5)
    full.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert full.n_estimators_ > model.n_estimators_  # looked at, but nothing stops
    prefix = kind(n_estimators=model.n_estimators_, learning_rate=0.5).fit(X[::2], y[::2])
    np.testing.assert_array_equal(say(prefix, X), say(model, X))
    assert not hasattr(prefix, "validation_losses_")


def test_early_stopping_on_the_training_loss():
    X, y = DIABETES
    model = StagewiseRegressor(n_iter_no_change=3, validation_fraction=None, tol=0.02).fit(X, y)
    assert model.stop_reason_ == "no_change"
    gained = model.train_losses_[0] - model.train_losses_[3:]
    falls = model.train_losses_[:-3] - model.train_losses_[3:]
    assert (falls[:-1] > 0.02 * gained[:-1]).all()
    assert falls[-1] <= 0.02 * gained[-1]


def test_the_bar_shows_the_loss(capsys):
    X, y = DIABETES
    StagewiseRegressor(n_estimators=3, verbose=1).fit(X, y)
    assert "loss" in capsys.readouterr().err
    StagewiseRegressor(n_estimators=3, verbose=1, n_iter_no_change=2).fit(X, y)
    assert "validation loss" in capsys.readouterr().err
    StagewiseRegressor(n_estimators=3).fit(X, y)
    assert capsys.readouterr().err == ""
