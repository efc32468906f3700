"""PAC-Bayes bounds of fitted ensembles."""

from __future__ import annotations

import dataclasses
import tracemalloc
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, VotingClassifier
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import weald
from weald.theory import VoteBounds, pac_bayes
from weald.theory.kl import kl_upper
from weald.theory.view import EnsembleView

X, Y = load_breast_cancer(return_X_y=True)
DIGITS, DIGIT = load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def forest() -> weald.RandomForestClassifier:
    return weald.RandomForestClassifier(50, random_state=0).fit(X[:400], Y[:400])


def test_a_forest_of_scikit_learn_by_hand() -> None:
    model = SklearnForest(30, random_state=0).fit(X, Y)
    result = pac_bayes(model, X, Y)
    wrong = np.array([tree.predict(X).astype(int) != Y for tree in model.estimators_])
    out = np.ones((30, len(Y)), dtype=bool)
    for t, drawn in enumerate(model.estimators_samples_):
        out[t, drawn] = False
    gibbs = np.mean([wrong[t, out[t]].mean() for t in range(30)])
    tandem, n_pair = 0.0, len(Y)
    for s in range(30):
        for t in range(30):
            rows = out[s] & out[t]
            tandem += (wrong[s] & wrong[t])[rows].mean() / 900
            n_pair = min(n_pair, int(rows.sum()))
    n = int(out.sum(axis=1).min())
    assert result.seen.gibbs == pytest.approx(gibbs)
    assert result.seen.tandem == pytest.approx(tandem)
    assert (result.seen.n, result.seen.n_pair) == (n, n_pair)
    assert result.bounds["first_order"] == pytest.approx(
        2 * kl_upper(gibbs, np.log(2 * np.sqrt(n) / 0.05) / n)
    )
    assert result.bounds["tandem"] == pytest.approx(
        4 * kl_upper(tandem, np.log(2 * np.sqrt(n_pair) / 0.05) / n_pair)
    )
    share = np.array([np.mean((wrong[:, i])[out[:, i]]) for i in range(len(Y)) if out[:, i].any()])
    assert result.vote_error == pytest.approx(np.mean(share > 0.5), abs=np.mean(share == 0.5))


def test_the_test_error_is_that_of_the_weighted_vote(forest: Any) -> None:
    weights = np.random.default_rng(0).random(50)
    result = pac_bayes(forest, X[:400], Y[:400], weights=weights, test=(X[400:], Y[400:]))
    trees = forest.member_predictions(X[400:]).argmax(axis=2)
    said = (weights @ (trees == 1)) > weights.sum() / 2
    assert result.test_error == np.mean(said != Y[400:])
    np.testing.assert_allclose(result.weights, weights / weights.sum())


@pytest.mark.parametrize("rows", ["out_of_bag", "held_out"])
@pytest.mark.parametrize("name", ["first_order", "tandem"])
def test_minimised_bounds_are_below_those_of_equal_weights(rows: str, name: str) -> None:
    model = weald.RandomForestClassifier(40, max_depth=8, random_state=1)
    model.fit(DIGITS[:900], DIGIT[:900])
    some = slice(900) if rows == "out_of_bag" else slice(900, None)
    equal = pac_bayes(model, DIGITS[some], DIGIT[some], rows=rows, weights="uniform")
    best = pac_bayes(model, DIGITS[some], DIGIT[some], rows=rows, weights=name)
    assert best.bounds[name] < equal.bounds[name]
    assert best.seen.divergence > 0.0
    assert equal.seen.divergence == 0.0


def test_given_weights_and_their_prior() -> None:
    model = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X[:300], Y[:300])
    held = X[300:], Y[300:]
    plain = pac_bayes(model, *held, rows="held_out")
    np.testing.assert_allclose(
        plain.weights, model.estimator_weights_ / model.estimator_weights_.sum()
    )
    assert plain.seen.divergence > 0.0
    assert plain.vote_error == pytest.approx(np.mean(model.predict(held[0]) != held[1]))
    own = pac_bayes(model, *held, rows="held_out", prior="given")
    assert own.seen.divergence == 0.0
    assert own.bounds["first_order"] < plain.bounds["first_order"]
    array = pac_bayes(model, *held, rows="held_out", prior=plain.weights)
    assert array.bounds == own.bounds


def test_a_vote_fixed_before_is_bounded_as_one_classifier(forest: Any) -> None:
    held = X[400:], Y[400:]
    result = pac_bayes(forest, *held, rows="held_out")
    expected = kl_upper(result.vote_error, np.log(1 / 0.05) / 169)
    assert result.bounds["test_set"] == pytest.approx(expected)
    assert result.best == "test_set"
    for other in (
        pac_bayes(forest, *held, rows="held_out", weights="tandem"),
        pac_bayes(forest, *held, rows="held_out", weights=np.ones(50)),
        pac_bayes(forest, X[:400], Y[:400]),
    ):
        assert "test_set" not in other.bounds


def test_many_classes_have_no_bound_by_disagreement() -> None:
    data, y = load_iris(return_X_y=True)
    result = pac_bayes(weald.RandomForestClassifier(20, random_state=0).fit(data, y), data, y)
    assert "c_disagreement" not in result.bounds
    assert result.n_classes == 3
    assert result.guess_error == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "model",
    [
        weald.BaggingClassifier(n_estimators=20, random_state=0),
        weald.BaggingClassifier(GaussianNB(), n_estimators=20, random_state=0),
        weald.ExtraTreesClassifier(20, bootstrap=True, random_state=0),
        BaggingClassifier(n_estimators=20, random_state=0),
    ],
    ids=["bagging", "bagging of foreign members", "extra-trees", "scikit-learn's bagging"],
)
def test_ensembles_that_draw_rows(model: Any) -> None:
    labels = np.array(["benign", "malignant"])[Y]
    result = pac_bayes(model.fit(X, labels), X, labels)
    assert result.vote_error < result.bound < 1.0
    assert result.rows == "out_of_bag"


def test_ensembles_that_do_not_need_rows_held_out() -> None:
    boosted = weald.AdaBoostClassifier(n_estimators=20, random_state=0).fit(X[:300], Y[:300])
    voting = VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression(max_iter=5000))])
    for model in (boosted, voting.fit(X[:300], Y[:300])):
        assert pac_bayes(model, X[300:], Y[300:], rows="held_out").bound < 0.5
        with pytest.raises(ValueError, match="drew no rows"):
            pac_bayes(model, X[:300], Y[:300])


def test_training_rows_are_not_held_out(forest: Any) -> None:
    with pytest.raises(ValueError, match="These are rows that the RandomForestClassifier was fit"):
        pac_bayes(forest, X[:400], Y[:400], rows="held_out")
    # As many rows that no member saw are welcome.
    fresh = weald.RandomForestClassifier(50, random_state=0).fit(X[:280], Y[:280])
    assert pac_bayes(fresh, X[280:560], Y[280:560], rows="held_out").vote_error < 0.1


BAD = [
    ({"delta": 0}, ValueError, "delta must be between 0 and 1"),
    ({"delta": "small"}, TypeError, "delta must be a number"),
    ({"rows": "training"}, ValueError, "rows must be 'out_of_bag' or 'held_out'"),
    ({"weights": "best"}, ValueError, "weights must be 'given', 'uniform', 'first_order'"),
    ({"weights": [1.0, 2.0]}, ValueError, "weights must hold one number for each of 50 members"),
    ({"weights": ["a"] * 50}, TypeError, "weights must be numbers"),
    ({"weights": -np.ones(50)}, ValueError, "weights must be finite, not negative"),
    ({"weights": np.full(50, np.nan)}, ValueError, "weights must be finite"),
    ({"weights": np.zeros(50)}, ValueError, "not all zero"),
    ({"prior": "flat"}, ValueError, "prior must be 'uniform', 'given' or an array"),
    ({"prior": np.arange(50)}, ValueError, "prior of member 0 is 0"),
    ({"test": X}, ValueError, "test must be a pair"),
]


@pytest.mark.parametrize(("bad", "kind", "message"), BAD)
def test_bad_settings(forest: Any, bad: dict[str, Any], kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        pac_bayes(forest, X[:400], Y[:400], **bad)


def test_bad_models_and_rows(forest: Any) -> None:
    with pytest.raises(ValueError, match="need the 400 rows that this RandomForestClassifier"):
        pac_bayes(forest, X, Y)
    few = weald.RandomForestClassifier(50, random_state=0).fit(X[:8], [0, 1] * 4)
    with pytest.raises(ValueError, match="member 25 has no row that it did not see"):
        pac_bayes(few, X[:8], [0, 1] * 4)
    boosted = weald.GradientBoostingClassifier(n_estimators=5).fit(X, Y)
    with pytest.raises(TypeError, match="terms of a sum and do not vote"):
        pac_bayes(boosted, X, Y, rows="held_out")
    table, target = load_diabetes(return_X_y=True)
    with pytest.raises(TypeError, match="pac_bayes is for classifiers"):
        pac_bayes(weald.RandomForestRegressor(5).fit(table, target), table, target)
    weighted = weald.BaggingClassifier(n_estimators=20, weighting="oob", random_state=0)
    with pytest.raises(ValueError, match="prior='given' needs weights that do not depend"):
        pac_bayes(weighted.fit(X, Y), X, Y, prior="given")


def test_the_result_reads_and_draws(forest: Any) -> None:
    result = pac_bayes(forest, X[:400], Y[:400], weights="tandem", test=(X[400:], Y[400:]))
    text = str(result)
    assert text == result.summary()
    for part in (f"at most {result.bound:.1%}", "Out of bag", "On the test rows", "nats"):
        assert part in text
    frame = result.to_frame()
    assert frame["bound"].tolist() == list(result.bounds)
    assert frame["value"].tolist() == list(result.bounds.values())
    ax = result.plot()
    assert [label.get_text() for label in ax.get_yticklabels()][3] == "vote, first order: 2 x Gibbs"
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.delta = 0.1  # type: ignore[misc]


def test_a_bound_that_says_nothing_says_so() -> None:
    few = slice(0, 120, 2)
    model = weald.RandomForestClassifier(10, random_state=0).fit(DIGITS[few], DIGIT[few])
    result = pac_bayes(model, DIGITS[few], DIGIT[few])
    assert result.bound == 1.0
    assert "The bounds say nothing here" in result.summary()
    model = weald.RandomForestClassifier(60, max_depth=1, random_state=0)
    imbalanced = np.where(DIGIT == 3, 1, 0)
    result = pac_bayes(model.fit(DIGITS, imbalanced), DIGITS, imbalanced)
    assert "promises no more than naming the most frequent class" in result.summary()


def test_a_hundred_thousand_rows_of_a_hundred_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything but the members' own predictions: seconds, and far below a gigabyte."""
    rng = np.random.default_rng(0)
    n, T = 100_000, 100
    y = rng.integers(2, size=n)
    votes = (y ^ (rng.random((T, n)) < 0.2)).astype(np.int8)
    bags = rng.poisson(1.0, size=(T, n)).astype(np.uint32)
    view = EnsembleView("Forest", np.arange(2), np.ones(T), "votes", bags=lambda: bags)
    monkeypatch.setattr(EnsembleView, "votes", lambda self, X: votes)
    monkeypatch.setattr("weald.theory.task.read_ensemble", lambda model: view)
    tracemalloc.start()
    start = perf_counter()
    result: VoteBounds = pac_bayes(None, np.empty((n, 0)), y, weights="tandem")
    seconds, peak = perf_counter() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.seen.gibbs == pytest.approx(0.2, abs=0.001)
    assert result.seen.tandem == pytest.approx(0.04 + 0.16 / T, abs=0.001)
    assert seconds < 10
    assert peak < 0.3e9
