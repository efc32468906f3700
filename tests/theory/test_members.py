"""Correlation, ambiguity and diversity of members, against plain loops."""

import itertools

import numpy as np
import pytest
import sklearn.ensemble as sk
from sklearn.linear_model import LinearRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.naive_bayes import GaussianNB

import weald
from weald.theory import ambiguity, correlation, diversity
from weald.theory.reading import read_ensemble


def numbers(seed, n=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 3 * X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)


def classes(seed, n_classes=2, n=90):
    X, y = numbers(seed, n)
    codes = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    return X, np.array(["a", "b", "c"])[codes]


# --- ambiguity ------------------------------------------------------------------------------------

REGRESSORS = {
    "forest": lambda seed: weald.RandomForestRegressor(7, random_state=seed),
    "sk forest": lambda seed: sk.RandomForestRegressor(7, random_state=seed),
    "weighted": lambda seed: weald.BaggingRegressor(
        n_estimators=25, weighting="oob", random_state=seed
    ),
    "median": lambda seed: sk.AdaBoostRegressor(n_estimators=5, random_state=seed),
    "voting": lambda seed: sk.VotingRegressor(
        [("a", LinearRegression()), ("b", weald.DecisionTreeRegressor())], weights=[1 + seed, 2]
    ),
}
CLASSIFIERS = {
    "forest": lambda seed: weald.RandomForestClassifier(7, max_depth=3, random_state=seed),
    "sk forest": lambda seed: sk.RandomForestClassifier(7, max_depth=3, random_state=seed),
    "sk bagging": lambda seed: sk.BaggingClassifier(
        GaussianNB(), 4, max_features=0.7, random_state=seed
    ),
    "adaboost": lambda seed: weald.AdaBoostClassifier(n_estimators=6),
}


def identity(found):
    assert found.mean_member_error - found.spread == pytest.approx(found.ensemble_error, rel=1e-11)


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_identity_is_exact_for_numbers(name):
    for seed in range(12):
        X, y = numbers(seed)
        w = np.random.default_rng(seed).uniform(size=len(y)) if seed % 2 else None
        model = REGRESSORS[name](seed).fit(X[::2], y[::2])
        found = ambiguity(model, X, y, w)
        identity(found)
        view = read_ensemble(model)
        said, v = view.values(X), view.weights / view.weights.sum()
        rows = np.ones(len(y)) if w is None else w
        error = [np.average((one - y) ** 2, weights=rows) for one in said]
        np.testing.assert_allclose(found.member_errors, error)
        assert found.ensemble_error == pytest.approx(np.average((v @ said - y) ** 2, weights=rows))
        np.testing.assert_allclose(found.row_spread, v @ (said - v @ said) ** 2, atol=1e-20)
        if name != "median":
            assert found.is_the_model
            assert found.ensemble_error == pytest.approx(
                np.average((model.predict(X) - y) ** 2, weights=rows)
            )
    assert ("in another way" in found.summary()) == (name == "median")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_identity_is_exact_for_class_shares(name, n_classes):
    for seed in range(6):
        X, y = classes(seed, n_classes)
        model = CLASSIFIERS[name](seed).fit(X[::2], y[::2])
        found = ambiguity(model, X, y)
        identity(found)
        if found.is_the_model:
            truth = y[:, None] == model.classes_
            brier = ((model.predict_proba(X) - truth) ** 2).sum(axis=1).mean()
            assert found.ensemble_error == pytest.approx(brier)
    assert found.loss == "Brier score"


def test_a_member_that_is_better_than_the_ensemble_is_named():
    X, _ = numbers(0)
    model = sk.VotingRegressor(
        [("a", LinearRegression()), ("b", weald.DecisionTreeRegressor(max_depth=1))]
    )
    found = ambiguity(model.fit(X, X[:, 0]), X, X[:, 0])
    assert "Member 0 alone is better" in found.summary()


# --- correlation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("with_y", [False, True])
@pytest.mark.parametrize("home", [weald, sk])
def test_rho_and_variance_are_those_of_all_pairs(home, with_y):
    for seed in range(8):
        X, y = numbers(seed)
        model = home.RandomForestRegressor(6, random_state=seed).fit(X[::2], y[::2])
        found = correlation(model, X, y if with_y else None)
        said = np.array([tree.predict(X) for tree in model.estimators_])
        e = said - y if with_y else said - said.mean(axis=1, keepdims=True)
        s2 = np.mean(e**2)
        pairs = [np.mean(e[s] * e[t]) for s, t in itertools.combinations(range(6), 2)]
        assert found.sigma2 == pytest.approx(s2)
        assert found.rho == pytest.approx(np.mean(pairs) / s2)
        assert found.floor == pytest.approx(np.mean(pairs))
        for B, predicted in zip(found.sizes, found.predicted, strict=True):
            groups = itertools.combinations(range(6), int(B))  # all of them: then it is exact
            mean = np.mean([np.mean(e[list(g)].mean(axis=0) ** 2) for g in groups])
            assert predicted == pytest.approx(mean)
        assert found.measured[0] == pytest.approx(found.predicted[0])
        assert found.measured[-1] == pytest.approx(found.predicted[-1])
        halves = [e[:2].mean(axis=0), e[2:4].mean(axis=0), e[4:].mean(axis=0)]
        assert found.measured[1] == pytest.approx(np.mean(np.square(halves)))
        np.testing.assert_allclose(found.row_variance, said.var(axis=0, ddof=1))
        if with_y:
            assert found.measured[-1] == pytest.approx(np.mean((model.predict(X) - y) ** 2))
        else:
            np.testing.assert_allclose(found.matrix, np.corrcoef(said))


def plain_strength(votes, asked, y, n_classes):
    """Breiman's numbers, row by row and tree by tree."""
    T, n = votes.shape
    mr, rival = {}, {}
    wrong = []
    for i in range(n):
        voters = [t for t in range(T) if asked[t, i]]
        if not voters:
            continue
        q = [np.mean([votes[t, i] == k for t in voters]) for k in range(n_classes)]
        rival[i] = max((k for k in range(n_classes) if k != y[i]), key=lambda k: q[k])
        mr[i] = q[y[i]] - q[rival[i]]
        wrong.append(int(np.argmax(q)) != y[i])
    deviations = []
    for t in range(T):
        rmg = [float(votes[t, i] == y[i]) - (votes[t, i] == rival[i]) for i in mr if asked[t, i]]
        deviations.append(np.std(rmg))
    s, variance = np.mean(list(mr.values())), np.var(list(mr.values()))
    return s, variance / np.mean(deviations) ** 2, np.mean(wrong), variance / s**2


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("home", [weald, sk])
def test_strength_is_out_of_bag_as_breiman_has_it(home, n_classes):
    for seed in range(4):
        X, y = classes(seed, n_classes)
        model = home.RandomForestClassifier(9, random_state=seed).fit(X, y)
        view = read_ensemble(model)
        codes = np.searchsorted(model.classes_, y)
        for rows, out_of_bag in ((slice(None), True), (slice(0, 60), False)):
            found = correlation(model, X[rows], y[rows])
            assert found.out_of_bag is out_of_bag
            votes = view.votes(X[rows])
            asked = view.in_bag() == 0 if out_of_bag else np.ones(votes.shape, dtype=bool)
            s, rho, error, chebyshev = plain_strength(votes, asked, codes[rows], n_classes)
            assert (found.strength, found.rho) == pytest.approx((s, rho))
            assert (found.error, found.chebyshev) == pytest.approx((error, chebyshev))
            assert found.error <= found.chebyshev + 1e-12
            assert found.bound == pytest.approx(rho * (1 - s**2) / s**2)
            if not out_of_bag:  # then all steps are exact
                assert found.chebyshev <= found.bound + 1e-12


def test_breimans_bound_holds_on_many_forests():
    for seed in range(40):
        X, y = classes(seed, 2 + seed % 2)
        model = weald.RandomForestClassifier(5, max_depth=1 + seed % 4, random_state=seed)
        found = correlation(model.fit(X[::2], y[::2]), X[1::3], y[1::3])
        assert found.error <= found.chebyshev + 1e-12 <= found.bound + 1e-11


def test_strength_of_members_that_count_differently():
    """Means over the members are those of the vote, so that the error is that of the vote."""
    X, y = classes(3, n=150)
    model = weald.AdaBoostClassifier(n_estimators=12).fit(X[:100], y[:100])
    found = correlation(model, X, y)
    view = read_ensemble(model)
    w = view.weights / view.weights.sum()
    right = np.where(view.votes(X) == np.searchsorted(model.classes_, y), 1, -1)
    margin = w @ right
    rho = margin.var() / (w @ right.std(axis=1)) ** 2
    np.testing.assert_allclose((found.strength, found.rho), (margin.mean(), rho))
    assert found.error == pytest.approx(np.mean(model.predict(X) != y))
    assert found.error <= found.chebyshev <= found.bound


def test_rows_held_out_may_be_as_many_as_those_of_the_fit():
    X, y = classes(0, n=100)
    forest = weald.RandomForestClassifier(9, random_state=0).fit(X[:50], y[:50])
    held_out = X[50:], y[50:]
    assert correlation(forest, *held_out).out_of_bag  # nothing tells them apart
    found = correlation(forest, *held_out, rows="held_out")
    votes = read_ensemble(forest).votes(X[50:]) == np.searchsorted(forest.classes_, y[50:])
    assert not found.out_of_bag
    assert found.strength == pytest.approx((2 * votes.mean(axis=0) - 1).mean())
    assert correlation(forest, X[:50], y[:50], rows="out_of_bag").out_of_bag
    with pytest.raises(ValueError, match="needs a RandomForestClassifier that drew rows"):
        correlation(forest, X, y, rows="out_of_bag")
    with pytest.raises(ValueError, match="rows must be"):
        correlation(forest, X, y, rows="oob")
    numbers_forest = weald.RandomForestRegressor(3).fit(*numbers(0))
    with pytest.raises(ValueError, match="rows is for classifiers"):
        correlation(numbers_forest, *numbers(0), rows="held_out")


def test_a_correlation_above_one_is_explained():
    """Few votes for a row make the variance of the margins too large."""
    seen = [
        correlation(weald.RandomForestClassifier(3, random_state=s).fit(*classes(s)), *classes(s))
        for s in range(20)
    ]
    assert any(one.rho > 1 for one in seen)
    for one in seen:
        assert ("above 1 is chance" in one.summary()) == (one.rho > 1)


def test_the_plain_mean_is_told_from_the_model():
    X, y = numbers(0)
    assert correlation(weald.RandomForestRegressor(4).fit(X, y), X).is_the_model
    median = correlation(sk.AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, y), X)
    assert not median.is_the_model
    assert "plain mean" in median.summary()


def test_a_forest_without_strength():
    X, y = classes(0)
    model = weald.RandomForestClassifier(5, random_state=0).fit(X, y)
    found = correlation(model, X[:60], np.where(y == "a", "b", "a")[:60])
    assert found.bound == np.inf
    assert "says nothing" in found.summary()


# --- diversity ------------------------------------------------------------------------------------


def plain_pair(one, two, y):
    a = np.mean((one == y) & (two == y))
    b = np.mean((one == y) & (two != y))
    c = np.mean((one != y) & (two == y))
    d = np.mean((one != y) & (two != y))
    return {
        "disagreement": b + c,
        "double_fault": d,
        "q": (a * d - b * c) / (a * d + b * c) if a * d + b * c > 0 else np.nan,
        "correlation": np.corrcoef(one == y, two == y)[0, 1],
        "kappa": cohen_kappa_score(one, two),
    }


def boosted():
    lightgbm = pytest.importorskip("lightgbm")
    return lightgbm.LGBMClassifier(n_estimators=4, min_child_samples=5, verbose=-1, n_jobs=1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "make",
    [
        lambda: weald.RandomForestClassifier(5, max_depth=3, random_state=0),
        lambda: sk.RandomForestClassifier(5, max_depth=3, random_state=0),
        lambda: sk.AdaBoostClassifier(n_estimators=4, random_state=0),
        boosted,
    ],
    ids=["weald", "sk forest", "sk adaboost", "lightgbm"],
)
def test_diversity_is_that_of_a_plain_loop(make, n_classes):
    X, y = classes(3, n_classes, 150)
    model = make().fit(X[::2], y[::2])
    view = read_ensemble(model)
    codes, votes = np.searchsorted(model.classes_, y), view.votes(X)
    found = diversity(model, X, y)
    np.testing.assert_allclose(found.errors, [np.mean(v != codes) for v in votes])
    columns = found.columns()
    for row, (s, t) in enumerate(itertools.combinations(range(len(votes)), 2)):
        assert (columns["first"][row], columns["second"][row]) == (s, t)
        for name, value in plain_pair(votes[s], votes[t], codes).items():
            assert getattr(found, name)[s, t] == pytest.approx(value, nan_ok=True), name
            assert columns[name][row] == pytest.approx(value, nan_ok=True)
    assert found.mean("kappa") == pytest.approx(np.nanmean(columns["kappa"]))
    polls = np.array([[view.weights[v == k].sum() for k in range(n_classes)] for v in votes.T])
    assert found.vote_error == pytest.approx(np.mean(polls.argmax(axis=1) != codes))


def test_blocks_of_rows_add_up(monkeypatch):
    X, y = classes(4)
    model = weald.RandomForestClassifier(5, random_state=0).fit(X[::2], y[::2])
    whole = diversity(model, X, y)
    monkeypatch.setattr("weald.theory.pairwise_diversity._ROWS", 7)
    np.testing.assert_allclose(diversity(model, X, y).kappa, whole.kappa)
    assert diversity(model, X, y).vote_error == whole.vote_error


def test_measures_that_are_not_defined_are_nan():
    X, y = classes(5)
    model = weald.NaiveEnsembleClassifier(weald.DecisionTreeClassifier(), 3).fit(X, y)
    found = diversity(model, X, y)  # never wrong
    assert np.isnan(found.correlation).all()
    assert np.isnan(found.mean("q"))
    assert found.mean("disagreement") == 0


# --- what is refused ------------------------------------------------------------------------------


def test_what_is_refused():
    X, y = numbers(0)
    boosted = weald.GradientBoostingRegressor(n_estimators=3).fit(X, y)
    for notion in (ambiguity, correlation):
        with pytest.raises(TypeError, match=r"GradientBoostingRegressor add to each other: use"):
            notion(boosted, X, y)
    forest = weald.RandomForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match=r"diversity is for classifiers.*use correlation"):
        diversity(forest, X, y)
    with pytest.raises(ValueError, match="has one member"):
        correlation(weald.RandomForestRegressor(1).fit(X, y), X)
    with pytest.raises(ValueError, match="needs the targets y"):
        correlation(weald.RandomForestClassifier(3).fit(X, y > 0), X)
    for notion in (ambiguity, diversity, correlation):
        with pytest.raises(ValueError, match="fitted to one class"):
            notion(weald.RandomForestClassifier(3).fit(X, ["a"] * len(X)), X, ["a"] * len(X))
