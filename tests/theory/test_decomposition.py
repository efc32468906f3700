"""Parts of expected losses against loops over rows and training sets."""

from collections import Counter

import numpy as np
import pytest

from weald.theory.decomposition import squared_parts, zero_one_parts


def naive_zero_one(predictions, p):
    """Domingos' definitions, row by row."""
    total = np.zeros(5)
    for said, probabilities in zip(predictions.T.tolist(), p, strict=True):
        best = int(np.argmax(probabilities))
        counts = Counter(said)
        most = max(counts.values())
        main = best if counts[best] == most else min(k for k in counts if counts[k] == most)
        R = len(said)
        right = counts[best] / R
        noise = 1 - probabilities[best]
        variance = sum(one != main for one in said) / R
        others = [one for one in said if one != best]
        hits = sum(probabilities[one] for one in others)  # P(y = t, y != y*) times R
        c = right - (hits / R / noise if noise > 0 else 0)
        total += [
            c * noise,
            main != best,
            variance if main == best else 0,
            0 if main == best else sum(one == best for one in said) / R,
            np.mean([1 - probabilities[one] for one in said]),
        ]
    return total / len(p)


@pytest.mark.parametrize("seed", range(150))
def test_zero_one(seed):
    random = np.random.default_rng(seed)
    R, n, K = random.integers(3, 12), random.integers(1, 8), random.integers(2, 5)
    predictions = random.integers(0, K, size=(R, n))
    p = random.dirichlet(np.ones(K), size=n)
    if seed % 3 == 0:
        p = np.eye(K)[p.argmax(axis=1)]
    values, errors = zero_one_parts(predictions, p)
    np.testing.assert_allclose(values, naive_zero_one(predictions, p), atol=1e-12)
    noise, bias, unbiased, biased, error = values
    assert noise + bias + unbiased - biased == pytest.approx(error, abs=1e-12)
    assert (errors >= 0).all()


@pytest.mark.parametrize("seed", range(50))
def test_two_classes_have_domingos_coefficients(seed):
    random = np.random.default_rng(seed)
    predictions = random.integers(0, 2, size=(9, 6))
    q, p = predictions.mean(axis=0), random.random(6)
    best, main = p > 0.5, q > 0.5
    right = np.where(best, q, 1 - q)
    noise, variance = np.minimum(p, 1 - p), np.minimum(q, 1 - q)
    sign = np.where(best == main, 1, -1)
    loss = (2 * right - 1) * noise + (best != main) + sign * variance
    values = zero_one_parts(predictions, np.column_stack([1 - p, p]))[0]
    assert loss.mean() == pytest.approx(values[4], abs=1e-12)
    assert values[2] - values[3] == pytest.approx((sign * variance).mean(), abs=1e-12)


@pytest.mark.parametrize("seed", range(50))
def test_squared(seed):
    random = np.random.default_rng(seed)
    R, n = random.integers(3, 12), random.integers(1, 8)
    predictions = random.normal(size=(R, n))
    f, noise = random.normal(size=n), random.random(n)
    (of_noise, bias, variance, error), errors = squared_parts(predictions, f, noise)
    away = np.array([predictions[:, i].mean() - f[i] for i in range(n)])
    s2 = np.array([predictions[:, i].var(ddof=1) for i in range(n)])
    assert of_noise == pytest.approx(noise.mean())
    assert bias == pytest.approx((away**2 - s2 / R).mean())
    assert variance == pytest.approx(s2.mean())
    # The sum is the mean squared error of the very predictions, for any numbers.
    assert error == pytest.approx(noise.mean() + ((predictions - f) ** 2).mean())
    # The jackknife, by leaving sets out one by one.
    left_out = np.array(
        [squared_parts(np.delete(predictions, r, axis=0), f, noise)[0] for r in range(R)]
        if R > 3
        else [[0, 0, 0, 0]] * R
    )
    if R > 3:
        rows = np.stack([noise, away**2 - s2 / R, s2, noise + away**2 - s2 / R + s2])
        of_rows = rows.var(axis=1, ddof=1) / n if n > 1 else 0
        of_sets = (R - 1) / R * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
        np.testing.assert_allclose(errors, np.sqrt(of_rows + of_sets), atol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "zero_one"])
def test_standard_errors_are_about_right(loss):
    """Over repetitions of the whole experiment the estimates scatter as they say."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(150):
        x = random.random(200)
        common = random.normal(size=(20, 1))  # a training set moves all rows together
        if loss == "squared":
            predictions = x + 0.3 + common + 0.5 * random.normal(size=(20, 200))
            found.append(squared_parts(predictions, x, random.random(200)))
        else:
            predictions = (x + 0.2 * common + 0.2 * random.normal(size=(20, 200)) > 0.4).astype(int)
            found.append(zero_one_parts(predictions, np.column_stack([1 - x, x])))
    values, errors = map(np.array, zip(*found, strict=True))
    ratio = np.sqrt((errors**2).mean(axis=0)) / values.std(axis=0)
    assert (ratio > 0.7).all()
    assert (ratio < 1.5).all()
