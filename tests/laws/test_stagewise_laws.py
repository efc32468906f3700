"""Laws that every stagewise model obeys, whatever the data."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, RidgeClassifier

from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
    losses,
)

BINARY = ["exponential", "log_loss", "smooth_hinge", "focal", losses.SmoothHinge(0.1)]
NUMBERS = ["squared_error", "absolute_error", "huber", "log_cosh", losses.Quantile(0.8)]
POSITIVE = ["poisson", "gamma", "tweedie"]
MEMBERS = {
    "stumps": DecisionTreeClassifier(max_depth=1, max_bins=255),
    "voting trees": DecisionTreeClassifier(max_depth=3),
    "trees": DecisionTreeRegressor(max_depth=2),
    "lines": LinearRegression(),
    "sides": RidgeClassifier(),
}


@st.composite
def tables(draw):
    """Few rows: numbers or ties, columns that are constant or repeated, rows that are repeated."""
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, 4, (n, d)).astype(float) if draw(st.booleans()) else rng.normal(size=(n, d))
    if draw(st.booleans()):
        X[:, 0] = 5.0
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]
    kind = draw(st.sampled_from(["none", "extreme", "whole", "some absent"]))
    w = {
        "none": None,
        "extreme": 10.0 ** rng.integers(-12, 13, n),
        "whole": rng.integers(1, 5, n),
        "some absent": np.r_[1, rng.integers(0, 2, n - 1)],
    }[kind]
    return X, w, rng


def assert_lawful(model, X):
    """Everything is finite, every step is positive, and the training loss falls."""
    for values in (model.steps_, model.train_losses_, [model.init_]):
        assert np.isfinite(values).all()
    assert (model.steps_ > 0).all()
    assert (np.diff(model.train_losses_) < 0).all()
    assert len(model.train_losses_) == model.n_estimators_ + 1
    said = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
    assert np.isfinite(said).all()
    if model.n_estimators_ == model.n_estimators:
        assert model.stop_reason_ in ("n_estimators", "perfect")
    else:
        assert model.stop_reason_ in ("no_step", "perfect")


many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("member", MEMBERS)
@many
@given(
    tables(),
    st.sampled_from(BINARY),
    st.sampled_from(["zero", "constant"]),
    st.sampled_from([1.0, 0.3, 1.7]),
)
def test_the_loss_of_two_classes_falls(member, table, loss, init, rate):
    X, w, rng = table
    y = rng.integers(0, 2, len(X))
    model = StagewiseClassifier(
        MEMBERS[member], loss=loss, init=init, learning_rate=rate, n_estimators=8
    )
    assert_lawful(model.fit(X, y, w), X)


@pytest.mark.parametrize("member", MEMBERS)
@many
@given(
    tables(),
    st.sampled_from(NUMBERS + POSITIVE),
    st.sampled_from(["zero", "constant"]),
    st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_the_loss_of_numbers_falls(member, table, loss, init, scale):
    X, w, rng = table
    y = scale * rng.gamma(1.0, size=len(X)) + (loss in POSITIVE) * 1e-9 * scale
    if loss in NUMBERS:
        y = y * rng.choice([-1, 1], len(X))
    model = StagewiseRegressor(MEMBERS[member], loss=loss, init=init, n_estimators=8)
    assert_lawful(model.fit(X, y, w), X)


@many
@given(tables(), st.sampled_from(BINARY), st.integers(1, 3))
def test_what_can_be_told_apart_is(table, loss, depth):
    """Separable rows are all right in the end, with finite votes."""
    X, w, _ = table
    y = (X.sum(axis=1) > np.median(X.sum(axis=1))).astype(int)
    tree = DecisionTreeClassifier(max_depth=depth + 5)
    model = StagewiseClassifier(tree, loss=loss, n_estimators=20).fit(X, y, w)
    assert_lawful(model, X)
    there = np.ones(len(y), dtype=bool) if w is None else w > 1e-6 * w.max()
    if w is None or there.sum() == (w > 0).sum():  # else the light rows may be lost in rounding
        assert (model.predict(X) == y)[there].all()


# --- weights --------------------------------------------------------------------------------------

EACH = [
    *((StagewiseClassifier, loss, member) for loss in BINARY for member in ("stumps", "trees")),
    *((StagewiseRegressor, loss, "trees") for loss in NUMBERS + POSITIVE),
    (StagewiseRegressor, "squared_error", "lines"),
    (StagewiseRegressor, "huber", "stumps"),
    (StagewiseClassifier, "exponential", "sides"),
]


@pytest.mark.parametrize("init", ["zero", "constant"])
@pytest.mark.parametrize(("kind", "loss", "member"), EACH, ids=str)
def test_weight_k_is_k_copies_and_weight_0_is_absence(kind, loss, member, init):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(70, 3))
    signal = X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=70)
    y = (signal > 0) * 1.0 if kind is StagewiseClassifier else np.exp(signal / 3)
    w = rng.integers(0, 4, 70)
    model = kind(MEMBERS[member], loss=loss, init=init, n_estimators=8)
    weighted = model.fit(X, y, w).member_predictions(X), model.steps_
    rows = np.repeat(np.arange(70), w)
    repeated = model.fit(X[rows], y[rows]).member_predictions(X), model.steps_
    np.testing.assert_allclose(weighted[1], repeated[1], rtol=1e-7)
    np.testing.assert_allclose(weighted[0], repeated[0], rtol=1e-7, atol=1e-9)
    twice = model.fit(X, y, 8.0 * w).member_predictions(X), model.steps_
    np.testing.assert_allclose(weighted[1], twice[1], rtol=1e-7)


@pytest.mark.parametrize("kind", [StagewiseClassifier, StagewiseRegressor])
def test_fewer_rounds_are_the_beginning_of_more(kind):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    y = y > 0 if kind is StagewiseClassifier else y
    few, many = kind(n_estimators=5).fit(X, y), kind(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(few.steps_, many.steps_[:5])
    np.testing.assert_array_equal(few.member_predictions(X), many.member_predictions(X)[:5])


def test_the_smooth_losses_of_classes_estimate_probabilities():
    """With one column of few values, both end at the share of each value (the link is right)."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 4, 2000).astype(float)[:, None]
    y = (rng.random(2000) < np.array([0.1, 0.35, 0.6, 0.9])[X[:, 0].astype(int)]).astype(int)
    shares = [y[X[:, 0] == value].mean() for value in range(4)]
    for loss in ("exponential", "log_loss"):
        model = StagewiseClassifier(
            DecisionTreeRegressor(max_depth=2), loss=loss, n_estimators=200
        ).fit(X, y)
        p = model.predict_proba(np.arange(4.0)[:, None])[:, 1]
        np.testing.assert_allclose(p, shares, atol=1e-3)
