"""Importance on all kinds of tables and members, its result, and what cannot be."""

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from explain.importance_cases import fitted, problem
from weald import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.explain import Importance, column_importance

# --- all kinds of tables and members ----------------------------------------------------------


def test_labels_and_categories_as_they_are():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    table = pd.DataFrame({"colour": colour, "noise": rng.normal(size=300)})
    table.loc[::9, "noise"] = np.nan
    y = np.where((colour == "red") ^ (rng.random(300) < 0.1), "yes", "no")
    forest = RandomForestClassifier(30, random_state=0).fit(table, y)
    for kind in ("impurity", "unbiased", "permutation"):
        found = column_importance(forest, table, list(y), kind, random_state=0)
        assert found.ranking()[0][0] == "colour"
        polar = column_importance(forest, pl.from_pandas(table), y, kind, random_state=0)
        np.testing.assert_array_equal(found.per_member, polar.per_member)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame, sp.csr_array])
def test_members_of_any_kind(container):
    X, y = problem()
    table = container(X)
    linear = BaggingRegressor(LinearRegression(), n_estimators=10, random_state=0)
    linear.fit(table, X @ [3, 1, 0, 0, 0])
    found = column_importance(linear, table, X @ [3, 1, 0, 0, 0], "permutation", random_state=0)
    # Shuffling a column of a linear model doubles what its variance adds.
    np.testing.assert_allclose(
        found.mean, [18 * X[:, 0].var(), 2 * X[:, 1].var(), 0, 0, 0], rtol=0.2, atol=1e-9
    )
    with pytest.raises(ValueError, match=r"kind='unbiased' reads the nodes of trees.*permutation"):
        column_importance(linear, table, y, "unbiased")
    with pytest.raises(ValueError, match=r"kind='impurity' reads the nodes of trees.*permutation"):
        column_importance(linear)


@pytest.mark.parametrize("member", [GaussianNB(), KNeighborsClassifier()], ids=str)
def test_classifiers_of_any_kind(member):
    X, y = problem(classes=3)
    labels = np.array(["low", "mid", "top"])[y]
    bag = BaggingClassifier(member, n_estimators=20, max_features=0.6, random_state=0)
    bag.fit(X, labels)
    found = column_importance(bag, X, labels, "permutation", random_state=0)
    assert found.mean[0] > 0.05
    assert (np.abs(found.mean[2:]) < 0.3 * found.mean[0]).all()
    unused = [[j not in columns for j in range(5)] for columns in bag.estimators_features_]
    assert (found.per_member[np.array(unused)] == 0).all()


def test_a_forest_from_a_file_knows_it_too():
    model, X, y = fitted("regression")
    back = pickle.loads(pickle.dumps(model))
    for kind in ("impurity", "unbiased", "permutation"):
        one, two = (column_importance(m, X, y, kind, random_state=0) for m in (model, back))
        np.testing.assert_array_equal(one.per_member, two.per_member)


def test_members_that_drew_every_row_do_not_count():
    X, y = problem(4)
    forest = RandomForestRegressor(60, random_state=0).fit(X, y)
    for kind in ("unbiased", "permutation"):
        found = column_importance(forest, X, y, kind)
        whole = (forest.in_bag_ > 0).all(axis=1)
        assert 0 < whole.sum() < 60
        np.testing.assert_array_equal(np.isnan(found.per_member).all(axis=1), whole)
        np.testing.assert_array_equal(found.mean, found.per_member[~whole].mean(axis=0))


def test_threads_and_repetition_change_nothing():
    X, y = problem(classes=3)
    results = [
        column_importance(
            RandomForestClassifier(10, random_state=0, n_jobs=n_jobs).fit(X, y),
            X,
            y,
            kind,
            random_state=5,
        ).per_member
        for kind in ("unbiased", "permutation")
        for n_jobs in (1, 2, 3, 1)
    ]
    for same in (results[:4], results[4:]):
        for other in same[1:]:
            np.testing.assert_array_equal(same[0], other)


def test_an_unused_column_gets_exactly_nothing():
    X, y = problem()
    X[:, 3] = 1.0
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    for kind in ("impurity", "unbiased", "permutation"):
        assert (column_importance(forest, X, y, kind).per_member[:, 3] == 0).all()


# --- the result -------------------------------------------------------------------------------


def small():
    per_member = np.array([[0.0, 3.0, 1.0], [0.2, 5.0, 1.0], [-0.2, 4.0, 1.0]])
    return Importance("permutation", ("a", "b", "c"), per_member)


def test_the_result_by_hand():
    found = small()
    np.testing.assert_allclose(found.mean, [0, 4, 1], atol=1e-15)
    np.testing.assert_allclose(found.std_error, [0.2 / np.sqrt(3), 1 / np.sqrt(3), 0])
    assert [name for name, _ in found.ranking()] == ["b", "c", "a"]
    frame = found.as_frame()
    assert frame.index.tolist() == ["b", "c", "a"]
    assert frame.loc["b", "mean"] == 4
    with pytest.raises(AttributeError):
        found.kind = "impurity"
    one = Importance("impurity", ("a",), np.array([[1.0]]))
    assert np.isnan(one.std_error).all()


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"as_frame needs pandas; .*weald\[pandas\]"):
        small().as_frame()


def test_the_reading():
    assert str(small()) == small().reading
    assert "Most important: b (4 ± 0.6), c (1 ± 0), a " in small().reading
    assert "1 of 3 are not clearly above 0" in small().reading
    alone = Importance("unbiased", ("a",), np.array([[1.0]])).reading
    assert alone.endswith("Most important: a (1).")
    impurity = Importance("impurity", ("a", "b"), np.array([[1.0, 2.0], [1.0, 3.0]])).reading
    assert "flatters columns of many values" in impurity
    assert "clearly above" not in impurity
    assert "clearly above" in Importance("unbiased", ("a",), np.ones((2, 1))).reading


def test_the_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = small().plot(top=2)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["c", "b"]
    assert [bar.get_width() for bar in ax.patches] == [1, 4]
    assert small().plot(ax) is ax
    matplotlib.pyplot.close(ax.figure)


# --- what cannot be ---------------------------------------------------------------------------


def test_clear_refusals():
    X, y = problem()
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="kind must be 'impurity', 'unbiased' or 'permutation'"):
        column_importance(forest, X, y, "gain")
    with pytest.raises(ValueError, match="pass the training X and y"):
        column_importance(forest, X, kind="permutation")
    with pytest.raises(ValueError, match="there were 200 rows, X has 50"):
        column_importance(forest, X[:50], y[:50], "permutation", out_of_bag=True)
    with pytest.raises(ValueError, match="y has 2 outputs, but the model was fitted with 1"):
        column_importance(forest, X, np.c_[y, y], "unbiased")
    with pytest.raises(ValueError, match="n_repeats must be a whole number"):
        column_importance(forest, X, y, "permutation", n_repeats=0)
    with pytest.raises(ValueError, match=r"groups names 'a', but X has no such .*'feature_0'"):
        column_importance(forest, groups=[["a"]])
    with pytest.raises(ValueError, match="groups has the index 5, but the columns are 0 to 4"):
        column_importance(forest, groups=[[0, 5]])
    for wrong in ([0, 1], {"a": "feature_0"}, [[]]):
        with pytest.raises(ValueError, match="groups must be a list of lists of columns"):
            column_importance(forest, groups=wrong)
    for twice in ({"feature_4": [0, 1]}, [[0, 1], [0, 1]]):
        with pytest.raises(ValueError, match="more than one thing: choose a name"):
            column_importance(forest, groups=twice)
    whole = ExtraTreesRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"every member saw all rows: refit with bootstrap=True"):
        column_importance(whole, X, y, "unbiased")
    drawn = RandomForestRegressor(1, max_samples=100, random_state=0).fit(X[:3], y[:3])
    with pytest.raises(ValueError, match="every member drew all of them: use more"):
        column_importance(drawn, X[:3], y[:3], "permutation")
    labels = RandomForestClassifier(5, random_state=0).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"y holds the label 2, which was not there in fit"):
        column_importance(labels, X, (y > 0) + 1, "permutation")
