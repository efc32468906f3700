"""Gradient boosting: fits, shapes, warm starts, early stopping, stages, members and bad input."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from weald import GradientBoostingClassifier, GradientBoostingRegressor, callbacks, losses

CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
PAIR = (DIABETES[0], np.stack([DIABETES[1], -2 * DIABETES[1]], axis=1))
BOTH = (GradientBoostingClassifier, GradientBoostingRegressor)
SMALL = {"max_depth": 3, "max_features": None, "min_gain": 0.0, "random_state": 0}


def data_of(kind):
    return CANCER if kind is GradientBoostingClassifier else DIABETES


def say(model, X):
    if hasattr(model, "classes_"):
        return model.decision_function(X)
    return model.predict(X)


def stages(model, X):
    if hasattr(model, "classes_"):
        return list(model.staged_decision_function(X))
    return list(model.staged_predict(X))


# --- fits and shapes ------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "smooth_hinge", "focal"])
def test_two_classes(loss):
    X, y = CANCER
    model = GradientBoostingClassifier(loss=loss, n_estimators=20).fit(X, y)
    assert model.score(X, y) > 0.97
    assert model.decision_function(X).shape == (len(X),)
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
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


@pytest.mark.parametrize("step", ["newton", "exact", "line_search", "gradient"])
@pytest.mark.parametrize("loss", ["squared_error", "log_cosh", "absolute_error"])
@pytest.mark.parametrize("order", [None, 1])
def test_monotone_columns_stay_monotone(loss, step, order):
    if loss == "absolute_error" and step == "newton":
        pytest.skip("no second derivative")
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
    first = kind(n_estimators=5, **SMALL).fit(X, y)
    second = kind(n_estimators=5, init=first, **SMALL).fit(X, y)
    both = kind(n_estimators=10, **SMALL).fit(X, y)
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
        (GradientBoostingRegressor, {"loss": "quantile", "alpha": [0.2, 0.8]}),
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


# --- the same bits --------------------------------------------------------------------------------

SETTINGS = [
    {},
    {"subsample": 0.5},
    {"sampling": "gradient"},
    {"max_features_per_tree": 2, "max_features": 1},
    {"dropout": 0.3},
    {"n_iter_no_change": 50},
    {"dropout": 0.3, "n_iter_no_change": 50},
    {"estimator": Ridge(), "subsample": 0.5},
    {"step": "line_search"},
    {"growth": "by_level"},
]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_warm_start_changes_nothing(kind, settings):
    X, y = data_of(kind)
    model = kind(n_estimators=12, random_state=3, max_leaf_nodes=8, **settings)
    whole = clone(model).fit(X, y)
    parts = clone(model).set_params(n_estimators=5, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(say(whole, X), say(parts, X))
    np.testing.assert_array_equal(whole.train_score_, parts.train_score_)
    if "n_iter_no_change" in settings:
        np.testing.assert_array_equal(whole.validation_score_, parts.validation_score_)
    one = clone(model).set_params(n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(say(whole, X), say(one, X))
    copy = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(say(whole, X), say(copy, X))


@pytest.mark.parametrize("several", ["one_tree_per_output", "vector_leaves"])
def test_a_warm_start_of_several_classes(several):
    X, y = IRIS
    model = GradientBoostingClassifier(n_estimators=8, multi_strategy=several, **SMALL)
    whole = clone(model).fit(X, y)
    parts = clone(model).set_params(n_estimators=3, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(say(whole, X), say(parts, X))


def test_what_a_warm_start_refuses():
    X, y = DIABETES
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal"):
        model.set_params(n_estimators=2).fit(X, y)
    model.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="the columns of X changed"):
        model.fit(X[:, :2], y)
    with pytest.raises(ValueError, match="loss changed"):
        model.set_params(loss="poisson").fit(X, y)
    assert model.n_estimators_ == 3  # as before


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("settings", [{}, {"dropout": 0.3}, {"estimator": Ridge()}], ids=str)
def test_the_last_stage_is_the_model(kind, settings):
    X, y = data_of(kind)
    model = kind(n_estimators=6, random_state=0, **settings).fit(X, y)
    each = stages(model, X)
    assert len(each) == 6
    np.testing.assert_array_equal(each[-1], say(model, X))
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y)


# --- when to stop ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_early_stopping_uses_the_best_round(kind):
    X, y = data_of(kind)
    model = kind(n_estimators=500, n_iter_no_change=5, learning_rate=0.5, **SMALL).fit(X, y)
    assert model.stop_reason_ == "no_change"
    assert model.n_estimators_ < 500
    assert len(model.train_score_) == len(model.validation_score_) == model.n_estimators_
    assert model.best_iteration_ == model.validation_score_.argmin() + 1
    np.testing.assert_array_equal(stages(model, X)[model.best_iteration_ - 1], say(model, X))


def test_given_validation_rows_are_watched():
    X, y = DIABETES
    model = GradientBoostingRegressor(n_estimators=30, **SMALL)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert model.n_estimators_ == 30
    last = 0.5 * np.mean((model.predict(X[300:]) - y[300:]) ** 2)
    assert model.validation_score_[-1] == pytest.approx(last)
    model.set_params(n_iter_no_change=3, n_estimators=500, learning_rate=0.5)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    best = 0.5 * np.mean((model.predict(X[300:]) - y[300:]) ** 2)
    assert model.validation_score_.min() == pytest.approx(best)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", None])
def test_metrics_may_judge(scoring):
    X, y = CANCER
    train, held = np.arange(400), np.arange(400, len(y))
    model = GradientBoostingClassifier(
        n_estimators=10, n_iter_no_change=10, scoring=scoring, **SMALL
    ).fit(X[train], y[train], X_val=X[held], y_val=y[held])
    from sklearn.metrics import check_scoring

    expected = check_scoring(model, scoring)(model, X[held], y[held])
    assert model.validation_score_[model.best_iteration_ - 1] == pytest.approx(expected)
    assert model.best_iteration_ == model.validation_score_.argmax() + 1


def test_the_training_rows_may_judge():
    X, y = DIABETES
    model = GradientBoostingRegressor(
        n_estimators=200, n_iter_no_change=3, validation_fraction=None, tol=50.0
    ).fit(X, y)
    assert model.stop_reason_ == "no_change"
    assert not hasattr(model, "validation_score_")


def test_callbacks_look_on():
    X, y = DIABETES
    history = callbacks.History()
    seen = []

    def third(state):
        seen.append(state.estimator)
        return state.round == 3

    model = GradientBoostingRegressor(n_estimators=10, callbacks=[history, third]).fit(X, y)
    assert (model.n_estimators_, model.stop_reason_) == (3, "callback")
    assert history.curve("train_loss") == model.train_score_.tolist()
    assert seen[0] is model

    slow = callbacks.LearningRateSchedule([1.0, 0.1])
    model = GradientBoostingRegressor(n_estimators=2, callbacks=slow, **SMALL).fit(X, y)
    first = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, **SMALL).fit(X, y)
    np.testing.assert_array_equal(stages(model, X)[0], first.predict(X))

    early = callbacks.EarlyStopping(3)
    model = GradientBoostingRegressor(n_estimators=500, learning_rate=0.5, callbacks=[early])
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert model.best_iteration_ == early.best_round == model.n_estimators_ - 3
    best = 0.5 * np.mean((model.predict(X[300:]) - y[300:]) ** 2)
    assert best == pytest.approx(early.best_value)


# --- members and losses of the user's own ---------------------------------------------------------


@pytest.mark.parametrize(
    "member", [Ridge(), KNeighborsRegressor(), RandomForestRegressor(5, max_depth=3)], ids=str
)
def test_any_regressor_may_be_the_member(member):
    X, y = DIABETES
    model = GradientBoostingRegressor(estimator=member, n_estimators=5, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.1
    assert type(model.estimators_[0, 0]) is type(member)
    labels = y > 140
    model = GradientBoostingClassifier(estimator=member, n_estimators=5, random_state=0)
    assert model.fit(X, labels).score(X, labels) > 0.6
    with pytest.raises(AttributeError, match="apply is for"):
        model.apply(X)


def test_members_of_squared_loss_at_rate_1_are_least_squares():
    X, y = DIABETES
    model = GradientBoostingRegressor(
        estimator=LinearRegression(), n_estimators=1, learning_rate=1.0
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X))


class OwnSquared:
    def value(self, y, F):
        return 0.5 * (F - y) ** 2

    def gradient(self, y, F):
        return F - y


class OwnNewton(OwnSquared):
    def hessian(self, y, F):
        return np.ones_like(F)


class OwnSoftmax:
    kind = "multiclass"

    def value(self, y, F):
        return losses.Softmax().value(y, F)

    def gradient(self, y, F):
        return losses.Softmax().gradient(y, F)

    def hessian(self, y, F):
        return losses.Softmax().hessian(y, F)


@pytest.mark.parametrize("own", [OwnSquared(), OwnNewton()])
def test_an_own_loss_is_as_good_as_a_built_in_one(own):
    X, y = DIABETES
    order = 2 if hasattr(own, "hessian") else 1
    step = "newton" if order == 2 else "exact"
    mine = GradientBoostingRegressor(loss=own, n_estimators=10, **SMALL).fit(X, y)
    theirs = GradientBoostingRegressor(order=order, step=step, n_estimators=10, **SMALL).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-6)
    np.testing.assert_allclose(mine.train_score_, theirs.train_score_, rtol=1e-6)


def test_an_own_loss_of_classes():
    X, y = IRIS
    settings = SMALL | {"n_estimators": 5, "l2_regularization": 1.0}
    mine = GradientBoostingClassifier(loss=OwnSoftmax(), **settings).fit(X, y)
    theirs = GradientBoostingClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_a_slip_of_the_pen_is_found():
    class Wrong(OwnSquared):
        def gradient(self, y, F):
            return np.where(y > 300, 2, 1) * (F - y)

    X, y = DIABETES
    with pytest.raises(ValueError, match=r"gradient of Wrong is .* in row .*differences") as error:
        GradientBoostingRegressor(loss=Wrong()).fit(X, y)
    row = int(str(error.value).split("in row ")[1].split()[0])
    assert y[row] > 300


def test_an_own_loss_must_stay_finite_and_leave_scores_alone():
    class Explodes(OwnSquared):
        def constant(self, y, sample_weight=None):
            return float(np.mean(y))

        def gradient(self, y, F):
            return np.where(F > 260, np.nan, F - y)

    X, y = DIABETES
    for step in ("exact", "gradient"):
        with pytest.raises(ValueError, match="The gradient of Explodes is nan in row"):
            GradientBoostingRegressor(loss=Explodes(), step=step, learning_rate=1.0).fit(X, y)

    class Writes(OwnSquared):
        def gradient(self, y, F):
            F -= y
            return F

    with pytest.raises(ValueError, match="read-only"):
        GradientBoostingRegressor(loss=Writes()).fit(X, y)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "log_loss"}, "loss must be one of 'squared_error'"),
        ({"loss": losses.LogLoss()}, "is a loss of classes"),
        ({"learning_rate": 0}, "learning_rate must be a finite number > 0 or 'auto', got 0"),
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"n_estimators": "many"}, "n_estimators must be"),
        ({"subsample": 0.0}, "subsample must be a number above 0"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be a whole number >= 2"),
        ({"l2_regularization": -1}, "l2_regularization must be a finite number >= 0 or 'auto'"),
        ({"order": 3}, "order must be None, 1 or 2"),
        ({"order": 2, "loss": "absolute_error"}, "order=2 needs the second derivative"),
        ({"step": "huge"}, "step must be one of"),
        ({"step": "newton", "loss": "quantile"}, "step='newton' needs the second derivative"),
        ({"sampling": "best"}, "sampling must be one of"),
        ({"sampling": "gradient", "top_rate": 0.95}, "must not exceed 1 together"),
        ({"sampling": "gradient", "subsample": 0.5}, "leave subsample at 1"),
        ({"dropout": 1.0}, "dropout must be a number from 0 to 1"),
        ({"max_drop": 0}, "max_drop must be"),
        ({"growth": "wide"}, "growth must be one of"),
        ({"alpha": 1.0}, "alpha must be a number between 0 and 1"),
        ({"alpha": [0.1, 0.9]}, "alpha may be a sequence for loss='quantile' only"),
        ({"alpha": [0.1, 0.1], "loss": "quantile"}, "alpha must be a number"),
        ({"init": "mean"}, "init must be None, 'zero' or an estimator"),
        ({"init": 3}, "init must be None, 'zero' or an estimator"),
        ({"max_features_per_tree": 0}, "max_features_per_tree must be"),
        ({"interaction_cst": "none"}, "interaction_cst must be"),
        ({"interaction_cst": [{99}]}, "interaction_cst has the index 99"),
        ({"monotonic_cst": [1]}, "monotonic_cst has shape"),
        ({"multi_strategy": "both"}, "multi_strategy must be one of"),
        ({"estimator": Ridge(), "monotonic_cst": [1]}, "monotonic_cst is for weald's own trees"),
        ({"estimator": Ridge(), "step": "exact"}, "step='exact' sets the leaves"),
        ({"estimator": LogisticRegression()}, "is a classifier: give a regressor"),
        ({"estimator": 3}, "estimator must be None or an estimator"),
        ({"callbacks": [3]}, "callbacks must be None"),
        ({"scoring": "best", "n_iter_no_change": 2}, "scoring='best'"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be"),
        ({"validation_fraction": 1.0}, "validation_fraction must be"),
        ({"min_gain": -1}, "min_gain must be"),
        ({"min_hessian": "x"}, "min_hessian must be"),
        ({"tol": -1}, "tol must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    X, y = DIABETES
    model = GradientBoostingRegressor(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")  # nothing half-done


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "exponential"}, "Only binary classification is supported by"),
        ({"loss": losses.Softmax(n_classes=4)}, "is for 4 classes, but y has 3"),
        ({"loss": "squared_error"}, "loss must be one of 'log_loss'"),
        ({"loss": losses.SquaredError()}, "is a loss of numbers"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "not supported with more than two classes"),
        ({"class_weight": "heavy"}, "class_weight must be"),
    ],
)
def test_bad_parameters_of_classifiers_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingClassifier(**settings).fit(*IRIS)


def test_bad_data_is_named():
    X, y = DIABETES
    model = GradientBoostingRegressor(n_estimators=2)
    with pytest.raises(ValueError, match=r"offset must have shape \(442,\)"):
        model.fit(X, y, offset=[1.0])
    with pytest.raises(ValueError, match="offset must be finite, got nan in row 3"):
        model.fit(X, y, offset=np.where(np.arange(442) == 3, np.nan, 0.0))
    with pytest.raises(ValueError, match="poisson needs targets >= 0, got -1"):
        GradientBoostingRegressor(loss="poisson").fit(X, -np.ones(442))
    with pytest.raises(ValueError, match="offset_val belongs to the rows of X_val"):
        model.fit(X, y, offset_val=y)
    with pytest.raises(ValueError, match="X_val is provided, but y_val was not"):
        model.fit(X, y, X_val=X)
    model.fit(X, y)
    with pytest.raises(ValueError, match="offset must have shape"):
        model.predict(X, offset=y[:3])
    with pytest.raises(ValueError, match="several outputs"):
        GradientBoostingRegressor(loss="quantile", alpha=[0.1, 0.9]).fit(*PAIR)


# --- scikit-learn ---------------------------------------------------------------------------------


def test_grid_search():
    X, y = CANCER
    grid = {"max_depth": [1, 2], "callbacks": [None, [callbacks.TimeLimit(60)]]}
    few = GradientBoostingClassifier(n_estimators=5, learning_rate=0.3)
    search = GridSearchCV(few, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.9


def test_defaults_are_one_table():
    from weald._gradient_defaults import choose

    X, y = DIABETES
    chosen = choose(len(X), X.shape[1], 2, "numbers")
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    given = GradientBoostingRegressor(
        learning_rate=chosen.learning_rate,
        n_estimators=chosen.n_estimators,
        max_leaf_nodes=chosen.max_leaf_nodes,
        max_features=chosen.max_features,
        l2_regularization=chosen.l2,
        min_gain=chosen.min_gain,
        min_hessian=chosen.min_hessian,
        random_state=0,
    ).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), given.predict(X))
    assert model.n_estimators_ == chosen.n_estimators


EXACT = [
    GradientBoostingClassifier(n_estimators=5),
    GradientBoostingClassifier(n_estimators=5, loss="exponential", order=1),
    GradientBoostingClassifier(n_estimators=5, multi_strategy="vector_leaves"),
    GradientBoostingRegressor(n_estimators=5, learning_rate=0.3),
    GradientBoostingRegressor(n_estimators=5, loss="absolute_error", learning_rate=0.5),
    GradientBoostingRegressor(n_estimators=5, loss="poisson", learning_rate=0.5),
    GradientBoostingRegressor(n_estimators=5, estimator=Ridge(), learning_rate=0.5),
    GradientBoostingRegressor(n_estimators=3, step="line_search", init=LinearRegression()),
]
DRAWN = [
    GradientBoostingClassifier(n_estimators=5, subsample=0.7),
    GradientBoostingClassifier(n_estimators=5, n_iter_no_change=2),
    GradientBoostingRegressor(
        n_estimators=5, learning_rate=0.3, sampling="gradient", top_rate=0.4, other_rate=0.4
    ),
    GradientBoostingRegressor(n_estimators=10, dropout=0.2, learning_rate=0.5),
]
DRAWN_CHECKS = [
    pytest.param(estimator, check, id=f"{i}-{check.func.__name__}")
    for i, each in enumerate(DRAWN)
    for estimator, check in estimator_checks_generator(each)
    # Rows are drawn at random: the law holds on average.
    if not check.func.__name__.startswith("check_sample_weight_equivalence")
]


@parametrize_with_checks(EXACT)
def test_estimator_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "check"), DRAWN_CHECKS)
def test_estimator_contract_where_rows_are_drawn(estimator, check):
    check(estimator)
