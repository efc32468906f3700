"""The same bits in every cell of the matrix, whatever the number of threads."""

import numpy as np
import pytest

from bench.matrix.cells import CELLS
from gate import some

from .small import predicted, small


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("cell", some(CELLS, one_in=3), ids=lambda cell: cell.name)
def test_threads(cell):
    cell = small(cell)
    one = predicted(cell, 1)
    for threads in (2, 8):
        assert np.array_equal(one, predicted(cell, threads))
