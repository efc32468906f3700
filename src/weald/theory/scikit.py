"""Adapters for scikit-learn's ensembles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from weald._engine import FloatArray
from weald.combining import ballots
from weald.input.raw_table import take_columns
from weald.members.foreign import member_shares
from weald.theory.view import Counts, EnsembleView

__all__ = [
    "labels_of",
    "most_leaves",
    "one_column",
    "read_adaboost_classifier",
    "read_adaboost_regressor",
    "read_bagging",
    "read_forest",
    "read_gradient_boosting",
    "read_hist_gradient_boosting",
    "read_voting",
]


def labels_of(model: Any) -> npt.NDArray[Any] | None:
    """The classes of a classifier of one output; None for regressors of one output."""
    listed = isinstance(getattr(model, "classes_", None), list)  # for each output
    if listed or int(getattr(model, "n_outputs_", 1)) > 1:
        raise ValueError(
            f"This {type(model).__name__} has several outputs: look at one output at a time."
        )
    return np.asarray(model.classes_) if is_classifier(model) else None


def one_column(raw: FloatArray) -> FloatArray:
    """Raw values (n, 1) as (n,); those of several classes as they are."""
    return raw[:, 0] if raw.shape[1] == 1 else raw


def _checked(model: Any, X: Any) -> Any:
    """X as the members were given it: no data frame, whatever is missing left to them."""
    return validate_data(
        model,
        X,
        reset=False,
        dtype=None,
        accept_sparse=["csr", "csc"],
        ensure_all_finite=False,
    )


def _mean_of_trees(model: Any, X: Any) -> Iterator[FloatArray]:
    rows = model._validate_X_predict(X)  # once for all trees, as the forest does it
    for tree in model.estimators_:
        if is_classifier(model):
            yield tree.predict_proba(rows, check_input=False)
        else:
            yield tree.predict(rows, check_input=False)


def most_leaves(members: Any) -> int | None:
    """The most leaves of a member, if all members are trees."""
    if not all(hasattr(member, "get_n_leaves") for member in members):
        return None
    return max(int(member.get_n_leaves()) for member in members)


def _counts(model: Any, n: int) -> Counts:
    return np.stack(
        [np.bincount(rows, minlength=n).astype(np.uint32) for rows in model.estimators_samples_]
    )


def read_forest(model: Any) -> EnsembleView:
    """Random forests and extra-trees."""
    classes = labels_of(model)

    def bags() -> Counts | None:
        return _counts(model, model._n_samples) if model.bootstrap else None

    return EnsembleView(
        type(model).__name__,
        classes,
        np.ones(len(model.estimators_)),
        "mean",
        answers=lambda X: _mean_of_trees(model, X),
        bags=bags,
        leaves=lambda: most_leaves(model.estimators_),
        n_columns=model.n_features_in_,
    )


def read_bagging(model: Any) -> EnsembleView:
    """Bagging; its members were fitted to class codes, and each to its columns."""
    classes = labels_of(model)

    def answers(X: Any) -> Iterator[FloatArray]:
        rows = _checked(model, X)
        for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
            part = take_columns(rows, columns)
            if classes is None:
                yield np.asarray(member.predict(part), dtype=np.float64)
            else:
                yield member_shares(member, part, n_classes=len(classes), vote=False)

    def bags() -> Counts | None:
        counts = _counts(model, model._n_samples)
        return None if (counts == 1).all() else counts

    shares = hasattr(model.estimators_[0], "predict_proba")
    return EnsembleView(
        type(model).__name__,
        classes,
        np.ones(len(model.estimators_)),
        "votes" if classes is not None and not shares else "mean",
        answers=answers,
        bags=bags,
        leaves=lambda: most_leaves(model.estimators_),
        n_columns=model.n_features_in_,
    )


def read_adaboost_classifier(model: Any) -> EnsembleView:
    """Discrete AdaBoost (SAMME), whose members know the labels; alphas are half its weights."""
    classes = labels_of(model)
    assert classes is not None

    def answers(X: Any) -> Iterator[FloatArray]:
        rows = _checked(model, X)
        for member in model.estimators_:
            codes = np.searchsorted(classes, member.predict(rows))
            yield ballots(codes, len(classes))

    return EnsembleView(
        type(model).__name__,
        classes,
        np.asarray(model.estimator_weights_[: len(model.estimators_)]) / 2,
        "votes",
        answers=answers,
        leaves=lambda: most_leaves(model.estimators_),
        n_columns=model.n_features_in_,
    )


def read_adaboost_regressor(model: Any) -> EnsembleView:
    """AdaBoost.R2, a weighted median."""

    def answers(X: Any) -> Iterator[FloatArray]:
        rows = _checked(model, X)
        for member in model.estimators_:
            yield np.asarray(member.predict(rows), dtype=np.float64)

    weights = np.asarray(model.estimator_weights_[: len(model.estimators_)])
    return EnsembleView(type(model).__name__, None, weights, "median", answers=answers)


def read_gradient_boosting(model: Any) -> EnsembleView:
    """Gradient boosting; a member is a round: one tree, or one for each class."""
    classes = labels_of(model)
    grid = model.estimators_

    def terms(X: Any) -> Iterator[FloatArray]:
        rows = grid[0, 0]._validate_X_predict(X, check_input=True)
        for trees in grid:
            each = [tree.predict(rows, check_input=False) for tree in trees]
            yield one_column(np.stack(each, axis=1))

    def start(X: Any) -> FloatArray:
        return one_column(model._raw_predict_init(X))

    return EnsembleView(
        type(model).__name__,
        classes,
        np.full(len(grid), float(model.learning_rate)),
        "sum",
        added=terms,
        begin=start,
        leaves=lambda: most_leaves(grid.ravel()),
        n_columns=model.n_features_in_,
    )


def read_hist_gradient_boosting(model: Any) -> EnsembleView:
    """Histogram gradient boosting; terms are what the stages of its raw prediction differ by."""
    classes = labels_of(model)

    def terms(X: Any) -> Iterator[FloatArray]:
        before = np.asarray(model._baseline_prediction)
        for raw in model._staged_raw_predict(X):
            yield one_column(raw - before)
            before = raw.copy()

    def start(X: Any) -> FloatArray:
        return one_column(np.asarray(model._baseline_prediction))

    return EnsembleView(
        type(model).__name__,
        classes,
        np.ones(model.n_iter_),
        "sum",
        added=terms,
        begin=start,
    )


def read_voting(model: Any) -> EnsembleView:
    """Voting; its members were fitted to class codes, and to the table as it is."""
    classes = labels_of(model)
    vote = getattr(model, "voting", "soft") == "hard"

    def answers(X: Any) -> Iterator[FloatArray]:
        rows = np.asarray(X) if isinstance(X, list | tuple) else X
        for member in model.estimators_:
            if classes is None:
                yield np.asarray(member.predict(rows), dtype=np.float64)
            else:
                yield member_shares(member, rows, n_classes=len(classes), vote=vote)

    given = model._weights_not_none
    weights = np.ones(len(model.estimators_)) if given is None else np.asarray(given, dtype=float)
    return EnsembleView(
        type(model).__name__,
        classes,
        weights,
        "votes" if vote and classes is not None else "mean",
        answers=answers,
    )
