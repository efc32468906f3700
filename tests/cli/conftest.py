import numpy as np
import pandas as pd
import pytest

from .running import output


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def shop():
    """A table with everything: an id, a constant, dates, categories, missing cells."""
    rng = np.random.default_rng(1)
    n = 300
    table = pd.DataFrame(
        {
            "order id": np.arange(n) + 1,
            "day": pd.date_range("2023-01-01", periods=n).strftime("%Y-%m-%d"),
            "price": rng.gamma(3, 20, n).round(2),
            "kind": rng.choice(["book", "game", "tool"], n),
            "currency": "EUR",
        }
    )
    table["paid"] = np.where(
        (table["price"] > 60) ^ (table["kind"] == "game") ^ (rng.random(n) < 0.1), "late", "on time"
    )
    table.loc[::9, "price"] = np.nan
    table.loc[5, "kind"] = None
    table.to_csv("shop.csv", index=False)
    return table


@pytest.fixture
def fitted(shop):
    output("fit", "shop.csv", "--target", "paid", "-m", "forest", "--cv", 3, "--no-report", "-q")
    return shop
