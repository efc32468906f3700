"""The kl inverse against exact decimals, and its laws."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from weald.theory import kl
from weald.theory.kl import divergence

kl_lower, kl_upper = np.vectorize(kl.kl_lower), np.vectorize(kl.kl_upper)


def _kl(p: Decimal, q: Decimal) -> Decimal:
    left = p * (p / q).ln() if p > 0 else Decimal(0)
    return left + ((1 - p) * ((1 - p) / (1 - q)).ln() if p < 1 else Decimal(0))


def _exact(p: float, c: float, side: int) -> float:
    """The inverse by bisection with 50 digits, above p or below it."""
    with localcontext() as context:
        context.prec = 50
        share, reach = Decimal(p), Decimal(c)
        inside, outside = share, Decimal(1 if side > 0 else 0)
        for _ in range(130):
            middle = (inside + outside) / 2
            if _kl(share, middle) <= reach:
                inside = middle
            else:
                outside = middle
        return float(inside)


@pytest.mark.parametrize("p", [0.0, 1e-12, 1e-4, 0.01, 0.2, 0.5, 0.83, 0.9999, 1.0])
@pytest.mark.parametrize("c", [1e-9, 1e-5, 0.003, 0.2, 2.0, 12.0])
def test_the_inverse_is_exact(p: float, c: float) -> None:
    if p < 1:
        assert kl_upper(p, c) == pytest.approx(_exact(p, c, 1), abs=1e-13)
    if p > 0:
        assert kl_lower(p, c) == pytest.approx(_exact(p, c, -1), abs=1e-13)


def test_known_values() -> None:
    c = np.array([1e-6, 0.01, 0.5, 3.0])
    np.testing.assert_allclose(kl_upper(0.0, c), -np.expm1(-c), rtol=1e-12)
    np.testing.assert_allclose(kl_lower(1.0, c), np.exp(-c), rtol=1e-12)
    assert np.all(kl_upper(1.0, c) == 1.0)
    assert np.all(kl_lower(0.0, c) == 0.0)
    # kl(1/2 || q) = -ln(4 q (1 - q)) / 2.
    np.testing.assert_allclose(
        kl_upper(0.5, c), 0.5 + np.sqrt(-np.expm1(-2.0 * c)) / 2.0, rtol=1e-12
    )


def test_ends_of_the_reach() -> None:
    p = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(kl_upper(p, 0.0), p, atol=1e-15)
    np.testing.assert_allclose(kl_lower(p, 0.0), p, atol=1e-15)
    assert np.all(kl_upper(p, np.inf) == 1.0)
    assert np.all(kl_lower(p, np.inf) == 0.0)


def test_both_inverses_are_monotone_and_mirror_each_other() -> None:
    p = np.linspace(0.0, 1.0, 101)
    c = np.geomspace(1e-8, 5.0, 40)[:, None]
    for inverse in (kl_upper(p, c), kl_lower(p, c)):
        assert np.all((inverse >= 0.0) & (inverse <= 1.0))
        assert np.all(np.diff(inverse, axis=1) >= -1e-15)
    assert np.all(np.diff(kl_upper(p, c), axis=0) >= -1e-15)
    assert np.all(np.diff(kl_lower(p, c), axis=0) <= 1e-15)
    np.testing.assert_allclose(kl_lower(p, c), 1.0 - kl_upper(1.0 - p, c), atol=1e-14)


def test_kl_is_tighter_than_pinsker() -> None:
    p, c = np.meshgrid(np.linspace(0.0, 1.0, 50), np.geomspace(1e-6, 1.0, 30))
    assert np.all(kl_upper(p, c) <= p + np.sqrt(c / 2.0) + 1e-15)


def test_divergence_is_zero_at_the_prior_only() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        weights, prior = rng.dirichlet(np.ones(7), size=2)
        assert divergence(weights, prior) > 0.0
        assert divergence(prior, prior) == 0.0
    one = np.array([0.0, 1.0, 0.0, 0.0])
    assert divergence(one, np.full(4, 0.25)) == pytest.approx(np.log(4))
