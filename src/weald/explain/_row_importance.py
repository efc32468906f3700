"""The importance of columns to a whole model, measured on any rows by any score."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from weald._engine import FloatArray, IntArray, check_n_jobs
from weald.input.labels import check_weights
from weald.input.raw_table import column_names, gather_cells, keep_X_predict, take_rows
from weald.members.side_by_side import in_threads

__all__ = ["RowScore", "shuffled"]


class RowScore:
    """How good a model is on rows, as they are or with shuffled columns.

    Parameters
    ----------
    model : fitted classifier or regressor
        Of any library, or a pipeline that ends in one.
    X, y, sample_weight : rows of any kind
        Those of weight 0 count as absent.
    scoring : str, callable or None
        As in scikit-learn; None is the model's own ``score``.
    """

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any, scoring: Any) -> None:
        check_is_fitted(model)
        if X is None or y is None:
            raise ValueError(
                "kind='permutation' scores the model on rows, and it keeps none: pass X and y."
            )
        if scoring is not None and not isinstance(scoring, str) and not callable(scoring):
            raise ValueError(
                "scoring must be None, the name of a scorer of scikit-learn or a function of "
                f"model, X and y, got {scoring!r}."
            )
        self._model, self._scorer = model, check_scoring(model, scoring=scoring)
        self.table: Any = keep_X_predict(model, X)
        self._y = np.asarray(y)
        n = self.table.shape[0]
        if self._y.ndim == 0 or len(self._y) != n:
            rows = "no" if self._y.ndim == 0 else len(self._y)
            raise ValueError(f"y has {rows} rows but X has {n}: give one target for each row.")
        self._weights = check_weights(sample_weight, n)
        if self._weights is not None and not self._weights.all():
            present = np.flatnonzero(self._weights)
            self.table, self._y = take_rows(self.table, present), self._y[present]
            self._weights = self._weights[present]

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, if the table has any."""
        names = column_names(self.table)
        return None if names is None else [str(name) for name in names]

    def __len__(self) -> int:
        return int(self.table.shape[0])

    def of(self, table: Any) -> float:
        """The score on a table of these rows; the more the better."""
        weights = {} if self._weights is None else {"sample_weight": self._weights}
        score = float(self._scorer(self._model, table, self._y, **weights))
        if not np.isfinite(score):
            raise ValueError(f"The score of these {len(self)} rows is {score}: give more rows.")
        return score

    def falls(
        self, columns: list[IntArray], n_repeats: int, seed: int, n_jobs: int | None
    ) -> FloatArray:
        """By how much the score falls when columns are shuffled, shape (n_repeats, n_groups).

        All columns see the same shuffles: what one gets does not depend on the others asked.
        """
        orders = [np.random.default_rng([seed, r]).permutation(len(self)) for r in range(n_repeats)]
        before = self.of(self.table)
        calls = [partial(self._of_shuffled, one, order) for order in orders for one in columns]
        after = in_threads(calls, check_n_jobs(n_jobs))
        falls: FloatArray = before - np.array(after).reshape(n_repeats, len(columns))
        return falls

    def _of_shuffled(self, columns: IntArray, order: IntArray) -> float:
        return self.of(shuffled(self.table, columns, order))


def shuffled(table: Any, columns: IntArray, order: IntArray) -> Any:
    """A copy of the table with the rows of the given columns in another order."""
    moved = set(columns.tolist())
    return gather_cells(table, [order if j in moved else None for j in range(table.shape[1])])
