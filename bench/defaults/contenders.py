"""The libraries as they come: default settings, one thread, categories their native way.

Each library is imported when it first fits: a run of ours alone needs none of the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from bench.categories import Converter, Inputs, as_they_are, at_most_255_levels, words
from bench.defaults.tables import Kind, Part
from bench.task import OURS

Maker = Callable[[Kind, list[str]], Any]
"""Makes an unfitted estimator for a kind of task and the names of the categorical columns."""


@dataclass(frozen=True)
class Contender:
    """One library with one set of settings.

    Parameters
    ----------
    library : str
        Its name in the tables.
    package : str
        Name under which it is installed.
    make : callable
        Makes an unfitted estimator.
    prepare : callable
        From the training inputs to a function that brings inputs into the library's form. Its
        time does not count.
    settings : str
        What differs from the defaults, as JSON.
    label : str
        Name of the settings.
    """

    library: str
    package: str
    make: Maker
    prepare: Callable[[Inputs], Converter] = as_they_are
    settings: str = field(default="{}")
    label: str = ""

    @property
    def name(self) -> str:
        """Name shown in the tables."""
        return f"{self.library} {self.label}".strip()

    @property
    def version(self) -> str:
        """Version of the installed package; empty if there is none."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""


def _home(module: str, kind: Kind, classifier: str, regressor: str) -> Any:
    return getattr(import_module(module), classifier if "classes" in kind else regressor)


def _if_counts(kind: Kind, **settings: Any) -> dict[str, Any]:
    """The one setting that every library must be told: that the targets are counts."""
    return settings if kind == "counts" else {}


def lightgbm(kind: Kind, categorical: list[str]) -> Any:
    """LightGBM: 100 trees of 31 leaves, rate 0.1."""
    estimator = _home("lightgbm", kind, "LGBMClassifier", "LGBMRegressor")
    loss = _if_counts(kind, objective="poisson")
    return estimator(n_jobs=1, random_state=0, verbosity=-1, **loss)


def xgboost(kind: Kind, categorical: list[str]) -> Any:
    """XGBoost: 100 trees of depth 6, rate 0.3."""
    estimator = _home("xgboost", kind, "XGBClassifier", "XGBRegressor")
    loss = _if_counts(kind, objective="count:poisson")
    return estimator(n_jobs=1, random_state=0, enable_categorical=True, **loss)


def histogram(kind: Kind, categorical: list[str]) -> Any:
    """scikit-learn: 100 trees of 31 leaves, rate 0.1, early stopping beyond 10,000 rows."""
    names = "HistGradientBoostingClassifier", "HistGradientBoostingRegressor"
    loss = _if_counts(kind, loss="poisson")
    return _home("sklearn.ensemble", kind, *names)(random_state=0, **loss)


def catboost(kind: Kind, categorical: list[str]) -> Any:
    """CatBoost: 1,000 symmetric trees of depth 6, rate by data size."""
    estimator = _home("catboost", kind, "CatBoostClassifier", "CatBoostRegressor")
    loss = _if_counts(kind, loss_function="Poisson")
    return estimator(
        cat_features=categorical,
        thread_count=1,
        random_seed=0,
        allow_writing_files=False,
        logging_level="Silent",
        **loss,
    )


REFERENCE = "CatBoost"

PEERS: tuple[Contender, ...] = (
    Contender("LightGBM", "lightgbm", lightgbm),
    Contender("XGBoost", "xgboost", xgboost),
    Contender("scikit-learn HGB", "scikit-learn", histogram, at_most_255_levels),
    Contender(REFERENCE, "catboost", catboost, words),
)


def ours(text: str) -> Contender:
    """Weald with settings written as `name:{"learning_rate": 0.05}`; a name alone means none."""
    label, _, given = text.partition(":")
    settings = json.loads(given or "{}")

    def make(kind: Kind, categorical: list[str]) -> Any:
        names = "GradientBoostingClassifier", "GradientBoostingRegressor"
        loss = _if_counts(kind, loss="poisson")
        return _home("weald", kind, *names)(random_state=0, n_jobs=1, **loss, **settings)

    shown = "" if label == "defaults" else label
    return Contender(
        OURS, "weald", make, settings=json.dumps(settings, sort_keys=True), label=shown
    )


def predictions(model: Any, X: Inputs, kind: Kind) -> np.ndarray:
    """Class shares, or numbers, in double precision."""
    made = model.predict_proba(X) if "classes" in kind else model.predict(X)
    return np.asarray(made, dtype=np.float64)


def fit(model: Any, X: Inputs, part: Part) -> Any:
    """Fit to the rows, weighted where there are weights."""
    if part.weights is None:
        return model.fit(X, part.y)
    return model.fit(X, part.y, sample_weight=part.weights)
