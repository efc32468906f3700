"""Laws of pruned trees: the weakest links, reduced error, cross-validated alpha."""

import numpy as np
import pytest

from laws.tree_cases import CRITERIA, assert_same_tree, continuous, model, training_impurity


def weakest_link_path(tree):
    """Alphas and leaf impurities by the definition: collapse the weakest inner node, repeat."""
    left, right = tree.children_left, tree.children_right
    cost = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    collapsed = set(np.flatnonzero(left == -1))

    def leaves(i):
        return [i] if i in collapsed else leaves(left[i]) + leaves(right[i])

    def inner(i):
        return [] if i in collapsed else [i, *inner(left[i]), *inner(right[i])]

    alphas, impurities = [0.0], [sum(cost[i] for i in leaves(0))]
    while 0 not in collapsed:
        links = {
            i: (cost[i] - sum(cost[k] for k in leaves(i))) / (len(leaves(i)) - 1) for i in inner(0)
        }
        alphas.append(min(links.values()))
        collapsed |= {i for i, g in links.items() if g <= alphas[-1] + 1e-12}
        impurities.append(sum(cost[i] for i in leaves(0)))
    return merge_ties(alphas, impurities)


def merge_ties(alphas, impurities):
    """Keep the last tree of equal alphas."""
    alphas, impurities = np.asarray(alphas), np.asarray(impurities)
    last = np.append(np.diff(alphas) > 1e-9, True)
    return alphas[last], impurities[last]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_pruning_path_is_the_weakest_link_path(criterion):
    X, y, w = continuous(criterion, n=80)
    full = model(criterion).fit(X, y, sample_weight=w)
    path = model(criterion).cost_complexity_pruning_path(X, y, sample_weight=w)
    assert path.ccp_alphas[0] == 0
    assert np.all(np.diff(path.ccp_alphas) >= 0)
    assert np.all(np.diff(path.impurities) >= -1e-12)
    assert path.impurities[-1] == pytest.approx(full.tree_.impurity[0])
    alphas, impurities = weakest_link_path(full.tree_)
    got_alphas, got_impurities = merge_ties(path.ccp_alphas, path.impurities)
    np.testing.assert_allclose(got_alphas, alphas, atol=1e-9)
    np.testing.assert_allclose(got_impurities, impurities, atol=1e-9)


def assert_subtree(small, large):
    """The small tree is the large one with some nodes made leaves."""
    a, b = small.tree_, large.tree_

    def descend(i, j):
        np.testing.assert_array_equal(a.value[i], b.value[j])
        assert a.n_node_samples[i] == b.n_node_samples[j]
        if a.children_left[i] != -1:
            assert (a.feature[i], a.threshold[i]) == (b.feature[j], b.threshold[j])
            descend(a.children_left[i], b.children_left[j])
            descend(a.children_right[i], b.children_right[j])

    descend(0, 0)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_alpha_gives_its_tree_of_the_path(criterion):
    X, y, w = continuous(criterion, n=80)
    full = model(criterion).fit(X, y, sample_weight=w)
    path = full.cost_complexity_pruning_path(X, y, sample_weight=w)
    alphas, impurities = merge_ties(path.ccp_alphas, path.impurities)
    n_leaves = []
    for alpha, expected in zip(alphas, impurities, strict=True):
        # A hair above, so that alphas that differ by rounding alone count as one.
        pruned = model(criterion, ccp_alpha=alpha + 1e-10).fit(X, y, sample_weight=w)
        assert training_impurity(pruned) == pytest.approx(expected, abs=1e-9)
        assert_subtree(pruned, full)
        n_leaves.append(pruned.get_n_leaves())
    assert np.all(np.diff(n_leaves) < 0)
    assert n_leaves[-1] == 1


def validation_losses(est, X, y, predicted):
    return (predicted != y).astype(float) if hasattr(est, "classes_") else (predicted - y) ** 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification", "squared_error"])
def test_reduced_error_pruning(criterion, weighted):
    for seed in range(5):
        X, y, w = continuous(criterion, seed=seed, n=300)
        X_val, y_val = X[150:], y[150:]
        w_val = w[150:] if weighted else None
        weights = np.ones(150) if w_val is None else w_val
        est = model(criterion).fit(X[:150], y[:150])
        full = model(criterion).fit(X[:150], y[:150])
        before = weights @ validation_losses(est, X_val, y_val, est.predict(X_val))
        assert est.prune(X_val, y_val, sample_weight=w_val) is est
        losses = validation_losses(est, X_val, y_val, est.predict(X_val))
        assert weights @ losses <= before * (1 + 1e-12)
        assert est.get_n_leaves() < full.get_n_leaves()
        assert_subtree(est, full)
        tree, reached = est.tree_, est.decision_path(X_val).toarray().astype(bool)
        for i in np.flatnonzero(tree.children_left != -1):  # every inner node earns its place
            here = reached[:, i]
            leaf = tree.value[i, 0]
            says = est.classes_[leaf.argmax()] if hasattr(est, "classes_") else leaf[0]
            as_leaf = validation_losses(est, X_val[here], y_val[here], np.full(here.sum(), says))
            assert weights[here] @ as_leaf > (weights @ (losses * here)) * (1 - 1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_alpha_by_cross_validation(criterion):
    X, y, _ = continuous(criterion, n=300)
    fitted = {
        rule: model(criterion, ccp_alpha=rule, random_state=0).fit(X, y)
        for rule in ("cv", "cv_1se")
    }
    assert 0 <= fitted["cv"].ccp_alpha_ <= fitted["cv_1se"].ccp_alpha_
    assert 1 <= fitted["cv_1se"].get_n_leaves() <= fitted["cv"].get_n_leaves()
    full = model(criterion).fit(X, y)
    assert fitted["cv"].get_n_leaves() < full.get_n_leaves()
    for est in fitted.values():
        assert_same_tree(est, model(criterion, ccp_alpha=est.ccp_alpha_).fit(X, y))
        again = model(criterion, ccp_alpha=est.ccp_alpha, random_state=0).fit(X, y)
        assert again.ccp_alpha_ == est.ccp_alpha_
