"""Categorical columns in the forms that the peers take, made from pandas' own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

Inputs: TypeAlias = Any
"""A float matrix, a sparse one, or a pandas frame where some columns are categories."""

Converter = Callable[[Inputs], Inputs]


def categorical(X: Inputs) -> list[str]:
    """Names of the categorical columns; a matrix has none."""
    if not isinstance(X, pd.DataFrame):
        return []
    return [name for name in X if X[name].dtype == "category"]


def as_they_are(X: Inputs) -> Converter:
    """Change nothing."""
    return lambda inputs: inputs


def at_most_255_levels(X: Inputs) -> Converter:
    """Merge the rarest levels of a long column into one: scikit-learn takes no more than 255."""
    frequent = {
        name: X[name].value_counts().index[:254]
        for name in categorical(X)
        if X[name].nunique() > 255
    }

    def merge(column: Any, kept: Any) -> Any:
        rest = ~(column.isin(kept) | column.isna())
        levels = pd.CategoricalDtype([*kept, "(rest)"])
        return column.astype(object).mask(rest, "(rest)").astype(levels)

    def convert(inputs: Inputs) -> Inputs:
        if not frequent:
            return inputs
        return inputs.assign(**{name: merge(inputs[name], kept) for name, kept in frequent.items()})

    return convert


def words(X: Inputs) -> Converter:
    """Categories as strings, and "missing" as one of them: CatBoost takes no empty category."""
    names = categorical(X)

    def convert(inputs: Inputs) -> Inputs:
        if not names:
            return inputs
        return inputs.assign(
            **{name: inputs[name].astype(object).fillna("missing").astype(str) for name in names}
        )

    return convert


def codes(X: Inputs) -> Converter:
    """Numbers in place of the categories: those of scikit-learn's trees that know none."""
    levels = {name: X[name].cat.categories for name in categorical(X)}

    def convert(inputs: Inputs) -> Inputs:
        if not levels:
            return inputs
        places = {name: known.get_indexer(inputs[name]) for name, known in levels.items()}
        return inputs.assign(**places).to_numpy(dtype=np.float32)

    return convert


def by_columns(X: Inputs) -> Inputs:
    """A matrix column by column in memory, which binning likes a little better."""
    return np.asfortranarray(X) if isinstance(X, np.ndarray) else X


def sparse_by_columns(X: Inputs) -> Inputs:
    """A sparse matrix column by column; a dense one is as good, or better, row by row."""
    return X.tocsc() if hasattr(X, "tocsc") else X
