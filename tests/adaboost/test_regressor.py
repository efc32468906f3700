"""AdaBoost.R2: its formulas, what it does at their edges, and its members."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as PeerTree

from oracle.scripted import Scripted, scripted
from weald import (
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
    combining,
)

X, Y = make_friedman1(300, noise=1.0, random_state=0)
NEW, NEW_Y = make_friedman1(200, noise=1.0, random_state=1)
LOSSES = ("linear", "square", "exponential")


def losses_of(d, loss):
    return {"linear": d, "square": d**2, "exponential": 1 - np.exp(-d)}[loss]


# --- the formulas ---------------------------------------------------------------------------------


@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_every_round_follows_drucker(loss, rate, resample):
    """A twin in NumPy: errors, votes and weights from what the members say."""
    start = np.random.default_rng(0).integers(0, 4, len(Y)).astype(float)
    model = AdaBoostRegressor(
        n_estimators=15,
        learning_rate=rate,
        loss=loss,
        resample=resample,
        random_state=0,
        keep_weights=True,
    ).fit(X, Y, start)
    w = start / start.sum()
    np.testing.assert_allclose(model.weights_[0], w)
    for t, said in enumerate(model.member_predictions(X)):
        d = np.abs(Y - said)
        L = losses_of(d / d[w > 0].max(), loss)
        e = (w * L).sum()
        beta = e / (1 - e)
        assert model.errors_[t] == pytest.approx(e, rel=1e-10)
        assert model.estimator_weights_[t] == pytest.approx(rate * np.log(1 / beta), rel=1e-9)
        w = w * beta ** ((1 - L) * rate)
        assert model.normalizers_[t] == pytest.approx(w.sum(), rel=1e-9)
        w = w / w.sum()
        np.testing.assert_allclose(model.weights_[t + 1], w, rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(model.edges_, 0.5 - model.errors_)
    np.testing.assert_array_equal(model.estimator_errors_, model.errors_)
    np.testing.assert_allclose(model.estimator_weights_, 2 * model.alphas_)


def test_predictions_are_weighted_medians():
    model = AdaBoostRegressor(n_estimators=20, random_state=0).fit(X, Y)
    said, votes = model.member_predictions(NEW), model.estimator_weights_
    for i, value in enumerate(model.predict(NEW)):
        below, upto = votes[said[:, i] < value].sum(), votes[said[:, i] <= value].sum()
        assert below < votes.sum() / 2 <= upto + 1e-9
    stages = list(model.staged_predict(NEW))
    assert len(stages) == model.n_estimators_ == len(model.estimators_)
    for t in (1, 2, 7, 20):
        np.testing.assert_array_equal(stages[t - 1], combining.weighted_median(said[:t], votes[:t]))
    np.testing.assert_array_equal(stages[-1], model.predict(NEW))
    scores = list(model.staged_score(NEW, NEW_Y))
    assert scores[-1] == pytest.approx(model.score(NEW, NEW_Y))
    for t, member in enumerate(model.estimators_):
        np.testing.assert_allclose(member.predict(NEW), said[t])


@given(
    st.integers(1, 7).flatmap(
        lambda t: st.tuples(
            st.lists(st.lists(st.integers(-3, 3), min_size=t, max_size=t), min_size=1, max_size=5),
            st.lists(st.integers(1, 4), min_size=t, max_size=t),
        )
    )
)
def test_weighted_median_is_the_median_of_copies(case):
    rows, weights = case
    members = np.array(rows, dtype=float).T
    got = combining.weighted_median(members, weights)
    for i, row in enumerate(rows):
        copies = np.sort(np.repeat(row, weights))
        assert got[i] == copies[(len(copies) - 1) // 2]
    running = combining.RunningMedian()
    for member, weight in zip(members, weights, strict=True):
        last = running.add(member, weight)
    np.testing.assert_array_equal(last, got)


def test_rows_in_blocks_have_the_same_predictions():
    model = AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, Y)
    many = np.tile(NEW, (50, 1))  # more than one block
    np.testing.assert_array_equal(model.predict(many), np.tile(model.predict(NEW), 50))
    *_, last = model.staged_predict(many)
    np.testing.assert_array_equal(last, model.predict(many))


# --- members that are too bad ---------------------------------------------------------------------


def bad_script(good):
    """Scripts whose error is 1/2 or more, but for those listed."""
    y = np.array([0.0, 1.0] * 5)
    script = np.stack([1 - y for _ in range(6)])
    for t in good:
        script[t] = np.where(np.arange(10) == t, 1 - y, y)
    return y, script


def test_a_bad_member_stops():
    y, script = bad_script([0, 1, 3])
    model, _ = scripted(AdaBoostRegressor(Scripted(), n_estimators=6), y, script, None)
    assert (model.n_estimators_, model.stop_reason_) == (2, "worse")


def test_a_bad_member_is_skipped():
    y, script = bad_script([0, 1, 3])
    model, _ = scripted(
        AdaBoostRegressor(Scripted(), n_estimators=5, when_worse="skip"), y, script, None
    )
    assert (model.n_estimators_, model.stop_reason_) == (3, "n_estimators")


def test_a_bad_member_is_drawn_again():
    y, script = bad_script([0, 3, 5])
    model, _ = scripted(
        AdaBoostRegressor(Scripted(), n_estimators=3, when_worse="redraw"), y, script, None
    )
    assert (model.n_estimators_, model.stop_reason_) == (3, "n_estimators")


def test_a_bad_member_that_is_the_only_one_predicts_alone():
    y, script = bad_script([])
    with pytest.warns(UserWarning, match="the first member predicts alone"):
        model, rows = scripted(AdaBoostRegressor(Scripted(), n_estimators=6), y, script, None)
    assert (model.n_estimators_, model.stop_reason_) == (1, "worse")
    np.testing.assert_array_equal(model.predict(rows), script[0])


# --- early stopping -------------------------------------------------------------------------------


def test_early_stopping_by_held_out_rows():
    model = AdaBoostRegressor(n_estimators=500, n_iter_no_change=5, random_state=0).fit(X, Y)
    scores = model.validation_scores_
    assert model.stop_reason_ == "no_change"
    assert model.n_estimators_ == len(scores) < 500
    assert scores[-6] == pytest.approx(scores.max(), abs=6e-4)
    assert model.score(NEW, NEW_Y) > 0.6


def test_validation_rows_of_the_users_own():
    weights = np.arange(len(NEW_Y)) % 3.0
    model = AdaBoostRegressor(n_estimators=30, random_state=0).fit(
        X, Y, X_val=NEW, y_val=NEW_Y, sample_weight_val=weights
    )
    same = AdaBoostRegressor(n_estimators=30, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(NEW), same.predict(NEW))  # watched, not used
    np.testing.assert_allclose(
        model.validation_scores_, list(model.staged_score(NEW, NEW_Y, weights))
    )
    assert not hasattr(same, "validation_scores_")
    stopped = clone(model).set_params(n_iter_no_change=3).fit(X, Y, X_val=NEW, y_val=NEW_Y)
    t = stopped.n_estimators_
    np.testing.assert_array_equal(stopped.alphas_, model.alphas_[:t])


@pytest.mark.parametrize("y_val", [[1.0], [2.0, 2.0, 2.0]])
def test_validation_targets_without_spread(y_val):
    model = AdaBoostRegressor(n_estimators=20, n_iter_no_change=3, random_state=0).fit(
        X, Y, X_val=NEW[: len(y_val)], y_val=y_val
    )
    np.testing.assert_array_equal(model.validation_scores_, np.zeros(3 + 1))


# --- members of any kind --------------------------------------------------------------------------


def test_the_engine_grows_what_the_estimator_would():
    """A subclass goes the way of any estimator; both give the same model."""

    class Other(DecisionTreeRegressor):
        pass

    fast, slow = (
        AdaBoostRegressor(kind(max_depth=3), n_estimators=15, resample=False).fit(X, Y)
        for kind in (DecisionTreeRegressor, Other)
    )
    np.testing.assert_allclose(fast.errors_, slow.errors_, rtol=1e-9)
    np.testing.assert_allclose(fast.predict(NEW), slow.predict(NEW), rtol=1e-9)


@pytest.mark.parametrize(
    "member",
    [
        LinearRegression(),
        KNeighborsRegressor(3),  # takes no weights
        PeerTree(max_depth=4),
        ExtraTreeRegressor(max_depth=4),
        DecisionTreeRegressor(max_depth=4, ccp_alpha=0.01),
        DecisionTreeRegressor(max_depth=3, criterion="absolute_error"),
        DecisionTreeRegressor(max_leaf_nodes=6, max_features=2, max_bins=50),
    ],
    ids=str,
)
@pytest.mark.parametrize("resample", [False, True])
def test_members_of_many_kinds(member, resample):
    model = AdaBoostRegressor(member, n_estimators=20, resample=resample, random_state=0)
    score = model.fit(X, Y).score(NEW, NEW_Y)
    alone = clone(member).fit(X, Y).score(NEW, NEW_Y)
    assert score > alone - 0.03
    again = clone(model).fit(X, Y)
    np.testing.assert_array_equal(model.predict(NEW), again.predict(NEW))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(NEW), copy.predict(NEW))
    assert type(model.estimators_[0]) is type(member)


def test_poisson_trees():
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 3]))
    member = DecisionTreeRegressor(criterion="poisson", max_depth=3)
    model = AdaBoostRegressor(member, random_state=0).fit(X, counts)
    assert np.corrcoef(NEW[:, 3], model.predict(NEW))[0, 1] > 0.7
    with pytest.raises(ValueError, match="negative which is not allowed for Poisson"):
        model.fit(X, -counts)
    empty = {"X_val": X[counts == 0], "y_val": np.zeros((counts == 0).sum())}
    assert np.isfinite(model.fit(X, counts, **empty).validation_scores_).all()


def test_categories_missing_values_and_sparse_tables():
    frame = pd.DataFrame({"a": X[:, 3], "b": np.where(X[:, 0] > 0.5, "high", "low")})
    frame.loc[::7, "a"] = np.nan
    y = 5 * X[:, 3] + 4 * (X[:, 0] > 0.5)
    model = AdaBoostRegressor(random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.8
    assert list(model.feature_names_in_) == ["a", "b"]
    rounded = np.round(X) * X
    dense, sparse = (
        AdaBoostRegressor(random_state=0).fit(table, Y) for table in (rounded, csr_matrix(rounded))
    )
    np.testing.assert_array_equal(dense.predict(rounded), sparse.predict(rounded))


def test_threads_and_seeds():
    many = np.tile(X, (40, 1))
    y = np.tile(Y, 40) + np.random.default_rng(0).normal(size=len(many))
    one, two, other = (
        AdaBoostRegressor(n_estimators=4, random_state=seed, n_jobs=jobs).fit(many, y).predict(NEW)
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_verbose_shows_a_bar(capsys):
    AdaBoostRegressor(n_estimators=3, verbose=1, n_iter_no_change=2, random_state=0).fit(X, Y)
    shown = capsys.readouterr().err
    assert "AdaBoostRegressor" in shown
    assert "validation score" in shown


# --- errors ---------------------------------------------------------------------------------------


class Broken(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"loss": "huber"}, "loss must be"),
        ({"learning_rate": 0}, "learning_rate must be"),
        ({"n_estimators": 0}, "n_estimators must be"),
        ({"resample": "yes"}, "resample must be"),
        ({"when_worse": "redraw", "resample": False}, "needs resample=True"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be"),
        ({"validation_fraction": 1.0}, "validation_fraction must be"),
        ({"tol": -1}, "tol must be"),
        ({"estimator": DecisionTreeClassifier()}, "is a classifier: give a regressor"),
        ({"estimator": Broken()}, "predicts something that is not finite"),
    ],
)
def test_bad_parameters(settings, says):
    with pytest.raises(ValueError, match=says) as caught:
        AdaBoostRegressor(**settings).fit(X, Y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((X, np.c_[Y, Y]), "1d array"),
        ((X, Y[:-1]), "rows|samples|shape"),
        ((X, np.where(Y > 20, np.nan, Y)), "NaN|missing"),
        ((X, Y * 1e120), "beyond 1e100"),
        ((X, Y, -np.ones(len(Y))), "negative weight"),
        ((X, Y, np.zeros(len(Y))), "zero in every row"),
    ],
)
def test_bad_data(given, says):
    model = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, Y)
    before = model.predict(NEW)
    with pytest.raises(ValueError, match=says):
        model.fit(*given)
    np.testing.assert_array_equal(model.predict(NEW), before)  # the old model is still whole


def test_bad_validation_rows():
    with pytest.raises(ValueError, match="belong together"):
        AdaBoostRegressor().fit(X, Y, X_val=NEW)
    with pytest.raises(ValueError, match="n_samples=1"):
        AdaBoostRegressor(n_iter_no_change=2).fit(X[:2], Y[:2], [1, 0])
    with pytest.raises(AttributeError, match="cannot be set"):
        AdaBoostRegressor(n_estimators=2).fit(X, Y).estimators_ = []
