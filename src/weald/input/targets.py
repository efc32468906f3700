"""What is given to ``fit``, read in one place for trees and forests.

:class:`LabelTarget` (labels in, shares out) and :class:`NumberTarget` (numbers in, numbers out) are
mixed into an estimator that stands on :class:`TableEstimator`. They note classes and outputs on it
and make the engine's target.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight

from weald import _engine as engine
from weald._engine import FloatArray
from weald.input.labels import check_squares, check_target, encode_labels
from weald.input.state import SavedEstimator, check_attributes
from weald.input.table import Table
from weald.params.criteria import CLASSIFICATION_CRITERIA, CRITERIA, REGRESSION_CRITERIA
from weald.params.warnings import SharedBinsWarning, warn_user

Weights = FloatArray | None


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if the block fails: an old model must not mix with a new one."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def alike(a: Any, b: Any) -> bool:
    """Whether two arrays, or lists of arrays and None, hold the same."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b))


def warn_of_shared_bins(estimator: Any, table: Table, max_bins: int) -> None:
    """Say it if a column has more categories than bins (0: as many bins as needed)."""
    named = set(table.near_unique(None))  # of these something else was said
    every = enumerate(table.n_categories)
    crowded = [j for j, count in every if count > max_bins > 0 and j not in named]
    if not crowded:
        return
    first, count = crowded[0], table.n_categories[crowded[0]]
    names = getattr(estimator, "feature_names_in_", range(len(table.categories)))
    others = f", the first of {len(crowded)} such columns," if crowded[1:] else ""
    warn_user(
        f"Column {names[first]!r}{others} has {count} categories, but max_bins={max_bins} keeps "
        f"only the {max_bins - 1} most frequent apart and takes the other {count - max_bins + 1} "
        "for one: max_bins=None keeps all apart, which takes longer and seldom helps.",
        SharedBinsWarning,
    )


def balance(codes: npt.NDArray[Any], n_classes: Any, weights: Weights) -> FloatArray:
    """Weight of each row by the inverse of its class's weight; of several outputs, the product.

    Parameters
    ----------
    codes : array of shape (n, n_outputs)
    n_classes : int or sequence of int
        Of each output.
    weights : array of shape (n,), optional
    """
    by_class = np.ones(len(codes))
    for k, n in enumerate(np.atleast_1d(n_classes)):
        mass = np.bincount(codes[:, k], weights=weights, minlength=n).astype(np.float64)
        there = mass > 0
        price = np.zeros(n)
        price[there] = mass.sum() / (np.count_nonzero(there) * mass[there])
        by_class *= price[codes[:, k]]
    return by_class


@dataclass(frozen=True)
class _Chosen:
    """A word that was given for a parameter, and what it stood for in the fit."""

    word: str
    value: Any

    def __repr__(self) -> str:
        shown = f"{self.value:.4g}" if isinstance(self.value, float) else repr(self.value)
        return f"{self.word!r} ({shown})"


class TableEstimator(SavedEstimator, BaseEstimator):
    """An estimator that learns from a table and one or more targets."""

    n_outputs_: int
    _criteria: dict[str, str]

    @abstractmethod
    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        """Check the targets, note classes and outputs on self; codes or numbers (n, outputs)."""

    @abstractmethod
    def _engine_target(self, y: npt.NDArray[Any], weights: Weights) -> engine.Target: ...

    def _row_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        """Weights of the rows, those of their classes included."""
        return weights

    def _check_state(self) -> None:
        check_attributes(self)

    def _get_params_html(self, *args: Any, **kwargs: Any) -> Any:
        """Parameters for the HTML picture: words such as "auto" with what they stood for."""
        params = super()._get_params_html(*args, **kwargs)
        for name, word in list(params.items()):
            if isinstance(word, str):
                found = getattr(self, f"{name}_", word)
                if found != word and isinstance(found, str | Real | None):
                    params[name] = _Chosen(word, found)
        return params

    def _threads(self) -> int:
        return engine.resolve_threads(self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags


def logarithms(shares: Any) -> Any:
    """Natural logarithm of class shares, -inf for none; of several outputs a list, as they are."""
    with np.errstate(divide="ignore"):
        return [np.log(s) for s in shares] if isinstance(shares, list) else np.log(shares)


class LogShares:
    """``predict_log_proba``, of classifiers that have nothing more exact."""

    predict_proba: Any

    def predict_log_proba(self, X: Any) -> Any:
        """Natural logarithm of the class shares."""
        return logarithms(self.predict_proba(X))


class LabelTarget(LogShares, ClassifierMixin):
    """Labels in, class shares out."""

    _criteria = CLASSIFICATION_CRITERIA
    _class_weight_words: tuple[str, ...] = ("balanced",)
    _balances_by_weight = False  # "balanced" goes by the weight of classes, not by their rows
    n_outputs_: int
    # One per output; plain for a single output, as in scikit-learn.
    classes_: Any
    n_classes_: Any

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        labels = encode_labels(y, n)
        self.n_outputs_ = labels.codes.shape[1]
        counts = [len(classes) for classes in labels.classes]
        self.classes_ = labels.classes if labels.multi_output else labels.classes[0]
        self.n_classes_ = counts if labels.multi_output else counts[0]
        if self.monotonic_cst is not None:
            if labels.multi_output:
                raise ValueError("Monotonicity constraints are not supported with multiple outputs")
            if counts[0] > 2:
                raise ValueError(
                    "Monotonicity constraints are not supported with multiclass classification"
                )
        return labels.codes

    def _engine_target(self, y: npt.NDArray[Any], weights: Weights) -> engine.Target:
        return engine.labels(y, np.atleast_1d(self.n_classes_).tolist(), weights)

    def _classes_of(self, output: int) -> npt.NDArray[Any]:
        classes: npt.NDArray[Any] = self.classes_ if self.n_outputs_ == 1 else self.classes_[output]
        return classes

    def _row_weights(self, y: npt.NDArray[Any], weights: Weights) -> Weights:
        if self.class_weight is None:
            return weights
        self._check_class_weight()
        by_class = self._class_weights(y, weights)
        combined: FloatArray = by_class if weights is None else weights * by_class
        if not combined.any():
            raise ValueError("class_weight (with sample_weight) leaves every row without weight.")
        return combined

    def _class_weights(self, y: npt.NDArray[Any], weights: Weights) -> FloatArray:
        """Weight of each row's class (or classes), as `class_weight` gives it."""
        if self._balances_by_weight and isinstance(self.class_weight, str):
            return balance(y, self.n_classes_, weights)
        labels = [self._classes_of(k).take(y[:, k]) for k in range(self.n_outputs_)]
        target = labels[0] if self.n_outputs_ == 1 else np.stack(labels, axis=1)
        by_class: FloatArray = compute_sample_weight(self.class_weight, target)
        return by_class

    def _check_class_weight(self) -> None:
        given = self.class_weight
        words = self._class_weight_words
        if not (isinstance(given, dict | list) or (isinstance(given, str) and given in words)):
            raise ValueError(
                f"class_weight must be None, {', '.join(map(repr, words))}, a dict "
                f"{{label: weight}}, or a list of dicts for several outputs, got {given!r}."
            )
        tables = given if isinstance(given, list) else [given]
        for table in tables:
            for label, weight in table.items() if isinstance(table, dict) else ():
                if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
                    raise ValueError(
                        f"class_weight[{label!r}] must be a finite number >= 0, got {weight!r}."
                    )

    def _most_likely(self, shares: FloatArray, costs: FloatArray | None = None) -> npt.NDArray[Any]:
        """Labels of the largest of the shares (n, n_outputs, max_n_classes), or of least cost."""
        if costs is not None:  # a single output
            shares = -(shares[:, 0, :] @ costs)[:, None, :]
        if self.n_outputs_ == 1:
            labels: npt.NDArray[Any] = self.classes_.take(shares[:, 0, :].argmax(axis=1))
            return labels
        columns = [self.classes_[k].take(c) for k, c in enumerate(shares.argmax(axis=2).T)]
        return np.stack(columns, axis=1)

    def _by_output(self, shares: FloatArray) -> Any:
        """Shares (..., n_outputs, max_n_classes) as users get them: a list if several outputs."""
        if self.n_outputs_ == 1:
            return shares[..., 0, :]
        return [shares[..., k, :n] for k, n in enumerate(self.n_classes_)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class NumberTarget(RegressorMixin):
    """Numbers in, numbers out."""

    _criteria = REGRESSION_CRITERIA
    n_outputs_: int

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        target = check_target(y, n)
        self.n_outputs_ = target.shape[1]
        if self.monotonic_cst is not None and self.n_outputs_ > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs")
        check_squares(target)
        known = isinstance(self.criterion, str) and self.criterion in CRITERIA
        if known and CRITERIA[self.criterion].positive_only:
            name = self.criterion.capitalize()
            if (target < 0).any():
                raise ValueError(
                    f"Some value(s) of y are negative which is not allowed for {name} regression."
                )
            if not (target.sum(axis=0) > 0).all():
                raise ValueError(
                    f"Sum of y is not positive which is necessary for {name} regression."
                )
        return target

    def _engine_target(self, y: npt.NDArray[Any], weights: Weights) -> engine.Target:
        return engine.reals(y, weights)

    def _by_output(self, values: FloatArray) -> FloatArray:
        """Values (..., n_outputs, 1) as users get them: without the axes of length one."""
        return values[..., 0, 0] if self.n_outputs_ == 1 else values[..., 0]
