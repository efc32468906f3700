"""Numbers at the edge of what a float can hold, and weights."""

import numpy as np
import pandas as pd
import pytest

from input.bad_cases import ALL, REGRESSORS, X, Y, assert_healthy, frame, refuses, try_to_fit
from weald import DecisionTreeClassifier, DecisionTreeRegressor

# --- numbers at the edge ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_integers_are_not_squeezed_into_float32(kind):
    column = np.array([[2**24], [2**24 + 1], [2**24 + 2], [2**24 + 3]], dtype=np.int64)
    est = kind().fit(column, [0, 1, 0, 1])
    np.testing.assert_array_equal(est.predict(column), [0, 1, 0, 1])


@pytest.mark.parametrize("kind", ALL)
def test_huge_integers(kind):
    # Beyond 2**53 neighbouring integers would merge in silence: a sentence is due, or exact work.
    for top, dtype in ((2**63 - 1, np.int64), (2**64 - 1, np.uint64)):
        column = np.array([[top], [top - 1], [top - 2], [top - 3], [0], [7]], dtype=dtype)
        est = kind(random_state=0)
        if try_to_fit(est, column, Y, sentence=r"(?i)column 0\b"):
            np.testing.assert_array_equal(est.predict(column), Y)
    assert_healthy(kind(random_state=0).fit(np.array([[2**53 - 1]] * 6), Y), [[2**53 - 1]])
    data = frame(age=pd.Series([10**400, 1, 2, 3, 4, 5], dtype=object))
    with refuses("age"):
        kind().fit(data, Y)


def test_neighbouring_huge_labels_stay_apart():
    labels = np.array([2**62, 2**62 + 1, 2**62, 2**62 + 1, 2**62, 2**62 + 1])
    est = DecisionTreeClassifier().fit(X, labels)
    assert est.classes_.tolist() == [2**62, 2**62 + 1]
    assert est.predict(X).tolist() == labels.tolist()


@pytest.mark.parametrize("kind", REGRESSORS)
def test_large_and_small_targets(kind):
    for scale in (1e-150, 1e-7, 1e8, 1e100, 1e150, 1e300):
        est = kind(random_state=0)
        if not try_to_fit(est, X, scale * (1 + Y), sentence=r"\by\b"):
            assert scale >= 1e100
        elif scale > 1e-150:  # there the variance underflows, and the node counts as pure
            np.testing.assert_allclose(est.predict(X), scale * (1 + Y))


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_large_offset_hides_no_split(kind):
    est = kind(random_state=0).fit(X, 1e9 + Y)
    np.testing.assert_array_equal(est.predict(X), 1e9 + Y)


@pytest.mark.parametrize("kind", ALL)
def test_extreme_values_of_a_column(kind):
    top = np.finfo(np.float64).max
    column = np.array([[-top], [-1e-320], [0.0], [5e-324], [1.0], [top]])
    est = kind(random_state=0).fit(column, Y)
    assert_healthy(est, column)
    if kind in (DecisionTreeClassifier, DecisionTreeRegressor):
        np.testing.assert_array_equal(est.predict(column), Y)


def test_minus_zero_is_zero():
    est = DecisionTreeClassifier().fit([[0.0], [-0.0], [1.0]], [0, 0, 1])
    assert est.apply([[0.0]])[0] == est.apply([[-0.0]])[0]


# --- weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    "weights",
    [
        [1, 1, -1, 1, 1, 1],
        [0] * 6,
        [1, 1, np.nan, 1, 1, 1],
        [1, 1, np.inf, 1, 1, 1],
        [1, 1],
        np.ones((6, 2)),
        ["a"] * 6,
    ],
    ids=["negative", "zero", "nan", "inf", "short", "2D", "strings"],
)
def test_bad_weights(kind, weights):
    with refuses(r"(?i)sample.?weight"):
        kind().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("kind", ALL)
def test_tiny_and_large_weights(kind):
    for scale in (1e-200, 1e-30, 1e30, 1e200):
        est = kind(random_state=0)
        if try_to_fit(est, X, Y, np.full(6, scale), sentence="sample_weight"):
            assert list(est.predict(X)) == list(Y)
        else:
            assert scale in (1e-200, 1e200)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_a_leaf_of_hardly_any_weight(criterion):
    column, target = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 0.0, 0.0])
    est = DecisionTreeRegressor(criterion=criterion)
    est.fit(column, target, sample_weight=[1.0, 5e-324, 5e-324])
    assert_healthy(est, column)
    assert (est.tree_.weighted_n_node_samples > 0).all()
