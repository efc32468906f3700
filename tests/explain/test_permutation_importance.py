"""The permutation kind against a naive twin, and groups of columns."""

import numpy as np
import pandas as pd
import pytest

from explain.importance_cases import MODELS, problem
from weald import RandomForestRegressor
from weald.explain import column_importance


def naive_permutation(model, X, y, seed, groups, weights, n_repeats):
    """Breiman's recipe, with the members as estimators and the shuffles as documented."""
    seed = np.random.RandomState(seed).randint(2**31 - 1)
    y = y.reshape(len(y), -1)
    rises = []
    for t, counts in enumerate(model.in_bag_):
        out = np.flatnonzero((counts == 0) & (weights > 0))
        tree = model.forest_.tree(t)

        def error(table, out=out, tree=tree):
            values = tree.leaf_values(table)
            if hasattr(model, "classes_"):
                loss = values.argmax(axis=2) != y[out]
            else:
                loss = (values[:, :, 0] - y[out]) ** 2
            return weights[out] @ loss.mean(axis=1) / weights[out].sum()

        draw = np.random.default_rng([seed, t])
        orders = [draw.permutation(len(out)) for _ in range(n_repeats)]
        rise = []
        for group in groups:
            after = []
            for order in orders:
                changed = X[out]
                changed[:, group] = changed[order][:, group]
                after.append(error(changed))
            rise.append(np.mean(after) - error(X[out]))
        rises.append(rise)
    return rises


@pytest.mark.filterwarnings("ignore:.*without replacement the heavy ones run out")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_permutation_like_the_twin(name, weighted):
    model, what = MODELS[name]
    X, y = problem(**what)
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    model.fit(X, y, sample_weight=w)
    before = X.copy()
    found = column_importance(
        model, X, y, "permutation", n_repeats=2, random_state=3, sample_weight=w
    )
    np.testing.assert_array_equal(X, before)
    weights = np.ones(len(y)) if w is None else w
    expected = naive_permutation(model, X, y, 3, [[0], [1], [2], [3], [4]], weights, 2)
    np.testing.assert_allclose(found.per_member, expected, atol=1e-12)


# --- groups of columns ------------------------------------------------------------------------


def test_groups_are_shuffled_together():
    """A column and its copy stand in for each other; together they show what they are worth."""
    X, y = problem(400)
    X = np.c_[X[:, 0], X[:, 0], X[:, 1:]]
    forest = RandomForestRegressor(40, max_features=2, random_state=0).fit(X, y)
    alone = column_importance(forest, X, y, "permutation", random_state=0)
    both = column_importance(forest, X, y, "permutation", random_state=0, groups=[[0, 1]])
    assert both.names == (
        "feature_0 + feature_1",
        "feature_2",
        "feature_3",
        "feature_4",
        "feature_5",
    )
    assert both.mean[0] > 1.5 * alone.mean[:2].max()
    np.testing.assert_array_equal(both.mean[1:], alone.mean[2:])
    twin = naive_permutation(forest, X, y, 0, [[0, 1]], np.ones(400), 1)
    np.testing.assert_allclose(both.per_member[:, :1], twin, atol=1e-12)


@pytest.mark.parametrize("kind", ["impurity", "unbiased"])
def test_decreases_of_a_group_add_up(kind):
    X, y = problem()
    table = pd.DataFrame(X, columns=list("abcde"))
    forest = RandomForestRegressor(10, random_state=0).fit(table, y)
    each = column_importance(forest, table, y, kind)
    some = column_importance(forest, table, y, kind, groups={"noise": ["c", "d", 4], "true": ["a"]})
    assert some.names == ("noise", "true", "b")
    expected = np.c_[each.per_member[:, 2:].sum(axis=1), each.per_member[:, :2]]
    np.testing.assert_allclose(some.per_member, expected, rtol=1e-12)
