"""How members vote, and what their votes weigh."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as PeerTree

from bagging.cases import CANCER, DIABETES, WINE
from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    combining,
)


@pytest.mark.parametrize("weighting", ["uniform", "oob", [1, 0, 2, 3, 0.5]], ids=str)
@pytest.mark.parametrize("member", [None, GaussianNB(), KNeighborsClassifier(2)], ids=str)
def test_votings(member, weighting):
    X, y = WINE
    settings = {"max_samples": 30, "max_features": 4, "random_state": 0, "weighting": weighting}
    soft = BaggingClassifier(member, 5, **settings).fit(X, y)
    hard = BaggingClassifier(member, 5, voting="hard", **settings).fit(X, y)
    said, weights = soft.member_predictions(X), soft.member_weights_
    assert weights.mean() == pytest.approx(1)
    np.testing.assert_allclose(soft.predict_proba(X), combining.soft_vote(said, weights))
    np.testing.assert_allclose(hard.predict_proba(X), combining.weighted_vote(said, weights))
    for bag in (soft, hard):
        shares = bag.predict_proba(X)
        np.testing.assert_array_equal(bag.predict(X), shares.argmax(axis=1))
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(bag.predict_log_proba(X), np.log(shares), atol=1e-9)


def test_members_without_shares_vote():
    class Plain(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.tree_ = PeerTree(max_depth=2).fit(X, y)
            self.classes_ = self.tree_.classes_
            return self

        def predict(self, X):
            return self.tree_.predict(X)

    X, y = WINE
    bag = BaggingClassifier(Plain(), 5, random_state=0, oob_score=False).fit(X, y)
    said = bag.member_predictions(X)
    assert set(np.unique(said)) == {0, 1}
    np.testing.assert_allclose(bag.predict_proba(X), said.mean(axis=0))
    assert not hasattr(bag, "decision_function")
    assert not hasattr(bag, "apply")


@pytest.mark.parametrize("member", [None, GaussianNB()], ids=str)
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_weights_from_out_of_bag_accuracy(member, voting):
    X, y = WINE
    bag = BaggingClassifier(
        member, 12, voting=voting, weighting="oob", max_features=2, random_state=0
    ).fit(X, y)
    out = bag.in_bag_ == 0
    right = bag.member_predictions(X).argmax(axis=2) == y
    accuracy = np.array([r[o].mean() for r, o in zip(right, out, strict=True)])
    weights = combining.weights_from_accuracy(accuracy, out.sum(axis=1), 3)
    np.testing.assert_allclose(bag.member_weights_, weights / weights.mean())
    values = bag.member_predictions(X)
    values = combining.votes(values) if voting == "hard" else values
    mass = (weights[:, None] * out)[:, :, None]
    expected = (values * mass).sum(axis=0) / mass.sum(axis=0)
    np.testing.assert_allclose(bag.oob_decision_function_, expected)
    assert bag.oob_score_ == np.mean(expected.argmax(axis=1) == y)


@pytest.mark.parametrize("member", [None, Ridge()], ids=str)
def test_weights_from_out_of_bag_errors(member):
    X, y = DIABETES
    for target in (y, np.c_[y, X[:, 2] * 1e-6]):
        bag = BaggingRegressor(member, 15, weighting="oob", max_features=3, random_state=0)
        bag.fit(X, target)
        out = bag.in_bag_ == 0
        squares = (bag.member_predictions(X) - target) ** 2 / target.var(axis=0)
        squares = squares if target.ndim == 1 else squares.mean(axis=2)
        error = np.array([s[o].mean() for s, o in zip(squares, out, strict=True)])
        weights = combining.weights_from_squared_error(error, out.sum(axis=1))
        np.testing.assert_allclose(bag.member_weights_, weights / weights.mean())
        assert bag.oob_prediction_.shape == target.shape


def test_weights_help_where_members_differ_in_quality():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=400)
    settings = {"n_estimators": 60, "max_features": 2, "random_state": 0}
    alike = BaggingRegressor(**settings).fit(X[:200], y[:200])
    weighed = BaggingRegressor(weighting="oob", **settings).fit(X[:200], y[:200])
    assert weighed.score(X[200:], y[200:]) > alike.score(X[200:], y[200:]) + 0.1


# --- costs and weights of classes ---------------------------------------------------------------

COSTS = [[0, 1], [50, 0]]


@pytest.mark.parametrize("weighting", ["uniform", "oob"])
def test_a_soft_vote_minds_the_costs_of_its_members(weighting):
    X, y = CANCER
    tree = DecisionTreeClassifier(cost_matrix=COSTS, max_depth=2)
    bag = BaggingClassifier(tree, 30, random_state=0, oob_score=True, weighting=weighting)
    bag.fit(X, y)
    cheapest = (bag.predict_proba(X) @ COSTS).argmin(axis=1)
    np.testing.assert_array_equal(bag.predict(X), cheapest)
    assert (bag.predict(X) != bag.predict_proba(X).argmax(axis=1)).any()
    guess = (bag.oob_decision_function_ @ COSTS).argmin(axis=1)
    assert bag.oob_score_ == np.mean(guess == y)
    one = BaggingClassifier(tree, 1, bootstrap=False).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), tree.fit(X, y).predict(X))


def test_costs_and_labels_other_than_codes():
    X, y = CANCER
    tree = DecisionTreeClassifier(cost_matrix=COSTS, max_depth=2)
    codes = BaggingClassifier(tree, 5, random_state=0).fit(X, y)
    names = BaggingClassifier(tree, 5, random_state=0).fit(X, np.array(["bad", "good"])[y])
    np.testing.assert_array_equal(names.predict(X) == "good", codes.predict(X) == 1)


def test_members_that_vote_mind_costs_themselves():
    X, y = CANCER
    tree = DecisionTreeClassifier(cost_matrix=COSTS, max_depth=2)
    bag = BaggingClassifier(tree, 12, voting="hard", random_state=0).fit(X, y)
    np.testing.assert_array_equal(bag.predict(X), bag.predict_proba(X).argmax(axis=1))
    trees = bag.set_params(estimator=DecisionTreeClassifier(max_depth=2), voting="soft").fit(X, y)
    np.testing.assert_array_equal(trees.predict(X), trees.predict_proba(X).argmax(axis=1))


@pytest.mark.parametrize(
    "member",
    [
        DecisionTreeClassifier(max_depth=3),
        DecisionTreeClassifier(max_depth=3, ccp_alpha="cv"),
        DecisionTreeClassifier(max_depth=3, cost_matrix=1 - np.eye(3)),
        PeerTree(max_depth=3),
        make_pipeline(StandardScaler(), PeerTree(max_depth=3)),
    ],
    ids=str,
)
def test_weights_of_classes_are_given_by_label(member):
    X, y = WINE
    names = np.array(["c", "b", "a"])[y]  # codes in another order than labels of WINE
    key = next(key for key in member.get_params() if key.endswith("class_weight"))
    given = {"a": 1.0, "b": 2.0, "c": 30.0}
    member = clone(member).set_params(**{key: given})
    bag = BaggingClassifier(member, 4, random_state=0).fit(X, names)
    member.set_params(**{key: {0: 1.0, 1: 2.0, 2: 30.0}})
    coded = BaggingClassifier(member, 4, random_state=0).fit(X, 2 - y)
    np.testing.assert_allclose(bag.predict_proba(X), coded.predict_proba(X))
    assert bag.estimator_.get_params()[key] == {0: 1.0, 1: 2.0, 2: 30.0}


@pytest.mark.parametrize(
    ("pruned", "said"),
    [
        (0.0, r"^The classes, \['a', 'b', 'c'\], are not in class_weight"),
        ("cv", "^class_weight of the estimator weighs 0, which is no label of y"),
    ],
)
def test_weights_of_classes_that_are_not_there(pruned, said):
    X, y = WINE
    names = np.array(["a", "b", "c"])[y]
    tree = DecisionTreeClassifier(ccp_alpha=pruned, class_weight={0: 1, 1: 2, 2: 3})
    with pytest.raises(ValueError, match=said):
        BaggingClassifier(tree, 2).fit(X, names)
    tree.set_params(class_weight={"a": 1, "b": 2, "c": 3, "d": 4})
    assert BaggingClassifier(tree, 2).fit(X, names).n_estimators_ == 2
