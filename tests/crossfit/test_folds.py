"""Folds of any splitter, and of none that would let a model predict what it has seen."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from weald.crossfit.folds import make_folds

X, Y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
GROUPS = np.arange(20) // 4


@pytest.mark.parametrize(
    "cv", [KFold(4), RepeatedKFold(n_splits=3, n_repeats=2), ShuffleSplit(3), TimeSeriesSplit(4)]
)
def test_splitters(cv):
    folds = make_folds(cv, X, Y, classes=False)
    assert len(folds) == cv.get_n_splits()
    for fold in folds:
        assert not set(fold.train) & set(fold.test)


def test_a_number_is_that_of_scikit_learn():
    for classes, peer in ((True, StratifiedKFold(5)), (False, KFold(5))):
        for given in (None, 5):
            folds = make_folds(given, X, Y, classes=classes)
            for fold, (train, test) in zip(folds, peer.split(X, Y), strict=True):
                np.testing.assert_array_equal(fold.train, train)
                np.testing.assert_array_equal(fold.test, test)


@pytest.mark.parametrize("cv", [None, 3, GroupKFold(3), LeaveOneGroupOut()])
@pytest.mark.parametrize("classes", [True, False])
def test_groups_stay_together(cv, classes):
    for fold in make_folds(cv, X, Y, GROUPS, classes=classes):
        assert not set(GROUPS[fold.train]) & set(GROUPS[fold.test])


def test_pairs_of_numbers_or_masks():
    mask = np.arange(20) < 5
    folds = make_folds([(np.flatnonzero(~mask), mask), ([0, 1], [-1])], X, Y, classes=True)
    np.testing.assert_array_equal(folds[0].test, np.arange(5))
    np.testing.assert_array_equal(folds[1].test, [19])


def test_given_numbers_mean_the_whole_table():
    """Rows 0, 2, 4, ... are there; the folds name rows of the table with all of them."""
    present = np.arange(0, 20, 2)
    [fold] = make_folds(
        [(np.arange(10), np.arange(10, 20))], X[present], Y[present], classes=True, present=present
    )
    np.testing.assert_array_equal(fold.train, np.arange(5))
    np.testing.assert_array_equal(fold.test, np.arange(5, 10))


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([([0, 1, 2], [2, 3])], "Fold 0 of cv trains on row 2 and predicts it too"),
        ([([0, 1], [2]), ([0], [])], "Fold 1 of cv must hold row numbers"),
        ([([0, 1], [20])], "names a row beyond the 20 rows"),
        ([([0.5], [1])], "must hold row numbers"),
        ([], "no folds at all"),
        (1, "at least 2 folds"),
        (GroupKFold(2), "pass groups="),
    ],
)
def test_bad_folds(cv, message):
    with pytest.raises(ValueError, match=message):
        make_folds(cv, X, Y, classes=False)
