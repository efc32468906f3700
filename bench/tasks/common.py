"""Short forms shared by the task files: contenders that fit, and ways to judge a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from bench.data import Data
from bench.task import OURS, Contender

Maker = Callable[[int], Any]
"""Makes an unfitted estimator for a number of threads."""


def fits(library: str, make: Maker, threads: int = 1, rounds: int | None = None) -> Contender:
    """Take part by fitting an estimator to the training rows."""
    return Contender(
        library,
        run=lambda data, _: make(threads).fit(data.X, data.y),
        threads=threads,
        rounds=rounds,
    )


def predicts(library: str, make: Maker, rows: int, threads: int = 1) -> Contender:
    """Take part by predicting the first test rows with an estimator fitted beforehand."""
    return Contender(
        library,
        run=lambda data, model: model.predict(data.X_test[:rows]),
        prepare=lambda data: make(threads).fit(data.X, data.y),
        threads=threads,
    )


def against(
    ours: Maker,
    theirs: Callable[[], Any],
    peer: str = "scikit-learn",
    threads: tuple[int, ...] = (1, 2),
) -> list[Contender]:
    """Fit ours at several numbers of threads against one serial peer."""
    return [*(fits(OURS, ours, t) for t in threads), fits(peer, lambda _: theirs())]


def error(model: Any, data: Data) -> dict[str, float]:
    """Share of wrong classes on the test rows, and the tree's leaves."""
    wrong = np.mean(model.predict(data.X_test) != data.y_test)
    return {"error": float(wrong), "leaves": float(model.get_n_leaves())}


def error_and_log_loss(model: Any, data: Data) -> dict[str, float]:
    """Share of wrong classes and log loss on the test rows."""
    loss = log_loss(data.y_test, model.predict_proba(data.X_test), labels=model.classes_)
    return {"error": error(model, data)["error"], "log loss": float(loss)}


def auc_and_log_loss(model: Any, data: Data) -> dict[str, float]:
    """Area under the ROC curve and log loss of two classes on the test rows.

    An ensemble of n fully grown trees may give a class no share at all, which log loss would
    punish without bound: shares are clipped at 0.1 %.
    """
    return of_shares(model.predict_proba(data.X_test)[:, 1], data)


def of_shares(share: np.ndarray, data: Data) -> dict[str, float]:
    """Area under the ROC curve and log loss of the second class's shares."""
    clipped = np.clip(np.asarray(share, dtype=np.float64), 1e-3, 1.0 - 1e-3)
    return {
        "AUC": float(roc_auc_score(data.y_test, share)),
        "log loss": float(log_loss(data.y_test, clipped)),
    }


def shares_error_and_log_loss(model: Any, data: Data) -> dict[str, float]:
    """Share of wrong classes and log loss of any number of classes, clipped as above."""
    shares = np.clip(model.predict_proba(data.X_test), 1e-3, None)
    shares /= shares.sum(axis=1, keepdims=True)
    wrong = np.mean(model.predict(data.X_test) != data.y_test)
    loss = log_loss(data.y_test, shares, labels=model.classes_)
    return {"error": float(wrong), "log loss": float(loss)}


def root_mean_square(model: Any, data: Data) -> dict[str, float]:
    """Root mean squared error on the test rows."""
    return root_mean_square_of(model.predict(data.X_test), data)


def root_mean_square_of(predicted: np.ndarray, data: Data) -> dict[str, float]:
    """Root mean squared error of predictions of the test rows."""
    return {"rmse": float(np.sqrt(np.mean((predicted - data.y_test) ** 2)))}


def rmse(model: Any, data: Data) -> dict[str, float]:
    """Root mean squared error on the test rows, and the tree's leaves."""
    return {**root_mean_square(model, data), "leaves": float(model.get_n_leaves())}


def prediction_error(predicted: Any, data: Data) -> dict[str, float]:
    """Share of wrong classes where the timed call was the prediction itself."""
    return {"error": float(np.mean(predicted != data.y_test[: len(predicted)]))}
