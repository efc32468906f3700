"""Stagewise models: the methods that come out of them, and what happens at the edges."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as PeerTree
from sklearn.utils.estimator_checks import estimator_checks_generator

from oracle.naive_adaboost import naive_adaboost
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
    losses,
)
from weald._step import negative_gradient

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
BOTH = (StagewiseClassifier, StagewiseRegressor)
BINARY = ["exponential", "log_loss", "smooth_hinge", "focal", losses.SmoothHinge(0.2)]
REAL = ["squared_error", "absolute_error", "huber", "quantile", "log_cosh", losses.Quantile(0.9)]
POSITIVE = ["poisson", "gamma", "tweedie"]
EACH_LOSS = [(StagewiseClassifier, loss) for loss in BINARY]
EACH_LOSS += [(StagewiseRegressor, loss) for loss in REAL + POSITIVE]


def data_of(kind):
    return CANCER if kind is StagewiseClassifier else DIABETES


def problem(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] - X[:, 1] * X[:, -1] + 0.5 * rng.normal(size=n), rng


def say(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


# --- the methods that come out of it ------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_exponential_loss_is_the_textbooks_adaboost(seed, weighted):
    X, signal, rng = problem(seed)
    y = np.where(signal > 0.2, 1, -1)
    w = rng.uniform(0.2, 3, len(y)) if weighted else None
    naive = naive_adaboost(X, y, 25, w)
    model = StagewiseClassifier(n_estimators=25).fit(X, y, w)
    np.testing.assert_allclose(model.steps_, naive.alphas, rtol=1e-9)
    for tree, stump in zip(model.estimators_, naive.stumps, strict=True):
        assert tree.tree_.feature[0] == stump.column
        assert tree.tree_.threshold[0] == stump.threshold
        np.testing.assert_array_equal(tree.predict(X), stump.predict(X))
    # Each Z_t is the factor by which the loss falls, and what the rows weigh is |r|.
    falls = model.train_losses_[1:] / model.train_losses_[:-1]
    np.testing.assert_allclose(falls, naive.normalizers, rtol=1e-9)
    start = np.ones(len(y)) if w is None else w
    pull = start * np.abs(model.loss_.gradient((y > 0) * 1.0, model.decision_function(X)))
    np.testing.assert_allclose(pull / pull.sum(), naive.weights[-1], rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), naive.score(X), rtol=1e-9, atol=1e-12)


def test_a_member_that_is_never_wrong_ends_it():
    X = np.arange(6.0)[:, None]
    y = np.array([-1, -1, -1, 1, 1, 1])
    naive = naive_adaboost(X, y, 10)
    model = StagewiseClassifier().fit(X, y)
    assert (model.stop_reason_, naive.reason) == ("perfect", "perfect")
    np.testing.assert_allclose(model.steps_, naive.alphas, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), y)
    assert np.isfinite(model.predict_log_proba(X)[:, 0]).any()


class Atom(RegressorMixin, BaseEstimator):
    """The column most nearly parallel to the target: an atom of a dictionary."""

    def fit(self, X, y, sample_weight=None):
        w = np.ones(len(y)) if sample_weight is None else sample_weight
        length = np.sqrt(w @ X**2)
        along = (w * y) @ X / length
        self.atom_ = int(np.argmax(np.abs(along)))
        self.factor_ = np.sign(along[self.atom_]) / length[self.atom_]
        return self

    def predict(self, X):
        return self.factor_ * X[:, self.atom_]


@pytest.mark.parametrize("weighted", [False, True])
def test_squared_loss_with_columns_is_matching_pursuit(weighted):
    X, y, rng = problem(1, d=8)
    w = rng.uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    model = StagewiseRegressor(Atom(), n_estimators=15, init="zero")
    model.fit(X, y, w if weighted else None)
    r, coefficients = y.copy(), np.zeros(8)
    for t in range(15):
        scale = np.sqrt(w @ X**2)
        along = (w * r) @ X / scale
        j = np.argmax(np.abs(along))
        coefficients[j] += along[j] / scale[j]
        r = y - X @ coefficients
        assert model.estimators_[t].atom_ == j
        np.testing.assert_allclose(model.steps_[t], np.abs(along[j]), rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), X @ coefficients, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_squared_loss_with_trees_fits_residuals(rate):
    X, y = DIABETES
    member = DecisionTreeRegressor(max_depth=2, max_bins=255)
    model = StagewiseRegressor(member, n_estimators=10, learning_rate=rate).fit(X, y)
    F = np.full(len(y), y.mean())
    for t, staged in enumerate(model.staged_predict(X)):
        r = y - F
        h = clone(member).fit(X, r).predict(X)
        nu = (h @ r) / (h @ h)
        F = F + rate * nu * h
        np.testing.assert_allclose(model.steps_[t], rate * nu, rtol=1e-9)
        np.testing.assert_allclose(staged, F, rtol=1e-9)
        if rate == 1:
            assert abs(h @ (y - F)) < 1e-7 * (np.abs(h) @ np.abs(y - F))  # orthogonal
    np.testing.assert_allclose(model.predict(X), F, rtol=1e-9)


# --- steps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["trees", "stumps that vote", "lines"])
@pytest.mark.parametrize(("kind", "loss"), EACH_LOSS, ids=str)
def test_every_step_is_the_best_along_its_member(kind, loss, family):
    X, signal, rng = problem(2)
    y = (signal > 0.2) * 1.0 if kind is StagewiseClassifier else np.exp(signal / 2)
    w = rng.uniform(0.5, 2, len(y))
    member = {
        "trees": DecisionTreeRegressor(max_depth=2),
        "stumps that vote": DecisionTreeClassifier(max_depth=1),
        "lines": LinearRegression(),
    }[family]
    model = kind(member, loss=loss, n_estimators=8, init="constant").fit(X, y, w)
    assert model.n_estimators_ > 0
    assert (model.steps_ > 0).all()
    assert (np.diff(model.train_losses_) < 0).all()
    F = np.full(len(y), model.init_)
    np.testing.assert_allclose(model.train_losses_[0], model.loss_.mean(y, F, w), rtol=1e-12)
    for t, h in enumerate(model.member_predictions(X)):
        ahead = F + model.steps_[t] * h
        here = model.loss_.mean(y, ahead, w)
        np.testing.assert_allclose(model.train_losses_[t + 1], here, rtol=1e-10, atol=1e-12)
        for factor in (0.0, 0.9, 0.999, 1.001, 1.1, 2.0):
            other = model.loss_.mean(y, F + factor * model.steps_[t] * h, w)
            assert other >= here - 1e-12 * abs(here)
        F = ahead


def test_a_step_of_zero_ends_it():
    rng = np.random.default_rng(0)
    X = np.ones((20, 2))
    y = rng.normal(size=20)
    model = StagewiseRegressor().fit(X, y)
    assert (model.n_estimators_, model.stop_reason_) == (0, "no_step")
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert [*model.staged_predict(X)] == []
    assert model.member_predictions(X).shape == (0, 20)
    even = StagewiseClassifier().fit(X, np.arange(20) % 2)
    assert (even.n_estimators_, even.stop_reason_) == (0, "no_step")
    np.testing.assert_array_equal(even.predict_proba(X), 0.5)


def test_what_is_fitted_perfectly_ends_it():
    X = np.arange(8.0)[:, None]
    y = np.array([0, 1] * 4)
    model = StagewiseClassifier(DecisionTreeClassifier(), loss="smooth_hinge").fit(X, y)
    assert (model.n_estimators_, model.stop_reason_) == (1, "no_step")
    assert model.train_losses_[-1] == 0
    exact = StagewiseRegressor(DecisionTreeRegressor()).fit(X, y)
    np.testing.assert_allclose(exact.predict(X), y, atol=1e-12)


def test_huge_and_tiny_targets():
    X, y, _ = problem(3)
    plain = StagewiseRegressor(n_estimators=5).fit(X, y)
    for scale in (1e-90, 1e90):
        scaled = StagewiseRegressor(n_estimators=5).fit(X, scale * y)
        np.testing.assert_allclose(scaled.predict(X), scale * plain.predict(X), rtol=1e-6)


# --- losses ---------------------------------------------------------------------------------------


class OwnSquared:
    def value(self, y, F):
        return 0.5 * (F - y) ** 2

    def gradient(self, y, F):
        return F - y


class OwnLogistic:
    kind = "binary"

    def value(self, y, F):
        return np.logaddexp(0, np.where(y > 0, -F, F))

    def gradient(self, y, F):
        return 1 / (1 + np.exp(-F)) - y


def test_own_losses_do_as_the_built_in_ones():
    X, y = DIABETES
    own = StagewiseRegressor(loss=OwnSquared(), n_estimators=10).fit(X, y)
    theirs = StagewiseRegressor(n_estimators=10).fit(X, y)
    np.testing.assert_allclose(own.predict(X), theirs.predict(X), rtol=1e-8)
    X, y = CANCER
    own = StagewiseClassifier(loss=OwnLogistic(), n_estimators=10).fit(X, y)
    theirs = StagewiseClassifier(loss="log_loss", n_estimators=10).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), theirs.predict_proba(X), rtol=1e-8)


def test_own_losses_may_rise_and_fall():
    class Wavy:
        def value(self, y, F):
            return (F - y) ** 2 / 2 + 3 * np.cos(F - y)

        def gradient(self, y, F):
            return F - y - 3 * np.sin(F - y)

    X, y = problem(4)[:2]
    model = StagewiseRegressor(loss=Wavy(), n_estimators=20).fit(X, y)
    assert (np.diff(model.train_losses_) < 0).all()
    assert np.isfinite(model.predict(X)).all()


def test_own_losses_that_are_wrong_are_found_out():
    class Slip(OwnSquared):
        def gradient(self, y, F):
            return 2 * (F - y)

    with pytest.raises(ValueError, match=r"gradient of Slip is .* but differences"):
        StagewiseRegressor(loss=Slip()).fit(*DIABETES)

    class Breaks(OwnSquared):
        def gradient(self, y, F):
            return np.where(F > 1, np.inf, F - y)

    with pytest.raises(ValueError, match="gradient of Breaks must be finite, got inf in row 0"):
        StagewiseRegressor(loss=Breaks()).fit(*DIABETES)
    ends = StagewiseRegressor(loss=Breaks(), init="zero").fit(*DIABETES)  # no way beyond 1
    assert ends.predict(DIABETES[0]).max() <= 1
    y, F = np.array([2.0, 2.0]), np.array([0.0, 3.0])
    with pytest.raises(
        ValueError, match="gradient of Breaks is inf for the target 2 and the score 3"
    ):
        negative_gradient(losses.OwnLoss(Breaks()), y, F, F)


@pytest.mark.parametrize("loss", BINARY, ids=str)
def test_probabilities_are_those_of_the_link(loss):
    X, y = CANCER
    model = StagewiseClassifier(loss=loss, n_estimators=30, learning_rate=0.5).fit(X[::2], y[::2])
    F, p = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(p[:, 1], model.loss_.link.inverse(F))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), (F > 0) * 1)
    assert model.score(X[1::2], y[1::2]) > 0.85


# --- members --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (StagewiseClassifier, make_pipeline(StandardScaler(), LogisticRegression())),
        (StagewiseClassifier, Ridge()),
        (StagewiseClassifier, KNeighborsClassifier(20)),  # takes no weights
        (StagewiseClassifier, PeerTree(max_depth=2)),
        (StagewiseClassifier, DecisionTreeClassifier(max_depth=1, class_weight={0: 2, 1: 1})),
        (StagewiseClassifier, make_pipeline(StandardScaler(), PeerTree(max_depth=1))),
        (StagewiseRegressor, Ridge()),
        (StagewiseRegressor, KNeighborsRegressor(20)),
        (StagewiseRegressor, ExtraTreeRegressor(max_depth=2)),
        (StagewiseRegressor, DecisionTreeClassifier(max_depth=1)),
        (StagewiseRegressor, PeerTree(max_depth=1)),
    ],
    ids=str,
)
def test_any_member(kind, member):
    X, y = data_of(kind)
    model = kind(member, n_estimators=8, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > (0.85 if kind is StagewiseClassifier else 0.1)
    h = model.member_predictions(X)
    np.testing.assert_allclose(say(model, X), model.init_ + model.steps_ @ h, rtol=1e-9)
    assert len(model.estimators_) == len(h) == model.n_estimators_ == len(model.member_weights_)
    np.testing.assert_allclose([*model.staged_predict(X)][-1], model.predict(X), rtol=1e-9)
    again = clone(model).fit(X[::2], y[::2])
    np.testing.assert_array_equal(say(again, X), say(model, X))
    np.testing.assert_array_equal(say(pickle.loads(pickle.dumps(model)), X), say(model, X))


def test_trees_of_both_libraries_say_the_same():
    X, y = CANCER
    here = StagewiseClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=15).fit(X, y)
    there = StagewiseClassifier(PeerTree(max_depth=1, random_state=0), n_estimators=15).fit(X, y)
    np.testing.assert_allclose(here.steps_, there.steps_, rtol=1e-6)
    assert here.estimators_[0].classes_.tolist() == [0, 1]


def test_members_speak_the_users_labels():
    X, y = CANCER
    labels = np.array(["bad", "good"])[y]
    model = StagewiseClassifier(n_estimators=3).fit(X, labels)
    assert set(model.estimators_[0].predict(X)) == {"bad", "good"}
    assert set(model.predict(X)) == {"bad", "good"}
    for tree in (DecisionTreeClassifier, PeerTree):
        careful = tree(max_depth=1, class_weight={"bad": 9})
        strict = StagewiseClassifier(careful, n_estimators=1).fit(X, labels)
        assert (strict.predict(X) == "bad").sum() > (model.predict(X) == "bad").sum()
    sides = StagewiseRegressor(DecisionTreeClassifier(max_depth=1), n_estimators=3).fit(*DIABETES)
    assert sides.estimators_[0].classes_.tolist() == [-1, 1]


def test_tables_as_they_are():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"number": rng.normal(size=80), "word": rng.choice(["x", "y", "z"], 80)})
    frame.loc[::9, "number"] = np.nan
    y = (frame["word"] == "x") | (frame["number"] > 0.5)
    model = StagewiseClassifier(n_estimators=20).fit(frame, y)
    assert model.score(frame, y) > 0.95
    assert model.feature_names_in_.tolist() == ["number", "word"]
    assert model.estimators_[0].feature_names_in_.tolist() == ["number", "word"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["word", "number"]])
    X, target = DIABETES
    dense, thin = StagewiseRegressor(n_estimators=5), StagewiseRegressor(n_estimators=5)
    np.testing.assert_array_equal(
        dense.fit(X, target).predict(X), thin.fit(sparse.csr_array(X), target).predict(X)
    )


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_nothing(n_jobs):
    X, y = DIABETES
    one = DecisionTreeRegressor(max_depth=3, max_bins=255, n_jobs=1)
    several = DecisionTreeRegressor(max_depth=3, max_bins=255, n_jobs=n_jobs)
    np.testing.assert_array_equal(
        StagewiseRegressor(one, n_estimators=10).fit(X, y).predict(X),
        StagewiseRegressor(several, n_estimators=10).fit(X, y).predict(X),
    )


# --- early stopping -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_early_stopping_on_rows_held_out(kind):
    X, y = data_of(kind)
    settings = {"learning_rate": 0.3, "n_estimators": 500, "random_state": 3}
    model = kind(n_iter_no_change=5, tol=1e-3, **settings).fit(X, y)
    assert model.stop_reason_ == "no_change"
    assert len(model.validation_losses_) == len(model.train_losses_) == model.n_estimators_ + 1
    best = np.minimum.accumulate(model.validation_losses_)
    falls = best[:-5] - best[5:]
    assert (falls[:-1] > 1e-3).all()
    assert falls[-1] <= 1e-3
    np.testing.assert_array_equal(
        say(model, X), say(kind(n_iter_no_change=5, tol=1e-3, **settings).fit(X, y), X)
    )


@pytest.mark.parametrize("kind", BOTH)
def test_early_stopping_on_given_rows(kind):
    X, y = data_of(kind)
    w = np.random.default_rng(0).integers(0, 3, len(y[1::2]))
    model = kind(n_estimators=300, learning_rate=0.5, n_iter_no_change=5)
    model.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2], sample_weight_val=w)
    scores = [np.full(len(w), model.init_), *model._staged_scores(X[1::2])]
    curve = [model.loss_.mean(y[1::2], F, w) for F in scores]
    np.testing.assert_allclose(model.validation_losses_, curve, rtol=1e-9)
    full = kind(n_estimators=300, learning_rate=0.5)
    full.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert full.n_estimators_ > model.n_estimators_  # looked at, but nothing stops
    prefix = kind(n_estimators=model.n_estimators_, learning_rate=0.5).fit(X[::2], y[::2])
    np.testing.assert_array_equal(say(prefix, X), say(model, X))
    assert not hasattr(prefix, "validation_losses_")


def test_early_stopping_on_the_training_loss():
    X, y = DIABETES
    model = StagewiseRegressor(n_iter_no_change=3, validation_fraction=None, tol=50).fit(X, y)
    assert model.stop_reason_ == "no_change"
    falls = model.train_losses_[:-3] - model.train_losses_[3:]
    assert (falls[:-1] > 50).all()
    assert falls[-1] <= 50


def test_the_bar_shows_the_loss(capsys):
    X, y = DIABETES
    StagewiseRegressor(n_estimators=3, verbose=1).fit(X, y)
    assert "loss" in capsys.readouterr().err
    StagewiseRegressor(n_estimators=3, verbose=1, n_iter_no_change=2).fit(X, y)
    assert "validation loss" in capsys.readouterr().err
    StagewiseRegressor(n_estimators=3).fit(X, y)
    assert capsys.readouterr().err == ""


# --- edges ----------------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match="sample_weight_val is for X_val and y_val"):
        model.fit(X, y, sample_weight_val=y)
    with pytest.raises(ValueError, match="y_val holds the label 7"):
        model.fit(X, y, X_val=X, y_val=np.full(len(y), 7))
    with pytest.raises(ValueError, match="features"):
        model.fit(X, y, X_val=X[:, :2], y_val=y)
    with pytest.raises(ValueError, match="there is only 1 row of each class"):
        StagewiseRegressor(n_iter_no_change=1).fit([[0.0]], [1.0])


def test_a_member_that_predicts_nonsense():
    class Nonsense(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="Nonsense as member predicts something that is not fin"):
        StagewiseRegressor(Nonsense()).fit(*DIABETES)


@pytest.mark.parametrize(
    "estimator",
    [
        StagewiseClassifier(),
        StagewiseClassifier(DecisionTreeRegressor(max_depth=2), loss="log_loss"),
        StagewiseClassifier(loss="smooth_hinge", init="constant", learning_rate=0.5),
        StagewiseRegressor(),
        StagewiseRegressor(loss="absolute_error"),
        StagewiseRegressor(Ridge(), loss="huber"),
    ],
    ids=str,
)
def test_the_checks_of_scikit_learn(estimator):
    for one, check in estimator_checks_generator(estimator, mark="skip"):
        check(one)
