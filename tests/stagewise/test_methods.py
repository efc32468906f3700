"""The methods that come out of it: AdaBoost, matching pursuit, residual fitting."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone

from oracle.naive_adaboost import naive_adaboost
from stagewise.cases import DIABETES, problem
from weald import DecisionTreeRegressor, StagewiseClassifier, StagewiseRegressor


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
