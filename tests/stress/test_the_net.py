"""The net itself: damage is noticed, and a run outlives what its cases do to it."""

import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

from stress import run as driver
from stress.cases import draw_case
from stress.checks import check_case
from stress.cuts import check_cuts
from stress.finished import Wrong, check_tree
from stress.lessons import lessons_of
from stress.tables import Table
from weald import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

ARRAYS = [
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "is_categorical",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "value",
    "depth",
    "n_categories",
]


def problem(classes):
    rng = np.random.default_rng(3)
    X = np.round(3 * rng.normal(size=(400, 3)))
    s = X[:, 0] + rng.normal(size=400)
    y = (s > 0).astype(int) if classes else s
    return Table(X, X, [None] * 3, y, "two" if classes else "numbers", None, {})


def lesson(est, classes):
    table = problem(classes)
    [found] = lessons_of(est.fit(table.X, table.y), table)
    tree = SimpleNamespace(**{name: np.array(getattr(found.tree, name)) for name in ARRAYS})
    tree.node_count = found.tree.node_count
    found.__dict__["tree"] = tree
    return found


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize(
    "name", ["value", "impurity", "n_node_samples", "weighted_n_node_samples", "threshold"]
)
def test_a_changed_number_is_noticed(kind, name):
    found = lesson(kind(max_depth=4), kind is DecisionTreeClassifier)
    check_tree(found)
    array = getattr(found.tree, name)
    array[0] = array[0] + 1
    with pytest.raises(Wrong):
        check_tree(found)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_a_poor_split_is_noticed(criterion):
    rng = np.random.default_rng(0)
    for kind in (DecisionTreeClassifier, ExtraTreeClassifier):
        found = lesson(kind(criterion=criterion, random_state=0, max_depth=3), True)
        found.extra["searches all"] = True  # which an extra-tree does not
        row, node, _ = check_tree(found)
        if kind is DecisionTreeClassifier:
            assert check_cuts(found, row, node, rng, 10**6) > 0
        else:
            with pytest.raises(Wrong, match="the split gains"):
                check_cuts(found, row, node, rng, 10**6)


def test_a_leaf_that_could_be_split_is_noticed():
    found = lesson(DecisionTreeClassifier(max_depth=3), True)
    found.rules["max_depth"] = None
    row, node, _ = check_tree(found)
    with pytest.raises(Wrong, match="could have been split"):
        check_cuts(found, row, node, np.random.default_rng(0), 10**6)


def test_a_case_is_the_same_each_time():
    for number in range(30):
        one, two = draw_case(number), draw_case(number)
        assert str(one) == str(two)
        np.testing.assert_array_equal(one.table.numbers, two.table.numbers)
        assert check_case(one) == check_case(two)


def a_strange_run(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 5:
        time.sleep(60)
    return {7: ("wrong", "no"), 8: ("refused", "so")}.get(number, ("fine", ""))


def test_a_run_goes_on_behind_a_case_that_kills_or_hangs():
    report = driver.run(0, 40, workers=2, seconds=2.0, run_case=a_strange_run)
    assert report.cases == 40
    assert sorted(report.findings) == [3, 5, 7]
    assert "exit code -9" in report.findings[3]
    assert "more than 2 s" in report.findings[5]
    assert report.refusals == {"so": 1}
    assert report.failed
    assert "--case 5" in str(report)
