"""Edges, mistakes, tables of all kinds, and scikit-learn's own checks."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import RadiusNeighborsRegressor

from peers.contract import contract
from weald import BaggingRegressor, KernelClassifier, KernelRegressor

BOTH = (KernelClassifier, KernelRegressor)
KERNELS = ("gaussian", "box")
IRIS = load_iris(return_X_y=True)
both = pytest.mark.parametrize("kind", BOTH)
kernels = pytest.mark.parametrize("kernel", KERNELS)


# --- quality ----------------------------------------------------------------------------------


def test_it_learns():
    cancer = load_breast_cancer(return_X_y=True)
    assert cross_val_score(KernelClassifier(), *cancer).mean() > 0.93
    assert cross_val_score(KernelRegressor(), *load_diabetes(return_X_y=True)).mean() > 0.38


def test_a_box_is_a_radius_neighbours_mean():
    X, y = IRIS[0], IRIS[1].astype(float)
    peer = RadiusNeighborsRegressor(radius=0.7).fit(X, y)
    model = KernelRegressor(0.7, kernel="box", scale=False).fit(X, y)
    np.testing.assert_allclose(model.predict(X + 0.01), peer.predict(X + 0.01))


# --- edges ------------------------------------------------------------------------------------


@both
@kernels
@pytest.mark.parametrize("weight", [None, 0.5, 1, 3])
@pytest.mark.parametrize("h", ["loo", "scott", 1.0])
def test_one_row(kind, kernel, weight, h):
    model = kind(h, kernel=kernel).fit([[1.0, 2.0]], [3], sample_weight=weight)
    assert model.predict([[0.0, 1e9], [1.0, 2.0]]).tolist() == [3, 3]
    assert 0 < model.bandwidth_ < np.inf


@both
@kernels
@pytest.mark.parametrize("scale", [True, False])
def test_the_same_row_over_and_over(kind, kernel, scale):
    model = kind(kernel=kernel, scale=scale).fit(np.full((6, 2), 0.1), [1, 1, 1, 1, 0, 0])
    assert model.predict([[0.1, 0.1], [9.0, 0.0]]) == pytest.approx(
        [1, 1] if kind is KernelClassifier else [2 / 3, 2 / 3]
    )


@kernels
def test_a_single_class(kernel):
    model = KernelClassifier(kernel=kernel).fit(IRIS[0], ["only"] * 150)
    assert set(model.predict(IRIS[0])) == {"only"}
    np.testing.assert_array_equal(model.predict_proba(IRIS[0]), 1)
    np.testing.assert_array_equal(model.predict_log_proba(IRIS[0]), 0)


def test_a_class_of_weight_zero():
    X, y = IRIS
    model = KernelClassifier().fit(X, y, sample_weight=y < 2)
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.predict_proba(X)[:, 2], 0)


@kernels
def test_constant_columns_are_ignored(kernel):
    X, y = IRIS
    wide = np.column_stack([np.full(150, 0.1), X, np.full(150, 1e300)])
    one, two = KernelRegressor(kernel=kernel).fit(X, y), KernelRegressor(kernel=kernel).fit(wide, y)
    assert one.bandwidth_ == pytest.approx(two.bandwidth_)
    wide[:, 0] = -5
    np.testing.assert_allclose(one.predict(X), two.predict(wide))


@kernels
def test_far_from_all_rows_the_nearest_speaks(kernel):
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    for scale in (True, False):
        model = KernelRegressor(kernel=kernel, scale=scale, bandwidth=0.5).fit(X, y)
        far = [[1e3], [1e6], [1e15], [1e300], [-1e3], [-1e300]]
        assert model.predict(far) == pytest.approx([19, 19, 19, 19, 0, 0], abs=1e-12)
    narrow = KernelRegressor(1e-300, kernel=kernel).fit(X, y)
    assert narrow.predict(X).tolist() == y.tolist()
    assert narrow.predict([[3.4]]).tolist() == [3]
    wide = KernelRegressor(1e300, kernel=kernel).fit(X, y)
    assert wide.predict(X) == pytest.approx(9.5)


@kernels
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1e308])
def test_huge_and_tiny_numbers(kernel, scale, size):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (50, 2))
    y = X[:, 0] * 1e90
    model = KernelRegressor(kernel=kernel, scale=scale).fit(X * size, y)
    assert 0 < model.bandwidth_ < np.inf
    assert np.isfinite(model.loo_risks_).all()
    assert model.score(X * size, y) > 0.5


def test_weights_of_wild_sizes():
    X = np.arange(40.0)[:, None]
    model = KernelRegressor(0.01).fit(X, X[:, 0], sample_weight=np.logspace(-300, 90, 40))
    assert model.predict(X) == pytest.approx(X[:, 0])


def test_a_mean_is_within_the_range_of_the_targets():
    X = np.random.default_rng(0).normal(size=(100, 2))
    np.testing.assert_array_equal(KernelRegressor().fit(X, np.full(100, 0.1)).predict(X), 0.1)


# --- mistakes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"bandwidth": 0}, "bandwidth must be 'loo', 'scott' or a finite number > 0, got 0."),
        ({"bandwidth": np.inf}, "bandwidth must be"),
        ({"bandwidth": "cv"}, "bandwidth must be"),
        ({"bandwidth": True}, "bandwidth must be"),
        ({"bandwidth": [1.0, 2.0]}, "bandwidth must be"),
        ({"kernel": "cosine"}, "kernel must be one of 'gaussian', 'box', got 'cosine'"),
        ({"scale": "yes"}, "scale must be True or False"),
    ],
)
@both
def test_parameters_are_checked(kind, setting, message):
    with pytest.raises(ValueError, match=message):
        kind(**setting).fit(*IRIS)


@both
@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", "b", "c"], "Column 'x' holds text or categories"),
        ([1.0, None, 2.0], r"Column 'x' contains missing values \(NaN, None or NA\)"),
        ([1.0, np.inf, 2.0], "Column 'x' contains infinity"),
        (pd.date_range("2026-01-01", periods=3), "Column 'x' holds dates or times"),
    ],
)
def test_columns_without_distances_are_refused(kind, column, message):
    table = pd.DataFrame({"x": column})
    with pytest.raises(ValueError, match=message):
        kind().fit(table, [1, 0, 1])
    model = kind().fit(pd.DataFrame({"x": [1.0, 2.0, 3.0]}), [1, 0, 1])
    with pytest.raises(ValueError, match="Column 'x'"):
        model.predict(table)


@both
def test_several_outputs_are_refused(kind):
    with pytest.raises(ValueError, match=r"y should be a 1d array, one .* fit a model per output"):
        kind().fit(IRIS[0], np.column_stack([IRIS[1], IRIS[1]]))


@both
def test_a_failed_fit_leaves_the_old_model(kind):
    model = kind().fit(*IRIS)
    before = model.predict(IRIS[0])
    with pytest.raises(ValueError, match="missing values"):
        model.fit([[np.nan], [1.0]], [0, 1])
    np.testing.assert_array_equal(model.predict(IRIS[0]), before)
    model.set_params(bandwidth=1.0).fit(*IRIS)
    assert not hasattr(model, "loo_risks_")
    with pytest.raises(NotFittedError):
        kind().predict(IRIS[0])


# --- tables, pickles, company -------------------------------------------------------------------


@both
def test_tables_of_all_kinds(kind):
    X, y = IRIS
    names = ["a", "b", "c", "d"]
    said = kind().fit(X, y).predict(X)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = kind().fit(table, y)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(model.predict(table), said)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(table[["b", "a", "c", "d"]])
    for table in (X.tolist(), sparse.csr_array(X), np.asfortranarray(X)):
        np.testing.assert_array_equal(kind().fit(table, y).predict(table), said)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-3, 7], [1.0, 2.0]])
def test_labels_of_any_type(labels):
    X, y = load_breast_cancer(return_X_y=True)
    model = KernelClassifier().fit(X, np.array(labels)[y])
    assert model.classes_.tolist() == labels
    assert set(model.predict(X).tolist()) == set(labels)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@both
@pytest.mark.parametrize("h", ["loo", 0.1])
def test_pickles_and_clones(kind, h):
    X, y = IRIS
    model = kind(h).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert (copy._smoother._tree is None) == (model._smoother._tree is None)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "bandwidth_")


def test_in_company():
    X, y = load_diabetes(return_X_y=True)
    search = GridSearchCV(KernelRegressor(), {"kernel": KERNELS, "bandwidth": ["loo", 1.0]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.35
    bag = BaggingRegressor(KernelRegressor("scott"), n_estimators=3, random_state=0)
    assert bag.fit(X, y).score(X, y) > 0.3


@pytest.mark.peers
@pytest.mark.parametrize(
    ("estimator", "check"),
    contract(
        exact=[
            KernelClassifier(),
            KernelRegressor(),
            KernelClassifier(0.2, kernel="box"),
            KernelRegressor(0.2, kernel="box"),
            KernelClassifier("scott", scale=False),
            KernelRegressor("scott", scale=False),
        ]
    ),
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
