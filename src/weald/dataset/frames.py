"""Columns side by side, in a data frame of the first library that is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from weald.dataset.cells import Coded, FloatArray

__all__ = ["join_frames", "make_frame"]


@cache
def _library() -> str | None:
    found = (one for one in ("pyarrow", "pandas", "polars") if importlib.util.find_spec(one))
    return next(found, None)


def make_frame(columns: dict[str, FloatArray | Coded]) -> Any:
    """A table for the estimators: a data frame or, without a library for it, an array.

    Parameters
    ----------
    columns : dict
        Numbers, or labels.
    """
    library = _library()
    if library == "pyarrow":
        return _arrow(columns)
    plain = {
        name: values.texts() if isinstance(values, Coded) else values
        for name, values in columns.items()
    }
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(plain)
    if library == "polars":
        import polars as pl

        kinds = {
            name: pl.String if isinstance(values, Coded) else pl.Float64
            for name, values in columns.items()
        }
        return pl.DataFrame({name: list(values) for name, values in plain.items()}, schema=kinds)
    if not any(isinstance(values, Coded) for values in columns.values()):
        return np.column_stack(list(plain.values()))
    array = np.empty((len(next(iter(plain.values()))), len(plain)), dtype=object)
    for j, values in enumerate(plain.values()):
        array[:, j] = values
    return array


def join_frames(parts: Sequence[Any]) -> Any:
    """Tables that `make_frame` made, one below the other."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return nw.concat([nw.from_native(part, eager_only=True) for part in parts]).to_native()


def _arrow(columns: dict[str, FloatArray | Coded]) -> Any:
    import pyarrow as pa

    arrays = {}
    for name, values in columns.items():
        if isinstance(values, Coded):
            codes = pa.array(values.codes, mask=values.codes < 0)
            arrays[name] = pa.DictionaryArray.from_arrays(
                codes, pa.array(values.labels, pa.string())
            )
        else:
            arrays[name] = pa.array(values)
    return pa.table(arrays)
