"""Cells that are not what the rest of their column is, and what is said about them."""

import numpy as np
import pytest

from weald.dataset import DataError, open_file

from .files import columns_of, judged, rows, without_arrow


@pytest.mark.parametrize("reader", ["arrow", "python"])
def test_infinite_numbers_are_missing_and_said(reader, tmp_path, monkeypatch):
    if reader == "python":
        without_arrow(monkeypatch)
    odd = {3: "inf", 4: "-Infinity", 5: "1e999"}
    text = rows(
        "x,z,y",
        lambda i: odd.get(i, i % 7),
        lambda i: "-inf" if i == 9 else i % 5,
        lambda i: "1e400" if i == 8 else i * 1.5,
    )
    training = judged(tmp_path, text)
    assert training.notes == (
        "y: 1 infinite number is read as missing.",
        "1 of 40 rows (2.5%) has no y and is left out.",
        "x: 3 infinite numbers are read as missing.",
        "z: 1 infinite number is read as missing.",
    )
    found = columns_of(training)
    assert [i for i, cell in enumerate(found["x"]) if cell is None or np.isnan(cell)] == [3, 4, 5]
    assert np.isfinite(training.y).all()
    [part] = training.recipe.parts(open_file(str(tmp_path / "table.csv")))
    assert part.infinite == {"x": 3, "z": 1}
    nothing = rows("x,z,y", lambda i: "inf", lambda i: i % 5, lambda i: i * 1.5)
    [left_out] = judged(tmp_path, nothing).recipe.left_out
    assert left_out.reason == "it has no finite numbers"


def test_a_few_words_among_numbers_are_missing(tmp_path):
    odd = {7: "n.a.", 9: "tbd", 11: "-"}
    text = rows("x,y", lambda i: odd.get(i, i % 7 + 0.5), lambda i: i * 1.5, n=60)
    training = judged(tmp_path, text)
    assert training.recipe.columns[0].kind == "number"
    assert training.notes == ("x: 'n.a.', 'tbd' and '-' among its numbers are read as missing.",)
    assert columns_of(training)["x"][6:12] == [6.5, None, 1.5, None, 3.5, None]
    [part] = training.recipe.parts(open_file(str(tmp_path / "table.csv")))
    assert np.flatnonzero(np.isnan(part.columns["x"])).tolist() == [7, 9, 11]


def test_what_keeps_numbers_from_being_numbers_is_said(tmp_path):
    many = rows("x,z,y", lambda i: f"v{i}" if i % 9 == 0 else i * 1.25, lambda i: i % 7, float)
    [left_out] = judged(tmp_path, many).recipe.left_out
    assert left_out.reason == (
        "nearly every row has its own value (40 in 40 rows); 35 cells are numbers but 5 are none, "
        "such as 'v0' in row 1: correct or empty these if it is a quantity"
    )
    kept = judged(tmp_path, many, keep=["x"])
    assert kept.notes[0].startswith("x is read as text; 35 cells are numbers but 5 are none")
    for cell in ('"1,2{i:02}.50"', "${i}.25", "{i} %", "{i} kg", "1'0{i:02}"):
        marks = rows("x,z,y", lambda i, cell=cell: cell.format(i=i), lambda i: i % 7, float)
        [left_out] = judged(tmp_path, marks).recipe.left_out
        assert "are numbers, write them without marks and units" in left_out.reason
    codes = rows("x,z,y", lambda i: f"{i}", lambda i: f"c{i % 30}", float)
    assert "read as text" not in " ".join(judged(tmp_path, codes, keep=["x"]).notes)


def test_marks_of_missing_numbers_in_the_target(tmp_path):
    text = rows("x,y", lambda i: i % 7, lambda i: "?" if i == 4 else i * 1.5)
    training = judged(tmp_path, text)
    assert training.recipe.task == "regression"
    assert training.notes == (
        "y: '?' among its numbers is read as missing.",
        "1 of 40 rows (2.5%) has no y and is left out.",
    )
    classes = rows("x,y", lambda i: i * 1.5, lambda i: "unknown" if i % 9 == 4 else i % 3)
    assert set(judged(tmp_path, classes).y) == {"0", "1", "2", "unknown"}
    with pytest.raises(DataError, match="39 cells are numbers but 1 is none, such as 'oops' in ro"):
        judged(tmp_path, rows("x,y", float, lambda i: "oops" if i == 4 else i * 1.5))
    with pytest.raises(DataError, match=r"if cells such as '\$0.25' are numbers"):
        judged(tmp_path, rows("x,y", float, lambda i: f"${i}.25"))
