"""Discrete AdaBoost with stumps as the textbook has it: slow, short, easy to check by hand.

It shares no code with weald. Every round looks at every midpoint of every column.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

SURE = 2.0  # the least vote of a member that is never wrong


@dataclass(frozen=True)
class Stump:
    """``left`` where ``x[column] <= threshold``, else ``right``; column -1 says ``left`` always."""

    column: int
    threshold: float
    left: int
    right: int

    def predict(self, X):
        return np.where(X[:, self.column] <= self.threshold, self.left, self.right)


@dataclass
class NaiveAdaBoost:
    """Stumps h_t, and e_t, alpha_t, Z_t of every round; weights before each round and at the end.

    ``reason`` says why it ended: "n_estimators", "perfect" (e = 0) or "worse" (e >= 1/2).
    """

    stumps: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    alphas: list = field(default_factory=list)
    normalizers: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    reason: str = "n_estimators"

    def score(self, X):
        total = np.zeros(len(X))
        for alpha, stump in zip(self.alphas, self.stumps, strict=True):
            total += alpha * stump.predict(X)
        return total


def best_stump(X, y, w):
    """Lowest Gini impurity over all midpoints; ties: lowest column, then lowest threshold.

    ``sum_sides W_side gini_side`` is least where ``sum_sides (P² + N²) / (P + N)`` is largest, with
    P and N the weights of the two classes on a side.
    """

    def side(rows):
        return w[rows & (y > 0)].sum(), w[rows & (y < 0)].sum()

    def worth(p, n):
        return (p * p + n * n) / (p + n)

    def says(p, n):
        return 1 if p > n else -1

    whole = side(np.ones(len(y), dtype=bool))
    best, found = -1.0, Stump(-1, np.inf, says(*whole), says(*whole))
    for column in range(X.shape[1]) if min(whole) > 0 else ():
        for below, above in pairwise(np.unique(X[w > 0, column])):
            threshold = below + (above - below) / 2
            left = X[:, column] <= threshold
            here = worth(*side(left)) + worth(*side(~left))
            if here > best + 1e-12:  # more than rounding
                best = here
                found = Stump(column, threshold, says(*side(left)), says(*side(~left)))
    return found


def naive_adaboost(X, y, n_estimators, sample_weight=None):
    """Fit to labels -1 and 1 (Freund & Schapire 1997)."""
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    w = w / w.sum()
    out = NaiveAdaBoost(weights=[w])
    for _ in range(n_estimators):
        stump = best_stump(X, y, w)
        h = stump.predict(X)
        e = w[h != y].sum()
        if e >= 0.5 - 1e-15:
            out.reason = "worse"
            break
        alpha = max(SURE, *out.alphas, 0) if e == 0 else 0.5 * np.log((1 - e) / e)
        w = w * np.exp(-alpha * y * h)
        z = w.sum()
        w = w / z
        out.stumps.append(stump)
        out.errors.append(e)
        out.alphas.append(alpha)
        out.normalizers.append(z)
        out.weights.append(w)
        if e == 0:
            out.reason = "perfect"
            break
    return out
