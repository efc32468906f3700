"""scikit-learn's bagging: the same parameters and surface, the same behaviour, its own checks."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peers
from scipy import sparse
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import weald
from peers.contract import contract

pytestmark = pytest.mark.peers

ESTIMATORS = ("BaggingClassifier", "BaggingRegressor")
IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def data_of(name):
    return IRIS if name.endswith("Classifier") else DIABETES


# --- the same surface -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_and_defaults(name):
    ours = inspect.signature(getattr(weald, name)).parameters
    theirs = inspect.signature(getattr(peers, name)).parameters
    assert list(theirs) == list(ours)[: len(theirs)]
    for parameter, expected in theirs.items():
        assert ours[parameter].default == expected.default
        assert ours[parameter].kind == expected.kind
    extra = {"weighting", "n_iter_no_change", "tol", "keep_partial", "callbacks", "combine"}
    extra |= {"voting"} if name.endswith("Classifier") else set()
    assert set(ours) - set(theirs) == extra


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("member", [None, "linear"])
def test_fitted_attributes_and_methods(name, member):
    X, y = data_of(name)
    if member == "linear":
        member = RidgeClassifier() if name.endswith("Classifier") else Ridge()
    ours, theirs = (
        getattr(home, name)(member, 30, random_state=0, oob_score=True).fit(X, y)
        for home in (weald, peers)
    )
    public = {a for a in dir(theirs) if not a.startswith("_")} - set(theirs.__dict__)
    fitted = {a for a in theirs.__dict__ if a.endswith("_")}
    assert public - {"estimator_params"} | fitted <= set(dir(ours))
    assert ours.n_features_in_ == theirs.n_features_in_
    assert len(ours) == len(theirs) == len(list(ours)) == 30
    assert len(ours.estimators_samples_) == len(ours.estimators_features_) == 30
    assert type(ours[3]) is type(ours.estimators_[3])
    if name.endswith("Classifier"):
        assert ours.n_classes_ == theirs.n_classes_
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)
        assert ours.oob_decision_function_.shape == theirs.oob_decision_function_.shape
        assert hasattr(ours, "decision_function") == hasattr(theirs, "decision_function")
    else:
        assert ours.oob_prediction_.shape == theirs.oob_prediction_.shape


@pytest.mark.parametrize(
    "settings", [{}, {"max_features": 2}, {"max_features": 3, "bootstrap_features": True}]
)
@pytest.mark.parametrize("member", [None, DecisionTreeClassifier(), GaussianNB()])
def test_members_with_their_columns_make_up_the_ensemble(settings, member):
    """The loop people write over scikit-learn's fitted members."""
    X, y = IRIS
    bag = weald.BaggingClassifier(member, 7, random_state=3, **settings).fit(X, y)
    shares = [
        one.predict_proba(X[:, columns])
        for one, columns in zip(bag.estimators_, bag.estimators_features_, strict=True)
    ]
    np.testing.assert_allclose(np.mean(shares, axis=0), bag.predict_proba(X), atol=1e-12)
    for rows, count in zip(bag.estimators_samples_, bag.in_bag_, strict=True):
        np.testing.assert_array_equal(np.bincount(rows, minlength=len(X)), count)
        assert len(rows) == len(X)


# --- the same behaviour -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "n"),
    [
        (GaussianNB(), 3),
        (LogisticRegression(), 2),
        (KNeighborsClassifier(3), 3),
        (SVC(), 2),
        (DecisionTreeClassifier(random_state=0), 3),
    ],
    ids=str,
)
def test_without_draws_the_members_are_the_peers(member, n):
    X, y = CANCER
    X = StandardScaler().fit_transform(X)[:200, :6]
    y = np.array(["benign", "malign"])[y[:200]]
    settings = {"bootstrap": False, "random_state": 0}
    ours = weald.BaggingClassifier(member, n, **settings).fit(X, y)
    theirs = peers.BaggingClassifier(member, n, **settings).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    if not isinstance(member, SVC):
        with np.errstate(divide="ignore"):
            expected = theirs.predict_log_proba(X)
            np.testing.assert_allclose(ours.predict_log_proba(X), expected, atol=1e-9)
    assert hasattr(ours, "decision_function") == hasattr(member, "decision_function")
    if hasattr(member, "decision_function"):
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))


@pytest.mark.parametrize("member", [Ridge(), KNeighborsRegressor(), LinearRegression()], ids=str)
def test_without_draws_the_regressors_are_the_peers(member):
    X, y = DIABETES
    for target in (y, np.c_[y, -y]):
        ours = weald.BaggingRegressor(member, 2, bootstrap=False).fit(X, target)
        theirs = peers.BaggingRegressor(member, 2, bootstrap=False).fit(X, target)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    ("member", "peer"),
    [
        (None, None),
        (GaussianNB(), GaussianNB()),
        (KNeighborsClassifier(3), KNeighborsClassifier(3)),
    ],
)
def test_as_good_as_the_peer(member, peer):
    """Cross-validated accuracy over the same folds; draws differ, so it is close, not equal."""
    X, y = CANCER
    ours = cross_val_score(weald.BaggingClassifier(member, 20, random_state=0), X, y, cv=4)
    theirs = cross_val_score(peers.BaggingClassifier(peer, 20, random_state=0), X, y, cv=4)
    assert abs(ours.mean() - theirs.mean()) < 0.02


def test_out_of_bag_is_as_good_as_the_peers():
    X, y = DIABETES
    ours = weald.BaggingRegressor(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    theirs = peers.BaggingRegressor(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.05


@pytest.mark.parametrize("member", [SGDClassifier(random_state=0), GaussianNB()], ids=str)
def test_rows_by_weight_are_rows_by_repetition(member):
    """A member that takes weights gets the draw as weights: the same as drawing for GaussianNB."""
    X, y = IRIS
    bag = weald.BaggingClassifier(member, 4, random_state=1).fit(X, y)
    for one, rows, count in zip(bag.estimators_, bag.estimators_samples_, bag.in_bag_, strict=True):
        by_weight = type(member)(**one.get_params()).fit(X, y, sample_weight=count)
        np.testing.assert_array_equal(by_weight.predict(X), one.predict(X))
        if isinstance(member, GaussianNB):
            drawn = GaussianNB().fit(X[rows], y[rows])
            np.testing.assert_allclose(one.predict_proba(X), drawn.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("message", ["warm start smaller", "no out-of-bag", "too many columns"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_same_complaints(name, message):
    X, y = data_of(name)
    for home in (weald, peers):
        make = getattr(home, name)
        if message == "warm start smaller":
            bag = make(n_estimators=3, warm_start=True).fit(X, y)
            with pytest.raises(ValueError, match=r"n_estimators=2 must be larger or equal to"):
                bag.set_params(n_estimators=2).fit(X, y)
            with pytest.warns(UserWarning, match="Warm-start fitting without increasing"):
                bag.set_params(n_estimators=3).fit(X, y)
        elif message == "no out-of-bag":
            with pytest.raises(ValueError, match="Out of bag estimation only available if boots"):
                make(bootstrap=False, oob_score=True).fit(X, y)
        else:
            with pytest.raises(ValueError, match="max_features"):
                make(max_features=99).fit(X, y)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_that_every_member_drew(name):
    X, y = data_of(name)
    for home in (weald, peers):
        bag = getattr(home, name)(n_estimators=1, oob_score=True, random_state=0)
        with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
            bag.fit(X, y)


# --- metadata routing -------------------------------------------------------------------------


class Recorder(GaussianNB):
    """Notes what came with the data."""

    def fit(self, X, y, sample_weight=None, mark=None):
        self.weights_, self.mark_ = sample_weight, mark
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X, flag=None):
        self.flag_ = flag
        return super().predict_proba(X)


def test_metadata_goes_where_it_is_asked_for():
    X, y = IRIS
    with config_context(enable_metadata_routing=True):
        member = Recorder().set_fit_request(sample_weight=True, mark=True)
        member.set_predict_proba_request(flag=True)
        for home in (weald, peers):
            bag = home.BaggingClassifier(member, 3, random_state=0)
            bag.fit(X, y, sample_weight=np.ones(len(y)), mark="m")
            assert all(one.mark_ == "m" for one in bag.estimators_)
            assert all(one.weights_.sum() == len(y) for one in bag.estimators_)
            for method in ("predict", "predict_proba"):
                getattr(bag, method)(X, flag=method)
                assert all(one.flag_ == method for one in bag.estimators_)


def test_metadata_that_nobody_asked_for():
    X, y = IRIS
    with config_context(enable_metadata_routing=True):
        for home in (weald, peers):
            bag = home.BaggingClassifier(Recorder(), 3, random_state=0)
            with pytest.raises(UnsetMetadataPassedError, match="mark"):
                bag.fit(X, y, mark="m")
    for home in (weald, peers):
        with pytest.raises(ValueError, match="enable_metadata_routing"):
            home.BaggingClassifier(Recorder(), 3).fit(X, y, mark="m")


def test_metadata_with_an_entry_per_row_follows_the_rows():
    X, y = IRIS

    class Marked(KNeighborsClassifier):
        def fit(self, X, y, mark=None):
            self.mark_ = mark
            return super().fit(X, y)

    with config_context(enable_metadata_routing=True):
        member = Marked(1).set_fit_request(mark=True)
        bag = weald.BaggingClassifier(member, 3, random_state=0).fit(X, y, mark=np.arange(len(y)))
    for one, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one.mark_, rows)


def test_groups_pass_through_a_grid_search():
    X, y = IRIS
    with config_context(enable_metadata_routing=True):
        bag = weald.BaggingClassifier(random_state=0).set_fit_request(groups=True)
        search = GridSearchCV(bag, {"n_estimators": [2, 3]}, cv=2)
        search.fit(X, y, groups=np.arange(150) // 5)
        counts = search.best_estimator_.in_bag_.reshape(-1, 30, 5)
        assert (counts == counts[:, :, :1]).all()
        # Groups for the folds alone need no word about the members, as in scikit-learn.
        alone = GridSearchCV(weald.BaggingClassifier(), {"n_estimators": [2]}, cv=GroupKFold(2))
        alone.fit(X, y, groups=np.arange(150) // 5)


# --- tables of any kind -----------------------------------------------------------------------


def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "length": rng.normal(size=60),
            "colour": rng.choice(["red", "green", "blue"], 60),
            "width": rng.normal(size=60),
        }
    ), rng.integers(0, 2, 60)


def test_a_data_frame_stays_a_data_frame():
    X, y = frame()
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    member = make_pipeline(encode, LogisticRegression())
    bag = weald.BaggingClassifier(member, 5, random_state=0, oob_score=True).fit(X, y)
    assert list(bag.estimators_[0].feature_names_in_) == ["length", "colour", "width"]
    assert list(bag.feature_names_in_) == ["length", "colour", "width"]
    assert bag.predict(X).shape == (60,)
    with pytest.raises(ValueError, match="feature names"):
        bag.predict(X[["colour", "length", "width"]])


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "csr", "csc", "coo", "list"])
@pytest.mark.parametrize("columns", [1.0, 2])
def test_kinds_of_tables_give_the_same_ensemble(kind, columns):
    X, y = IRIS
    names = list("abcd")
    if kind == "pandas":
        table = pd.DataFrame(X, columns=names)
    elif kind == "polars":
        table = pytest.importorskip("polars").DataFrame(X, schema=names)
    elif kind == "arrow":
        table = pytest.importorskip("pyarrow").table(dict(zip(names, X.T, strict=True)))
    elif kind == "list":
        table = X.tolist()
    else:
        table = sparse.coo_array(X).asformat(kind)
    member = make_pipeline("passthrough", DecisionTreeClassifier(random_state=0))
    settings = {"n_estimators": 3, "max_features": columns, "random_state": 0, "oob_score": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = weald.BaggingClassifier(member, **settings).fit(X, y)
        got = weald.BaggingClassifier(member, **settings).fit(table, y)
        np.testing.assert_allclose(got.predict_proba(table), expected.predict_proba(X))
        assert got.oob_score_ == expected.oob_score_


def test_a_wiggly_member():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, size=(100, 1))
    y = np.sin(6 * x[:, 0]) + rng.normal(scale=0.5, size=100)
    new = rng.uniform(0, 1, size=(500, 1))
    wiggly = make_pipeline(PolynomialFeatures(15), LinearRegression())
    bag = weald.BaggingRegressor(wiggly, 30, random_state=0).fit(x, y)
    truth = np.sin(6 * new[:, 0])
    members = np.mean((bag.member_predictions(new) - truth) ** 2)
    assert np.mean((bag.predict(new) - truth) ** 2) < 0.6 * members


# --- scikit-learn's own checks ----------------------------------------------------------------

DRAWN = [
    weald.BaggingClassifier(n_estimators=5),
    weald.BaggingClassifier(n_estimators=5, voting="hard", oob_score=True, random_state=0),
    weald.BaggingClassifier(n_estimators=5, weighting="oob", max_features=0.5, random_state=0),
    weald.BaggingClassifier(KNeighborsClassifier(2), 3, max_samples=0.9, random_state=0),
    weald.BaggingClassifier(DecisionTreeClassifier(), 3, n_iter_no_change=1),
    weald.BaggingRegressor(n_estimators=5),
    weald.BaggingRegressor(weald.ExtraTreeRegressor(), 5, max_samples=0.5, bootstrap=False),
    weald.BaggingRegressor(Ridge(), 3, weighting="oob"),
    weald.BaggingRegressor(DecisionTreeRegressor(), 3, bootstrap_features=True, random_state=0),
]
# No rows are drawn, so a row of weight k must be the row repeated k times.
EXACT = [
    weald.BaggingClassifier(n_estimators=5, bootstrap=False, max_features=0.5, random_state=0),
    weald.BaggingClassifier(LogisticRegression(tol=1e-10), 2, bootstrap=False),
    weald.BaggingRegressor(n_estimators=5, bootstrap=False, max_features=0.5, random_state=0),
    weald.NaiveEnsembleClassifier(n_estimators=3),
    weald.NaiveEnsembleClassifier(voting="hard", param_grid={"max_depth": [3, 5]}),
    weald.NaiveEnsembleRegressor(n_estimators=3),
    weald.NaiveEnsembleRegressor(Ridge(solver="cholesky"), param_grid={"alpha": [0.1, 1.0]}),
]


@pytest.mark.parametrize(("estimator", "check"), contract(EXACT, DRAWN))
def test_estimator_contract(estimator, check):
    check(estimator)
