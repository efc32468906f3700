"""What is said about the data, against tables whose faults are known."""

import warnings

import numpy as np
import pandas as pd
import pytest

import weald
from weald.report.overview import data_facts, single_column_skill
from weald.report.table_rows import read_rows


def rows_of(X, y):
    model = weald.DecisionTreeClassifier if isinstance(y[0], str) else weald.DecisionTreeRegressor
    return read_rows(model(max_depth=1).fit(X, y), X, y)


def plain(n=400, seed=0):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame({"a": draw.normal(size=n), "b": draw.choice(["x", "y", "z"], n)})
    return X, np.where(draw.random(n) < 0.4, "yes", "no")


def warnings_of(X, y):
    return "\n".join(data_facts(rows_of(X, y)).warnings)


def test_nothing_is_wrong_with_plain_data():
    assert warnings_of(*plain()) == ""


@pytest.mark.parametrize(
    ("column", "warned"),
    [
        (lambda X, y: (y == "yes") * 2.0, "Likely leak: column 'new' alone"),
        (lambda X, y: np.where(y == "yes", "in", "out"), "Likely leak: column 'new' alone"),
        (lambda X, y: np.where(y == "yes", np.nan, 1.0), "Likely leak: column 'new' alone"),
        (lambda X, y: np.full(len(y), 3), "Column 'new' is constant"),
        (lambda X, y: np.full(len(y), np.nan), "Column 'new' has no values at all"),
        (lambda X, y: X["a"], "Column 'new' holds the same as 'a'"),
        (lambda X, y: X["b"].str.upper(), "Column 'new' holds the same as 'b'"),
        (lambda X, y: np.arange(len(y)), "Column 'new' looks like an id: it numbers the"),
        (
            lambda X, y: [f"name {k}" for k in range(len(y))],
            "in nearly every row (400 in 400",
        ),
        (lambda X, y: np.where(np.arange(len(y)) % 5 > 0, np.nan, X["a"] ** 2), "in 80% of the"),
    ],
)
def test_a_faulty_column_is_named(column, warned):
    X, y = plain()
    X["new"] = column(X, y)
    found = data_facts(rows_of(X, y)).warnings
    assert [one for one in found if warned in one], found
    assert all("'new'" in one for one in found)


def test_looking_at_columns_warns_of_nothing():
    X, y = plain()
    X["new"] = [f"name {k}" for k in range(len(y))]
    with pytest.warns(UserWarning, match="Column 'new' has a different category"):
        rows = rows_of(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data_facts(rows)


def test_a_number_of_its_own_for_every_row_is_no_id():
    X, y = plain()
    X["population"] = np.random.default_rng(1).permutation(400) * 1000 + 17
    X["year"] = np.arange(400) + 1600
    assert warnings_of(X, y) == ""
    X["order no"] = X["year"]
    assert "'order no' looks like an id: every row has its own value" in warnings_of(X, y)


def test_imbalance_rare_classes_and_repeated_rows():
    X, y = plain()
    y[:] = "no"
    y[:18] = "yes"
    assert "Imbalance: class 'yes' has 4.5% of the rows" in warnings_of(X, y)
    y[5:] = "no"
    assert "Class 'yes' has only 5 rows" in warnings_of(X, y)
    X, y = plain()
    twice = pd.concat([X, X[:100]], ignore_index=True), np.concatenate([y, y[:100]])
    assert "20.0% of the rows repeat another row" in warnings_of(*twice)


def test_one_row_is_one_row():
    X, y = plain()
    y[:] = "no"
    y[0] = "yes"
    assert "Class 'yes' has only one row." in warnings_of(X, y)


@pytest.mark.parametrize("value", ["same", 3.25])
def test_a_constant_target(value):
    X, _ = plain()
    facts = data_facts(rows_of(X, np.full(len(X), value)))
    assert [one for one in facts.warnings if "The target is the same in all rows" in one]
    assert "1 classes" not in facts.target


def test_ordered_categories_are_told_with_their_numbers():
    X, y = plain()
    sizes = pd.Categorical(["S", "M", "M", "L"] * 100, categories=["S", "M", "L"], ordered=True)
    column = data_facts(rows_of(X.assign(new=sizes), y)).columns[2]
    assert column.kind == "ordered category"
    assert column.summary == "0: S (25%), 1: M (50%), 2: L (25%)"
    assert column.distinct == 3
    assert column.bars.tolist() == [100, 200, 100]


def test_facts_of_columns_by_hand():
    X = pd.DataFrame(
        {"n": [1.0, 2.0, 2.0, np.nan, 5.0], "c": ["u", "v", "u", "u", None], "k": [0, 1, 0, 1, 0]}
    )
    facts = data_facts(rows_of(X, [1.0, 2.0, 3.0, 4.0, 9.0]))
    n, c, k = facts.columns
    assert (n.kind, n.missing, n.distinct) == ("number", pytest.approx(0.2), 3)
    assert n.summary == "1 to 5, median 2"
    assert n.bars.tolist() == [1, 2, 1]
    assert (c.kind, c.distinct, c.summary) == ("category", 2, "u (60%), v (20%)")
    assert c.bars.tolist() == [3, 1]
    assert k.distinct == 2
    assert facts.target == "A number from 1 to 9, median 3."


def test_skill_of_a_column_alone():
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"good": draw.normal(size=2000), "bad": draw.normal(size=2000)})
    y = np.sign(X["good"].to_numpy()) + 0.01 * draw.normal(size=2000)
    rows = rows_of(X, y)
    assert single_column_skill(rows, 0) > 0.99
    assert single_column_skill(rows, 1) < 0.1


def test_histogram_of_numbers_at_the_ends_of_the_range():
    X = pd.DataFrame({"huge": np.linspace(-1, 1, 60) * 1.7e308})
    bars = data_facts(rows_of(X, np.arange(60.0))).columns[0].bars
    assert bars.sum() == 60
    assert bars.max() == 5
