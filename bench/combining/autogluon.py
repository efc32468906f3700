"""The super learner beside AutoGluon, with the same seconds: `make superlearner-autogluon`.

Both get the training rows of a random split and a limit of 60 seconds; the loss is that of the test
rows. AutoGluon has presets that trade time for accuracy; two of them take part. Results are kept in
build/combining/autogluon, and only what is not there yet is run; `--fresh` fits ours again.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean
from time import perf_counter

import numpy as np
import pandas as pd

import weald
from bench import machine
from bench.categories import Inputs
from bench.combining.run import CHOSEN
from bench.defaults.run import loss
from bench.defaults.tables import Part, Table, split
from bench.measure import ROOT
from bench.report import aligned

SECONDS = 60
CORES = 2
KEPT = ROOT / "build" / "combining" / "autogluon"
# Of both halves and of all kinds, from a few thousand rows on: small ones need no minute.
NAMES = (
    *("phoneme", "waveform21", "wine_quality", "protein", "adult"),
    *("california", "satimage", "kin8nm"),
)
TABLES = [table for table in CHOSEN if table.name in NAMES]

Fitted = tuple[np.ndarray, float]
"""Predictions of the test rows, and the seconds that the fit took."""


def ours(table: Table, train: Part, X_test: Inputs) -> Fitted:
    """The default super learner with a time limit."""
    kind = "SuperLearnerClassifier" if "classes" in table.kind else "SuperLearnerRegressor"
    model = getattr(weald, kind)(time_limit=SECONDS, n_jobs=CORES, random_state=0)
    start = perf_counter()
    model.fit(train.X, train.y)
    seconds = perf_counter() - start
    return (model.predict_proba if "classes" in table.kind else model.predict)(X_test), seconds


def autogluon(preset: str) -> Callable[[Table, Part, Inputs], Fitted]:
    """AutoGluon with one of its presets."""

    def run(table: Table, train: Part, X_test: Inputs) -> Fitted:
        from autogluon.tabular import TabularPredictor

        classes = "classes" in table.kind
        kind = {"two classes": "binary", "classes": "multiclass"}.get(table.kind, "regression")
        metric = "log_loss" if classes else "root_mean_squared_error"
        with tempfile.TemporaryDirectory() as folder:
            model = TabularPredictor("target", kind, metric, path=folder, verbosity=0)
            start = perf_counter()
            frame = pd.DataFrame(train.X).assign(target=train.y)
            try:
                model.fit(frame, presets=preset, time_limit=SECONDS, num_cpus=CORES, num_gpus=0)
            except AssertionError as error:  # this is how it says that the time was too short
                raise TimeoutError(str(error)) from error
            seconds = perf_counter() - start
            X = pd.DataFrame(X_test)
            said = model.predict_proba(X) if classes else model.predict(X)
            return said.to_numpy(), seconds

    return run


CONTENDERS: dict[str, Callable[[Table, Part, Inputs], Fitted]] = {
    "weald": ours,
    "AutoGluon medium": autogluon("medium_quality"),
    "AutoGluon high": autogluon("high_quality"),
}


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.combining.autogluon", description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN", help="tables, as a regex")
    parser.add_argument("--who", default="", metavar="PATTERN", help="contenders, as a regex")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="fit ours again though it is kept")
    return parser.parse_args()


def measured(table: Table, number: int, name: str, fresh: bool) -> dict[str, float]:
    """Loss and seconds of one fit, from the file if it is kept."""
    path = KEPT / f"{table.name}-{number}-{name.replace(' ', '-')}.json"
    if path.exists() and not (fresh and name == "weald"):
        kept: dict[str, float] = json.loads(path.read_text())
        return kept
    train, test = split(table, number)
    start = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said, seconds = CONTENDERS[name](table, train, test.X)
        made = {"loss": loss(table, test, np.asarray(said, dtype=np.float64)), "seconds": seconds}
    except TimeoutError:
        made = {"loss": np.inf, "seconds": perf_counter() - start}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made))
    print(f"{table.name}, split {number}, {name}: {made['loss']:.5g}, {seconds:.1f} s", flush=True)
    return made


def page(results: dict[tuple[Table, int], dict[str, dict[str, float]]]) -> str:
    """Losses of all, relative to the best preset, and the seconds of the fits."""
    peers = [name for name in CONTENDERS if name != "weald"]
    head = ("table", "half", "split", *(f"{name}, loss" for name in CONTENDERS), "weald / best")
    rows: list[tuple[str, ...]] = []
    ratios: list[tuple[str, float]] = []
    against: dict[str, list[float]] = {name: [] for name in peers}
    for (table, number), each in results.items():
        ratio = each["weald"]["loss"] / min(each[name]["loss"] for name in peers)
        ratios.append((table.half, ratio))
        for name in peers:
            if np.isfinite(each[name]["loss"]):
                against[name].append(each["weald"]["loss"] / each[name]["loss"])
        told = (
            f"{one['loss']:.4g} in {one['seconds']:.0f} s"
            if np.isfinite(one["loss"])
            else "no model"
            for one in each.values()
        )
        rows.append((table.name, table.half, str(number), *told, f"{ratio:.3f}"))
    means = [
        f"over {name}: {geometric_mean(against[name]):.3f} ({len(against[name])} fits)"
        for name in peers
    ]
    means += [f"over the better of them: {geometric_mean([r for _, r in ratios]):.3f}"]
    means += [
        f"on the half {half!r}: {geometric_mean([r for h, r in ratios if h == half]):.3f}"
        for half in ("tune", "check")
        if any(h == half for h, _ in ratios)
    ]
    return "\n".join(
        [
            "# The super learner beside AutoGluon\n",
            f"Made by `make superlearner-autogluon`; do not edit. {SECONDS} seconds and {CORES} "
            "cores for each fit, log loss or root mean squared error on test rows. No model: the "
            "time ended before there was one; such a fit does not count in its preset's mean.\n",
            "\n".join(f"- {name}: {value}" for name, value in machine.facts().items()),
            "",
            f"Loss of weald, geometric means: {'; '.join(means)}.\n",
            aligned(head, rows),
            "",
        ]
    )


def main() -> None:
    """Make the missing fits and write the page."""
    chosen = options()
    results: dict[tuple[Table, int], dict[str, dict[str, float]]] = {}
    for table in TABLES:
        if not re.search(chosen.only, table.name):
            continue
        for number in range(chosen.splits):
            each = {
                name: measured(table, number, name, chosen.fresh)
                for name in CONTENDERS
                if re.search(chosen.who, name)
            }
            if len(each) == len(CONTENDERS):
                results[table, number] = each
    if results:
        text = page(results)
        whole = len(results) >= len(TABLES)
        target = (ROOT / "bench" / "combining" if whole else KEPT) / "AUTOGLUON.md"
        Path(target).write_text(text)
        print(text, f"written to {target}", sep="\n")


if __name__ == "__main__":
    main()
