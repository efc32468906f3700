"""The value of a game: against closed forms, and both players have what they are promised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from weald.theory.matrix_game import solve_matrix_game

REWARDS = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(-3, 3).map(lambda x: round(x, 3)),
)


@given(REWARDS)
def test_neither_player_can_do_better(rewards):
    """Weak duality: no mixture has more than the least that some weights leave it."""
    game = solve_matrix_game(rewards)
    for weights in (game.mixture, game.weights):
        assert weights.sum() == pytest.approx(1)
        assert weights.min() >= 0
    assert (game.mixture @ rewards).min() == pytest.approx(game.value, abs=1e-7)
    assert (rewards @ game.weights).max() == pytest.approx(game.value, abs=1e-7)


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=4).map(lambda x: np.round(x, 2)))
def test_two_by_two(numbers):
    """A saddle point, or ``(ad - bc) / (a + d - b - c)``; von Neumann & Morgenstern (1944)."""
    (a, b), (c, d) = rewards = numbers.reshape(2, 2)
    lower, upper = rewards.min(axis=1).max(), rewards.max(axis=0).min()
    value = lower if lower == upper else (a * d - b * c) / (a + d - b - c)
    assert solve_matrix_game(rewards).value == pytest.approx(value, abs=1e-7)


def test_stone_paper_scissors():
    game = solve_matrix_game(np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], dtype=np.int8))
    assert game.value == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose([game.mixture, game.weights], 1 / 3)
