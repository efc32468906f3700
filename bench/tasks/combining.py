"""Stacking of four members, as a user of either library would write it down."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn import ensemble as sk
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import weald
from bench.data import Data
from bench.measure import Timed
from bench.replications import sets
from bench.task import OURS, Task
from bench.tasks.common import auc_and_log_loss, fits

THREADS = 2


@lru_cache(maxsize=1)
def adult(rows: int) -> Data:
    """Incomes of the 1994 census: its own training and test part, categories and missing values."""
    X, y = sets.read("adult")
    assert isinstance(X, pd.DataFrame)
    some = np.arange(rows)
    return Data(X.iloc[some], y[some], X.iloc[32_561:], y[32_561:])


def _of_kind(categories: Any, numbers: Any) -> Any:
    return make_column_transformer(
        (categories, make_column_selector(dtype_include="category")),
        remainder=numbers,
        verbose_feature_names_out=False,
    )


def _logistic() -> Any:
    """Standardised numbers, one column for each category; the same for both."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore", min_frequency=20)
    return make_pipeline(_of_kind(categories, numbers), LogisticRegression(max_iter=500))


def ours(threads: int) -> Any:
    """Weald's members take the table as it is."""
    members = [
        ("forest", weald.RandomForestClassifier(100, random_state=0, n_jobs=threads)),
        ("extra trees", weald.ExtraTreesClassifier(100, random_state=0, n_jobs=threads)),
        ("boosting", weald.GradientBoostingClassifier(random_state=0, n_jobs=threads)),
        ("logistic", _logistic()),
    ]
    return weald.StackingClassifier(members, cv=5, n_jobs=threads)


def _coded(model: Any) -> Any:
    """scikit-learn's trees need codes for categories."""
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    )
    return make_pipeline(_of_kind(codes, "passthrough"), model)


def _namesake() -> Any:
    return _coded(sk.GradientBoostingClassifier(random_state=0))


def _histograms() -> Any:
    return sk.HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)


def theirs(boosting: Callable[[], Any]) -> Callable[[int], Any]:
    """scikit-learn's members, which keep both cores busy best if whole fits run side by side."""

    def make(threads: int) -> Any:
        members = [
            ("forest", _coded(sk.RandomForestClassifier(100, random_state=0))),
            ("extra trees", _coded(sk.ExtraTreesClassifier(100, random_state=0))),
            ("boosting", boosting()),
            ("logistic", _logistic()),
        ]
        return sk.StackingClassifier(members, cv=5, n_jobs=threads)

    return make


TASKS: list[Task] = [
    Timed(
        "stacking: forest, extra-trees, boosting, logistic, 5 folds, adult 32,561 x 14",
        lambda s: adult(s.rows(32_561)),
        [
            fits(OURS, ours, THREADS),
            fits("scikit-learn, GradientBoosting", theirs(_namesake), THREADS, rounds=2),
            fits("scikit-learn, HistGradientBoosting", theirs(_histograms), THREADS, rounds=2),
        ],
        auc_and_log_loss,
    ),
]

__all__ = ["TASKS"]
