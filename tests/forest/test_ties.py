"""Columns that divide a node alike are taken equally often, whichever way the node is searched."""

import numpy as np
import pytest
from scipy.stats import chisquare

import weald

COPIES = 6


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("drawn", [1, 2, 5, None])  # None: all, where a hash decides
@pytest.mark.parametrize("ending", ["Classifier", "Regressor"])
@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees"])
def test_a_tie_goes_to_any_of_the_columns(name, ending, drawn, gaps):
    rng = np.random.default_rng(7)
    n = 200  # each value has a bin of its own
    X = np.repeat(rng.standard_normal(n)[:, None], COPIES, axis=1)
    if gaps:
        X[rng.random(n) < 0.1] = np.nan  # in the same rows of all
    y = rng.integers(0, 2, n)
    make = getattr(weald, name + ending)
    forest = make(60, max_features=drawn, max_bins=255, random_state=3).fit(X, y)
    of_two, of_more = np.zeros(COPIES), np.zeros(COPIES)
    for tree in forest.estimators_:
        nodes = tree.tree_
        for used, inner in (
            (of_two, (nodes.feature >= 0) & (nodes.n_node_samples == 2)),
            (of_more, (nodes.feature >= 0) & (nodes.n_node_samples > 2)),
        ):
            used += np.bincount(nodes.feature[inner], minlength=COPIES)
    for used in (of_two, of_more):
        assert used.sum() >= 20 * COPIES
        assert chisquare(used).pvalue > 1e-4
