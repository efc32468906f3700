"""Combining members: the formulas, their corners, and their order."""

import numpy as np
import pytest

from weald import combining

rng = np.random.default_rng(3)
SHARES = rng.dirichlet(np.ones(3), size=(7, 20))


def test_soft_vote_is_the_mean_of_shares():
    np.testing.assert_allclose(combining.soft_vote(SHARES), SHARES.mean(axis=0))
    weights = rng.random(7)
    expected = np.average(SHARES, axis=0, weights=weights)
    np.testing.assert_allclose(combining.soft_vote(SHARES, weights), expected)


def test_majority_vote_counts_the_largest_classes():
    got = combining.weighted_vote(SHARES)
    for i in range(20):
        counts = np.bincount(SHARES[:, i].argmax(axis=1), minlength=3)
        np.testing.assert_allclose(got[i], counts / 7)


def test_weighted_vote_adds_weights():
    weights = np.array([0, 1, 2, 3, 0, 1, 5.0])
    got = combining.weighted_vote(SHARES, weights)
    for i in range(20):
        counts = np.bincount(SHARES[:, i].argmax(axis=1), weights=weights, minlength=3)
        np.testing.assert_allclose(got[i], counts / 12)


def test_equal_weights_are_no_weights():
    for combine in (combining.mean, combining.soft_vote, combining.weighted_vote):
        np.testing.assert_allclose(combine(SHARES, np.full(7, 0.3)), combine(SHARES))


def test_three_votes_of_two_thirds():
    """Three independent members that are right 2 times in 3 are together right 20 times in 27."""
    right = np.array([[[a, b, c] for a in (0, 1, 1)] for b in (0, 1, 1) for c in (0, 1, 1)])
    right = np.moveaxis(right.reshape(-1, 3), -1, 0).astype(float)
    shares = np.stack([1 - right, right], axis=-1)
    won = combining.weighted_vote(shares).argmax(axis=1)
    assert won.mean() == pytest.approx(20 / 27)


def test_a_stream_of_members_is_summed_in_order():
    values = rng.normal(size=(50, 4)) * 10.0 ** rng.integers(-8, 8, size=(50, 1))
    total = np.zeros(4)
    for row in values:
        total += row
    np.testing.assert_array_equal(combining.mean(iter(values)), total / 50)
    before = values.copy()
    combining.mean(values, np.ones(50))
    np.testing.assert_array_equal(values, before)


def test_no_members():
    with pytest.raises(ValueError, match="no members"):
        combining.mean([])


def test_ties_go_to_the_first_class():
    np.testing.assert_array_equal(combining.votes([0.4, 0.4, 0.2]), [1, 0, 0])


def test_votes_of_shares_and_of_votes_are_the_same():
    ballot = combining.votes(SHARES)
    np.testing.assert_array_equal(combining.votes(ballot), ballot)


# --- weights ----------------------------------------------------------------------------------


def test_log_odds_above_chance():
    many = np.full(3, 10**9)
    accuracy = np.array([0.9, 0.8, 0.5])
    for k in (2, 3, 10):
        got = combining.weights_from_accuracy(accuracy, many, k)
        expected = np.log(accuracy / (1 - accuracy)) + np.log(k - 1)
        np.testing.assert_allclose(got, expected, atol=2e-6)
    assert combining.weights_from_accuracy(accuracy, many, 2)[2] == pytest.approx(0, abs=1e-6)


def test_log_odds_give_the_most_probable_class():
    """Of all votings, the weighted one errs least: tried on every pattern of right and wrong."""
    accuracy = np.array([0.95, 0.7, 0.65, 0.6])
    weights = combining.weights_from_accuracy(accuracy, np.full(4, 10**9), 2)
    wins = {"weighted": 0.0, "majority": 0.0}
    for pattern in range(16):
        right = (pattern >> np.arange(4)) & 1
        chance = np.where(right == 1, accuracy, 1 - accuracy).prod()
        shares = np.stack([right, 1 - right], axis=-1)[:, None, :]
        wins["weighted"] += chance * (combining.weighted_vote(shares, weights)[0].argmax() == 0)
        wins["majority"] += chance * (combining.weighted_vote(shares)[0, 0] > 0.5)
    assert wins["weighted"] == pytest.approx(0.95)  # here the best voter alone is best
    assert wins["weighted"] > wins["majority"]


@pytest.mark.parametrize(
    ("accuracy", "rows", "expected"),
    [
        ([1.0, 1.0], [4, 10**6], np.log([5.0, 10**6 + 1])),  # never wrong, yet finite
        ([np.nan, 1.0], [0, 4], [1e-6, np.log(5)]),  # never tried
        ([0.2, 0.0], [50, 50], [1e-6, 1e-6]),  # worse than chance
    ],
)
def test_corners_of_accuracy(accuracy, rows, expected):
    np.testing.assert_allclose(combining.weights_from_accuracy(accuracy, rows, 2), expected)


def test_one_class_needs_no_weights():
    np.testing.assert_array_equal(combining.weights_from_accuracy([1, 1], [3, 3], 1), [1, 1])


def test_inverse_errors_minimise_the_error_of_the_mean():
    sigma = np.array([0.5, 1.0, 2.0])
    weights = combining.weights_from_squared_error(sigma**2, np.full(3, 10**9))

    def variance(w):
        return (w**2 * sigma**2).sum() / w.sum() ** 2

    for other in np.random.default_rng(0).random((50, 3)):
        assert variance(weights) <= variance(other) + 1e-9


@pytest.mark.parametrize(
    ("error", "rows", "expected"),
    [
        ([0.0, 0.0], [1, 99], [2, 100]),  # never wrong, yet finite
        ([np.nan, 4.0], [0, 5], [1, 6 / 21]),  # never tried: as good as a constant
        ([1.0, 1.0], [3, 10**6], [1, 1]),
    ],
)
def test_corners_of_squared_error(error, rows, expected):
    np.testing.assert_allclose(combining.weights_from_squared_error(error, rows), expected)


def test_normalised_weights_have_mean_one():
    np.testing.assert_allclose(combining.normalised([1e-6, 1e-6]), [1, 1])
    assert combining.normalised([1, 2, 6]).mean() == pytest.approx(1)
