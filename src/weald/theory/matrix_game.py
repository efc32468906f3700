"""The value of a game of two players with a matrix of rewards, by linear programming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csc_array

from weald._engine import FloatArray

__all__ = ["GameSolution", "solve_matrix_game"]


@dataclass(frozen=True, eq=False)
class GameSolution:
    """The value of a game, and how both players get it.

    Attributes
    ----------
    value : float
    mixture : array of shape (T,)
        Weights of the functions, 1 in total, with rewards of at least `value` in every row.
    weights : array of shape (n,)
        Weights of the rows, 1 in total, under which no function has a larger reward.
    """

    value: float
    mixture: FloatArray
    weights: FloatArray


def solve_matrix_game(rewards: npt.NDArray[Any]) -> GameSolution:
    """Solve ``max over a of min over i of sum_t a_t rewards_ti``, a >= 0 and summing to 1.

    Parameters
    ----------
    rewards : array of shape (T, n)
        Of T functions in n rows.

    Examples
    --------
    >>> import numpy as np
    >>> game = solve_matrix_game(np.array([[1, -1, 1], [-1, 1, 1]]))
    >>> game.value, game.mixture.tolist()
    (0.0, [0.5, 0.5])
    """
    T, n = rewards.shape
    # From the least reward on: of +-1 half of the matrix is 0 then, which halves the time as well.
    least = float(rewards.min())
    rows: Any = csc_array(np.column_stack([least - rewards.T.astype(np.float64), np.ones(n)]))
    program: Any = linprog(
        np.append(np.zeros(T), -1.0),
        A_ub=rows,
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(T), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * T + [(None, None)],
        method="highs-ds",
    )
    mixture = np.maximum(program.x[:T], 0.0)
    weights = np.maximum(-program.ineqlin.marginals, 0.0)
    return GameSolution(
        least - float(program.fun), mixture / mixture.sum(), weights / weights.sum()
    )
