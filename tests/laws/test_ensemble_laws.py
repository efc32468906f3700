"""Laws that forests and bagging obey, whatever the data."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import binom, chisquare
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSIFICATION = ("gini", "entropy", "misclassification")
REGRESSION = ("squared_error", "absolute_error", "poisson")
CRITERIA = CLASSIFICATION + REGRESSION

REGRESSORS = {
    "forest": RandomForestRegressor(12, max_features=2, random_state=0),
    "extra-trees": ExtraTreesRegressor(12, random_state=0),
    "bagging": BaggingRegressor(n_estimators=12, random_state=0),
    "patches": BaggingRegressor(n_estimators=12, max_samples=0.5, max_features=0.5, random_state=0),
    "lines": BaggingRegressor(LinearRegression(), n_estimators=12, random_state=0),
}
CLASSIFIERS = {
    "forest": RandomForestClassifier(12, random_state=0),
    "balanced": RandomForestClassifier(12, bootstrap="balanced", random_state=0),
    "extra-trees": ExtraTreesClassifier(12, random_state=0),
    "pasting": BaggingClassifier(n_estimators=12, bootstrap=False, max_samples=0.6, random_state=0),
    "bayes": BaggingClassifier(GaussianNB(), n_estimators=12, random_state=0),
}


def problem(seed=0, n=150, criterion="squared_error", n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] - X[:, 1] * X[:, 2] + rng.normal(size=n)
    if criterion in CLASSIFICATION:
        return X, y.argsort().argsort() * n_classes // n
    return X, np.exp(y / 2) if criterion == "poisson" else y


def both_kinds(criterion, n_estimators, **settings):
    """A forest and a bag of trees that differ in how they were asked for only, and their columns.

    Forests, and bags that draw, choose at random between columns that split equally well; a tree
    takes the first. Node for node they are the same where there is one column to choose from.
    """
    if criterion in CLASSIFICATION:
        forest, bag, tree = RandomForestClassifier, BaggingClassifier, DecisionTreeClassifier
    else:
        forest, bag, tree = RandomForestRegressor, BaggingRegressor, DecisionTreeRegressor
    inner = {"criterion": criterion, "max_bins": settings.pop("max_bins", None)}
    yield forest(n_estimators, max_features=None, random_state=0, **inner, **settings), [0]
    bagged = bag(tree(**inner), n_estimators=n_estimators, random_state=0, **settings)
    yield bagged, [0] if settings.get("bootstrap", True) else [0, 1, 2, 3]


def answers(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


def assert_same_nodes(a, b, tolerance=0.0):
    """Two trees with the same tests; values alike but for rounding, if that is allowed."""
    for name in ("feature", "children_left", "children_right"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.threshold, b.threshold)
    for name in ("value", "weighted_n_node_samples"):
        one, two = getattr(a, name), getattr(b, name)
        leaf = a.is_leaf  # inner medians are not kept in a forest
        np.testing.assert_allclose(one[leaf], two[leaf], rtol=tolerance, atol=tolerance)


# --- mean of members ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS)
def test_ambiguity_identity_of_numbers(name):
    """Mean error of the members - error of their mean = their spread (Krogh & Vedelsby 1995)."""
    X, y = problem()
    model = REGRESSORS[name].fit(X, y)
    new, truth = problem(1)
    members, mean = model.member_predictions(new), model.predict(new)
    np.testing.assert_allclose(members.mean(axis=0), mean, rtol=1e-12, atol=1e-12)
    gap = ((members - truth) ** 2).mean(axis=0) - (mean - truth) ** 2
    spread = ((members - mean) ** 2).mean(axis=0)
    np.testing.assert_allclose(gap, spread, rtol=1e-10, atol=1e-12)
    assert spread.max() > 0


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_ambiguity_identity_of_class_shares(name):
    X, y = problem(criterion="gini")
    model = CLASSIFIERS[name].fit(X, y)
    new, labels = problem(1, criterion="gini")
    truth = np.eye(3)[labels]
    members, mean = model.member_predictions(new), model.predict_proba(new)
    np.testing.assert_allclose(members.mean(axis=0), mean, rtol=1e-12, atol=1e-12)
    gap = ((members - truth) ** 2).mean(axis=0) - (mean - truth) ** 2
    spread = ((members - mean) ** 2).mean(axis=0)
    np.testing.assert_allclose(gap, spread, rtol=1e-10, atol=1e-12)


def test_ambiguity_identity_with_weights():
    X, y = problem()
    weights = np.arange(1.0, 13)
    model = BaggingRegressor(n_estimators=12, weighting=weights, random_state=0).fit(X, y)
    members, mean = model.member_predictions(X), model.predict(X)
    share = model.member_weights_ / model.member_weights_.sum()
    np.testing.assert_allclose(share, weights / weights.sum())
    gap = share @ (members - y) ** 2 - (mean - y) ** 2
    np.testing.assert_allclose(gap, share @ (members - mean) ** 2, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["forest", "patches", "lines"])
def test_out_of_bag_is_the_mean_over_members_that_did_not_draw_the_row(name):
    X, y = problem()
    model = clone(REGRESSORS[name]).set_params(oob_score=True, n_estimators=40).fit(X, y)
    out = model.in_bag_ == 0
    members = np.where(out, model.member_predictions(X), 0.0)
    expected = members.sum(axis=0) / out.sum(axis=0)
    np.testing.assert_allclose(model.oob_prediction_, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        model.oob_score_, 1 - ((y - expected) ** 2).mean() / y.var(), rtol=1e-10
    )


# --- draws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RandomForestRegressor, BaggingRegressor])
@pytest.mark.parametrize(
    ("n", "max_samples"), [(2, None), (3, None), (10, None), (20, 0.5), (100, None), (100, 30)]
)
def test_share_of_rows_out_of_a_bootstrap(kind, n, max_samples):
    """Each row is left out with probability (1 - 1/n)^m, which is near 0.368 for m = n."""
    T = 20_000 // n
    rng = np.random.default_rng(0)
    stump = {"max_depth": 1} if kind is RandomForestRegressor else {}
    model = kind(n_estimators=T, max_samples=max_samples, random_state=n, **stump)
    counts = model.fit(rng.normal(size=(n, 1)), rng.normal(size=n)).in_bag_
    m = n if max_samples is None else max_samples if max_samples > 1 else int(max_samples * n)
    assert counts.shape == (T, n)
    assert (counts.sum(axis=1) == m).all()
    p = (1 - 1 / n) ** m
    # Rows of one draw hinder each other, so that this bound on the standard error is safe.
    assert (counts == 0).mean() == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / (T * n)))
    per_row = (counts == 0).mean(axis=0)
    assert np.abs(per_row - p).max() < 5 * np.sqrt(p * (1 - p) / T)


def test_counts_of_a_bootstrap_are_binomial():
    X, y = problem(n=50)
    counts = RandomForestRegressor(2000, max_depth=1, random_state=3).fit(X, y).in_bag_
    for row in (0, 17, 49):  # the draws of one row, in different members, are independent
        seen = np.bincount(np.minimum(counts[:, row], 4), minlength=5)
        expected = binom.pmf(range(4), 50, 1 / 50)
        expected = 2000 * np.append(expected, 1 - expected.sum())
        assert chisquare(seen, expected).pvalue > 1e-3


@pytest.mark.parametrize("name", ["forest", "bagging", "lines"])
def test_groups_are_in_or_out_as_a_whole(name):
    X, y = problem()
    groups = np.random.default_rng(0).integers(0, 30, len(y))
    model = clone(REGRESSORS[name]).set_params(n_estimators=200).fit(X, y, groups=groups)
    counts = model.in_bag_
    for group in np.unique(groups):
        inside = counts[:, groups == group]
        assert (inside == inside[:, :1]).all()
    first = np.unique(groups, return_index=True)[1]
    assert (counts[:, first].sum(axis=1) == len(first)).all()
    p = (1 - 1 / len(first)) ** len(first)
    out = (counts[:, first] == 0).mean()
    assert out == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / (200 * len(first))))


# --- one member ---------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [None, 255, 16])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_member_without_drawing_is_the_member(criterion, max_bins):
    X, y = problem(criterion=criterion)
    kind = DecisionTreeClassifier if criterion in CLASSIFICATION else DecisionTreeRegressor
    for model, columns in both_kinds(criterion, 1, bootstrap=False, max_bins=max_bins):
        tree = kind(criterion=criterion, max_bins=max_bins).fit(X[:, columns], y)
        new = problem(1)[0][:, columns]
        model.fit(X[:, columns], y)
        (member,) = model.estimators_
        assert_same_nodes(member.tree_, tree.tree_, 1e-12)
        np.testing.assert_array_equal(model.apply(new)[:, 0], tree.apply(new))
        np.testing.assert_allclose(answers(model, new), answers(tree, new), rtol=1e-12)
        np.testing.assert_array_equal(model.in_bag_, np.ones((1, len(y))))


def test_a_bag_of_one_is_any_member():
    X, y = problem()
    bag = BaggingRegressor(LinearRegression(), n_estimators=1, bootstrap=False).fit(X, y)
    np.testing.assert_array_equal(bag.predict(X), LinearRegression().fit(X, y).predict(X))


# --- weight is repetition -----------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_member_is_the_tree_of_its_draw(criterion):
    """By weights, and by rows that stand there as often as they were drawn."""
    table, y = problem(criterion=criterion)
    for model, columns in both_kinds(criterion, 4, max_samples=0.8):
        X = table[:, columns]
        model.fit(X, y)
        for member, counts in zip(model.estimators_, model.in_bag_, strict=True):
            fresh = clone(member)
            weighted = clone(fresh).fit(X, y, sample_weight=counts)
            repeated = clone(fresh).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
            for other in (weighted, repeated):
                assert_same_nodes(member.tree_, other.tree_, 1e-9)
                np.testing.assert_array_equal(member.apply(X), other.apply(X))


@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("replace", [False, True])
def test_a_member_is_the_tree_of_its_columns(replace, max_bins):
    X, y = problem()
    tree = DecisionTreeRegressor(max_bins=max_bins)
    settings = {"bootstrap": False, "max_features": 1, "bootstrap_features": replace}
    model = BaggingRegressor(tree, n_estimators=8, random_state=0, **settings).fit(X, y)
    said = model.member_predictions(X)
    for t, columns in enumerate(model.estimators_features_):
        assert len(columns) == 1
        alone = clone(tree).fit(X[:, columns], y)
        np.testing.assert_allclose(said[t], alone.predict(X[:, columns]), rtol=1e-12)
        assert_same_nodes(model.estimators_[t].tree_, alone.tree_, 1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_without_draws_weight_is_repetition(criterion):
    X, y = problem(criterion=criterion)
    k = np.random.default_rng(0).integers(0, 4, len(y))
    kinds = (
        (ExtraTreesClassifier, RandomForestClassifier)
        if criterion in CLASSIFICATION
        else (ExtraTreesRegressor, RandomForestRegressor)
    )
    for kind in kinds:
        model = kind(3, criterion=criterion, bootstrap=False, random_state=0, max_bins=None)
        weighted = answers(clone(model).fit(X, y, sample_weight=k), X)
        repeated = answers(clone(model).fit(np.repeat(X, k, axis=0), np.repeat(y, k)), X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


# --- what changes nothing -----------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS)
def test_threads_change_nothing(name):
    X, y = problem()
    draws = name != "extra-trees"
    model = clone(REGRESSORS[name]).set_params(oob_score=draws)
    if draws:
        model.set_params(n_estimators=30)
    one = clone(model).set_params(n_jobs=1).fit(X, y)
    for n_jobs in (2, 3):
        with parallel_config("threading"):  # processes for members of other kinds start slowly
            many = clone(model).set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(one.predict(X), many.predict(X))
        np.testing.assert_array_equal(one.member_predictions(X), many.member_predictions(X))
        if draws:
            np.testing.assert_array_equal(one.oob_prediction_, many.oob_prediction_)
            np.testing.assert_array_equal(one.oob_score_curve_, many.oob_score_curve_)
        if name != "lines":
            np.testing.assert_array_equal(one.forest_.importances, many.forest_.importances)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_an_ensemble_begins_with_the_smaller_ones(name):
    X, y = problem(criterion="gini")
    model = clone(CLASSIFIERS[name])
    large = clone(model).set_params(n_estimators=9).fit(X, y)
    for size in (1, 4, 8):
        small = clone(model).set_params(n_estimators=size).fit(X, y)
        np.testing.assert_array_equal(
            small.member_predictions(X), large.member_predictions(X)[:size]
        )
        np.testing.assert_array_equal(small.in_bag_, large.in_bag_[:size])
    grown = clone(model).set_params(n_estimators=2, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(X), large.predict_proba(X))


BENDS = {
    "cube": lambda x: x**3,
    "exp": np.exp,
    "shift": lambda x: 4 * x + 8,
    "ranks": lambda x: x.argsort().argsort().astype(float),
}


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_monotone_transform_changes_no_prediction(criterion, bend):
    """Exact trees see the order of the values only.

    Rows a member did not draw may lie between two drawn values, where the cut is put halfway; so of
    drawn rows each member is asked about its own.
    """
    X, y = problem(criterion=criterion)
    bent = np.column_stack([BENDS[bend](x) for x in X.T])
    for draws in (False, True):
        for model, _ in both_kinds(criterion, 5, bootstrap=draws):
            plain, other = clone(model).fit(X, y), clone(model).fit(bent, y)
            leaves, same = plain.apply(X), other.apply(bent)
            inside = plain.in_bag_.T > 0
            np.testing.assert_array_equal(leaves[inside], same[inside])
            if not draws:
                np.testing.assert_array_equal(answers(plain, X), answers(other, bent))


@pytest.mark.parametrize("name", ["forest", "extra-trees"])
def test_the_scale_and_origin_of_the_target(name):
    X, y = problem()
    model = REGRESSORS[name]
    plain, moved = clone(model).fit(X, y), clone(model).fit(X, 4 * y + 64)
    np.testing.assert_array_equal(plain.apply(X), moved.apply(X))
    np.testing.assert_allclose(4 * plain.predict(X) + 64, moved.predict(X), rtol=1e-12)
