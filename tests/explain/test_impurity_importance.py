"""The impurity and unbiased kinds against naive twins; noise must get about nothing."""

import numpy as np
import pytest

from explain.importance_cases import MODELS, fitted, problem
from weald import RandomForestClassifier, RandomForestRegressor
from weald.explain import column_importance
from weald.explain._member_importance import decrease, node_sums

# --- impurity ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_impurity_is_the_decrease_of_each_tree(name):
    model, *_ = fitted(name)
    found = column_importance(model)
    trees = [model.forest_.tree(t) for t in range(8)]
    per_member = [tree.compute_feature_importances(normalize=False) for tree in trees]
    np.testing.assert_allclose(found.per_member, per_member, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found.mean, np.mean(per_member, axis=0), rtol=1e-5)
    np.testing.assert_allclose(
        found.std_error, np.std(per_member, axis=0, ddof=1) / np.sqrt(8), rtol=1e-5
    )


# --- unbiased ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_in_the_bag_the_unbiased_kind_is_the_impurity_decrease(name):
    model, X, y = fitted(name)
    target = y.reshape(len(y), -1)
    for t, counts in enumerate(model.in_bag_):
        tree = model.forest_.tree(t)
        sums = node_sums(tree, tree.apply(X), target, counts.astype(float))
        found = decrease(tree, *sums)
        np.testing.assert_allclose(found, model.forest_.importances[t], rtol=1e-6, atol=1e-9)


def naive_unbiased(tree, X, y, weights):
    """Node by node: what the split promises times what the rows found."""
    reached = tree.decision_path(X).toarray().astype(bool)
    if tree.max_n_classes > 1:
        y = (y[:, :, None] == np.arange(tree.max_n_classes)).astype(float)
    else:
        y = y[:, :, None]
    total = np.zeros(tree.n_features)
    for m in np.flatnonzero(~tree.is_leaf):
        left, right = m + 1, tree.children_right[m]
        w_left, w_right = weights[reached[:, left]], weights[reached[:, right]]
        if w_left.sum() == 0 or w_right.sum() == 0:
            continue
        promised = tree.value[left] - tree.value[right]
        means = (
            np.average(y[reached[:, left]], axis=0, weights=w_left),
            np.average(y[reached[:, right]], axis=0, weights=w_right),
        )
        size = w_left.sum() * w_right.sum() / (w_left.sum() + w_right.sum()) / weights.sum()
        gain = size * (promised * (means[0] - means[1])).sum(axis=1).mean()
        total[tree.feature[m]] += gain
    return total


@pytest.mark.filterwarnings("ignore:.*without replacement the heavy ones run out")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_unbiased_like_the_twin(name, weighted):
    model, what = MODELS[name]
    X, y = problem(**what)
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    model.fit(X, y, sample_weight=w)
    found = column_importance(model, X, y, "unbiased", sample_weight=w)
    weights = np.ones(len(y)) if w is None else w
    for t, counts in enumerate(model.in_bag_):
        out = (counts == 0) & (weights > 0)
        expected = naive_unbiased(
            model.forest_.tree(t), X[out], y.reshape(len(y), -1)[out], weights[out]
        )
        np.testing.assert_allclose(found.per_member[t], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_noise_gets_nothing(classes):
    """Fully grown trees split on noise all the time; only the plain kind gives it credit."""
    kind = RandomForestClassifier if classes else RandomForestRegressor
    plain, unbiased, shuffled = [], [], []
    for seed in range(6):
        X, y = problem(400, seed, classes)
        forest = kind(50, max_features=2, random_state=seed).fit(X, y)
        plain.append(column_importance(forest).mean)
        unbiased.append(column_importance(forest, X, y, "unbiased").mean)
        found = column_importance(forest, X, y, "permutation", random_state=seed)
        shuffled.append(found.mean)
    for measured in (np.array(unbiased), np.array(shuffled)):
        mean, error = measured.mean(axis=0), measured.std(axis=0, ddof=1) / np.sqrt(len(measured))
        assert (mean[:2] > 5 * error[:2]).all()
        assert (np.abs(mean[2:]) < 4 * error[2:] + 1e-3 * mean[0]).all()
        assert (np.abs(mean[2:]) < 0.05 * mean[0]).all()
    plain = np.mean(plain, axis=0)
    assert (plain[3:] > 0.1 * plain[0]).all()  # many values
    assert plain[2] < 0.5 * plain[3]  # two values


def test_unbiased_does_not_change_with_the_origin_of_y():
    X, y = problem()
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    moved = RandomForestRegressor(5, random_state=0).fit(X, y + 1e6)
    one = column_importance(forest, X, y, "unbiased").per_member
    other = column_importance(moved, X, y + 1e6, "unbiased").per_member
    np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"class_weight": "balanced"},
        {"class_weight": "balanced_subsample"},
        {"class_weight": {"a": 1, "b": 3}},
        {"bootstrap": "balanced"},
        {"criterion": "entropy"},
        {"criterion": "misclassification"},
    ],
    ids=str,
)
def test_rare_classes_and_other_criteria(settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(X[:, 0] + rng.normal(size=600) > 1, "b", "a")
    forest = RandomForestClassifier(40, random_state=0, **settings).fit(X, y)
    found = column_importance(forest, X, y, "unbiased").mean
    assert found[0] > 0.01
    assert (np.abs(found[1:]) < 0.3 * found[0]).all()


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_other_criteria_of_numbers(criterion):
    X, y = problem(300)
    y = np.exp(y)
    settings = {"criterion": criterion, "max_features": 2, "random_state": 0}
    forest = RandomForestRegressor(40, **settings).fit(X, y)
    found = column_importance(forest, X, y, "unbiased").mean
    assert found[:2].min() > 5 * np.abs(found[2:]).max()
