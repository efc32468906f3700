"""Out-of-bag error beside test error: how far one may be trusted for the other."""

from __future__ import annotations

import numpy as np

from bench.replications.figures import figure, paired, signed
from bench.replications.library import OURS, Library, error, relative_error
from bench.replications.part import Part, Result, say
from bench.replications.sets import read, split, take
from bench.report import aligned

CLASSES = ("adult", "bank_full", "satimage", "letter", "phoneme")
NUMBERS = ("california", "kin8nm")
MOST_ROWS = 20_000


def one_run(library: Library, name: str, seed: int) -> tuple[float, float]:
    """Out-of-bag and test error of a default forest in one random cut, in per cent."""
    X, y = read(name)
    X = library.inputs(X)
    share = min(1.0, MOST_ROWS / len(y))
    train, test = split(len(y), (share * 2 / 3, share / 3), seed)
    kind = "RandomForestClassifier" if name in CLASSES else "RandomForestRegressor"
    model = library(kind, oob_score=True, random_state=seed).fit(take(X, train), y[train])
    if name in CLASSES:
        return 100.0 * (1.0 - model.oob_score_), error(model, take(X, test), y[test])
    truth = np.asarray(y)
    return (
        relative_error(model.oob_prediction_, y[train], truth),
        relative_error(model.predict(take(X, test)), y[test], truth),
    )


def measure(library: Library, quick: bool) -> Result:
    """Both errors in every run on every set."""
    result: Result = {}
    for name in (*CLASSES, *NUMBERS):
        runs = [one_run(library, name, seed) for seed in range(1 if quick else 5)]
        result[name] = {"oob": [run[0] for run in runs], "test": [run[1] for run in runs]}
        say(
            f"{name}: out-of-bag {figure(result[name]['oob'])}, test {figure(result[name]['test'])}"
        )
    return result


TEXT = f"""\
Default forests of 100 trees; five random cuts into two thirds training and one third test rows, of
at most {MOST_ROWS:,} rows. Error in per cent: wrong classes, or squared error over the variance of
the target. A row's out-of-bag prediction has the votes of 37 trees only, so it errs a little on
the high side.
"""


def section(results: dict[str, Result]) -> str:
    """One line per set."""
    ours = results[OURS]
    gaps = {name: paired(ours[name]["oob"], ours[name]["test"]) for name in ours}
    lines = [
        [
            name,
            "class" if name in CLASSES else "number",
            str(figure(ours[name]["oob"])),
            str(figure(ours[name]["test"])),
            f"{signed(gap.mean)} ± {gap.se:.2f}",
        ]
        for name, gap in gaps.items()
    ]
    mean = sum(abs(gap.mean) for gap in gaps.values()) / len(gaps)
    verdict = "below one point" if mean < 1.0 else "not below one point"
    return "\n".join(
        [
            TEXT,
            aligned(["set", "target", "out-of-bag", "test", "difference"], lines),
            "",
            f"Mean size of the difference: {mean:.2f} points, {verdict}.",
        ]
    )


PART = Part("out_of_bag", "Out-of-bag error and test error", measure, section)
