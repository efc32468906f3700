"""Small versions of all cells of the matrix, fitted by weald, with a hash of what they predict.

`make portable` runs this in the ordinary build and in one without vector instructions.
"""

from dataclasses import replace
from functools import cache
from hashlib import sha256

import numpy as np

from bench.matrix.cells import CELLS, Cell, draw
from bench.task import OURS
from bench.tasks.libraries import Job


def small(cell, rows=400):
    """The cell with few rows."""
    return Cell(cell.method, cell.target, shrunk(cell.table, rows))


@cache
def shrunk(table, rows):
    return replace(table, rows=rows, test_rows=200)


def predicted(cell, threads, trees=3):
    """Fit a few trees to a small cell and predict its test rows."""
    data = draw(cell.table, cell.target)
    job = Job(cell.target.kind, threads, trees, outputs=cell.target.outputs)
    library = cell.method.libraries[OURS]
    model = library.make(job).fit(data.X, data.y, sample_weight=data.weight)
    return np.ascontiguousarray(library.predictor(model, threads)(data.X_test))


def main():
    for cell in CELLS:
        print(sha256(predicted(small(cell), 2).tobytes()).hexdigest()[:16], cell.name)


if __name__ == "__main__":
    main()
