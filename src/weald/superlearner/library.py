"""The default candidates: trees of several kinds, and smooth models where trees alone lose.

A candidate is a row of the table: its name, how it is made, and how many rows it may learn from.
Models of numbers get the table encoded; those whose cost grows faster than the rows get a sample.
"""

from __future__ import annotations

from typing import Any

from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from weald.adaboost import AdaBoostClassifier, AdaBoostRegressor
from weald.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from weald.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.input.encoder import TableEncoder
from weald.superlearner.smooth import (
    LogisticBySize,
    NeighboursBySize,
    RBFFeatures,
    RidgeByLeaveOneOut,
)
from weald.tree import DecisionTreeRegressor

__all__ = ["default_library"]

Row = tuple[str, Any, int | None]

_MOST_ROWS = 10_000  # of kernels and neighbours


def default_library(*, classes: bool) -> list[Row]:
    """The default candidates: (name, estimator, most rows).

    The quick and good ones come first, as a time limit may end the list.
    """
    return _for_classes() if classes else _for_numbers()


# Other ways to boost: small trees, and many steps each of which sees a part of rows and columns.
_SMALL: dict[str, Any] = {"max_leaf_nodes": 8}
_SAMPLED: dict[str, Any] = {
    "n_estimators": 2000,
    "learning_rate": 0.03,
    "n_iter_no_change": 30,
    "subsample": 0.8,
    "max_features": 0.5,
}
# Full trees: their overfitting averages out in the mixture, and its sharpness corrects shares that
# are too even. On twelve tables the mixture lost 2.7 % less than with leaves of two rows.
_FOREST: dict[str, Any] = {"n_estimators": 200, "max_features": 0.5}
_EXTRA: dict[str, Any] = {"n_estimators": 300}


def _encoded(*steps: Any, splines: bool = False) -> Any:
    return make_pipeline(TableEncoder(splines=splines), *steps)


def _for_numbers() -> list[Row]:
    ridge = RidgeByLeaveOneOut()
    return [
        ("boosting", GradientBoostingRegressor(), None),
        ("linear", _encoded(ridge), None),
        ("forest", RandomForestRegressor(**_FOREST), None),
        ("additive", _encoded(ridge, splines=True), None),
        ("kernel", _encoded(RBFFeatures(1000), ridge), _MOST_ROWS),
        ("extra trees", ExtraTreesRegressor(max_features=0.5, **_EXTRA), None),
        ("small trees", GradientBoostingRegressor(**_SMALL), None),
        ("sampled boosting", GradientBoostingRegressor(**_SAMPLED), None),
        ("adaboost", AdaBoostRegressor(DecisionTreeRegressor(max_depth=6), n_estimators=100), None),
        (
            "neighbours",
            _encoded(NeighboursBySize(KNeighborsRegressor(10, weights="distance"))),
            _MOST_ROWS,
        ),
    ]


def _for_classes() -> list[Row]:
    return [
        ("boosting", GradientBoostingClassifier(), None),
        ("logistic", _encoded(LogisticBySize()), None),
        ("forest", RandomForestClassifier(criterion="entropy", **_FOREST), None),
        ("additive", _encoded(LogisticBySize(), splines=True), None),
        ("kernel", _encoded(RBFFeatures(300), LogisticBySize(10.0)), _MOST_ROWS),
        ("extra trees", ExtraTreesClassifier(**_EXTRA), None),
        ("small trees", GradientBoostingClassifier(**_SMALL), None),
        ("sampled boosting", GradientBoostingClassifier(**_SAMPLED), None),
        ("adaboost", AdaBoostClassifier(n_estimators=200), None),
        ("neighbours", _encoded(NeighboursBySize(KNeighborsClassifier(30))), _MOST_ROWS),
        ("bayes", _encoded(GaussianNB(var_smoothing=1e-3)), None),
    ]
