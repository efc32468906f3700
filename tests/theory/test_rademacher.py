"""Rademacher complexities against brute force and closed forms."""

import itertools

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LinearRegression, LogisticRegression

from theory.stump_twin import all_stumps
from weald import DecisionTreeClassifier
from weald.theory import rademacher


def all_signs(n):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def naive(functions, signs):
    """Mean over signs of the best mean agreement, function by function."""
    return np.mean([max(np.mean(s * f) for f in functions) for s in signs])


def random_table(seed):
    random = np.random.default_rng(seed)
    n, d = random.integers(1, 8), random.integers(1, 4)
    return random.integers(0, 4, size=(n, d)) + (seed % 2) * random.random((n, d))


@pytest.mark.parametrize("seed", range(40))
def test_stumps_are_searched_as_by_brute_force(seed):
    X = random_table(seed)
    found = rademacher("stumps", X, n_draws="all")
    functions = all_stumps(X)
    assert found.value == pytest.approx(naive(functions, all_signs(len(X))), abs=1e-12)
    assert found.standard_error == 0
    assert found.attained
    finite = rademacher(functions, n_draws="all")
    np.testing.assert_allclose(np.sort(found.suprema), np.sort(finite.suprema), atol=1e-12)
    assert found.value <= found.bound + 1e-12


@pytest.mark.parametrize("seed", range(100))
def test_a_finite_set(seed):
    random = np.random.default_rng(seed)
    functions = random.normal(size=(random.integers(1, 6), random.integers(1, 8)))
    found = rademacher(functions, n_draws="all")
    expected = naive(functions, all_signs(functions.shape[1]))
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert -1e-12 <= found.value <= found.bound + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_two_functions_in_closed_form(seed):
    """The larger of two numbers is half their sum and half their distance."""
    random = np.random.default_rng(seed)
    f, g = random.normal(size=(2, 6))
    signs = all_signs(6)
    opposite = np.abs(signs @ f).mean() / 6
    assert rademacher([f, -f], n_draws="all").value == pytest.approx(opposite, abs=1e-12)
    distance = np.abs(signs @ (f - g)).mean() / 12
    assert rademacher([f, g], n_draws="all").value == pytest.approx(distance, abs=1e-12)
    assert rademacher([f], n_draws="all").value == pytest.approx(0, abs=1e-12)
    assert rademacher([f], n_draws=50, random_state=0).bound == 0


@pytest.mark.parametrize("seed", range(30))
def test_linear_families(seed):
    random = np.random.default_rng(seed)
    X, radius = random.normal(size=(6, 3)), random.uniform(0.5, 3)
    signs = all_signs(6)
    two = rademacher("l2", X, radius=radius, n_draws="all")
    assert two.value == pytest.approx(radius * np.linalg.norm(signs @ X, axis=1).mean() / 6)
    assert two.bound == pytest.approx(radius * np.sqrt((X**2).sum()) / 6)
    one = rademacher("l1", X, radius=radius, n_draws="all")
    assert one.value == pytest.approx(radius * np.abs(signs @ X).max(axis=1).mean() / 6)
    assert one.value <= one.bound
    assert one.value <= two.value <= two.bound
    # The ball of the first kind is spanned by its corners.
    corners = radius * np.concatenate([X.T, -X.T])
    assert one.value == pytest.approx(rademacher(corners, n_draws="all").value)


def test_draws_come_near_all_signs_and_upper_is_above():
    X = np.random.default_rng(0).normal(size=(10, 2))
    exact = rademacher("stumps", X, n_draws="all").value
    draws = [rademacher("stumps", X, n_draws=100, random_state=k) for k in range(40)]
    z = np.array([(each.value - exact) / each.standard_error for each in draws])
    assert np.abs(z).max() < 4
    assert 0.5 < z.std() < 1.6
    assert all(each.upper(0.01) >= exact for each in draws)
    assert all(each.upper(0.01) <= each.bound for each in draws)


def test_fits_give_a_lower_estimate():
    X = np.random.default_rng(1).normal(size=(40, 2))
    stumps = rademacher("stumps", X, n_draws=30, random_state=0)
    tree = DecisionTreeClassifier(criterion="misclassification", max_depth=1)
    exact = rademacher(tree, X, n_draws=30, random_state=0)
    np.testing.assert_allclose(exact.suprema, stumps.suprema)  # the same signs
    assert not exact.attained
    assert "LOWER" in str(exact)
    gini = rademacher(DecisionTreeClassifier(max_depth=1), X, n_draws=30, random_state=0)
    assert (gini.suprema <= stumps.suprema + 1e-12).all()
    assert gini.value < stumps.value
    regression = rademacher(LinearRegression(), X, n_draws=5, random_state=0)
    assert regression.upper(0.1) == np.inf


def test_the_number_of_jobs_changes_nothing():
    X = np.random.default_rng(1).normal(size=(30, 2))
    tree = DecisionTreeClassifier(max_features=1, max_depth=2)
    with parallel_config("threading"):  # processes take seconds to start
        one, two = (
            rademacher(tree, X, n_draws=6, n_jobs=k, random_state=3).suprema for k in (1, 2)
        )
    np.testing.assert_array_equal(one, two)


def test_signs_all_alike_are_followed_without_a_fit():
    assert rademacher(LogisticRegression(), [[0.0], [1.0]], n_draws="all").value == 1


def test_memory_is_bounded_by_blocks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(12, 2))
    whole = rademacher("l2", X, n_draws=50, random_state=0).suprema
    monkeypatch.setattr("weald.theory.rademacher_complexity._CELLS", 40)
    np.testing.assert_array_equal(rademacher("l2", X, n_draws=50, random_state=0).suprema, whole)


def test_tables_with_categories_and_gaps():
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y", "x", "z"], "b": [1.0, np.nan, 2.0, 3.0]})
    found = rademacher("stumps", frame, n_draws="all")
    assert found.bound is None
    assert 0 < found.value <= 1


@pytest.mark.parametrize(
    ("family", "X", "options", "message"),
    [
        ("trees", [[1.0]], {}, "family must be an estimator, one of 'stumps', 'l2', 'l1'"),
        (3.0, None, {}, "an array with a row of values for each function"),
        ([[1.0, np.nan]], None, {}, "family holds a value that is not finite"),
        ("stumps", None, {}, "X is needed"),
        ("l2", [[np.nan]], {}, "need numbers in all cells"),
        ("l2", [[1.0]], {"radius": -1}, "radius must be a positive number"),
        ("stumps", [[1.0]], {"n_draws": 1}, "n_draws must be a whole number >= 2"),
        ("stumps", np.ones((17, 1)), {"n_draws": "all"}, "up to 16 rows, got n=17"),
        ("stumps", [[1.0]], {"random_state": "a"}, "random_state"),
        (LogisticRegression, [[1.0]], {}, "family must be"),
    ],
)
def test_bad_input_gets_one_sentence(family, X, options, message):
    with pytest.raises(ValueError, match=message):
        rademacher(family, X, **options)


def test_what_it_says():
    X = np.arange(6.0)[:, None]
    found = rademacher("stumps", X, n_draws="all")
    assert "all 64 sign vectors" in found.summary()
    assert "fits noise nearly as well" in found.summary()
    assert found.to_frame().shape == (64, 2)
    assert "of what a family that can follow any signs" in str(rademacher("l2", 2 * X, n_draws=9))
    assert found.plot().get_xlabel() == "agreement of the best function with random signs"
