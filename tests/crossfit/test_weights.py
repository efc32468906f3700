"""Weights of candidates: the stated problem is solved, whatever the loss."""

import numpy as np
import pytest
from scipy.optimize import minimize

from weald.crossfit.risks import make_risk
from weald.crossfit.weights import METHODS, best_weights, greedy_weights, simplex_weights


def random_problem(case):
    """Candidates of random quality, for one of the losses in turn."""
    rng = np.random.default_rng(case)
    n, M = int(rng.integers(5, 300)), int(rng.integers(2, 9))
    w = rng.integers(1, 4, n).astype(float)
    kinds = ("squared_error", "log_loss", "softmax", "absolute_error", "huber", "poisson")
    kind = kinds[case % len(kinds)]
    if kind in ("log_loss", "softmax"):
        K = 2 if kind == "log_loss" else 4
        y = rng.integers(0, K, n).astype(float)
        logits = rng.normal(size=(n, M, K))
        rows = np.arange(n)[:, None]
        logits[rows, np.arange(M), y.astype(int)[:, None]] += rng.uniform(0, 2, M)
        Z = np.exp(logits)
        Z /= Z.sum(axis=2, keepdims=True)
        return make_risk(None, y, w, np.arange(K)), Z, y, w
    y = rng.normal(size=n) * 10 ** rng.uniform(-3, 3)
    noise = rng.normal(size=(n, M)) * y.std() * rng.uniform(0.2, 2, M)
    Z = y[:, None] * rng.uniform(0, 1, M) + noise
    if kind == "poisson":
        y, Z = np.floor(np.abs(y) / y.std() * 3), np.abs(Z) / Z.std()
        y[0] = 1.0
    return make_risk(kind, y, w), Z[:, :, None], y, w


def by_scipy(risk, Z, y, w):
    """The least risk on the simplex that SLSQP finds from several points."""
    M = Z.shape[1]
    scale = risk.mixed(np.full(M, 1 / M), Z, y, w)
    rng = np.random.default_rng(0)
    least = np.inf
    for _ in range(3):
        found = minimize(
            lambda a: risk.mixed(a, Z, y, w) / scale,
            rng.dirichlet(np.ones(M)),
            jac=lambda a: risk.derivatives(a, Z, y, w)[0] / scale,
            bounds=[(0, 1)] * M,
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        ).x
        a = np.maximum(found, 0)
        least = min(least, risk.mixed(a / a.sum(), Z, y, w))
    return least


@pytest.mark.parametrize("case", range(200))
def test_simplex_weights_against_a_general_solver(case):
    risk, Z, y, w = random_problem(case)
    a = simplex_weights(risk, Z, y, w)
    assert (a >= 0).all()
    assert a.sum() == pytest.approx(1)
    ours, theirs = risk.mixed(a, Z, y, w), by_scipy(risk, Z, y, w)
    assert ours <= theirs + 1e-6 * abs(theirs)


@pytest.mark.parametrize("case", [case for case in range(15) if case % 6 != 3])
def test_the_certificate(case):
    """No candidate's slope is below that of the mixture, which proves it for smooth losses."""
    risk, Z, y, w = random_problem(case)
    assert risk.name != "absolute_error"  # which has no slope at its kinks
    a = simplex_weights(risk, Z, y, w)
    slopes = risk.derivatives(a, Z, y, w)[0]
    assert a @ slopes - slopes.min() <= 2e-5 * abs(risk.mixed(a, Z, y, w))


@pytest.mark.parametrize("case", range(30))
def test_discrete_is_the_least_of_the_risks(case):
    risk, Z, y, w = random_problem(case)
    risks = [risk.mean(Z[:, m], y, w) for m in range(Z.shape[1])]
    assert best_weights(risk, Z, y, w).argmax() == np.argmin(risks)
    assert best_weights(risk, Z, y, w).sum() == 1


@pytest.mark.parametrize("case", range(30))
def test_no_way_is_worse_than_the_best_candidate(case):
    risk, Z, y, w = random_problem(case)
    least = min(risk.mean(Z[:, m], y, w) for m in range(Z.shape[1]))
    for name in ("simplex", "greedy"):
        found = METHODS[name](risk, Z, y, w)
        assert found.sum() == pytest.approx(1)
        assert risk.mixed(found, Z, y, w) <= least * (1 + 1e-9)


def naive_greedy(risk, Z, y, w, steps=100):
    """Every selection, and the best of them."""
    chosen, best, at = [], np.inf, None
    for _ in range(steps):
        risks = [risk.mean(Z[:, [*chosen, m]].mean(axis=1), y, w) for m in range(Z.shape[1])]
        chosen.append(int(np.argmin(risks)))
        if min(risks) < best * (1 - 1e-12):
            best, at = min(risks), list(chosen)
    return np.bincount(at, minlength=Z.shape[1]) / len(at)


@pytest.mark.parametrize("case", range(12))
def test_greedy_is_caruanas_selection(case):
    risk, Z, y, w = random_problem(case)
    mine, naive = greedy_weights(risk, Z, y, w), naive_greedy(risk, Z, y, w)
    a, b = risk.mixed(mine, Z, y, w), risk.mixed(naive, Z, y, w)
    assert a == pytest.approx(b, rel=1e-9)


def test_nnls_is_that_of_scipy():
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    y, Z = rng.normal(size=50), rng.normal(size=(50, 4))
    Z[:, 0] += y
    w = rng.uniform(0.5, 2, 50)
    risk = make_risk(None, y, w)
    found = METHODS["nnls"](risk, Z[:, :, None], y, w)
    plain = nnls(np.sqrt(w)[:, None] * Z, np.sqrt(w) * y)[0]
    np.testing.assert_allclose(found, plain / plain.sum(), atol=1e-9)


@pytest.mark.parametrize("method", ["simplex", "nnls", "greedy", "best"])
def test_a_candidate_equal_to_the_truth_gets_all_weight(method):
    rng = np.random.default_rng(1)
    y = rng.normal(size=200)
    Z = np.stack([y, y + rng.normal(size=200), rng.normal(size=200)], axis=1)[:, :, None]
    w = np.ones(200)
    assert METHODS[method](make_risk(None, y, w), Z, y, w)[0] == pytest.approx(1, abs=1e-3)


def test_candidates_that_are_the_same_share_their_weight():
    rng = np.random.default_rng(2)
    y = rng.normal(size=100)
    good = y + rng.normal(size=100)
    Z = np.stack([good, good, rng.normal(size=100)], axis=1)[:, :, None]
    a = simplex_weights(make_risk(None, y, np.ones(100)), Z, y, np.ones(100))
    assert a[0] == pytest.approx(a[1], abs=1e-3)


def test_weights_do_not_depend_on_the_unit_of_the_target():
    risk, Z, y, w = random_problem(0)
    a = simplex_weights(risk, Z, y, w)
    for unit in (1e-9, 1e9):
        scaled = simplex_weights(make_risk(None, unit * y, w), unit * Z, unit * y, w)
        np.testing.assert_allclose(scaled, a, atol=1e-5)


def test_a_metric_without_slopes():
    """Accuracy: the mixture of two candidates that are right on different rows."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300).astype(float)
    sure = np.where(y == 1, 0.9, 0.1)
    one = np.where(np.arange(300) < 150, sure, 0.5 + 0.02 * rng.normal(size=300))
    two = np.where(np.arange(300) >= 150, sure, 0.5 + 0.02 * rng.normal(size=300))
    Z = np.stack([np.stack([1 - p, p], axis=1) for p in (one, two)], axis=1)
    risk = make_risk("accuracy", y, np.ones(300), np.arange(2))
    a = simplex_weights(risk, Z, y, np.ones(300))
    least = min(risk.mean(Z[:, m], y, np.ones(300)) for m in range(2))
    assert risk.mixed(a, Z, y, np.ones(300)) < least - 0.1
