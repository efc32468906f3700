"""Risks: the numbers of scikit-learn's metrics, and slopes that are those of the values."""

import numpy as np
import pytest
from sklearn import metrics

from weald.crossfit.risks import make_risk
from weald.losses import Huber, Quantile

RNG = np.random.default_rng(0)
N = 60
W = RNG.integers(1, 4, N).astype(float)
CLASSES = np.array(["a", "b", "c"])


def shares(K):
    Z = RNG.dirichlet(np.ones(K), size=(N, 3))
    return Z, RNG.integers(0, K, N).astype(float)


def numbers():
    return RNG.uniform(0.5, 3, size=(N, 3, 1)), RNG.uniform(0.5, 3, N)


def test_log_loss_is_that_of_scikit_learn():
    for K in (2, 3):
        Z, y = shares(K)
        risk = make_risk(None, y, W, CLASSES[:K])
        expected = metrics.log_loss(y, Z[:, 0], sample_weight=W, labels=np.arange(K))
        assert risk.mean(Z[:, 0], y, W) == pytest.approx(expected)
        assert risk.name == "log_loss"


def test_squared_error_is_that_of_scikit_learn():
    Z, y = numbers()
    expected = metrics.mean_squared_error(y, Z[:, 0, 0], sample_weight=W)
    assert make_risk(None, y, W).mean(Z[:, 0], y, W) == pytest.approx(expected)


@pytest.mark.parametrize("loss", ["absolute_error", "poisson", "gamma", Quantile(0.8), Huber(0.5)])
def test_losses_of_weald(loss):
    Z, y = numbers()
    risk = make_risk(loss, y, W)
    F = risk.loss.link.link(Z[:, 0, 0])
    assert risk.mean(Z[:, 0], y, W) == pytest.approx(risk.loss.mean(y, F, W))


@pytest.mark.parametrize(
    "risk", [None, "log_loss", "exponential", "smooth_hinge", "focal", "poisson", "huber", "3"]
)
def test_slopes_are_those_of_the_values(risk):
    K = {"log_loss": 2, "exponential": 2, "smooth_hinge": 2, "focal": 2, "3": 3}.get(risk, 1)
    Z, y = numbers() if K == 1 else shares(K)
    made = make_risk(None if risk == "3" else risk, y, W, None if K == 1 else CLASSES[:K])
    a = np.array([0.5, 0.3, 0.2])
    slopes, curvature = made.derivatives(a, Z, y, W)
    h = 1e-6
    for way in (np.array([1.0, -1, 0]), np.array([0.0, 1, -1])):  # on the simplex
        up, down = (made.mixed(a + s * h * way, Z, y, W) for s in (1, -1))
        assert slopes @ way == pytest.approx((up - down) / (2 * h), rel=1e-4, abs=1e-7)
    np.testing.assert_allclose(curvature, curvature.T)


def test_a_scorer_by_its_name():
    Z, y = shares(3)
    labels = CLASSES[y.astype(int)]
    risk = make_risk("accuracy", y, W, CLASSES)
    expected = -metrics.accuracy_score(labels, CLASSES[Z[:, 0].argmax(1)], sample_weight=W)
    assert risk.mean(Z[:, 0], y, W) == pytest.approx(expected)
    auc = make_risk("roc_auc_ovr", y, W, CLASSES)
    assert -1 <= auc.mean(Z[:, 0], y, W) <= 0
    Z, y = numbers()
    r2 = make_risk("r2", y, W)
    expected = -metrics.r2_score(y, Z[:, 0, 0], sample_weight=W)
    assert r2.mean(Z[:, 0], y, W) == pytest.approx(expected)


def test_a_function():
    Z, y = numbers()
    risk = make_risk(lambda y, said: float(np.abs(y - said).max()), y, W)
    assert risk.mean(Z[:, 0], y, W) == pytest.approx(np.abs(y - Z[:, 0, 0]).max())


def test_means_that_are_not_positive_have_a_finite_poisson_loss():
    y = np.array([0.0, 1.0, 3.0])
    risk = make_risk("poisson", y, np.ones(3))
    assert np.isfinite(risk.mean(np.array([[0.0], [-1.0], [2.0]]), y, np.ones(3)))


def test_shares_of_nothing_have_a_finite_log_loss():
    y = np.array([0.0, 1.0])
    risk = make_risk(None, y, np.ones(2), CLASSES[:2])
    assert np.isfinite(risk.mean(np.array([[0.0, 1.0], [1.0, 0.0]]), y, np.ones(2)))


@pytest.mark.parametrize(
    ("risk", "classes", "message"),
    [
        ("nonsense", None, "neither a loss of weald.losses nor a scorer"),
        ("log_loss", None, "for binary targets, but y is regression"),
        ("squared_error", CLASSES[:2], "for regression targets, but y is binary"),
        (3, None, "risk must be None"),
    ],
)
def test_what_is_no_risk(risk, classes, message):
    with pytest.raises(ValueError, match=message):
        make_risk(risk, np.array([0.0, 1.0]), np.ones(2), classes)
