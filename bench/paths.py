"""What each fast way of the core gains: run `make bench-paths`, which writes bench/PATHS.md.

The program bench/kernels/paths.cpp leaves out one way after the other. Loops for wide vectors are
chosen when a program is loaded, so for those two programs are compared.
"""

import argparse
import subprocess
from pathlib import Path

from bench.machine import facts

HERE = Path(__file__).resolve().parent
WIDE = ("exact tree", "tree in bins", "forest", "extra-trees", "boosting", "boosted trees asked")
HEAD = """# What the fast ways gain

Every fast way of the core (`cpp/weald/base/paths.hpp`) is left out once, on the fits it was made
for. Gain: how much longer the whole fit, or prediction, takes without it. In turns, the best of up
to {rounds}; processor time of one thread, with two threads the clock. Same: is the model the same
to the last bit? A way that gains less than 5 % everywhere goes.

Made by `make bench-paths` on {machine}.

| way | fit | with | without | gain | same |
|---|---|---|---|---|---|
"""
FOOT = """
## Ways that are gone, and ways that stay

Measured on whole fits through Python: instructions (callgrind), processor time in turns of one
program that leaves the way out when told to, and builds with and without it in turns.

`HistogramPool` (histograms kept for the next node) is gone: instructions -0.9 to +0.1 %, time of
builds 0.98 (geometric mean of 9 fits of forests, bags and boosting). `SortedRows` (up to a dozen
rows sorted by code) is gone: small subtrees take most such nodes, and get blocks of bytes first;
instructions of 24 fits -12 to +2 %, time of those up to 3 % more or less. `MarkedCodes` (a bit map
of the codes that occur in a node) is gone: blocks leave few others, and where a node has far fewer
rows than codes these are sorted; time of 5 fits -1 to +2 %. These stay, though the
table may have them below 5 %:

- `ClassBytes`: without it a forest of 100,000 rows takes 1 to 3 % longer and one of 300,000 rows
  3 to 6 %, with the same instructions: words miss the caches where bytes do not.
- `BinGuide`: without it extra-trees of numbers take 7 % longer.
"""


def main() -> None:
    """Run the programs and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("without_wide", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="one way")
    given = parser.parse_args()
    rows = []
    if given.only in ("", "WideVectors"):
        rows += [compare(name, given) for name in WIDE]
    if given.only != "WideVectors":
        command = [given.program, str(given.rounds), given.only]
        rows += said_by(command).splitlines()
    print(*rows, sep="\n")
    if not given.only:
        known = facts()
        machine = f"{known['CPU']}, {known['cores']} cores, {known['date']}"
        head = HEAD.format(rounds=given.rounds, machine=machine)
        (HERE / "PATHS.md").write_text(head + "\n".join(rows) + "\n" + FOOT)


def said_by(command: list[str | Path]) -> str:
    """What a program prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compare(name: str, given: argparse.Namespace) -> str:
    """One row of the table, by two programs in turns."""
    best: dict[Path, tuple[float, str]] = {}
    for _ in range(given.rounds):
        for program in (given.program, given.without_wide):
            time, model = said_by([program, "time", "1", name]).split()
            found = float(time), model
            best[program] = min(best.get(program, found), found)
    (wide, model), (plain, other) = best[given.program], best[given.without_wide]
    same = "yes" if model == other else "no"
    gain = f"{100 * (plain / wide - 1):+.0f} %"
    return f"| WideVectors | {name} | {wide:.0f} ms | {plain:.0f} ms | {gain} | {same} |"


if __name__ == "__main__":
    main()
