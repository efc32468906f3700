"""Files of all dialects and formats, and what is said about them."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from weald.dataset import DataError, Recipe, frames, open_file, read_training, sources, stem

from .files import columns_of, judged, rows, without_arrow


def table(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.normal(100, 20, n).round(2),
            "größe": rng.choice(["klein", "groß", "über"], n),
            "count": rng.integers(0, 5, n),
            "price": rng.normal(3, 1, n).round(3),
        }
    )


DIALECTS = {
    "plain": {},
    "semicolons": {"sep": ";"},
    "tabs": {"sep": "\t"},
    "bars": {"sep": "|"},
    "decimal commas": {"sep": ";", "decimal": ","},
    "tabs and decimal commas": {"sep": "\t", "decimal": ","},
    "a byte-order mark": {"encoding": "utf-8-sig"},
    "latin-1": {"encoding": "latin-1"},
    "utf-16": {"encoding": "utf-16"},
    "quotes": {"quoting": 1},
    "windows line ends": {"lineterminator": "\r\n"},
}
SAID = {
    "semicolons": ("cells divided by semicolons",),
    "tabs": ("cells divided by tabs",),
    "bars": ("cells divided by vertical bars",),
    "decimal commas": ("cells divided by semicolons", "decimal commas"),
    "tabs and decimal commas": ("cells divided by tabs", "decimal commas"),
    "a byte-order mark": ("a byte-order mark",),
    "latin-1": ("Latin-1 text (not UTF-8)",),
    "utf-16": ("UTF-16 text",),
}


@pytest.mark.parametrize("reader", ["arrow", "python"])
@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_give_the_same_table(name, reader, tmp_path, monkeypatch):
    if reader == "python":
        without_arrow(monkeypatch)
    path = tmp_path / "table.csv"
    table().to_csv(path, index=False, **DIALECTS[name])
    training = read_training(open_file(str(path)), "price")
    found = columns_of(training)
    assert list(found) == ["size", "größe", "count"]
    assert found["size"] == table()["size"].tolist()
    assert found["größe"] == table()["größe"].tolist()
    np.testing.assert_array_equal(training.y, table()["price"])
    assert [rule.kind for rule in training.recipe.columns] == ["number", "category", "number"]
    assert training.reading == SAID.get(name, ())
    assert training.notes == ()


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", None])
def test_without_libraries_the_table_is_the_same(library, tmp_path, monkeypatch):
    monkeypatch.setattr(frames, "_library", lambda: library)
    path = tmp_path / "table.csv"
    some = table()
    some.loc[3, "größe"] = None
    some.loc[4, "size"] = None
    some.to_csv(path, index=False)
    found = columns_of(read_training(open_file(str(path)), "price"))
    assert found["größe"][:6] == [*some["größe"][:3], None, *some["größe"][4:6]]
    assert found["size"][4] is None or np.isnan(found["size"][4])
    assert found["size"][5] == some["size"][5]


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.xz", "parquet", "feather", "jsonl"])
def test_formats_give_the_same_table(ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    some = table()
    some.loc[4, "size"] = None
    if ending.startswith("csv"):
        some.to_csv(path, index=False)
    elif ending == "jsonl":
        some.to_json(path, orient="records", lines=True)
    else:
        getattr(some, f"to_{ending}")(path)
    training = read_training(open_file(str(path)), "price")
    found = columns_of(training)
    assert found["größe"] == some["größe"].tolist()
    assert found["count"] == some["count"].tolist()
    assert found["size"][5:] == some["size"][5:].tolist()
    np.testing.assert_allclose(training.y, some["price"])


@pytest.mark.parametrize(
    ("ending", "module"), [("parquet", "pyarrow.parquet"), ("arrow", "pyarrow")]
)
def test_without_pyarrow_the_extra_is_named(ending, module, tmp_path, monkeypatch):
    path = tmp_path / f"table.{ending}"
    path.write_bytes(b"whatever")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=rf"^Reading .*{ending} needs pyarrow; .*weald\[arrow\]$"):
        open_file(str(path))


LEFT_OUT = {
    "a row number": ("id,x,y", lambda i: i, "it numbers the rows from 0 to 39"),
    "a number by name": (
        "customer_id,x,y",
        lambda i: 7919 * i % 1000 + 5000,
        "every row has its own value, as its name says",
    ),
    "an unnamed index": (",x,y", lambda i: i, "it numbers the rows from 0 to 39"),
    "names": (
        "who,x,y",
        lambda i: f"n{i}",
        "nearly every row has its own value (40 in 40 rows), such as 'n0'",
    ),
    "a constant": ("c,x,y", lambda i: "same", "it is always same"),
    "a constant number": ("c,x,y", lambda i: 1.50, "it is always 1.5"),
    "nothing": ("c,x,y", lambda i: "", "it is empty"),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_is_left_out(case, tmp_path):
    head, cell, reason = LEFT_OUT[case]
    text = rows(head, cell, lambda i: i % 7, lambda i: i * 1.5)
    training = judged(tmp_path, text)
    name = head.split(",")[0] or "column_1"
    assert [(one.name, one.reason) for one in training.recipe.left_out] == [(name, reason)]
    assert training.recipe.features == ["x"]
    kept = judged(tmp_path, text, keep=[name])
    assert kept.recipe.features == [name, "x"]
    dropped = judged(tmp_path, text, drop=["x"], keep=[name])
    assert [one.name for one in dropped.recipe.left_out] == ["x"]


def test_what_is_kept(tmp_path):
    text = rows(
        "year,gone,mark,price,y",
        lambda i: 1950 + i,  # consecutive, but no number of rows
        lambda i: "" if i % 3 else "yes",  # one value or none
        lambda i: f"c{i % 30}",
        lambda i: 1000 + 17 * i,  # all different, but not by name
        lambda i: i * 1.5,
    )
    assert judged(tmp_path, text).recipe.features == ["year", "gone", "mark", "price"]


def test_missing_targets_are_left_out_and_said(tmp_path):
    text = rows("x,y", lambda i: i % 7, lambda i: "" if i in (3, 5) else i * 1.5)
    training = judged(tmp_path, text)
    assert len(training) == 38
    assert training.notes == ("2 of 40 rows (5.0%) have no y and are left out.",)
    assert columns_of(training)["x"][3] == 4
    words = rows("x,y", lambda i: i % 7, lambda i: "NA" if i == 3 else "ab"[i % 2])
    assert len(judged(tmp_path, words)) == 39


def test_whole_numbers_taken_for_classes_are_said(tmp_path):
    text = rows("x,y", lambda i: i * 1.5, lambda i: i % 4)
    training = judged(tmp_path, text)
    assert training.recipe.task == "classification"
    assert training.y.tolist()[:5] == [0, 1, 2, 3, 0]
    assert training.notes == (
        "y holds 4 different whole numbers, which are taken for classes; use --task regression if "
        "it is a quantity.",
    )
    assert judged(tmp_path, text, task="regression").notes == ()
    assert judged(tmp_path, text, task="classification").notes == ()
    assert judged(tmp_path, rows("x,y", lambda i: i * 1.5, lambda i: i % 2)).notes == ()


def test_rows_of_no_weight_are_left_out_and_said(tmp_path):
    text = rows("x,w,y", lambda i: i % 7, lambda i: i % 2, lambda i: i * 1.5)
    training = judged(tmp_path, text, weight="w")
    assert len(training) == 20
    assert training.notes == ("20 rows of weight 0 are left out.",)


def test_headers_with_spaces_and_twice(tmp_path):
    text = rows(" house size ,a,a,y", *[lambda i: i % 7] * 3, lambda i: i * 1.5)
    training = judged(tmp_path, text)
    assert training.recipe.features == ["house size", "a", "a_2"]
    assert training.notes == (
        "Spaces around 1 column name are removed.",
        "Names that are there twice: the later columns are called a_2.",
    )


def test_marks_of_missing_numbers(tmp_path):
    text = rows("x,c,y", lambda i: "?" if i % 9 == 2 else i % 7, lambda i: "?ab"[i % 3], float)
    training = judged(tmp_path, text)
    assert [rule.kind for rule in training.recipe.columns] == ["number", "category"]
    assert training.recipe.columns[0].blanks == ("?",)
    assert training.notes == ("x: '?' among its numbers is read as missing.",)
    assert columns_of(training)["x"][:4] == [0, 1, None, 3]
    assert columns_of(training)["c"][0] == "?"


DATES = {
    "year-month-day": "%Y-%m-%d",
    "year/month/day": "%Y/%m/%d",
    "day.month.year": "%d.%m.%Y",
    "month/day/year": "%m/%d/%Y",
    "day/month/year": "%d/%m/%Y",
    "yyyymmdd": "%Y%m%d",
}


@pytest.mark.parametrize("pattern", DATES)
def test_dates_become_parts(pattern, tmp_path):
    days = pd.date_range("2022-12-20", periods=40, freq="9D")
    text = rows("when,y", lambda i: days[i].strftime(DATES[pattern]), lambda i: i * 1.5)
    training = judged(tmp_path, text)
    if pattern == "day/month/year":
        assert training.recipe.columns[0].pattern == pattern  # a month 20 there is not
    found = columns_of(training)
    assert found["when_year"] == days.year.tolist()
    assert found["when_month"] == days.month.tolist()
    assert found["when_day"] == days.day.tolist()
    assert found["when_weekday"] == days.weekday.tolist()
    assert found["when_days"] == ((days - pd.Timestamp("1970-01-01")).days).tolist()
    assert "when_hour" not in found
    assert f"when: dates written {pattern}, turned into year, month" in training.notes[0]


def test_times_have_hours_and_may_be_missing(tmp_path):
    hours = pd.date_range("2024-01-01", periods=40, freq="90min")
    text = rows("when,y", lambda i: "" if i == 1 else hours[i].isoformat(), float)
    training = judged(tmp_path, text)
    found = columns_of(training)
    assert list(found) == ["when_day", "when_weekday", "when_hour", "when_days"]
    assert found["when_hour"][:4] == [0, None, 3, 4.5]
    path = tmp_path / "typed.parquet"
    pd.DataFrame({"when": hours, "y": np.arange(40.0)}).to_parquet(path)
    typed = columns_of(read_training(open_file(str(path)), "y"))
    assert typed["when_hour"][3] == 4.5


def test_dates_that_are_all_the_same_second_are_text(tmp_path):
    few = rows("when,y", lambda i: f"2024-01-05 10:00:00.{i % 7}", lambda i: i * 1.5)
    assert judged(tmp_path, few).recipe.columns[0].kind == "category"
    many = rows("x,when,y", lambda i: i % 5, lambda i: f"2024-01-05 10:00:00.{i:03}", float)
    [left_out] = judged(tmp_path, many).recipe.left_out
    assert "nearly every row has its own value" in left_out.reason


def test_other_numbers_are_no_dates(tmp_path):
    text = rows("n,y", lambda i: 20190100 + 7 * i, lambda i: i * 1.5)  # some name no day
    assert judged(tmp_path, text).recipe.columns[0].kind == "number"


def test_a_recipe_reads_another_file_alike(tmp_path):
    text = rows("x,c,y", lambda i: i % 7, lambda i: "uvw"[i % 3], lambda i: i * 1.5)
    training = judged(tmp_path, text)
    recipe = Recipe.from_json(training.recipe.to_json())
    assert recipe == training.recipe
    [part] = recipe.parts(open_file(str(tmp_path / "table.csv")))
    assert part.X.equals(training.X)


def test_blocks_are_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_BYTES", 2000)
    monkeypatch.setattr(sources, "_ROWS", 7)
    text = rows("x,c,y", lambda i: i % 7, lambda i: "uvw"[i % 3], lambda i: i * 1.5, n=3000)
    training = judged(tmp_path, text)
    source = open_file(str(tmp_path / "table.csv"))
    parts = [part.X for part in training.recipe.parts(source)]
    assert len(parts) > 5
    assert sum(part.shape[0] for part in parts) == len(training) == 3000
    assert [x for part in parts for x in part["x"].to_pylist()] == columns_of(training)["x"]


@pytest.mark.parametrize("change", [
    {"version": 9}, {"task": "ranking"}, {"columns": []}, {"columns": [{}]}, {"target": 3},
    {"columns": [{"name": "x", "kind": "code", "blanks": [], "pattern": None, "parts": []}]},
    {"columns": [{"name": "x", "kind": "date", "blanks": [], "pattern": "?", "parts": ["year"]}]},
    {"columns": [{"name": 1, "kind": "number", "blanks": [], "pattern": None, "parts": []}]},
    {"left_out": [{"name": "x"}]}, {"weight": 5},
])  # fmt: skip
def test_a_spoilt_recipe_is_refused(change, tmp_path):
    text = rows("x,y", lambda i: i % 7, lambda i: i * 1.5)
    content = judged(tmp_path, text).recipe.to_json() | change
    with pytest.raises(ValueError, match="recipe"):
        Recipe.from_json(content)


def test_a_quoted_header_may_have_line_breaks_and_delimiters(tmp_path):
    body = "".join(f"{i % 7},{i * 1.5}\n" for i in range(40))
    training = judged(tmp_path, '"size,\nin metres",y\n' + body)
    assert training.recipe.features == ["size,\nin metres"]
    assert len(training) == 40


def test_columns_of_odd_types_are_left_out(tmp_path):
    path = tmp_path / "odd.parquet"
    odd = pd.DataFrame({"x": np.arange(30) % 7, "l": [[1]] * 30, "y": np.arange(30) * 1.5})
    odd.to_parquet(path)
    training = read_training(open_file(str(path)), "y")
    assert [one.name for one in training.recipe.left_out] == ["l"]
    assert "type list" in training.recipe.left_out[0].reason
    with pytest.raises(DataError, match="--target 'l' has the type list"):
        read_training(open_file(str(path)), "l")
    odd.assign(w=1.0, v=2.0, z=3.0).to_parquet(path)
    with pytest.raises(DataError, match="--keep 'l' has the type list"):
        read_training(open_file(str(path)), "y", weight="w", drop=["v", "z"], keep=["x", "l"])


def test_truth_values_are_categories_in_every_format(tmp_path):
    some = pd.DataFrame({"b": np.arange(30) % 2 == 0, "y": np.arange(30) * 1.5})
    found = []
    for ending in ("csv", "parquet", "jsonl"):
        path = tmp_path / f"b.{ending}"
        if ending == "jsonl":
            some.to_json(path, orient="records", lines=True)
        else:
            getattr(some, f"to_{ending}")(path, index=False)
        found.append(columns_of(read_training(open_file(str(path)), "y")))
    assert found[0] == found[1] == found[2]
    assert found[0]["b"][:2] == ["True", "False"]


def test_stems():
    assert [stem(one) for one in ("a/b.csv.gz", "c.parquet", "d.e.tsv", ".csv")] == [
        "b", "c", "d.e", ".csv",
    ]  # fmt: skip


def test_a_file_cut_off_is_told(tmp_path):
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(rows("x,y", float, float, n=9000).encode())[:-3000])
    with pytest.raises(DataError, match=r"Cannot read .*cut.csv.gz"):
        read_training(open_file(str(path)), "y")
    assert Path(path).exists()


@pytest.mark.parametrize("late", [0, 30, 200])
def test_a_line_end_inside_quotes_may_come_late(late, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_SAMPLE", 64)
    monkeypatch.setattr(sources, "_BYTES", 256)
    cells = [f"word {i}" for i in range(250)]
    cells[late : late + 20] = ["many\nshort\nlines" * 6] * 20  # a block ends inside one
    path = tmp_path / "table.csv"
    pd.DataFrame({"text": cells, "n": range(250)}).to_csv(path, index=False)
    blocks = list(open_file(str(path)).blocks(["text", "n"]))
    assert len(blocks) > 5
    coded = [block["text"].coded() for block in blocks]
    assert [one.labels[code] for one in coded for code in one.codes] == cells
