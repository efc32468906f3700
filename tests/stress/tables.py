"""Random tables: from a seed, rows of every kind that a fit has to cope with."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from oracle.categories import newcomer

LARGE = 500
MOST_ROWS = 6_000


@dataclass(frozen=True)
class Table:
    """What is given to ``fit``, and the same in plain numbers.

    Attributes
    ----------
    X : array, sparse matrix or data frame
    numbers : array of shape (n, d)
        The same as float64: NaN is missing, and a category is its place in `labels`.
    labels : list
        For each column None, or its categories.
    y : array of shape (n,) or (n, outputs)
    weights : array of shape (n,) or None
    settings : dict
        What the table asks of an estimator that reads categories.
    """

    X: object
    numbers: np.ndarray
    labels: list
    y: np.ndarray
    kind: str
    weights: np.ndarray | None
    settings: dict

    def __len__(self):
        return len(self.numbers)

    @property
    def n_columns(self):
        return self.numbers.shape[1]

    @property
    def categorical(self):
        return [labels is not None for labels in self.labels]

    @property
    def classes(self):
        return self.kind in CLASSES

    @property
    def several(self):
        return self.y.ndim > 1

    @cached_property
    def n_classes(self):
        return len(np.unique(self.y))

    @cached_property
    def w(self):
        return np.ones(len(self)) if self.weights is None else self.weights

    def head(self, n):
        """The first rows alone."""
        weights = None if self.weights is None else self.weights[:n]
        return replace(self, X=self.X[:n], numbers=self.numbers[:n], y=self.y[:n], weights=weights)

    def coded(self, categories):
        """The numbers, with categories coded as a fitted model has them."""
        out = self.numbers.copy()
        for j, labels in enumerate(self.labels):
            if labels is None or categories[j] is None:  # None: text that is all missing
                continue
            code = {label: float(c) for c, label in enumerate(categories[j])}
            codes = np.array([code.get(label, np.nan) for label in labels])
            there = ~np.isnan(out[:, j])
            out[there, j] = codes[out[there, j].astype(int)]
            new = there & np.isnan(out[:, j])  # only rows without weight had it
            out[new, j] = newcomer(out[:, j], len(categories[j]), self.w)
        return out

    def __str__(self):
        weights = "none" if self.weights is None else f"{self.weights[:3]}..."
        return (
            f"{type(self.X).__name__} of {len(self)} x {self.n_columns}, "
            f"{sum(self.categorical)} categorical, {np.isnan(self.numbers).mean():.0%} missing; "
            f"target {self.kind}, weights {weights}"
        )


# --- columns ------------------------------------------------------------------------------------

# By name, from a number of rows and one of values: how many rows share a value decides about the
# ways that the engine goes.
COLUMNS = {
    "normal": lambda rng, n, k: rng.normal(size=n),
    "whole": lambda rng, n, k: rng.integers(0, k, n),
    "bell": lambda rng, n, k: np.round(k / 6 * rng.normal(size=n)),
    "0/1": lambda rng, n, k: rng.random(n) < rng.choice([0.5, 0.05]),
    "few": lambda rng, n, k: rng.choice(rng.normal(size=min(k, 60)), n),
    "heavy": lambda rng, n, k: rng.standard_cauchy(n),
    "huge": lambda rng, n, k: 1e30 * rng.normal(size=n),
    "tiny": lambda rng, n, k: 1e-30 * rng.normal(size=n),
    "close": lambda rng, n, k: 1e6 + rng.integers(0, k, n) * 2.0**-4,
    "mostly zero": lambda rng, n, k: rng.integers(1, 9, n) * (rng.random(n) < 0.1),
    "constant": lambda rng, n, k: np.full(n, rng.choice([0.0, -3.5, 1e9])),
}
# Tables of one kind drive the engine down one path; mixed ones make paths meet.
PURE = ("normal", "whole", "bell", "bell", "0/1", "few")
MIXES = [*([name] for name in PURE), *[list(COLUMNS)] * 3]


def make_rows(rng, most):
    """Log-uniform, and as often enough rows for large trees and several threads."""
    if most > LARGE and rng.random() < 0.4:
        return int(rng.integers(LARGE, most + 1))
    return int(np.exp(rng.uniform(0, np.log(most + 1))))


def make_numbers(rng, n, d, plain):
    mix = MIXES[rng.integers(len(MIXES))]
    kinds = rng.choice(mix, d)
    if plain:
        kinds[kinds == "huge"] = "normal"  # other libraries square them
    values = np.exp(rng.uniform(np.log(2), np.log(300), d)).astype(int)
    if len(mix) == 1:
        values[:] = values[0]
    columns = [COLUMNS[kind](rng, n, k) for kind, k in zip(kinds, values, strict=True)]
    return np.column_stack(columns).astype(float)


def make_labels(rng, k):
    """Names of k categories, in no order."""
    letters = list("äöü zyxwvutsrqponmlk")
    numbered = rng.random() < 0.5 or k > len(letters)
    names = [f"c{i}" for i in range(k)] if numbered else letters[:k]
    return [names[i] for i in rng.permutation(len(names))]


def make_columns(rng, n, d, plain):
    """Numbers, labels, X as it is given to ``fit``, and settings that go with it."""
    numbers = make_numbers(rng, n, d, plain)
    if not plain and rng.random() < 0.3:  # others' members may lose many digits in it
        numbers = numbers.astype(np.float32).astype(float)
        dtype = np.float32
    else:
        dtype = np.float64
    labels = [None] * d
    if not plain and rng.random() < 0.35:
        numbers[rng.random(numbers.shape) < rng.choice([0.02, 0.3, 0.9])] = np.nan
    if not plain and rng.random() < 0.3:
        return with_categories(rng, numbers, labels, dtype)
    if not plain and rng.random() < 0.08:
        numbers = np.where(rng.random(numbers.shape) < 0.7, 0.0, numbers)
        form = sparse.csr_matrix if rng.random() < 0.5 else sparse.csc_array
        return numbers, labels, form(numbers.astype(dtype)), {}
    X = np.asarray(numbers, dtype=dtype, order=str(rng.choice(["C", "F"])))
    if rng.random() < 0.05:
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return numbers, labels, X, {}


def with_categories(rng, numbers, labels, dtype):
    """Some columns become categories: text, a categorical dtype, or numbers that are listed."""
    n, d = numbers.shape
    chosen = np.flatnonzero(rng.random(d) < 0.5)
    chosen = chosen if len(chosen) else np.array([rng.integers(d)])
    missing = np.isnan(numbers)
    for j in chosen:
        k = int(rng.choice([1, 2, 3, 5, 12, 20]))
        k = 90 if k == 20 and n % 2 else k  # so many that some have a single row
        numbers[:, j] = np.where(missing[:, j], np.nan, rng.integers(0, k, n))
        labels[j] = make_labels(rng, k)
    if rng.random() < 0.5:
        for j in chosen:
            labels[j] = [float(v) for v in rng.permutation(len(labels[j]))]
        X = numbers.copy()
        for j in chosen:
            there = ~np.isnan(X[:, j])
            X[there, j] = np.array(labels[j])[X[there, j].astype(int)]
        return numbers, labels, X.astype(dtype), {"categorical_features": chosen.tolist()}
    frame = {}
    for j in range(d):
        column = numbers[:, j].astype(dtype)
        if labels[j] is not None:
            names = [None if np.isnan(c) else labels[j][int(c)] for c in numbers[:, j]]
            column = pd.Series(names, dtype="category" if rng.random() < 0.5 else object)
        frame[f"x{j}"] = column
    return numbers, labels, pd.DataFrame(frame), {}


# --- targets and weights ------------------------------------------------------------------------

CLASSES = ("two", "many", "outputs of classes")
NUMBERS = ("numbers", "whole", "heavy", "constant", "counts", "amounts", "outputs")


def make_signal(rng, numbers):
    """Something to be learned from the ranks of the columns, and noise."""
    there = np.nan_to_num(numbers)
    ranks = there.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / len(there)
    effects = rng.normal(size=numbers.shape[1])
    return ranks @ effects + rng.choice([0.0, 0.3, 1.0, 2.0]) * rng.normal(size=len(numbers))


def in_classes(rng, signal, k):
    """About as many rows of each class as of any other, or most of them of one."""
    ranks = (signal.argsort().argsort() + 0.5) / len(signal)
    return (ranks ** rng.choice([0.5, 1.0, 4.0]) * k).astype(int)


def make_target(rng, numbers, kind):
    signal = make_signal(rng, numbers)
    if kind == "two":
        y = in_classes(rng, signal, 2)
        return np.array(["no", "yes"])[y] if rng.random() < 0.2 else y
    if kind == "many":
        return in_classes(rng, signal, rng.integers(3, 8))
    if kind == "outputs of classes":
        return np.column_stack([in_classes(rng, s, k) for s, k in ((signal, 2), (-signal, 3))])
    if kind == "whole":
        return np.round(rng.choice([1, 10]) * signal)
    if kind == "heavy":
        return signal + rng.standard_cauchy(len(signal))
    if kind == "constant":
        return np.full(len(signal), rng.choice([0.0, 1.5, -1e5]))
    if kind in ("counts", "amounts"):
        return rng.poisson(np.exp(np.clip(signal, -2, 2))) + (0.25 if kind == "amounts" else 0.0)
    if kind == "outputs":
        return np.column_stack([signal, np.round(rng.normal(size=len(signal)), 1)])
    return rng.choice([1.0, 1.0, 1e-6, 1e6]) * signal + rng.choice([0.0, 0.0, 100.0])


def make_weights(rng, n):
    kind = rng.choice(["none", "none", "whole", "real", "zeros", "few"])
    if kind == "none":
        return None
    weights = rng.uniform(0.2, 3, n) if kind == "real" else rng.integers(1, 4, n).astype(float)
    if kind in ("zeros", "few"):
        weights = rng.choice([1.0, 0.7]) * weights * (rng.random(n) < rng.choice([0.7, 0.05]))
        weights[rng.integers(n)] = 1.0
    return weights


def make_dense(rng, most):
    """Thousands of rows in few columns of few values: large trees, whose nodes keep histograms."""
    n, d, k = int(rng.integers(most // 4, most + 1)), int(rng.integers(2, 9)), rng.integers(3, 25)
    kind = str(rng.choice(["whole", "bell"]))
    numbers = np.column_stack([COLUMNS[kind](rng, n, k) for _ in range(d)]).astype(float)
    return numbers, [None] * d, numbers, {}


def make_table(rng, kinds, plain, most, dense=False):
    """Rows of one of the kinds of target; `plain` has neither missing values nor categories."""
    wide = rng.random() < 0.06
    d = int(rng.integers(16, 33)) if wide else int(rng.integers(1, 9))
    made = make_dense(rng, most) if dense else make_columns(rng, make_rows(rng, most), d, plain)
    numbers, labels, X, settings = made
    kind = str(rng.choice(kinds))
    y = make_target(rng, numbers, kind)
    return Table(X, numbers, labels, y, kind, make_weights(rng, len(numbers)), settings)
