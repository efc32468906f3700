"""Random cuts of categories: a random order of those in the node, cut anywhere.

Then any number of categories goes left with the same probability, and any of that number.
"""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import weald

TREES = 4_000


def chances(n):
    """Each way to divide n categories in two, by the side of the first one, and its probability."""
    others = range(1, n)
    for size in range(n - 1):
        for with_first in combinations(others, size):
            yield (0, *with_first), (1 / comb(n, 1 + size) + 1 / comb(n, n - 1 - size)) / (n - 1)


def table_of(codes, n):
    """A column of n categories, by their codes."""
    return pd.DataFrame({"a": pd.Categorical.from_codes(codes, [f"level {k}" for k in range(n)])})


def sides_of_first(table, y, n, **params):
    """Of each tree of two leaves, which of the categories are in the leaf of the first one."""
    forest = weald.ExtraTreesRegressor(TREES, max_depth=1, random_state=0, **params).fit(table, y)
    leaves = forest.apply(table_of(np.arange(n), n))
    return (leaves == leaves[:1]).T


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("rows", [1, 400])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_every_way_to_divide_categories_has_its_chance(n, rows, criterion):
    """With few rows, with many, and column by column."""
    codes = np.tile(np.arange(n), min(rows, 10) if criterion == "absolute_error" else rows)
    sides = sides_of_first(table_of(codes, n), codes**2.0, n, criterion=criterion)
    found = {}
    for side in sides:
        key = tuple(np.flatnonzero(side).tolist())
        found[key] = found.get(key, 0) + 1
    expected = dict(chances(n))
    assert sum(expected.values()) == pytest.approx(1)
    counts = [found.pop(key, 0) for key in expected]
    assert not found
    if n > 2:
        assert chisquare(counts, TREES * np.array(list(expected.values()))).pvalue > 1e-3


@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize("gaps", [0, 100])
@pytest.mark.parametrize("rows", [3, 100])
def test_any_number_of_many_categories_goes_left(rows, gaps, max_bins):
    n = 30
    codes = np.concatenate([np.tile(np.arange(n), rows), np.full(gaps, -1)])
    y = np.random.default_rng(0).normal(size=len(codes))
    sides = sides_of_first(table_of(codes, n), y, n, max_bins=max_bins)
    size = np.arange(1, n)
    sizes = np.bincount(sides.sum(axis=1), minlength=n)
    assert sizes[0] == 0
    assert chisquare(sizes[1:], TREES * 2 * size / (n * (n - 1))).pvalue > 1e-3
    with_first = sides[:, 1:].sum(axis=0)  # none of the others is nearer to the first
    assert chisquare(with_first).pvalue > 1e-3
