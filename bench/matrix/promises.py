"""Rows beside the cells: batches of deep trees, one row, small tables, fixed costs, own losses.

Every group of rows has a bar, the least of the peer's time (or of a limit) over ours.
"""

from __future__ import annotations

from typing import Any

import weald
from bench.data import Data, noisy_classes
from bench.matrix.cells import THREADS, Cell, draw
from bench.matrix.measure import judge
from bench.matrix.methods import BOOSTERS, METHODS
from bench.matrix.summary import Promise
from bench.matrix.tables import Table, normal
from bench.matrix.targets import TARGETS
from bench.measure import Timed
from bench.task import OURS, Contender, Task
from bench.tasks.boosting import OURS_ALONE, everybody, our_predictor
from bench.tasks.common import auc_and_log_loss

TREES = 100
NAMED = {target.name: target for target in TARGETS}
TARGET = {"Classifier": NAMED["2 classes"], "Regressor": NAMED["regression"]}
[FOREST] = [method for method in METHODS if method.name == "forest"]
MIDDLE = Table("20k x 28", 20_000, 20_000, normal(28), trees=TREES, rounds=TREES)


def batch(target_name: str) -> Timed:
    """Predict 20k rows by 100 deep trees, fitted to 20k rows."""
    target, method = NAMED[target_name], FOREST
    cell = Cell(method, target, MIDDLE)

    def contender(fitting: Contender) -> Contender:
        library = method.libraries[fitting.library]

        def prepare(data: Data) -> Any:
            return library.predictor(fitting.run(data, fitting.prepare(data)).model, THREADS)

        return Contender(
            fitting.library, lambda data, predict: predict(data.X_test), prepare, THREADS
        )

    return Timed(
        f"predict 20k rows, {TREES} deep trees, {target_name}",
        lambda settings: draw(MIDDLE, target, settings.quick),
        [contender(fitting) for fitting in cell.contenders()],
        judge,
        unit="ms",
    )


ONE_ROW = 30.0
"""Microseconds that one row may take."""


def one_row(name: str, ending: str) -> Timed:
    """Predict one row by an ensemble of ours."""
    target = TARGET[ending]

    def prepare(data: Data) -> Any:
        make = getattr(weald, f"{name}{ending}")
        return our_predictor(make(n_estimators=TREES).fit(data.X, data.y), 1)

    return Timed(
        f"predict 1 row, {TREES} trees, {name}{ending}",
        lambda settings: draw(MIDDLE, target, settings.quick),
        [Contender(OURS, lambda data, predict: predict(data.X_test[:1]), prepare)],
        calls=200,
        unit="us",
        promise=ONE_ROW,
    )


FIXED = 1.0
"""Milliseconds that a fit of one stump to 100 rows may take: hardly more than its fixed costs."""


def fixed_cost(name: str, ending: str, settings: dict[str, Any]) -> Timed:
    """Fit a single stump to 100 rows."""
    target = TARGET[ending]
    table = Table("100 x 28", 100, 100, normal(28), trees=1, rounds=1)
    make = getattr(weald, f"{name}{ending}")
    return Timed(
        f"fit a stump to 100 rows, {name}{ending}",
        lambda _: draw(table, target),
        [Contender(OURS, run=lambda data, _: make(**settings).fit(data.X, data.y))],
        calls=50,
        unit="ms",
        promise=FIXED,
    )


ENSEMBLES = ("RandomForest", "ExtraTrees", "Bagging", "AdaBoost", "GradientBoosting")
STUMP: dict[str, dict[str, Any]] = {
    "DecisionTree": {"max_depth": 1},
    "RandomForest": {"max_depth": 1, "n_estimators": 1},
    "ExtraTrees": {"max_depth": 1, "n_estimators": 1},
    "Bagging": {"n_estimators": 1},
    "AdaBoost": {"n_estimators": 1},
    "GradientBoosting": {"n_estimators": 1, "max_leaf_nodes": 2, "learning_rate": 0.1},
}

SMALL = [
    Timed(
        f"boosting, {TREES} rounds, {rows:,} x 28",
        lambda settings, rows=rows: noisy_classes(settings.rows(rows)),  # type: ignore[misc]
        everybody(peers=BOOSTERS),
        auc_and_log_loss,
        unit="ms",
    )
    for rows in (1_000, 10_000)
]

OWN_LOSS = [task for task in OURS_ALONE if "user's own" in task.name]

TASKS: list[Task] = [
    *(batch(name) for name in ("2 classes", "20 classes", "regression", "5 outputs")),
    *(one_row(name, ending) for name in ENSEMBLES for ending in TARGET),
    *(fixed_cost(name, ending, given) for name, given in STUMP.items() for ending in TARGET),
    *SMALL,
    *OWN_LOSS,
]

PROMISES = (
    Promise(f"20k rows by {TREES} deep trees", 5.0, lambda task: task.startswith("predict 20k")),
    Promise("one row in 30 µs", 1.0, lambda task: task.startswith("predict 1 row")),
    Promise("1k and 10k rows boosting", 3.0, lambda task: task.startswith("boosting,")),
    Promise("a fit of 100 rows in 1 ms", 1.0, lambda task: task.startswith("fit a stump")),
    Promise("a user's loss: built-in over own", 1 / 1.3, lambda task: "user's own" in task),
)
