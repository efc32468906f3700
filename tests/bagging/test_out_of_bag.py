"""Out-of-bag scores of bags, early stopping by them, and groups."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from bagging.cases import BOTH, CANCER, DIABETES, DRAWS, WINE, data_of
from weald import (
    BaggingClassifier,
    BaggingRegressor,
    combining,
)


@pytest.mark.parametrize("draw", ["bagging", "pasting", "patches"])
@pytest.mark.parametrize(
    ("member", "voting"),
    [(None, "soft"), (None, "hard"), (GaussianNB(), "soft"), (KNeighborsClassifier(2), "hard")],
    ids=str,
)
def test_out_of_bag_classes(member, voting, draw):
    X, y = WINE
    y = np.array(["a", "b", "c"])[y]
    bag = BaggingClassifier(
        member, 25, voting=voting, oob_score=True, random_state=0, **DRAWS[draw]
    ).fit(X, y)
    values = bag.member_predictions(X)
    values = combining.votes(values) if voting == "hard" else values
    out = (bag.in_bag_ == 0)[:, :, None]
    for t in (3, 25):
        sums, count = (values * out)[:t].sum(axis=0), out[:t].sum(axis=0)
        scored = count[:, 0] > 0
        right = bag.classes_[sums.argmax(axis=1)] == y
        assert bag.oob_score_curve_[t - 1] == pytest.approx(right[scored].mean())
        assert bag.oob_error_curve_[t - 1] == pytest.approx(1 - right[scored].mean())
    np.testing.assert_allclose(bag.oob_decision_function_, sums / count)
    assert bag.oob_score_ == bag.oob_score_curve_[-1]


@pytest.mark.parametrize("member", [None, KNeighborsRegressor()], ids=str)
def test_out_of_bag_numbers(member):
    X, y = DIABETES
    bag = BaggingRegressor(member, 30, oob_score=True, random_state=0).fit(X, y)
    out = bag.in_bag_ == 0
    expected = (bag.member_predictions(X) * out).sum(axis=0) / out.sum(axis=0)
    np.testing.assert_allclose(bag.oob_prediction_, expected)
    error = np.mean((expected - y) ** 2)
    assert bag.oob_error_curve_[-1] == pytest.approx(error)
    assert bag.oob_score_ == pytest.approx(1 - error / y.var())


def test_out_of_bag_by_a_score_of_ones_own():
    X, y = CANCER
    for member in (None, GaussianNB()):
        bag = BaggingClassifier(member, 20, oob_score=balanced_accuracy_score, random_state=0)
        bag.fit(X, y)
        guess = bag.oob_decision_function_.argmax(axis=1)
        assert bag.oob_score_ == pytest.approx(balanced_accuracy_score(y, guess))


@pytest.mark.parametrize("settings", [{}, {"weighting": "oob"}])
@pytest.mark.parametrize(("kind", "member"), BOTH, ids=str)
def test_early_stop_is_a_prefix(kind, member, settings):
    X, y = data_of(kind)
    settings = {"random_state": 0, "max_samples": 0.5, **settings}
    short = kind(member, 200, n_iter_no_change=6, tol=1e-3, **settings).fit(X, y)
    long = kind(member, 120, oob_score=True, **settings).fit(X, y)
    n = short.n_estimators_
    assert 6 < n < 120
    assert len(short.oob_score_curve_) == len(short.member_weights_) == n
    np.testing.assert_array_equal(short.oob_score_curve_, long.oob_score_curve_[:n])
    np.testing.assert_array_equal(short.member_predictions(X), long.member_predictions(X)[:n])
    best = np.maximum.accumulate(short.oob_score_curve_)
    assert best[-1] <= best[-7] + 1e-3


def test_groups_are_drawn_as_a_whole():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 400)
    X = rng.normal(size=(40, 3))[groups] + 0.01 * rng.normal(size=(400, 3))
    y = rng.integers(0, 2, 40)[groups]  # nothing to learn but the group itself
    for member in (None, KNeighborsClassifier(1)):
        bag = BaggingClassifier(member, 30, oob_score=True, random_state=0)
        assert bag.fit(X, y).oob_score_ > 0.9
        assert bag.fit(X, y, groups=groups.astype(str)).oob_score_ < 0.75
        for group in range(40):
            inside = bag.in_bag_[:, groups == group]
            assert (inside == inside[:, :1]).all()


@pytest.mark.parametrize("member", [None, GaussianNB()], ids=str)
def test_a_lucky_first_member_does_not_stop_the_growth(member):
    X, y = make_classification(300, n_informative=6, class_sep=0.5, random_state=0)
    for seed in range(3):
        bag = BaggingClassifier(member, 300, n_iter_no_change=5, random_state=seed).fit(X, y)
        assert (bag.in_bag_[:-5] == 0).any(axis=0).mean() >= 0.99
        assert 12 < len(bag) < 100


@pytest.mark.parametrize("member", [None, GaussianNB()], ids=str)
@pytest.mark.parametrize("given", ["accuracy", make_scorer(balanced_accuracy_score)], ids=str)
def test_what_is_no_metric(member, given):
    with pytest.raises(ValueError, match=r"metric\(y_true, y_pred\), greater is better"):
        BaggingClassifier(member, oob_score=given).fit(*WINE)
