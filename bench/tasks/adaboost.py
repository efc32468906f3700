"""AdaBoost: stumps and small trees, large and small tables, prediction."""

from __future__ import annotations

from sklearn import ensemble as sk
from sklearn import tree as sk_tree

import weald
from bench.data import noisy_classes, noisy_grades
from bench.measure import Timed
from bench.task import OURS, Contender, Task
from bench.tasks.common import auc_and_log_loss, fits, shares_error_and_log_loss

SKLEARN = "scikit-learn"
THREADS = 2


def ours(depth: int, threads: int) -> Contender:
    """100 of our trees; a stump of 255 bins is the default member."""
    member = weald.DecisionTreeClassifier(max_depth=depth, max_bins=255)
    return fits(
        OURS,
        lambda t: weald.AdaBoostClassifier(member, n_estimators=100, n_jobs=t),
        threads,
    )


def peer(depth: int, rounds: int | None = None) -> Contender:
    """100 of scikit-learn's trees; its AdaBoost knows one thread only."""
    member = sk_tree.DecisionTreeClassifier(max_depth=depth, random_state=0)
    return fits(
        SKLEARN,
        lambda t: sk.AdaBoostClassifier(member, n_estimators=100, random_state=0),
        1,
        rounds,
    )


TASKS: list[Task] = [
    Timed(
        "AdaBoost, 100 stumps, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        [ours(1, THREADS), ours(1, 1), peer(1, rounds=1)],
        auc_and_log_loss,
    ),
    Timed(
        "AdaBoost, 100 trees of depth 3, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        [ours(3, THREADS), ours(3, 1), peer(3, rounds=1)],
        auc_and_log_loss,
    ),
    Timed(
        "AdaBoost, 100 stumps, 1,000 x 28",
        lambda s: noisy_classes(1_000),
        [ours(1, THREADS), ours(1, 1), peer(1, rounds=2)],
        auc_and_log_loss,
        unit="ms",
    ),
    Timed(
        "AdaBoost, 100 trees of depth 3, 1,000 x 28",
        lambda s: noisy_classes(1_000),
        [ours(3, THREADS), ours(3, 1), peer(3, rounds=2)],
        auc_and_log_loss,
        unit="ms",
    ),
    Timed(
        "AdaBoost, 100 stumps, 8 classes, 20k x 28",
        lambda s: noisy_grades(s.rows(20_000)),
        [ours(1, THREADS), peer(1, rounds=1)],
        shares_error_and_log_loss,
    ),
]
