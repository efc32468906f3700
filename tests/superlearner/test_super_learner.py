"""The super learner: risks of its table, weights, and what it says of new rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import (
    f1_score,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
)
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC

from superlearner.cases import CANDIDATES, CLASSIFIERS, FOLDS, XC, YC, X, Y
from weald import (
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SuperLearnerClassifier,
    SuperLearnerRegressor,
)


def naive(candidates, X, y, folds):
    """What each candidate says of the rows of all folds, shape (n, M)."""
    Z = np.full((len(y), len(candidates)), np.nan)
    for train, test in folds:
        for m, (_, one) in enumerate(candidates):
            Z[test, m] = clone(one).fit(X[train], y[train]).predict(X[test])
    return Z


def test_the_table_of_risks_against_a_naive_one():
    model = SuperLearnerRegressor(CANDIDATES, cv=FOLDS, random_state=0).fit(X, Y)
    Z = naive(CANDIDATES, X, Y, FOLDS.split(X))
    squares = (Z - Y[:, None]) ** 2
    table = model.cv_risks_
    np.testing.assert_allclose(table.risk, squares.mean(axis=0))
    errors = squares.std(axis=0, ddof=1) / np.sqrt(len(Y))
    np.testing.assert_allclose(table.standard_error, errors)
    by_fold = [squares[test].mean(axis=0) for _, test in FOLDS.split(X)]
    np.testing.assert_allclose(table.fold_risks, np.transpose(by_fold))
    mixed = ((Z @ table.weights - Y) ** 2).mean()
    assert model.risk_ == pytest.approx(mixed)
    assert model.risk_ <= table.risk.min()


def test_the_prediction_is_the_mixture_of_the_members():
    for refit in (False, True):
        model = SuperLearnerRegressor(CANDIDATES, cv=FOLDS, refit=refit, random_state=0).fit(X, Y)
        said = model.member_predictions(X)
        np.testing.assert_allclose(model.predict(X), model.weights_ @ said)
        name, place = "line", list(model.named_estimators_).index("line")
        alone = LinearRegression().fit(X, Y).predict(X)
        if refit:
            np.testing.assert_allclose(said[place], alone)
        else:
            copies = [LinearRegression().fit(X[a], Y[a]).predict(X) for a, _ in FOLDS.split(X)]
            np.testing.assert_allclose(said[place], np.mean(copies, axis=0))
        assert model.named_estimators_[name] is model.estimators_[place]


@pytest.mark.parametrize("method", ["simplex", "nnls", "greedy", "best"])
def test_ways_to_weigh(method):
    model = SuperLearnerRegressor(CANDIDATES, method=method, cv=FOLDS, random_state=0).fit(X, Y)
    assert model.weights_.sum() == pytest.approx(1)
    if method == "best":
        assert model.n_estimators_ == 1
        assert model.cv_risks_.weights.argmax() == model.cv_risks_.risk.argmin()


def test_classes():
    model = SuperLearnerClassifier(CLASSIFIERS, cv=3, random_state=0).fit(XC[:100], YC[:100])
    shares = model.predict_proba(XC[100:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert list(model.classes_) == ["blue", "green", "red"]
    assert model.score(XC[100:], YC[100:]) > 0.9
    assert model.cv_risks_.risk.min() >= model.risk_
    np.testing.assert_array_equal(model.predict_log_proba(XC), np.log(model.predict_proba(XC)))


def test_members_without_shares_vote():
    candidates = [*CLASSIFIERS, ("margin", LinearSVC())]
    model = SuperLearnerClassifier(candidates, risk="accuracy", cv=3, random_state=0).fit(XC, YC)
    assert -1 <= model.cv_risks_.risk[2] < -0.9


@pytest.mark.parametrize("risk", ["absolute_error", "r2", "neg_median_absolute_error"])
def test_any_risk(risk):
    model = SuperLearnerRegressor(CANDIDATES, risk=risk, cv=FOLDS, random_state=0).fit(X, Y)
    assert model.risk_ <= model.cv_risks_.risk.min() + 1e-12
    assert model.cv_risks_.name == {"r2": "-r2"}.get(risk, risk.removeprefix("neg_"))


def test_a_risk_of_the_users_own():
    def worst(y, said):
        return float(np.abs(y - said).max())

    model = SuperLearnerRegressor(CANDIDATES, risk=worst, cv=FOLDS, random_state=0).fit(X, Y)
    assert model.risk_ <= model.cv_risks_.risk.min()


@pytest.mark.parametrize(
    "cv", [TimeSeriesSplit(4), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)]
)
def test_any_splitter(cv):
    model = SuperLearnerRegressor(CANDIDATES, cv=cv, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.4
    assert model.cv_risks_.fold_risks.shape == (3, cv.get_n_splits())


def test_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 4)
    points = rng.normal(size=(30, 2))[groups] + 0.01 * rng.normal(size=(120, 2))
    y = rng.normal(size=30)[groups]  # nothing to learn but the groups themselves
    candidates = [("near", KNeighborsRegressor(1)), ("mean", DummyRegressor())]
    apart = SuperLearnerRegressor(candidates, random_state=0).fit(points, y, groups=groups)
    mixed = SuperLearnerRegressor(candidates, random_state=0).fit(points, y)
    assert apart.cv_risks_.weights[0] < 0.3
    assert mixed.cv_risks_.weights[0] > 0.9
    # Rows of a group are no independent evidence, so the standard error is larger.
    naive_error = apart.cv_risks_.standard_error
    alone = SuperLearnerRegressor(candidates[1:], cv=5, random_state=0).fit(points, y)
    assert naive_error[1] > 1.5 * alone.cv_risks_.standard_error[0]


def test_weights_of_rows():
    """Rows of weight 0 are absent, and weight 2 is two rows, where the folds are the same."""
    rng = np.random.default_rng(0)
    w = rng.integers(0, 3, len(Y)).astype(float)
    fold = rng.integers(0, 3, len(Y))
    again = np.repeat(np.arange(len(Y)), w.astype(int))

    def pairs(of):
        return [(np.flatnonzero(of != v), np.flatnonzero(of == v)) for v in range(3)]

    candidates = [("line", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3))]
    weighed = SuperLearnerRegressor(candidates, cv=pairs(fold), random_state=0).fit(X, Y, w)
    repeated = SuperLearnerRegressor(candidates, cv=pairs(fold[again]), random_state=0)
    repeated.fit(X[again], Y[again])
    np.testing.assert_allclose(weighed.cv_risks_.risk, repeated.cv_risks_.risk)
    np.testing.assert_allclose(weighed.weights_, repeated.weights_, atol=1e-6)
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X))


def test_a_good_candidate_that_is_the_truth():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3))
    y = points @ [1.0, 2.0, 3.0]
    model = SuperLearnerRegressor(CANDIDATES, random_state=0).fit(points, y)
    assert model.cv_risks_.weights[0] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_oracle_inequality(seed):
    """On new rows it does nearly as well as the best mixture of the members chosen by these."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(4400, 4))
    y = points[:, 0] + np.sin(2 * points[:, 1]) + (points[:, 2] > 0) + rng.normal(size=4400)
    model = SuperLearnerRegressor(CANDIDATES, refit=True, random_state=0).fit(points[:400], y[:400])
    everyone = [
        clone(one).fit(points[:400], y[:400]).predict(points[400:]) for _, one in CANDIDATES
    ]
    risks = [mean_squared_error(y[400:], said) for said in everyone]
    ours = mean_squared_error(y[400:], model.predict(points[400:]))
    assert ours <= 1.02 * min(risks)
    excess, best = ours - 1.0, min(risks) - 1.0  # beyond the noise
    assert excess <= 1.1 * best


def test_the_risk_of_the_whole_procedure():
    model = SuperLearnerRegressor(CANDIDATES, cv=3, random_state=0)
    outer = model.cv_risk(X, Y, cv=FOLDS)
    said = np.empty(len(Y))
    for train, test in FOLDS.split(X):
        said[test] = clone(model).fit(X[train], Y[train]).predict(X[test])
    assert outer.risk[0] == pytest.approx(mean_squared_error(Y, said))
    assert outer.standard_error[0] > 0
    assert not hasattr(model, "weights_")
    classes = SuperLearnerClassifier(CLASSIFIERS, cv=3, random_state=0).cv_risk(XC, YC)
    assert 0 < classes.risk[0] < 0.3


def test_forests_say_it_out_of_bag():
    forest = RandomForestRegressor(100, random_state=0)
    model = SuperLearnerRegressor([("forest", forest), *CANDIDATES], random_state=0).fit(X, Y)
    place = list(model.named_estimators_).index("forest")
    alone = model.estimators_[place]
    expected = mean_squared_error(Y, alone.oob_prediction_)
    assert model.cv_risks_.risk[0] == pytest.approx(expected)
    folds = SuperLearnerRegressor([("forest", forest)], reuse_out_of_bag=False, random_state=0)
    assert not hasattr(folds.fit(X, Y).estimators_[0], "oob_prediction_")


def test_screening_is_done_on_the_training_rows_alone():
    """Columns of noise, chosen by their luck: with all rows they would seem to be good."""
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(80, 2000)), rng.normal(size=80)
    model = SuperLearnerRegressor(
        [("line", LinearRegression())], screen=SelectKBest(f_regression, k=5), random_state=0
    ).fit(noise, y)
    assert model.cv_risks_.risk[0] > 0.9 * y.var()


@pytest.mark.parametrize(
    "screen", [3, lambda X, y: np.arange(10) < 3, lambda X, y: [2, 8, 3], SelectKBest(k=3)]
)
def test_ways_to_screen(screen):
    model = SuperLearnerRegressor(CANDIDATES, screen=screen, cv=3, random_state=0).fit(X, Y)
    member = model.estimators_[0]
    copies = member.estimators if hasattr(member, "estimators") else [member]
    assert all(len(one.columns_) == 3 for one in copies)
    assert model.score(X, Y) > 0.2


def test_the_number_of_threads_changes_nothing():
    candidates = [*CANDIDATES, ("forest", RandomForestRegressor(60, random_state=0))]
    one, two = (
        SuperLearnerRegressor(candidates, random_state=0, n_jobs=k).fit(X, Y).predict(X)
        for k in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_the_same_seed_the_same_model():
    some = slice(0, 150)
    models = [
        SuperLearnerRegressor(cv=2, random_state=7).fit(X[some], Y[some]).predict(X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*models)


# --- nothing leaks ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "cv"),
    [
        (KNeighborsRegressor(1), None),
        (KNeighborsRegressor(1), RepeatedKFold(n_splits=3, n_repeats=3, random_state=0)),
        (BaggingRegressor(KNeighborsRegressor(1), 60), None),
        (BaggingRegressor(KNeighborsRegressor(1), 60, bootstrap=False), None),
        (RandomForestRegressor(60), None),
        (ExtraTreesRegressor(60), None),
    ],
    ids=["folds", "repeated", "out of bag", "bag of all rows", "forest", "extra trees"],
)
def test_who_knows_random_targets_by_heart_has_no_weight(memory, cv):
    rng = np.random.default_rng(0)
    points, y = rng.normal(size=(1500, 4)), rng.normal(size=1500)
    candidates = [("mean", DummyRegressor()), ("memory", memory)]
    model = SuperLearnerRegressor(candidates, cv=cv, random_state=0).fit(points, y)
    assert model.cv_risks_.weights[1] < 0.2  # forests hardly leave the mean: chance gives some
    assert not model.cv_risks_.risk[1] < 1.05 * y.var()  # or it was given up


def test_who_knows_groups_by_heart_has_no_weight():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(200), 3)
    points, y = rng.normal(size=(200, 4))[groups], rng.normal(size=200)[groups]
    for memory in (RandomForestRegressor(60), BaggingRegressor(KNeighborsRegressor(1), 60)):
        candidates = [("mean", DummyRegressor()), ("memory", memory)]
        model = SuperLearnerRegressor(candidates, random_state=0).fit(points, y, groups=groups)
        assert model.cv_risks_.weights[1] < 0.15


def test_rare_categories_are_not_judged_out_of_bag():
    """A name that a tree has not drawn is not what a name is that nobody has seen."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=1200)
    table = pd.DataFrame({"name": [f"n{i}" for i in range(1200)], "size": size})
    y = (size > 0).astype(int)
    forest = [("forest", RandomForestClassifier(100))]
    for columns, out_of_bag in ((["name", "size"], False), (["size"], True)):
        model = SuperLearnerClassifier(forest, method="simplex", random_state=0)
        model.fit(table[columns][:200], y[:200])
        assert hasattr(model.estimators_[0], "oob_score_") == out_of_bag
        new = log_loss(y[200:], model.predict_proba(table[columns][200:]))
        assert model.risk_ == pytest.approx(new, abs=0.1)


# --- the risk of the whole procedure --------------------------------------------------------------


def test_groups_stay_together_on_inner_folds_too():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 4)
    points = rng.normal(size=(60, 2))[groups] + 0.01 * rng.normal(size=(240, 2))
    y = rng.normal(size=60)[groups]
    candidates = [("near", KNeighborsRegressor(1)), ("mean", DummyRegressor())]
    for cv in (None, GroupKFold(4)):
        model = SuperLearnerRegressor(candidates, cv=cv, random_state=0)
        risk = model.cv_risk(points, y, groups=groups).risk[0]
        assert risk < 1.2 * y.var()  # else it is that of the nearest row, twice the variance


def test_a_metric_of_the_outer_folds_knows_the_labels():
    scorer = make_scorer(f1_score, pos_label="red", average="binary")
    two = YC != "blue"
    model = SuperLearnerClassifier(CLASSIFIERS, method="best", risk=scorer, cv=3, random_state=0)
    outer = model.cv_risk(XC[two], YC[two], cv=3)
    assert outer.name == "f1_score"
    assert -1 <= outer.risk[0] < -0.8


def test_outer_folds_that_are_given_as_row_numbers():
    w = np.ones(len(Y))
    w[:40] = 0
    model = SuperLearnerRegressor(CANDIDATES, cv=3, random_state=0)
    given = model.cv_risk(X, Y, w, cv=list(KFold(3).split(X)))
    left = [(a[a >= 40] - 40, b[b >= 40] - 40) for a, b in KFold(3).split(X)]
    assert given.risk[0] == pytest.approx(model.cv_risk(X[40:], Y[40:], cv=left).risk[0])
    pairs = SuperLearnerRegressor(CANDIDATES, cv=list(KFold(3).split(X)))
    with pytest.raises(ValueError, match="cv cannot be a list of row numbers"):
        pairs.cv_risk(X, Y)


def test_functions_get_the_weights_if_they_take_them():
    w = np.where(Y > 100, 1.0, 5.0)
    tables = [
        SuperLearnerRegressor(CANDIDATES, risk=risk, cv=FOLDS, random_state=0).fit(X, Y, w)
        for risk in (mean_absolute_error, "neg_mean_absolute_error", lambda y, said: 1.0)
    ]
    np.testing.assert_allclose(tables[0].cv_risks_.risk, tables[1].cv_risks_.risk)
    assert [one.cv_risks_.name for one in tables[:2]] == ["mean_absolute_error"] * 2
