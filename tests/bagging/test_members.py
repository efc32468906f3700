"""Seeds of members, copies of bags, and fits that fail."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as PeerTree

from bagging.cases import WINE
from weald import (
    BaggingClassifier,
    ExtraTreeClassifier,
)


def test_members_have_seeds_of_their_own():
    X, y = WINE
    member = make_pipeline(StandardScaler(), PeerTree(max_features=1, random_state=3))
    bag = BaggingClassifier(member, 5, random_state=0).fit(X, y)
    seeds = [one[-1].random_state for one in bag.estimators_]
    assert len(set(seeds)) == 5
    assert member[-1].random_state == 3
    assert bag.estimator_ is member
    trees = BaggingClassifier(ExtraTreeClassifier(), 5, random_state=0).fit(X, y)
    assert len({one.random_state for one in trees.estimators_}) == 5


def test_pickles_and_clones():
    X, y = WINE
    for member in (None, GaussianNB()):
        bag = BaggingClassifier(member, 5, max_features=3, random_state=0, weighting="oob")
        bag.fit(X, y)
        again = pickle.loads(pickle.dumps(bag))
        np.testing.assert_array_equal(again.predict_proba(X), bag.predict_proba(X))
        np.testing.assert_array_equal(again.in_bag_, bag.in_bag_)
        np.testing.assert_array_equal(
            again.estimators_[1].predict(X[:, again.estimators_features_[1]]),
            bag.estimators_[1].predict(X[:, bag.estimators_features_[1]]),
        )
        assert not hasattr(clone(bag), "seed_")


class Fragile(GaussianNB):
    """Is interrupted, or breaks, at the fit of a given number."""

    fits = 0

    def __init__(self, at=5, error=KeyboardInterrupt):
        super().__init__()
        self.at = at
        self.error = error

    def fit(self, X, y, sample_weight=None):
        Fragile.fits += 1
        if Fragile.fits == self.at:
            raise self.error("stop")
        return super().fit(X, y, sample_weight)


def test_an_interrupted_fit_may_keep_what_there_is():
    X, y = WINE
    Fragile.fits = 0
    bag = BaggingClassifier(Fragile(), 20, random_state=0, keep_partial=True, oob_score=True)
    with pytest.warns(UserWarning, match=r"stopped: the BaggingClassifier has \d of 20 members"):
        bag.fit(X, y)
    assert 1 <= bag.n_estimators_ < 5
    whole = BaggingClassifier(GaussianNB(), 20, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        bag.member_predictions(X), whole.member_predictions(X)[: bag.n_estimators_]
    )
    assert len(bag.oob_score_curve_) == bag.n_estimators_


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_failed_fit_leaves_the_old_model(error):
    X, y = WINE
    Fragile.fits = -100
    bag = BaggingClassifier(Fragile(error=error), 3, random_state=0, oob_score=False).fit(X, y)
    before = bag.predict_proba(X)
    Fragile.fits = 0
    with pytest.raises(error):
        bag.set_params(n_estimators=9).fit(X[:, :5], y > 0)
    np.testing.assert_array_equal(bag.predict_proba(X), before)
    assert bag.n_features_in_ == 13


def test_progress_goes_to_standard_error(capfd):
    X, y = WINE
    for member in (None, GaussianNB()):
        BaggingClassifier(member, 5, verbose=1, max_samples=20, random_state=0).fit(X, y)
        out, err = capfd.readouterr()
        assert out == ""
        assert "BaggingClassifier" in err
        BaggingClassifier(member, 5).fit(X, y)
        assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("member", [None, GaussianNB()], ids=str)
def test_members_join_lists_but_cannot_be_set(member):
    X, y = WINE
    a, b = (BaggingClassifier(member, n, random_state=0).fit(X, y) for n in (2, 3))
    assert len(a.estimators_ + b.estimators_) == 5
    assert len(list(a.estimators_) + b.estimators_) == 5
    with pytest.raises(AttributeError, match=r"cannot be set: .* weald\.combining"):
        a.estimators_ += b.estimators_
    assert len(a.estimators_) == 2
    a.predict(X)


def test_the_draws_are_made_once_for_a_fit():
    X, y = WINE
    bag = BaggingClassifier(GaussianNB(), 3, random_state=0).fit(X, y)
    size = len(pickle.dumps(bag))
    assert bag.in_bag_ is bag.in_bag_
    assert len(pickle.dumps(bag)) == size
    assert bag.fit(X[:50], y[:50]).in_bag_.shape == (3, 50)


def test_an_estimator_that_was_changed_after_the_fit():
    X, y = WINE
    bag = BaggingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(NotFittedError, match="estimator was changed since: fit it again"):
        bag.set_params(estimator=RidgeClassifier()).decision_function(X)


@pytest.mark.parametrize("member", [None, GaussianNB()], ids=str)
@pytest.mark.parametrize("n_jobs", [0, "a", 1.5])
def test_jobs_are_checked_in_predict_too(member, n_jobs):
    X, y = WINE
    bag = BaggingClassifier(member, 2).fit(X, y).set_params(n_jobs=n_jobs)
    for ask in (bag.predict, bag.predict_proba, bag.member_predictions):
        with pytest.raises(ValueError, match="n_jobs must be None or a whole number"):
            ask(X)
