"""Laws that every gradient boosted model obeys, whatever the data."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from boosting.cases import LOSSES, NUMBERS, has_hessian, mixed, model, real, scores, steps_of
from weald import GradientBoostingClassifier, GradientBoostingRegressor

some = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
VARIANTS = {
    "plain": {},
    "first order": {"order": 1},
    "gradient steps": {"step": "gradient"},
    "line search": {"step": "line_search"},
    "rows drawn": {"subsample": 0.6},
    "by gradient": {"sampling": "gradient", "top_rate": 0.3, "other_rate": 0.3},
    "columns per node": {"max_features": 2},
    "columns per tree": {"max_features_per_tree": 2},
    "dropout": {"dropout": 0.3},
    "by level": {"growth": "by_level"},
    "few bins": {"max_bins": 8},
    "from zero": {"init": "zero"},
    "no interactions": {"interaction_cst": "no_interactions"},
}
DRAWING = ("rows drawn", "by gradient", "columns per node", "columns per tree", "dropout")


def fitted(loss, variant, X, y, w=None, **more):
    return model(loss, categorical_features=[3], random_state=3, **VARIANTS[variant] | more).fit(
        X, y, w
    )


# --- the same model by other means ----------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "log_loss", "three classes"])
def test_a_warm_start_goes_on_bit_for_bit(loss, variant):
    X, y, _ = mixed(loss)
    whole = fitted(loss, variant, X, y, n_estimators=20)
    parts = fitted(loss, variant, X, y, n_estimators=7, warm_start=True)
    parts.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(scores(whole, X), scores(parts, X))
    np.testing.assert_array_equal(whole.train_score_, parts.train_score_)
    assert whole.n_estimators_ == parts.n_estimators_ == 20


@pytest.mark.parametrize("loss", LOSSES)
def test_fewer_rounds_are_the_beginning_of_more(loss):
    X, y, _ = mixed(loss)
    for variant in VARIANTS:
        few = fitted(loss, variant, X, y, n_estimators=4)
        many = fitted(loss, variant, X, y, n_estimators=9)
        np.testing.assert_array_equal(few.train_score_, many.train_score_[:4])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_threads_change_nothing(loss, variant):
    X, y, rng = mixed(loss, n=2500)
    w = rng.uniform(0.5, 2, len(y))
    said = [scores(fitted(loss, variant, X, y, w, n_estimators=3, n_jobs=n), X) for n in (1, 2, 8)]
    np.testing.assert_array_equal(said[0], said[1])
    np.testing.assert_array_equal(said[0], said[2])


@pytest.mark.parametrize("loss", LOSSES)
def test_a_pickle_and_a_clone_are_the_same_model(loss):
    X, y, _ = mixed(loss)
    for variant in VARIANTS:
        est = fitted(loss, variant, X, y)
        copied = pickle.loads(pickle.dumps(est))
        np.testing.assert_array_equal(scores(est, X), scores(copied, X))
        np.testing.assert_array_equal(scores(est, X), scores(clone(est).fit(X, y), X))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_rows_changes_nothing_else(loss):
    X, y, rng = mixed(loss)
    w = rng.uniform(0.5, 2, len(y))
    order = rng.permutation(len(y))
    for variant in set(VARIANTS).difference(DRAWING):
        one = scores(fitted(loss, variant, X, y, w), X)
        two = scores(fitted(loss, variant, X[order], y[order], w[order]), X)
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9, err_msg=variant)


@pytest.mark.parametrize("loss", LOSSES)
def test_without_drawing_seeds_change_nothing(loss):
    X, y, _ = mixed(loss)
    said = [scores(model(loss, random_state=seed).fit(X, y), X) for seed in (1, 2)]
    np.testing.assert_array_equal(*said)


# --- stages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_stages_end_with_the_model_and_have_its_losses(loss, variant):
    X, y, _ = mixed(loss)
    est = fitted(loss, variant, X, y)
    predicted = [*est.staged_predict(X)]
    assert len(predicted) == len(est.train_score_) == est.n_estimators_
    np.testing.assert_array_equal(predicted[-1], est.predict(X))
    if not hasattr(est, "classes_"):
        F = [est.loss_.link.link(said) for said in predicted]
    else:
        F = [*est.staged_decision_function(X)]
        np.testing.assert_array_equal(F[-1], est.decision_function(X))
        np.testing.assert_array_equal([*est.staged_predict_proba(X)][-1], est.predict_proba(X))
    assert [*est.staged_score(X, y)][-1] == pytest.approx(est.score(X, y), abs=1e-12)
    if variant != "dropout":  # there, later rounds change what earlier ones say
        np.testing.assert_allclose([est.loss_.mean(y, f) for f in F], est.train_score_, rtol=1e-8)
    assert est.loss_.mean(y, F[-1]) == pytest.approx(est.train_score_[-1], rel=1e-8)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "three classes"])
def test_the_score_is_the_sum_of_its_parts(loss, variant):
    X, y, _ = mixed(loss)
    est = fitted(loss, variant, X, y)
    F = np.tile(np.atleast_1d(est.init_), (len(X), 1)).astype(float)
    for weight, members in zip(est.member_weights_, est.estimators_, strict=True):
        F += weight * np.column_stack([member.predict(X) for member in members])
    np.testing.assert_allclose(scores(est, X), F, rtol=1e-12, atol=1e-12)
    leaves = est.apply(X).reshape(len(X), est.n_estimators_, -1)
    np.testing.assert_array_equal(leaves[:, 2, 0], est.estimators_[2, 0].apply(X))


def test_early_stopping_is_the_model_of_its_best_round():
    X, y, _ = real("squared_error", n=60)
    new, truth, _ = real("squared_error", seed=1, n=100)
    settings = {"learning_rate": 0.5, "random_state": 0}
    est = model("squared_error", n_estimators=500, n_iter_no_change=5, tol=0.0, **settings)
    est.fit(X, y, X_val=new, y_val=truth)
    best = int(np.argmin(est.validation_score_)) + 1
    assert est.best_iteration_ == best < est.n_estimators_ == len(est.validation_score_) == best + 5
    short = model("squared_error", n_estimators=best, **settings).fit(X, y)
    np.testing.assert_array_equal(est.predict(new), short.predict(new))
    loss = [np.mean((truth - said) ** 2) / 2 for said in est.staged_predict(new)]
    np.testing.assert_allclose(loss, est.validation_score_[: len(loss)], rtol=1e-12)


# --- the loss falls -------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@some
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.sampled_from([0.1, 1.0, 1.9]),
    st.sampled_from([1, 2]),
    st.booleans(),
)
def test_with_a_line_search_the_loss_never_rises(loss, seed, n, rate, order, weighted):
    X, y, rng = mixed(loss, seed, n)
    w = 10.0 ** rng.integers(-6, 7, n) if weighted else None
    order = order if has_hessian(loss) else 1
    est = model(loss, step="line_search", learning_rate=rate, order=order).fit(X, y, w)
    falls = np.diff(est.train_score_)
    # A row's loss is a difference of numbers of the size of 1, and rounded as they are.
    assert (falls <= 1e-12 * np.abs(est.train_score_).max(initial=0) + 1e-15).all()
    assert np.isfinite(scores(est, X)).all()


@pytest.mark.parametrize("loss", LOSSES)
@some
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from(range(4)), st.booleans())
def test_models_are_finite(loss, seed, n, step, weighted):
    X, y, rng = mixed(loss, seed, n)
    w = 10.0 ** rng.integers(-6, 7, n) if weighted else None
    steps = steps_of(loss)
    est = model(loss, step=steps[step % len(steps)], max_leaf_nodes=8).fit(X, y, w)
    assert np.isfinite(scores(est, X)).all()
    assert np.isfinite(est.train_score_).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_gain_that_must_be_huge_leaves_the_start(loss):
    X, y, _ = mixed(loss)
    est = model(loss, min_gain=1e9, step="newton" if has_hessian(loss) else "gradient").fit(X, y)
    assert est.apply(X).max() == 0
    F = scores(est, X)
    np.testing.assert_allclose(F, np.tile(F[0], (len(X), 1)))


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["zero", None])
@pytest.mark.parametrize("loss", LOSSES)
def test_weight_k_is_k_copies(loss, init):
    X, y, rng = mixed(loss)
    w = rng.integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), w)
    for step in steps_of(loss):
        est = model(loss, init=init, step=step, categorical_features=[3])
        weighted = scores(est.fit(X, y, w), X)
        repeated = scores(est.fit(X[rows], y[rows]), X)
        if init == "zero" and step in ("newton", "gradient"):
            np.testing.assert_array_equal(weighted, repeated, err_msg=step)
        else:  # a mean of k copies is rounded in another way
            np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-8, err_msg=step)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_weight_0_is_absence(loss, variant):
    X, y, rng = mixed(loss)
    w = rng.uniform(0.5, 2, len(y)) * rng.integers(0, 2, len(y))
    whole = scores(fitted(loss, variant, X, y, w), X)
    part = scores(fitted(loss, variant, X[w > 0], y[w > 0], w[w > 0]), X)
    np.testing.assert_array_equal(whole, part)


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_weights_are_no_weights(loss):
    X, y, _ = mixed(loss)
    for variant in ("plain", "rows drawn"):
        plain = scores(fitted(loss, variant, X, y), X)
        weighted = scores(fitted(loss, variant, X, y, np.ones(len(y))), X)
        np.testing.assert_allclose(plain, weighted, rtol=1e-9, atol=1e-12)


# --- constraints ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [*NUMBERS, "poisson", "log_loss", "exponential"])
@some
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(range(4)),
    st.sampled_from([(1, 0, 0), (0, -1, 0), (1, -1, 1)]),
    st.booleans(),
)
def test_monotone_columns_are_monotone(loss, seed, step, directions, gaps):
    X, y, rng = real(loss, seed, n=60)
    if gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
    steps = steps_of(loss)
    est = model(
        loss,
        monotonic_cst=directions,
        step=steps[step % len(steps)],
        max_leaf_nodes=8,
        l2_regularization=0.1,
    ).fit(X, y)
    base = np.repeat(X[:10], 30, axis=0)
    for j in np.flatnonzero(directions):
        grid = base.copy()
        grid[:, j] = np.tile(np.linspace(-3, 3, 30), 10)
        F = scores(est, grid).reshape(10, 30)
        assert (directions[j] * np.diff(F, axis=1) >= -1e-12).all()


@pytest.mark.parametrize("strategy", ["one_tree_per_output", "vector_leaves"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "log_loss", "three classes"])
@pytest.mark.parametrize(
    ("given_groups", "groups"),
    [
        ([{0, 1}, {2, 3}], [{0, 1}, {2, 3}]),
        ([{0, 1}, {1, 2, 3}], [{0, 1}, {1, 2, 3}]),
        ([[0]], [{0}, {1, 2, 3}]),
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ("pairwise", [{a, b} for a in range(4) for b in range(a)]),
    ],
    ids=str,
)
def test_no_path_mixes_columns_that_may_not_interact(loss, strategy, given_groups, groups):
    X, y, _ = real(loss, n=150, d=4)
    est = model(loss, interaction_cst=given_groups, max_leaf_nodes=12, multi_strategy=strategy)
    est.fit(X, y)
    used = set()
    for members in est.estimators_:
        for member in members:
            tree = member.tree_
            paths = {0: frozenset()}
            for node in np.flatnonzero(tree.children_left >= 0):
                path = paths[node] | {int(tree.feature[node])}
                used |= path
                assert any(path <= group for group in groups)
                paths[int(tree.children_left[node])] = path
                paths[int(tree.children_right[node])] = path
    assert len(used) == 4


@some
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([1, 5, 20]), st.permutations([0.1, 0.3, 0.5, 0.9])
)
def test_quantiles_never_cross(seed, rounds, alpha):
    X, y, _ = mixed("quantile", seed)
    est = GradientBoostingRegressor(loss="quantile", alpha=alpha, n_estimators=rounds, max_depth=3)
    est.fit(X, y)
    for rows in (X, mixed("quantile", seed + 1)[0]):
        said = est.predict(rows)
        assert said.shape == (len(rows), 4)
        assert (np.diff(said[:, np.argsort(alpha)], axis=1) >= 0).all()


def test_columns_that_are_kept_twice_change_nothing():
    """A table beyond the caches divides its rows by copies of columns, from the second tree on."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((10_000, 28)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.standard_normal(10_000) > 0).astype(int)
    times = 31  # 8.7 million bytes
    settings = {"n_estimators": 6, "max_leaf_nodes": 15, "max_features": None, "random_state": 0}
    small = GradientBoostingClassifier(**settings).fit(X, y, sample_weight=np.full(10_000, times))
    large = GradientBoostingClassifier(**settings).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    assert np.array_equal(small.decision_function(X), large.decision_function(X))
