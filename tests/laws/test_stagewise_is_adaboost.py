"""AdaBoost is forward stagewise modelling with exponential loss (Friedman et al. 2000)."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier as PeerTree

from weald import AdaBoostClassifier, DecisionTreeClassifier, StagewiseClassifier

MEMBERS = {
    "default": None,
    "exact stumps": DecisionTreeClassifier(max_depth=1),
    "small trees": DecisionTreeClassifier(max_depth=2, max_bins=255, min_samples_leaf=5),
    "trees of scikit-learn": PeerTree(max_depth=1, random_state=0),
    "lines": LogisticRegression(max_iter=1000),
}


def problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] - X[:, 1] * X[:, 2] + rng.normal(size=300) > 0.3, "yes", "no")
    return X, y, rng.uniform(0.2, 3, 300)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("member", MEMBERS)
def test_the_same_members_votes_and_weights(member, seed, weighted):
    X, y, w = problem(seed)
    w = w if weighted else None
    settings = {"n_estimators": 20, "random_state": 0}
    ada = AdaBoostClassifier(MEMBERS[member], keep_weights=True, **settings).fit(X, y, w)
    fsam = StagewiseClassifier(MEMBERS[member], **settings).fit(X, y, w)
    assert ada.n_estimators_ == fsam.n_estimators_
    assert fsam.n_estimators_ == 20 or member == "lines"  # which find no edge after some rounds
    np.testing.assert_array_equal(ada.member_predictions(X), fsam.member_predictions(X))
    np.testing.assert_allclose(ada.alphas_, fsam.steps_, rtol=1e-8)
    np.testing.assert_allclose(
        ada.normalizers_, fsam.train_losses_[1:] / fsam.train_losses_[:-1], rtol=1e-8
    )
    start = np.ones(len(y)) if w is None else w
    y01 = (y == fsam.classes_[1]) * 1.0
    scores = [np.zeros(len(y)), *fsam.staged_decision_function(X)]
    for weights, F in zip(ada.weights_, scores, strict=True):
        pull = start * np.abs(fsam.loss_.gradient(y01, F))
        np.testing.assert_allclose(weights, pull / pull.sum(), rtol=1e-8)
    np.testing.assert_allclose(ada.predict_proba(X), fsam.predict_proba(X), rtol=1e-8)


def test_the_same_on_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    ada = AdaBoostClassifier(n_estimators=50).fit(X, y)
    fsam = StagewiseClassifier(n_estimators=50).fit(X, y)
    np.testing.assert_allclose(ada.alphas_, fsam.steps_, rtol=1e-8)
    np.testing.assert_array_equal(ada.predict(X), fsam.predict(X))


def test_the_same_end_if_a_member_is_never_wrong():
    X = np.arange(10.0)[:, None]
    y = X[:, 0] > 4
    ada, fsam = AdaBoostClassifier().fit(X, y), StagewiseClassifier().fit(X, y)
    assert ada.stop_reason_ == fsam.stop_reason_ == "perfect"
    np.testing.assert_allclose(ada.alphas_, fsam.steps_, rtol=1e-12)
