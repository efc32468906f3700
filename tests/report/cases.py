"""Models of every kind that is a formula of trees, and a table that is hard on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import weald
from weald import losses

N = 300


def table(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Numbers, whole numbers, categories few and many, a constant; with missing values."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": draw.normal(size=n),
            "count": draw.integers(0, 9, n).astype(float),
            "colour": draw.choice(["red", "green", "blue", "<b>bold</b>"], n),
            "place": [f"p{k}" for k in draw.integers(0, 290, n)],
            "flat": np.ones(n),
        }
    )
    frame.loc[draw.random(n) < 0.1, "size"] = np.nan
    frame.loc[draw.random(n) < 0.1, "colour"] = None
    return frame


def signal(X: pd.DataFrame) -> np.ndarray:
    """What there is to learn."""
    colour = X["colour"].map({"red": 1.0, "green": -1.0}).fillna(0.3).to_numpy()
    noise = np.random.default_rng(1).normal(scale=0.4, size=len(X))
    return X["size"].fillna(0.7).to_numpy() + colour + 0.1 * X["count"].to_numpy() + noise


def numbers(X: pd.DataFrame) -> np.ndarray:
    return signal(X)


def two(X: pd.DataFrame) -> np.ndarray:
    return np.where(signal(X) > 0.4, "yes", "no")


def three(X: pd.DataFrame) -> np.ndarray:
    return np.digitize(signal(X), [-0.2, 1.0]) * 10


def counts(X: pd.DataFrame) -> np.ndarray:
    return np.floor(np.exp(np.clip(signal(X), -2, 2)))


def new_rows() -> pd.DataFrame:
    """Rows with values the fit never saw, and with everything missing."""
    rows = table(80, seed=9)
    rows.loc[0, ["colour", "place"]] = ["violet", "nowhere"]
    rows.loc[1, ["size", "count", "flat"]] = np.nan
    rows.loc[1, ["colour", "place"]] = None
    rows.loc[2, "size"] = 1e30
    rows.loc[3, "size"] = -1e30
    return rows


@dataclass(frozen=True)
class Case:
    name: str
    model: Any
    target: Any

    def fitted(self) -> tuple[Any, pd.DataFrame, np.ndarray]:
        X = table()
        y = self.target(X)
        return self.model.fit(X, y), X, y


class CubeRoot(losses.Link):
    """A link of the user's own."""

    name = "cube root"

    def link(self, mu: Any) -> Any:
        return np.cbrt(mu)

    def inverse(self, F: Any) -> Any:
        return F**3


COSTS = [[0, 1, 4], [3, 0, 1], [1, 1, 0]]
SMALL = {"random_state": 0, "n_estimators": 12}
CASES = [
    Case("tree", weald.DecisionTreeClassifier(random_state=0), three),
    Case("tree, costs", weald.DecisionTreeClassifier(max_depth=5, cost_matrix=COSTS), three),
    Case("tree, numbers", weald.DecisionTreeRegressor(max_depth=6, random_state=0), numbers),
    Case(
        "tree, medians",
        weald.DecisionTreeRegressor(max_depth=5, criterion="absolute_error"),
        numbers,
    ),
    Case("random tree", weald.ExtraTreeClassifier(max_depth=8, random_state=0), two),
    Case("forest", weald.RandomForestClassifier(**SMALL), three),
    Case("forest, numbers", weald.RandomForestRegressor(**SMALL), numbers),
    Case("extra-trees", weald.ExtraTreesClassifier(**SMALL), two),
    Case("extra-trees, numbers", weald.ExtraTreesRegressor(**SMALL), numbers),
    Case("bagging", weald.BaggingClassifier(**SMALL), three),
    Case(
        "bagging, hard votes, some columns",
        weald.BaggingClassifier(**SMALL, voting="hard", max_features=0.6),
        three,
    ),
    Case(
        "bagging, weighted",
        weald.BaggingRegressor(n_estimators=30, random_state=0, weighting="oob"),
        numbers,
    ),
    Case("naive", weald.NaiveEnsembleClassifier(**SMALL), two),
    *(
        Case(f"AdaBoost, {name}", weald.AdaBoostClassifier(**SMALL, algorithm=name), target)
        for name, target in [
            ("samme", two),
            ("samme", three),
            ("arc-gv", two),
            ("confidence", two),
            ("real", two),
            ("real", three),
            ("gentle", two),
            ("logit", two),
        ]
    ),
    Case("AdaBoost, numbers", weald.AdaBoostRegressor(**SMALL), numbers),
    *(
        Case(f"boosting, {name}", weald.GradientBoostingClassifier(**SMALL, loss=name), target)
        for name, target in [
            ("log_loss", two),
            ("log_loss", three),
            ("exponential", two),
            ("smooth_hinge", two),
        ]
    ),
    *(
        Case(f"boosting, {name}", weald.GradientBoostingRegressor(**SMALL, loss=name), target)
        for name, target in [
            ("squared_error", numbers),
            ("huber", numbers),
            ("poisson", counts),
        ]
    ),
    Case(
        "boosting, quantiles",
        weald.GradientBoostingRegressor(**SMALL, loss="quantile", alpha=[0.9, 0.1, 0.5]),
        numbers,
    ),
    Case("stagewise", weald.StagewiseClassifier(**SMALL), two),
    Case("stagewise, numbers", weald.StagewiseRegressor(**SMALL), numbers),
    Case("stagewise, log loss", weald.StagewiseClassifier(**SMALL, loss="log_loss"), two),
]
