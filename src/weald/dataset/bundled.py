"""Well-known tables that come with scikit-learn, by name."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weald.dataset.cells import Numbers, PlainText
from weald.dataset.errors import DataError, suggestion
from weald.dataset.sources import Block, Source

__all__ = ["BUNDLED", "bundled"]

# The tables, and how their target is called.
BUNDLED = {
    "iris": "species",
    "wine": "cultivar",
    "digits": "digit",
    "breast_cancer": "diagnosis",
    "diabetes": "progression",
}


def bundled(name: str) -> Source:
    """A bundled table; its target is the last column."""
    from sklearn import datasets

    if name not in BUNDLED:
        raise DataError(
            f"Unknown data {name!r}: give one of {', '.join(BUNDLED)}, or the path of a file "
            f"without --data.{suggestion(name, BUNDLED)}"
        )
    if name == "diabetes":
        bunch = datasets.load_diabetes(scaled=False)  # in real units, so that rules can be read
    else:
        bunch = getattr(datasets, f"load_{name}")()
    columns: Block = {
        str(column): Numbers(np.asarray(bunch.data[:, j], dtype=np.float64))
        for j, column in enumerate(bunch.feature_names)
    }
    if name == "diabetes":
        columns[BUNDLED[name]] = Numbers(np.asarray(bunch.target, dtype=np.float64))
    else:
        labels = np.asarray(bunch.target_names)[bunch.target]
        columns[BUNDLED[name]] = PlainText([str(label) for label in labels])

    def blocks(wanted: list[str]) -> Iterator[Block]:
        yield {column: columns[column] for column in wanted}

    return Source(name, list(columns), (), blocks, {})
