"""Ids and categories in every method of trees: `make many-categories`.

Two questions, on real tables. What does a text column cost that is different in nearly every row?
And are categories as they are worse than their codes, the places of their labels in alphabetical
order, read as numbers?
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import is_classifier

import weald
from bench import machine
from bench.categories import Inputs
from bench.measure import ROOT
from bench.replications import sets
from bench.report import aligned

ROWS = 5_000
"""Most rows of a training part, and of a test part."""

REPEATS = 3

CATEGORIES = (
    *("adult", "bank_full", "diabetes130", "weather_aus", "german_credit"),
    *("credit_default", "ames", "diamonds", "california", "be_mtpl"),
)
WITH_IDS = ("adult", "credit_default", "phoneme", "california", "kin8nm")
NUMBERS = ("ames", "diamonds", "california", "be_mtpl", "kin8nm")

Model: TypeAlias = Any
Loss: TypeAlias = Callable[[Inputs, Inputs], float]

METHODS: dict[str, tuple[Callable[[int], Model], Callable[[int], Model]]] = {
    "tree": (
        lambda seed: weald.DecisionTreeClassifier(random_state=seed),
        lambda seed: weald.DecisionTreeRegressor(random_state=seed),
    ),
    "tree, 31 leaves": (
        lambda seed: weald.DecisionTreeClassifier(max_leaf_nodes=31, random_state=seed),
        lambda seed: weald.DecisionTreeRegressor(max_leaf_nodes=31, random_state=seed),
    ),
    "forest": (
        lambda seed: weald.RandomForestClassifier(100, random_state=seed),
        lambda seed: weald.RandomForestRegressor(100, random_state=seed),
    ),
    "extra-trees": (
        lambda seed: weald.ExtraTreesClassifier(100, random_state=seed),
        lambda seed: weald.ExtraTreesRegressor(100, random_state=seed),
    ),
    "bagging": (
        lambda seed: weald.BaggingClassifier(n_estimators=50, random_state=seed),
        lambda seed: weald.BaggingRegressor(n_estimators=50, random_state=seed),
    ),
    "AdaBoost": (
        lambda seed: weald.AdaBoostClassifier(n_estimators=50, random_state=seed),
        lambda seed: weald.AdaBoostRegressor(n_estimators=50, random_state=seed),
    ),
    "stagewise": (
        lambda seed: weald.StagewiseClassifier(random_state=seed),
        lambda seed: weald.StagewiseRegressor(random_state=seed),
    ),
    "gradient boosting": (
        lambda seed: weald.GradientBoostingClassifier(random_state=seed),
        lambda seed: weald.GradientBoostingRegressor(random_state=seed),
    ),
}

INTRODUCTION = f"""\
# Columns of many categories

Made by `make many-categories`; do not edit. Up to {ROWS:,} rows to learn from and {ROWS:,} others
to be judged by, {REPEATS} times. The loss is the root of the mean squared error; of classes, that
of the shares. Each cell is a ratio of two losses, the geometric mean over the repetitions.
"""
IDS = """\
## With a text column that is different in every row

The loss over that without the column: 1.00 is ideal, and more than 1.01 would be too much.
"""
CODES = """\
## Categories as they are, over their codes

Codes are the places of labels in alphabetical order, as numbers. Below 1 categories are better.
Stagewise models of more than two classes do not exist.
"""


def loss(model: Model, X: Inputs, y: np.ndarray) -> float:
    """Root of the mean squared error, of a number or of the shares of classes."""
    if not is_classifier(model):
        return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    hot = y[:, None] == model.classes_
    return float(np.sqrt(np.mean(((model.predict_proba(X) - hot) ** 2).sum(axis=1))))


def parts(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets, rows to learn from, and rows to be judged by."""
    _, y = sets.read(name)
    order = np.random.default_rng(seed).permutation(len(y))
    half = min(ROWS, len(y) // 2)
    return y, order[:half], order[half : 2 * half]


def ratio(method: str, name: str, over: Inputs, under: Inputs, repeats: int) -> float:
    """Geometric mean of the loss with inputs `over`, by that with inputs `under`."""
    logs = []
    for seed in range(repeats):
        y, fit, test = parts(name, seed)
        make = METHODS[method][name in NUMBERS]
        losses = []
        for X in (over, under):
            model = make(seed).fit(sets.take(X, fit), y[fit])
            losses.append(loss(model, sets.take(X, test), y[test]))
        logs.append(np.log(losses[0] / losses[1]))
    return float(np.exp(np.mean(logs)))


def with_ids(X: Inputs) -> tuple[Inputs, Inputs]:
    """The table with a text column that is different in every row, and without."""
    import pandas as pd

    frame = pd.DataFrame(X).rename(columns=str)
    order = np.random.default_rng(len(frame)).permutation(len(frame))
    return frame.assign(id=[f"row {i:07d}" for i in order]), frame


def with_codes(X: Inputs) -> tuple[Inputs, Inputs]:
    """The table as it is, and with codes in place of categories; both know what is missing."""
    codes = sets.as_numbers(X)
    labelled = np.array([dtype == "category" for dtype in X.dtypes])
    codes[:, labelled] = np.where(codes[:, labelled] < 0, np.nan, codes[:, labelled])
    return X, codes


def table(names: Iterator[str], forms: Any, chosen: argparse.Namespace) -> str:
    """Ratios of all methods, a row for each table."""
    rows = [["table", *METHODS]]
    for name in names:
        over, under = forms(sets.read(name)[0])
        cells = [name]
        for method in METHODS:
            several = name not in NUMBERS and len(np.unique(sets.read(name)[1])) > 2
            if method == "stagewise" and several:
                cells.append("")
                continue
            cells.append(f"{ratio(method, name, over, under, chosen.repeats):.3f}")
        rows.append(cells)
        print("  ".join(cells), flush=True)
    return aligned(rows[0], rows[1:])


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.many_categories.run", description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN", help="tables, as a regex")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    return parser.parse_args()


def main() -> None:
    """Fit all models and write the page."""
    chosen = options()
    warnings.simplefilter("ignore", UserWarning)

    def wanted(names: tuple[str, ...]) -> Iterator[str]:
        return (name for name in names if re.search(chosen.only, name))

    ids = table(wanted(WITH_IDS), with_ids, chosen)
    codes = table(wanted(CATEGORIES), with_codes, chosen)
    facts = "\n".join(f"- {name}: {value}" for name, value in machine.facts().items())
    page = "\n".join((INTRODUCTION, IDS, ids, "", CODES, codes, "", "## Machine\n", facts, ""))
    full = chosen.only == "" and chosen.repeats == REPEATS
    folder = ROOT / ("bench" if full else "build") / "many_categories"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "RESULTS.md").write_text(page)
    print(f"written to {folder / 'RESULTS.md'}")


if __name__ == "__main__":
    main()
