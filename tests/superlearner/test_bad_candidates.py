"""Candidates that fail, and what users may get wrong."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from superlearner.cases import (
    CANDIDATES,
    CLASSIFIERS,
    FOLDS,
    XC,
    YC,
    Fails,
    SaysNothing,
    Votes,
    X,
    Y,
)
from weald import (
    SuperLearnerClassifier,
    SuperLearnerRegressor,
)


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


def test_a_member_that_predicts_what_is_no_class():
    model = SuperLearnerClassifier([("votes", Votes()), *CLASSIFIERS], cv=3, random_state=0)
    with pytest.warns(UserWarning, match="'purple': one of the class codes"):
        model.fit(XC, YC)


def test_candidates_of_the_other_kind():
    with pytest.raises(ValueError, match="'bayes' is a classifier: only regressors"):
        SuperLearnerRegressor([*CANDIDATES, ("bayes", GaussianNB())]).fit(X, Y)
    with pytest.raises(ValueError, match="'line' is a regressor: only classifiers"):
        SuperLearnerClassifier([("line", Ridge())]).fit(XC, YC)


def test_too_few_groups():
    with pytest.raises(ValueError, match="All rows are of one group"):
        SuperLearnerRegressor(CANDIDATES).fit(X, Y, groups=np.ones(len(Y)))
    with pytest.raises(ValueError, match="5 folds of whole groups need as many"):
        SuperLearnerRegressor(CANDIDATES, cv=5).fit(X, Y, groups=np.arange(len(Y)) % 3)
    model = SuperLearnerRegressor(CANDIDATES).fit(X, Y, groups=np.arange(len(Y)) % 3)
    assert model.cv_risks_.fold_risks.shape == (3, 3)


def test_a_fold_without_weight():
    rows = np.arange(len(Y))
    w = (rows >= 100).astype(float)
    folds = [(rows[100:], rows[:100]), (rows[:100], rows[100:])]
    with pytest.raises(ValueError, match="that weigh more than 0"):
        SuperLearnerRegressor(CANDIDATES, cv=folds).fit(X, Y, w)


def test_a_fold_that_lacks_a_class():
    order = np.argsort(YC, kind="stable")
    model = SuperLearnerClassifier(CLASSIFIERS, cv=KFold(3), random_state=0)
    with pytest.warns(UserWarning, match="Fold 0 of cv is to predict the class 'blue'"):
        model.fit(XC[order], YC[order])


@pytest.mark.parametrize("method", ["auto", "simplex", "log_pool", "nnls", "greedy", "best"])
def test_one_class_only(method):
    model = SuperLearnerClassifier([("bayes", GaussianNB())], method=method, cv=3, random_state=0)
    model.fit(XC, np.full(150, "red"))
    assert (model.predict(XC) == "red").all()
    assert model.risk_ == 0


class FailsOnAllRows(LinearRegression):
    """On folds all is well."""

    def fit(self, X, y):
        if len(y) == len(Y):
            raise RuntimeError("too many rows")
        return super().fit(X, y)


def test_a_refit_that_fails_leaves_the_copies_on_the_folds():
    candidates = [("line", FailsOnAllRows()), ("tree", CANDIDATES[1][1])]
    model = SuperLearnerRegressor(candidates, refit=True, cv=FOLDS, random_state=0)
    with pytest.warns(UserWarning, match="'line' failed on all rows and remains the mean"):
        model.fit(X, Y)
    other = SuperLearnerRegressor(candidates, cv=FOLDS, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(
        model.named_estimators_["line"].predict(X), other.named_estimators_["line"].predict(X)
    )
    assert not hasattr(model.named_estimators_["tree"], "estimators")
