"""Every loss by the same laws: derivatives, weights, best constant, links, domains, messages."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from weald.losses import (
    LOSSES,
    AbsoluteError,
    Exponential,
    Focal,
    Gamma,
    Huber,
    LogCosh,
    LogLoss,
    Loss,
    Poisson,
    Quantile,
    SmoothHinge,
    Softmax,
    SquaredError,
    Tweedie,
    check_derivatives,
    get_loss,
)

REGRESSION = [
    SquaredError(),
    AbsoluteError(),
    Huber(),
    Huber(delta=0.3),
    Quantile(),
    Quantile(quantile=0.9),
    LogCosh(),
]
POSITIVE = [Poisson(), Gamma(), Tweedie(), Tweedie(power=1.1), Tweedie(power=1.95)]
BINARY = [
    LogLoss(),
    Exponential(),
    SmoothHinge(),
    SmoothHinge(smoothness=0.5),
    SmoothHinge(smoothness=1.5),
    Focal(),
    Focal(gamma=0.5),
]
K = 4
ALL = [*REGRESSION, *POSITIVE, *BINARY, Softmax(), Softmax(n_classes=K)]
SCALAR = [loss for loss in ALL if loss.kind != "multiclass"]

every_loss = pytest.mark.parametrize("loss", ALL, ids=repr)
every_scalar_loss = pytest.mark.parametrize("loss", SCALAR, ids=repr)
seeds = given(st.integers(0, 2**32 - 1))
few = settings(max_examples=25, deadline=None)


def draw(loss, seed, n=30):
    """Targets in the domain of the loss, and scores on all sides of them."""
    rng = np.random.default_rng(seed)
    if loss.kind == "multiclass":
        return rng.integers(K, size=n) * 1.0, rng.normal(scale=3, size=(n, K))
    if loss.kind == "binary":
        return rng.integers(2, size=n) * 1.0, rng.normal(scale=3, size=n)
    if loss in POSITIVE:
        zero = rng.random(n) < (0.0 if loss.name == "gamma" else 0.3)
        return np.where(zero, 0.0, rng.gamma(1.0, 3.0, size=n) + 1e-3), rng.normal(scale=2, size=n)
    return rng.normal(scale=3, size=n), rng.normal(scale=3, size=n)


def test_every_name_is_tested():
    assert {loss.name for loss in ALL} == set(LOSSES)


# --- values and derivatives -------------------------------------------------------------------

LN2, E = np.log(2.0), np.e
WORKED = [  # loss, y, F, value, gradient, hessian: by hand
    (SquaredError(), 1, 4, 4.5, 3, 1),
    (AbsoluteError(), 1, 4, 3, 1, None),
    (AbsoluteError(), 1, 1, 0, 0, None),
    (Huber(2.0), 0, 1, 0.5, 1, 1),
    (Huber(2.0), 0, -5, 8, -2, 0),
    (Quantile(0.9), 2, 0, 1.8, -0.9, None),
    (Quantile(0.9), 0, 2, 0.2, 0.1, None),
    (LogCosh(), 0, LN2, np.log(1.25), 0.6, 0.64),
    (Poisson(), 3, 1, E - 3, E - 3, E),
    (Gamma(), 3, -1, 3 * E - 1, 1 - 3 * E, 3 * E),
    (Tweedie(1.5), 3, 2, 2 * E + 6 / E, E - 3 / E, E / 2 + 1.5 / E),
    (LogLoss(), 1, 0, LN2, -0.5, 0.25),
    (LogLoss(), 0, np.log(3), np.log(4), 0.75, 0.1875),
    (Exponential(), 0, LN2, 2, 2, 2),
    (Exponential(), 1, LN2, 0.5, -0.5, 0.5),
    (SmoothHinge(), 1, 0.5, 0.125, -0.5, 1),
    (SmoothHinge(0.5), 0, 3, 3.75, 1, 0),
    (SmoothHinge(), 1, 2, 0, 0, 0),
    (Focal(2.0), 1, 0, LN2 / 4, -(LN2 + 0.5) / 4, (LN2 + 2.5) / 8),
    (Focal(0.0), 0, np.log(3), np.log(4), 0.75, 0.1875),
    (Softmax(), 2, np.log([1, 1, 2]), LN2, [0.25, 0.25, -0.5], [0.1875, 0.1875, 0.25]),
]


@pytest.mark.parametrize(("loss", "y", "F", "value", "gradient", "hessian"), WORKED)
def test_worked_by_hand(loss, y, F, value, gradient, hessian):
    y, F = np.array([y], dtype=float), np.array([F], dtype=float)
    np.testing.assert_allclose(loss.value(y, F), [value], rtol=1e-14)
    np.testing.assert_allclose(loss.gradient(y, F), [gradient], rtol=1e-14)
    if hessian is not None:
        np.testing.assert_allclose(loss.hessian(y, F), [hessian], rtol=1e-14)


@every_loss
@few
@seeds
def test_derivatives_are_those_of_the_value(loss, seed):
    check_derivatives(loss, *draw(loss, seed))


@every_loss
@few
@seeds
def test_convex_where_claimed(loss, seed):
    y, F = draw(loss, seed)
    _, G = draw(loss, seed + 1)
    between = loss.value(y, 0.3 * F + 0.7 * G)
    chord = 0.3 * loss.value(y, F) + 0.7 * loss.value(y, G)
    if loss.convex:
        assert np.all(between <= chord + 1e-12 * (1 + np.abs(chord)))
        if loss.has_hessian:
            assert np.all(loss.hessian(y, F) >= 0)


def test_focal_is_not_convex():
    assert not Focal().convex
    assert Focal().hessian(np.ones(1), np.array([-5.0])) < 0


@every_loss
def test_flags(loss):
    y, F = draw(loss, 0)
    assert loss.smooth == (loss.name not in ("absolute_error", "quantile")) == loss.has_hessian
    assert loss.constant_hessian == (loss.name == "squared_error")
    if not loss.has_hessian:
        with pytest.raises(NotImplementedError, match=f"{loss.name} has no second derivative"):
            loss.hessian(y, F)


@every_loss
def test_extreme_scores(loss):
    """Finite, and convex all the way out; RuntimeWarnings are errors."""
    y, _ = draw(loss, 3, n=40)
    far = np.array([-1e3, -400.0, -300.0, -40.0, 40.0, 300.0, 400.0, 1e3])
    for c in far:
        F = np.full(len(y), c) if loss.kind != "multiclass" else np.tile([c, 0, -c, c], (40, 1))
        for array in (loss.value(y, F), loss.gradient(y, F), loss.link.inverse(F)):
            assert np.isfinite(array).all()
        if loss.has_hessian:
            curvature = loss.hessian(y, F)
            assert np.isfinite(np.square(curvature).sum())
            assert not loss.convex or (curvature >= 0).all()
    if loss.kind != "multiclass":
        row = loss.value(np.ones(len(far)), far)
        slopes = np.diff(row) / np.diff(far)
        assert np.all(np.diff(slopes) >= -1e-12)  # also for focal, this far out


@pytest.mark.parametrize(
    "loss", [LogLoss(), Exponential(), LogCosh(), Focal(), Softmax()], ids=repr
)
def test_tiny_losses_keep_their_digits(loss):
    if loss.kind == "multiclass":
        got = loss.value(np.zeros(1), np.array([[50.0, 0.0]]))
        np.testing.assert_allclose(loss.gradient(np.zeros(1), np.array([[50.0, 0.0]]))[0, 0], -got)
        assert loss.hessian(np.zeros(1), np.array([[50.0, 0.0]])).min() > 0
    else:
        score = 1e-9 if loss.kind == "regression" else 50.0
        got = loss.value(np.full(1, float(loss.kind == "binary")), np.array([score]))
    expected = {"log_cosh": 5e-19, "focal": np.exp(-150)}.get(loss.name, np.exp(-50))
    np.testing.assert_allclose(got, expected, rtol=1e-9)


def test_logistic_loss_of_the_textbook():
    """On labels -1/+1, ln(1 + exp(-2yF)) with residual 2y / (1 + exp(2yF)): half our score."""
    sign, F = np.array([-1.0, 1.0, 1.0, -1.0]), np.array([0.5, 0.5, -2.0, 0.0])
    y = (sign + 1) / 2
    np.testing.assert_allclose(LogLoss().value(y, 2 * F), np.log(1 + np.exp(-2 * sign * F)))
    residual = -2 * LogLoss().gradient(y, 2 * F)  # the chain rule's 2
    np.testing.assert_allclose(residual, 2 * sign / (1 + np.exp(2 * sign * F)))
    ours = y - 1 / (1 + np.exp(-F))
    np.testing.assert_allclose(-LogLoss().gradient(y, F), ours)
    np.testing.assert_allclose(LogLoss().link.inverse(2 * F), Exponential().link.inverse(F))


def test_relatives():
    y, F = draw(SquaredError(), 5)
    np.testing.assert_allclose(Quantile(0.5).value(y, F), AbsoluteError().value(y, F) / 2)
    np.testing.assert_allclose(Huber(1e6).value(y, F), SquaredError().value(y, F))
    y, F = draw(LogLoss(), 5)
    two = np.column_stack([np.zeros_like(F), F])
    np.testing.assert_allclose(Focal(0.0).hessian(y, F), LogLoss().hessian(y, F))
    np.testing.assert_allclose(Softmax().value(y, two), LogLoss().value(y, F))
    np.testing.assert_allclose(Softmax().gradient(y, two)[:, 1], LogLoss().gradient(y, F))
    np.testing.assert_allclose(Softmax().hessian(y, two)[:, 1], LogLoss().hessian(y, F))


# --- weights and the best constant ------------------------------------------------------------


def full(c, n):
    """Scores of n rows that all have score(s) c."""
    return np.tile(c, (n, 1)) if np.ndim(c) else np.full(n, c)


@every_loss
@few
@seeds
def test_weight_is_repetition(loss, seed):
    y, F = draw(loss, seed)
    y[:K] = np.arange(K) if loss.kind == "multiclass" else y[:K]
    times = np.random.default_rng(seed).integers(0, 4, size=len(y))
    times[:K] += 1
    repeated = np.repeat(y, times)
    mean = loss.mean(repeated, np.repeat(F, times, axis=0))
    assert loss.mean(y, F, times) == pytest.approx(mean, rel=1e-12)
    found = loss.constant(y, times)
    np.testing.assert_allclose(found, loss.constant(repeated), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found, loss.constant(y, 0.1 * times), rtol=1e-9, atol=1e-9)


@every_loss
def test_weight_zero_is_absence(loss):
    y, F = draw(loss, 8)
    w = np.ones(len(y))
    y[-3:], F[-3:], w[-3:] = np.nan, np.nan, 0
    assert loss.mean(y, F, w) == loss.mean(y[:-3], F[:-3])
    np.testing.assert_array_equal(loss.constant(y, w), loss.constant(y[:-3]))


@every_loss
@few
@seeds
def test_the_constant_is_best(loss, seed):
    y, _ = draw(loss, seed)
    y[:K] = np.arange(K) if loss.kind == "multiclass" else y[:K]
    if loss.kind == "binary":
        y[:2] = [0, 1]
    w = np.random.default_rng(seed).random(len(y))
    c = loss.constant(y, w)
    best = loss.mean(y, full(c, len(y)), w)
    for nudge in np.eye(K) if loss.kind == "multiclass" else [1.0]:
        for size in (-3.0, -0.1, -1e-3, 1e-3, 0.1, 3.0):
            near = loss.mean(y, full(c + size * nudge, len(y)), w)
            assert best <= near + 1e-13 * (1 + abs(best))
    if loss.smooth:
        g = w @ loss.gradient(y, full(c, len(y)))
        np.testing.assert_allclose(g, 0, atol=1e-9 * len(y))
    if loss.kind != "multiclass":
        wide = minimize_scalar(
            lambda s: loss.mean(y, full(s, len(y)), w), bounds=(-20, 20), method="bounded"
        )
        assert best <= wide.fun + 1e-13 * (1 + abs(best))


def test_constants_worked_by_hand():
    y = np.array([1.0, 2.0, 3.0, 10.0])
    assert SquaredError().constant(y) == 4.0
    assert AbsoluteError().constant(y) == 2.5
    assert AbsoluteError().constant(y, [1, 1, 1, 4]) == 10.0
    assert Quantile(0.75).constant(y) == 6.5
    assert Quantile(0.7).constant(y) == 3.0
    assert Huber(1.0).constant(y) == pytest.approx(2.5)  # -1, -0.5, 0.5, 1 pull alike
    for loss in POSITIVE:
        assert loss.constant(y) == pytest.approx(np.log(4.0))
    y = np.array([0.0, 1.0, 1.0, 1.0])
    assert LogLoss().constant(y) == pytest.approx(np.log(3))
    assert Exponential().constant(y) == pytest.approx(np.log(3) / 2)
    assert SmoothHinge().constant(y) == pytest.approx(2 / 3)  # 3 (1 - F) = 1
    np.testing.assert_allclose(Softmax().constant(y), np.array([-1, 1]) * np.log(3) / 2)


@pytest.mark.parametrize("loss", [Huber(0.3), LogCosh()], ids=repr)
def test_the_middle_of_a_flat_bottom(loss):
    """Two far groups of equal weight pull alike on everything between them."""
    y = np.array([0.0, 0.0, 0.1, 100.0, 100.0])
    assert loss.constant(y, [1, 1, 0, 1, 1]) == pytest.approx(50)
    assert loss.constant(y, [0.1, 0.2, 0, 0.2, 0.1]) == pytest.approx(50, abs=0.01)


@every_scalar_loss
def test_one_value_only(loss):
    """The constant is finite and predicts that value, however far away its score would be."""
    for value in (0.0, 1.0) if loss.kind == "binary" or loss.name != "gamma" else (1.0,):
        for n in (1, 3):
            c = loss.constant(np.full(n, value))
            assert abs(c) <= 30
            tolerance = 0.05 if loss.name == "focal" else 1e-9
            assert float(loss.link.inverse(np.array(c))) == pytest.approx(value, abs=tolerance)


def test_absent_classes():
    scores = Softmax(n_classes=3).constant(np.ones(5))
    np.testing.assert_allclose(Softmax().link.inverse(scores), [0, 1, 0], atol=1e-12)
    assert np.isfinite(scores).all()
    assert Softmax().constant(np.zeros(2)).shape == (2,)


def test_focal_shares_are_drawn_to_one_half():
    for gamma in (0.3, 1.0, 5.0):
        for share in (0.01, 0.3, 0.5, 0.9):
            c = Focal(gamma).constant(np.array([0.0, 1.0]), [1 - share, share])
            p = float(Focal().link.inverse(np.array(c)))
            assert abs(p - 0.5) <= abs(share - 0.5) + 1e-12
            assert (p > 0.5) == (share > 0.5) or share == 0.5


@dataclass(frozen=True)
class Twin(Loss):
    """A built-in loss through value and gradient alone: what a user's subclass gets for free."""

    of: Loss

    def __post_init__(self):
        for name in ("name", "kind", "link"):
            object.__setattr__(self, name, getattr(self.of, name))

    def value(self, y, F):
        return self.of.value(y, F)

    def gradient(self, y, F):
        return self.of.gradient(y, F)


@every_loss
@few
@seeds
def test_generic_constant_finds_the_formula(loss, seed):
    y, _ = draw(loss, seed, n=12)
    w = np.random.default_rng(seed).integers(1, 5, size=12)
    score, expected = Twin(loss).constant(y, w), loss.constant(y, w)
    got = loss.mean(y, full(score, 12), w)
    assert got == pytest.approx(loss.mean(y, full(expected, 12), w), abs=1e-7)
    if loss.kind != "multiclass":
        assert score == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert not Twin(loss).has_hessian


@pytest.mark.parametrize("loss", [LogLoss(), Exponential(), Poisson(), SmoothHinge()], ids=repr)
def test_generic_constant_is_finite(loss):
    for value in (0.0, 1.0):
        c = Twin(loss).constant(np.full(3, value))
        assert abs(c) <= (1 + 1e-12 if loss.name == "smooth_hinge" else 60)
        assert float(loss.link.inverse(np.array(c))) == pytest.approx(value, abs=1e-9)


# --- links, domains, parameters ---------------------------------------------------------------


@every_loss
def test_links_go_there_and_back(loss):
    rng = np.random.default_rng(0)
    if loss.kind == "multiclass":
        mu = rng.dirichlet(np.ones(K), size=50)
    elif loss.kind == "binary":
        mu = np.array([1e-9, 0.01, 0.2, 0.5, 0.7, 1 - 1e-9])
    else:
        mu = rng.gamma(1.0, size=50) - (loss.link.name == "identity")
    np.testing.assert_allclose(loss.link.inverse(loss.link.link(mu)), mu, rtol=1e-9, atol=1e-15)
    if loss.kind == "binary":
        F = np.linspace(-5, 5, 101)
        p = loss.link.inverse(F)
        assert np.all(np.diff(p) >= 0)
        np.testing.assert_array_equal((p > 0.5)[F > 0.5 + 1e-9], True)
        np.testing.assert_allclose(p, 1 - loss.link.inverse(-F), atol=1e-15)


@every_loss
def test_targets_inside_the_domain(loss):
    loss.check_target(draw(loss, 0)[0])


@every_loss
def test_losses_are_values(loss):
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss == eval(repr(loss))
    assert hash(again) == hash(loss)
    assert again.link == loss.link
    assert sum(loss == other for other in ALL) == 1
    with pytest.raises(AttributeError):
        loss.anything = 1
    assert get_loss(loss) is loss
