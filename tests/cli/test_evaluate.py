"""`evaluate`, and rows that count for nothing or hold infinite numbers."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, mean_absolute_error, r2_score

from weald.dataset import sources

from .running import QUICK, as_json, error, output, run


def test_evaluate(fitted):
    found = as_json("evaluate", "shop.weald", "shop.csv")
    output("predict", "shop.weald", "shop.csv", "-o", "said.csv")
    said = pd.read_csv("said.csv")
    shares = said[["probability_late", "probability_on time"]].to_numpy()
    assert found["rows"] == 300
    assert found["scores"]["log-loss"]["score"] == pytest.approx(log_loss(fitted["paid"], shares))
    right = (said["prediction"] == fitted["paid"]).mean()
    assert found["scores"]["accuracy"]["score"] == pytest.approx(right)
    assert 0.9 < found["scores"]["auc"]["score"] <= 1
    assert "log loss" in output("evaluate", "shop.weald", "shop.csv")
    some = fitted.copy()
    some.loc[:9, "paid"] = None
    some.loc[10:12, "paid"] = "never"
    some.to_csv("some.csv", index=False)
    found = as_json("evaluate", "shop.weald", "some.csv")
    assert found["rows"] == 287
    assert [note[:30] for note in found["notes"]] == [
        "10 rows without paid are left ",
        "The rows of some.csv were in the fit"[:30],
        "3 rows have a class that the m",
    ]
    fitted.drop(columns="paid").to_csv("none.csv", index=False)
    assert "'paid' is not a column" in error(3, "evaluate", "shop.weald", "none.csv")


def test_evaluate_beside_the_scores_of_the_fit(shop):
    some, rest = shop[:200], shop[200:]
    some.to_csv("some.csv", index=False)
    rest.to_csv("rest.csv", index=False)
    fit = ("fit", "some.csv", "-t", "paid", *QUICK)
    [entry] = as_json(*fit)["leaderboard"]
    new = as_json("evaluate", "some.weald", "rest.csv")
    assert new["cross_validated"]["log-loss"]["score"] == entry["score"]
    assert new["cross_validated"]["log-loss"]["standard_error"] == entry["standard_error"]
    assert new["cross_validated"]["accuracy"] == {"score": entry["beside"]}
    assert new["share_of_rows_in_fit"] == 0
    assert new["notes"] == []
    text = output("evaluate", "some.weald", "rest.csv")
    assert re.search(r"metric +score +std. error +cross-validated +std. error", text)
    assert text.count(f"{entry['score']:.4f}") == 1
    known = "rows of some.csv were in the fit: the scores are too good."
    assert as_json("evaluate", "some.weald", "some.csv")["notes"] == [f"The {known}"]
    assert as_json("evaluate", "some.weald", "shop.csv")["notes"] == [
        "About 67% of the rows of shop.csv were in the fit: the scores are too good."
    ]
    wrong = rest["paid"].map({"late": "on time", "on time": "late"})
    rest.assign(paid=wrong).to_csv("rest.csv", index=False)
    [note] = as_json("evaluate", "some.weald", "rest.csv")["notes"]
    assert re.match(r"The log loss is \d+ standard errors worse than when it was cross-val", note)
    other = ("--metric", "matthews_corrcoef")
    [entry] = as_json(*fit, *other)["leaderboard"]
    found = as_json("evaluate", "some.weald", "some.csv")
    assert found["cross_validated"]["matthews_corrcoef"]["score"] == entry["score"]
    assert found["scores"]["matthews_corrcoef"]["score"] > entry["score"]


def test_evaluate_numbers():
    output("fit", "--data", "diabetes", *QUICK)
    found = as_json("evaluate", "diabetes.weald", "--data", "diabetes")["scores"]
    output("predict", "diabetes.weald", "--data", "diabetes", "-o", "said.csv")
    from sklearn.datasets import load_diabetes

    y, said = load_diabetes().target, pd.read_csv("said.csv")["prediction"]
    assert found["r2"]["score"] == pytest.approx(r2_score(y, said))
    assert found["mae"]["score"] == pytest.approx(mean_absolute_error(y, said))
    assert found["rmse"]["score"] == pytest.approx(np.sqrt(np.mean((y - said) ** 2)))


def test_a_block_may_hold_no_weight(shop, monkeypatch):
    weighed = shop.assign(w=np.where(np.arange(300) < 120, 0, 1))
    weighed.to_parquet("weighed.parquet")
    output("fit", "weighed.parquet", "-t", "paid", "--weight", "w", *QUICK)
    whole = as_json("evaluate", "weighed.weald", "weighed.parquet")
    assert whole["rows"] == 180
    monkeypatch.setattr(sources, "_ROWS", 50)
    assert as_json("evaluate", "weighed.weald", "weighed.parquet")["scores"] == whole["scores"]
    weighed.assign(w=0).to_parquet("none.parquet")
    assert "a weight 'w' above 0" in error(2, "evaluate", "weighed.weald", "none.parquet")
    assert "not all 0" in error(3, "fit", "none.parquet", "-t", "paid", "--weight", "w", *QUICK)


def test_infinite_numbers_are_missing_and_every_command_says_so(fitted):
    odd = fitted.astype({"price": object})
    odd.loc[[3, 4, 5], "price"] = ["inf", "-inf", "1e999"]
    odd.to_csv("odd.csv", index=False)
    odd.assign(price=fitted["price"].where(~fitted.index.isin([3, 4, 5]))).to_csv("gaps.csv")
    words = "price: 3 infinite numbers are read as missing."
    assert words in as_json("fit", "odd.csv", "-t", "paid", *QUICK)["notes"]
    said = run("predict", "shop.weald", "odd.csv")
    assert said.stdout == output("predict", "shop.weald", "gaps.csv")
    assert said.stderr == f"note: {words}\n"
    assert run("predict", "shop.weald", "odd.csv", "-q").stderr == ""
    assert words in output("predict", "shop.weald", "odd.csv", "-o", "said.csv")
    found = as_json("evaluate", "shop.weald", "odd.csv")
    assert found["notes"][0] == words
    assert found["scores"] == as_json("evaluate", "shop.weald", "gaps.csv")["scores"]
    assert words in output("explain", "shop.weald", "odd.csv", "--row", 4)
    assert words in output("theory", "shop.weald", "odd.csv")


def test_rows_without_a_target_and_without_weight_are_told_apart(shop):
    weighed = shop.assign(w=np.where(np.arange(300) < 120, 0, 1))
    weighed.to_csv("weighed.csv", index=False)
    output("fit", "weighed.csv", "-t", "paid", "--weight", "w", *QUICK)
    weighed.loc[[7, 200], "paid"] = None
    weighed.to_csv("weighed.csv", index=False)
    assert as_json("evaluate", "weighed.weald", "weighed.csv")["notes"][:2] == [
        "2 rows without paid are left out.",
        "119 rows of weight 0 are left out.",
    ]
    weighed.drop(columns="w").to_csv("weighed.csv", index=False)
    assert as_json("evaluate", "weighed.weald", "weighed.csv")["notes"][0] == (
        "weighed.csv has no column 'w', which held weights in the fit: all rows count alike."
    )
