"""All decision stumps on some rows, one by one, and the boosting game over them."""

import numpy as np
from scipy.optimize import linprog


def all_stumps(X):
    """Values +-1 of each stump and both constants, shape (functions, n)."""
    n = len(X)
    functions = [np.ones(n), -np.ones(n)]
    for column in X.T:
        values = np.unique(column)
        for cut in (values[:-1] + values[1:]) / 2:
            h = np.where(column <= cut, 1.0, -1.0)
            functions += [h, -h]
    return np.array(functions)


def game_value(rewards):
    """max over mixtures a of min over rows of a @ rewards, by one linear program."""
    m, n = rewards.shape
    program = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.column_stack([-rewards.T, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )
    return -program.fun
