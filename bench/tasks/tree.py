"""Single trees: fully grown, limited, histogram, random; prediction; growth; memory."""

from __future__ import annotations

from sklearn import tree as sk

import weald
from bench.data import iris, noisy_classes, noisy_grades, noisy_numbers
from bench.measure import Growth, Memory, Timed
from bench.task import OURS, Task
from bench.tasks.common import (
    against,
    error,
    error_and_log_loss,
    fits,
    prediction_error,
    predicts,
    rmse,
)

SKLEARN = "scikit-learn"


def exact(threads: int) -> weald.DecisionTreeClassifier:
    """Fully grown tree over all thresholds."""
    return weald.DecisionTreeClassifier(random_state=0, n_jobs=threads)


def binned(threads: int) -> weald.DecisionTreeClassifier:
    """Fully grown tree over 255 bins per column."""
    return weald.DecisionTreeClassifier(random_state=0, n_jobs=threads, max_bins=255)


def peer(_: int = 1) -> sk.DecisionTreeClassifier:
    """Build the serial tree that every one of ours is measured against."""
    return sk.DecisionTreeClassifier(random_state=0)


FITS: list[Task] = [
    Timed(
        "classification tree, exact, fully grown, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        against(exact, peer),
        error,
    ),
    Timed(
        "classification tree, 255 bins, fully grown, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        against(binned, peer),
        error,
    ),
    Timed(
        "classification tree, exact, depth 8, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        against(
            lambda t: weald.DecisionTreeClassifier(max_depth=8, random_state=0, n_jobs=t),
            lambda: sk.DecisionTreeClassifier(max_depth=8, random_state=0),
        ),
        error_and_log_loss,
    ),
    Timed(
        "classification tree, exact, entropy, 8 classes, 50k x 28",
        lambda s: noisy_grades(s.rows(50_000)),
        against(
            lambda t: weald.DecisionTreeClassifier(criterion="entropy", random_state=0, n_jobs=t),
            lambda: sk.DecisionTreeClassifier(criterion="entropy", random_state=0),
        ),
        error,
    ),
    Timed(
        "extra-tree, classification, fully grown, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        against(
            lambda t: weald.ExtraTreeClassifier(random_state=0, n_jobs=t),
            lambda: sk.ExtraTreeClassifier(random_state=0),
        ),
        error,
    ),
    Timed(
        "classification tree, exact, 1,000 x 28",
        lambda s: noisy_classes(1_000),
        against(exact, peer, threads=(1,)),
        error,
        calls=20,
        unit="ms",
    ),
    Timed(
        "classification tree, exact, iris",
        lambda s: iris(),
        against(exact, peer, threads=(1,)),
        error,
        calls=100,
        unit="ms",
    ),
    Timed(
        "regression tree, exact, fully grown, 100k x 28",
        lambda s: noisy_numbers(s.rows(100_000)),
        against(
            lambda t: weald.DecisionTreeRegressor(random_state=0, n_jobs=t),
            lambda: sk.DecisionTreeRegressor(random_state=0),
        ),
        rmse,
    ),
]

PREDICTIONS: list[Task] = [
    Timed(
        f"predict {name}, fully grown tree",
        lambda s: noisy_classes(s.rows(100_000), n_test=100_000),
        [
            predicts(OURS, exact, rows),
            *([predicts(OURS, exact, rows, threads=2)] if rows > 1 else []),
            predicts(SKLEARN, peer, rows),
        ],
        prediction_error if rows > 1 else lambda result, data: {},
        calls=calls,
        unit=unit,
    )
    for name, rows, calls, unit in (
        ("1 row", 1, 500, "us"),
        ("20k rows", 20_000, 5, "ms"),
        ("100k rows", 100_000, 2, "ms"),
    )
]

GROWTH: list[Task] = [
    Growth(
        "classification tree, exact, 10 columns",
        lambda n: noisy_classes(n, n_test=100, columns=10),
        [fits(OURS, exact), fits(OURS, exact, threads=2), fits(SKLEARN, peer)],
        sizes=(10_000, 30_000, 100_000, 300_000, 1_000_000),
    )
]

MEMORY: list[Task] = [
    Memory(
        "peak memory, 255 bins, depth 8, 1M x 28",
        lambda s: noisy_classes(s.rows(1_000_000), n_test=100),
        against(
            lambda t: weald.DecisionTreeClassifier(
                max_depth=8, max_bins=255, random_state=0, n_jobs=t
            ),
            lambda: sk.DecisionTreeClassifier(max_depth=8, random_state=0),
        ),
        code_bytes=1,
    ),
    Memory(
        "peak memory, exact, fully grown, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000), n_test=100),
        against(exact, peer),
        code_bytes=4,
    ),
]

TASKS: list[Task] = [*FITS, *PREDICTIONS, *GROWTH, *MEMORY]
