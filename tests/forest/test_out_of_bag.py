"""Out-of-bag scores of forests."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, f1_score, make_scorer, r2_score
from sklearn.model_selection import cross_val_score

from forest.cases import LABELS, NOISY, X
from weald import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)


def test_out_of_bag_from_scratch():
    """The definition, tree by tree."""
    forest = RandomForestClassifier(25, oob_score=True, random_state=0).fit(X, LABELS)
    out = forest.in_bag_ == 0
    members = forest.member_predictions(X)
    codes = np.searchsorted(forest.classes_, LABELS)
    for t in (1, 4, 25):
        sums = (members * out[:, :, None])[:t].sum(axis=0)
        seen = out[:t].any(axis=0)
        right = (sums.argmax(axis=1) == codes)[seen].mean()
        assert forest.oob_score_curve_[t - 1] == pytest.approx(right, abs=0)
        assert forest.oob_error_curve_[t - 1] == pytest.approx(1 - right, abs=1e-15)
    mean = sums / out.sum(axis=0)[:, None]
    np.testing.assert_allclose(forest.oob_decision_function_, mean, rtol=1e-12)
    assert forest.oob_score_ == forest.oob_score_curve_[-1]


@pytest.mark.parametrize("outputs", [1, 2])
def test_out_of_bag_of_numbers(outputs):
    y = NOISY if outputs == 1 else np.c_[NOISY, X[:, 2]]
    forest = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    assert forest.oob_prediction_.shape == y.shape
    assert forest.oob_score_ == pytest.approx(r2_score(y, forest.oob_prediction_))
    assert forest.oob_error_curve_[-1] == pytest.approx(((y - forest.oob_prediction_) ** 2).mean())
    assert forest.oob_error_curve_[-1] < forest.oob_error_curve_[2]


def test_out_of_bag_of_several_labels():
    Y = np.c_[LABELS, np.where(X[:, 2] > 0, "yes", "no")]
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, Y)
    shares = forest.oob_decision_function_
    assert shares.shape == (300, 3, 2)
    assert (shares[:, 2, 1] == 0).all()  # the second output has two classes
    chosen = np.stack([forest.classes_[k].take(shares[:, :, k].argmax(1)) for k in (0, 1)], axis=1)
    assert forest.oob_score_ == (chosen == Y).all(axis=1).mean()


def test_a_scorer_gets_labels():
    def of_top(truth, says):
        assert set(says) <= set(truth) <= {"low", "mid", "top"}
        return f1_score(truth, says, average=None, labels=["top"])[0]

    forest = RandomForestClassifier(40, oob_score=of_top, random_state=0).fit(X, LABELS)
    says = forest.classes_.take(forest.oob_decision_function_.argmax(axis=1))
    assert forest.oob_score_ == of_top(LABELS, says)
    assert forest.oob_error_curve_[-1] == pytest.approx(1 - accuracy_score(LABELS, says))


def test_out_of_bag_tracks_the_test_error():
    many, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(100, oob_score=True, random_state=0)
    assert abs(forest.fit(many, y).oob_score_ - cross_val_score(forest, many, y).mean()) < 0.015


def test_rows_that_every_tree_drew():
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        forest = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, LABELS)
    never = (forest.in_bag_ > 0).all(axis=0)
    np.testing.assert_array_equal(np.isnan(forest.oob_decision_function_).any(axis=1), never)
    assert np.isfinite(forest.oob_score_)


def test_rows_without_weight_do_not_count_in_the_score():
    weights = (np.arange(300) < 200).astype(float)
    wrong = np.where(weights > 0, LABELS, "low")
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, wrong, weights)
    says = forest.classes_.take(forest.oob_decision_function_.argmax(axis=1))
    assert forest.oob_score_ == (says == wrong)[:200].mean()


def test_out_of_bag_needs_drawn_rows():
    with pytest.raises(ValueError, match="only available if bootstrap=True"):
        ExtraTreesClassifier(oob_score=True).fit(X, LABELS)
    forest = RandomForestClassifier(20, oob_score=True, random_state=0).fit(X, LABELS)
    assert not hasattr(forest.set_params(oob_score=False).fit(X, LABELS), "oob_score_")


@pytest.mark.parametrize("given", ["accuracy", None, 1, make_scorer(accuracy_score)], ids=str)
def test_what_is_no_metric(given):
    forest = RandomForestClassifier(oob_score=given)
    with pytest.raises(ValueError, match=r"metric\(y_true, y_pred\), greater is better"):
        forest.fit(X, LABELS)
    assert not hasattr(forest, "forest_")
