"""Quality is judged on predictions of rows that were not seen."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import weald
from report.cases import numbers, table, three, two
from weald.report import honest
from weald.report.honest import honest_predictions, saw_these_rows
from weald.report.table_rows import read_rows


def asked(model, X, y, **settings):
    return honest_predictions(model, read_rows(model, X, y), **settings)


@pytest.mark.parametrize(
    "model",
    [
        weald.RandomForestClassifier(40, oob_score=True, random_state=0),
        weald.BaggingClassifier(n_estimators=40, oob_score=True, random_state=0),
        weald.BaggingClassifier(n_estimators=40, oob_score=True, voting="hard", random_state=0),
        weald.ExtraTreesClassifier(40, bootstrap=True, oob_score=True, random_state=0),
    ],
    ids=["forest", "bagging", "votes", "extra-trees"],
)
def test_out_of_bag_predictions_are_those_of_the_fit(model):
    X = table()
    y = three(X)
    found = asked(model.fit(X, y), X, y)
    assert found.source == "out-of-bag"
    np.testing.assert_allclose(found.answer, model.oob_decision_function_, rtol=1e-12)
    assert (model.classes_[found.chosen] == y).mean() == pytest.approx(model.oob_score_)
    np.testing.assert_array_equal(found.error_curve, model.oob_error_curve_)


def test_out_of_bag_numbers():
    X = table()
    y = numbers(X)
    model = weald.RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(asked(model, X, y).answer, model.oob_prediction_, rtol=1e-12)


def test_members_of_any_kind_are_asked_out_of_bag():
    X = table()[["count"]]
    y = two(table())
    model = weald.BaggingClassifier(GaussianNB(), 30, oob_score=True, random_state=0).fit(X, y)
    found = asked(model, X, y)
    assert found.source == "out-of-bag"
    np.testing.assert_allclose(found.answer, model.oob_decision_function_, rtol=1e-12)


def test_other_rows_than_those_of_the_fit_are_noticed():
    X = table()
    y = two(X)
    model = weald.RandomForestClassifier(10, random_state=0).fit(X, y)
    assert saw_these_rows(model, read_rows(model, X, y))
    turned = X[::-1].reset_index(drop=True)
    assert not saw_these_rows(model, read_rows(model, turned, y[::-1]))
    assert not saw_these_rows(model, read_rows(model, X[:200], y[:200]))
    assert asked(model, turned, y[::-1]).source == "cross-validation"


@pytest.mark.parametrize(
    "model",
    [weald.DecisionTreeClassifier(random_state=0), weald.GradientBoostingClassifier()],
    ids=["tree", "boosting"],
)
def test_noise_is_not_predicted(model):
    X = table(400)
    y = np.random.default_rng(5).choice(["a", "b"], 400)
    model.fit(X, y)
    assert model.score(X, y) > 0.8, "the model has learned its rows by heart"
    found = asked(model, X, y)
    assert found.source == "cross-validation"
    assert 0.4 < (found.chosen == found.y).mean() < 0.6


def test_each_row_is_predicted_once_by_a_copy_that_did_not_see_it():
    X = table(100)
    y = numbers(X)
    found = asked(weald.DecisionTreeRegressor(random_state=0).fit(X, y), X, y)
    assert len(found.folds) == 5
    assert sorted(found.y) == sorted(y)
    for fold in found.folds:
        assert len(fold.rows) == 20


def test_cost_is_bounded_by_rows_and_time(monkeypatch):
    monkeypatch.setattr(honest, "ROWS", 120)
    X = table()
    y = two(X)
    model = weald.DecisionTreeClassifier(max_depth=2).fit(X, y)
    found = asked(model, X, y)
    assert len(found.y) == 120
    assert "120 rows of a random part of the 300 rows" in found.words
    monkeypatch.setattr(honest, "SECONDS", 0.0)
    found = asked(model, X, y)
    assert len(found.y) == 24
    assert "5 folds, 1 of them for want of time" in found.words


def test_a_class_that_a_fold_does_not_have():
    X = table(60)
    y = np.array(["a", "b"] * 30, dtype=object)
    y[7] = "rare"
    found = asked(weald.DecisionTreeClassifier(max_depth=2).fit(X, y), X, y)
    assert found.answer.shape == (60, 3)
    np.testing.assert_allclose(found.answer.sum(axis=1), 1.0)


def test_of_several_quantiles_the_middle_one_is_judged():
    X = table()
    y = numbers(X)
    model = weald.GradientBoostingRegressor(
        n_estimators=20, loss="quantile", alpha=[0.9, 0.5, 0.1], random_state=0
    ).fit(X, y)
    found = asked(model, X, y)
    assert 0.3 < (found.y < found.answer).mean() < 0.7
