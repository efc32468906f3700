"""The digest notices what changes in a model, and nothing else."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from digests.data import read
from digests.digest import digest, hash_of
from weald import DecisionTreeRegressor, RandomForestClassifier, threads
from weald.callbacks import History
from weald.losses import Huber

X, Y = read("numbers").X, read("numbers").y


@pytest.fixture
def tree():
    return DecisionTreeRegressor(max_depth=3).fit(X, Y)


def changed(tree, array, node, value):
    """A copy of a tree in which a node is another one."""
    copy = pickle.loads(pickle.dumps(tree))
    arrays = {**copy.tree_.__getstate__()["arrays"]}
    arrays[array] = arrays[array].copy()
    arrays[array][node] = value
    copy.tree_.__init__(arrays, copy.tree_.n_categories, copy.tree_.n_classes)
    return copy


def differences(model, other):
    return digest(model, X).differences(digest(other, X))


def test_another_leaf(tree):
    leaf = int(np.flatnonzero(tree.tree_.is_leaf)[-1])
    value = np.nextafter(tree.tree_.value[leaf], np.inf)
    assert differences(tree, changed(tree, "value", leaf, value)) == [
        "predict of predictions",
        "trees of trees",
    ]


def test_another_threshold(tree):
    value = np.nextafter(tree.tree_.threshold[0], np.inf)
    assert differences(tree, changed(tree, "threshold", 0, value)) == ["trees of trees"]


def test_another_attribute(tree):
    copy = pickle.loads(pickle.dumps(tree))
    copy.max_features_ = 4
    assert differences(tree, copy) == ["max_features_ of attributes"]
    copy.news_ = [1.0]
    found = differences(tree, copy)
    assert found == ["max_features_ of attributes", "news_ of attributes"]


def test_another_parameter(tree):
    assert differences(tree, clone(tree).set_params(max_bins=255).fit(X, Y))[0] == (
        "parameters of attributes"
    )


def test_another_prediction(tree, monkeypatch):
    before = digest(tree, X)
    monkeypatch.setattr(type(tree), "predict", lambda self, X: np.zeros(len(X)))
    assert before.differences(digest(tree, X)) == ["predict of predictions"]


def test_another_member():
    forest = RandomForestClassifier(4, random_state=0).fit(X, Y > 0)
    other = RandomForestClassifier(5, random_state=0).fit(X, Y > 0).set_params(n_estimators=4)
    found = differences(forest, other)
    assert {"trees of trees", "estimators_ of attributes", "in_bag_ of attributes"} <= {*found}


def test_neither_threads_nor_copies_matter():
    forest = RandomForestClassifier(20, random_state=0, oob_score=True, n_jobs=1).fit(X, Y > 0)
    with threads(2):
        other = clone(forest).set_params(n_jobs=None, verbose=0).fit(X, Y > 0)
    assert differences(forest, other) == []
    assert differences(forest, pickle.loads(pickle.dumps(forest))) == []


SAME = [
    (0.0, -0.0),
    (np.array([0.0, np.nan]), np.array([-0.0, -np.nan])),
    (np.float64(1.5), 1.5),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"x", "y", "z"}, {"z", "y", "x"}),
    (np.array(["a", "b"]), np.array(["a", "b"], dtype="U9")),
    (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3))),
]
OTHER = [
    (1.0, 1),
    (1.0, np.nextafter(1.0, 2)),
    (np.arange(6.0), np.arange(6.0).reshape(2, 3)),
    (np.arange(3), np.arange(3.0)),
    ([1, [2, 3]], [[1, 2], 3]),
    (["ab", "c"], ["a", "bc"]),
    (Huber(1.0), Huber(2.0)),
    (None, "None"),
]


@pytest.mark.parametrize(("one", "same"), SAME)
def test_the_same(one, same):
    assert hash_of(one) == hash_of(same)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_not_the_same(one, other):
    assert hash_of(one) != hash_of(other)


def test_what_has_no_digest_is_refused():
    with pytest.raises(TypeError, match="No digest of a object"):
        hash_of(object())
    with pytest.raises(TypeError, match="No digest of arrays"):
        hash_of(np.zeros(2, dtype=complex))


def test_callbacks_that_remember_times_do_not_matter():
    from weald import GradientBoostingRegressor

    model = GradientBoostingRegressor(n_estimators=2, callbacks=[History()], random_state=0)
    assert differences(model.fit(X, Y), clone(model).fit(X, Y)) == []
