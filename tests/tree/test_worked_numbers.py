"""Numbers worked by hand in the textbook, asked of the public estimators."""

import numpy as np
import pandas as pd
import pytest

from weald import DecisionTreeClassifier, DecisionTreeRegressor

HEIGHT = np.array([175, 180, 175, 172, 165, 169, 170])
AGE = np.array([20, 32, 40, 28, 22, 40, 70])
SEX = np.array(["F", "M", "M", "M", "F", "F", "F"])

STUDENT = ["n", "n", "n", "n", "y", "y", "y", "n"]
CREDIT = ["fair", "exc", "fair", "fair", "fair", "exc", "exc", "exc"]
BUYS = ["n", "n", "y", "y", "y", "n", "y", "n"]


def children_impurity(tree):
    """Weighted mean impurity of the two children of the root of a stump."""
    assert tree.node_count == 3
    return np.average(tree.impurity[1:], weights=tree.weighted_n_node_samples[1:])


def root_gain(est):
    return est.tree_.impurity[0] - children_impurity(est.tree_)


# --- ages by height ---------------------------------------------------------------------------


def test_root_of_the_ages():
    tree = DecisionTreeRegressor(max_depth=1).fit(HEIGHT[:, None], AGE).tree_
    assert tree.impurity[0] == pytest.approx(245.714, abs=5e-4)
    assert tree.value[0, 0, 0] == 36
    assert tree.threshold[0] == 171
    assert tree.impurity[1:] == pytest.approx([392, 52])
    assert tree.value[1:, 0, 0] == pytest.approx([44, 30])


@pytest.mark.parametrize(
    ("height", "left", "right", "expected"),
    [
        (165, 0, 248.556, 32.667),
        (169, 81, 297.6, 10),
        (170, 392, 52, 48),
        (172, 342, 67.556, 21.333),
        (175, 283.556, 0, 2.667),
    ],
)
def test_gain_of_each_candidate(height, left, right, expected):
    # A column that only says on which side a row is leaves the tree one possible split.
    side = (height < HEIGHT).astype(float)[:, None]
    est = DecisionTreeRegressor(max_depth=1).fit(side, AGE)
    assert root_gain(est) == pytest.approx(expected, abs=5e-4)
    assert est.tree_.impurity[1:] == pytest.approx([left, right], abs=5e-4)


def test_the_best_candidate_has_gain_48():
    est = DecisionTreeRegressor(max_depth=1).fit(HEIGHT[:, None], AGE)
    assert root_gain(est) == pytest.approx(48)
    assert list(est.predict([[170], [171], [171.5]])) == pytest.approx([44, 44, 30])


@pytest.mark.parametrize("max_bins", [7, 255])
def test_bins_find_the_same_split(max_bins):
    tree = DecisionTreeRegressor(max_depth=1, max_bins=max_bins).fit(HEIGHT[:, None], AGE).tree_
    assert tree.threshold[0] == 171
    assert tree.impurity[1:] == pytest.approx([392, 52])


def test_a_frame_gives_the_same_numbers_with_names():
    frame = pd.DataFrame({"height": HEIGHT})
    est = DecisionTreeRegressor(max_depth=1).fit(frame, AGE)
    assert list(est.feature_names_in_) == ["height"]
    assert est.tree_.threshold[0] == 171
    assert root_gain(est) == pytest.approx(48)


# --- sexes by height --------------------------------------------------------------------------


def test_gini_gain_of_the_sexes():
    est = DecisionTreeClassifier(max_depth=1).fit(HEIGHT[:, None], SEX)
    assert est.tree_.impurity[0] == pytest.approx(24 / 49)
    assert root_gain(est) == pytest.approx(0.27551, abs=5e-6)
    assert est.tree_.threshold[0] == 171
    assert list(est.classes_) == ["F", "M"]
    assert list(est.predict([[160], [190]])) == ["F", "M"]
    np.testing.assert_allclose(est.predict_proba([[160], [190]]), [[1, 0], [0.25, 0.75]])


# --- eight buyers -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [object, "string", "category"])
@pytest.mark.parametrize(("column", "rate"), [("student", 3 / 8), ("credit", 1 / 4)])
def test_error_rate_of_one_column(column, rate, dtype):
    frame = pd.DataFrame({"student": STUDENT, "credit": CREDIT}).astype(dtype)[[column]]
    est = DecisionTreeClassifier(criterion="misclassification", max_depth=1).fit(frame, BUYS)
    assert est.tree_.impurity[0] == 0.5
    assert children_impurity(est.tree_) == pytest.approx(rate)
    assert np.mean(est.predict(frame) != np.array(BUYS)) == pytest.approx(rate)


def test_credit_is_the_better_column():
    frame = pd.DataFrame({"student": STUDENT, "credit": CREDIT})
    est = DecisionTreeClassifier(criterion="misclassification", max_depth=1).fit(frame, BUYS)
    tree = est.tree_
    assert tree.feature[0] == 1
    assert tree.is_categorical[0]
    assert np.isnan(tree.threshold[0])
    assert est.categories_[0].tolist() == ["n", "y"]
    assert est.categories_[1].tolist() == ["exc", "fair"]
    assert set(est.categories_[1][tree.left_categories(0)]) in ({"exc"}, {"fair"})
    new = pd.DataFrame({"student": ["n", "y"], "credit": ["fair", "exc"]})
    assert list(est.predict(new)) == ["y", "n"]


# --- where the criteria disagree --------------------------------------------------------------

CLASSES = [0, 0, 0, 0, 1, 1, 1, 1]
EVEN = [0, 0, 0, 1, 0, 1, 1, 1]  # {(3,1), (1,3)}
SKEWED = [0, 0, 1, 1, 0, 0, 0, 0]  # {(2,4), (2,0)}


@pytest.mark.parametrize(
    ("criterion", "even", "skewed"),
    [
        ("misclassification", 0.25, 0.25),
        ("gini", 0.375, 0.3333),
        ("entropy", 0.8113, 0.6887),
        ("log_loss", 0.8113, 0.6887),
    ],
)
def test_impurity_left_by_either_split(criterion, even, skewed):
    for column, expected in ((EVEN, even), (SKEWED, skewed)):
        est = DecisionTreeClassifier(criterion=criterion, max_depth=1)
        tree = est.fit(np.array(column)[:, None], CLASSES).tree_
        assert children_impurity(tree) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("order", [0, 1])
def test_gini_and_entropy_prefer_the_skewed_split(criterion, order):
    columns = [EVEN, SKEWED] if order == 0 else [SKEWED, EVEN]
    est = DecisionTreeClassifier(criterion=criterion, max_depth=1)
    assert est.fit(np.column_stack(columns), CLASSES).tree_.feature[0] == 1 - order


@pytest.mark.parametrize("columns", [(EVEN, SKEWED), (SKEWED, EVEN)])
def test_misclassification_ties_and_the_first_column_wins(columns):
    est = DecisionTreeClassifier(criterion="misclassification", max_depth=1)
    assert est.fit(np.column_stack(columns), CLASSES).tree_.feature[0] == 0


# --- bits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["entropy", "log_loss"])
def test_four_equal_classes_have_two_bits_and_halves_leave_one(criterion):
    X = np.array([[0], [0], [1], [1]])
    est = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, list("abcd"))
    assert est.tree_.impurity == pytest.approx([2, 1, 1])
    assert root_gain(est) == pytest.approx(1)


def test_importance_of_one_column_is_one():
    est = DecisionTreeRegressor().fit(np.c_[HEIGHT, np.ones(7)], AGE)
    assert est.feature_importances_ == pytest.approx([1, 0])
