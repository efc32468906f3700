"""The naive twin of gradient boosting, checked by hand and against scikit-learn and LightGBM."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from threadpoolctl import threadpool_limits

from gate import some
from oracle.naive_boosting import Settings, naive_boosting
from weald.losses import get_loss


def data(seed, n=40, d=3):
    """Numbers that fit a float32, as scikit-learn and LightGBM see the world."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(float)
    return X, X[:, 0] - X[:, 1] * X[:, 2] + rng.normal(size=n), rng


def target(loss, signal, rng):
    if loss in ("log_loss", "exponential", "smooth_hinge", "focal"):
        return (signal > 0).astype(float)
    if loss == "softmax":
        return (signal.argsort().argsort() * 3 // len(signal)).astype(float)
    if loss in ("poisson", "gamma", "tweedie"):
        return rng.poisson(np.exp(np.clip(signal, -2, 2))) + (loss == "gamma") * 0.5
    return signal


# --- by hand --------------------------------------------------------------------------------------


def test_one_split_by_hand():
    """F = 3; G of the rows are -2, -1, 0, 3: the cut before the last gains 1/2 (9/3 + 9/1)."""
    X, y = np.arange(4.0)[:, None], np.array([1.0, 2.0, 3.0, 6.0])
    s = Settings(n_estimators=1, learning_rate=1.0, max_leaf_nodes=2)
    fitted = naive_boosting(X, y, get_loss("squared_error"), s)
    root = fitted.trees[0][0]
    assert root.gain == pytest.approx(6.0)
    assert root.split.threshold == 2.5
    np.testing.assert_allclose(fitted.scores[-1][:, 0], [2, 2, 2, 6])
    shrunk = naive_boosting(X, y, get_loss("squared_error"), Settings(1, 1.0, l2=1.0, max_depth=1))
    np.testing.assert_allclose(shrunk.scores[-1][:, 0], [2.25, 2.25, 2.25, 4.5])
    root = shrunk.trees[0][0]
    assert root.gain == pytest.approx((9 / 4 + 9 / 2) / 2)
    none = naive_boosting(X, y, get_loss("squared_error"), Settings(1, 1.0, min_gain=6.1))
    np.testing.assert_allclose(none.scores[-1][:, 0], 3)


def test_steps_by_hand():
    """From F = 1 the rows of absolute error want to move by -4, 1 and 5; weights 1, 4 and 2."""
    X, y, w = np.array([[0.0], [1.0], [1.0]]), np.array([-3.0, 2.0, 6.0]), np.array([1.0, 4.0, 2.0])
    says = {"exact": [-4, 1], "gradient": [-1, 1], "line_search": [-1, 1]}
    for step, (left, right) in says.items():
        s = Settings(1, 1.0, order=1, step=step, max_depth=1)
        fitted = naive_boosting(X, y, get_loss("absolute_error"), s, w, init=1.0)
        np.testing.assert_allclose(fitted.scores[-1][:, 0] - 1, [left, right, right])
    s = Settings(1, 1.0, order=1, step="line_search", max_depth=1)
    w = np.array([3.0, 2.0, 2.0])  # the weighted median of 4, 1 and 5
    fitted = naive_boosting(X, y, get_loss("absolute_error"), s, w, init=1.0)
    np.testing.assert_allclose(fitted.scores[-1][:, 0] - 1, [-4, 4, 4])


def test_missing_values_go_where_they_belong():
    X = np.array([[0.0], [1.0], [np.nan], [np.nan]])
    s = Settings(1, 1.0, max_leaf_nodes=2)
    for y, left in (([0.0, 9, 0, 0], True), ([0.0, 9, 9, 9], False), ([0.0, 0, 9, 9], False)):
        fitted = naive_boosting(X, np.array(y), get_loss("squared_error"), s)
        np.testing.assert_allclose(fitted.scores[-1][:, 0], y)
        assert fitted.trees[0][0].split.missing_left == left


def test_categories_are_cut_in_the_order_of_their_means():
    x = np.array([0, 1, 2, 3, 0, 1, 2, 3.0])
    y = np.array([5.0, 1, 5, 1, 5, 1, 5, 1])
    s = Settings(1, 1.0, max_leaf_nodes=2)
    fitted = naive_boosting(x[:, None], y, get_loss("squared_error"), s, kinds=[True])
    np.testing.assert_allclose(fitted.scores[-1][:, 0], y)
    assert fitted.trees[0][0].split.left_codes == {1, 3}


# --- against scikit-learn: order 1 ----------------------------------------------------------------


def untied(case, seed, least):
    """The first of some draws in which no split is nearly as good as the best."""
    for again in range(50):
        drawn = case(seed + 6000 * again)  # the same remainders, which choose the settings
        if drawn[0].lead >= least:
            return drawn
    raise AssertionError("every draw has two splits that are equally good")


SHAPES = [{"max_depth": 2}, {"max_leaf_nodes": 5, "max_depth": None}, {"max_depth": 3}]


@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "exponential"])
def test_scikit_learn_makes_the_same_trees(loss, seed):
    shape = SHAPES[seed % len(SHAPES)]
    s = Settings(4, 0.1, order=1, min_samples_leaf=3, min_hessian=0, **shape)

    def case(number):
        X, signal, rng = data(number)
        y = target(loss, signal, rng)
        w = rng.uniform(0.5, 2, len(y)) if seed % 3 else None
        return naive_boosting(X, y, get_loss(loss), s, w), X, y, w

    ours, X, y, w = untied(case, seed, 1e-6)
    kind = GradientBoostingRegressor if loss == "squared_error" else GradientBoostingClassifier
    peer = kind(loss=loss, n_estimators=4, min_samples_leaf=3, **shape).fit(X, y, w)
    staged = "staged_predict" if loss == "squared_error" else "staged_decision_function"
    for F, said in zip(ours.scores[1:], getattr(peer, staged)(X), strict=True):
        np.testing.assert_allclose(F[:, 0], np.ravel(said), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_scikit_learn_makes_the_same_trees_of_three_classes(seed):
    """Its Newton steps have a factor (K-1)/K, which is a learning rate for us."""
    s = Settings(3, 0.1 * 2 / 3, order=1, max_depth=2, min_samples_leaf=3, min_hessian=0)

    def case(number):
        X, signal, rng = data(number, n=60)
        y = target("softmax", signal, rng)
        return naive_boosting(X, y, get_loss("softmax"), s), X, y

    ours, X, y = untied(case, seed, 1e-6)
    peer = GradientBoostingClassifier(n_estimators=3, max_depth=2, min_samples_leaf=3).fit(X, y)
    for F, said in zip(ours.scores[1:], peer.staged_decision_function(X), strict=True):
        centred = said - said.mean(axis=1, keepdims=True)
        ours_centred = F - F.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(ours_centred, centred, rtol=1e-6, atol=1e-12)


# --- against scikit-learn: order 2 ----------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", some(range(4)))
@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "log_loss", "softmax"])
def test_trees_of_binned_scikit_learn_are_the_same(loss, seed, missing):
    shape = {"max_leaf_nodes": 5, "max_depth": None if seed % 3 else 3}
    s = Settings(3, 0.3, l2=0.7 * (seed % 2), min_samples_leaf=4, **shape)

    def case(number):
        X, signal, rng = data(100 + number, n=60)
        y = target(loss, signal, rng)
        # Without weights, small counts of three classes hardly ever leave one best split.
        w = rng.uniform(0.5, 2, len(y)) if seed % 2 or loss == "softmax" else None
        if missing:
            X[rng.random(X.shape) < 0.2] = np.nan
        return naive_boosting(X, y, get_loss(loss), s, w), X, y, w

    ours, X, y, w = untied(case, seed, 1e-5)
    classes = loss in ("log_loss", "softmax")
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    peer = kind(
        loss="log_loss" if classes else loss,
        learning_rate=0.3,
        max_iter=3,
        min_samples_leaf=4,
        l2_regularization=0.7 * (seed % 2),
        early_stopping=False,
        **shape,
    )
    with threadpool_limits(1):
        peer.fit(X, y, w)
    said = peer.decision_function(X) if classes else peer.predict(X)
    expected = np.log(said) if loss in ("poisson", "gamma") else said
    F = ours.scores[-1].reshape(expected.shape)
    np.testing.assert_allclose(F, expected, rtol=1e-4, atol=1e-5)  # it computes in float32


# --- against LightGBM: categories -----------------------------------------------------------------

EXACT = {
    "max_bin": 1000,
    "min_data_in_bin": 1,
    "feature_pre_filter": False,
    "num_threads": 1,
    "verbose": -1,
    "cat_smooth": 0.0,
    "cat_l2": 0.0,
    "min_data_per_group": 1,
    "max_cat_to_onehot": 1,
    "max_cat_threshold": 1000,
}


@pytest.mark.parametrize("categories", [0, 1])
@pytest.mark.parametrize("seed", range(6))
def test_lightgbm_makes_the_same_trees(seed, categories):
    """Without weights only: it does not count rows, but guesses their number from hessians."""
    lightgbm = pytest.importorskip("lightgbm")
    # A column without a gain above the least one is not looked at again below: not so in weald.
    least = 0.0 if categories else 0.1 * seed
    s = Settings(3, 0.3, min_gain=least, min_samples_leaf=3, max_leaf_nodes=5)
    kinds = [j < categories for j in range(3)]

    def case(number):
        X, y, rng = data(200 + number, n=80)
        X[:, :categories] = rng.integers(0, 5 + seed, (len(X), categories))
        y = y + np.cos(9 * X[:, 0])
        return naive_boosting(X, y, get_loss("squared_error"), s, kinds=kinds), X, y

    ours, X, y = untied(case, seed, 1e-5)
    params = EXACT | {
        "objective": "regression",
        "learning_rate": s.learning_rate,
        "min_gain_to_split": 2 * s.min_gain,  # its gains have no factor 1/2
        "min_sum_hessian_in_leaf": s.min_hessian,
        "min_data_in_leaf": s.min_samples_leaf,
        "num_leaves": s.max_leaf_nodes,
    }
    rows = lightgbm.Dataset(X, y, categorical_feature=[*range(categories)], free_raw_data=False)
    peer = lightgbm.train(params, rows, num_boost_round=s.n_estimators)
    np.testing.assert_allclose(ours.scores[-1][:, 0], peer.predict(X), rtol=1e-4, atol=1e-5)


# --- steps ----------------------------------------------------------------------------------------

LOSSES = ["absolute_error", "quantile", "huber", "log_cosh", "poisson", "log_loss", "smooth_hinge"]


@pytest.mark.parametrize("loss", LOSSES)
def test_exact_steps_and_line_search_cannot_be_bettered(loss):
    X, signal, rng = data(7, n=60)
    y = target(loss, signal + 2 * rng.normal(size=60), rng)
    w = rng.uniform(0.5, 2, len(y))
    known = get_loss(loss)
    for step in ("exact", "line_search"):
        if step == "exact" and loss == "huber":
            continue  # Friedman's step is close to the best one only
        s = Settings(2, 1.0, order=1, step=step, max_leaf_nodes=3, min_samples_leaf=12)
        fitted = naive_boosting(X, y, known, s, w)
        before, F = fitted.scores[-2][:, 0], fitted.scores[-1][:, 0]
        assert known.mean(y, F, w) < known.mean(y, before, w)
        parts = [leaf.rows for leaf in fitted.trees[-1][0].leaves()]
        for rows in parts if step == "exact" else [np.arange(len(y))]:
            for more in (-0.1, -1e-3, 1e-3, 0.1):
                other = F + more * (1.0 if step == "exact" else F - before)
                best = known.mean(y[rows], F[rows], w[rows])
                assert known.mean(y[rows], other[rows], w[rows]) >= best - 1e-12
