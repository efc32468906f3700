"""The peers of gradient boosting, set up to do what ours does.

100 trees of 31 leaves, rate 0.1, 255 bins, penalty 1 on squared leaf values, and 20 rows in a leaf
where a library counts rows. CatBoost's symmetric trees of depth 5 have 32 leaves. The libraries are
imported when their row is run: they take a second each.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np

from bench.categories import as_they_are, at_most_255_levels, by_columns, words
from bench.tasks.libraries import Job, Library, Predictor

RATE = 0.1
LEAVES = 31
BINS = 255
PENALTY = 1.0
FEWEST_ROWS = 20


def lightgbm(job: Job) -> Any:
    """LightGBM's estimator."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    return (LGBMClassifier if job.kind == "classes" else LGBMRegressor)(
        n_estimators=job.trees,
        learning_rate=RATE,
        num_leaves=LEAVES,
        max_bin=BINS,
        reg_lambda=PENALTY,
        min_child_samples=FEWEST_ROWS,
        n_jobs=job.threads,
        verbosity=-1,
    )


def xgboost(job: Job) -> Any:
    """XGBoost's estimator; it bounds a leaf by its hessians, which are its rows for numbers."""
    from xgboost import XGBClassifier, XGBRegressor

    return (XGBClassifier if job.kind == "classes" else XGBRegressor)(
        n_estimators=job.trees,
        learning_rate=RATE,
        tree_method="hist",
        grow_policy="lossguide",
        max_leaves=LEAVES,
        max_depth=0,
        max_bin=BINS,
        reg_lambda=PENALTY,
        min_child_weight=FEWEST_ROWS if job.kind == "numbers" else 1.0,
        enable_categorical=bool(job.categorical),
        n_jobs=job.threads,
    )


def histogram(job: Job) -> Any:
    """scikit-learn's histogram boosting; its threads are limited from outside."""
    from sklearn import ensemble

    return getattr(ensemble, f"HistGradientBoosting{job.estimator}")(
        max_iter=job.trees,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        max_bins=BINS,
        l2_regularization=PENALTY,
        min_samples_leaf=FEWEST_ROWS,
        early_stopping=False,
    )


def catboost(job: Job) -> Any:
    """CatBoost's estimator, with what the others do not do switched off.

    That is: no bootstrap, one Newton step per leaf, no report of the loss after every tree. Each
    makes it faster here.
    """
    from catboost import CatBoostClassifier, CatBoostRegressor

    several = {"loss_function": "MultiRMSE"} if job.outputs > 1 else {}
    return (CatBoostClassifier if job.kind == "classes" else CatBoostRegressor)(
        **several,
        iterations=job.trees,
        learning_rate=RATE,
        depth=5,
        border_count=BINS - 1,
        l2_leaf_reg=PENALTY,
        bootstrap_type="No",
        leaf_estimation_iterations=1,
        metric_period=job.trees,
        cat_features=list(job.categorical),
        thread_count=job.threads,
        random_seed=0,
        allow_writing_files=False,
        logging_level="Silent",
    )


class Ydf:
    """YDF's gradient boosting behind the few names that the judges use."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def fit(self, X: np.ndarray, y: np.ndarray) -> Ydf:
        """Train on the array; what YDF makes of it first is part of the fit."""
        import ydf

        task = ydf.Task.CLASSIFICATION if self.job.kind == "classes" else ydf.Task.REGRESSION
        learner = ydf.GradientBoostedTreesLearner(
            label="y",
            task=task,
            num_trees=self.job.trees,
            shrinkage=RATE,
            growing_strategy="BEST_FIRST_GLOBAL",
            max_num_nodes=LEAVES,
            max_depth=-1,
            discretize_numerical_columns=True,
            num_discretized_numerical_bins=BINS,
            use_hessian_gain=True,
            l2_regularization=PENALTY,
            min_examples=FEWEST_ROWS,
            validation_ratio=0.0,
            early_stopping="NONE",
            num_threads=self.job.threads,
        )
        self.model = learner.train({"x": X, "y": y}, verbose=0)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Shares of all classes, in the order of their numbers."""
        shares = self.model.predict({"x": X})
        if shares.ndim == 1:
            return np.column_stack([1.0 - shares, shares])
        return np.asarray(shares[:, np.argsort([int(name) for name in self.model.label_classes()])])

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Most likely class, or the number itself."""
        if self.job.kind == "numbers":
            return np.asarray(self.model.predict({"x": X}))
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def lightgbm_predictor(model: Any, threads: int) -> Predictor:
    """Ask the booster, past the checks of the estimator."""
    return partial(model.booster_.predict, num_threads=threads)


def xgboost_predictor(model: Any, threads: int) -> Predictor:
    """Ask a copy of the booster in place: the rows are not copied."""
    booster = model.get_booster().copy()
    booster.set_param({"nthread": threads})
    return partial(booster.inplace_predict, validate_features=False)


def histogram_predictor(model: Any, threads: int) -> Predictor:
    """There is one call only; its threads are limited from outside."""
    return cast(Predictor, getattr(model, "predict_proba", model.predict))


def catboost_predictor(model: Any, threads: int) -> Predictor:
    """Ask the estimator."""
    return partial(getattr(model, "predict_proba", model.predict), thread_count=threads)


def ydf_predictor(model: Ydf, threads: int) -> Predictor:
    """Ask the model below our wrapper."""
    predict = model.model.predict
    return lambda X: np.asarray(predict({"x": X}, num_threads=threads))


PEERS: dict[str, Library] = {
    "LightGBM": Library(lightgbm, as_they_are, lightgbm_predictor),
    "XGBoost": Library(xgboost, as_they_are, xgboost_predictor),
    "scikit-learn HGB": Library(histogram, at_most_255_levels, histogram_predictor, by_columns),
    "CatBoost": Library(catboost, words, catboost_predictor, by_columns),
    "YDF": Library(Ydf, as_they_are, ydf_predictor),
}
