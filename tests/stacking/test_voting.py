"""A vote counts classes as scikit-learn's does, and only classes."""

import numpy as np
import pytest
from sklearn import ensemble as sk
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import weald


@pytest.mark.parametrize("weights", [None, [1, 1, 1], [0.3, 0.3, 0.6], [5, 1, 1]])
@pytest.mark.parametrize("seed", range(5))
def test_a_hard_vote_is_scikit_learns(weights, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 3)), np.array(["a", "b", "c", "d"])[rng.integers(0, 4, 200)]
    members = [
        ("one", DecisionTreeClassifier(max_depth=1, random_state=seed)),
        ("two", GaussianNB()),
        ("three", DummyClassifier(strategy="uniform", random_state=seed)),
    ]
    ours = weald.VotingClassifier(members, weights=weights).fit(X, y)
    theirs = sk.VotingClassifier(members, weights=weights).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("code", [-1, 3, 0.5, 2**31, 2**63 - 1])
def test_what_is_no_class_is_not_counted(code):
    class Stubborn(DummyClassifier):
        def predict(self, X):
            return np.full(len(X), code)

    X, y = np.zeros((6, 1)), [0, 1, 2, 0, 1, 2]
    vote = weald.VotingClassifier([("one", Stubborn())]).fit(X, y)
    with pytest.raises(ValueError, match=r"^A member of this vote predicts a class that is not"):
        vote.predict(X)
