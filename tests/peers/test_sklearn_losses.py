"""scikit-learn's private losses: the same values, derivatives, links and best constants."""

import numpy as np
import pytest
from sklearn import _loss as peers

from weald.losses import (
    AbsoluteError,
    Exponential,
    Gamma,
    Huber,
    LogLoss,
    Poisson,
    Quantile,
    Softmax,
    SquaredError,
    Tweedie,
)

pytestmark = pytest.mark.peers

rng = np.random.default_rng(11)
N, K = 200, 4
WEIGHT = rng.random(N)
SCORE = rng.normal(scale=2, size=N)
REAL = rng.normal(scale=2, size=N)
AMOUNT = rng.gamma(1.0, 3.0, size=N) + 0.1
CLASS = rng.integers(2, size=N) * 1.0

PAIRS = [  # the conventions are the same, so the factor between the two is 1 for all
    (SquaredError(), peers.HalfSquaredError(), REAL, SCORE),
    (AbsoluteError(), peers.AbsoluteError(), REAL, SCORE),
    (Huber(0.7), peers.HuberLoss(delta=0.7), REAL, SCORE),
    (Quantile(0.9), peers.PinballLoss(quantile=0.9), REAL, SCORE),
    (Poisson(), peers.HalfPoissonLoss(), AMOUNT, SCORE),
    (Gamma(), peers.HalfGammaLoss(), AMOUNT, SCORE),
    (Tweedie(1.3), peers.HalfTweedieLoss(power=1.3), AMOUNT, SCORE),
    (LogLoss(), peers.HalfBinomialLoss(), CLASS, SCORE),
    (Exponential(), peers.loss.ExponentialLoss(), CLASS, SCORE),
    (
        Softmax(),
        peers.HalfMultinomialLoss(n_classes=K),
        rng.integers(K, size=N) * 1.0,
        rng.normal(size=(N, K)),
    ),
]
every_pair = pytest.mark.parametrize(
    ("loss", "peer", "y", "F"), PAIRS, ids=[repr(pair[0]) for pair in PAIRS]
)


@every_pair
def test_values_and_derivatives(loss, peer, y, F):
    np.testing.assert_allclose(loss.value(y, F), peer.loss(y, F), rtol=1e-9, atol=1e-12)
    gradient, hessian = peer.gradient_hessian(y, F)
    np.testing.assert_allclose(loss.gradient(y, F), gradient, rtol=1e-9, atol=1e-12)
    if loss.has_hessian:
        hessian = np.broadcast_to(hessian, F.shape)
        np.testing.assert_allclose(loss.hessian(y, F), hessian, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.link.inverse(F), peer.link.inverse(F), rtol=1e-9)


@every_pair
def test_best_constants(loss, peer, y, F):
    def risk(c):
        return loss.mean(y, np.broadcast_to(c, F.shape), WEIGHT)

    ours, theirs = risk(loss.constant(y, WEIGHT)), risk(peer.fit_intercept_only(y, WEIGHT))
    if loss.name == "huber":  # theirs is one step from the median towards the best
        assert ours <= theirs
    else:
        assert ours == pytest.approx(theirs, rel=1e-9)
