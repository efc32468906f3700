"""The same forest on any threads, in steps, by warm start and after a pickle."""

import pickle
import warnings

import numpy as np
import pytest

from forest.cases import (
    ALL,
    LABELS,
    NEW,
    NOISY,
    X,
    answers,
    same,
    target,
)
from weald import (
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.mark.parametrize("kind", ALL)
def test_threads_and_steps_change_nothing(kind):
    one = kind(12, random_state=3, n_jobs=1).fit(X, target(kind))
    assert same(one, kind(12, random_state=3, n_jobs=3).fit(X, target(kind)))
    assert same(one, kind(12, random_state=3, keep_partial=True).fit(X, target(kind)))
    assert not same(one, kind(12, random_state=4).fit(X, target(kind)))


@pytest.mark.parametrize("kind", ALL)
def test_a_small_forest_is_the_beginning_of_a_large_one(kind):
    small = kind(5, random_state=0).fit(X, target(kind))
    large = kind(9, random_state=0).fit(X, target(kind))
    members = large.member_predictions(NEW)
    np.testing.assert_array_equal(small.member_predictions(NEW), members[:5])
    np.testing.assert_allclose(answers(large), members.mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("kind", ALL)
def test_warm_start_ends_where_one_fit_does(kind):
    settings = {"random_state": 1, "bootstrap": True, "oob_score": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rows without out-of-bag
        grown = kind(4, warm_start=True, **settings).fit(X, target(kind))
        first = grown.forest_
        grown.set_params(n_estimators=15).fit(X, target(kind))
    whole = kind(15, **settings).fit(X, target(kind))
    assert same(grown, whole)
    assert first.n_trees == 4
    assert grown.oob_score_ == whole.oob_score_
    np.testing.assert_array_equal(grown.oob_error_curve_, whole.oob_error_curve_)
    np.testing.assert_array_equal(grown.in_bag_, whole.in_bag_)


def test_warm_start_says_what_it_cannot_do():
    forest = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, LABELS)
    before = answers(forest)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        forest.fit(X, LABELS)
    with pytest.raises(ValueError, match="must be larger or equal to len"):
        forest.set_params(n_estimators=3).fit(X, LABELS)
    for rows, labels in ((X[:, :3], LABELS), (X, LABELS == "low")):
        with pytest.raises(ValueError, match=r"but the (columns of X|set of classes) changed"):
            forest.set_params(n_estimators=8).fit(rows, labels)
    old = RandomForestRegressor(2, warm_start=True).fit(X, NOISY)
    with pytest.raises(ValueError, match="keep_targets"):
        old.set_params(n_estimators=3, keep_targets=True).fit(X, NOISY)
    with pytest.raises(ValueError, match="criterion"):
        forest.set_params(criterion="entropy").fit(X, LABELS)
    np.testing.assert_array_equal(answers(forest), before)
    assert len(forest) == 5


def test_without_warm_start_a_fit_starts_anew():
    forest = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    again = forest.fit(X[:, :3], LABELS == "low")
    assert (len(again), again.n_features_in_, again.n_classes_) == (5, 3, 2)


@pytest.mark.parametrize("kind", ALL)
def test_a_copy_by_pickle_predicts_the_same_bits(kind):
    weights = NOISY**2
    forest = kind(6, random_state=0, bootstrap=True).fit(X, target(kind), sample_weight=weights)
    weights[:] = 1.0  # the forest has its own
    again = pickle.loads(pickle.dumps(forest))
    assert same(forest, again)
    np.testing.assert_array_equal(forest.in_bag_, again.in_bag_)
    again.set_params(warm_start=True, n_estimators=7).fit(X, target(kind), NOISY**2)
    assert again.n_estimators_ == 7


def test_a_failed_fit_leaves_the_old_forest():
    forest = RandomForestRegressor(4, random_state=0, oob_score=False).fit(X, NOISY)
    before = forest.predict(NEW)
    with pytest.raises(ValueError, match="max_depth"):
        forest.set_params(max_depth=-1).fit(X[:, :2], NOISY)
    np.testing.assert_array_equal(forest.predict(NEW), before)
