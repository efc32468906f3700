import json
from dataclasses import replace

import pytest

from bench.matrix import report
from bench.matrix.cells import CELLS, Part
from bench.matrix.measure import Result
from bench.matrix.run import estimate
from bench.matrix.store import Store
from bench.matrix.summary import Bar, Promise, View, mean, views
from bench.task import OURS, Row, Side, limit

FOREST, BOOSTING = (
    next(cell for cell in CELLS if cell.name == name)
    for name in ("forest, regression, tall", "boosting, 2 classes, tall")
)


def result(cell, fit, loss=None, memory=None, seconds=1.0):
    """A result with one time of each library."""
    loss = loss or dict.fromkeys(fit, 1.0)
    return Result(
        cell.name,
        "2026-01-01",
        seconds,
        10,
        tuple(Side(who, 2, (value,)) for who, value in fit.items()),
        tuple(Side(who, 2, (value / 10,), {cell.loss: loss[who]}) for who, value in fit.items()),
        {},
        tuple(Side(who, 2, (value,)) for who, value in (memory or {}).items()),
        "2025-12-31" if memory else "",
    )


def view(cell, *given, **more):
    return View(cell, result(cell, *given, **more))


def test_the_ratio_is_of_the_fastest_peer():
    one = view(BOOSTING, {OURS: 2.0, "LightGBM": 6.0, "XGBoost": 5.0})
    assert one.ratio("fit") == 2.5
    assert one.ratio("predict") == pytest.approx(2.5)
    assert one.ratio("fit", "LightGBM") == 3.0
    assert one.ratio("fit", "CatBoost") is None
    assert one.ratio("memory") is None


def test_a_faster_peer_with_a_worse_model_does_not_count():
    times = {OURS: 2.0, "LightGBM": 6.0, "CatBoost": 1.0}
    one = view(BOOSTING, times, {OURS: 1.0, "LightGBM": 1.02, "CatBoost": 1.2})
    assert one.ratio("fit") == 3.0
    assert [side.library for side in one.faster_but_worse("fit")] == ["CatBoost"]
    assert "CatBoost 0.50x, log loss +20%" in report.others(one)
    only = view(BOOSTING, {OURS: 2.0, "CatBoost": 1.0}, {OURS: 1.0, "CatBoost": 1.2})
    assert only.ratio("fit") == 0.5


def test_a_worse_model_of_ours_is_marked():
    assert not view(FOREST, {OURS: 1.0, "scikit-learn": 4.0}).worse
    one = view(FOREST, {OURS: 1.0, "scikit-learn": 4.0}, {OURS: 1.1, "scikit-learn": 1.0})
    assert one.worse
    assert report.short(one) == "4.0x / 4.0x!"


def test_a_cell_without_peers_says_so():
    one = view(FOREST, {OURS: 1.0})
    assert one.peer("fit") is None
    assert report.short(one) == "no peer"
    assert report.line(one)[3] == "none"


def test_bars():
    found = [
        view(FOREST, {OURS: 1.0, "scikit-learn": 2.0}),
        view(BOOSTING, {OURS: 1.0, "LightGBM": 8.0}),
    ]
    every = Bar("every", Part(), 3.0).verdict(found)
    assert (every.value, every.where, every.met) == (2.0, FOREST.name, False)
    assert (every.missed, every.cells) == (1, 2)
    together = Bar("mean", Part(), 4.0, mean=True).verdict(found)
    assert (together.value, together.met) == (pytest.approx(4.0), together.value >= 4.0)
    boosting = Bar("boosting", Part(["boosting"]), 3.0).verdict(found)
    assert (boosting.value, boosting.met) == (8.0, True)
    assert Bar("none", Part(["bagging"]), 3.0).verdict(found).met is None
    assert Bar("memory", Part(), 1.0, kind="memory").verdict(found).met is None


def test_promises():
    rows = [
        Row("one row, a", "us", Side(OURS, 1, (20.0,)), limit(30.0)),
        Row("one row, b", "us", Side(OURS, 1, (60.0,)), limit(30.0)),
    ]
    verdict = Promise("one row", 1.0, lambda task: True).verdict(rows)
    assert (verdict.value, verdict.where, verdict.met) == (0.5, "one row, b", False)
    assert Promise("nothing", 1.0, lambda task: False).verdict(rows).met is None


def test_geometric_mean():
    assert mean([2.0, 8.0]) == pytest.approx(4.0)


def test_a_rerun_changes_its_own_cells_only(tmp_path):
    store = Store(machine={"CPU": "some"})
    store.add(result(FOREST, {OURS: 1.0}, memory={OURS: 7.0}))
    store.add(result(BOOSTING, {OURS: 1.0}))
    store.add_rows([Row("a", "s", Side(OURS, 1, (1.0,)), limit(2.0))], "then")
    store.write(tmp_path)
    again = Store.read(tmp_path, quick=False)
    assert again == replace(store)
    again.add(replace(result(FOREST, {OURS: 3.0}), date="2026-02-02"))
    again.add_rows([Row("b", "s", Side(OURS, 1, (1.0,)), limit(2.0))], "now")
    again.write(tmp_path)
    last = Store.read(tmp_path, quick=False)
    assert last.results[BOOSTING.name] == store.results[BOOSTING.name]
    assert last.results[FOREST.name].date == "2026-02-02"
    assert last.results[FOREST.name].fit[0].best == 3.0
    assert last.results[FOREST.name].memory_date == "2025-12-31"
    assert [(row.task, row.date) for row in last.rows] == [("a", "then"), ("b", "now")]


def test_quick_results_do_not_mix_with_others(tmp_path):
    store = Store(quick=True)
    store.add(result(FOREST, {OURS: 1.0}))
    store.write(tmp_path)
    assert Store.read(tmp_path, quick=True).results
    assert not Store.read(tmp_path, quick=False).results


def test_cells_that_are_gone_go(tmp_path):
    store = Store()
    store.add(replace(result(FOREST, {OURS: 1.0}), cell="forest, nothing, tall"))
    store.write(tmp_path)
    assert json.loads((tmp_path / "results.json").read_text())["cells"] == []


def test_an_estimate_takes_what_is_known():
    kept = {FOREST.name: result(FOREST, {OURS: 1.0}, seconds=7.0)}
    forests = [cell for cell in CELLS if cell.method.name == "forest"]
    assert estimate([FOREST], kept) == 7.0
    assert estimate(forests, kept) == 7.0 * len(forests)


def test_the_page_and_the_picture(tmp_path):
    store = Store(machine={"CPU": "some"})
    store.add(result(FOREST, {OURS: 1.0, "scikit-learn": 5.0}, memory={OURS: 7.0}))
    store.add(result(BOOSTING, {OURS: 1.0, "LightGBM": 2.0}))
    report.write(tmp_path, store)
    page = (tmp_path / "RESULTS.md").read_text()
    assert "forest, regression, tall" in page
    assert "5.0x / 5.0x" in page
    assert f"2 of {len(CELLS)} cells measured" in page
    assert (tmp_path / "matrix.png").stat().st_size < 100_000
    assert "5.0x" in report.summary(store)
    assert len(views(store.results)) == 2
