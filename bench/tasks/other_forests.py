"""Deep forests of YDF and XGBoost, set up to grow what ours grows.

Both libraries are imported when their row is run: they take a second each, and a run that is
restricted to other rows needs neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.data import Data
from bench.task import Contender

# The columns tried at each node, int(sqrt(28)), as scikit-learn and weald try by default.
TRIED = 5


class YdfForest:
    """YDF's random forest behind the few names that the judges use.

    Fully grown trees that vote with class shares. Its columns stay as they are: discretised to 255
    values it is slower here, and with fewer it is worse.
    """

    def __init__(self, trees: int, threads: int) -> None:
        self.trees = trees
        self.threads = threads

    def fit(self, X: np.ndarray, y: np.ndarray) -> YdfForest:
        """Train on the arrays; what YDF makes of them first is part of the fit."""
        import ydf

        learner = ydf.RandomForestLearner(
            label="y",
            num_trees=self.trees,
            max_depth=-1,
            min_examples=1,
            num_candidate_attributes=min(TRIED, X.shape[1]),
            winner_take_all=False,
            compute_oob_performances=False,
            sorting_strategy="IN_NODE",
            num_threads=self.threads,
            random_seed=0,
        )
        self.model = learner.train({"x": X, "y": y}, verbose=0)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Shares of both classes."""
        share = self.model.predict({"x": X})
        return np.column_stack([1.0 - share, share])


def deep_ydf(trees: int, threads: int, rounds: int | None = None) -> Contender:
    """Fit YDF's random forest, fully grown."""

    def ready(data: Data) -> None:
        YdfForest(1, 1).fit(data.X[:100], data.y[:100])

    return Contender(
        "YDF",
        run=lambda data, _: YdfForest(trees, threads).fit(data.X, data.y),
        prepare=ready,
        threads=threads,
        rounds=rounds,
    )


def deep_xgboost(trees: int, threads: int, rounds: int | None = None) -> Contender:
    """Fit XGBoost's random forest, fully grown.

    It draws rows without replacement, the 63.2 % that a bootstrap sees, and its leaves hold steps
    of log odds, not class shares. Growth by loss is its faster order for trees of any depth.
    """

    def make(n: int) -> Any:
        from xgboost import XGBRFClassifier

        return XGBRFClassifier(
            n_estimators=n,
            tree_method="hist",
            grow_policy="lossguide",
            max_depth=0,
            max_leaves=0,
            min_child_weight=0,
            reg_lambda=0,
            subsample=0.632,
            colsample_bynode=TRIED / 28,
            n_jobs=threads,
            random_state=0,
        )

    def ready(data: Data) -> None:
        make(1).fit(data.X[:100], data.y[:100])

    return Contender(
        "XGBoost",
        run=lambda data, _: make(trees).fit(data.X, data.y),
        prepare=ready,
        threads=threads,
        rounds=rounds,
    )
