"""The command line: summaries, JSON, files of all kinds, and errors in one sentence."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import weald
from weald.cli import app
from weald.cli.loading import guess_task
from weald.explain import export_text


def run(*args):
    return CliRunner().invoke(app, list(args))


def fit_json(*args):
    result = run("fit", "--json", *args)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def error_of(*args):
    result = run("fit", *args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
    return result.stderr.strip()


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 120
    table = pd.DataFrame(
        {
            "height": rng.normal(172, 9, n).round(1),
            "color": rng.choice(["red", "blue", "green"], n),
            "weight": rng.integers(0, 4, n),
            "noise": rng.normal(size=n),
        }
    )
    table.loc[::7, "height"] = np.nan
    table.loc[::11, "color"] = None
    table["club"] = np.where(table["color"].eq("red"), "chess", "rowing")
    table["age"] = table["height"].fillna(150) / 3 + rng.normal(size=n)
    return table


@pytest.fixture
def people_csv(people, tmp_path):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    return str(path)


def test_version_and_help_do_not_wait_for_heavy_libraries():
    code = (
        "import sys; from weald.cli import app\n"
        "try: app(['fit', '--help'])\n"
        "except SystemExit as stop: assert not stop.code\n"
        "heavy = {'sklearn', 'pandas', 'polars', 'pyarrow', 'matplotlib', 'scipy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--max-leaf-nodes" in done.stdout
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"weald {weald.__version__}\n"


def test_summary_for_people():
    result = run("fit", "--data", "iris", "--max-depth", "2")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # no progress display unless the stream is a terminal
    text = result.stdout
    for expected in ("150", "4 numeric", "3 classes", "accuracy", "log loss", "depth 2, 3 leaves"):
        assert expected in text
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    tree = weald.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, names)
    assert text.endswith(export_text(tree, feature_names=load_iris().feature_names))
    assert "|---" not in run("fit", "--data", "iris", "--no-rules", "--cv", "2").stdout


@pytest.mark.parametrize("data", ["iris", "wine", "digits", "breast_cancer", "diabetes"])
def test_built_in_data(data):
    found = fit_json("--data", data, "--max-depth", "3", "--cv", "3")
    assert found["task"] == ("regression" if data == "diabetes" else "classification")
    scores = found["cross_validation"]
    assert list(scores) == (["R2", "RMSE"] if data == "diabetes" else ["accuracy", "log loss"])
    main = scores["R2" if data == "diabetes" else "accuracy"]
    assert main["mean"] > (0.2 if data == "diabetes" else 0.4)
    assert main["mean"] == pytest.approx(np.mean(main["folds"]))
    assert main["sd"] == pytest.approx(np.std(main["folds"], ddof=1))
    assert len(main["folds"]) == 3
    assert sum(found["importances"].values()) == pytest.approx(1)
    assert found["tree"]["depth"] == 3


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "polars.parquet"])
def test_files(people, kind, tmp_path):
    path = tmp_path / f"people.{kind}"
    if kind == "polars.parquet":
        pl.from_pandas(people).write_parquet(path)
    elif kind == "parquet":
        people.to_parquet(path, index=False)
    else:
        people.to_csv(path, index=False)
    found = fit_json("--data", str(path), "--target", "club", "--drop", "age", "--cv", "3")
    assert found["task"] == "classification"
    assert found["classes"] == ["chess", "rowing"]
    assert found["rows"] == 120
    assert found["numeric_columns"] == ["height", "weight", "noise"]
    assert found["categorical_columns"] == ["color"]
    assert "color in {" in found["rules"]
    assert found["cross_validation"]["accuracy"]["mean"] > 0.95


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars"])
def test_any_one_data_frame_library_will_do(library, people_csv, monkeypatch):
    import importlib.util

    real = importlib.util.find_spec

    def only_one(name, *args):
        hidden = {"pandas", "pyarrow", "polars"} - {library}
        return None if name in hidden else real(name, *args)

    monkeypatch.setattr(importlib.util, "find_spec", only_one)
    args = ("--data", people_csv, "--target", "club", "--drop", "age", "--cv", "0")
    found = fit_json(*args)
    assert found["rows"] == 120
    assert found["categorical_columns"] == ["color"]


def test_without_any_data_frame_library_the_way_out_is_named(people_csv, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *args: None)
    message = error_of("--data", people_csv, "--target", "club")
    assert "pip install" in message


def test_weights_and_dropped_columns(people_csv, people):
    args = ("--data", people_csv, "--target", "age", "--weight", "weight", "--max-depth", "3")
    found = fit_json(*args, "--drop", "club", "--drop", "noise", "--cv", "2")
    assert found["columns"] == ["height", "color"]
    assert found["weight"] == "weight"
    assert found["task"] == "regression"
    tree = weald.DecisionTreeRegressor(max_depth=3, random_state=0)
    tree.fit(people[["height", "color"]], people["age"], sample_weight=people["weight"])
    assert found["rules"] == export_text(tree, max_depth=5)


def test_options_reach_the_tree(people_csv):
    args = ("--data", people_csv, "--target", "age", "--drop", "club", "--cv", "0")
    found = fit_json(*args, "--max-leaf-nodes", "4", "--criterion", "absolute_error")
    assert found["tree"]["leaves"] == 4
    assert found["cross_validation"] == {}
    few = fit_json(*args, "--min-samples-leaf", "0.3")
    many = fit_json(*args, "--min-samples-leaf", "2", "--max-bins", "16", "--n-jobs", "2")
    assert few["tree"]["leaves"] <= 3 < many["tree"]["leaves"]
    pruned = fit_json(*args, "--ccp-alpha", "cv_1se")
    assert pruned["tree"]["ccp_alpha"] > 0
    assert pruned["tree"]["leaves"] < many["tree"]["leaves"]
    shallow = fit_json(*args, "--max-rules-depth", "0")["rules"]
    assert "truncated branch" in shallow
    assert fit_json(*args, "--no-rules")["rules"] is None


def test_same_seed_same_answer():
    args = ("--data", "wine", "--seed", "3")
    assert fit_json(*args) == fit_json(*args)
    other = fit_json("--data", "wine", "--seed", "4")
    assert other["cross_validation"] != fit_json(*args)["cross_validation"]


def test_task_can_be_chosen(people_csv):
    args = ("--data", people_csv, "--target", "weight", "--cv", "2")
    assert fit_json(*args)["task"] == "classification"
    assert fit_json(*args, "--task", "regression")["task"] == "regression"
    message = error_of("--data", people_csv, "--target", "club", "--task", "regression")
    assert message == (
        "weald: The target 'club' holds text, so it cannot be a regression; "
        "use --task classification."
    )


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (["a", "b", "a"], "classification"),
        ([True, False, True], "classification"),
        ([0, 1, 0, 1, 1, 0], "classification"),
        ([1.0, 2.0, 1.0, 2.0], "classification"),
        ([20, 32, 40, 28, 22, 40, 70], "regression"),
        ([0.5, 1.5, 0.5, 1.5], "regression"),
        (list(range(21)) * 4, "regression"),
    ],
)
def test_task_is_guessed_from_the_target(target, task):
    assert guess_task(np.array(target)) == task


def test_a_rare_class_is_noted(tmp_path):
    table = pd.DataFrame({"x": range(41), "y": ["a"] * 20 + ["b"] * 20 + ["c"]})
    path = tmp_path / "rare.csv"
    table.to_csv(path, index=False)
    found = fit_json("--data", str(path), "--target", "y")
    assert found["notes"] == ["Classes with fewer rows than the 5 folds: c."]
    assert np.isfinite(found["cross_validation"]["log loss"]["mean"])
    assert (
        "note: Classes with fewer rows" in run("fit", "--data", str(path), "--target", "y").stdout
    )


def test_unknown_data_gets_a_suggestion():
    message = error_of("--data", "irsi")
    assert message.endswith("Did you mean iris?")
    assert "breast_cancer" in error_of("--data", "nothing like it")
    assert error_of("--data", "lost.csv") == "weald: There is no file lost.csv."


def test_missing_columns_are_told_with_the_ones_there_are(people_csv):
    message = error_of("--data", people_csv, "--target", "clubs")
    assert "the columns are: height, color, weight, noise, club, age." in message
    assert message.endswith("Did you mean club?")
    assert "--weight 'w' is not a column" in error_of("--data", "iris", "--weight", "w")
    assert "--drop 'w' is not a column" in error_of("--data", "iris", "--drop", "w")
    assert "needs --target" in error_of("--data", people_csv)
    assert "--target is for files" in error_of("--data", "iris", "--target", "species")
    both = error_of("--data", people_csv, "--target", "age", "--weight", "age")
    assert "both name the column 'age'" in both


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--criterion", "ginni"], "use one of gini, entropy.* Did you mean gini"),
        (["--criterion", "poisson"], "'poisson' does not fit classification"),
        (["--ccp-alpha", "much"], "--ccp-alpha must be a number of at least 0, cv or cv_1se"),
        (["--ccp-alpha", "-1"], "--ccp-alpha must be a number of at least 0"),
        (["--ccp-alpha", "nan"], "--ccp-alpha must be a number of at least 0"),
        (["--min-samples-leaf", "1.5"], "--min-samples-leaf must be a whole number of rows or"),
        (["--min-samples-leaf", "some"], "--min-samples-leaf must be a number"),
        (["--max-depth", "0"], "--max-depth must be at least 1, got 0"),
        (["--max-leaf-nodes", "1"], "--max-leaf-nodes must be at least 2, got 1"),
        (["--max-bins", "1"], "max_bins"),
        (["--cv", "1"], "--cv needs at least 2 folds"),
        (["--cv", "-1"], "--cv must be at least 0"),
        (["--cv", "80"], "--cv 80 needs at least 160 rows and there are 150"),
        (["--cv", "60"], "No class of 'species' has 60 rows"),
        (["--seed", "-1"], "--seed must be at least 0"),
        (["--max-rules-depth", "-1"], "--max-rules-depth must be at least 0"),
    ],
)
def test_bad_options_get_one_sentence(options, message):
    assert re.search(message, error_of("--data", "iris", *options))


def test_bad_files_get_one_sentence(people, tmp_path):
    def saved(table, name="table.csv"):
        path = tmp_path / name
        table.to_csv(path, index=False)
        return str(path)

    assert "must end in .csv" in error_of("--data", saved(people, "p.txt"), "--target", "age")
    holes = error_of("--data", saved(people), "--target", "height")
    assert "target column 'height' has 18 missing values" in holes
    assert "has no rows" in error_of("--data", saved(people[:0]), "--target", "age")
    alone = error_of("--data", saved(people[["age"]]), "--target", "age")
    assert "no column besides the target" in alone
    every = [arg for name in people.columns.drop("age") for arg in ("--drop", name)]
    assert "No column is left" in error_of("--data", saved(people), "--target", "age", *every)
    text = error_of("--data", saved(people), "--target", "age", "--weight", "club")
    assert text == "weald: The weight column 'club' must hold numbers."
    negative = error_of("--data", saved(people), "--target", "age", "--weight", "noise")
    assert "must hold numbers of at least 0" in negative
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"not parquet at all")
    assert "Cannot read" in error_of("--data", str(broken), "--target", "age")


def test_options_typer_refuses_end_with_code_2():
    assert run("fit").exit_code == 2
    assert run("fit", "--data", "iris", "--task", "guess").exit_code == 2
    assert run("fit", "--data", "iris", "--max-depth", "deep").exit_code == 2
