"""Gradient boosting: fits large and small, prediction, memory, and a loss of the user's own."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

import weald
from bench.categories import as_they_are
from bench.data import Data, cover_types, mixed_columns, noisy_classes, noisy_numbers
from bench.measure import Memory, Timed
from bench.task import OURS, Contender, Task
from bench.tasks.boosters import BINS, FEWEST_ROWS, LEAVES, PEERS, PENALTY, RATE
from bench.tasks.common import (
    auc_and_log_loss,
    of_shares,
    root_mean_square,
    shares_error_and_log_loss,
)
from bench.tasks.libraries import TREES, Job, Kind, Library, Predictor, fitting

THREADS = 2


def ours(job: Job, **settings: Any) -> Any:
    """Our estimator, with the settings of the peers."""
    make = getattr(weald, f"GradientBoosting{job.estimator}")
    return make(
        n_estimators=job.trees,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        max_bins=BINS,
        l2_regularization=PENALTY,
        min_samples_leaf=FEWEST_ROWS,
        max_features=None,
        min_gain=0.0,
        n_jobs=job.threads,
        **settings,
    )


def mine(job: Job, label: str = OURS, **settings: Any) -> Contender:
    """Take part with our own estimator."""
    return Contender(
        label,
        run=lambda data, _: ours(job, **settings).fit(data.X, data.y),
        threads=job.threads,
    )


def everybody(
    kind: Kind = "classes",
    threads: Sequence[int] = (THREADS,),
    peer_threads: Sequence[int] | None = None,
    rounds: dict[str, int] | None = None,
    trees: int = TREES,
    peers: Sequence[str] = tuple(PEERS),
) -> list[Contender]:
    """Ours and the peers at the same settings; `rounds` bounds the rounds of slow ones."""
    return [
        *(mine(Job(kind, t, trees)) for t in threads),
        *(
            fitting(name, PEERS[name], Job(kind, t, trees), (rounds or {}).get(name))
            for name in peers
            for t in (peer_threads or threads)
        ),
    ]


FITS: list[Task] = [
    Timed(
        "gradient boosting, 2 classes, 1M x 28",
        lambda s: noisy_classes(s.rows(1_000_000)),
        everybody(
            threads=(THREADS, 1),
            peer_threads=(THREADS,),
            rounds={**dict.fromkeys(PEERS, 2), "YDF": 1},
        ),
        auc_and_log_loss,
    ),
    Timed(
        "gradient boosting, 2 classes, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        everybody(threads=(THREADS, 1), rounds={"YDF": 1}),
        auc_and_log_loss,
    ),
    Timed(
        "gradient boosting, 2 classes, 10k x 28",
        lambda s: noisy_classes(s.rows(10_000)),
        everybody(threads=(THREADS, 1)),
        auc_and_log_loss,
        unit="ms",
    ),
    Timed(
        "gradient boosting, 2 classes, 1,000 x 28",
        lambda s: noisy_classes(1_000),
        everybody(threads=(THREADS, 1)),
        auc_and_log_loss,
        unit="ms",
    ),
    Timed(
        "gradient boosting, 7 uneven classes, 100k x 54",
        lambda s: cover_types(s.rows(100_000)),
        everybody(rounds={**dict.fromkeys(PEERS, 2), "YDF": 1}),
        shares_error_and_log_loss,
    ),
    # Without YDF: its search over long lists of levels takes minutes here.
    Timed(
        "gradient boosting, ten categories and ten numbers, missing values, 100k rows",
        lambda s: mixed_columns(s.rows(100_000)),
        everybody(rounds={"CatBoost": 2}, peers=[name for name in PEERS if name != "YDF"]),
        auc_and_log_loss,
    ),
    Timed(
        "gradient boosting, regression, 100k x 28",
        lambda s: noisy_numbers(s.rows(100_000)),
        everybody("numbers", rounds={"YDF": 1}),
        root_mean_square,
    ),
]


class Logistic:
    """Logistic loss as a user writes it: ln(1 + exp(F)) - y F for y in {0, 1}."""

    kind = "binary"

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Loss of every row."""
        return np.asarray(np.logaddexp(0.0, F) - y * F)

    def gradient(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        """First derivative by the score."""
        return np.asarray(1.0 / (1.0 + np.exp(-F)) - y)

    def hessian(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Second derivative by the score."""
        share = 1.0 / (1.0 + np.exp(-F))
        return np.asarray(share * (1.0 - share))


OURS_ALONE: list[Task] = [
    Timed(
        "gradient boosting, a loss of the user's own in NumPy, 100k x 28",
        lambda s: noisy_classes(s.rows(100_000)),
        [
            mine(Job(), loss=Logistic()),
            mine(Job(), label="weald, built-in loss"),
        ],
        auc_and_log_loss,
    ),
    Timed(
        "gradient boosting, 100 x 28",
        lambda s: noisy_classes(100),
        [
            mine(Job()),
            mine(Job(threads=1), label="weald, one thread"),
        ],
        auc_and_log_loss,
        calls=5,
        unit="ms",
    ),
]


def our_predictor(model: Any, threads: int) -> Predictor:
    """Ask a copy of the estimator that has the number of threads."""
    asked = copy.copy(model).set_params(n_jobs=threads)
    return cast(Predictor, getattr(asked, "predict_proba", asked.predict))


LIBRARIES = {OURS: Library(ours, as_they_are, our_predictor), **PEERS}

_FITTED: dict[tuple[str, int], Any] = {}


def predicts(name: str, rows: int, threads: int) -> Contender:
    """Predict the class shares of the first test rows with a model fitted once for all tasks."""
    library = LIBRARIES[name]

    def prepare(data: Data) -> Predictor:
        key = (name, len(data.X))
        if key not in _FITTED:
            _FITTED[key] = library.make(Job()).fit(data.X, data.y)
        return library.predictor(_FITTED[key], threads)

    return Contender(
        name,
        run=lambda data, predict: predict(data.X_test[:rows]),
        prepare=prepare,
        threads=threads,
    )


def judge_shares(shares: np.ndarray, data: Data) -> dict[str, float]:
    """Judge the second class's shares, whether or not the first's come along."""
    return of_shares(shares[:, 1] if shares.ndim == 2 else shares, data)


PREDICTIONS: list[Task] = [
    Timed(
        "class shares of 100k rows, 100 boosted trees",
        lambda s: noisy_classes(s.rows(100_000), n_test=100_000),
        [predicts(name, 100_000, t) for name in LIBRARIES for t in (THREADS, 1)],
        judge_shares,
        unit="ms",
    ),
    Timed(
        "class shares of 1 row, 100 boosted trees",
        lambda s: noisy_classes(s.rows(100_000), n_test=100_000),
        [predicts(OURS, 1, THREADS), *(predicts(name, 1, 1) for name in LIBRARIES)],
        calls=50,
        unit="us",
    ),
]

MEMORY: list[Task] = [
    Memory(
        # The peak is reached within the first trees.
        "peak memory, gradient boosting, 10 trees, 1M x 28",
        lambda s: noisy_classes(s.rows(1_000_000), n_test=100),
        everybody(trees=10),
    ),
]

TASKS: list[Task] = [*FITS, *OURS_ALONE, *PREDICTIONS, *MEMORY]
