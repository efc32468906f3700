"""Margins, the best minimum margin and the bounds, against plain computations."""

import itertools

import numpy as np
import pytest
import sklearn.ensemble as sk
from scipy.optimize import linprog
from sklearn.naive_bayes import GaussianNB

import weald
from weald.theory import margins
from weald.theory.margin_bounds import THETAS, Family, margin_bounds, tree_family
from weald.theory.member_game import Signed, Votes, solve
from weald.theory.reading import read_ensemble


def problem(seed, n_classes=2, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    raw = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(raw, np.arange(1, n_classes) / n_classes), raw)


def naive(votes, weights, y, n_classes):
    out = []
    for i in range(votes.shape[1]):
        got = [sum(w for v, w in zip(votes[:, i], weights, strict=True) if v == k)
               for k in range(n_classes)]  # fmt: skip
        out.append((got[y[i]] - max(g for k, g in enumerate(got) if k != y[i])) / sum(weights))
    return np.array(out)


VOTERS = [
    weald.AdaBoostClassifier(n_estimators=6),
    sk.AdaBoostClassifier(n_estimators=6, random_state=0),
    sk.RandomForestClassifier(6, max_depth=3, random_state=0),
    weald.RandomForestClassifier(6, max_depth=3, random_state=0),
    sk.BaggingClassifier(GaussianNB(), 6, random_state=0),
    weald.VotingClassifier([("a", GaussianNB()), ("b", weald.DecisionTreeClassifier())]),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", VOTERS, ids=lambda model: type(model).__name__)
def test_margins_of_votes_are_those_of_a_plain_count(model, n_classes):
    X, y = problem(0, n_classes)
    view = read_ensemble(model.fit(X, y))
    votes, found = view.votes(X), margins(model, X, y)
    for t in range(1, view.n_members + 1):
        expected = naive(votes[:t], view.weights[:t], y, n_classes)
        np.testing.assert_allclose(found.quantiles[t - 1], np.quantile(expected, found.levels))
        assert found.minimum[t - 1] == pytest.approx(expected.min())
        assert found.mean[t - 1] == pytest.approx(expected.mean())
    np.testing.assert_allclose(found.values, expected)
    assert found.best_minimum >= found.minimum[-1] - 1e-9


def test_margins_of_adaboost_are_its_decision_function():
    X, y = problem(1)
    model = weald.AdaBoostClassifier(n_estimators=20).fit(X, y)
    F = model.decision_function(X)
    expected = np.where(y == 1, F, -F) / np.abs(model.alphas_).sum()
    np.testing.assert_allclose(margins(model, X, y).values, expected, atol=1e-12)


SUMS = {
    "real": weald.AdaBoostClassifier(n_estimators=6, algorithm="real"),
    "confidence": weald.AdaBoostClassifier(n_estimators=6, algorithm="confidence"),
    "boosting": weald.GradientBoostingClassifier(n_estimators=6, max_depth=2),
    "sk boosting": sk.GradientBoostingClassifier(n_estimators=6),
}


@pytest.mark.parametrize("name", SUMS)
def test_margins_of_sums_are_scaled_to_one(name):
    X, y = problem(2)
    model = SUMS[name].fit(X, y)
    view, sign = read_ensemble(model), np.where(y == 1, 1, -1)
    terms = np.array([view.start(X) + np.zeros(len(X)), *view.terms(X)])
    scale = np.abs(terms).max(axis=1)
    weights = np.append(1.0, view.weights)
    expected = sign * (weights @ terms) / (weights @ scale)
    found = margins(model, X, y)
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert np.abs(found.values).max() <= 1
    assert found.best_minimum >= found.minimum[-1] - 1e-9
    F = model.decision_function(X)
    clear = np.abs(F) > 1e-9
    np.testing.assert_array_equal((found.values > 0)[clear], ((F > 0) == (y == 1))[clear])


def test_margins_of_several_classes_scores():
    X, y = problem(3, 3)
    model = weald.GradientBoostingClassifier(n_estimators=4, max_depth=2).fit(X, y)
    F = model.decision_function(X)
    others = np.where(np.arange(3) == y[:, None], -np.inf, F)
    ahead = F[np.arange(len(y)), y] - others.max(axis=1)
    found = margins(model, X, y)
    assert np.corrcoef(found.values, ahead)[0, 1] == pytest.approx(1)
    assert np.isnan(found.best_minimum)
    assert np.abs(found.values).max() <= 1


def test_lightgbm_by_hand():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = problem(4, n=200)
    model = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1, n_jobs=1)
    model.fit(X, y)
    each = [model.predict(X, raw_score=True, start_iteration=t, num_iteration=1) for t in range(5)]
    total = sum(np.abs(one).max() for one in each)
    expected = np.where(y == 1, 1, -1) * model.predict(X, raw_score=True) / total
    found = margins(model, X, y)
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert found.family is None
    assert np.isnan(found.bound)
    assert "give log_size or vc_dimension" in found.summary()


# --- the game -------------------------------------------------------------------------------------


def whole_program(rows):
    """The value of the game with all rows at once."""
    m, T = rows.shape
    found = linprog(
        np.append(np.zeros(T), -1.0),
        A_ub=np.column_stack([-rows, np.ones(m)]),
        b_ub=np.zeros(m),
        A_eq=[[1.0] * T + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * T + [(None, None)],
    )
    return -found.fun


def test_the_best_minimum_is_the_value_of_the_game():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        T, n = rng.integers(2, 12), rng.integers(2, 900)
        s = rng.choice([-1, 1], p=[0.3, 0.7], size=(T, n)).astype(np.int8)
        found = solve(Signed(s), np.full(T, 1 / T))
        assert found.value == pytest.approx(whole_program(s.T), abs=1e-6)
        assert found.upper == pytest.approx(found.value, abs=1e-6)
        assert (found.weights @ s).min() == pytest.approx(found.value, abs=1e-9)
        assert found.weights.sum() == pytest.approx(1)


def test_the_game_of_several_classes():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        K, T, n = rng.integers(3, 5), rng.integers(2, 9), rng.integers(5, 400)
        y = rng.integers(0, K, n)
        votes = np.where(rng.uniform(size=(T, n)) < 0.6, y, rng.integers(0, K, (T, n)))
        every = [
            (votes[:, i] == y[i]).astype(float) - (votes[:, i] == k)
            for i, k in itertools.product(range(n), range(K))
            if k != y[i]
        ]
        found = solve(Votes(votes, y, K), np.full(T, 1 / T))
        assert found.value == pytest.approx(whole_program(np.array(every)), abs=1e-6)


# --- the bounds -----------------------------------------------------------------------------------


def test_bounds_are_those_of_the_formulas():
    from weald.theory.kl import kl_upper

    m, delta, K, log_size = 5000, 0.1, 3, 4.0
    values = np.random.default_rng(0).uniform(0.2, 1, m)
    found = margin_bounds(values, Family("any", log_size), delta, K)
    by_vc = margin_bounds(values, Family("any", np.nan, 3.0), delta, K)
    j = 20
    theta = THETAS[j]
    p = np.mean(values <= theta)
    assert found.share_below[j] == pytest.approx(p)
    hoeffding, chernoff, vc = [], [], []
    for N in range(1, 400):
        slip = max(np.exp(-N * theta**2 / 8), 1e-15)
        seen = min(p + (K - 1) * slip, 1)
        cost = np.log(len(THETAS) * N * (N + 1) / delta)
        hoeffding.append(seen + slip + np.sqrt((cost + N * log_size) / (2 * m)))
        chernoff.append(float(kl_upper(seen, (cost + N * log_size) / m)) + slip)
        grown = cost + N * 3 * np.log(2 * np.e * m / 3) + np.log(4)
        vc.append(seen + slip + np.sqrt(8 * grown / m))
    # N is searched on a grid: never below the best, and close to it.
    for ours, best in (
        (found.hoeffding, hoeffding),
        (found.chernoff, chernoff),
        (by_vc.hoeffding, vc),
    ):
        assert min(best) - 1e-12 <= ours[j] <= 1.05 * min(best)
    assert np.isnan(by_vc.chernoff).all()


def test_the_kth_margin_bound_is_the_sharper_one():
    values = np.random.default_rng(1).uniform(0.3, 1, 20_000)
    found = margin_bounds(values, Family("any", 3.0), 0.05, 2)
    assert found.chernoff.min() < found.hoeffding.min() < 1


def test_bounds_hold_on_new_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 2))
    y = (X[:, 0] > 0).astype(int)
    y[rng.uniform(size=len(y)) < 0.02] ^= 1
    model = weald.RandomForestClassifier(20, max_leaf_nodes=2, max_features=2, random_state=0)
    found = margins(model.fit(X[:20_000], y[:20_000]), X[:20_000], y[:20_000], log_size=np.log(1e4))
    error = 1 - model.score(X[20_000:], y[20_000:])
    assert error <= found.bound < 0.5
    assert "with probability 0.95 the error on new rows is at most" in found.summary()


def test_trees_are_a_finite_family():
    one = tree_family(2, 10, 2, numbers=False)
    cuts = 10 * 2 * 4 * 2.0**64  # a column, a side for missing values, a shape, a cut
    assert one.log_size == pytest.approx(np.log(cuts * 2**2 * 2))
    assert (
        tree_family(4, 10, 2, numbers=True).log_size > tree_family(4, 10, 2, numbers=False).log_size
    )
    X, y = problem(5)
    assert "up to 2 leaves on 4 columns" in margins(VOTERS[0].fit(X, y), X, y).family.name
    strings = np.where(X > 0, "left", "right")
    model = weald.AdaBoostClassifier(n_estimators=3).fit(strings, y)
    assert margins(model, strings, y).family is None  # categories are divided, not cut


def test_what_is_refused():
    X, y = problem(6)
    model = weald.AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(TypeError, match=r"margins is for classifiers.*use correlation"):
        margins(weald.RandomForestRegressor(3).fit(X, X[:, 0]), X, X[:, 0])
    with pytest.raises(ValueError, match="say the same in two ways"):
        margins(model, X, y, log_size=3, vc_dimension=3)
    for name in ("log_size", "vc_dimension"):
        with pytest.raises(ValueError, match=f"{name} must be a positive number"):
            margins(model, X, y, **{name: -1})
    with pytest.raises(ValueError, match="delta must be between 0 and 1"):
        margins(model, X, y, delta=1)
    with pytest.raises(TypeError, match="delta must be a number"):
        margins(model, X, y, delta="5%")
