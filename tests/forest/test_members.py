"""The trees of a forest as estimators."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import weald
from forest.cases import ALL, LABELS, NEW, NOISY, X, answers, target
from weald import (
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.mark.parametrize("kind", ALL)
def test_members_are_trees(kind):
    forest = kind(6, random_state=0, max_depth=4).fit(X, target(kind))
    trees = forest.estimators_
    assert len(trees) == len(forest) == 6
    assert len(trees[1:3]) == 2
    assert trees[-1].get_depth() <= 4
    assert type(trees[0]) is type(forest.estimator_) is forest._member_kind
    assert trees[0].get_params()["max_depth"] == 4
    with pytest.raises(IndexError):
        trees[6]
    says = np.array([answers(tree) for tree in forest])
    np.testing.assert_array_equal(forest.member_predictions(NEW), says)
    np.testing.assert_array_equal(forest.apply(NEW), np.stack([t.apply(NEW) for t in trees], 1))
    np.testing.assert_array_equal(forest.leaf_index(NEW), forest.apply(NEW))
    assert forest.member_weights_.tolist() == [1.0] * 6
    indicator, begin = forest.decision_path(NEW)
    for t, tree in enumerate(trees):
        part = indicator[:, begin[t] : begin[t + 1]].toarray()
        np.testing.assert_array_equal(part, tree.decision_path(NEW).toarray())
    shares = np.array([tree.feature_importances_ for tree in trees])
    np.testing.assert_allclose(forest.feature_importances_, shares.mean(axis=0), atol=1e-6)
    error = shares.std(axis=0, ddof=1) / np.sqrt(6)
    np.testing.assert_allclose(forest.feature_importances_std_error_, error, atol=1e-6)


def test_members_know_names_and_labels():
    frame = pd.DataFrame(X, columns=list("abcde")).assign(eyes=np.where(X[:, 0] > 0, "b", "g"))
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(frame, LABELS)
    tree = forest[0]
    assert set(tree.predict(frame)) <= set(LABELS)
    assert "eyes" in tree.feature_names_in_
    assert str(tree.explain_path(frame)[0]).startswith("predicts ")
    assert "class: " in weald.export_text(tree)


def test_one_tree_on_all_rows_is_the_tree():
    settings = {"max_features": None, "max_bins": None, "random_state": 0}
    one, new = X[:, :1], NEW[:, :1]  # between equal columns a forest chooses at random
    forest = RandomForestClassifier(1, bootstrap=False, **settings).fit(one, LABELS)
    tree = weald.DecisionTreeClassifier(random_state=0).fit(one, LABELS)
    np.testing.assert_array_equal(forest.predict_proba(new), tree.predict_proba(new))


def test_what_cannot_be_asked_before_fit():
    forest = RandomForestRegressor()
    for name in ("estimators_", "in_bag_", "feature_importances_", "member_weights_"):
        assert not hasattr(forest, name)
    with pytest.raises(NotFittedError, match="not fitted"):
        forest.predict(X)


def test_stumps_of_nothing_have_no_importance():
    forest = RandomForestRegressor(3).fit(np.zeros((10, 2)), np.arange(10.0))
    assert forest.feature_importances_.tolist() == [0.0, 0.0]
    assert np.isnan(forest.feature_importances_std_error_).all()


def test_members_join_lists_but_cannot_be_set():
    a, b = (RandomForestRegressor(n, random_state=n).fit(X, NOISY) for n in (2, 3))
    listed = list(b.estimators_)
    for both in (a.estimators_ + b.estimators_, a.estimators_ + listed, listed + a.estimators_):
        assert isinstance(both, list)
        assert len(both) == 5
    with pytest.raises(AttributeError, match=r"warm_start=True .* weald\.combining"):
        a.estimators_ += b.estimators_
    assert len(a.estimators_) == 2


def test_the_draws_are_made_once_for_a_fit():
    forest = RandomForestRegressor(5, random_state=0).fit(X, NOISY)
    size = len(pickle.dumps(forest))
    counts = forest.in_bag_
    assert forest.in_bag_ is counts
    assert not counts.flags.writeable
    assert len(pickle.dumps(forest)) == size
    copied = copy.deepcopy(forest).in_bag_
    assert copied is not counts
    np.testing.assert_array_equal(copied, counts)
    assert not np.array_equal(forest.set_params(random_state=1).fit(X, NOISY).in_bag_, counts)
    forest.set_params(n_estimators=7, warm_start=True).fit(X, NOISY)
    assert forest.in_bag_.shape == (7, 300)


def test_members_know_columns_that_were_blank():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 1] = np.nan
    forest = RandomForestClassifier(3, random_state=0).fit(X, X[:, 0] > 0)
    words = np.array([[0.5, None, 1.0]] * 4, dtype=object)
    np.testing.assert_array_equal(
        forest.estimators_[0].predict_proba(words), forest.member_predictions(words)[0]
    )


def importance_by_rows(tree, rows, targets, weights, impurity):
    """Sum of (W_node / W) gain per column, from the rows of every node."""
    inside = tree.decision_path(rows).toarray().astype(bool)
    mass = np.array([weights[own].sum() * impurity(targets[own], weights[own]) for own in inside.T])
    nodes, found = tree.tree_, np.zeros(rows.shape[1])
    for m in np.flatnonzero(nodes.feature >= 0):
        left, right = nodes.children_left[m], nodes.children_right[m]
        found[nodes.feature[m]] += (mass[m] - mass[left] - mass[right]) / weights.sum()
    return found


def gini(labels, weights):
    shares = np.bincount(labels, weights) / weights.sum()
    return 1.0 - (shares**2).sum()


def variance(numbers, weights):
    mean = np.average(numbers, axis=0, weights=weights)
    return np.average((numbers - mean) ** 2, axis=0, weights=weights).mean()


@pytest.mark.parametrize("weighing", ["none", "whole", "real"])
@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 7}, {"max_depth": 3}], ids=str)
@pytest.mark.parametrize("kind", ["two classes", "classes", "number", "numbers"])
@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees"])
def test_importances_are_those_of_the_rows(name, kind, settings, weighing):
    """Fully grown trees have theirs worked out from the leaves, others know them from growth."""
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(150, 4))
    score = rows[:, :2].sum(axis=1) + rng.normal(size=150)
    y = {
        "two classes": (score > 0).astype(int),
        "classes": np.digitize(score, [-1.0, 0.0, 1.0]),
        "number": score,
        "numbers": np.stack([score, rng.normal(size=150)], axis=1),
    }[kind]
    weights = {
        "none": np.ones(150),
        "whole": rng.integers(1, 5, 150).astype(float),
        "real": rng.random(150) + 0.1,
    }[weighing]
    classes = "classes" in kind
    make = getattr(weald, name + ("Classifier" if classes else "Regressor"))
    forest = make(3, bootstrap=False, max_features=2, random_state=1, **settings)
    forest.fit(rows, y, sample_weight=None if weighing == "none" else weights)
    again = pickle.loads(pickle.dumps(forest))
    for t, tree in enumerate(forest.estimators_):
        found = importance_by_rows(tree, rows, y, weights, gini if classes else variance)
        np.testing.assert_allclose(forest.forest_.importances[t], found, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(tree.tree_.importance, forest.forest_.importances[t])
    np.testing.assert_array_equal(again.forest_.importances, forest.forest_.importances)
