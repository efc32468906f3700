"""Which rows a tree sees: by size, weight, group and class."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification

import weald
from forest.cases import (
    CLASSIFIERS,
    LABELS,
    NEW,
    NOISY,
    X,
    answers,
    rng,
    same,
    target,
)
from weald import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)


def test_bootstrap_leaves_out_a_third():
    forest = RandomForestClassifier(200, random_state=0, max_depth=1).fit(X, LABELS)
    in_bag = forest.in_bag_
    assert in_bag.shape == (200, len(X))
    assert (in_bag.sum(axis=1) == len(X)).all()
    expected = (1 - 1 / len(X)) ** len(X)
    assert abs((in_bag == 0).mean() - expected) < 0.01
    rows = forest.estimators_samples_[7]
    np.testing.assert_array_equal(np.bincount(rows, minlength=len(X)), in_bag[7])


def test_a_tree_learned_from_the_rows_it_drew():
    one, new = X[:, :1], NEW[:, :1]  # between equal columns a forest chooses at random
    forest = RandomForestRegressor(3, random_state=0, max_features=None, max_bins=None)
    forest.fit(one, NOISY)
    for member, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        alone = weald.DecisionTreeRegressor().fit(one[rows], NOISY[rows])
        np.testing.assert_allclose(member.predict(new), alone.predict(new), rtol=1e-12)


def test_the_members_of_an_absolute_error_forest_know_their_importances():
    forest = RandomForestRegressor(3, criterion="absolute_error", random_state=0).fit(X, NOISY)
    each = np.array([member.feature_importances_ for member in forest.estimators_])
    np.testing.assert_allclose(each.mean(axis=0), forest.feature_importances_)
    again = pickle.loads(pickle.dumps(forest.estimators_[0]))
    np.testing.assert_array_equal(again.feature_importances_, each[0])


def test_ties_between_columns_favour_none_of_them():
    """Copies of one column tie everywhere: each must be taken about as often as the others."""
    copies = np.repeat(X[:, :1], 4, axis=1)
    for kind in (RandomForestRegressor, RandomForestClassifier, ExtraTreesClassifier):
        target = NOISY if kind is RandomForestRegressor else LABELS
        for max_features in (2, None):
            forest = kind(20, max_features=max_features, random_state=0).fit(copies, target)
            taken = np.concatenate([member.tree_.feature for member in forest.estimators_])
            shares = np.bincount(taken[taken >= 0], minlength=4) / (taken >= 0).sum()
            assert np.abs(shares - 0.25).max() < 0.03


@pytest.mark.parametrize(("max_samples", "size"), [(None, 300), (40, 40), (0.2, 60), (1.5, 450)])
def test_rows_per_tree(max_samples, size):
    forest = RandomForestClassifier(3, max_samples=max_samples, random_state=0).fit(X, LABELS)
    assert (forest.in_bag_.sum(axis=1) == size).all()


def test_few_rows_per_tree_are_remarked_on():
    with pytest.warns(UserWarning, match="is only 3"):
        RandomForestClassifier(2, max_samples=0.01).fit(X, LABELS)


def test_rows_are_drawn_by_weight():
    weights = np.where(np.arange(300) < 100, 3.0, np.where(np.arange(300) < 200, 1.0, 0.0))
    forest = RandomForestClassifier(300, random_state=0, max_depth=1)
    in_bag = forest.fit(X, LABELS, sample_weight=weights).in_bag_
    assert (in_bag.sum(axis=1) == 200).all()  # rows without weight count as absent
    assert in_bag[:, 200:].sum() == 0
    share = in_bag[:, :100].sum() / in_bag.sum()
    assert abs(share - 0.75) < 0.01
    half = RandomForestClassifier(2, max_samples=0.5).fit(X, LABELS, sample_weight=weights)
    assert (half.in_bag_.sum(axis=1) == 200).all()  # a share of the weight


def test_equal_weights_draw_like_none():
    plain = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    assert same(plain, RandomForestClassifier(5, random_state=0).fit(X, LABELS, np.full(300, 2.5)))


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, ExtraTreesRegressor])
def test_without_drawing_weight_is_repetition(kind):
    times = rng.integers(0, 4, len(X))
    weighted = kind(5, random_state=0).fit(X, target(kind), sample_weight=times)
    rows = np.repeat(np.arange(len(X)), times)
    repeated = kind(5, random_state=0).fit(X[rows], target(kind)[rows])
    np.testing.assert_allclose(answers(weighted), answers(repeated), rtol=1e-12)
    assert (weighted.in_bag_ == (times > 0)).all()


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_groups_are_drawn_as_a_whole(kind):
    groups = np.array([f"household {i}" for i in rng.integers(0, 40, len(X))])
    forest = kind(30, oob_score=True, random_state=0).fit(X, target(kind), groups=groups)
    in_bag = forest.in_bag_
    for group in np.unique(groups):
        of_group = in_bag[:, groups == group]
        assert (of_group == of_group[:, :1]).all()
    # The out-of-bag score of a row comes from trees that saw none of its group.
    member = forest.member_predictions(X)
    out = (in_bag == 0).reshape(in_bag.shape + (1,) * (member.ndim - 2))
    with np.errstate(invalid="ignore"):
        expected = (member * out).sum(axis=0) / out.sum(axis=0)
    got = forest.oob_decision_function_ if kind in CLASSIFIERS else forest.oob_prediction_
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_groups_that_make_no_sense():
    forest = RandomForestClassifier(2)
    with pytest.raises(ValueError, match=r"groups must have shape \(300,\)"):
        forest.fit(X, LABELS, groups=[1, 2])
    with pytest.raises(ValueError, match="one group"):
        forest.fit(X, LABELS, groups=np.zeros(300))
    with pytest.raises(ValueError, match="groups contains missing"):
        forest.fit(X, LABELS, groups=[None] * 10 + ["a"] * 290)
    with pytest.raises(ValueError, match="need bootstrap=True"):
        ExtraTreesClassifier(2).fit(X, LABELS, groups=np.arange(300))
    with pytest.raises(ValueError, match="give up one"):
        RandomForestClassifier(2, bootstrap="balanced").fit(X, LABELS, groups=np.arange(300))


def test_groups_without_weight_are_absent():
    groups = np.repeat(np.arange(30), 10)
    weights = (groups % 3 > 0).astype(float)
    forest = RandomForestRegressor(20, random_state=0).fit(X, NOISY, weights, groups)
    assert forest.in_bag_[:, weights == 0].sum() == 0
    assert (forest.in_bag_.sum(axis=1) == 200).all()


def test_balanced_draws_for_rare_classes():
    many, y = make_classification(2000, weights=[0.95], flip_y=0.05, random_state=0)
    balanced = RandomForestClassifier(50, bootstrap="balanced", random_state=0).fit(many, y)
    rare = np.bincount(y).min()
    for counts in balanced.in_bag_:
        np.testing.assert_array_equal(np.bincount(y, weights=counts), [rare, rare])
    plain = RandomForestClassifier(50, random_state=0).fit(many, y)
    hits = [f.predict_proba(many)[:, 1].mean() for f in (plain, balanced)]
    assert hits[1] > hits[0] + 0.1
    half = RandomForestClassifier(2, bootstrap="balanced", max_samples=0.5).fit(many, y)
    assert (half.in_bag_.sum(axis=1) == 2 * (rare // 2)).all()


def test_class_weights_on_top_of_balanced_draws():
    settings = {"bootstrap": "balanced", "max_depth": 2, "random_state": 0}
    shares = [
        RandomForestClassifier(30, class_weight=given, **settings).fit(X, LABELS).predict_proba(NEW)
        for given in (None, "balanced_subsample", {"low": 1, "mid": 1, "top": 9})
    ]
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-12)
    assert (shares[2][:, 2] > shares[0][:, 2]).all()
    light = RandomForestClassifier(5, class_weight={"low": 0.0, "mid": 1, "top": 1}, **settings)
    assert light.fit(X, LABELS).in_bag_[:, LABELS == "low"].sum() == 0


def test_balanced_draws_say_what_they_cannot_do():
    with pytest.raises(ValueError, match="single output"):
        RandomForestClassifier(bootstrap="balanced").fit(X, np.c_[LABELS, LABELS])
    with pytest.raises(ValueError, match="bootstrap must be True or False"):
        RandomForestRegressor(bootstrap="even").fit(X, NOISY)


@pytest.mark.parametrize("word", ["balanced", "balanced_subsample", {"low": 9, "mid": 1, "top": 1}])
def test_class_weights_move_the_shares(word):
    uneven = np.r_[np.flatnonzero(LABELS == "low")[:15], np.flatnonzero(LABELS != "low")]
    settings = {"random_state": 0, "max_depth": 3}
    plain = RandomForestClassifier(30, **settings).fit(X[uneven], LABELS[uneven])
    weighted = RandomForestClassifier(30, class_weight=word, **settings)
    weighted.fit(X[uneven], LABELS[uneven])
    assert answers(weighted)[:, 0].mean() > answers(plain)[:, 0].mean() + 0.1


def test_class_weight_words():
    with pytest.raises(ValueError, match="'balanced', 'balanced_subsample'"):
        RandomForestClassifier(class_weight="equal").fit(X, LABELS)
    with pytest.raises(ValueError, match="max_samples=10 needs rows to be drawn"):
        ExtraTreesClassifier(max_samples=10).fit(X, LABELS)
    with pytest.raises(ValueError, match="max_samples must be"):
        RandomForestClassifier(max_samples=0.0).fit(X, LABELS)
