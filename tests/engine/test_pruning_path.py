"""The weakest-link sequence against the same sequence worked out step by step."""

import time
from fractions import Fraction

import numpy as np
import pytest

from weald import DecisionTreeRegressor
from weald._engine import pruning_path
from weald.pruning import CutSequence

RISKS = {
    "real": lambda rng, n: rng.random(n),
    "wide": lambda rng, n: rng.exponential(size=n) * 10 ** rng.uniform(-12, 2, n),
    # Whole numbers, so that ties are ties and not decided by rounding.
    "ties": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "equal": lambda rng, n: np.full(n, 2.0),
}


def random_tree(rng, leaves, lean):
    """Right children in pre-order; `lean` is the chance that one child is a leaf, on the left."""
    right, todo = [], [(leaves, -1)]
    while todo:
        here, parent = todo.pop()
        if parent >= 0:
            right[parent] = len(right)
        if here > 1:
            left = 1 if rng.random() < lean else int(rng.integers(1, here))
            todo += [(here - left, len(right)), (left, -1)]
        right.append(-1)
    return np.array(right)


def risks(right, rises):
    """Risks that rise by so much where a node becomes a leaf."""
    risk = rises.copy()
    for i in range(len(right) - 1, -1, -1):
        if right[i] >= 0:
            risk[i] += risk[i + 1] + risk[right[i]]
    return risk


def step_by_step(right, risk):
    """At every step look at all inner nodes, cut the weakest and go up from it; in fractions."""
    n, risk = len(right), [Fraction(r) for r in risk]
    below, leaves, parent = list(risk), [1] * n, [-1] * n
    for i in range(n - 1, -1, -1):
        if right[i] >= 0:
            children = i + 1, int(right[i])
            below[i] = sum(below[child] for child in children)
            leaves[i] = sum(leaves[child] for child in children)
            for child in children:
                parent[child] = i
    inner = [i for i in range(n) if right[i] >= 0]
    ends = {i: i + 2 * leaves[i] - 1 for i in inner}
    full, nodes, alphas, totals = below[0], [], [], []
    while inner:
        alpha, node = min(((risk[i] - below[i]) / (leaves[i] - 1), i) for i in inner)
        inner = [i for i in inner if not node <= i < ends[node]]
        rise, lost, up = risk[node] - below[node], leaves[node] - 1, node
        while (up := parent[up]) >= 0:
            below[up] += rise
            leaves[up] -= lost
        below[node] = risk[node]
        nodes.append(node)
        alphas.append(alpha)
        totals.append(below[0])
    return full, nodes, alphas, totals


@pytest.mark.parametrize("kind", RISKS)
@pytest.mark.parametrize("lean", [0.0, 0.7, 1.0])
def test_same_as_step_by_step(kind, lean):
    rng = np.random.default_rng(0)
    for _ in range(40):
        right = random_tree(rng, int(rng.integers(1, 60)), lean)
        risk = risks(right, RISKS[kind](rng, len(right)))
        full, nodes, alphas, totals = step_by_step(right, risk)
        path = pruning_path(right, risk)
        assert path["full_risk"] == pytest.approx(float(full), rel=1e-12)
        np.testing.assert_array_equal(path["node"], nodes)
        alphas, totals = np.array(alphas, dtype=float), np.array(totals, dtype=float)
        close = 1e-13 * risk[0]  # alphas are differences of risks
        np.testing.assert_allclose(path["alpha"], alphas, rtol=1e-9, atol=close)
        np.testing.assert_allclose(path["risk"], totals, rtol=1e-12)


@pytest.mark.parametrize("n", [10_000, 300_000])
def test_a_chain_takes_no_time(n):
    """Each cut strengthens all links above it: telling all of them takes the square of n."""
    right = np.full(2 * n + 1, -1)
    right[:-1:2] = np.arange(2, 2 * n + 1, 2)
    rises = np.zeros(len(right))
    rises[:-1:2] = np.arange(n, 0, -1)
    risk = risks(right, rises)
    start = time.process_time()
    path = pruning_path(right, risk)
    assert time.process_time() - start < 3
    np.testing.assert_array_equal(path["node"], np.arange(2 * n - 2, -1, -2))
    np.testing.assert_array_equal(path["alpha"], np.arange(1, n + 1))


def test_steps_that_pay():
    """As many as come before the first dearer one, though rounding may let an alpha fall."""
    sequence = CutSequence(np.arange(5), np.array([0.1, 0.3, 0.2, 0.3, 0.5]), np.zeros(6))
    prices = np.array([0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 9.0])
    first_dearer = [next((k for k, a in enumerate(sequence.alpha) if a > p), 5) for p in prices]
    assert sequence.steps_at(prices).tolist() == first_dearer == [0, 1, 1, 1, 4, 4, 5, 5]


def test_choosing_among_many_alphas_takes_no_time():
    rng = np.random.default_rng(0)
    X, y = rng.random((30_000, 2)), rng.random(30_000)
    start = time.process_time()
    model = DecisionTreeRegressor(ccp_alpha="cv", n_jobs=1).fit(X, y)
    assert len(model.ccp_path_.alphas) > 20_000
    assert time.process_time() - start < 8
