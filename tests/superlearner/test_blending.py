"""Blending: one split, members on its first part, weights from its second."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from weald import (
    BlendingClassifier,
    BlendingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from weald.crossfit.risks import make_risk
from weald.crossfit.weights import simplex_weights

X, Y = load_diabetes(return_X_y=True)
XC, YC = load_iris(return_X_y=True)
STUMP, STUMP_OF_NUMBERS = DecisionTreeClassifier(max_depth=1), DecisionTreeRegressor(max_depth=1)
MEMBERS = [("line", LinearRegression()), ("near", KNeighborsRegressor())]
CLASSIFIERS = [("line", LogisticRegression(max_iter=500)), ("bayes", GaussianNB())]


@pytest.mark.parametrize("refit", [False, True])
def test_against_a_naive_one(refit):
    model = BlendingRegressor(MEMBERS, shuffle=False, refit=refit, random_state=0).fit(X, Y)
    held = len(Y) - int(0.8 * len(Y))
    a, b = np.arange(len(Y) - held), np.arange(len(Y) - held, len(Y))
    fitted = [clone(one).fit(X[a], Y[a]) for _, one in MEMBERS]
    Z = np.stack([one.predict(X[b]) for one in fitted], axis=1)
    risk = make_risk(None, Y[b], np.ones(held))
    weights = simplex_weights(risk, Z[:, :, None], Y[b], np.ones(held))
    np.testing.assert_allclose(model.cv_risks_.weights, weights)
    last = [clone(one).fit(X, Y) for _, one in MEMBERS] if refit else fitted
    used = [m for m in range(2) if weights[m] > 0]
    expected = sum(weights[m] * last[m].predict(X) for m in used)
    np.testing.assert_allclose(model.predict(X), expected)


def test_classes_have_their_share_of_the_rows_held_out():
    model = BlendingClassifier(CLASSIFIERS, random_state=0).fit(XC, YC)
    assert model.score(XC, YC) > 0.9
    assert model.cv_risks_.fold_risks.shape == (2, 1)


def test_groups_are_held_out_as_a_whole():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    points = rng.normal(size=(40, 2))[groups] + 0.01 * rng.normal(size=(200, 2))
    y = rng.normal(size=40)[groups]
    near = [("near", KNeighborsRegressor(1)), ("line", LinearRegression())]
    apart = BlendingRegressor(near, random_state=0).fit(points, y, groups=groups)
    mixed = BlendingRegressor(near, random_state=0).fit(points, y)
    assert apart.cv_risks_.weights[0] < mixed.cv_risks_.weights[0]


@pytest.mark.parametrize("fraction", [0, 1, 1.5, "half"])
def test_bad_fractions(fraction):
    with pytest.raises(ValueError, match="validation_fraction"):
        BlendingRegressor(MEMBERS, validation_fraction=fraction).fit(X, Y)


@pytest.mark.parametrize("classes", [False, True])
def test_a_row_of_weight_k_is_k_rows_on_average(classes):
    """Copies of a row may be parted where a heavy row is not, so the law holds over many splits."""
    rng = np.random.default_rng(0)
    n = 600
    points, w = rng.normal(size=(n, 2)), rng.integers(0, 4, n)
    slope = np.where(w > 1, 1.0, -1.0)  # heavy rows say something else than light ones
    y = slope * points[:, 0] + (points[:, 1] > 0) + 0.5 * rng.normal(size=n)
    kind, members = BlendingRegressor, [("line", Ridge()), ("stump", STUMP_OF_NUMBERS)]
    if classes:
        kind, members = BlendingClassifier, [("line", LogisticRegression()), ("stump", STUMP)]
        y = (y > 0.5).astype(int)
    again, new = np.repeat(np.arange(n), w), np.array([[1.0, 1.0], [-1.0, 0.5]])

    def runs(*rows):
        out = []
        for seed in range(60):
            model = kind(members, random_state=seed).fit(*rows)
            said = model.predict_proba(new)[:, 1] if classes else model.predict(new)
            out.append([model.risk_, model.cv_risks_.weights[0], *said])
        return np.transpose(out)

    weighed, ignored = runs(points, y, w.astype(float)), runs(points, y)
    repeated = runs(points[again], y[again])
    assert min(ks_2samp(a, b).pvalue for a, b in zip(weighed, repeated, strict=True)) > 1e-3
    assert max(ks_2samp(a, b).pvalue for a, b in zip(weighed, ignored, strict=True)) < 1e-9
