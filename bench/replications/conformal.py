"""Intervals of regression forests: how many held-out targets they cover."""

from __future__ import annotations

import numpy as np

from bench.replications.figures import figure
from bench.replications.library import OURS, PEER, Library
from bench.replications.part import Part, Result, say
from bench.replications.sets import read, split, take
from bench.report import aligned

SETS = (
    "california",
    "kin8nm",
    "abalone",
    "bike_sharing",
    "protein",
    "house_16h",
    "wine_quality",
    "ames",
)
COVERAGE = 0.9
MOST_ROWS = 15_000


def one_run(library: Library, name: str, seed: int) -> dict[str, float]:
    """Share covered and mean width in units of the target's standard deviation, in per cent."""
    X, y = read(name)
    share = min(1.0, MOST_ROWS / len(y))
    train, test = split(len(y), (share * 2 / 3, share / 3), seed)
    model = library(
        "RandomForestRegressor", oob_score=True, keep_targets=True, random_state=seed
    ).fit(take(X, train), y[train])
    found = {}
    for method in ("conformal", "quantile"):
        low, high = np.moveaxis(
            np.asarray(model.predict_interval(take(X, test), coverage=COVERAGE, method=method)),
            -1,
            0,
        )
        inside = (low <= y[test]) & (y[test] <= high)
        found[method] = 100.0 * float(np.mean(inside))
        found[f"{method} width"] = 100.0 * float(np.mean(high - low) / np.std(y))
    return found


def measure(library: Library, quick: bool) -> Result:
    """Coverage and width in every run on every set; only weald has these intervals."""
    result: Result = {}
    if library.name == PEER:
        return result
    for name in SETS:
        runs = [one_run(library, name, seed) for seed in range(1 if quick else 5)]
        result[name] = {key: [run[key] for run in runs] for key in runs[0]}
        say(f"{name}: {figure(result[name]['conformal'])} covered")
    return result


TEXT = f"""\
Default regression forests of 100 trees; five random cuts into two thirds training and one third
test rows, of at most {MOST_ROWS:,} rows. Covered: test targets inside the interval of stated
coverage {COVERAGE:.0%}, in per cent. Width: mean width in per cent of the target's standard
deviation. The quantile forest's intervals promise nothing and stand beside for comparison.
"""


def section(results: dict[str, Result]) -> str:
    """One line per set."""
    ours = results[OURS]
    lines = []
    for name, values in ours.items():
        covered = figure(values["conformal"])
        lines.append(
            [
                name,
                str(covered),
                "yes" if abs(covered.mean - 100.0 * COVERAGE) <= 2.0 else "no",
                f"{figure(values['conformal width']).mean:.0f}",
                str(figure(values["quantile"])),
                f"{figure(values['quantile width']).mean:.0f}",
            ]
        )
    head = ["set", "conformal covers", "90 ± 2", "width", "quantile covers", "width"]
    return "\n".join([TEXT, aligned(head, lines)])


PART = Part("conformal", "Coverage of 90 % intervals", measure, section)
