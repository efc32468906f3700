"""Shapes, values and types of tables and targets."""

import numpy as np
import pandas as pd
import pytest

from input.bad_cases import ALL, CLASSIFIERS, REGRESSORS, X, Y, assert_healthy, frame, refuses
from weald import DecisionTreeRegressor

# --- shapes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_wrong_shapes(kind):
    with refuses(r"Expected 2D array, got 1D array instead"):
        kind().fit(X[:, 0], Y)
    with refuses(r"Found array with dim 3, while dim <= 2 is required"):
        kind().fit(X[None], Y)
    with refuses(r"y has 5 rows but X has 6"):
        kind().fit(X, Y[:-1])
    with refuses(r"y should be a 1d array .* not an array of shape \(6, 2, 2\)"):
        kind().fit(X, np.zeros((6, 2, 2)))
    with refuses(r"Found array with 0 sample\(s\)"):
        kind().fit(X[:0], Y[:0])
    with refuses(r"Found array with 0 feature\(s\)"):
        kind().fit(X[:, :0], Y)
    with refuses("requires y to be passed, but the target y is None"):
        kind().fit(X, None)


@pytest.mark.parametrize("kind", ALL)
def test_wrong_shapes_at_prediction(kind):
    est = kind().fit(X, Y)
    for method in (est.predict, est.apply, est.decision_path):
        with refuses(rf"X has 3 features, but {kind.__name__} is expecting 2 features"):
            method(np.zeros((4, 3)))
        with refuses("Expected 2D array, got 1D array instead"):
            method(np.zeros(2))
    fitted = kind().fit(frame(), Y)
    with refuses(r"(?s)unseen at fit time:\n- size\n.*yet now missing:\n- age\n"):
        fitted.predict(frame().rename(columns={"age": "size"}))


@pytest.mark.parametrize("kind", ALL)
def test_predict_before_fit(kind):
    for method in ("predict", "apply", "decision_path", "get_depth", "get_n_leaves"):
        arguments = () if method.startswith("get") else (X,)
        with refuses(f"This {kind.__name__} instance is not fitted yet"):
            getattr(kind(), method)(*arguments)


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values_are_named(kind, bad):
    data = X.copy()
    data[3, 1] = bad
    with refuses("^Column 1 contains infinity"):
        kind().fit(data, Y)
    with refuses("^Column 'age' contains infinity"):
        kind().fit(frame(age=data[:, 1]), Y)
    est = kind().fit(X, Y)
    with refuses("^Column 1 contains infinity"):
        est.predict(data)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize(("bad", "what"), [(np.inf, "infinity"), (np.nan, "missing values")])
def test_targets_must_be_finite(kind, bad, what):
    with refuses(f"^y contains {what}"):
        kind().fit(X, np.array([0, 1, 2, 3, 4, bad]))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_labels_must_be_known(kind):
    with refuses("^y contains missing values"):
        kind().fit(X, np.array([0, 1, 0, 1, 0, np.nan]))
    with refuses("^Unknown label type: continuous"):
        kind().fit(X, Y + 0.5 * np.arange(6))


def test_poisson_targets():
    with refuses(r"^Some value\(s\) of y are negative which is not allowed for Poisson"):
        DecisionTreeRegressor(criterion="poisson").fit(X, Y - 1.0)
    with refuses("^Sum of y is not positive which is necessary for Poisson"):
        DecisionTreeRegressor(criterion="poisson").fit(X, np.zeros(6))


@pytest.mark.parametrize("kind", ALL)
def test_all_missing_column_is_never_used(kind):
    for gap in (np.nan, None):
        data = pd.DataFrame({"height": X[:, 0], "empty": [gap] * 6})
        est = kind(random_state=0).fit(data, Y)
        assert set(est.tree_.feature) <= {0, -2}
        assert_healthy(est, data)
    alone = kind().fit(np.full((6, 1), np.nan), Y)
    assert alone.get_n_leaves() == 1
    assert_healthy(alone, np.full((6, 1), np.nan))


@pytest.mark.parametrize("kind", ALL)
def test_constant_columns_are_never_used(kind):
    est = kind(random_state=0).fit(np.c_[np.full(6, 7.0), X], Y)
    assert 0 not in est.tree_.feature
    alone = kind().fit(np.full((6, 1), 7.0), Y)
    assert alone.get_n_leaves() == 1
    assert_healthy(alone, [[7.0], [8.0], [np.nan]])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_class(kind):
    est = kind().fit(X, ["only"] * 6)
    assert list(est.classes_) == ["only"]
    assert est.get_n_leaves() == 1
    assert list(est.predict(X)) == ["only"] * 6
    np.testing.assert_array_equal(est.predict_proba(X), np.ones((6, 1)))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_class_without_weight_keeps_its_column(kind):
    labels = np.array(["a", "b", "c", "a", "b", "c"])
    est = kind().fit(X, labels, sample_weight=labels != "b")
    assert list(est.classes_) == ["a", "b", "c"]
    np.testing.assert_array_equal(est.predict_proba(X)[:, 1], 0)
    assert_healthy(est, X)


@pytest.mark.parametrize("kind", ALL)
def test_one_row(kind):
    est = kind().fit(X[:1], [3])
    assert est.tree_.node_count == 1
    assert list(est.predict(X)) == [3] * 6


@pytest.mark.parametrize("kind", ALL)
def test_constant_target(kind):
    est = kind().fit(X, np.full(6, 4))
    assert est.get_n_leaves() == 1
    np.testing.assert_array_equal(est.predict(X), 4)
    np.testing.assert_array_equal(est.feature_importances_, 0)


@pytest.mark.parametrize("kind", ALL)
def test_unknown_categories_count_as_missing(kind):
    data = pd.DataFrame({"colour": ["red", "blue", "red", "blue", None, "green"]})
    est = kind(random_state=0).fit(data, Y)
    new = pd.DataFrame({"colour": ["mauve", None]})
    leaves = est.apply(new)
    assert leaves[0] == leaves[1]
    assert_healthy(est, new)
    assert est.categories_[0].tolist() == ["blue", "green", "red"]


# --- types ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_columns_of_a_type_that_is_no_number_and_no_category(kind):
    with refuses("^Complex data not supported: Column 0"):
        kind().fit(X + 1j, Y)
    dates = pd.Series(pd.date_range("2020-01-01", periods=6))
    lists = pd.Series([[1], [2], [3], [4], [5], [6]])
    for odd, what in (
        (dates, "dates or times"),
        (dates - dates[0], "lengths of time"),
        (lists, "a value of type 'list'"),
    ):
        with refuses(f"^Column 'age' holds {what}"):
            kind().fit(frame(age=odd.to_numpy() if odd.dtype == object else odd), Y)


@pytest.mark.parametrize("kind", ALL)
def test_a_column_that_mixes_numbers_and_words(kind):
    data = frame(age=pd.Series([1, "two", 3, "four", 5.0, "six"], dtype=object))
    with refuses("^Column 'age' mixes numbers and text"):
        kind().fit(data, Y)


@pytest.mark.parametrize("kind", ALL)
def test_a_number_column_that_turns_into_words(kind):
    est = kind().fit(frame(), Y)
    with refuses("^Column 'age' held numbers in fit but holds text"):
        est.predict(frame(age=["a", "b", "c", "d", "e", "f"]))


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_regressor_needs_numbers(kind):
    with refuses("^y holds text that is not a number"):
        kind().fit(X, ["a", "b", "c", "a", "b", "c"])
