"""Files as they come: what `fit` says about them, and what it never does to them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .running import QUICK, as_json, error, output


@pytest.fixture
def towns():
    rng = np.random.default_rng(0)
    n = 120
    table = pd.DataFrame(
        {
            "area": rng.normal(100, 20, n).round(2),
            "town": rng.choice(["Köln", "Bonn", "Trier"], n),
        }
    )
    table["price"] = (table["area"] * 2 + rng.normal(size=n)).round(2)
    return table


def test_how_a_file_is_written_is_said_in_a_line(towns):
    towns.rename(columns={"area": " area "}).to_csv(
        "towns.csv", index=False, sep=";", decimal=",", encoding="latin-1"
    )
    text = output("fit", "towns.csv", "-t", "price", "-m", "tree", "--cv", 3)
    words = "cells divided by semicolons, Latin-1 text (not UTF-8), decimal commas"
    assert f"read as  {words}" in text
    assert "Spaces around 1 column name are removed." in text
    assert words in Path("towns.html").read_text()
    found = as_json("fit", "towns.csv", "-t", "price", *QUICK)
    assert ", ".join(found["reading"]) == words
    towns.to_csv("plain.csv", index=False)
    assert "read as" not in output("fit", "plain.csv", "-t", "price", *QUICK)


def test_nothing_that_is_needed_is_overwritten(towns):
    towns.to_csv("towns.csv", index=False)
    before = Path("towns.csv").read_bytes()
    Path("link.html").symlink_to("towns.csv")
    Path("hard.weald").hardlink_to("towns.csv")
    fit = ("fit", "towns.csv", "-t", "price", "-m", "tree", "--cv", 3)
    words = "would overwrite towns.csv: give another name."
    assert error(2, *fit, "--model", "towns.csv") == f"--model towns.csv {words}"
    assert error(2, *fit, "--model", "./towns.csv") == f"--model ./towns.csv {words}"
    assert error(2, *fit, "--model", "hard.weald") == f"--model hard.weald {words}"
    assert error(2, *fit, "--report", "towns.csv") == f"--report towns.csv {words}"
    assert error(2, *fit, "--report", "link.html") == f"--report link.html {words}"
    both = error(2, *fit, "--report", "both", "--model", "both")
    assert both == "--report both would overwrite both: give another name."
    output(*fit, "--no-report", "--model", "model.csv")
    predict = ("predict", "model.csv", "towns.csv", "--output")
    assert error(2, *predict, "towns.csv") == f"--output towns.csv {words}"
    assert "overwrite model.csv" in error(2, *predict, "model.csv")
    assert Path("towns.csv").read_bytes() == before
    output(*predict, "other.csv")


def test_ctrl_c_during_the_report_keeps_the_model(towns, monkeypatch):
    from weald.report import facts

    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(facts, "data_facts", stop)
    towns.to_csv("towns.csv", index=False)
    Path("towns.html").write_text("old")
    fit = ("fit", "towns.csv", "-t", "price", "-m", "tree", "--cv", 3)
    text = " ".join(output(*fit).split())
    assert "Stopped by Ctrl-C before the report was done; towns.weald is complete." in text
    assert text.endswith("model towns.weald")
    assert Path("towns.html").read_text() == "old"
    assert len(output("predict", "towns.weald", "towns.csv").splitlines()) == 121
    found = as_json(*fit)
    assert found["report"] is None
    assert "Ctrl-C" in found["notes"][-1]


def test_a_full_disk_is_told_in_a_sentence(towns, monkeypatch):
    towns.to_csv("towns.csv", index=False)

    def full(*given, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("weald.cli.main_job.write_report", full)
    fit = ("fit", "towns.csv", "-t", "price", "-m", "tree", "--cv", 3)
    assert error(3, *fit, begun=True) == "Cannot write: No space left on device."


def test_columns_of_many_categories_are_named_once():
    """Not once for each method, fold, or copy in the report, nor on standard error."""
    rng = np.random.default_rng(0)
    n = 600
    table = pd.DataFrame(
        {
            "area": rng.normal(100, 20, n),
            "name": [f"n{i % 400}" for i in range(n)],
            "code": [f"c{i}" for i in rng.integers(0, 330, n)],
            "street": [f"s{i}" for i in rng.integers(0, 280, n)],
        }
    )
    table["dear"] = np.where(table["area"] + rng.normal(size=n) > 100, "yes", "no")
    table.to_csv("towns.csv", index=False)
    fit = ("fit", "towns.csv", "-t", "dear", "-m", "boosting", "-m", "bagging", "--cv", 3)
    text = " ".join(output(*fit).split())
    assert text.count("nearly every row") == 1
    assert "name has a different category in nearly every row (400 in 600 rows)" in text
    assert text.count("most frequent apart") == 1
    notes = as_json(*fit)["notes"]
    assert ["nearly every row" in one for one in notes] == [True, False]


def test_a_metric_that_cannot_be_computed_is_told(towns):
    towns.assign(price=towns["price"] - 200).to_csv("towns.csv", index=False)
    words = error(2, "fit", "towns.csv", "-t", "price", *QUICK, "--metric", "poisson", begun=True)
    assert words.startswith("--metric poisson cannot be computed here: ")
    fit = ("fit", "towns.csv", "-t", "town", *QUICK, "--metric", "precision")
    assert error(2, *fit, begun=True).startswith("--metric precision cannot be computed here: ")


def test_a_target_that_never_changes_is_nothing_to_learn(towns):
    towns.assign(price=0.5).to_csv("towns.csv", index=False)
    assert "'price' is always 0.5" in error(2, "fit", "towns.csv", "-t", "price", *QUICK)
