"""The value of a game of two players, given by its matrix, by linear programming."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csc_array

from weald._engine import FloatArray

__all__ = ["solve_matrix_game"]


def solve_matrix_game(rewards: npt.NDArray[Any]) -> tuple[float, FloatArray, FloatArray]:
    """Value, best mixture of the columns and hardest weights of the rows.

    The value is ``max over a of min over i of sum_t rewards_it a_t``, for a >= 0 that sum to 1.

    Parameters
    ----------
    rewards : array of shape (n, T)
        What the function (or member) t does for the row i. Zeros cost no time.

    Examples
    --------
    >>> value, mixture, weights = solve_matrix_game(np.array([[2, 0], [0, 2]]))
    >>> value, mixture.tolist(), weights.tolist()
    (1.0, [0.5, 0.5], [0.5, 0.5])
    """
    n, T = rewards.shape
    slack: Any = csc_array(np.column_stack([-rewards.astype(np.float64), np.ones(n)]))
    whole: Any = csc_array(np.append(np.ones(T), 0.0)[None])
    program: Any = linprog(
        np.append(np.zeros(T), -1.0),
        A_ub=slack,
        b_ub=np.zeros(n),
        A_eq=whole,
        b_eq=[1.0],
        bounds=[(0, None)] * T + [(None, None)],
        method="highs-ds",
    )
    mixture = np.maximum(program.x[:T], 0.0)
    weights = np.maximum(-program.ineqlin.marginals, 0.0)
    return -float(program.fun), mixture / mixture.sum(), weights / weights.sum()
