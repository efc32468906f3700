"""Many rows go down deep trees in step: they get what the same rows get a few at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from weald import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

ROWS, NUMBERS, FEW = 2_600, 5, 500
"""Fewer rows than two thousand walk one by one."""


def table(
    levels: int, missing: float, dtype: str, order: str
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Numbers, two columns of categories (none if there are no levels), and a noisy target."""
    rng = np.random.default_rng(levels)
    X = rng.standard_normal((ROWS, NUMBERS + (2 if levels else 0)))
    X[:, 0] = np.round(X[:, 0])  # ties, zeros of both signs
    effects = rng.normal(size=max(levels, 1))
    y = X[:, :NUMBERS].sum(axis=1) + rng.normal(0, 2, ROWS)
    for j in range(NUMBERS, X.shape[1]):
        X[:, j] = rng.integers(levels, size=ROWS)
        y += effects[X[:, j].astype(int)]
    X[rng.random(X.shape) < missing] = np.nan
    return np.asarray(X, dtype=dtype, order=order), y, list(range(NUMBERS, X.shape[1]))  # type: ignore[call-overload]


@pytest.mark.filterwarnings("ignore::weald.params.warnings.SharedBinsWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("levels", [0, 7, 30, 31, 62, 63, 400])
def test_many_rows_at_once_as_few_at_a_time(levels: int, missing: float, dtype: str) -> None:
    """Categories that are bits of a key, and those that are more than it has bits."""
    X, y, categories = table(levels, missing, dtype, "C")
    settings = {"n_estimators": 4, "random_state": 0, "categorical_features": categories or None}
    for model in (RandomForestClassifier, ExtraTreesClassifier):
        forest = model(**settings).fit(X[::2], y[::2] > 0)
        few = [forest.predict_proba(X[i : i + FEW]) for i in range(0, ROWS, FEW)]
        assert_array_equal(forest.predict_proba(X), np.concatenate(few))
    forest = RandomForestRegressor(**settings).fit(X[::2], y[::2])
    few = [forest.predict(X[i : i + FEW]) for i in range(0, ROWS, FEW)]
    assert_array_equal(forest.predict(X), np.concatenate(few))


def test_columns_side_by_side_and_extremes() -> None:
    """Another order of memory, zeros of both signs, and values around each threshold."""
    X, y, _ = table(0, 0.1, "float64", "F")
    forest = RandomForestRegressor(n_estimators=3, random_state=0).fit(X, y)
    tree = forest.estimators_[0].tree_
    asked = np.zeros((ROWS, NUMBERS))
    tests = np.flatnonzero((tree.feature >= 0) & np.isfinite(tree.threshold))
    for i in range(ROWS):
        node = tests[i % len(tests)]
        at = tree.threshold[node]
        asked[i, tree.feature[node]] = [at, np.nextafter(at, -9e9), np.nextafter(at, 9e9)][i % 3]
    for rows in (X, asked, np.copysign(0.0, asked), asked.astype(np.float32)):
        few = [forest.predict(rows[i : i + FEW]) for i in range(0, ROWS, FEW)]
        assert_array_equal(forest.predict(rows), np.concatenate(few))
