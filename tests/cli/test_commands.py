"""`predict`, `evaluate`, `inspect`, `explain` and `theory` on models that `fit` wrote."""

import gzip
import importlib.util
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import numpy as np
import pandas as pd
import pytest

import weald
from weald.dataset import frames, sources

from .running import QUICK, as_json, error, output, run


def test_predictions_are_those_of_the_model(fitted):
    output("predict", "shop.weald", "shop.csv", "--output", "said.csv")
    said = pd.read_csv("said.csv")
    assert list(said) == ["prediction", "probability_late", "probability_on time"]
    day = pd.to_datetime(fitted["day"])
    X = pd.DataFrame(
        {
            "day_year": None,
            "day_month": day.dt.month.astype(float),
            "day_day": day.dt.day.astype(float),
            "day_weekday": day.dt.day_of_week.astype(float),
            "day_days": (day - pd.Timestamp("1970-01-01")).dt.days.astype(float),
            "price": fitted["price"],
            "kind": fitted["kind"],
        }
    ).drop(columns="day_year")  # it is always 2023
    forest = weald.RandomForestClassifier(random_state=0).fit(X, fitted["paid"])
    np.testing.assert_array_equal(said["prediction"], forest.predict(X))
    np.testing.assert_allclose(said["probability_late"], forest.predict_proba(X)[:, 0], rtol=1e-12)


def test_predictions_mind_the_costs_of_mistakes(shop):
    costs = "tree.cost_matrix=[[0, 9], [1, 0]]"
    output("fit", "shop.csv", "-t", "paid", "--set", costs, *QUICK)
    output("predict", "shop.weald", "shop.csv", "-o", "said.csv", "-q")
    said = pd.read_csv("said.csv")
    np.testing.assert_array_equal(
        said["prediction"], np.where(said["probability_late"] > 0.1, "late", "on time")
    )


def test_predictions_do_not_need_target_id_or_order(fitted):
    whole = output("predict", "shop.weald", "shop.csv")
    columns = ["kind", "price", "day"]
    fitted[columns].assign(more=1).to_csv("other.csv", index=False)
    assert output("predict", "shop.weald", "other.csv") == whole
    fitted[columns].to_csv("other.tsv", index=False, sep="\t")
    assert output("predict", "shop.weald", "other.tsv") == whole
    fitted[columns].to_csv("comma.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig")
    assert output("predict", "shop.weald", "comma.csv") == whole
    fitted[columns].to_parquet("other.parquet")
    assert output("predict", "shop.weald", "other.parquet") == whole
    fitted[columns].to_feather("other.feather")
    assert output("predict", "shop.weald", "other.feather") == whole
    fitted[columns].to_json("other.jsonl.gz", orient="records", lines=True)
    assert output("predict", "shop.weald", "other.jsonl.gz") == whole


def test_kinds_of_output(fitted):
    output("predict", "shop.weald", "shop.csv", "-o", "a.csv", "--copy", "order id")
    plain = pd.read_csv("a.csv")
    assert plain["order id"].tolist() == fitted["order id"].tolist()
    assert "300 predictions in b.parquet" in output(
        "predict", "shop.weald", "shop.csv", "-o", "b.parquet"
    )
    output("predict", "shop.weald", "shop.csv", "-o", "c.jsonl", "--quiet")
    output("predict", "shop.weald", "shop.csv", "-o", "d.csv.gz", "--no-proba")
    for other in (pd.read_parquet("b.parquet"), pd.read_json("c.jsonl", lines=True)):
        assert other["prediction"].tolist() == plain["prediction"].tolist()
        np.testing.assert_allclose(other["probability_late"], plain["probability_late"], rtol=1e-9)
    with gzip.open("d.csv.gz", "rt") as file:
        assert file.readline() == "prediction\n"
    line = output("predict", "shop.weald", "shop.csv", "--json").splitlines()[0]
    assert json.loads(line)["prediction"] == plain["prediction"][0]
    assert "must end in" in error(2, "predict", "shop.weald", "shop.csv", "-o", "a.xls")
    assert "standard output" in error(
        2, "predict", "shop.weald", "shop.csv", "-o", "a.csv", "--json"
    )
    assert "Cannot write" in error(3, "predict", "shop.weald", "shop.csv", "-o", "no/a.csv")


def test_a_failed_prediction_leaves_no_file(fitted):
    Path("said.csv").write_text("as it was")
    fitted.assign(price="dear").to_csv("bad.csv", index=False)
    words = error(3, "predict", "shop.weald", "bad.csv", "-o", "said.csv")
    assert "Column 'price' held numbers in fit, but row 1 says 'dear'" in words
    assert Path("said.csv").read_text() == "as it was"
    assert not list(Path().glob(".said*"))
    fitted.assign(day="tomorrow").to_csv("bad.csv", index=False)
    assert "'tomorrow'" in error(3, "predict", "shop.weald", "bad.csv", "-o", "said.csv")
    fitted.drop(columns="kind").rename(columns={"price": "prize"}).to_csv("bad.csv", index=False)
    words = error(3, "predict", "shop.weald", "bad.csv")
    assert "lacks 2 of the 3 columns that the model needs: price, kind. Did you mean prize" in words
    assert "'id' is not a column" in error(3, "predict", "shop.weald", "shop.csv", "--copy", "id")
    Path("none.csv").write_text("day,price,kind\n")
    assert "has no rows" in error(3, "predict", "shop.weald", "none.csv")


def test_new_categories_and_padded_cells_are_fine(fitted):
    fitted.assign(kind="car").to_csv("new.csv", index=False)
    assert len(output("predict", "shop.weald", "new.csv").splitlines()) == 301
    padded = fitted.assign(kind=fitted["kind"].map(lambda one: f"  {one} ", na_action="ignore"))
    padded["price"] = fitted["price"].map(lambda one: "  " if np.isnan(one) else f" {one} ")
    padded.to_csv("padded.csv", index=False)
    assert output("predict", "shop.weald", "padded.csv") == output(
        "predict", "shop.weald", "shop.csv"
    )


def test_copied_columns_must_not_be_called_as_those_of_predictions(fitted):
    fitted.assign(prediction=1).to_csv("shop.csv", index=False)
    message = error(2, "predict", "shop.weald", "shop.csv", "--copy", "prediction", "-o", "a.csv")
    assert message.startswith("--copy 'prediction': the predictions have a column of this name")
    assert not Path("a.csv").exists()


def test_inspect_of_a_model_whose_members_read_the_table(shop):
    X = shop[["price", "kind"]].dropna()
    members = [("tree", weald.DecisionTreeClassifier(max_depth=2))]
    vote = weald.VotingClassifier(members).fit(X, shop["paid"][X.index])
    vote.save("vote.weald")
    assert re.search(r"kind +any", output("inspect", "vote.weald"))


def test_names_in_a_model_do_not_steer_the_terminal(shop):
    X = shop[["price"]].dropna().rename(columns={"price": "red \x1b[31m\x9b"})
    y = np.array(["yes \x1b]0;title\x07", "no \ud800"])[np.arange(len(X)) % 2]
    weald.DecisionTreeClassifier(max_depth=2).fit(X, y).save("tree.weald")
    text = output("inspect", "tree.weald")
    assert not set(text) & set("\x1b\x07\x9b")
    assert r"red \x1b[31m\x9b" in text
    assert r"no \xd800" in text
    found = as_json("inspect", "tree.weald")
    assert found["columns"][0]["name"] == X.columns[0]
    assert found["classes"] == sorted(set(y))


def test_inspect(fitted):
    text = output("inspect", "shop.weald")
    for expected in (
        "forest (RandomForestClassifier)",
        "300 rows",
        "late, on time",
        "3: book, game, tool",
        "month, day, weekday, days",
        "order id: it numbers the rows from 1 to 300",
        "currency: it is always EUR",
        "log-loss",
        weald.__version__,
    ):
        assert expected in text
    found = as_json("inspect", "shop.weald")
    assert found["classes"] == ["late", "on time"]
    assert found["fit"]["leaderboard"][0]["method"] == "forest"


def test_explain(fitted):
    words = output("explain", "shop.weald", "shop.csv", "--row", 2, "--row", 300)
    assert words.startswith("row 2 predicts ")
    assert "row 300 predicts " in words
    assert "because" in words
    [one] = as_json("explain", "shop.weald", "shop.csv", "--row", 7)
    assert one["row"] == 7
    effects = [abs(each["effect"]) for each in one["effects"]]
    assert effects == sorted(effects, reverse=True)
    assert {each["column"] for each in one["effects"][:2]} == {"price", "kind"}
    assert "beyond the 300 rows" in error(2, "explain", "shop.weald", "shop.csv", "--row", 301)
    assert "from 1" in error(2, "explain", "shop.weald", "shop.csv", "--row", 0)


def test_explain_a_tree_by_its_path(shop):
    output("fit", "shop.csv", "--target", "paid", *QUICK)
    words = output("explain", "shop.weald", "shop.csv", "--row", 3)
    assert words.startswith("row 3 predicts")
    assert "because" in words
    assert ">" in words or "<=" in words or " in " in words


def test_theory(fitted):
    words = output("theory", "shop.weald", "shop.csv")
    for expected in ("MARGINS", "PAC-BAYES", "CORRELATION", "Does not apply: certificate"):
        assert expected in words
    output("fit", "shop.csv", "--target", "paid", "-m", "adaboost", "--cv", 2, "--no-report", "-q")
    found = as_json("theory", "shop.weald", "shop.csv")
    assert "200 rounds, 300 rows" in found["says"]["Certificate of boosting"]
    fitted[:100].to_csv("part.csv", index=False)
    assert "100" in as_json("theory", "shop.weald", "part.csv")["notes"][0]
    fitted.assign(price=fitted["price"] + 1).to_csv("other.csv", index=False)
    assert "are not those" in as_json("theory", "shop.weald", "other.csv")["notes"][0]
    assert as_json("theory", "shop.weald", "shop.csv")["notes"] == []
    output("fit", "--data", "diabetes", *QUICK)
    assert "Nothing" in output("theory", "diabetes.weald", "--data", "diabetes")


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain", "theory", "inspect"])
def test_model_files_that_are_none(command, shop):
    rest = [] if command == "inspect" else ["shop.csv"]
    Path("shop.weald").write_bytes(b"rubbish" * 10)
    assert "Cannot read shop.weald" in error(4, command, "shop.weald", *rest)
    assert "Did you mean shop.weald" in error(4, command, "shp.weald", *rest)


def test_a_model_of_python_has_no_recipe(shop):
    tree = weald.DecisionTreeClassifier().fit(shop[["price"]], shop["paid"])
    weald.save(tree, "own.weald")
    assert "weald.load" in error(4, "predict", "own.weald", "shop.csv")
    assert "DecisionTreeClassifier" in output("inspect", "own.weald")


def test_classes_of_numbers_stay_numbers():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=100).round(3)})
    table["y"] = (table["x"] > 0).astype(int)
    table.to_csv("xy.csv", index=False)
    assert as_json("fit", "xy.csv", "-t", "y", *QUICK)["task"] == "classification"
    assert output("predict", "xy.weald", "xy.csv", "--no-proba").splitlines()[1] in ("0", "1")
    assert as_json("evaluate", "xy.weald", "xy.csv")["scores"]["accuracy"]["score"] == 1


@pytest.mark.parametrize("fitted_by", ["pyarrow", None])
def test_without_libraries_predictions_are_the_same(shop, fitted_by, monkeypatch):
    """Fitted with a library of data frames or without, asked with it and without."""
    real = importlib.util.find_spec

    def use(library):
        monkeypatch.setattr(frames, "_library", lambda: library)
        monkeypatch.setattr(
            sources.importlib.util,
            "find_spec",
            lambda name, *rest: None if name == "pyarrow" != library else real(name, *rest),
        )

    use(fitted_by)
    output("fit", "shop.csv", "-t", "paid", "-m", "forest", "--cv", 2, "--no-report", "-q")
    said = []
    for library in ("pyarrow", None):
        use(library)
        output("predict", "shop.weald", "shop.csv", "-o", "said.csv", "-q")
        said.append(pd.read_csv("said.csv"))
        output("explain", "shop.weald", "shop.csv", "--row", 2)
        assert as_json("evaluate", "shop.weald", "shop.csv")["rows"] == 300
    pd.testing.assert_frame_equal(*said)


def test_without_pyarrow_the_extra_is_named(shop, monkeypatch):
    output("fit", "shop.csv", "-t", "paid", "-m", "tree", "--cv", 2, "--no-report", "-q")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    said = error(2, "predict", "shop.weald", "shop.csv", "-o", "said.parquet")
    assert "Writing Parquet needs pyarrow; install it with: pip install weald[arrow]" in said
    assert not list(Path().glob("said*"))


@pytest.mark.slow
def test_ctrl_c_in_a_process_of_its_own():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20_000, 20)), columns=[f"x{j}" for j in range(20)])
    X["y"] = X["x0"] * X["x1"] + rng.normal(size=20_000)
    X.to_parquet("long.parquet")
    code = "from weald.cli import main; main()"
    options = ["fit", "long.parquet", "-t", "y", "--no-report", "--time", "600"]
    options += ["-m", "boosting", "-m", "bagging", "--set", "boosting.n_estimators=20"]
    options += ["--set", "bagging.n_estimators=10000"]
    running = subprocess.Popen([sys.executable, "-c", code, *options], stdout=subprocess.PIPE)
    sleep(20)  # boosting is done by then, bagging is not
    running.send_signal(signal.SIGINT)
    shown, _ = running.communicate(timeout=120)
    assert running.returncode == 0, shown
    assert b"bagging has no score: stopped by Ctrl-C" in shown
    assert "boosting" in output("inspect", "long.weald")


def test_commands_in_processes_of_their_own(shop):
    def weald_command(*args):
        code = "from weald.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *args], capture_output=True, text=True, check=False
        )

    done = weald_command("fit", "shop.csv", "--target", "paid", *QUICK)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no bar, as it is no terminal
    assert "shop.weald" in done.stdout
    done = weald_command("predict", "shop.weald", "shop.csv")
    assert len(done.stdout.splitlines()) == 301
    done = weald_command("predict", "shop.weald", "shp.csv")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "weald: There is no file shp.csv. Did you mean shop.csv?\n"


def test_wrong_use_of_the_program_is_told_in_a_sentence():
    assert error(2, "fit", "--no-such-option").startswith("No such option: --no-such-option")
    assert error(2, "predict") == "Missing argument 'MODEL'. See weald predict --help."
    assert error(2, "fitt").startswith("No such command 'fitt'.")
    for wrong in ("--time=soon", "--cv=2.5", "--task=guess"):
        words = error(2, "fit", "--data", "iris", wrong)
        assert words.startswith(f"Invalid value for '{wrong.partition('=')[0]}'")
        assert words.endswith("See weald fit --help.")
    bare = run()
    assert "fit" in bare.output
    assert bare.exit_code == 2
    assert run("--help").exit_code == run("fit", "--help").exit_code == 0
    with pytest.raises(ZeroDivisionError):  # a defect is no mistake of the user
        run_with_defect()


def run_with_defect():
    from weald.cli import model_file

    def wrong(path):
        raise ZeroDivisionError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_file, "describe_model", wrong)
        raise run("inspect", "any.weald").exception
