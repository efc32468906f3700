"""Importances and dependence, where the truth is known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import weald
from report.cases import numbers, table, three, two
from weald.report.effects import dependence_of, importance_of
from weald.report.honest import honest_predictions
from weald.report.progress_curves import curves_of
from weald.report.proofs import proofs_of
from weald.report.table_rows import read_rows


def linear():
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(300, 3)), columns=["two", "one", "none"])
    return X, 2.0 * X["two"].to_numpy() + X["one"].to_numpy()


def test_importance_on_folds_of_a_line():
    X, y = linear()
    model = LinearRegression().fit(X, y)
    rows = read_rows(model, X, y)
    found = importance_of(model, rows, honest_predictions(model, rows))
    assert found.names == ("two", "one", "none")
    # Shuffling x moves the prediction by 2 (x - x'): the mean square is 4 times 2 var(x).
    assert found.mean[0] == pytest.approx(8 * X["two"].var(), rel=0.15)
    assert found.mean[1] == pytest.approx(2 * X["one"].var(), rel=0.15)
    assert found.mean[2] == pytest.approx(0, abs=1e-12)
    assert 0 < found.std_error[0] < 0.2 * found.mean[0]


def test_importance_out_of_bag_is_that_of_explain():
    X = table()
    y = two(X)
    model = weald.RandomForestClassifier(30, random_state=0).fit(X, y)
    rows = read_rows(model, X, y)
    found = importance_of(model, rows, honest_predictions(model, rows), seed=3)
    asked = model.importance(X, y, "permutation", random_state=3)
    assert [found.names[k] for k in range(2)] == [name for name, _ in asked.ranking()[:2]]
    np.testing.assert_allclose(np.sort(found.mean), np.sort(asked.mean))
    assert "out-of-bag" in found.words


@pytest.mark.parametrize(
    ("cheap", "kind", "words"),
    [(300 * 30, "unbiased", "as the out-of-bag rows see it"), (10, "impurity", "flatters")],
)
def test_large_forests_get_a_cheaper_importance(monkeypatch, cheap, kind, words):
    monkeypatch.setattr("weald.report.effects._CHEAP", cheap)
    X = table()
    y = two(X)
    model = weald.RandomForestClassifier(30, random_state=0).fit(X, y)
    rows = read_rows(model, X, y)
    found = importance_of(model, rows, honest_predictions(model, rows))
    assert words in found.words
    np.testing.assert_allclose(np.sort(found.mean), np.sort(model.importance(X, y, kind).mean))


def test_dependence_of_a_line_is_the_line():
    X, y = linear()
    model = LinearRegression().fit(X, y)
    [two_, none] = dependence_of(model, read_rows(model, X, y), [0, 2])
    slopes = np.diff(two_.mean[:, 0]) / np.diff(two_.values)
    np.testing.assert_allclose(slopes, 2.0)
    assert (two_.low < two_.mean).all()
    assert (two_.mean < two_.high).all()
    np.testing.assert_allclose(np.diff(none.mean[:, 0]), 0, atol=1e-12)


def test_dependence_on_a_column_that_is_mostly_zero():
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"gain": np.where(draw.random(1000) < 0.9, 0.0, draw.exponential(size=1000))})
    model = LinearRegression().fit(X, 3 * X["gain"])
    [found] = dependence_of(model, read_rows(model, X, 3 * X["gain"]), [0])
    assert 10 <= len(found.values) <= 20
    assert (np.diff(found.values) > 0).all()
    np.testing.assert_allclose(found.mean[:, 0], 3 * found.values, atol=1e-12)


def test_dependence_on_categories_and_several_classes():
    X = table()
    y = three(X)
    model = weald.GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    rows = read_rows(model, X, y)
    colour, place, flat = 2, 3, 4
    found = dependence_of(model, rows, [colour, place, flat])
    assert [one.name for one in found] == ["colour", "place"]  # a constant depends on nothing
    assert found[0].labels == ("<b>bold</b>", "blue", "green", "red")
    assert found[0].lines == ("share of 0", "share of 10", "share of 20")
    np.testing.assert_allclose(found[0].mean.sum(axis=1), 1.0)
    assert len(found[1].labels) == 12
    some = X.iloc[rows.some(100, 0)].assign(colour="red")
    np.testing.assert_allclose(found[0].mean[3], model.predict_proba(some).mean(axis=0))


def test_curves_of_the_fit():
    X = table()
    y = numbers(X)
    model = weald.GradientBoostingRegressor(n_estimators=15, random_state=0).fit(X, y)
    honest = honest_predictions(model, read_rows(model, X, y))
    held, noted = curves_of(model, honest)
    assert held.honest
    assert not noted.honest
    np.testing.assert_array_equal(noted.values, model.train_score_)
    last = [
        np.mean((fold.model.predict(fold.rows.table) - fold.rows.y) ** 2) for fold in honest.folds
    ]
    assert held.values[-1] == pytest.approx(np.mean(last))


def test_theory_speaks_where_it_applies():
    X = table()
    boosted = weald.AdaBoostClassifier(n_estimators=10).fit(X, two(X))
    proofs = proofs_of(boosted, read_rows(boosted, X, two(X)))
    assert proofs.certificate.error[-1] <= proofs.certificate.product[-1]
    assert len(proofs.margins.values) == 300
    line = weald.RandomForestRegressor(5).fit(X, numbers(X))
    proofs = proofs_of(line, read_rows(line, X, numbers(X)))
    assert (proofs.certificate, proofs.margins) == (None, None)


def test_too_many_rows_for_a_certificate(monkeypatch):
    monkeypatch.setattr("weald.report.proofs._CELLS", 100)
    monkeypatch.setattr("weald.report.proofs._MARGIN_ROWS", 50)
    X = table()
    model = weald.AdaBoostClassifier(n_estimators=10).fit(X, two(X))
    proofs = proofs_of(model, read_rows(model, X, two(X)))
    assert proofs.certificate is None
    assert f"at most {np.prod(model.normalizers_):.4g}" in proofs.words[0]
    assert "50 of the 300 rows" in proofs.words[1]
