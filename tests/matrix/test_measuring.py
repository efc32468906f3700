import math
from dataclasses import replace

import numpy as np
import pytest

from bench.data import FEW_COLUMNS, Data
from bench.matrix import measure as measuring
from bench.matrix.cells import CELLS, Cell, draw
from bench.matrix.measure import judge, measure, memory, turns, with_memory
from bench.task import OURS, Contender, Settings, unjudged

from .small import small

QUICK = Settings(quick=True, repeats=1)
BY_NAME = {cell.name: cell for cell in CELLS}


def contender(library, run=lambda data, state: None):
    return Contender(library, run)


def data_of(y):
    y = np.asarray(y)
    return Data(np.zeros((len(y), 1)), y, np.zeros((len(y), 1)), y)


@pytest.mark.parametrize(
    "name",
    [
        "forest, 20 classes, sparse",
        "extra-trees, 5 outputs, tall",
        "tree, regression, 1,000 levels",
        "AdaBoost, 2 classes, weights",
    ],
)
def test_a_cell_is_fitted_predicted_and_judged(name, monkeypatch):
    cell = small(BY_NAME[name])
    monkeypatch.setattr(Cell, "data", lambda self, quick: draw(self.table, self.target))
    result = measure(cell, QUICK, "today")
    assert result.cell == name
    assert result.unable == {}
    assert [side.library for side in result.fit] == [OURS, "scikit-learn"]
    assert [side.library for side in result.predict] == [OURS, "scikit-learn"]
    assert all(side.quality[cell.loss] > 0 for side in result.predict)
    assert all(side.best > 0 for side in (*result.fit, *result.predict))


def test_a_peer_that_fails_drops_out_with_its_reason():
    def fail(data, state):
        raise ValueError("knows no   such thing")

    unable = {}
    sides = turns(
        [contender(OURS), contender("peer", fail), contender("other")],
        data_of([0, 1]),
        QUICK,
        unjudged,
        unable,
    )
    assert [side.library for side in sides] == [OURS, "other"]
    assert unable == {"peer": "knows no such thing"}


def test_a_failure_of_ours_is_told():
    def fail(data, state):
        raise ValueError("ours")

    with pytest.raises(ValueError, match="ours"):
        turns([contender(OURS, fail)], data_of([0, 1]), QUICK, unjudged, {})


def test_a_slow_peer_runs_once_and_ours_three_times(monkeypatch):
    monkeypatch.setattr(measuring, "BUDGET", 0.0)
    monkeypatch.setattr(measuring, "PATIENCE", 0.0)
    settings = measuring.settings_of(Settings(repeats=5))
    sides = turns([contender(OURS), contender("peer")], data_of([0]), settings, unjudged, {})
    assert [len(side.values) for side in sides] == [3, 1]


def test_classes_are_judged_by_all_shares_or_by_the_second():
    data = data_of([0, 1, 1, 0])
    second = np.array([0.2, 0.9, 0.4, 0.3])
    one = judge(second, data)
    assert one == judge(np.column_stack([1 - second, second]), data)
    assert one["error"] == 0.25
    assert one["log loss"] == pytest.approx(-np.log([0.8, 0.9, 0.4, 0.7]).mean())


def test_numbers_are_judged_over_all_outputs():
    data = data_of([[0.0, 1.0], [2.0, 3.0]])
    assert judge(np.array([[1.0, 1.0], [2.0, 4.0]]), data) == {"rmse": math.sqrt(0.5)}
    assert judge(np.array([[1.0], [2.0]]), data_of([1.0, 2.0])) == {"rmse": 0.0}


@pytest.mark.parametrize("name", ["tree, 2 classes, sparse", "bagging, regression, small"])
def test_memory_is_measured_in_children_that_know_the_cell(name, monkeypatch):
    """Bagging, too: in threads of the child, which starts no processes of its own."""
    cell = BY_NAME[name]
    few = small(cell)
    monkeypatch.setattr(Cell, "data", lambda self, quick: draw(few.table, few.target))
    assert memory(cell).name == f"{name}, memory"
    result = replace(measure(cell, QUICK, "today"), date="before")
    weighed = with_memory(result, cell, QUICK, "today")
    assert [side.library for side in weighed.memory] == [OURS, "scikit-learn"]
    assert (weighed.date, weighed.memory_date) == ("before", "today")


@pytest.mark.parametrize("name", ["forest, 2 classes, wide", "forest, 2 classes, sparse"])
def test_a_first_fit_has_few_columns(name):
    """A library that keeps what it freed must not have the room of all columns already."""
    cell = small(BY_NAME[name])
    data = draw(cell.table, cell.target)
    assert data.few(50).X.shape == (50, FEW_COLUMNS)
    assert data.X.shape[1] > FEW_COLUMNS
