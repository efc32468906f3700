"""Stacking beyond scikit-learn: any splitter, out-of-bag columns, layers, and no leak."""

from threading import Event, Lock, Timer
from time import monotonic, sleep
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald
from weald import (
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from weald import _engine as engine

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y = X[ORDER], Y[ORDER]
XR, YR = load_diabetes(return_X_y=True)
MEMBERS = [("linear", LogisticRegression(max_iter=500)), ("bayes", GaussianNB())]


class Recorder(ClassifierMixin, BaseEstimator):
    """A final model that notes what it is given."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.w_, self.classes_ = X, y, sample_weight, np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def naive_level_one(member, X, y, folds):
    """Level-1 rows of one member, fold by fold, in the order of the rows."""
    parts = [
        (test, clone(member).fit(X[train], y[train]).predict_proba(X[test]))
        for train, test in folds
    ]
    rows = np.concatenate([test for test, _ in parts])
    said = np.concatenate([shares for _, shares in parts])
    order = np.argsort(rows, kind="stable")
    return rows[order], said[order]


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(4),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        KFold(4, shuffle=True, random_state=1),
        [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(30))],
    ],
    ids=["time", "repeated", "shuffled", "pairs"],
)
def test_level_one_rows_of_any_splitter(cv):
    stack = StackingClassifier(MEMBERS, Recorder(), cv=cv).fit(X, Y)
    final = stack.final_estimator_
    folds = cv if isinstance(cv, list) else list(cv.split(X, Y))
    expected = [naive_level_one(member, X, Y, folds) for _, member in MEMBERS]
    rows = expected[0][0]
    np.testing.assert_allclose(final.X_, np.hstack([said for _, said in expected]))
    np.testing.assert_array_equal(final.y_, Y[rows])
    times = np.bincount(rows, minlength=len(Y))[rows]
    if (times == times[0]).all():
        assert final.w_ is None
    else:
        np.testing.assert_allclose(final.w_, 1 / times)


def test_the_same_level_one_as_scikit_learn():
    stack = StackingClassifier(MEMBERS, Recorder(), cv=StratifiedKFold(3)).fit(X, Y)
    for place, (_, member) in enumerate(MEMBERS):
        said = cross_val_predict(member, X, Y, cv=StratifiedKFold(3), method="predict_proba")
        np.testing.assert_allclose(stack.final_estimator_.X_[:, 3 * place :][:, :3], said)


@pytest.mark.parametrize("cv", [None, GroupKFold(3)])
def test_groups_stay_together(cv):
    """Rows of a group have the same label at random: who sees one of them knows the others."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    points = rng.normal(size=(40, 3))[groups] + 0.01 * rng.normal(size=(200, 3))
    labels = rng.integers(0, 2, 40)[groups]
    members = [("nearest", KNeighborsClassifier(1))]
    apart = StackingClassifier(members, Recorder(), cv=cv).fit(points, labels, groups=groups)
    mixed = StackingClassifier(members, Recorder(), cv=KFold(5, shuffle=True, random_state=0))
    mixed.fit(points, labels)
    right = [((m.final_estimator_.X_[:, 0] > 0.5) == labels).mean() for m in (apart, mixed)]
    assert right[0] < 0.7 < 0.95 < right[1]
    assert "_groups" not in vars(apart)


def test_weights_reach_members_and_final_model():
    w = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    stack = StackingClassifier(MEMBERS, Recorder(), cv=TimeSeriesSplit(3)).fit(
        X, Y, sample_weight=w
    )
    rows = np.concatenate([test for _, test in TimeSeriesSplit(3).split(X)])
    np.testing.assert_allclose(stack.final_estimator_.w_, w[rows])
    alone = GaussianNB().fit(X, Y, w)
    np.testing.assert_array_equal(stack.estimators_[1].theta_, alone.theta_)


def test_out_of_bag_columns_replace_the_folds_of_forests():
    forest = RandomForestClassifier(100, random_state=0)
    stack = StackingClassifier([*MEMBERS, ("forest", forest)], Recorder()).fit(X, Y)
    said = stack.final_estimator_.X_[:, 6:]
    alone = clone(forest).set_params(oob_score=True).fit(X, Y)
    known = ~np.isnan(alone.oob_decision_function_).any(axis=1)
    assert known.all()
    np.testing.assert_array_equal(said, alone.oob_decision_function_)
    np.testing.assert_array_equal(stack.estimators_[2].predict(X), alone.predict(X))


@pytest.mark.parametrize(
    ("forest", "settings"),
    [
        (RandomForestClassifier(100, random_state=0), {"reuse_out_of_bag": False}),
        (RandomForestClassifier(100, random_state=0), {"cv": TimeSeriesSplit(3)}),
        (RandomForestClassifier(20, random_state=0), {}),
        (RandomForestClassifier(100, bootstrap=False, random_state=0), {}),
        (RandomForestClassifier(100, random_state=0), {"stack_method": "predict"}),
    ],
    ids=["off", "time", "few trees", "no draws", "labels"],
)
def test_where_out_of_bag_columns_will_not_do(forest, settings):
    stack = StackingClassifier([("forest", forest)], Recorder(), **settings).fit(X, Y)
    assert not hasattr(stack.estimators_[0], "oob_decision_function_")


def test_several_layers():
    second = StackingClassifier(
        [("linear", LogisticRegression()), ("near", KNeighborsClassifier())],
        LogisticRegression(),
        cv=3,
    )
    stack = StackingClassifier(MEMBERS, second, cv=3).fit(X[::2], Y[::2])
    assert stack.score(X[1::2], Y[1::2]) > 0.9
    assert stack.final_estimator_.final_estimator_.n_features_in_ == 6


def test_a_table_with_strings_and_missing_values():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"kind": rng.choice(["a", "b", "c"], 300), "size": rng.normal(size=300)})
    table.loc[::7, "size"] = np.nan
    y = np.where((table["kind"] == "a") | (table["size"] > 0.5), "yes", "no")
    members = [
        ("trees", GradientBoostingClassifier(n_estimators=20)),
        ("linear", make_pipeline(weald.TableEncoder(), LogisticRegression())),
    ]
    stack = StackingClassifier(members, cv=3).fit(table, y)
    assert stack.score(table, y) > 0.95
    assert stack.member_predictions(table).shape == (2, 300, 2)
    np.testing.assert_array_equal(stack.feature_names_in_, ["kind", "size"])


def test_text_is_a_table_too():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["good day", "bad night", "good night", "bad day"] * 10
    y = [1, 0, 1, 0] * 10
    members = [("words", make_pipeline(TfidfVectorizer(), LogisticRegression()))]
    assert StackingClassifier(members, cv=2).fit(texts, y).score(texts, y) == 1


def test_folds_without_a_class():
    y = np.r_[np.zeros(40), np.ones(40), np.full(3, 2)].astype(int)
    points = np.random.default_rng(0).normal(size=(83, 2)) + y[:, None]
    folds = [(np.arange(60), np.arange(60, 83)), (np.arange(20, 80), np.r_[0:20, 80:83])]
    stack = StackingClassifier([("bayes", GaussianNB())], Recorder(), cv=folds).fit(points, y)
    assert (stack.final_estimator_.X_[:, 2] == 0).all()  # no member has seen class 2
    assert stack.transform(points).shape == (83, 3)


class Memory(ClassifierMixin, BaseEstimator):
    """Knows every row it has seen by heart, and guesses the others."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
        return self

    def predict_proba(self, X):
        guess = np.random.default_rng(0)
        sure = np.full((len(X), len(self.classes_)), 0.02)
        for i, row in enumerate(X):
            known = self.seen_.get(row.tobytes(), guess.choice(self.classes_))
            sure[i, self.classes_ == known] = 0.98
        return sure

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize(
    "cv", [5, TimeSeriesSplit(5), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)]
)
def test_a_member_that_memorises_random_labels_gets_no_weight(cv):
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    points[:, 0] += labels  # something can be learned
    members = [("memory", Memory()), ("linear", LogisticRegression())]
    stack = StackingClassifier(members, cv=cv).fit(points, labels)
    of_memory, of_linear = stack.final_estimator_.coef_[0]
    assert abs(of_memory) < 0.1 * of_linear
    learner = weald.SuperLearnerClassifier(members, cv=cv, random_state=0).fit(points, labels)
    assert learner.cv_risks_.weights[0] == pytest.approx(0, abs=0.03)


def test_regressors():
    members = [("ridge", Ridge()), ("near", KNeighborsRegressor())]
    stack = StackingRegressor(members, LinearRegression(), cv=TimeSeriesSplit(5)).fit(XR, YR)
    assert stack.score(XR, YR) > 0.3
    assert stack.member_predictions(XR).shape == (2, len(YR))
    forest = RandomForestRegressor(60, random_state=0)
    stack = StackingRegressor([("forest", forest)], LinearRegression()).fit(XR, YR)
    assert hasattr(stack.estimators_[0], "oob_prediction_")


def test_the_number_of_threads_changes_nothing():
    members = [*MEMBERS, ("trees", GradientBoostingClassifier(n_estimators=10, random_state=0))]
    one, two = (StackingClassifier(members, n_jobs=k, cv=3).fit(X, Y) for k in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


class ThreadsOf(GradientBoostingClassifier):
    """Notes how many threads its fit has, and how many other fits run beside it."""

    running, most = 0, 0
    threads: ClassVar = set()
    _lock = Lock()

    def fit(self, X, y):
        cls = ThreadsOf
        with cls._lock:
            cls.running += 1
            cls.most = max(cls.most, cls.running)
            cls.threads.add(engine.resolve_threads(self.n_jobs))
        sleep(0.05)
        super().fit(X, y)
        with cls._lock:
            cls.running -= 1
        return self


@pytest.mark.parametrize(("cv", "at_once", "threads"), [(3, 2, 1), (2, 1, 4)])
def test_there_are_never_more_threads_than_asked_for(monkeypatch, cv, at_once, threads):
    monkeypatch.setattr(ThreadsOf, "__module__", "weald.boosting.classifier")  # as one of its own
    ThreadsOf.most, ThreadsOf.threads = 0, set()
    member = ThreadsOf(n_estimators=2, random_state=0, n_jobs=threads if at_once == 1 else 2)
    StackingClassifier([("one", member)], n_jobs=threads if at_once == 1 else 2, cv=cv).fit(X, Y)
    assert ThreadsOf.most == at_once
    assert ThreadsOf.threads == {threads}


def test_a_fit_beside_others_ends_when_the_main_thread_is_told_to():
    stop = Event()
    stop.set()
    with engine.beside_others(stop), pytest.raises(KeyboardInterrupt):
        RandomForestRegressor(20, random_state=0).fit(XR, YR)  # asked between rounds
    numbers = np.random.default_rng(0)
    many, target = numbers.normal(size=(200_000, 40)), numbers.normal(size=200_000)
    stop.clear()
    Timer(0.2, stop.set).start()
    with engine.beside_others(stop), pytest.raises(KeyboardInterrupt):
        DecisionTreeRegressor().fit(many, target)  # asked by the engine
    began = monotonic()
    DecisionTreeRegressor(max_depth=2).fit(XR, YR)  # and this is over
    assert monotonic() - began < 5


def test_a_bar_over_members_and_folds(capsys):
    StackingClassifier(MEMBERS, cv=3, verbose=1).fit(X, Y)
    assert "8/8" in capsys.readouterr().err


def test_a_fit_that_fails_leaves_the_old_model():
    stack = StackingClassifier(MEMBERS, cv=3).fit(X, Y)
    before = stack.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        stack.fit(np.full_like(X, np.nan), Y)
    np.testing.assert_array_equal(stack.predict(X), before)


def test_voting_has_the_face_of_an_ensemble():
    vote = VotingClassifier([*MEMBERS, ("no", "drop")], voting="soft", weights=[2, 1, 5]).fit(X, Y)
    np.testing.assert_array_equal(vote.member_weights_, [2, 1])
    mixed = np.tensordot([2 / 3, 1 / 3], vote.member_predictions(X), 1)
    np.testing.assert_allclose(vote.predict_proba(X), mixed)
    assert len(vote) == 2
    assert vote.n_estimators_ == 2


def test_cancer_is_scaled_in_the_members():
    points, y = load_breast_cancer(return_X_y=True)
    members = [
        ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
        ("forest", RandomForestClassifier(random_state=0)),
    ]
    stack = StackingClassifier(members).fit(points[::2], y[::2])
    assert stack.score(points[1::2], y[1::2]) > 0.94


class SaysNothing(DummyRegressor):
    def predict(self, X):
        return np.full(len(X), np.nan)


def test_a_member_that_says_nothing_is_named():
    stack = StackingRegressor([("mean", DummyRegressor()), ("nothing", SaysNothing())])
    with pytest.raises(ValueError, match="'nothing' predicts numbers that are not finite"):
        stack.fit(X, Y.astype(float))
    final = GradientBoostingRegressor(n_estimators=5)  # knows missing values
    stack = StackingRegressor(stack.estimators, final).fit(X, Y.astype(float))
    assert np.isfinite(stack.predict(X)).all()


def test_rare_categories_are_not_judged_out_of_bag():
    table = pd.DataFrame({"name": [f"n{i}" for i in range(len(Y))], "size": X[:, 0]})
    forest = [("forest", RandomForestClassifier(60, random_state=0))]
    for columns, out_of_bag in ((["name", "size"], False), (["size"], True)):
        stack = StackingClassifier(forest).fit(table[columns], Y)
        assert hasattr(stack.estimators_[0], "oob_score_") == out_of_bag


@pytest.mark.parametrize("kind", [StackingClassifier, VotingClassifier])
def test_columns_of_transform_have_names(kind):
    settings = {"voting": "soft"} if kind is VotingClassifier else {"cv": 3}
    model = kind(MEMBERS, **settings).set_output(transform="pandas").fit(X, Y)
    frame = model.transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out())
    assert len(frame) == len(Y)
