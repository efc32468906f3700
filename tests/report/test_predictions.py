"""The JavaScript of the page predicts what Python predicts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import weald
from report.cases import CASES, Case, new_rows, numbers, table, two
from report.javascript import needs_node, predictions
from weald.input.table import check_X_predict
from weald.members.formula import STEPS, NoFormula
from weald.report.embedded_trees import embed_trees


def said_by_python(model, X):
    """Class numbers or None, and shares or numbers."""
    if hasattr(model, "classes_"):
        chosen = np.searchsorted(model.classes_, model.predict(X))
        return chosen.tolist(), np.asarray(model.predict_proba(X))
    said = np.asarray(model.predict(X))
    return [None] * len(X), said.reshape(len(X), -1)


def check(model, X):
    embedded = embed_trees(model._formula())
    assert embedded is not None
    assert embedded.complete
    n_categories = [0 if labels is None else len(labels) for labels in model.categories_]
    answers = predictions(embedded.data, n_categories, check_X_predict(model, X))
    chosen, said = said_by_python(model, X)
    assert [one["chosen"] for one in answers] == chosen
    np.testing.assert_allclose([one["answer"] for one in answers], said, rtol=1e-12, atol=0)
    return answers


@needs_node
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}, {case.target.__name__}")
def test_the_page_predicts_what_python_predicts(case):
    model, X, _ = case.fitted()
    answers = check(model, pd.concat([new_rows(), X], ignore_index=True))
    assert len({str(one["answer"]) for one in answers}) > 1, "the rows do not tell models apart"


@needs_node
def test_dropped_trees_count_as_in_python():
    X = table()
    model = weald.GradientBoostingRegressor(n_estimators=20, dropout=0.4, random_state=0).fit(
        X, numbers(X)
    )
    assert model._formula().weights is not None
    check(model, new_rows())


@needs_node
def test_only_the_rounds_in_use_count():
    X = table()
    model = weald.GradientBoostingClassifier(n_estimators=300, n_iter_no_change=3, random_state=0)
    model.fit(X, two(X))
    assert model._formula().rounds == model.best_iteration_
    check(model, new_rows())


@needs_node
def test_one_class_and_no_split():
    X = table(40)
    for model in (
        weald.GradientBoostingClassifier(n_estimators=3),
        weald.RandomForestClassifier(3),
    ):
        fitted = model.fit(X, ["only"] * 40)
        embedded = embed_trees(fitted._formula())
        said = predictions(embedded.data, [0, 0, 4, 40, 0], check_X_predict(fitted, X[:2]))
        assert [(one["chosen"], one["answer"]) for one in said] == [(0, [1])] * 2


@needs_node
def test_many_categories_of_every_form_of_set():
    draw = np.random.default_rng(3)
    X = pd.DataFrame({"code": [f"c{k}" for k in draw.integers(0, 900, 3000)]})
    y = X["code"].str[1:].astype(int) % 7 + 0.1 * draw.normal(size=3000)
    model = weald.DecisionTreeRegressor(random_state=0).fit(X, y)
    assert len(model.categories_[0]) > 256
    check(model, X[:400])


def test_why_there_is_no_formula():
    X = table()[["size", "count"]].fillna(0.0)
    y = numbers(table())
    with pytest.raises(NoFormula, match="not trees"):
        weald.BaggingRegressor(LinearRegression(), 3).fit(X, y)._formula()
    with pytest.raises(NoFormula, match="several targets"):
        weald.RandomForestRegressor(3).fit(X, np.c_[y, y])._formula()
    with pytest.raises(NoFormula, match="another model"):
        weald.GradientBoostingRegressor(n_estimators=3, init=LinearRegression()).fit(
            X, y
        )._formula()
    with pytest.raises(NoFormula, match="own"):
        weald.BaggingRegressor(n_estimators=3, combine=lambda said, weights: said[0]).fit(
            X, y
        )._formula()


def test_every_step_that_a_model_names_is_described():
    named = set()
    for case in CASES:
        formula = case.fitted()[0]._formula()
        named |= {step[0] for step in (*formula.to_raw, *formula.to_answer)}
    assert named | {"ones"} == set(STEPS)


def test_trees_that_do_not_fit_are_left_out():
    model, _, _ = Case("", weald.RandomForestClassifier(20, random_state=0), two).fitted()
    all_of_it = embed_trees(model._formula())
    assert (all_of_it.shown, all_of_it.complete) == (20, True)
    some = embed_trees(model._formula(), limit=all_of_it.n_bytes // 2)
    assert 0 < some.shown < 20
    assert not some.complete
    assert some.n_bytes <= all_of_it.n_bytes // 2
    assert embed_trees(model._formula(), limit=100) is None
