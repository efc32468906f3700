"""Gradient boosting: losses, shapes, steps, constraints, starts, offsets, weights."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from boosting.cases import BOTH, CANCER, DIABETES, IRIS, PAIR, SMALL, data_of, say, steps_of
from weald import GradientBoostingClassifier, GradientBoostingRegressor

# --- fits and shapes ------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "smooth_hinge", "focal"])
def test_two_classes(loss):
    X, y = CANCER
    model = GradientBoostingClassifier(loss=loss, n_estimators=20, learning_rate=0.05).fit(X, y)
    assert model.score(X, y) > 0.97
    assert model.decision_function(X).shape == (len(X),)
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares, rtol=1e-9, atol=1e-15)
    assert (model.train_score_[1:] < model.train_score_[:-1]).all()
    assert (model.predict(X) == model.classes_[(model.decision_function(X) > 0).astype(int)]).all()


@pytest.mark.parametrize("several", ["one_tree_per_output", "vector_leaves"])
def test_several_classes(several):
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = GradientBoostingClassifier(n_estimators=20, multi_strategy=several).fit(X, names)
    assert model.score(X, names) > 0.95
    assert model.decision_function(X).shape == model.predict_proba(X).shape == (150, 3)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    trees = 3 if several == "one_tree_per_output" else 1
    assert model.n_trees_per_iteration_ == trees
    assert model.estimators_.shape == (20, trees)
    assert model.apply(X).shape == (150, 20, trees)


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "log_cosh"]
)
def test_numbers(loss):
    X, y = DIABETES
    model = GradientBoostingRegressor(loss=loss, alpha=0.5, n_estimators=30).fit(X, y)
    assert model.score(X, y) > 0.5
    assert model.train_score_[-1] < model.train_score_[0]
    assert model.predict(X).shape == (len(X),)
    assert model.apply(X).shape == (len(X), 30)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_amounts(loss):
    X, y = DIABETES
    model = GradientBoostingRegressor(loss=loss, n_estimators=50).fit(X, y)
    assert model.score(X, y) > 0.5
    assert (model.predict(X) > 0).all()


def test_a_huge_count_does_not_blow_up():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.ones(200)
    y[0] = 1e6
    model = GradientBoostingRegressor(loss="poisson", n_estimators=20).fit(X, y)
    assert model.predict(X).max() < 1e8


@pytest.mark.parametrize("several", ["one_tree_per_output", "vector_leaves"])
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_several_outputs(loss, several):
    X, y = PAIR
    model = GradientBoostingRegressor(loss=loss, n_estimators=30, multi_strategy=several).fit(X, y)
    assert model.predict(X).shape == y.shape
    assert model.score(X, y) > 0.5


def test_outputs_apart_are_models_of_their_own():
    X, y = PAIR
    together = GradientBoostingRegressor(n_estimators=5, **SMALL).fit(X, y).predict(X)
    for k in range(2):
        alone = GradientBoostingRegressor(n_estimators=5, **SMALL).fit(X, y[:, k]).predict(X)
        np.testing.assert_allclose(together[:, k], alone, rtol=1e-9)


def test_several_quantiles_never_cross():
    X, y = DIABETES
    model = GradientBoostingRegressor(loss="quantile", alpha=[0.9, 0.1, 0.5], n_estimators=30)
    said = model.fit(X, y).predict(X)
    assert said.shape == (len(X), 3)
    assert (said[:, 1] <= said[:, 2]).all()
    assert (said[:, 2] <= said[:, 0]).all()
    below = (y[:, None] < said).mean(axis=0)
    assert abs(below - [0.9, 0.1, 0.5]).max() < 0.1
    assert [loss.quantile for loss in model.loss_] == [0.9, 0.1, 0.5]
    assert 0.2 < model.score(X, y) == list(model.staged_score(X, y))[-1] < 1


def test_one_class():
    model = GradientBoostingClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]
    assert (model.n_estimators_, model.stop_reason_) == (0, "one_class")
    assert model.feature_importances_.tolist() == [0.0]
    assert list(model.staged_predict([[5.0]])) == []


def test_one_round_at_rate_1_is_the_start_and_a_tree():
    from weald import DecisionTreeRegressor

    X, y = DIABETES
    settings = {"max_depth": 3, "max_bins": 255, "max_features": None}
    model = GradientBoostingRegressor(
        n_estimators=1, learning_rate=1.0, l2_regularization=0.0, **settings
    ).fit(X, y)
    tree = DecisionTreeRegressor(**settings).fit(X, y - y.mean())
    np.testing.assert_allclose(model.predict(X), y.mean() + tree.predict(X))
    np.testing.assert_allclose(
        model.predict(X), model.init_ + model.estimators_[0, 0].predict(X), rtol=1e-12
    )


@pytest.mark.parametrize("kind", BOTH)
def test_the_members_add_up(kind):
    X, y = data_of(kind)
    model = kind(n_estimators=5, **SMALL).fit(X, y)
    total = model.init_ + sum(one[0].predict(X) for one in model)
    np.testing.assert_allclose(say(model, X), total)
    assert len(model) == len(model.estimators_) == 5
    assert model.feature_importances_.sum() == pytest.approx(1)
    with pytest.raises(AttributeError, match="cannot be set"):
        model.estimators_ = []


# --- steps, orders, constraints -------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "smooth_hinge", "focal"])
@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_a_line_search_never_raises_the_loss(loss, rate):
    X, y = CANCER
    model = GradientBoostingClassifier(
        loss=loss, step="line_search", learning_rate=rate, n_estimators=20, **SMALL
    ).fit(X, y)
    assert (np.diff(model.train_score_) <= 1e-15).all()


def test_a_line_search_ends_where_there_is_no_way_down():
    X, y = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])
    model = GradientBoostingRegressor(
        step="line_search", learning_rate=1.0, l2_regularization=0.0, n_estimators=10
    ).fit(X, y)
    assert (model.n_estimators_, model.stop_reason_) == (1, "no_step")
    np.testing.assert_allclose(model.predict(X), y)


@pytest.mark.parametrize(
    ("loss", "step"),
    [
        (loss, step)
        for loss in ("squared_error", "log_cosh", "absolute_error")
        for step in steps_of(loss)
    ],
)
@pytest.mark.parametrize("order", [None, 1])
def test_monotone_columns_stay_monotone(loss, step, order):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(300, 3))
    y = np.sin(6 * X[:, 0]) + X[:, 1] - X[:, 2] + rng.normal(size=300)
    model = GradientBoostingRegressor(
        loss=loss, step=step, order=order, n_estimators=20, monotonic_cst=[1, 0, -1]
    ).fit(X, y)
    grid = np.linspace(0, 1, 60)
    for row in X[:20]:
        rows = np.tile(row, (60, 1))
        rows[:, 0] = grid
        assert (np.diff(model.predict(rows)) >= -1e-12).all()
        rows = np.tile(row, (60, 1))
        rows[:, 2] = grid
        assert (np.diff(model.predict(rows)) <= 1e-12).all()


def test_columns_that_must_not_meet_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]
    model = GradientBoostingRegressor(interaction_cst=[{0, 1}], n_estimators=10).fit(X, y)
    for one in model:
        used = set(one[0].tree_.feature.tolist()) - {-2}
        assert used  # and on every path one group only
        _check_paths(one[0].tree_, [{0, 1}, {2, 3}])


@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_columns_that_must_not_meet_do_not_in_vector_leaves(l2, flags):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    X = (X > 0).astype(float) if flags else X
    y = rng.integers(3, size=400)
    settings = {"multi_strategy": "vector_leaves", "max_features": 0.5, "l2_regularization": l2}
    groups = [{0, 1}, {2}, {3, 4, 5}]
    model = GradientBoostingClassifier(
        interaction_cst=groups, n_estimators=4, random_state=0, **settings
    ).fit(X, y)
    for one in model:
        assert one[0].tree_.node_count > 5
        _check_paths(one[0].tree_, groups)


def _check_paths(tree, groups, node=0, seen=frozenset()):
    if tree.children_left[node] < 0:
        assert any(seen <= group for group in groups)
        return
    seen = seen | {int(tree.feature[node])}
    for child in (tree.children_left[node], tree.children_right[node]):
        _check_paths(tree, groups, child, seen)


# --- start, offset, weights -----------------------------------------------------------------------


def test_where_scores_start():
    X, y = CANCER
    share = y.mean()
    model = GradientBoostingClassifier(n_estimators=1).fit(X, y)
    assert model.init_ == pytest.approx(np.log(share / (1 - share)))
    assert GradientBoostingClassifier(n_estimators=1, init="zero").fit(X, y).init_ == 0
    other = LogisticRegression(max_iter=5000)
    model = GradientBoostingClassifier(n_estimators=1, init=other, learning_rate=1e-9).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X), model.init_.predict_proba(X), rtol=1e-6, atol=1e-6
    )
    assert not hasattr(other, "coef_")


@pytest.mark.parametrize("kind", BOTH)
def test_a_fitted_model_is_gone_on_from(kind):
    X, y = data_of(kind)
    first = kind(n_estimators=5, learning_rate=0.1, **SMALL).fit(X, y)
    second = kind(n_estimators=5, learning_rate=0.1, init=first, **SMALL).fit(X, y)
    both = kind(n_estimators=10, learning_rate=0.1, **SMALL).fit(X, y)
    np.testing.assert_array_equal(say(second, X), say(both, X))
    assert second.init_ is first
    np.testing.assert_array_equal(say(pickle.loads(pickle.dumps(second)), X), say(both, X))


def test_offsets_are_exposures():
    rng = np.random.default_rng(0)
    X, time = rng.uniform(size=(400, 2)), rng.uniform(1, 20, size=400)
    y = rng.poisson(time * np.exp(X[:, 0]))
    model = GradientBoostingRegressor(loss="poisson", n_estimators=30, max_depth=2)
    model.fit(X, y, offset=np.log(time))
    assert model.init_ == pytest.approx(np.log(y.sum() / time.sum()))
    per_time = model.predict(X)
    np.testing.assert_allclose(model.predict(X, offset=np.log(time)), time * per_time)
    assert np.corrcoef(per_time, np.exp(X[:, 0]))[0, 1] > 0.9
    plain = GradientBoostingRegressor(n_estimators=10).fit(X, y, offset=time)
    shifted = GradientBoostingRegressor(n_estimators=10).fit(X, y - time)
    np.testing.assert_allclose(plain.predict(X), shifted.predict(X))


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (GradientBoostingClassifier, {}),
        (GradientBoostingClassifier, {"class_weight": "balanced"}),
        (GradientBoostingClassifier, {"loss": "smooth_hinge"}),
        (GradientBoostingRegressor, {}),
        (GradientBoostingRegressor, {"loss": "absolute_error"}),
        (GradientBoostingRegressor, {"loss": "huber"}),
        (
            GradientBoostingRegressor,
            # Folds and rows of a leaf are counted by row, whatever it weighs.
            {
                "loss": "quantile",
                "alpha": [0.2, 0.8],
                "calibration": None,
                "min_samples_leaf": 1,
            },
        ),
    ],
)
def test_a_row_of_weight_k_is_k_rows(kind, settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60)
    y = (y > 0).astype(int) if kind is GradientBoostingClassifier else y
    times = rng.integers(0, 4, 60)
    model = kind(n_estimators=10, max_depth=3, random_state=0, **settings)
    weighted = say(clone(model).fit(X, y, times), X)
    repeated = say(clone(model).fit(np.repeat(X, times, 0), np.repeat(y, times)), X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-9)
