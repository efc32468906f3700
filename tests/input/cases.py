"""Data and helpers that several of these tests use."""

import numpy as np
from sklearn.base import BaseEstimator

from weald.input.table import Table, check_X_fit

NAN = float("nan")
NUMBERS = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


class Reader(BaseEstimator):
    """An estimator that does nothing but read its table."""

    def fit(self, X, **options):
        self.table_ = check_X_fit(self, X, **options)
        self.categories_ = list(self.table_.categories)
        return self


def fit(X, **options) -> Table:
    return Reader().fit(X, **options).table_


def assert_sound(X, shape) -> None:
    """Whatever the door lets through is a clean matrix."""
    assert type(X) is np.ndarray
    assert X.dtype in (np.float32, np.float64)
    assert X.shape == shape
    assert X.flags.c_contiguous
    assert X.flags.aligned
    assert not np.isinf(X).any()


def categories(table) -> list:
    return [None if labels is None else labels.tolist() for labels in table.categories]
