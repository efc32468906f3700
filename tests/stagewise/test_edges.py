"""Edges, mistakes and scikit-learn's own checks."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from peers.contract import contract
from stagewise.cases import BOTH, CANCER, DIABETES, OwnSquared, data_of
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
    losses,
)


def test_a_single_class():
    X = np.arange(5.0)[:, None]
    model = StagewiseClassifier(n_iter_no_change=2).fit(X, ["only"] * 5)
    assert model.predict(X).tolist() == ["only"] * 5
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((5, 1)))
    assert (model.n_estimators_, model.stop_reason_) == (0, "no_step")


@pytest.mark.parametrize("member", [None, LogisticRegression(), Ridge()])
def test_a_class_of_weight_zero(member):
    X, y = CANCER
    model = StagewiseClassifier(member, n_estimators=5).fit(X, y, sample_weight=y)
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(model.predict(X), 1)


@pytest.mark.parametrize("kind", BOTH)
def test_one_row(kind):
    model = kind().fit([[1.0, 2.0]], [3])
    assert model.predict([[0.0, 0.0]])[0] == 3


def test_staged_scores():
    X, y = CANCER
    model = StagewiseClassifier(n_estimators=6).fit(X[::2], y[::2])
    scores = [*model.staged_score(X, y)]
    assert len(scores) == 6
    assert scores[-1] == model.score(X, y)
    last = [*model.staged_decision_function(X)][-1]
    np.testing.assert_array_equal(last, model.decision_function(X))
    for part, said, F in zip(
        model.staged_predict_proba(X),
        model.staged_predict(X),
        model.staged_decision_function(X),
        strict=True,
    ):
        np.testing.assert_array_equal(said, part.argmax(axis=1))
        np.testing.assert_array_equal(said, F > 0)
    X, y = DIABETES
    model = StagewiseRegressor(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal([*model.staged_predict(X)][-1], model.predict(X))
    assert [*model.staged_score(X, y)][-1] == pytest.approx(model.score(X, y))


def test_a_failed_fit_leaves_the_old_model():
    X, y = DIABETES
    model = StagewiseRegressor(n_estimators=3).fit(X, y)
    before = model.predict(X)
    model.set_params(loss="nonsense")
    with pytest.raises(ValueError, match="loss must be one of"):
        model.fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict(X), before)


def test_in_a_grid_search():
    X, y = CANCER
    grid = {"loss": ["log_loss", losses.Focal(1.0)], "estimator__max_depth": [1, 2]}
    model = StagewiseClassifier(DecisionTreeClassifier(max_bins=255), n_estimators=5)
    assert GridSearchCV(model, grid, cv=3).fit(X, y).best_score_ > 0.9


def test_not_fitted():
    for kind in BOTH:
        with pytest.raises(NotFittedError):
            kind().predict([[0.0]])
        assert not hasattr(kind(), "estimators_")


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (StagewiseClassifier, {"loss": "squared_error"}, "is not a loss of two classes"),
        (StagewiseClassifier, {"loss": "softmax"}, "is not a loss of two classes"),
        (StagewiseClassifier, {"loss": OwnSquared()}, "whose kind is 'binary'"),
        (StagewiseRegressor, {"loss": "log_loss"}, "is a loss of classes"),
        (StagewiseRegressor, {"loss": 3}, "loss must be one of"),
        (StagewiseRegressor, {"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        (StagewiseRegressor, {"learning_rate": 0}, "learning_rate must be a finite number > 0"),
        (StagewiseRegressor, {"learning_rate": True}, "learning_rate must be"),
        (StagewiseRegressor, {"init": "mean"}, "init must be one of 'constant', 'zero'"),
        (StagewiseRegressor, {"validation_fraction": 1.0}, "validation_fraction must be"),
        (StagewiseRegressor, {"n_iter_no_change": 0}, "n_iter_no_change must be"),
        (StagewiseRegressor, {"tol": -1}, "tol must be"),
        (StagewiseRegressor, {"verbose": -1}, "verbose must be"),
        (StagewiseRegressor, {"estimator": Ridge}, "estimator must be None or an estimator"),
        (
            StagewiseRegressor,
            {"estimator": DecisionTreeRegressor(criterion="poisson")},
            "criterion must be one of 'squared_error', 'absolute_error'",
        ),
        (StagewiseRegressor, {"random_state": "x"}, "random_state must be"),
    ],
)
def test_wrong_parameters(kind, settings, message):
    with pytest.raises(ValueError, match=message):
        kind(**settings).fit(*data_of(kind))


def test_wrong_targets():
    X, y = DIABETES
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        StagewiseClassifier().fit(X, np.arange(len(y)) % 3)
    for kind in BOTH:
        with pytest.raises(ValueError, match="y should be a 1d array"):
            kind().fit(X, np.c_[y > 100, y > 200] * 1)
    with pytest.raises(ValueError, match="gamma needs targets > 0"):
        StagewiseRegressor(loss="gamma").fit(X, y - y.mean())
    with pytest.raises(ValueError, match="beyond 1e100"):
        StagewiseRegressor().fit(X, 1e101 * y)


def test_wrong_validation_rows():
    X, y = CANCER
    model = StagewiseClassifier(n_estimators=2)
    with pytest.raises(ValueError, match="X_val is provided, but y_val was not provided"):
        model.fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="y_val is provided, but X_val was not provided"):
        model.fit(X, y, y_val=y)
    with pytest.raises(ValueError, match="sample_weight_val weighs the rows of X_val"):
        model.fit(X, y, sample_weight_val=y)
    with pytest.raises(ValueError, match=r"y_val .*: there is the label 7, which y in fit"):
        model.fit(X, y, X_val=X, y_val=np.full(len(y), 7))
    with pytest.raises(
        ValueError, match="X has 2 features, but StagewiseClassifier is expecting 30 features"
    ):
        model.fit(X, y, X_val=X[:, :2], y_val=y)
    with pytest.raises(ValueError, match="there is only 1 row"):
        StagewiseRegressor(n_iter_no_change=1).fit([[0.0]], [1.0])


def test_a_member_that_predicts_nonsense():
    class Nonsense(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="Nonsense as member predicts something that is not fin"):
        StagewiseRegressor(Nonsense()).fit(*DIABETES)


EXACT = [
    StagewiseClassifier(),
    StagewiseClassifier(DecisionTreeRegressor(max_depth=2), loss="log_loss"),
    StagewiseClassifier(loss="smooth_hinge", init="constant", learning_rate=0.5),
    StagewiseRegressor(),
    StagewiseRegressor(loss="absolute_error"),
    StagewiseRegressor(Ridge(), loss="huber"),
]


@pytest.mark.parametrize(("estimator", "check"), contract(EXACT))
def test_estimator_contract(estimator, check):
    check(estimator)


def test_a_learning_rate_that_is_too_large_is_remarked_on():
    X, y = DIABETES
    with pytest.warns(UserWarning, match="learning_rate=3 is too large"):
        model = StagewiseRegressor(learning_rate=3.0).fit(X, y)
    assert model.n_estimators_ == 0


def test_small_probabilities_keep_their_digits():
    X, labels = CANCER
    model = StagewiseClassifier(DecisionTreeRegressor(max_depth=3), loss="log_loss")
    shares = model.fit(X, labels).predict_proba(X)
    assert np.abs(model.decision_function(X)).max() > 40
    assert (shares > 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)


def test_a_loss_that_is_no_number_is_said_to_be_so():
    X, y = DIABETES

    class Nothing:
        def value(self, y, F):
            return np.full(len(y), np.nan)

        def gradient(self, y, F):
            return np.full(len(y), np.nan)

    with pytest.raises(ValueError, match="gradient of Nothing must be finite, got nan in row 0"):
        StagewiseRegressor(loss=Nothing()).fit(X, y)


def test_one_class_and_members_that_vote_come_through_a_pickle():
    model = StagewiseClassifier(DecisionTreeClassifier(max_depth=1), loss="log_loss")
    model.fit(np.array([[0.0], [1.0]]), ["a", "a"])
    again = pickle.loads(pickle.dumps(model))
    assert again.predict([[0.5]]).tolist() == ["a"]
