from itertools import product

import numpy as np
import pytest
from scipy import sparse

from bench.matrix import promises
from bench.matrix.cells import CELLS, NOBODY, NOTES, PARTS, UNABLE, draw
from bench.matrix.methods import METHODS
from bench.matrix.run import chosen
from bench.matrix.summary import BARS
from bench.matrix.tables import TABLES
from bench.matrix.targets import TARGETS
from bench.task import OURS

from .small import shrunk

NAMES = {cell.name for cell in CELLS}


def test_every_cell_has_a_name_of_its_own():
    tasks = [task.name for task in promises.TASKS]
    assert len(NAMES) == len(CELLS)
    assert len({*NAMES, *tasks}) == len(CELLS) + len(tasks)


def test_all_methods_and_targets_meet_on_the_tall_table():
    expected = {
        f"{method.name}, {target.name}, tall" for method, target in product(METHODS, TARGETS)
    }
    assert expected - NAMES == {"AdaBoost, 5 outputs, tall"}


@pytest.mark.parametrize("method", ["forest", "extra-trees", "boosting"])
@pytest.mark.parametrize("target", ["2 classes", "20 classes", "regression"])
def test_the_ensembles_meet_every_table(method, target):
    assert {f"{method}, {target}, {table.name}" for table in TABLES} <= NAMES


@pytest.mark.parametrize(
    "part", [*PARTS, *NOBODY, *(one.part for one in UNABLE), *(part for part, _ in NOTES)]
)
def test_parts_name_what_there_is(part):
    for names, known in ((part.methods, METHODS), (part.targets, TARGETS), (part.tables, TABLES)):
        assert set(names) <= {one.name for one in known}


def test_every_bar_is_about_some_cells():
    assert [bar.name for bar in BARS if not any(bar.part.holds(cell) for cell in CELLS)] == []


def test_every_promise_is_about_some_rows_and_every_row_has_one():
    for promise in promises.PROMISES:
        assert any(promise.tasks(task.name) for task in promises.TASKS), promise.name
    for task in promises.TASKS:
        assert sum(promise.tasks(task.name) for promise in promises.PROMISES) == 1, task.name


def test_ours_comes_first_and_the_unable_stay_away():
    for cell in CELLS:
        libraries = [contender.library for contender in cell.contenders()]
        assert libraries[0] == OURS
        assert not set(libraries) & set(cell.unable)
        assert len(libraries) + len(cell.unable) == len(cell.method.libraries)


def test_a_pattern_chooses_cells_and_rows():
    cells, tasks = chosen("FOREST.*sparse")
    assert cells
    assert {(cell.method.name, cell.table.name) for cell in cells} == {("forest", "sparse")}
    assert tasks == []
    assert [task.name for task in chosen("user's own")[1]] != []


def test_a_quick_run_has_fewer_trees_and_rows():
    for cell in CELLS:
        assert 1 <= cell.trees(5) <= cell.trees()
    [tall] = [table for table in TABLES if table.name == "tall"]
    assert len(draw(tall, TARGETS[0], True).y) == 10_000


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_data(table, target):
    table = shrunk(table, 400)
    data = draw.__wrapped__(table, target)
    again = draw.__wrapped__(table, target)
    assert data.X.shape[0] == 400
    assert data.X_test.shape[0] == 200
    assert np.array_equal(data.y, again.y)
    if target.kind == "classes":
        count = int(target.name.split()[0])
        assert sorted(set(data.y)) == list(range(count))
    else:
        assert data.y.shape == (400, target.outputs)[: 1 + (target.outputs > 1)]
        assert np.isfinite(data.y).all()
    assert (data.weight is not None) == table.weighted


def rows_of(name, rows=2_000):
    [table] = [table for table in TABLES if table.name == name]
    return draw.__wrapped__(shrunk(table, rows), TARGETS[0])


def test_the_sparse_table_is_sparse():
    X = rows_of("sparse").X
    assert sparse.issparse(X)
    assert X.shape[1] == 5_000
    assert X.nnz / np.prod(X.shape) == pytest.approx(0.01, rel=0.02)


def test_the_columns_are_what_they_are_called():
    assert set(np.unique(rows_of("0/1").X)) == {0, 1}
    assert len(np.unique(rows_of("few values").X)) == 8
    assert np.isnan(rows_of("missing").X).mean() == pytest.approx(0.2, abs=0.01)
    weight = rows_of("weights").weight
    assert weight.min() > 0
    assert not np.any(weight == np.round(weight))


@pytest.mark.parametrize("levels", [10, 1_000, 10_000])
def test_the_categories_have_their_levels(levels):
    X = rows_of(f"{levels:,} levels").X
    kinds = [X[name].cat.categories.size for name in X if X[name].dtype == "category"]
    assert kinds == [levels] * 3
