"""The arrays of a tree are what predictions follow, so nobody can write to them in vain."""

import numpy as np
import pytest

from weald import DecisionTreeClassifier, RandomForestRegressor

NAMES = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "value",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
    "is_leaf",
    "is_categorical",
    "parent",
    "depth",
    "n_categories",
    "n_classes",
)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_a_tree_are_read_only(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    alone = DecisionTreeClassifier(max_depth=3).fit(X, X[:, 0] > 0).tree_
    member = RandomForestRegressor(2, max_depth=3).fit(X, X[:, 0]).estimators_[0].tree_
    for tree in (alone, member):
        array = getattr(tree, name)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        copy = array.copy()
        copy[0] = 1  # a copy is its owner's
