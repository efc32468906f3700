"""Weights of a vote that make its bound small.

Both bounds are relaxed to PAC-Bayes-lambda, which is minimised over lambda and over the weights in
turns. A bound holds for all weights at once, so also for those chosen on the same rows: what the
choice costs is KL(rho || pi).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import log_softmax

from weald._engine import FloatArray
from weald.theory.kl import divergence, kl_upper
from weald.theory.vote_bounds import best_lambda, complexity, lambda_bound
from weald.theory.vote_losses import VoteLosses

__all__ = ["minimise_first_order", "minimise_tandem"]

_TURNS = 200  # between lambda and the weights
_STEPS = 500  # of the weights for one lambda
_ENOUGH = 1e-10  # a smaller change of the objective ends the turns


def minimise_first_order(losses: VoteLosses, prior: FloatArray, delta: float) -> FloatArray:
    """Weights that minimise the first-order bound, by turns.

    For a fixed lambda, ``rho_t ~ pi_t exp(-lambda n loss_t)`` (Thiemann et al. 2017).
    """

    def weights_at(at: float, log_weights: FloatArray) -> FloatArray:
        return log_softmax(np.log(prior) - at * losses.n * losses.members)

    def terms(weights: FloatArray) -> tuple[float, float]:
        kl = divergence(weights, prior)
        return losses.gibbs(weights), complexity(losses.n, kl, delta)

    return _by_turns(prior, weights_at, terms)


def minimise_tandem(losses: VoteLosses, prior: FloatArray, delta: float) -> FloatArray:
    """Weights that minimise the tandem bound, by turns (Masegosa et al. 2020).

    For a fixed lambda the weights minimise ``rho' S rho + 2 / (lambda n) KL(rho || pi)``, by steps
    towards ``rho ~ pi exp(-lambda n S rho)`` in the logarithm, halved until they descend.
    """
    log_prior = np.log(prior)

    def weights_at(at: float, log_weights: FloatArray) -> FloatArray:
        def objective(log_weights: FloatArray) -> float:
            weights = np.exp(log_weights)
            kl = divergence(weights, prior)
            return losses.tandem(weights) + 2.0 * kl / (at * losses.n_pair)

        value, share = objective(log_weights), 1.0
        for _ in range(_STEPS):
            aim = log_prior - at * losses.n_pair * (losses.pairs @ np.exp(log_weights))
            trial = log_softmax((1.0 - share) * log_weights + share * log_softmax(aim))
            reached = objective(trial)
            if reached < value:
                done = value - reached < _ENOUGH * value
                log_weights, value, share = trial, reached, min(1.0, 1.5 * share)
                if done:
                    break
            elif share < 1e-6:
                break
            else:
                share /= 2.0
        return log_weights

    def terms(weights: FloatArray) -> tuple[float, float]:
        kl = divergence(weights, prior)
        return losses.tandem(weights), complexity(losses.n_pair, 2.0 * kl, delta)

    return _by_turns(prior, weights_at, terms)


def _by_turns(
    prior: FloatArray,
    weights_at: Callable[[float, FloatArray], FloatArray],
    terms: Callable[[FloatArray], tuple[float, float]],
) -> FloatArray:
    """Minimise over lambda and the weights in turns, from the prior on.

    Of the weights met on the way, the prior's among them, those of the least kl bound are kept: the
    relaxed bound, which descends, is not quite the one that is reported.

    Parameters
    ----------
    prior : ndarray of shape (T,)
    weights_at : callable
        Logarithms of the best weights for a lambda, from those of earlier weights.
    terms : callable
        The loss seen and the complexity of weights, from which both bounds are made.
    """
    log_weights = np.log(prior)
    best, least = prior, kl_upper(*terms(prior))
    last = np.inf
    for _ in range(_TURNS):
        at = best_lambda(*terms(np.exp(log_weights)))
        log_weights = weights_at(at, log_weights)
        weights = np.exp(log_weights)
        weights /= weights.sum()
        reached = kl_upper(*terms(weights))
        if reached < least:
            best, least = weights, reached
        relaxed = lambda_bound(*terms(weights), at)
        if last - relaxed < _ENOUGH * relaxed:
            break
        last = relaxed
    return best
