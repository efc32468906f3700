"""Forests and bagged trees: fits large and small, prediction, and the weight of a model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn import ensemble as sk

import weald
from bench.data import Data, noisy_classes, noisy_grades, noisy_numbers
from bench.measure import ModelSize, Timed
from bench.task import OURS, Contender, Task
from bench.tasks.common import (
    auc_and_log_loss,
    fits,
    prediction_error,
    root_mean_square,
    shares_error_and_log_loss,
)
from bench.tasks.other_forests import deep_xgboost, deep_ydf

SKLEARN = "scikit-learn"
THREADS = 2


def forest(threads: int) -> weald.RandomForestClassifier:
    """Build our forest as it is by default: 100 fully grown trees."""
    return weald.RandomForestClassifier(random_state=0, n_jobs=threads)


def peer(threads: int) -> sk.RandomForestClassifier:
    """Build the forest that ours is measured against."""
    return sk.RandomForestClassifier(random_state=0, n_jobs=threads)


def pair_of(
    name: str, *, threads: tuple[int, ...] = (THREADS,), rounds: int | None = None, **settings: Any
) -> list[Contender]:
    """Fit the class of one name, ours and scikit-learn's, with the same settings."""

    def maker(module: Any) -> Callable[[int], Any]:
        return lambda t: getattr(module, name)(random_state=0, n_jobs=t, **settings)

    return [
        *(fits(OURS, maker(weald), t) for t in threads),
        *(fits(SKLEARN, maker(sk), t, rounds) for t in threads),
    ]


FITS: list[Task] = [
    Timed(
        "random forest, 100 trees, fully grown, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        [*pair_of("RandomForestClassifier", rounds=2), deep_ydf(100, THREADS, rounds=2)],
        auc_and_log_loss,
    ),
    # A tenth of the trees: XGBoost needs minutes for all of them.
    Timed(
        "random forest, 10 trees, fully grown, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        [
            *pair_of("RandomForestClassifier", n_estimators=10, rounds=2),
            deep_ydf(10, THREADS, rounds=2),
            deep_xgboost(10, THREADS, rounds=1),
        ],
        auc_and_log_loss,
    ),
    Timed(
        "extra-trees, 100 trees, fully grown, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        pair_of("ExtraTreesClassifier", rounds=2),
        auc_and_log_loss,
    ),
    Timed(
        "bagging, 20 trees, fully grown, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        pair_of("BaggingClassifier", n_estimators=20, rounds=1),
        auc_and_log_loss,
    ),
    Timed(
        "random forest, 100 trees, 8 classes, 20k x 28",
        lambda s: noisy_grades(s.rows(20_000)),
        pair_of("RandomForestClassifier", rounds=2),
        shares_error_and_log_loss,
    ),
    Timed(
        "regression forest, 100 trees, a third of the columns, 20k x 28",
        lambda s: noisy_numbers(s.rows(20_000)),
        pair_of("RandomForestRegressor", max_features=1 / 3, rounds=2),
        root_mean_square,
    ),
]

SMALL_FITS: list[Task] = [
    Timed(
        f"{title}, 100 trees, 1,000 x 28",
        lambda s: noisy_classes(1_000),
        [*pair_of(name, threads=(1, 2), n_estimators=100), *others],
        auc_and_log_loss,
        unit="ms",
    )
    for title, name, others in (
        ("random forest", "RandomForestClassifier", [deep_ydf(100, THREADS)]),
        ("extra-trees", "ExtraTreesClassifier", []),
        ("bagging", "BaggingClassifier", []),
    )
]

_FITTED: dict[tuple[str, int], Any] = {}


def fitted(library: str, data: Data) -> Any:
    """Fit a library's forest once for all tasks that need it fitted: it takes half a minute."""
    key = (library, len(data.X))
    if key not in _FITTED:
        make = {OURS: forest, SKLEARN: peer}[library]
        _FITTED[key] = make(THREADS).fit(data.X, data.y)
    return _FITTED[key]


def predicts(library: str, rows: int, threads: int, label: str | None = None) -> Contender:
    """Predict the first test rows with the forest fitted beforehand."""
    return Contender(
        label or library,
        run=lambda data, model: model.predict(data.X_test[:rows]),
        prepare=lambda data: copy.copy(fitted(library, data)).set_params(n_jobs=threads),
        threads=threads,
    )


PREDICTIONS: list[Task] = [
    Timed(
        "predict 20k rows, forest of 100 trees",
        lambda s: noisy_classes(s.rows(100_000)),
        [predicts(library, 20_000, t) for library in (OURS, SKLEARN) for t in (1, THREADS)],
        prediction_error,
        unit="ms",
    ),
    Timed(
        "predict 100 rows, forest of 100 trees",
        lambda s: noisy_classes(s.rows(100_000)),
        [
            predicts(OURS, 100, THREADS),
            predicts(OURS, 100, 1, label="weald, one thread"),
            predicts(SKLEARN, 100, 1),
        ],
        calls=20,
        unit="us",
    ),
    Timed(
        "predict 1 row, forest of 100 trees",
        lambda s: noisy_classes(s.rows(100_000)),
        [predicts(OURS, 1, THREADS), predicts(OURS, 1, 1), predicts(SKLEARN, 1, 1)],
        calls=50,
        unit="us",
        promise=100.0,
    ),
]

WEIGHT: list[Task] = [
    ModelSize(
        "forest of 100 trees fitted to 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        {library: partial(fitted, library) for library in (OURS, SKLEARN)},
        share=0.25,
    )
]

TASKS: list[Task] = [*FITS, *SMALL_FITS, *PREDICTIONS, *WEIGHT]
