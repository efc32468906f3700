"""PAC-Bayes bounds of forests on real tables, and a published experiment again: `make theory`.

Results are kept in build/theory, and only what is not there yet is run; `--fresh` runs all again.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from bench import machine
from bench.measure import ROOT
from bench.replications import sets
from bench.theory import report
from bench.theory.experiment import Figures, as_published, measure
from bench.theory.published import MASEGOSA

KEPT = ROOT / "build" / "theory"
REPEATS = 10
# All sets of classes but one that is for speed only; forests are fitted to them as they are.
SETS = (
    *("glass", "breast_cancer_w", "pima_diabetes", "sonar", "vowel", "ionosphere"),
    *("german_credit", "ecoli", "votes", "letter", "satimage", "zipcode", "waveform21", "adult"),
    *("bank_full", "credit_default", "weather_aus", "connect4", "sleep", "mushroom", "soybean"),
    *("hypothyroid", "splice", "phoneme", "higgs_sample"),
)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.theory.run", description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN", help="sets, as a regex")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--fresh", action="store_true", help="run again what is kept")
    return parser.parse_args()


def kept(path: Path, fresh: bool) -> list[Figures]:
    """Figures of earlier runs."""
    if fresh or not path.exists():
        return []
    figures: list[Figures] = json.loads(path.read_text())
    return figures


def repeat(part: str, name: str, repeats: int, fresh: bool) -> list[Figures]:
    """Measure a set with the seeds that are not kept yet."""
    path = KEPT / f"{part}-{name}.json"
    made = kept(path, fresh)
    if len(made) < repeats:
        X, y = as_published(name) if part == "published" else sets.read(name)
        for seed in range(len(made), repeats):
            made.append(measure(X, y, seed))
            path.write_text(json.dumps(made))
            print(f"{part}, {name}, {seed}: bound {made[-1]['best']:.4f}", flush=True)
    return made[:repeats]


def main() -> None:
    """Make the missing fits and write the page."""
    chosen = options()
    KEPT.mkdir(parents=True, exist_ok=True)
    bounds = {
        name: repeat("bounds", name, 1, chosen.fresh)[0]
        for name in SETS
        if re.search(chosen.only, name)
    }
    again = {
        name: repeat("published", name, chosen.repeats, chosen.fresh)
        for name in MASEGOSA
        if re.search(chosen.only, name)
    }
    full = len(bounds) == len(SETS) and chosen.repeats == REPEATS
    target = (ROOT / "bench" / "theory" if full else KEPT) / "RESULTS.md"
    target.write_text(report.page(bounds, again, machine.facts()))
    print(f"written to {target}")


if __name__ == "__main__":
    main()
