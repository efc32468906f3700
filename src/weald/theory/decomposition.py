"""The parts of an expected loss at each test row, from predictions over training sets.

At a test row let the truth be f (a number) or p (class probabilities), and the predictions over R
training sets be g_1 .. g_R.

**Squared loss.** With m and s^2 the mean and the variance of the g,

    E (y - g)^2 = noise + bias^2 + variance,    noise = E (y - f)^2, bias = m - f, variance = s^2.

The mean of R predictions varies itself, by s^2 / R, so ``(m - f)^2 - s^2 / R`` is the unbiased
estimate of the squared bias. It can be negative where there is no bias.

**0/1 loss** (Domingos 2000). With y* the most probable class, q_k the share of the g that are k,
and m the class said most often, the *main prediction*,

    P(y != g) = c N + B + V_u - V_b.

N = 1 - p(y*) is the noise; B = 1 if m != y*, the bias; V = 1 - q_m the variance. Where there is no
bias, V_u = V: variance harms. Where there is, V_b = q(y*): the predictions that leave the main one
for the best class, so that variance helps. For two classes V_b = V, and c = 2 q(y*) - 1. For more
classes only that part of V helps, and with ``c N = q(y*) N - sum over k != y* of q_k p_k`` the
identity is exact still.

References
----------
S. Geman, E. Bienenstock & R. Doursat (1992), Neural networks and the bias/variance dilemma, Neural
Computation 4.
P. Domingos (2000), A unified bias-variance decomposition and its applications, ICML.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray

__all__ = ["LOSSES", "squared_parts", "zero_one_parts"]

# The terms of each identity with their signs.
LOSSES: dict[str, dict[str, int]] = {
    "squared": {"noise": 1, "bias": 1, "variance": 1},
    "zero_one": {"noise": 1, "bias": 1, "variance": 1, "helpful variance": -1},
}


def squared_parts(
    predictions: FloatArray, truth: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means over the test rows, and standard errors, of noise, squared bias, variance, their sum.

    Parameters
    ----------
    predictions : array of shape (R, n)
    truth : array of shape (n,)
        The expected target, or the target itself if that is not known.
    noise : array of shape (n,)
        Squared deviations of the targets from the truth.
    """
    R = len(predictions)
    mean = predictions.mean(axis=0)
    away = predictions - mean

    def parts(mean: FloatArray, variance: FloatArray, repeats: int) -> FloatArray:
        bias = (mean - truth) ** 2 - variance / repeats
        return np.stack([noise, bias, variance, noise + bias + variance])

    squares = (away**2).sum(axis=0)
    full = parts(mean, squares / (R - 1), R)
    # Without set r the mean moves by away_r / (R - 1), and the squares lose R / (R - 1) away_r^2.
    left_out = [
        parts(mean - one / (R - 1), (squares - R / (R - 1) * one**2) / (R - 2), R - 1).mean(axis=1)
        for one in away
    ]
    return full.mean(axis=1), _standard_errors(full, np.array(left_out))


def zero_one_parts(
    predictions: npt.NDArray[np.intp], probabilities: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means over the test rows, and standard errors, of c N, B, V_u, V_b, and the error itself.

    Parameters
    ----------
    predictions : array of shape (R, n)
        Class codes; those beyond the columns of `probabilities` never occur.
    probabilities : array of shape (n, K)
        Of the classes; 1 for the label itself if they are not known.
    """
    R, n = predictions.shape
    K = probabilities.shape[1]
    rows = np.arange(n)
    best = probabilities.argmax(axis=1)
    counts = np.zeros((n, K), dtype=np.int64)
    for one in predictions:
        counts[rows, one] += 1

    def parts(counts: npt.NDArray[np.int64], repeats: int) -> FloatArray:
        q = counts / repeats
        main = counts.argmax(axis=1)
        # Of several main predictions the best class is taken, as any of them would do.
        main = np.where(counts[rows, best] == counts[rows, main], best, main)
        biased = main != best
        right = q[rows, best]
        agree = (q * probabilities).sum(axis=1)
        noise = right * (1 - probabilities[rows, best]) - (
            agree - right * probabilities[rows, best]
        )
        variance = np.where(biased, 0.0, 1 - q[rows, main])
        helpful = np.where(biased, right, 0.0)
        return np.stack([noise, biased, variance, helpful, 1 - agree])

    full = parts(counts, R)
    left_out = []
    for one in predictions:
        counts[rows, one] -= 1
        left_out.append(parts(counts, R - 1).mean(axis=1))
        counts[rows, one] += 1
    return full.mean(axis=1), _standard_errors(full, np.array(left_out))


def _standard_errors(by_row: FloatArray, left_out: FloatArray) -> FloatArray:
    """Of mean parts: from the test rows, and from the training sets by the jackknife.

    Parameters
    ----------
    by_row : array of shape (parts, n)
    left_out : array of shape (R, parts)
        Mean parts without one training set each.
    """
    n, R = by_row.shape[1], len(left_out)
    of_rows = by_row.var(axis=1, ddof=1) / n if n > 1 else np.zeros(len(by_row))
    of_sets = (R - 1) ** 2 / R * left_out.var(axis=0, ddof=1)
    return np.asarray(np.sqrt(of_rows + of_sets))
