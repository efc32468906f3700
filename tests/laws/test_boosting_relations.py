"""Gradient boosting becomes other methods where theory says so."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin

from boosting.cases import LOSSES, PLAIN, POSITIVE, TWO_CLASSES, mixed, model, real, scores
from weald import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    losses,
)

some = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
SHAPES = [
    {"max_depth": 3, "max_leaf_nodes": None},
    {"max_leaf_nodes": 6},
    {"max_depth": 4, "max_leaf_nodes": 7, "min_samples_leaf": 4},
    {"max_depth": 6, "max_leaf_nodes": None, "min_samples_split": 15},
    {"max_leaf_nodes": None, "max_depth": None, "min_samples_leaf": 5},
    {"max_leaf_nodes": 10, "min_weight_fraction_leaf": 0.1},
]
FULL = {"learning_rate": 1.0, "min_hessian": 0.0, **PLAIN}

# --- trees ----------------------------------------------------------------------------------------


@some
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(SHAPES),
    st.sampled_from([1, 2]),
    st.sampled_from(["newton", "gradient", "exact", "line_search"]),
    st.booleans(),
    st.booleans(),
)
def test_one_full_round_is_a_tree(seed, shape, order, step, weighted, gaps):
    X, y, rng = real("squared_error", seed)
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
    w = rng.uniform(0.5, 2, len(y)) if weighted else None
    tree = DecisionTreeRegressor(max_bins=255, **shape).fit(X, y, w)
    est = GradientBoostingRegressor(n_estimators=1, order=order, step=step, **FULL, **shape)
    new = rng.normal(size=(50, 3))
    for rows in (X, new):
        said = est.fit(X, y, w).predict(rows)
        np.testing.assert_allclose(said, tree.predict(rows), rtol=1e-9, atol=1e-9)


@some
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(SHAPES[:4]),
    st.sampled_from([1, 2]),
    st.sampled_from([0.1, 0.7]),
)
def test_squared_loss_fits_residuals(seed, shape, order, rate):
    X, y, _ = real("squared_error", seed)
    est = GradientBoostingRegressor(
        n_estimators=5, order=order, learning_rate=rate, **PLAIN, **shape
    ).fit(X, y)
    F = np.full(len(y), y.mean())
    for said in est.staged_predict(X):
        F = F + rate * DecisionTreeRegressor(max_bins=255, **shape).fit(X, y - F).predict(X)
        np.testing.assert_allclose(said, F, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("gaps", [False, True])
def test_one_more_leaf_is_one_more_split(gaps, n_jobs):
    """Nodes that no split is left for are given up early; none of them may have had its turn."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 9))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=3000) > 0).astype(int)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    before: set[tuple[int, ...]] = set()
    for leaves in range(2, 41):
        est = GradientBoostingClassifier(
            n_estimators=1, max_leaf_nodes=leaves, min_samples_leaf=10, n_jobs=n_jobs, **FULL
        )
        leaf = est.fit(X, y).apply(X).ravel()
        parts = {tuple(np.flatnonzero(leaf == k)) for k in np.unique(leaf)}
        assert len(parts) == leaves
        assert len(before - parts) <= 1  # one leaf is cut in two, the others stay
        before = parts


def test_several_outputs_are_several_models():
    X, y, rng = real("squared_error")
    Y = np.c_[y, y**2, rng.normal(size=len(y))]
    both = model("squared_error").fit(X, Y).predict(X)
    for k in range(3):
        alone = model("squared_error").fit(X, Y[:, k]).predict(X)
        np.testing.assert_allclose(both[:, k], alone, rtol=1e-12)


def test_several_quantiles_are_several_models_in_order():
    X, y, _ = real("quantile")
    alpha = [0.2, 0.5, 0.8]
    both = model("quantile", alpha=alpha).fit(X, y).predict(X)
    alone = [model("quantile", alpha=q).fit(X, y).predict(X) for q in alpha]
    np.testing.assert_allclose(both, np.sort(np.column_stack(alone), axis=1), rtol=1e-12)


def test_one_vector_leaf_of_one_score_is_a_leaf():
    X, y, _ = real("log_loss")
    plain = model("log_loss").fit(X, y)
    vector = model("log_loss", multi_strategy="vector_leaves").fit(X, y)
    np.testing.assert_array_equal(scores(plain, X), scores(vector, X))


@some
@given(st.integers(0, 2**32 - 1), st.sampled_from(SHAPES[:4]))
def test_a_full_round_of_vector_leaves_is_a_tree_of_several_outputs(seed, shape):
    X, y, rng = real("squared_error", seed)
    Y = np.c_[y, rng.normal(size=len(y))]
    tree = DecisionTreeRegressor(max_bins=255, **shape).fit(X, Y)
    est = GradientBoostingRegressor(
        n_estimators=1, multi_strategy="vector_leaves", **FULL, **shape
    ).fit(X, Y)
    np.testing.assert_allclose(est.predict(X), tree.predict(X), rtol=1e-9, atol=1e-9)


# --- AdaBoost: exponential loss -------------------------------------------------------------------


@some
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2]), st.booleans())
def test_newton_steps_of_exponential_loss_are_gentle_adaboost(seed, depth, weighted):
    """-g/h is the label, -1 or 1, and h its weight exp(-yF): Friedman et al. (2000), alg. 4."""
    X, y, rng = real("exponential", seed, n=120)
    w = rng.uniform(0.5, 2, len(y)) if weighted else None
    tree = DecisionTreeClassifier(max_depth=depth, max_bins=255)
    gentle = AdaBoostClassifier(tree, n_estimators=6, algorithm="gentle").fit(X, y, w)
    est = GradientBoostingClassifier(
        loss="exponential",
        init="zero",
        n_estimators=6,
        max_depth=depth,
        max_leaf_nodes=None,
        **FULL,
    ).fit(X, y, w)
    np.testing.assert_allclose(
        est.decision_function(X), gentle.decision_function(X), rtol=1e-7, atol=1e-9
    )


@some
@given(st.integers(0, 2**32 - 1))
def test_exact_steps_of_exponential_loss_are_real_adaboost(seed):
    """A leaf's best step is half the log odds of its weights: the same paper, alg. 2."""
    X, y, rng = real("exponential", seed, n=120)
    y = np.where(rng.random(len(y)) < 0.15, 1 - y, y)
    tree = DecisionTreeClassifier(max_depth=1, min_samples_leaf=30, max_bins=255)
    boosted = AdaBoostClassifier(tree, n_estimators=6, algorithm="real").fit(X, y)
    est = GradientBoostingClassifier(
        loss="exponential",
        init="zero",
        n_estimators=6,
        max_depth=1,
        order=2,
        step="exact",
        min_samples_leaf=30,
        **FULL,
    ).fit(X, y)
    np.testing.assert_allclose(
        est.decision_function(X), boosted.decision_function(X), rtol=1e-6, atol=1e-8
    )


def test_newton_steps_of_log_loss_are_logitboost():
    """Whose scores are half of ours; its targets are cut at 4, so only while none is that far."""
    X, y, rng = real("log_loss", n=300)
    y = np.where(rng.random(len(y)) < 0.3, 1 - y, y)
    tree = DecisionTreeRegressor(max_depth=1, min_samples_leaf=60, max_bins=255)
    logit = AdaBoostClassifier(tree, n_estimators=3, algorithm="logit").fit(X, y)
    est = GradientBoostingClassifier(
        init="zero", n_estimators=3, max_depth=1, min_samples_leaf=60, **FULL
    ).fit(X, y)
    assert np.abs(est.decision_function(X)).max() < np.log(3)
    np.testing.assert_allclose(
        est.decision_function(X), 2 * logit.decision_function(X), rtol=1e-6, atol=1e-9
    )


# --- symmetries -----------------------------------------------------------------------------------


def test_a_monotone_transform_of_a_column_changes_nothing():
    for loss in LOSSES:
        X, y, _ = real(loss)
        plain = scores(model(loss).fit(X, y), X)
        bent = np.c_[np.exp(X[:, 0]), X[:, 1] ** 3, 5 + 100 * X[:, 2]]
        np.testing.assert_array_equal(plain, scores(model(loss).fit(bent, y), bent))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "log_cosh"])
def test_shifted_and_mirrored_targets(loss):
    X, y, _ = real(loss)
    plain = model(loss).fit(X, y).predict(X)
    np.testing.assert_allclose(model(loss).fit(X, y + 8).predict(X), plain + 8, rtol=1e-9)
    np.testing.assert_allclose(model(loss).fit(X, -y).predict(X), -plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", POSITIVE)
def test_targets_in_other_units(loss):
    """All three deviances are homogeneous in target and mean, so leaves do not change."""
    X, y, _ = real(loss)
    settings = {"min_hessian": 0.0, "init": None}
    plain = model(loss, **settings).fit(X, y).predict(X)
    np.testing.assert_allclose(model(loss, **settings).fit(X, 8 * y).predict(X), 8 * plain)


@pytest.mark.parametrize("loss", TWO_CLASSES)
def test_exchanged_classes(loss):
    X, y, _ = real(loss)
    plain = model(loss).fit(X, y).decision_function(X)
    mirrored = model(loss).fit(X, 1 - y).decision_function(X)
    np.testing.assert_allclose(plain, -mirrored, rtol=1e-7, atol=1e-9)


def test_names_of_classes_change_nothing():
    X, y, _ = real("three classes")
    plain = model("three classes").fit(X, y).predict_proba(X)
    renamed = model("three classes").fit(X, np.array(["c", "a", "b"])[y])
    np.testing.assert_allclose(plain, renamed.predict_proba(X)[:, [2, 0, 1]], rtol=1e-7)


# --- where scores start ---------------------------------------------------------------------------


class Known(RegressorMixin, BaseEstimator):
    """Predicts the sum of the columns, through the inverse of a link."""

    def __init__(self, link=None):
        self.link = link

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        F = 0.3 * np.nansum(X, axis=1)
        return F if self.link is None else self.link.inverse(F)


@pytest.mark.parametrize("loss", ["squared_error", "huber", "poisson", "gamma", "tweedie"])
def test_an_offset_is_an_init_of_that_score(loss):
    X, y, _ = mixed(loss)
    link = losses.get_loss(loss).link
    F = 0.3 * np.nansum(X, axis=1)
    by_init = model(loss, init=Known(link)).fit(X, y)
    by_offset = model(loss, init="zero").fit(X, y, offset=F)
    np.testing.assert_allclose(scores(by_init, X), scores(by_offset, X, offset=F), rtol=1e-7)
    np.testing.assert_allclose(
        scores(by_offset, X, offset=F), scores(by_offset, X) + F[:, None], rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_offset_everywhere_is_none(loss):
    X, y, _ = mixed(loss)
    plain = model(loss).fit(X, y)
    c = np.full(len(y), 0.25)
    shifted = model(loss).fit(X, y, offset=c)
    np.testing.assert_allclose(
        scores(plain, X),
        scores(shifted, X, offset=c) - (loss == "three classes") * 0.25,
        rtol=1e-6,
        atol=1e-8,
    )


def test_exposure_is_an_offset_and_a_weight():
    """Counts y over exposure e: log e as offset is the rate y / e with the weight e."""
    X, y, rng = real("poisson", n=200)
    e = rng.uniform(0.5, 3, len(y))
    counts = rng.poisson(e * np.exp(X[:, 0] / 2)).astype(float)
    settings = {"n_estimators": 20, "min_hessian": 0.0}
    by_offset = model("poisson", **settings).fit(X, counts, offset=np.log(e)).predict(X)
    by_weight = model("poisson", **settings).fit(X, counts / e, sample_weight=e).predict(X)
    np.testing.assert_allclose(by_offset, by_weight, rtol=1e-6)


def test_a_fitted_model_is_gone_on_from():
    X, y, _ = real("log_loss")
    whole = model("log_loss", n_estimators=12).fit(X, y)
    first = model("log_loss", n_estimators=5).fit(X, y)
    second = model("log_loss", n_estimators=7, init=first).fit(X, y)
    np.testing.assert_allclose(scores(second, X), scores(whole, X), rtol=1e-9)


# --- losses of one's own --------------------------------------------------------------------------


class Copied:
    """A built-in loss behind a face of its own."""

    def __init__(self, name, hessian):
        self.loss = losses.get_loss(name)
        self.kind, self.link = self.loss.kind, self.loss.link
        if hessian:
            self.hessian = self.loss.hessian

    def value(self, y, F):
        return self.loss.value(y, F)

    def gradient(self, y, F):
        return self.loss.gradient(y, F)


@pytest.mark.parametrize("step", ["newton", "exact", "line_search", "gradient"])
@pytest.mark.parametrize("loss", ["squared_error", *POSITIVE, *TWO_CLASSES[:2]])
def test_a_loss_of_ones_own_is_as_good_as_a_built_in_one(loss, step):
    X, y, _ = mixed(loss)
    kind = GradientBoostingClassifier if loss in TWO_CLASSES else GradientBoostingRegressor
    settings = {
        **PLAIN,
        "n_estimators": 5,
        "max_leaf_nodes": 4,
        "step": step,
        "order": 1 + (step == "newton"),
    }
    ours = kind(loss=loss, **settings).fit(X, y)
    own = kind(loss=Copied(loss, hessian=step == "newton"), **settings).fit(X, y)
    np.testing.assert_allclose(scores(ours, X), scores(own, X), rtol=1e-6, atol=1e-8)
