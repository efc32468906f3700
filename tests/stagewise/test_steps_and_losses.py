"""Every step is the best along its member, for every loss and for one's own."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from stagewise.cases import CANCER, DIABETES, OwnSquared, problem
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
    losses,
)
from weald.losses.line_search import negative_gradient

BINARY = ["exponential", "log_loss", "smooth_hinge", "focal", losses.SmoothHinge(0.2)]
REAL = ["squared_error", "absolute_error", "huber", "quantile", "log_cosh", losses.Quantile(0.9)]
POSITIVE = ["poisson", "gamma", "tweedie"]
EACH_LOSS = [(StagewiseClassifier, loss) for loss in BINARY]
EACH_LOSS += [(StagewiseRegressor, loss) for loss in REAL + POSITIVE]


# --- steps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["trees", "stumps that vote", "lines"])
@pytest.mark.parametrize(("kind", "loss"), EACH_LOSS, ids=str)
def test_every_step_is_the_best_along_its_member(kind, loss, family):
    X, signal, rng = problem(2)
    y = (signal > 0.2) * 1.0 if kind is StagewiseClassifier else np.exp(signal / 2)
    w = rng.uniform(0.5, 2, len(y))
    member = {
        "trees": DecisionTreeRegressor(max_depth=2),
        "stumps that vote": DecisionTreeClassifier(max_depth=1),
        "lines": LinearRegression(),
    }[family]
    model = kind(member, loss=loss, n_estimators=8, init="constant").fit(X, y, w)
    assert model.n_estimators_ > 0
    assert (model.steps_ > 0).all()
    assert (np.diff(model.train_losses_) < 0).all()
    F = np.full(len(y), model.init_)
    np.testing.assert_allclose(model.train_losses_[0], model.loss_.mean(y, F, w), rtol=1e-12)
    for t, h in enumerate(model.member_predictions(X)):
        ahead = F + model.steps_[t] * h
        here = model.loss_.mean(y, ahead, w)
        np.testing.assert_allclose(model.train_losses_[t + 1], here, rtol=1e-10, atol=1e-12)
        for factor in (0.0, 0.9, 0.999, 1.001, 1.1, 2.0):
            other = model.loss_.mean(y, F + factor * model.steps_[t] * h, w)
            assert other >= here - 1e-12 * abs(here)
        F = ahead


def test_a_step_of_zero_ends_it():
    rng = np.random.default_rng(0)
    X = np.ones((20, 2))
    y = rng.normal(size=20)
    model = StagewiseRegressor().fit(X, y)
    assert (model.n_estimators_, model.stop_reason_) == (0, "no_step")
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert [*model.staged_predict(X)] == []
    assert model.member_predictions(X).shape == (0, 20)
    even = StagewiseClassifier().fit(X, np.arange(20) % 2)
    assert (even.n_estimators_, even.stop_reason_) == (0, "no_step")
    np.testing.assert_array_equal(even.predict_proba(X), 0.5)


def test_what_is_fitted_perfectly_ends_it():
    X = np.arange(8.0)[:, None]
    y = np.array([0, 1] * 4)
    model = StagewiseClassifier(DecisionTreeClassifier(), loss="smooth_hinge").fit(X, y)
    assert (model.n_estimators_, model.stop_reason_) == (1, "no_step")
    assert model.train_losses_[-1] == 0
    exact = StagewiseRegressor(DecisionTreeRegressor()).fit(X, y)
    np.testing.assert_allclose(exact.predict(X), y, atol=1e-12)


def test_huge_and_tiny_targets():
    X, y, _ = problem(3)
    plain = StagewiseRegressor(n_estimators=5).fit(X, y)
    for scale in (1e-90, 1e90):
        scaled = StagewiseRegressor(n_estimators=5).fit(X, scale * y)
        np.testing.assert_allclose(scaled.predict(X), scale * plain.predict(X), rtol=1e-6)


# --- losses ---------------------------------------------------------------------------------------


class OwnLogistic:
    kind = "binary"

    def value(self, y, F):
        return np.logaddexp(0, np.where(y > 0, -F, F))

    def gradient(self, y, F):
        return 1 / (1 + np.exp(-F)) - y


def test_own_losses_do_as_the_built_in_ones():
    X, y = DIABETES
    own = StagewiseRegressor(loss=OwnSquared(), n_estimators=10).fit(X, y)
    theirs = StagewiseRegressor(n_estimators=10).fit(X, y)
    np.testing.assert_allclose(own.predict(X), theirs.predict(X), rtol=1e-8)
    X, y = CANCER
    own = StagewiseClassifier(loss=OwnLogistic(), n_estimators=10).fit(X, y)
    theirs = StagewiseClassifier(loss="log_loss", n_estimators=10).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), theirs.predict_proba(X), rtol=1e-8)


def test_own_losses_may_rise_and_fall():
    class Wavy:
        def value(self, y, F):
            return (F - y) ** 2 / 2 + 3 * np.cos(F - y)

        def gradient(self, y, F):
            return F - y - 3 * np.sin(F - y)

    X, y = problem(4)[:2]
    model = StagewiseRegressor(loss=Wavy(), n_estimators=20).fit(X, y)
    assert (np.diff(model.train_losses_) < 0).all()
    assert np.isfinite(model.predict(X)).all()


def test_own_losses_that_are_wrong_are_found_out():
    class Slip(OwnSquared):
        def gradient(self, y, F):
            return 2 * (F - y)

    with pytest.raises(ValueError, match=r"gradient of Slip is .* but differences"):
        StagewiseRegressor(loss=Slip()).fit(*DIABETES)

    class Breaks(OwnSquared):
        def gradient(self, y, F):
            return np.where(F > 1, np.inf, F - y)

    with pytest.raises(ValueError, match="gradient of Breaks must be finite, got inf in row 0"):
        StagewiseRegressor(loss=Breaks()).fit(*DIABETES)
    ends = StagewiseRegressor(loss=Breaks(), init="zero").fit(*DIABETES)  # no way beyond 1
    assert ends.predict(DIABETES[0]).max() <= 1
    y, F = np.array([2.0, 2.0]), np.array([0.0, 3.0])
    with pytest.raises(
        ValueError, match="gradient of Breaks is inf for the target 2 and the score 3"
    ):
        negative_gradient(losses.OwnLoss(Breaks()), y, F, F)


@pytest.mark.parametrize("loss", BINARY, ids=str)
def test_probabilities_are_those_of_the_link(loss):
    X, y = CANCER
    model = StagewiseClassifier(loss=loss, n_estimators=30, learning_rate=0.5).fit(X[::2], y[::2])
    F, p = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(p[:, 1], model.loss_.link.inverse(F))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), (F > 0) * 1)
    assert model.score(X[1::2], y[1::2]) > 0.85
