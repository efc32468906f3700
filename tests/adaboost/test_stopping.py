"""AdaBoostClassifier: when it stops, and what it does with members that do not help."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from weald import AdaBoostClassifier, DecisionTreeClassifier

ALL = ("samme", "arc-gv", "confidence", "real", "gentle", "logit")
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
NOISY = X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=300)
y = (NOISY > 0.9).astype(int)
EASY = (X[:, 2] > 0.1).astype(int)


def fitted(**parameters):
    return AdaBoostClassifier(**parameters).fit(X, y)


# --- when it stops ------------------------------------------------------------------------------


class Late(ClassifierMixin, BaseEstimator):
    """Knows all about EASY, but is wrong about some rows as long as the weights are equal."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.early_ = np.ptp(sample_weight) < 1e-12
        return self

    def predict(self, X):
        return ((X[:, 2] > 0.1) ^ (self.early_ & (X[:, 3] > 0.5))).astype(int)

    def predict_proba(self, X):
        return np.eye(2)[self.predict(X)]


@pytest.mark.parametrize("algorithm", ["samme", "confidence"])
@pytest.mark.parametrize("rate", [0.01, 1.0, 50.0])
def test_a_perfect_member_ends_it(algorithm, rate):
    settings = {"algorithm": algorithm, "learning_rate": rate}
    model = AdaBoostClassifier(**settings).fit(X, EASY)
    late = AdaBoostClassifier(Late(), **settings).fit(X, EASY)
    assert (model.n_estimators_, late.n_estimators_) == (1, 2)
    for each in (model, late):
        assert (each.stop_reason_, each.errors_[-1]) == ("perfect", 0)
        assert each.alphas_[-1] == max(2 * rate, *each.alphas_[:-1], 0)
        assert each.normalizers_[-1] == pytest.approx(np.exp(-each.alphas_[-1]))
        assert np.isfinite(each.predict_log_proba(X)).all()
        assert each.score(X, EASY) == 1


@pytest.mark.parametrize("algorithm", ["real", "gentle", "logit"])
def test_separable_data_stays_finite(algorithm):
    model = AdaBoostClassifier(algorithm=algorithm, n_estimators=200, keep_weights=True)
    model.fit(X, EASY)
    assert model.score(X, EASY) == 1
    for array in (model.alphas_, model.weights_, model.decision_function(X)):
        assert np.isfinite(array).all()


def test_no_member_better_than_chance():
    flat = np.zeros((6, 2))
    even = [0, 1, 0, 1, 0, 1]
    for when_worse in ("stop", "skip"):
        with pytest.warns(UserWarning, match="is better than chance"):
            model = AdaBoostClassifier(when_worse=when_worse).fit(flat, even)
        assert (model.stop_reason_, model.alphas_.tolist()) == ("worse", [0.0])
        np.testing.assert_array_equal(model.predict_proba(flat), 0.5)
        assert model.normalizers_.tolist() == [1.0]
        assert model.feature_importances_.tolist() == [0.0, 0.0]


def test_min_edge():
    model = fitted(n_estimators=300, min_edge=0.08)
    assert model.stop_reason_ == "edge"
    assert (model.edges_ > 0.08).all()
    whole = fitted(n_estimators=300)
    assert whole.edges_[model.n_estimators_] <= 0.08
    np.testing.assert_array_equal(whole.edges_[: model.n_estimators_], model.edges_)
    with pytest.warns(UserWarning, match="better than chance by min_edge=0.5"):
        assert fitted(min_edge=0.5).stop_reason_ == "edge"


def test_when_worse():
    """Drawn rows mislead a member now and then; what happens then is the user's choice."""
    settings = {"resample": True, "n_estimators": 200, "random_state": 1}
    stopped = fitted(when_worse="stop", **settings)
    assert stopped.stop_reason_ == "worse"
    skipped = fitted(when_worse="skip", **settings)
    redrawn = fitted(when_worse="redraw", **settings)
    assert stopped.n_estimators_ < skipped.n_estimators_ < redrawn.n_estimators_
    assert (skipped.stop_reason_, redrawn.stop_reason_) == ("n_estimators", "n_estimators")
    for model in (stopped, skipped, redrawn):
        assert (model.edges_ > 0).all()
        assert (model.alphas_ > 0).all()
        same = stopped.n_estimators_
        np.testing.assert_array_equal(model.errors_[:same], stopped.errors_)
    assert redrawn.score(X, y) > 0.9


def test_skipping_leaves_the_reason_alone():
    """The last round may be one of those left out."""
    reasons = {
        fitted(resample=True, when_worse="skip", n_estimators=n, random_state=1).stop_reason_
        for n in range(30, 80)
    }
    assert reasons == {"n_estimators"}


def test_resampling_draws_by_weight_with_the_seed():
    one, two, other = (
        fitted(resample=True, when_worse="skip", random_state=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.errors_, two.errors_)
    assert not np.array_equal(one.errors_[:5], other.errors_[:5])
    heavy = np.where(np.arange(300) < 10, 1e9, 1e-9)  # only these will be drawn
    tree = DecisionTreeClassifier(max_depth=6)
    model = AdaBoostClassifier(tree, n_estimators=1, resample=True, random_state=0)
    assert model.fit(X, y, heavy).score(X[:10], y[:10]) == 1


# --- early stopping -----------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALL)
def test_early_stopping(algorithm):
    settings = {"algorithm": algorithm, "n_estimators": 500, "random_state": 0}
    model = fitted(n_iter_no_change=5, validation_fraction=0.3, keep_weights=True, **settings)
    scores = model.validation_scores_
    assert model.stop_reason_ == "no_change"
    assert len(scores) == model.n_estimators_ < 500
    assert scores[:-5].max() + 1e-4 >= scores[-5:].max()
    assert model.weights_.shape == (model.n_estimators_ + 1, 210)
    given = AdaBoostClassifier(n_iter_no_change=5, **settings).fit(
        X[:200], y[:200], X_val=X[200:], y_val=y[200:], sample_weight_val=np.arange(1, 101)
    )
    last = given.score(X[200:], y[200:], np.arange(1, 101))
    assert given.validation_scores_[-1] == pytest.approx(last)
    watched = AdaBoostClassifier(algorithm=algorithm, n_estimators=7).fit(
        X[:200], y[:200], X_val=X[200:], y_val=y[200:]
    )
    np.testing.assert_allclose(
        watched.validation_scores_, list(watched.staged_score(X[200:], y[200:]))
    )
    assert watched.stop_reason_ == "n_estimators"


def test_a_score_for_every_round_however_it_ends():
    perfect = AdaBoostClassifier(n_iter_no_change=5, random_state=0).fit(X, EASY)
    assert (perfect.stop_reason_, len(perfect.validation_scores_)) == ("perfect", 1)
    again = perfect.set_params(n_iter_no_change=None).fit(X, EASY)
    assert not hasattr(again, "validation_scores_")


@pytest.mark.parametrize("seed", range(20))
def test_a_row_of_every_class_stays_for_training(seed):
    labels = np.zeros(12, dtype=int)
    labels[:3] = 1, 2, 3
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=4), n_iter_no_change=3, random_state=seed
    ).fit(X[:12], labels)
    assert set(model.predict(X[:12])) == {0, 1, 2, 3}
    with pytest.raises(ValueError, match="only 1 row of each class"):
        model.fit(X[:3], [0, 1, 2])


def test_rows_of_no_weight_are_not_held_out():
    weights = np.where(np.arange(300) < 30, 1.0, 0.0)
    model = AdaBoostClassifier(
        n_iter_no_change=3, validation_fraction=0.02, keep_weights=True, random_state=0
    ).fit(X, y, weights)
    assert np.isfinite(model.validation_scores_).all()
    assert model.weights_.shape[1] == 29


def test_skipping_needs_something_that_changes():
    """The same weights give the same tree: there is nothing to go on for."""
    flat, even = np.zeros((6, 2)), [0, 1, 0, 1, 0, 1]
    with pytest.warns(UserWarning, match="is better than chance"):
        model = AdaBoostClassifier(when_worse="skip", n_estimators=10**6).fit(flat, even)
    assert model.stop_reason_ == "worse"


def test_the_bounds_hold_for_a_lone_member_without_a_vote():
    with pytest.warns(UserWarning, match="better than chance by min_edge"):
        model = AdaBoostClassifier(min_edge=0.499).fit(X, y)
    assert (model.alphas_.tolist(), model.edges_.tolist()) == ([0.0], [0.0])
    assert model.normalizers_.prod() <= np.exp(-2 * (model.edges_**2).sum())
