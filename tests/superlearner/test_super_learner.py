"""The super learner: risks of its table, weights, candidates that fail, time, and Ctrl-C."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss, make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from weald import (
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SuperLearnerClassifier,
    SuperLearnerRegressor,
)

X, Y = load_diabetes(return_X_y=True)
XC, YC = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(YC))
XC, YC = XC[ORDER], np.array(["red", "green", "blue"])[YC[ORDER]]
FOLDS = KFold(4, shuffle=True, random_state=3)
CANDIDATES = [
    ("line", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=3)),
    ("near", KNeighborsRegressor()),
]
CLASSIFIERS = [("line", LogisticRegression(max_iter=500)), ("bayes", GaussianNB())]


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
    assert model.cv_risks_.name == risk


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


# --- candidates that do not go well -----------------------------------------------------------


class Fails(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no luck today")

    def predict(self, X):
        return np.zeros(len(X))


class SaysNothing(Fails):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("bad", "message"),
    [(Fails(), "RuntimeError: no luck today"), (SaysNothing(), "something that is not finite")],
)
def test_a_candidate_that_fails_is_reported_and_left_out(bad, message):
    model = SuperLearnerRegressor([("bad", bad), *CANDIDATES], cv=FOLDS, random_state=0)
    with pytest.warns(UserWarning, match=rf"candidate 'bad' failed and is left out: .*{message}"):
        model.fit(X, Y)
    good = SuperLearnerRegressor(CANDIDATES, cv=FOLDS, random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.cv_risks_.risk[1:], good.cv_risks_.risk)
    assert np.isnan(model.cv_risks_.risk[0])
    assert "failed" in str(model.cv_risks_)


def test_if_all_fail_the_first_error_is_told():
    with pytest.raises(RuntimeError, match="no luck today"):
        SuperLearnerRegressor([("bad", Fails())]).fit(X, Y)


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], "must be None .* or a list"),
        ("forest", "must be None .* or a list"),
        ([LinearRegression()], "but it holds"),
        ([("a", LinearRegression()), ("a", Ridge())], "Two candidates are named 'a'"),
        ([("a__b", Ridge())], "must not contain '__'"),
        ([("a", "drop")], "All candidates are dropped"),
        ([("a", 3)], "an estimator object with fit and predict"),
    ],
)
def test_bad_candidates(estimators, message):
    with pytest.raises(ValueError, match=message):
        SuperLearnerRegressor(estimators).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "mean"}, "method"),
        ({"time_limit": -1}, "time_limit must be"),
        ({"refit": "yes"}, "refit"),
        ({"screen": 0}, "at least 1 column"),
        ({"screen": "all"}, "screen must be"),
        ({"cv": 1}, "at least 2 folds"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        SuperLearnerRegressor(CANDIDATES, **settings).fit(X, Y)


def test_bad_targets():
    with pytest.raises(ValueError, match="one target"):
        SuperLearnerRegressor(CANDIDATES).fit(X, np.c_[Y, Y])
    with pytest.raises(ValueError, match="n_samples=1"):
        SuperLearnerRegressor(CANDIDATES).fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="groups must have shape"):
        SuperLearnerRegressor(CANDIDATES).fit(X, Y, groups=[1, 2])


def test_a_class_of_one_row():
    y = np.array(["a"] * 30 + ["b"] * 30 + ["c"])
    points = np.random.default_rng(0).normal(size=(61, 2))
    with pytest.warns(UserWarning, match="least populated class"):
        model = SuperLearnerClassifier(CLASSIFIERS, random_state=0).fit(points, y)
    assert model.predict_proba(points).shape == (61, 3)


# --- the whole --------------------------------------------------------------------------------


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


def test_hopeless_candidates_have_no_more_folds():
    class Wild(Fails):
        fits = 0

        def fit(self, X, y):
            Wild.fits += 1
            return self

        def predict(self, X):
            return np.full(len(X), 1e4)

    model = SuperLearnerRegressor([*CANDIDATES, ("wild", Wild())], cv=5, random_state=0, n_jobs=1)
    model.fit(X, Y)
    assert Wild.fits == 1
    assert model.cv_risks_.notes[-1] == "too far behind"


class Slow(Fails):
    def fit(self, X, y):
        time.sleep(0.3)
        return self


def test_a_time_limit_is_kept():
    rng = np.random.default_rng(0)
    points, y = rng.normal(size=(2000, 5)), rng.normal(size=2000)
    y += points[:, 0]
    candidates = [
        ("line", LinearRegression()),
        ("slow", Slow()),
        ("boosting", GradientBoostingRegressor(n_estimators=100_000, learning_rate=0.01)),
        ("tree", DecisionTreeRegressor(max_depth=3)),
    ]
    began = time.monotonic()
    model = SuperLearnerRegressor(candidates, time_limit=1.5, random_state=0, n_jobs=1).fit(
        points, y
    )
    assert time.monotonic() - began < 2.2
    assert model.cv_risks_.risk[0] > 0
    assert model.score(points, y) > 0.4


def test_the_limit_is_not_left_with_the_members():
    boosting = GradientBoostingRegressor(n_estimators=5)
    model = SuperLearnerRegressor([("boosting", boosting)], cv=2, time_limit=60, random_state=0)
    assert [one.callbacks for one in model.fit(X, Y).estimators_[0].estimators] == [None, None]


def test_ctrl_c_keeps_what_is_complete_if_asked():
    class Stops(Fails):
        def fit(self, X, y):
            raise KeyboardInterrupt

    candidates = [*CANDIDATES[:2], ("stops", Stops())]
    with pytest.raises(KeyboardInterrupt):
        SuperLearnerRegressor(candidates, random_state=0, n_jobs=1).fit(X, Y)
    model = SuperLearnerRegressor(candidates, keep_partial=True, random_state=0, n_jobs=1)
    with pytest.warns(UserWarning, match="stopped"):
        model.fit(X, Y)
    assert model.stop_reason_ == "interrupted"
    assert np.isfinite(model.cv_risks_.risk[:2]).all()
    assert np.isnan(model.cv_risks_.risk[2])


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


def test_defaults_on_a_mixed_table():
    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "kind": rng.choice(["a", "b", "c"], n),
            "size": rng.normal(size=n),
            "flag": rng.integers(0, 2, n).astype(bool),
            "empty": np.nan,
        }
    )
    table.loc[::5, "size"] = np.nan
    y = np.where((table["kind"] == "a") ^ (table["size"] > 0), "yes", "no")
    model = SuperLearnerClassifier(random_state=0).fit(table[:200], y[:200])
    assert not [note for note in model.cv_risks_.notes if "failed" in note]
    assert model.score(table[200:], y[200:]) > 0.85
    assert log_loss(y[200:], model.predict_proba(table[200:])) < 0.5
    numbers = SuperLearnerRegressor(random_state=0).fit(table[:200], (y[:200] == "yes") * 1.0)
    assert numbers.score(table[200:], (y[200:] == "yes") * 1.0) > 0.4


def test_a_bar_over_candidates_and_folds(capsys):
    SuperLearnerRegressor(CANDIDATES, cv=4, verbose=1, random_state=0).fit(X, Y)
    said = capsys.readouterr().err
    assert "12/12" in said
    assert "risk" in said


def test_in_the_company_of_scikit_learn():
    grid = GridSearchCV(
        SuperLearnerRegressor(CANDIDATES, cv=3, random_state=0),
        {"tree__max_depth": [1, 3], "method": ["simplex", "best"], "near": ["drop"]},
        cv=2,
    ).fit(X, Y)
    assert grid.best_score_ > 0.3
    pipe = make_pipeline(StandardScaler(), SuperLearnerClassifier(CLASSIFIERS, cv=3))
    assert pipe.fit(XC, YC).score(XC, YC) > 0.9
    calibrated = CalibratedClassifierCV(SuperLearnerClassifier(CLASSIFIERS, cv=3), cv=3)
    assert calibrated.fit(XC, YC).predict_proba(XC).shape == (150, 3)


def test_metadata_routing():
    from sklearn.model_selection import cross_validate

    w = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    with config_context(enable_metadata_routing=True):
        model = SuperLearnerRegressor(
            [("line", LinearRegression().set_fit_request(sample_weight=True))], cv=3, random_state=0
        ).set_fit_request(sample_weight=True)
        scores = cross_validate(
            model,
            X,
            Y,
            params={"sample_weight": w},
            scoring=make_scorer(mean_squared_error).set_score_request(sample_weight=True),
            cv=2,
            error_score="raise",
        )
    assert np.isfinite(scores["test_score"]).all()


def test_the_table_as_frame_text_and_picture():
    import matplotlib as mpl

    mpl.use("Agg")
    model = SuperLearnerClassifier(
        [*CLASSIFIERS, ("near", KNeighborsClassifier())], cv=3, random_state=0
    ).fit(XC, YC)
    frame = model.cv_risks_.to_frame()
    assert list(frame.columns) == ["candidate", "risk", "standard_error", "weight", "seconds"]
    assert frame["risk"].is_monotonic_increasing
    assert frame["candidate"][0] in str(model.cv_risks_)
    ax = model.cv_risks_.plot()
    assert "log loss" in ax.get_xlabel()
    assert len(ax.get_yticklabels()) == 3


def test_cancer_with_the_defaults():
    points, y = load_breast_cancer(return_X_y=True)
    model = SuperLearnerClassifier(random_state=0).fit(points[::2], y[::2])
    assert log_loss(y[1::2], model.predict_proba(points[1::2])) < 0.15
    forest = RandomForestClassifier(random_state=0).fit(points[::2], y[::2])
    ours = log_loss(y[1::2], model.predict_proba(points[1::2]))
    assert ours < log_loss(y[1::2], forest.predict_proba(points[1::2]))


class Votes(ClassifierMixin, BaseEstimator):
    """Lacks predict_proba and has labels of its own."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), "purple")


def test_a_member_that_predicts_what_is_no_class():
    model = SuperLearnerClassifier([("votes", Votes()), *CLASSIFIERS], cv=3, random_state=0)
    with pytest.warns(UserWarning, match="'purple': one of the class codes"):
        model.fit(XC, YC)
