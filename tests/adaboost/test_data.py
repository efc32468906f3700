"""AdaBoostClassifier: tables, labels and weights of all kinds, and members of all kinds."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as PeerTree
from sklearn.tree import DecisionTreeRegressor as PeerRegressor

from gate import some
from weald import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    StagewiseClassifier,
)

ALL = ("samme", "arc-gv", "confidence", "real", "gentle", "logit")
MANY = ("samme", "real")
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
NOISY = X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=300)
y = (NOISY > 0.9).astype(int)


def boosted(algorithm, member=None, **parameters):
    return AdaBoostClassifier(member, algorithm=algorithm, n_estimators=12, **parameters)


# --- tables -------------------------------------------------------------------------------------


def mixed_frame():
    colour = np.where(NOISY > 1.2, "red", np.where(NOISY > 0, "green", "blue"))
    frame = pd.DataFrame({"size": X[:, 0], "colour": colour, "height": X[:, 1]})
    frame["kind"] = pd.Categorical(np.where(X[:, 2] > 0, "a", "b"))
    frame.loc[::7, "size"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame


@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize("resample", [False, True])
def test_strings_categories_and_missing_values(algorithm, resample):
    frame = mixed_frame()
    model = boosted(algorithm, resample=resample, when_worse="skip", random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["size", "colour", "height", "kind"]
    assert model.score(frame, y) > 0.85
    assert model.feature_importances_[1] > 0.2
    new = frame.head(4).copy()
    new["colour"] = ["red", None, "never seen", "blue"]
    assert np.isfinite(model.decision_function(new)).all()
    others = pl.from_pandas(frame)
    np.testing.assert_array_equal(model.predict(others), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"size": "Size"}))
    early = boosted(algorithm, n_iter_no_change=3, random_state=0).fit(frame, y)
    assert len(early.validation_scores_) == early.n_estimators_
    given = boosted(algorithm).fit(frame[:200], y[:200], X_val=frame[200:], y_val=y[200:])
    assert given.validation_scores_[-1] == pytest.approx(given.score(frame[200:], y[200:]))


@pytest.mark.parametrize("algorithm", ALL)
def test_sparse_is_dense(algorithm):
    thin = np.where(np.abs(X) > 0.8, X, 0)
    dense = boosted(algorithm).fit(thin, y)
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        sparse = boosted(algorithm).fit(kind(thin), y)
        np.testing.assert_array_equal(sparse.errors_, dense.errors_)
        np.testing.assert_array_equal(sparse.predict_proba(kind(thin)), dense.predict_proba(thin))


@pytest.mark.parametrize("algorithm", ALL)
def test_constant_columns_and_copies_of_rows(algorithm):
    plain = boosted(algorithm).fit(X, y)
    wide = boosted(algorithm).fit(np.c_[np.full(300, 7.0), X, np.full(300, np.nan)], y)
    np.testing.assert_array_equal(wide.errors_, plain.errors_)
    assert wide.feature_importances_[[0, 5]].tolist() == [0, 0]
    few = np.repeat(X[:6], 50, axis=0)
    copies = boosted(algorithm).fit(few, np.tile([0, 1, 1], 100))
    assert np.isfinite(copies.decision_function(few)).all()


# --- labels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", MANY)
@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_many_classes(algorithm, k):
    target = NOISY.argsort().argsort() * k // 300
    member = DecisionTreeClassifier(max_depth=3)
    model = AdaBoostClassifier(member, n_estimators=40, algorithm=algorithm).fit(X, target)
    assert model.score(X, target) > 0.7
    shares = model.predict_proba(X)
    assert shares.shape == (300, k)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(X))
    assert (model.edges_ > 0).all()


@pytest.mark.parametrize("algorithm", ALL)
def test_the_last_stage_is_the_prediction_bit_for_bit(algorithm):
    """Rows that are all but tied must not change sides."""
    for seed in range(10):
        chance = np.random.default_rng(seed)
        points, labels = chance.integers(0, 3, (60, 2)).astype(float), chance.integers(0, 2, 60)
        model = boosted(algorithm).fit(points, labels)
        *_, last = model.staged_decision_function(points)
        np.testing.assert_array_equal(last, model.decision_function(points))
        *_, last = model.staged_predict(points)
        np.testing.assert_array_equal(last, model.predict(points))


@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array([False, True]),
        np.array([-1, 1]),
        np.array([2.0, 7.0]),
        np.array(["b", "ä"], dtype=object),
    ],
    ids=["text", "bool", "signs", "floats", "objects"],
)
def test_labels_of_any_kind(algorithm, labels):
    plain = boosted(algorithm).fit(X, y)
    model = boosted(algorithm).fit(X, labels[y])
    assert model.predict(X).dtype == labels.dtype
    np.testing.assert_array_equal(model.predict(X), labels[plain.predict(X)])
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    frame = boosted(algorithm).fit(X, pd.Series(labels[y], dtype="category"))
    np.testing.assert_array_equal(frame.predict(X).astype(str), model.predict(X).astype(str))


@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize("n", [1, 5])
def test_one_class(algorithm, n):
    for member in (None, LogisticRegression() if algorithm != "logit" else LinearRegression()):
        model = boosted(algorithm, member, keep_weights=True).fit(X[:n], ["only"] * n)
        assert model.predict(X).tolist() == ["only"] * 300
        assert (model.n_estimators_, model.stop_reason_, len(model)) == (0, "perfect", 0)
        np.testing.assert_array_equal(model.predict_proba(X), np.ones((300, 1)))
        assert model.decision_function(X).shape == (300,)
        assert model.member_predictions(X).shape == (0, 300)
        assert model.weights_.shape == (1, n)
        assert list(model.staged_predict(X)) == []
        assert model.feature_importances_.tolist() == [0] * 4


@pytest.mark.parametrize("algorithm", ALL)
def test_a_row_of_each_class(algorithm):
    model = boosted(algorithm).fit([[0.0], [1.0]], ["a", "b"])
    assert model.predict([[0.0], [1.0], [9.0]]).tolist() == ["a", "b", "b"]
    assert np.isfinite(model.decision_function([[0.0]])).all()


def test_targets_that_are_no_labels():
    with pytest.raises(ValueError, match="Unknown label type"):
        AdaBoostClassifier().fit(X, NOISY)
    with pytest.raises(ValueError, match="missing values"):
        AdaBoostClassifier().fit(X, np.where(y == 1, 1.0, np.nan))
    with pytest.raises(ValueError, match="1d array"):
        AdaBoostClassifier().fit(X, np.c_[y, y])


# --- weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize("resample", [False, True])
def test_extreme_weights(algorithm, resample):
    weights = 10 ** rng.uniform(-12, 12, 300)
    model = boosted(
        algorithm, resample=resample, when_worse="skip", keep_weights=True, random_state=0
    ).fit(X, y, weights)
    for array in (model.alphas_, model.normalizers_, model.weights_, model.decision_function(X)):
        assert np.isfinite(array).all()
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)
    heavy = weights > 0.01 * weights.max()
    assert model.score(X[heavy], y[heavy], weights[heavy]) > 0.6


@pytest.mark.parametrize("algorithm", ALL)
def test_rows_of_no_weight_are_absent(algorithm):
    """Whatever is in them: their values are no thresholds, their categories no categories."""
    keep = rng.random(300) < 0.6
    wild = np.where(keep[:, None], X, 1e6 * X)
    base = rng.uniform(0.5, 1, 300)
    members = [None, LinearRegression() if algorithm == "logit" else GaussianNB()]
    for member in members:
        one = boosted(algorithm, member, keep_weights=True).fit(wild, y, np.where(keep, base, 0))
        two = boosted(algorithm, member).fit(X[keep], y[keep], base[keep])
        np.testing.assert_allclose(one.errors_, two.errors_, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-6)
        assert (one.weights_[:, ~keep] == 0).all()


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (np.zeros(300), "zero in every row"),
        (np.r_[-1, np.ones(299)], "sample_weight contains a negative weight in row 0"),
        (np.r_[np.nan, np.ones(299)], "sample_weight contains NaN .* in row 0"),
        (np.ones(3), r"have shape \(300,\), one weight per row of X, not \(3,\)"),
    ],
)
def test_bad_weights(weights, said):
    with pytest.raises(ValueError, match=said):
        AdaBoostClassifier().fit(X, y, weights)


# --- members ------------------------------------------------------------------------------------


CLASSIFIERS = [
    LogisticRegression(),
    GaussianNB(),
    KNeighborsClassifier(9),
    make_pipeline(StandardScaler(), LogisticRegression()),
    PeerTree(max_depth=2),
    DecisionTreeClassifier(max_depth=3, ccp_alpha=0.01),
    DecisionTreeClassifier(max_depth=2, class_weight="balanced"),
    ExtraTreeClassifier(max_depth=3),
]
REGRESSORS = [
    LinearRegression(),
    PeerRegressor(max_depth=2),
    KNeighborsRegressor(9),
    DecisionTreeRegressor(max_depth=2, ccp_alpha=0.01),
    make_pipeline(StandardScaler(), LinearRegression()),
]
PAIRS = [(a, m) for a in ALL for m in (REGRESSORS if a == "logit" else CLASSIFIERS)]


@pytest.mark.parametrize(
    ("algorithm", "member", "resample"), some([(*p, r) for p in PAIRS for r in (False, True)])
)
def test_any_member(algorithm, member, resample):
    model, again = (
        boosted(algorithm, member, resample=resample, when_worse="skip", random_state=0).fit(X, y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(model.errors_, again.errors_)
    assert model.score(X, y) > 0.6
    assert 1 <= model.n_estimators_ == len(model.estimators_) <= model.n_estimators
    F = np.tensordot(model.alphas_, model.member_predictions(X), 1)
    np.testing.assert_allclose(model.decision_function(X), F, atol=1e-9)
    assert len(list(model.staged_predict_proba(X))) == model.n_estimators_
    assert (1 - model.score(X, y)) <= model.normalizers_.prod() * (1 + 1e-9)


def test_members_without_weights_get_rows_drawn_by_weight():
    model = boosted("samme", KNeighborsClassifier(1), random_state=0).fit(X, y)
    first = model.estimators_[0]
    assert first.n_samples_fit_ == 300
    assert len(np.unique(first._fit_X, axis=0)) == pytest.approx(300 * 0.632, abs=25)
    assert model.errors_[0] > 0  # a row that was not drawn may be wrong


def test_drawn_rows_have_two_classes():
    rare = (np.arange(300) < 2).astype(int)
    member = make_pipeline(StandardScaler(), LogisticRegression())
    for seed in range(5):
        model = boosted("samme", member, random_state=seed, when_worse="skip").fit(X, rare)
        assert model.score(X, rare) > 0.9


class Blunt(ClassifierMixin, BaseEstimator):
    """Says the heavier class, always; has weights and predict, and nothing else."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.said_ = np.bincount(y, sample_weight).argmax()
        self.type_ = type(X)
        return self

    def predict(self, X):
        return np.full(len(X), self.said_)


def test_a_member_gets_the_table_as_it_is_and_codes():
    frame = mixed_frame()
    skewed = np.where(NOISY > 2, "many", "few")
    model = AdaBoostClassifier(Blunt(), n_estimators=9).fit(frame, skewed)
    assert model.estimators_[0].type_ is pd.DataFrame
    assert model.stop_reason_ == "worse"  # under the new weights both classes weigh the same
    assert model.n_estimators_ == 1
    assert set(model.predict(frame)) == {"few"}
    with pytest.raises(AttributeError, match="feature importances"):
        _ = model.feature_importances_
    assert not hasattr(model, "feature_importances_")


def test_members_that_only_predict():
    model = boosted("samme", LinearSVC()).fit(X, y)
    assert model.score(X, y) > 0.6
    with pytest.raises(ValueError, match="predict_proba"):
        boosted("confidence", LinearSVC()).fit(X, y)


def test_logit_with_linear_members_is_logistic_regression():
    """Newton steps for the log loss come to rest at its minimum, whatever is mislabelled."""
    noisy = np.where(rng.random(300) < 0.1, 1 - y, y)
    model = AdaBoostClassifier(LinearRegression(), algorithm="logit", n_estimators=60).fit(X, noisy)
    best = LogisticRegression(C=np.inf, tol=1e-10).fit(X, noisy)
    losses = [log_loss(noisy, one.predict_proba(X)) for one in (model, best)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-3)


@pytest.mark.parametrize("resample", [False, True])
def test_rules_about_weight_are_shares_of_it(resample):
    """A leaf with at least a tenth of the weight, whatever its unit and the number of rows."""
    member = DecisionTreeClassifier(min_weight_fraction_leaf=0.1)
    for weights in (None, np.full(300, 1e-3), np.full(300, 7.0)):
        model = AdaBoostClassifier(member, n_estimators=1, resample=resample, random_state=0)
        tree = model.fit(X, y, weights)[0].tree_
        share = tree.weighted_n_node_samples[tree.is_leaf] / tree.weighted_n_node_samples[0]
        assert 0.1 <= share.min() <= 0.2


class Odd(ClassifierMixin, BaseEstimator):
    """Says what it was told to."""

    def __init__(self, said=None, shares=None):
        self.said = said
        self.shares = shares

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.asarray(self.said)

    def predict_proba(self, X):
        return np.tile(self.shares, (len(X), 1))


@pytest.mark.parametrize("algorithm", ["gentle", "confidence", "real"])
@pytest.mark.parametrize("shares", [[np.nan, np.nan], [-1.0, 2.0], [0.2, 0.3, 0.5]])
def test_members_with_strange_shares(algorithm, shares):
    with pytest.raises(ValueError, match=r"A Odd as member predicts .* shares between 0 and 1"):
        AdaBoostClassifier(Odd(shares=shares), algorithm=algorithm).fit(X, y)


@pytest.mark.parametrize(
    "said", [np.zeros(3), np.full(300, 7), np.full(300, "a"), np.full(300, 0.5)]
)
def test_members_with_strange_labels(said):
    for model in (AdaBoostClassifier(Odd(said)), StagewiseClassifier(Odd(said))):
        with pytest.raises(ValueError, match=r"A Odd as member predicts .*class codes 0 to 1"):
            model.fit(X, y)


def test_the_old_names_of_scikit_learn():
    for old, new in (("SAMME", "samme"), ("SAMME.R", "real")):
        one, two = (AdaBoostClassifier(algorithm=name).fit(X, y) for name in (old, new))
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("given", ["a", 3, DecisionTreeClassifier])
def test_what_is_no_estimator(given):
    with pytest.raises(
        ValueError, match="estimator must be None or an estimator object with fit and predict"
    ):
        AdaBoostClassifier(given).fit(X, y)


@pytest.mark.parametrize("model", [AdaBoostClassifier(), StagewiseClassifier()])
def test_complaints_about_the_validation_set_say_so(model):
    for wrong in (
        {"X_val": X[:20], "y_val": y},
        {"X_val": X, "y_val": y, "sample_weight_val": np.zeros(300)},
        {"X_val": X[:, :1], "y_val": y},
    ):
        with pytest.raises(ValueError, match=r"^X_val, y_val or sample_weight_val: "):
            model.fit(X, y, **wrong)
