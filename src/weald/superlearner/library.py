"""The default candidates: trees of several kinds, and smooth models where trees alone lose.

A candidate is a row of the table: its name, how it is made, and how many rows it may learn from.
Models of numbers get the table encoded; those whose cost grows faster than the rows get a sample.
"""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from weald.adaboost import AdaBoostClassifier
from weald.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from weald.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.input.encoder import TableEncoder
from weald.superlearner.smooth import RBFFeatures, RidgeByLeaveOneOut

__all__ = ["default_library"]

Row = tuple[str, Any, int | None]

_MOST_ROWS = 20_000  # of kernels and neighbours
_CENTRES = 1000


def default_library(*, classes: bool) -> list[Row]:
    """The default candidates: (name, estimator, most rows).

    The quick and good ones come first, as a time limit may end the list.
    """
    return _for_classes() if classes else _for_numbers()


# Many small steps of larger trees, each of them from a part of rows and columns.
_SLOW: dict[str, Any] = {
    "n_estimators": 500,
    "learning_rate": 0.04,
    "max_leaf_nodes": 63,
    "subsample": 0.8,
    "max_features": 0.7,
}


def _encoded(*steps: Any, splines: bool = False) -> Any:
    return make_pipeline(TableEncoder(splines=splines), *steps)


def _for_numbers() -> list[Row]:
    ridge = RidgeByLeaveOneOut()
    return [
        ("boosting", GradientBoostingRegressor(), None),
        ("linear", _encoded(ridge), None),
        ("forest", RandomForestRegressor(100, max_features=1 / 3, min_samples_leaf=2), None),
        ("additive", _encoded(ridge, splines=True), None),
        ("kernel", _encoded(RBFFeatures(_CENTRES), ridge), _MOST_ROWS),
        ("extra trees", ExtraTreesRegressor(100, min_samples_leaf=2), None),
        ("slow boosting", GradientBoostingRegressor(**_SLOW), None),
        ("neighbours", _encoded(KNeighborsRegressor(10, weights="distance")), _MOST_ROWS),
    ]


def _for_classes() -> list[Row]:
    logistic = LogisticRegression(max_iter=200)
    smooth = LogisticRegression(C=10.0, max_iter=200)
    return [
        ("boosting", GradientBoostingClassifier(), None),
        ("logistic", _encoded(logistic), None),
        ("forest", RandomForestClassifier(100, min_samples_leaf=2), None),
        ("additive", _encoded(logistic, splines=True), None),
        ("kernel", _encoded(RBFFeatures(_CENTRES // 2), smooth), _MOST_ROWS),
        ("extra trees", ExtraTreesClassifier(100, min_samples_leaf=2), None),
        ("slow boosting", GradientBoostingClassifier(**_SLOW), None),
        ("adaboost", AdaBoostClassifier(n_estimators=200), None),
        ("neighbours", _encoded(KNeighborsClassifier(20, weights="distance")), _MOST_ROWS),
        ("bayes", _encoded(GaussianNB(var_smoothing=1e-3)), None),
    ]
