"""Record the digests of all cases: ``PYTHONPATH=tests python -m digests.record``.

New cases are added, and those no longer in the table are dropped. If a digest differs from the one
recorded, nothing is written unless the case is accepted: ``--accept NAME ...`` or ``--all``.
"""

import argparse
import sys

from digests.cases import digest_of
from digests.data import MissingTableError
from digests.models import ALWAYS, CASES
from digests.store import load, save


def take_all(before):
    """Digests of all cases; where a real table is missing, the one recorded before."""
    digests = {}
    for name, case in CASES.items():
        try:
            digests[name] = digest_of(case, ALWAYS)
        except MissingTableError as missing:
            print(f"{name}: {missing}")
            if name in before:
                digests[name] = before[name]
    return digests


def differing(before, now):
    """What differs in each case that was recorded before."""
    both = [name for name in now if name in before]
    found = {name: before[name].differences(now[name]) for name in both}
    return {name: parts for name, parts in found.items() if parts}


def main(arguments=None):
    """Take digests, compare them with those recorded, and write them."""
    parser = argparse.ArgumentParser(prog="digests.record", description=__doc__)
    parser.add_argument("--accept", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--all", action="store_true", help="accept whatever differs")
    given = parser.parse_args(arguments)
    _, before = load()
    now = take_all(before)
    changed = differing(before, now)
    for name, parts in changed.items():
        print(f"{name}\n    differs in {', '.join(parts)}")
    refused = [name for name in changed if name not in given.accept]
    if refused and not given.all:
        print(f"{len(refused)} cases differ and were not accepted: nothing is written.")
        return 1
    save(now)
    print(f"{len(now)} digests recorded, {len(changed)} of them changed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
