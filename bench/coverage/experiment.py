"""One split of one table: quantiles of two libraries, and the intervals of every regressor."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import mean_pinball_loss

from bench.defaults.tables import TABLES, Part, split
from weald import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    SuperLearnerRegressor,
)
from weald.intervals import interval_coverage

CAP = 10_000
"""Most training rows."""
QUANTILES = (0.1, 0.5, 0.9)
COVERAGE = 0.9
SETS = (
    *("ozone", "abalone", "wine_quality", "kin8nm"),
    *("bike_sharing", "california", "protein", "diamonds"),
)
Figures = dict[str, float]


def quantiles_of_weald(train: Part, X_test: Any, **settings: Any) -> np.ndarray:
    """All at once."""
    model = GradientBoostingRegressor(
        loss="quantile", alpha=QUANTILES, random_state=0, n_jobs=1, **settings
    )
    return np.asarray(model.fit(train.X, train.y).predict(X_test))


def quantiles_of_lightgbm(train: Part, X_test: Any) -> np.ndarray:
    """A model for each."""
    from lightgbm import LGBMRegressor

    models = (LGBMRegressor(objective="quantile", alpha=q, n_jobs=1, verbose=-1) for q in QUANTILES)
    said = [np.asarray(model.fit(train.X, train.y).predict(X_test)) for model in models]
    return np.stack(said, axis=1)


QUANTILE_MODELS: dict[str, Callable[[Part, Any], np.ndarray]] = {
    "weald": quantiles_of_weald,
    "weald, not calibrated": lambda train, X: quantiles_of_weald(train, X, calibration=None),
    "LightGBM": quantiles_of_lightgbm,
}

_ONE: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
_MEMBERS = [("forest", RandomForestRegressor(**_ONE)), ("extra", ExtraTreesRegressor(**_ONE))]
INTERVAL_MODELS: dict[str, Any] = {
    "random forest": RandomForestRegressor(oob_score=True, **_ONE),
    "bagging": BaggingRegressor(n_estimators=100, oob_score=True, **_ONE),
    "AdaBoost": AdaBoostRegressor(calibration=5, **_ONE),
    "gradient boosting": GradientBoostingRegressor(n_estimators=200, calibration=5, **_ONE),
    "boosted quantiles": GradientBoostingRegressor(loss="quantile", alpha=[0.05, 0.95], **_ONE),
    "stacking": StackingRegressor(_MEMBERS, calibration=5),
    "super learner": SuperLearnerRegressor(_MEMBERS, **_ONE),
}


def parts(name: str, number: int) -> tuple[Part, Part]:
    """Training and test rows of a split."""
    [table] = [table for table in TABLES if table.name == name]
    train, test = split(table, number)
    return train.take(np.arange(min(len(train.y), CAP))), test


def quantile_figures(name: str, number: int, who: str) -> Figures:
    """Mean pinball loss, and what lies between the outer quantiles."""
    train, test = parts(name, number)
    begin = process_time()
    said = QUANTILE_MODELS[who](train, test.X)
    seconds = process_time() - begin
    losses = [mean_pinball_loss(test.y, said[:, k], alpha=q) for k, q in enumerate(QUANTILES)]
    found = interval_coverage(test.y, said[:, [0, 2]])
    return {
        "rows": len(train.y),
        "pinball": float(np.mean(losses)),
        "coverage": found.coverage,
        "width": found.mean_width,
        "seconds": seconds,
    }


def interval_figures(name: str, number: int, who: str) -> Figures:
    """Share of the targets in their intervals, and their width in units of the targets' spread."""
    train, test = parts(name, number)
    model = INTERVAL_MODELS[who].fit(train.X, train.y)
    found = interval_coverage(test.y, model.predict_interval(test.X, COVERAGE))
    return {"coverage": found.coverage, "width": found.mean_width / float(np.std(test.y))}
