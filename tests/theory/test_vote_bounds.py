"""Bounds of votes: hand computations, identities, and that they hold."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from weald.theory.kl import divergence, kl_lower, kl_upper
from weald.theory.vote_bounds import BOUNDS, Seen, best_lambda, c_bound, c_tandem, lambda_bound
from weald.theory.vote_losses import VoteLosses, vote_error, vote_losses
from weald.theory.vote_weights import minimise_first_order, minimise_tandem

DELTA = 0.05
ALWAYS = [bound for bound in BOUNDS if bound.needs != "fixed vote"]
BY_NAME = {bound.name: bound.value for bound in BOUNDS}


def _uniform(T: int) -> np.ndarray:
    return np.full(T, 1.0 / T)


def _errors(rng: np.random.Generator, T: int, n: int) -> np.ndarray:
    """Members of different skill that find the same rows hard."""
    hardness = rng.random(n) * rng.uniform(0.2, 0.9)
    return rng.random((T, n)) < hardness * rng.uniform(0.3, 1.0, size=(T, 1))


def _random_losses(seed: int) -> VoteLosses:
    rng = np.random.default_rng(seed)
    T, n = int(rng.integers(1, 12)), int(rng.integers(60, 400))
    seen = rng.random((T, n)) < 0.632 if rng.random() < 0.5 else None
    return vote_losses(_errors(rng, T, n), seen)


def _naive(errors: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    T = len(errors)
    pairs, disagreements, fewest = np.zeros((T, T)), np.zeros((T, T)), errors.shape[1]
    for s in range(T):
        for t in range(T):
            rows = ~seen[s] & ~seen[t]
            pairs[s, t] = np.mean(errors[s, rows] & errors[t, rows])
            disagreements[s, t] = np.mean(errors[s, rows] ^ errors[t, rows])
            fewest = min(fewest, int(rows.sum()))
    return pairs, disagreements, fewest


@pytest.mark.parametrize("n", [500, 2**14 + 77])
def test_losses_of_pairs_are_those_of_a_loop(n: int) -> None:
    rng = np.random.default_rng(1)
    errors, seen = _errors(rng, 6, n), rng.random((6, n)) < 0.632
    losses = vote_losses(errors, seen)
    pairs, disagreements, fewest = _naive(errors, seen)
    np.testing.assert_allclose(losses.pairs, pairs, rtol=1e-12)
    np.testing.assert_allclose(losses.disagreements, disagreements, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(losses.members, np.diagonal(pairs), rtol=1e-12)
    assert losses.n == (~seen).sum(axis=1).min()
    assert losses.n_pair == fewest


def test_hand_computation() -> None:
    errors = np.zeros((2, 100), dtype=bool)
    errors[0, :20], errors[1, 10:40] = True, True
    weights = np.array([0.25, 0.75])
    s = Seen.of(vote_losses(errors), weights, _uniform(2))
    assert (s.gibbs, s.tandem) == (
        pytest.approx(0.25 * 0.2 + 0.75 * 0.3),
        pytest.approx(0.0625 * 0.2 + 0.5625 * 0.3 + 2 * 0.1875 * 0.1),
    )
    assert s.disagreement == pytest.approx(2 * 0.1875 * 0.3)
    kl = 0.25 * log(0.5) + 0.75 * log(1.5)
    first, second = (kl + log(20 / 0.05)) / 100, (2 * kl + log(20 / 0.05)) / 100
    expected = {
        "gibbs_kl": kl_upper(s.gibbs, first),
        "gibbs_mcallester": s.gibbs + sqrt(first / 2),
        "first_order": 2 * kl_upper(s.gibbs, first),
        "tandem": min(4 * kl_upper(s.tandem, second), 1.0),
    }
    for name, value in expected.items():
        assert BY_NAME[name](s, DELTA) == pytest.approx(float(value)), name


def test_identities_of_one_member_and_of_equal_members() -> None:
    rng = np.random.default_rng(3)
    one = rng.random((1, 200)) < 0.2
    losses = vote_losses(one)
    s = Seen.of(losses, np.ones(1), np.ones(1))
    assert (s.divergence, s.disagreement) == (0.0, 0.0)
    assert s.tandem == s.gibbs == one.mean()
    assert minimise_tandem(losses, np.ones(1), DELTA) == pytest.approx([1.0])
    equal = vote_losses(np.repeat(one, 9, axis=0))
    weights = rng.dirichlet(np.ones(9))
    assert equal.tandem(weights) == pytest.approx(equal.gibbs(weights))
    for minimise in (minimise_first_order, minimise_tandem):
        np.testing.assert_allclose(minimise(equal, _uniform(9), DELTA), _uniform(9))


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_laws_on_random_votes(start: int) -> None:
    for seed in range(start, start + 50):
        losses = _random_losses(seed)
        rng = np.random.default_rng(seed)
        T = len(losses.members)
        prior = _uniform(T) if seed % 2 else rng.dirichlet(np.full(T, 3.0))
        s = Seen.of(losses, rng.dirichlet(np.ones(T)), prior)
        assert s.divergence >= 0.0
        assert s.gibbs <= BY_NAME["gibbs_kl"](s, DELTA)
        assert BY_NAME["gibbs_kl"](s, DELTA) <= BY_NAME["gibbs_lambda"](s, DELTA) + 1e-12
        assert BY_NAME["gibbs_kl"](s, DELTA) <= BY_NAME["gibbs_mcallester"](s, DELTA) + 1e-12
        for bound in ALWAYS:
            assert 0.0 <= bound.value(s, 0.2) <= bound.value(s, 0.02) <= 1.0, bound.name
        # The worst C-bound never passes 4 x tandem, which has half of delta there.
        assert c_tandem(s, DELTA) <= BY_NAME["tandem"](s, DELTA / 2) + 1e-12
        c, at = s.reach(DELTA), best_lambda(s.gibbs, s.reach(DELTA))
        assert all(
            lambda_bound(s.gibbs, c, at) <= lambda_bound(s.gibbs, c, other) + 1e-12
            for other in np.linspace(0.01, 1.9, 40)
        )
        start_from = Seen.of(losses, prior, prior)
        for name, minimise in (
            ("first_order", minimise_first_order),
            ("tandem", minimise_tandem),
        ):
            weights = minimise(losses, prior, DELTA)
            assert weights.sum() == pytest.approx(1.0)
            assert weights.min() >= 0.0
            reached = BY_NAME[name](Seen.of(losses, weights, prior), DELTA)
            assert reached <= BY_NAME[name](start_from, DELTA)


def test_c_tandem_is_the_worst_of_its_rectangle() -> None:
    for seed in range(100):
        losses = _random_losses(seed)
        T = len(losses.members)
        s = Seen.of(losses, _uniform(T), _uniform(T))
        c, pair_c = s.reach(DELTA / 2), s.pair_reach(DELTA / 2)
        G = np.linspace(kl_lower(s.gibbs, c), kl_upper(s.gibbs, c), 60)
        S = np.linspace(kl_lower(s.tandem, pair_c), kl_upper(s.tandem, pair_c), 60)
        possible = [c_bound(g, t) for g in G for t in S if g * g <= t <= g]
        if possible:
            assert c_tandem(s, DELTA) >= max(possible) - 1e-12
            assert c_tandem(s, DELTA) <= max(possible) + 0.02


def test_c_bound_of_two_classes_is_the_one_of_disagreement() -> None:
    rng = np.random.default_rng(5)
    losses = vote_losses(_errors(rng, 8, 400))
    weights = rng.dirichlet(np.ones(8))
    G, S, D = losses.gibbs(weights), losses.tandem(weights), losses.disagreement(weights)
    assert pytest.approx(2 * (G - S)) == D
    assert c_bound(G, S) == pytest.approx(1 - (1 - 2 * G) ** 2 / (1 - 2 * D))


def test_turns_reach_the_minimum_of_the_relaxed_tandem_bound() -> None:
    """The same minimum as a general minimiser finds, over lambda and weights at once."""
    rng = np.random.default_rng(8)
    errors = rng.random((10, 3000)) < np.linspace(0.05, 0.4, 10)[:, None]
    losses = vote_losses(errors)
    prior = _uniform(10)

    def relaxed(weights: np.ndarray) -> float:
        c = (2 * divergence(weights, prior) + log(2 * sqrt(3000) / DELTA)) / 3000
        seen = losses.tandem(weights)
        return lambda_bound(seen, c, best_lambda(seen, c))

    best = minimize(lambda z: relaxed(softmax(z)), np.zeros(10), method="BFGS", tol=1e-10)
    weights = minimise_tandem(losses, prior, DELTA)
    assert relaxed(weights) == pytest.approx(best.fun, rel=1e-5)
    assert relaxed(weights) < 0.8 * relaxed(prior)
    # First order has a formula for its weights, which must be a fixed point.
    weights = minimise_first_order(losses, prior, DELTA)
    s = Seen.of(losses, weights, prior)
    at = best_lambda(s.gibbs, s.reach(DELTA))
    np.testing.assert_allclose(
        np.log(weights), log_softmax(-at * losses.n * losses.members), rtol=1e-4
    )


@pytest.mark.parametrize("held_out", [True, False])
def test_bounds_hold_for_a_known_vote(held_out: bool) -> None:
    """Chosen weights on few rows; the errors behind them are known: at most delta may fail."""
    rng = np.random.default_rng(11)
    T, n, runs = 7, 120, 400
    hardness, skill = np.array([0.05, 0.15, 0.6, 0.9]), np.linspace(0.5, 1.0, T)
    chance = skill[:, None] * hardness  # of a member to err, by kind of row; kinds are as likely
    gibbs = chance.mean(axis=1)
    failed = dict.fromkeys(BY_NAME, 0)
    for run in range(runs):
        kind = rng.integers(4, size=n)
        errors = rng.random((T, n)) < chance[:, kind]
        losses = vote_losses(errors, None if held_out else rng.random((T, n)) < 0.6)
        minimise = (minimise_first_order, minimise_tandem)[run % 2]
        weights = minimise(losses, _uniform(T), DELTA)
        # Two classes: the vote errs where half the weight errs; all 2^T patterns have a chance.
        patterns = (np.arange(2**T)[:, None] >> np.arange(T)) & 1
        likely = np.prod(np.where(patterns[:, None, :] == 1, chance.T, 1 - chance.T), axis=2).mean(
            axis=1
        )
        vote = float(likely[patterns @ weights >= 0.5].sum())
        s = Seen.of(losses, weights, _uniform(T))
        for bound in ALWAYS:
            truth = float(weights @ gibbs) if bound.of == "gibbs" else vote
            failed[bound.name] += truth > bound.value(s, DELTA)
        if held_out:  # equal weights were not chosen
            seen = float(np.mean(errors.mean(axis=0) >= 0.5))
            s = Seen.of(losses, _uniform(T), _uniform(T), seen)
            vote = float(likely[patterns.mean(axis=1) >= 0.5].sum())
            failed["test_set"] += vote > BY_NAME["test_set"](s, DELTA)
    # The one that is nearly exact may be unlucky in this sample of runs.
    assert failed.pop("test_set") <= 1.5 * DELTA * runs
    assert max(failed.values()) <= DELTA * runs, failed


def test_oracle_inequalities_for_many_classes() -> None:
    """Majority of three classes: 2 G, 4 S and the C-bound of the counts themselves."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        T, n = 5, 80
        y = rng.integers(3, size=n)
        right = rng.random((T, n)) < rng.uniform(0.4, 0.9)
        votes = np.where(right, y, rng.integers(3, size=(T, n)))
        weights = rng.dirichlet(np.ones(T))
        losses = vote_losses(votes != y)
        G, S = losses.gibbs(weights), losses.tandem(weights)
        error = vote_error(votes, y, weights, 3)
        assert error <= min(2 * G, 4 * S, c_bound(G, S)) + 1e-12


def test_vote_error_counts_members_that_did_not_see_the_row() -> None:
    votes = np.array([[0, 1, 0, 1], [0, 1, 1, 1], [1, 0, 1, 1]])
    y = np.array([0, 0, 1, 0])
    weights = np.array([0.5, 0.3, 0.2])
    assert vote_error(votes, y, weights, 2) == 0.75  # the third row is a tie of 0.5: class 0
    seen = np.array([[1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=bool)
    assert vote_error(votes, y, weights, 2, seen) == 0.0  # the last row: nobody is left


def test_members_without_rows_are_named() -> None:
    errors = np.zeros((3, 4), dtype=bool)
    seen = np.zeros((3, 4), dtype=bool)
    seen[1] = True
    with pytest.raises(ValueError, match="member 1 has no row that it did not see"):
        vote_losses(errors, seen)
    seen = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=bool)
    with pytest.raises(ValueError, match="members 0 and 1 have no row that neither of them saw"):
        vote_losses(errors, seen)
