"""The default of 255 bins against exact thresholds and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.replications.figures import Figure, figure, paired
from bench.replications.library import OURS, PEER, Library, error
from bench.replications.part import Part, Result, say
from bench.replications.sets import as_numbers, read, split
from bench.report import aligned

CLASSES = ("phoneme", "higgs_sample", "credit_default", "zipcode")
NUMBERS = ("california", "house_16h", "kin8nm", "protein")
MOST_ROWS = 12_000


def one_run(library: Library, name: str, seed: int, settings: dict[str, Any]) -> float:
    """Test error of a forest: wrong classes, or RMSE over the target's deviation, in per cent."""
    X, y = read(name)
    X = as_numbers(X)  # categories as codes for all: only the thresholds are to differ
    share = min(1.0, MOST_ROWS / len(y))
    train, test = split(len(y), (share * 2 / 3, share / 3), seed)
    kind = "RandomForestClassifier" if name in CLASSES else "RandomForestRegressor"
    model = library(kind, random_state=seed, **settings).fit(X[train], y[train])
    if name in CLASSES:
        return error(model, X[test], y[test])
    residual = model.predict(X[test]) - y[test]
    return 100.0 * float(np.sqrt(np.mean(residual**2)) / np.std(y))


def measure(library: Library, quick: bool) -> Result:
    """Errors with and without bins on every set."""
    ways: dict[str, dict[str, Any]] = {"default": {}}
    if library.name == OURS:
        ways["exact"] = {"max_bins": None}
    result: Result = {}
    for name in (*CLASSES, *NUMBERS):
        result[name] = {
            way: [one_run(library, name, seed, settings) for seed in range(1 if quick else 5)]
            for way, settings in ways.items()
        }
        say(f"{name}: " + ", ".join(f"{way} {figure(v)}" for way, v in result[name].items()))
    return result


TEXT = f"""\
Default forests of 100 trees; five random cuts into two thirds training and one third test rows, of
at most {MOST_ROWS:,} rows, the same for all. Many of the columns have more than 255 different
values. Error in per cent: wrong classes, or RMSE over the standard deviation of the target.
Differences are paired by cut; below zero, 255 bins err less.
"""


def section(results: dict[str, Result]) -> str:
    """One line per set, and the mean differences."""
    ours, peer = results[OURS], results.get(PEER, {})
    lines, exact, theirs = [], [], []
    for name, values in ours.items():
        line = [name, str(figure(values["default"])), str(figure(values["exact"]))]
        exact.append(paired(values["default"], values["exact"]))
        line.append(_gap(exact[-1]))
        if name in peer:
            theirs.append(paired(values["default"], peer[name]["default"]))
            line += [str(figure(peer[name]["default"])), _gap(theirs[-1])]
        else:
            line += ["", ""]
        lines.append(line)
    head = ["set", "255 bins", "exact", "bins - exact", "scikit-learn", "bins - scikit-learn"]
    text = f"Mean difference of 255 bins from exact: {_mean(exact)} points"
    text += f"; from scikit-learn: {_mean(theirs)} points." if theirs else "."
    return "\n".join([TEXT, aligned(head, lines), "", text])


def _gap(gap: Figure) -> str:
    return f"{gap.mean:+.2f} ± {gap.se:.2f}"


def _mean(gaps: list[Figure]) -> str:
    values = [gap.mean for gap in gaps]
    return f"{np.mean(values):+.2f} ± {sum(gap.se**2 for gap in gaps) ** 0.5 / len(gaps):.2f}"


PART = Part("bins", "255 bins lose nothing", measure, section)
