"""Run published experiments again: `make replicate`, or `--quick --only breiman`.

Each part and library keeps its last result in results.json, so that one can be rerun alone; the
page is written from all that is there. The peer's results are rerun by `--library scikit-learn`.
"""

from __future__ import annotations

import argparse
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from threadpoolctl import threadpool_limits

from bench import machine
from bench.measure import ROOT
from bench.replications import bins, breiman, conformal, hastie, louppe, out_of_bag, seeds
from bench.replications.library import HOMES, OURS, Library
from bench.replications.part import Part

PARTS: list[Part] = [
    breiman.PART,
    louppe.PART,
    out_of_bag.PART,
    conformal.PART,
    bins.PART,
    seeds.PART,
    hastie.PART,
]

INTRODUCTION = """\
# Published experiments, run again

Made by `make replicate`; do not edit. Real sets are read from the folder that `WEALD_DATA` names;
generators are written from their published formulas. Every random choice has a seed, and the cuts
of the data are the same for both libraries.
"""

Store = dict[str, dict[str, Any]]
"""Part, then library, to the kept result."""


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench.replications.run", description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN", help="parts to run, as a regex")
    parser.add_argument("--quick", action="store_true", help="a few runs each, not for the page")
    parser.add_argument("--library", default=OURS, choices=sorted(HOMES), help="whose classes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--output", type=Path, help="folder for results.json and RESULTS.md")
    return parser.parse_args()


def run(part: Part, library: Library, quick: bool) -> dict[str, Any]:
    """Run one part and note when and with what."""
    started = perf_counter()
    with threadpool_limits(library.threads):
        result = part.measure(library, quick)
    return {
        "version": library.version,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "seconds": round(perf_counter() - started, 1),
        "quick": quick,
        "result": result,
    }


def read(path: Path) -> Store:
    """All results kept so far."""
    return json.loads(path.read_text()) if path.exists() else {}


def keep(path: Path, part: str, library: str, result: dict[str, Any]) -> None:
    """Put one result in its place; the file is read anew, as another run may have added to it."""
    store = read(path)
    short = json.loads(json.dumps(result), parse_float=lambda text: float(f"{float(text):.6g}"))
    store.setdefault(part, {})[library] = short
    path.write_text(json.dumps(store, separators=(",", ":")) + "\n")


def page(store: Store, facts: dict[str, str]) -> str:
    """All sections that have a result of ours, and where the numbers come from."""
    text = [INTRODUCTION, *(f"- {name}: {facts[name]}" for name in ("CPU", "cores", "packages"))]
    for part in PARTS:
        kept = store.get(part.name, {})
        if OURS not in kept:
            continue
        origin = "; ".join(
            f"{library} {one['version']}, {one['date']}, {one['seconds']:.0f} s"
            + (", **quick: not for comparison**" if one["quick"] else "")
            for library, one in sorted(kept.items(), reverse=True)
        )
        section = part.section({library: one["result"] for library, one in kept.items()})
        text += ["", f"## {part.title}", "", section, "", f"({origin})"]
    return "\n".join(text) + "\n"


def main() -> None:
    """Run the chosen parts, keep their results and write the page."""
    chosen = options()
    folder = chosen.output or (
        ROOT / "build" / "replications" if chosen.quick else ROOT / "bench" / "replications"
    )
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "results.json"
    library = Library(chosen.library, chosen.threads)
    parts = [part for part in PARTS if re.search(chosen.only, part.name)]
    if not parts:
        raise SystemExit(f"no part matches {chosen.only!r}: {', '.join(p.name for p in PARTS)}")
    for part in [] if chosen.page else parts:
        print(f"{part.name}, {library.name}", flush=True)
        keep(kept, part.name, library.name, run(part, library, chosen.quick))
    (folder / "RESULTS.md").write_text(page(read(kept), machine.facts()))
    print(f"written to {folder}")


if __name__ == "__main__":
    main()
