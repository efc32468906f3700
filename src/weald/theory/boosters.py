"""Adapters for LightGBM, XGBoost and CatBoost, through their estimators of scikit-learn's kind.

Each sums up trees, so a member is a round, and says by how much it moves the raw prediction.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names

from weald._engine import FloatArray
from weald.theory.scikit import labels_of, one_column
from weald.theory.view import EnsembleView

__all__ = ["read_catboost", "read_lightgbm", "read_xgboost"]


_ROUNDS = 64  # whose leaves are asked for at a time


def _view(model: Any, n_rounds: int, terms: Any, start: Any, weight: float = 1.0) -> EnsembleView:
    return EnsembleView(
        type(model).__name__,
        labels_of(model),
        np.full(n_rounds, weight),
        "sum",
        added=terms,
        begin=start,
    )


def read_lightgbm(model: Any) -> EnsembleView:
    """LightGBM; its start is in the first tree. Random forests of it are a mean."""
    if model.get_params().get("linear_tree"):
        raise TypeError("LightGBM's trees with linear models in their leaves cannot be read.")
    n_rounds = model.best_iteration_ or model.booster_.current_iteration()
    average = model.get_params()["boosting_type"] == "rf"
    booster, per_round = model.booster_, model.booster_.num_model_per_iteration()

    def leaf_values(tree: int, n: int) -> FloatArray:
        return np.array([booster.get_leaf_output(tree, leaf) for leaf in range(n)])

    def terms(X: Any) -> Iterator[FloatArray]:
        _check_feature_names(model, X, reset=False)  # LightGBM takes columns as they come
        for first in range(0, n_rounds, _ROUNDS):
            # One call for many rounds: a call takes as long as many trees.
            several = min(_ROUNDS, n_rounds - first)
            leaves = model.predict(
                X, pred_leaf=True, start_iteration=first, num_iteration=several
            ).astype(np.int32, copy=False)
            for t in range(several):
                raw = np.empty((len(leaves), per_round))
                for k in range(per_round):
                    of_row = leaves[:, t * per_round + k]
                    tree = (first + t) * per_round + k
                    raw[:, k] = leaf_values(tree, int(of_row.max()) + 1)[of_row]
                yield one_column(raw)

    return _view(model, n_rounds, terms, None, 1 / n_rounds if average else 1.0)


def read_xgboost(model: Any) -> EnsembleView:
    """XGBoost; a base margin of 0 takes the start out of what a round says."""
    if model.get_xgb_params().get("booster") == "gblinear":
        raise TypeError("XGBoost's linear boosters have no rounds that can be read: use trees.")
    booster = model.get_booster()
    best = getattr(model, "best_iteration", None) if booster.attr("best_iteration") else None
    n_rounds = booster.num_boosted_rounds() if best is None else int(best) + 1
    xgboost = sys.modules["xgboost"]  # whoever has a model of it has imported it

    def matrix(X: Any) -> Any:
        return xgboost.DMatrix(
            X, missing=model.missing, enable_categorical=bool(model.enable_categorical)
        )

    def terms(X: Any) -> Iterator[FloatArray]:
        rows = matrix(X)
        n_raw = np.shape(booster.predict(rows, output_margin=True, iteration_range=(0, 1)))[1:]
        rows.set_base_margin(np.zeros((rows.num_row(), *n_raw)))
        for t in range(n_rounds):
            raw = booster.predict(rows, output_margin=True, iteration_range=(t, t + 1))
            yield np.asarray(raw, dtype=np.float64)

    def start(X: Any) -> FloatArray:
        rows = matrix(X)
        first = booster.predict(rows, output_margin=True, iteration_range=(0, 1))
        return np.asarray(first, dtype=np.float64) - next(terms(X))

    return _view(model, n_rounds, terms, start)


def read_catboost(model: Any) -> EnsembleView:
    """CatBoost; the terms are what the stages of its raw prediction differ by."""

    def start(X: Any) -> FloatArray:
        bias = np.atleast_1d(np.asarray(model.get_scale_and_bias()[1], dtype=np.float64))
        return bias if len(bias) == 1 else bias[None, :]

    def terms(X: Any) -> Iterator[FloatArray]:
        before = start(X)
        for stage in model.staged_predict(X, prediction_type="RawFormulaVal"):
            raw = np.asarray(stage, dtype=np.float64)
            yield raw - before
            before = raw

    return _view(model, int(model.tree_count_), terms, start)
