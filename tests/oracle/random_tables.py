"""Random tables, and the rules to grow a tree on them."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from oracle.cart import CLASSIFICATION, REGRESSION

STOP_RULES = [
    {},
    {"max_depth": 2},
    {"min_samples_split": 7},
    {"min_samples_leaf": 3},
    {"min_weight_fraction_leaf": 0.15},
    {"min_impurity_decrease": 0.03},
    {"max_leaf_nodes": 4},
    {"max_leaf_nodes": 6, "min_samples_leaf": 2, "max_depth": 4},
]


@dataclass(frozen=True)
class Case:
    """One random table and the rules to grow a tree on it."""

    seed: int
    criterion: str
    weights: str
    missing: bool
    categorical: bool
    few_values: bool
    stop: dict
    n_outputs: int
    n_classes: int
    dtype: str

    def __str__(self):
        words = [str(self.seed), self.criterion, self.weights, self.dtype]
        words += [name for name in ("missing", "categorical", "few_values") if getattr(self, name)]
        words += [f"{k}={v}" for k, v in self.stop.items()]
        return "-".join([*words, f"outputs={self.n_outputs}", f"classes={self.n_classes}"])


def cases():
    """Full product of what matters most; the rest is drawn, so that all pairs meet often."""
    rng = np.random.default_rng(20)
    grid = product(
        CLASSIFICATION + REGRESSION,
        ("none", "integer", "real", "zeros"),
        (False, True),
        (False, True),
        (False, True),
    )
    for seed, settings in enumerate(list(grid) * 2):
        yield Case(
            seed,
            *settings,
            stop=STOP_RULES[rng.integers(len(STOP_RULES))],
            n_outputs=int(rng.choice([1, 1, 2])),
            n_classes=int(rng.choice([2, 2, 3, 5])),
            dtype=str(rng.choice(["float32", "float64"])),
        )


def make_columns(rng, n, few_values, missing, categorical):
    if few_values:
        X = rng.integers(0, 3, (n, 3)).astype(float)
    else:
        X = rng.normal(size=(n, 3))
    kinds = [False] * 3
    if categorical:
        X = np.c_[X[:, :2], rng.integers(0, 5, n), rng.integers(0, 3, n)]
        kinds = [False, False, True, True]
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, tuple(kinds)


def make_weights(rng, n, kind):
    if kind == "none":
        return None
    if kind == "integer":
        return rng.integers(1, 4, n).astype(float)
    w = rng.uniform(0.2, 3, n)
    if kind == "zeros":
        w[rng.random(n) < 0.3] = 0
    return w


def make_target(rng, X, case):
    """Some signal, some noise; every class occurs."""
    n, shape = len(X), (len(X), case.n_outputs)
    signal = np.nan_to_num(X).sum(axis=1)[:, None] + rng.normal(size=shape)
    if case.criterion in CLASSIFICATION:
        ranks = signal.argsort(axis=0).argsort(axis=0)
        return ranks * case.n_classes // n
    if case.criterion == "poisson":
        return rng.poisson(np.exp(np.clip(signal, -2, 2)), shape).astype(float)
    return np.round(signal) if case.few_values else signal


def make_problem(case):
    rng = np.random.default_rng([7, case.seed])
    n = int(rng.integers(12, 30))
    X, kinds = make_columns(rng, n, case.few_values, case.missing, case.categorical)
    X = X.astype(case.dtype)
    Y = make_target(rng, X, case)
    w = make_weights(rng, n, case.weights)
    if case.weights == "zeros":  # every class keeps a row that counts
        w[np.unique(Y[:, 0], return_index=True)[1]] = 1.0
        w[np.unique(Y[:, -1], return_index=True)[1]] = 1.0
    return X, Y, w, kinds
