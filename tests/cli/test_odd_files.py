"""Files as they come: what `fit` says about them, and what it never does to them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .running import QUICK, as_json, output


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
