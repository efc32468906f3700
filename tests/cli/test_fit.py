"""`weald fit`: the leaderboard, what it writes, and the time it takes."""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score

import weald
from weald.callbacks import TimeLimit
from weald.cli.methods import METHODS, make
from weald.dataset import BUNDLED, bundled, read_training

from .running import QUICK, as_json, error, output, run


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    n = 120
    table = pd.DataFrame(
        {
            "height": rng.normal(172, 9, n).round(1),
            "color": rng.choice(["red", "blue", "green"], n),
            "times": rng.integers(1, 4, n),
            "family": rng.integers(0, 12, n),
        }
    )
    table.loc[::7, "height"] = np.nan
    table["club"] = np.where(table["color"].eq("red"), "chess", "rowing")
    table["age"] = table["height"].fillna(150) / 3 + rng.normal(size=n)
    table.to_csv("people.csv", index=False)
    return table


def test_help_and_version_do_not_wait_for_heavy_libraries():
    code = (
        "import sys; from weald.cli import app\n"
        "try: app(['fit', '--help'])\n"
        "except SystemExit as stop: assert not stop.code\n"
        "heavy = {'sklearn', 'pandas', 'polars', 'pyarrow', 'matplotlib', 'scipy', 'numpy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--metric" in done.stdout
    assert output("--version") == f"weald {weald.__version__}\n"
    assert "--install-completion" in run("--help").stdout


def test_the_whole_job_in_words():
    text = output("fit", "--data", "iris", "--method", "tree", "--method", "forest")
    for expected in ("150 rows", "3 classes", "4 numeric", "5-fold", "log loss", "std. error"):
        assert expected in text
    assert text.index("forest") < text.index("tree")  # the better one first
    assert Path("iris.weald").stat().st_size > 0
    assert "<html" in Path("iris.html").read_text().lower()
    assert "iris.weald" in text
    assert "iris.html" in text
    assert output("fit", "--data", "iris", *QUICK, "--quiet") == ""


def test_where_files_are_written():
    output("fit", "--data", "iris", *QUICK, "--model", "a.weald")
    output("fit", "--data", "iris", *QUICK[:-1], "--model", "b.weald", "--report", "c.html", "-q")
    assert sorted(path.name for path in Path().iterdir()) == ["a.weald", "b.weald", "c.html"]


@pytest.mark.parametrize("method", [name for name in METHODS if name != "super-learner"])
def test_the_leaderboard_is_what_cross_val_score_says(method):
    found = as_json(
        "fit", "--data", "breast_cancer", "--method", method, "--seed", 3, "--no-report"
    )
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = load_breast_cancer().target_names[y]
    model = make(METHODS[method], "classification", 3)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    scores = -cross_val_score(model, X, labels, cv=folds, scoring="neg_log_loss")
    [entry] = found["leaderboard"]
    assert entry["score"] == pytest.approx(scores.mean(), rel=1e-9)
    assert entry["folds"] == pytest.approx(scores, rel=1e-9)
    assert entry["standard_error"] > 0


@pytest.mark.parametrize("data", ["iris", "breast_cancer"])
@pytest.mark.parametrize(
    ("metric", "scorer"),
    [("accuracy", "accuracy"), ("auc", "roc_auc_ovr"), ("f1", "f1_macro"), ("recall_macro", None)],
)
def test_metrics_of_classes_are_those_of_scikit_learn(data, metric, scorer):
    found = as_json("fit", "--data", data, *QUICK, "--metric", metric)
    training = read_training(bundled(data), BUNDLED[data])
    X = training.X.to_pandas()
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = make(METHODS["tree"], "classification", 0)
    scores = cross_val_score(model, X, training.y, cv=folds, scoring=scorer or metric)
    [entry] = found["leaderboard"]
    assert entry["folds"] == pytest.approx(scores, rel=1e-9)
    assert entry["standard_error"] == pytest.approx(scores.std(ddof=1) / np.sqrt(3), rel=1e-9)
    assert found["higher_is_better"]


@pytest.mark.parametrize("method", ["boosting", "adaboost"])
@pytest.mark.parametrize(("metric", "scorer", "sign"), [
    ("rmse", "neg_root_mean_squared_error", -1),
    ("r2", "r2", 1),
    ("neg_median_absolute_error", "neg_median_absolute_error", -1),
])  # fmt: skip
def test_the_leaderboard_of_numbers(method, metric, scorer, sign):
    found = as_json(
        "fit", "--data", "diabetes", "-m", method, "--metric", metric, "--cv", 3, "--no-report"
    )
    X, y = load_diabetes(return_X_y=True, scaled=False, as_frame=True)
    folds = KFold(3, shuffle=True, random_state=0)
    model = make(METHODS[method], "regression", 0)
    scores = sign * cross_val_score(model, X, y, cv=folds, scoring=scorer)
    [entry] = found["leaderboard"]
    assert entry["score"] == pytest.approx(scores.mean(), rel=1e-9)
    assert entry["standard_error"] == pytest.approx(scores.std(ddof=1) / np.sqrt(3), rel=1e-9)


def test_the_super_learner_agrees_if_there_is_time():
    found = as_json(
        "fit", "--data", "iris", "-m", "super-learner", "--cv", 2, "--time", 1000, "--no-report",
        "--set", "cv=2",
    )  # fmt: skip
    training = read_training(bundled("iris"), "species")
    model = weald.SuperLearnerClassifier(cv=2, random_state=0)
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    scores = cross_val_score(
        model, load_iris().data, training.y, cv=folds, scoring="neg_log_loss", error_score="raise"
    )
    assert found["leaderboard"][0]["folds"] == pytest.approx(-scores, rel=1e-9)


def test_the_best_model_is_fitted_to_all_rows():
    output("fit", "--data", "breast_cancer", "-m", "forest", "-m", "tree", "--cv", 2, "--no-report")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = load_breast_cancer().target_names[y]
    forest = weald.RandomForestClassifier(random_state=0).fit(X, labels)
    output("predict", "breast_cancer.weald", "--data", "breast_cancer", "-o", "said.csv")
    said = pd.read_csv("said.csv")
    np.testing.assert_allclose(said["probability_benign"], forest.predict_proba(X)[:, 0])
    assert (said["prediction"] == forest.predict(X)).all()


def test_weights_and_groups(people):
    found = as_json(
        "fit", "people.csv", "-t", "age", *QUICK, "--weight", "times", "--group", "family"
    )
    X = people[["height", "color", "club"]]
    model = make(METHODS["tree"], "regression", 0)
    scores, y = [], people["age"]
    for train, test in GroupKFold(3).split(X, y, people["family"]):
        w = people["times"].to_numpy()
        model.fit(X.iloc[train], y.iloc[train], sample_weight=w[train])
        said = model.predict(X.iloc[test])
        scores.append(
            root_mean_squared_error(people["age"].iloc[test], said, sample_weight=w[test])
        )
    assert found["leaderboard"][0]["folds"] == pytest.approx(scores)
    assert found["recipe"]["weight"] == "times"
    assert found["recipe"]["group"] == "family"


def test_parameters_can_be_set():
    found = as_json(
        "fit", "--data", "iris", "-m", "forest", "-m", "bagging", "--cv", 2, "--no-report",
        "--set", "n_estimators=7", "--set", "forest.max_depth=1",
    )  # fmt: skip
    model = weald.RandomForestClassifier(7, max_depth=1, random_state=0)
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    names = load_iris().target_names[load_iris().target]
    scores = cross_val_score(model, load_iris().data, names, cv=folds, scoring="neg_log_loss")
    [entry] = [one for one in found["leaderboard"] if one["method"] == "forest"]
    assert entry["folds"] == pytest.approx(-scores)


def test_the_time_limit_is_kept():
    """By the processor's time, which is no longer on a machine with other work."""
    seconds = 4.0
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20_000, 10)), columns=[f"x{j}" for j in range(10)])
    X["y"] = np.where(X["x0"] * X["x1"] + rng.normal(size=20_000) > 0, "a", "b")
    X.to_csv("long.csv", index=False)
    began = process_time()
    options = ("--time", seconds, "--n-jobs", 1, "--no-report")
    found = as_json("fit", "long.csv", "-t", "y", *options)
    assert process_time() - began < 2 * seconds + 3
    assert found["leaderboard"]
    assert any(one["cut"] for one in found["leaderboard"]) or found["without_score"]
    assert len(found["leaderboard"]) + len(found["without_score"]) == len(METHODS)


def test_methods_cut_short_are_marked(monkeypatch):
    monkeypatch.setattr(TimeLimit, "on_round", lambda self, state: state.round >= 5)
    chosen = ("-m", "forest", "-m", "bagging", "-m", "tree", "--set", "bagging.n_estimators=5")
    text = output("fit", "--data", "iris", *chosen, "--cv", 2)
    assert re.search(r"^ forest \* ", text, re.M)
    assert re.search(r"^ bagging  ", text, re.M)  # the limit came with its last member
    assert re.search(r"^ tree  ", text, re.M)
    words = "* cut short by --time: fewer members than it would have with more"
    assert words in text
    assert "The fit of forest to all rows was cut short as well" in " ".join(text.split())
    shown = output("inspect", "iris.weald")
    assert re.search(r"^ forest \* ", shown, re.M)
    assert words in shown
    page = Path("iris.html").read_text()
    assert "forest *" in page
    assert "* Cut short by the time limit" in page
    whole = output("fit", "--data", "iris", "-m", "tree", "--cv", 2)
    assert "cut short" not in whole + output("inspect", "iris.weald")
    assert "Cut short" not in Path("iris.html").read_text()


def test_ctrl_c_keeps_what_is_done(monkeypatch):
    from weald.cli import compare

    real = compare._cross_validate

    def stopped(method, *rest):
        if method.name == "tree":
            raise KeyboardInterrupt
        return real(method, *rest)

    monkeypatch.setattr(compare, "_cross_validate", stopped)
    chosen = ("-m", "forest", "-m", "tree", "-m", "adaboost", "--no-report")
    found = as_json("fit", "--data", "iris", *chosen)
    assert [one["method"] for one in found["leaderboard"]] == ["forest"]
    assert found["without_score"] == dict.fromkeys(("tree", "adaboost"), "stopped by Ctrl-C")
    assert found["interrupted"]
    assert "Ctrl-C" in output("fit", "--data", "iris", *chosen)
    assert "Stopped" in error(130, "fit", "--data", "iris", *QUICK, begun=True)


def test_without_time_for_the_best_the_next_one_is_fitted(monkeypatch):
    real = weald.RandomForestClassifier.fit

    def fit(self, X, y, *rest, **more):
        if len(y) == 150:
            raise ValueError("No candidate was fitted on all folds: give a longer time_limit.")
        return real(self, X, y, *rest, **more)

    monkeypatch.setattr(weald.RandomForestClassifier, "fit", fit)
    found = as_json("fit", "--data", "iris", "-m", "forest", "-m", "tree", "--no-report")
    assert [one["method"] for one in found["leaderboard"]] == ["forest", "tree"]
    assert found["method"] == "tree"
    assert found["notes"] == ["There was no time to fit forest to all rows: tree is taken."]
    assert "tree, fitted to all rows" in output(
        "fit", "--data", "iris", "-m", "forest", "-m", "tree", "--no-report"
    )


def test_a_failing_method_does_not_stop_the_others(people):
    found = as_json(
        "fit", "people.csv", "-t", "age", "-m", "tree", "-m", "forest", "--cv", 2, "--no-report",
        "--set", "forest.max_features=99.5",
    )  # fmt: skip
    assert [one["method"] for one in found["leaderboard"]] == ["tree"]
    assert "max_features" in found["without_score"]["forest"]
    wrong = ("fit", "people.csv", "-t", "age", *QUICK, "--set", "max_depth=-1")
    assert "max_depth" in error(2, *wrong, begun=True)


def test_without_a_time_nothing_is_done(monkeypatch):
    from weald.cli import compare

    monkeypatch.setattr(compare, "_cross_validate", lambda *given: "no time left")
    assert "--time" in error(5, "fit", "--data", "iris", *QUICK, begun=True)


BAD_OPTIONS = {
    "no file": ([], "Give a FILE"),
    "both": (["people.csv", "--data", "iris"], "not both"),
    "no target": (["people.csv"], "--target which column"),
    "method": (["--data", "iris", "-m", "forrest"], "Did you mean forest"),
    "metric": (["--data", "iris", "--metric", "acuracy"], "Did you mean accuracy"),
    "metric of numbers": (["--data", "iris", "--metric", "rmse"], "for regression"),
    "cv": (["--data", "iris", "--cv", "1"], "--cv must be at least 2"),
    "many folds": (["--data", "iris", "--cv", "100"], "--cv 100 needs at least 200 rows"),
    "rare classes": (["--data", "iris", "--cv", "60"], "smaller --cv"),
    "time": (["--data", "iris", "--time", "0"], "--time"),
    "seed": (["--data", "iris", "--seed", "-1"], "--seed"),
    "set": (["--data", "iris", "--set", "depth"], "parameter=value"),
    "set unknown": (["--data", "iris", *QUICK, "--set", "max_dept=3"], "Did you mean max_depth"),
    "set of another": (["--data", "iris", *QUICK, "--set", "forest.max_depth=3"], "not among tree"),
    "reports": (["--data", "iris", "--report", "a.html", "--no-report"], "not both"),
    "bundled as file": (["iris", "-t", "species"], "--data iris"),
    "write": (["--data", "iris", "--model", "nowhere/a.weald"], "there is no folder nowhere"),
    "write a folder": (["--data", "iris", "--report", "."], "is a folder"),
    "few groups": (["people.csv", "-t", "age", "--group", "club", "--cv", "5"], "smaller --cv"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_wrong_options_are_told_in_a_sentence(people, case):
    args, words = BAD_OPTIONS[case]
    assert words in error(2, "fit", *args)


BAD_DATA = {
    "path": (["peple.csv", "-t", "age"], "Did you mean people.csv"),
    "folder": (["nowhere/people.csv", "-t", "age"], "Nor is there a folder"),
    "a folder": ([".", "-t", "age"], "is a folder"),
    "ending": (["people.sav", "-t", "age"], "must end in"),
    "target": (["people.csv", "-t", "agee"], "Did you mean age"),
    "weight": (["people.csv", "-t", "age", "--weight", "color"], "numbers of at least 0"),
    "group": (["people.csv", "-t", "age", "--group", "colour"], "Did you mean color"),
    "drop": (["people.csv", "-t", "age", "--drop", "colour"], "Did you mean color"),
    "twice": (["people.csv", "-t", "age", "--weight", "age"], "both name the column 'age'"),
    "type": (["people.csv", "-t", "club", "--task", "regression"], "holds text"),
    "bundled": (["--data", "iriss"], "Did you mean iris"),
    "empty": (["empty.csv", "-t", "a"], "is empty"),
    "no rows": (["header.csv", "-t", "a"], "has no rows"),
    "only a target": (["one.csv", "-t", "a"], "no column to learn from"),
    "cells": (["ragged.csv", "-t", "a"], "has a row of 3 cells where its header has 2"),
    "numbers first": (["bare.csv", "-t", "a"], "must hold the names of the columns"),
    "broken": (["broken.parquet", "-t", "a"], "Cannot read broken.parquet"),
    "broken gz": (["broken.csv.gz", "-t", "a"], "Cannot read broken.csv.gz"),
    "a list": (["list.json", "-t", "a"], "one object per line"),
    "no json": (["bad.jsonl", "-t", "a"], "Line 2 of bad.jsonl is not JSON"),
    "nested": (["nested.jsonl", "-t", "a"], "lists or objects"),
    "binary": (["zero.csv", "-t", "a"], "not a text file"),
    "empty target": (["blank.csv", "-t", "a"], "nothing to learn"),
    "names as target": (["names.csv", "-t", "a"], "names rows rather than classes"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_wrong_data_are_told_in_a_sentence(people, case):
    Path("people.sav").write_text("x")
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("a,b\n")
    Path("one.csv").write_text("a\n1\n2\n3\n")
    Path("ragged.csv").write_text("a,b\n1,2\n1,2,3\n" + "1,2\n" * 20)
    Path("bare.csv").write_text("1,2.5\n3,4\n")
    Path("broken.parquet").write_text("no parquet")
    Path("broken.csv.gz").write_bytes(b"\x1f\x8b\x08\x00rubbish")
    Path("list.json").write_text('[{"a": 1}]')
    Path("bad.jsonl").write_text('{"a": 1}\n{"a": \n')
    Path("nested.jsonl").write_text('{"a": 1, "b": [1]}\n{"a": 2, "b": []}\n')
    Path("zero.csv").write_bytes(b"a,b\n1,\x00\n")
    Path("blank.csv").write_text("a,b\n" + ",1\n" * 20)
    Path("names.csv").write_text("a,b\n" + "".join(f"n{i},{i % 3}\n" for i in range(30)))
    args, words = BAD_DATA[case]
    assert words in error(3, "fit", *args, *QUICK)
    assert not list(Path().glob("*.weald"))


def test_one_class_is_nothing_to_learn(people):
    people.assign(club="chess").to_csv("same.csv", index=False)
    assert "is always chess" in error(2, "fit", "same.csv", "-t", "club", *QUICK)


def test_json_is_all_there_is_to_know(people):
    found = as_json("fit", "people.csv", "-t", "club", "-m", "tree", "--cv", 3)
    assert found["task"] == "classification"
    assert found["rows"] == 120
    assert found["model"] == "people.weald"
    assert found["report"] == "people.html"
    assert found["metric"] == "log-loss"
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("what", ["the model", "the report"])
def test_a_full_disk(what):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    room = 1000 if what == "the model" else 20_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        args = ("fit", "--data", "wine", "--method", "tree", "--cv", "3")
        said = error(3, *args, begun=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert said.startswith("Cannot write")
    assert "File too large" in said
