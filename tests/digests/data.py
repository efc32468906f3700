"""The tables of the cases, by name: made from fixed seeds, or read from real ones.

Real tables are found where the environment variable ``WEALD_DATA`` says, else beside the
repository; where there are none, their cases are skipped.
"""

import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from scipy import sparse

FOLDER = Path(os.environ.get("WEALD_DATA", Path(__file__).parents[3] / "shared" / "data"))


@dataclass(frozen=True)
class Data:
    """What is given to ``fit``, and rows to ask about that it has not seen.

    `fit` are further arguments, one for each row: weights, groups.
    """

    X: object
    y: np.ndarray
    X_new: object
    y_new: np.ndarray
    fit: dict = field(default_factory=dict)


class MissingTableError(Exception):
    """A real table is not on this machine."""


# --- numbers ------------------------------------------------------------------------------------


def normal(rng, n, d):
    return rng.normal(size=(n, d))


def whole(rng, n, d):
    return rng.integers(0, 7, (n, d)).astype(float)


def coarse(rng, n, d):
    """Few values in some columns, many in others, one column of a single value."""
    X = np.round(rng.normal(size=(n, d)), 1)
    X[:, 0] = rng.normal(size=n) * 1e6
    X[:, -1] = 3.0
    return X


def signal(rng, X, noise=0.3):
    """Something to be learned from the columns, and noise."""
    Z = np.nan_to_num(X)
    Z = (Z - Z.mean(axis=0)) / (Z.std(axis=0) + 1e-9)
    return Z[:, 0] + np.where(Z[:, 1 % Z.shape[1]] > 0, 1.0, -1.0) + noise * rng.normal(size=len(X))


# --- targets ------------------------------------------------------------------------------------


def classes(k, power=1.0):
    def target(rng, s):
        ranks = (s.argsort(kind="stable").argsort(kind="stable") + 0.5) / len(s)
        return (ranks**power * k).astype(int)

    return target


def words(rng, s):
    return np.array(["no", "yes"])[classes(2)(rng, s)]


def numbers(rng, s):
    return s


def heavy(rng, s):
    return s + rng.standard_cauchy(len(s))


def counts(rng, s):
    return rng.poisson(np.exp(np.clip(s / 2, -2, 2))).astype(float)


def amounts(rng, s):
    return rng.gamma(2.0, np.exp(np.clip(s / 2, -2, 2))) + 0.01


def often_zero(rng, s):
    return amounts(rng, s) * (rng.random(len(s)) < 0.5)


def whole_numbers(rng, s):
    return np.round(4 * s)


def constant(rng, s):
    return np.full(len(s), 2.5)


def several(rng, s):
    return np.column_stack([s, np.round(-s + rng.normal(size=len(s)), 1), s * s])


def several_classes(rng, s):
    return np.column_stack([classes(2)(rng, s), classes(3)(rng, -s)])


# --- forms --------------------------------------------------------------------------------------


def with_holes(rng, X):
    """Missing values in all columns but the first."""
    holes = rng.random(X.shape) < 0.2
    holes[:, 0] = False
    return np.where(holes, np.nan, X)


def float32(rng, X):
    return np.asfortranarray(X, dtype=np.float32)


def as_sparse(form):
    def make(rng, X):
        return form(np.where(rng.random(X.shape) < 0.6, 0.0, X))

    return make


def names_of(codes, most=None):
    return [f"c{c}" if most is None or c < most else None for c in codes.astype(int).tolist()]


def as_columns(rng, X):
    """Text, a category, a boolean, whole numbers, and numbers with holes."""
    known = rng.random(len(X)) < 0.85
    return {
        "text": names_of(np.clip(3 + 2 * X[:, 0], 0, 6), most=6),
        "level": np.array(["low", "middle", "high"])[np.clip(X[:, 1] + 1.5, 0, 2).astype(int)],
        "flag": X[:, 2] > 0,
        "whole": np.round(5 * X[:, 3]).astype(int),
        "number": np.where(known, X[:, 4], np.nan),
    }


def pandas_frame(rng, X):
    frame = pd.DataFrame(as_columns(rng, X))
    return frame.astype({"text": object, "level": "category"})


def polars_frame(rng, X):
    import polars as pl

    frame = pl.DataFrame(as_columns(rng, X))
    return frame.with_columns(pl.col("level").cast(pl.Categorical))


def listed(k):
    """The first two columns are codes of categories."""

    def make(rng, X):
        X = X.copy()
        ranks = X[:, 0].argsort(kind="stable").argsort(kind="stable")
        X[:, 0] = (ranks * k // len(X)) * 7 % k
        X[:, 1] = np.where(X[:, 1] > 1, np.nan, rng.integers(0, 4, len(X)))
        return X

    return make


# --- the tables ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A table in words: columns, target, rows, and what is done to them."""

    target: object
    rows: int = 160
    columns: int = 5
    of: object = normal
    form: object = None
    also: tuple = ()  # of "weights", "zeros", "groups"

    def make(self, seed):
        rng = np.random.default_rng([77, seed])
        n = self.rows + 60
        X = self.of(rng, n, self.columns)
        y = self.target(rng, signal(rng, X))
        X = X if self.form is None else self.form(rng, X)
        fit = {}
        if "weights" in self.also:
            fit["sample_weight"] = rng.uniform(0.2, 3, self.rows)
        if "zeros" in self.also:
            fit["sample_weight"] = rng.integers(0, 3, self.rows).astype(float)
        if "groups" in self.also:
            fit["groups"] = rng.integers(0, self.rows // 8, self.rows)
        new = unseen(rng, rows_of(X, self.rows, n))
        return Data(rows_of(X, 0, self.rows), y[: self.rows], new, y[self.rows :], fit)


def rows_of(X, first, last):
    return X.iloc[first:last].reset_index(drop=True) if hasattr(X, "iloc") else X[first:last]


def unseen(rng, X):
    """Some of the rows get values that are far away, and categories nobody has seen."""
    if isinstance(X, np.ndarray):
        X = X.copy()
        X[::7, 0] *= 50
        return X
    if isinstance(X, pd.DataFrame) and "text" in X:
        X.loc[::5, "text"] = "never seen"
    return X


MADE = {
    "two": Made(classes(2)),
    "two whole": Made(words, of=whole),
    "two float32": Made(classes(2), form=float32),
    "two holes": Made(words, form=with_holes),
    "two pandas": Made(words, form=pandas_frame),
    "two polars": Made(classes(2), form=polars_frame),
    "two sparse": Made(classes(2), form=as_sparse(sparse.csr_matrix)),
    "two wide": Made(classes(2), rows=50, columns=120),
    "two rare": Made(classes(2, 0.15), rows=300),
    "two weights": Made(classes(2), also=("weights",)),
    "two zeros": Made(words, of=coarse, also=("zeros",)),
    "two groups": Made(classes(2), also=("groups",)),
    "two listed": Made(classes(2), form=listed(9)),
    "two tiny": Made(words, rows=9, columns=2),
    "two large": Made(classes(2), rows=3000, columns=6),
    "one class": Made(classes(1), rows=12),
    "three": Made(classes(3), of=coarse),
    "three pandas": Made(classes(3), form=pandas_frame),
    "three weights": Made(classes(3), of=whole, also=("weights",)),
    "three large": Made(classes(3), rows=2500, of=whole),
    "many": Made(classes(14), rows=350, columns=6),
    "classes": Made(several_classes),
    "numbers": Made(numbers),
    "numbers float32": Made(numbers, form=float32),
    "numbers coarse": Made(whole_numbers, of=coarse),
    "numbers whole": Made(whole_numbers, of=whole),
    "numbers holes": Made(numbers, form=with_holes),
    "numbers pandas": Made(numbers, form=pandas_frame),
    "numbers polars": Made(numbers, form=polars_frame),
    "numbers sparse": Made(numbers, form=as_sparse(sparse.csc_array)),
    "numbers wide": Made(numbers, rows=40, columns=150),
    "numbers weights": Made(numbers, also=("weights",)),
    "numbers zeros": Made(whole_numbers, of=whole, also=("zeros",)),
    "numbers groups": Made(numbers, also=("groups",)),
    "numbers listed": Made(numbers, form=listed(12)),
    "numbers categories": Made(numbers, rows=1500, form=listed(400)),
    "numbers tiny": Made(numbers, rows=6, columns=2),
    "numbers large": Made(numbers, rows=3000, columns=6),
    "numbers one row": Made(numbers, rows=1, columns=2),
    "constant": Made(constant, rows=30),
    "heavy": Made(heavy),
    "counts": Made(counts),
    "counts weights": Made(counts, also=("weights",)),
    "amounts": Made(amounts),
    "often zero": Made(often_zero),
    "outputs": Made(several),
    "outputs holes": Made(several, form=with_holes, also=("weights",)),
}

# By name: the file, and how many of its first rows.
REAL = {
    "glass": ("glass", 214),
    "vowel": ("vowel", 400),
    "sonar": ("sonar", 208),
    "votes": ("votes", 435),
    "soybean": ("soybean", 683),
    "german credit": ("german_credit", 1000),
    "adult": ("adult", 1500),
    "letter": ("letter", 1500),
    "hypothyroid": ("hypothyroid", 1500),
    "ozone": ("ozone", 330),
    "servo": ("servo", 167),
    "abalone": ("abalone", 1500),
    "ames": ("ames", 500),
    "california": ("california", 1500),
    "claims": ("fre_mtpl2", 2000),
}


def read_real(name):
    """Four of five rows are for the fit."""
    file, n = REAL[name]
    path = FOLDER / f"{file}.csv.gz"
    if not path.is_file():
        raise MissingTableError(
            f"{path.name} is not here: WEALD_DATA may say where such tables are"
        )
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""], nrows=n)
    y, X = frame["target"].to_numpy(), frame.drop(columns="target")
    if y.dtype.kind not in "if":
        y = np.asarray(y.tolist())
    if name == "claims":
        y = y.astype(float)
    new = np.arange(len(X)) % 5 == 4
    seen, unseen = X[~new].reset_index(drop=True), X[new].reset_index(drop=True)
    return Data(seen, y[~new], unseen, y[new])


@cache
def read(name):
    """The table of a name."""
    if name in REAL:
        return read_real(name)
    return MADE[name].make(crc32(name.encode()))  # other tables change nothing
