"""What ARCHITECTURE.md says there is one of: every further place is named here, with its reason.

A new entry is a decision. Use the one that is there, or add the place and say why it must be
another, here and in the table.
"""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "weald"

# Calls of a function or method: file -> how many, and why there.
CALLS = {
    "fit": {
        "members/foreign.py": (1, "fit_member itself"),
        "adaboost/rounds.py": (1, "a learner of AdaBoost, which is no estimator"),
        "cli/compare.py": (1, "a method of weald's own, with groups or weights"),
        "conditional/gate.py": (2, "the encoder of its columns; a forest of weald's, for oob"),
        "conditional/regions.py": (1, "trees of weald's own"),
        "crossfit/screening.py": (1, "trees of weald's own"),
        "input/encoder.py": (2, "bases of splines, which are no members"),
        "intervals/copies.py": (1, "copies of a model of weald's own, with offsets"),
        "report/overview.py": (1, "trees of weald's own"),
        "superlearner/smooth.py": (2, "linear models and neighbours of the default library"),
    },
    "Parallel": {
        "members/side_by_side.py": (2, "in processes; in threads"),
        "members/foreign.py": (1, "stream, a few answers at a time"),
    },
    "validate_data": {
        "input/table.py": (2, "the names of columns, in fit and later"),
        "input/raw_table.py": (2, "the same, of a table that is handed on"),
        "theory/scikit.py": (1, "rows for the members of scikit-learn's models"),
        "superlearner/smooth.py": (4, "candidates that are estimators of their own, of numbers"),
    },
    "live_bar": {
        "fitting/driver.py": (1, "the bar of verbose"),
        "cli/compare.py": (1, "the same bar, counting the fits of a method"),
    },
    "print": {
        "callbacks.py": (1, "lines for logs, if a user asks for them"),
        "stacking/voting.py": (1, "the lines of verbose that scikit-learn's tests of voting want"),
    },
    "drive": {
        "adaboost/base.py": (1, "rounds"),
        "boosting/base.py": (1, "rounds"),
        "crossfit/fits.py": (1, "candidates on folds"),
        "fitting/independent.py": (1, "members that do not know of each other"),
        "stagewise/base.py": (1, "rounds"),
    },
}
SHOWS = {"print": "cli"}  # rooms that show things


def called(node: ast.Call) -> str:
    """The last name of what is called; empty for ``super().fit`` and the like."""
    if isinstance(node.func, ast.Attribute):
        of = node.func.value
        inherited = isinstance(of, ast.Call) and called(of) == "super"
        return "" if inherited else node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def calls(text: str) -> Counter:
    return Counter(called(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


@pytest.mark.parametrize("name", CALLS)
def test_every_place_is_known(name):
    found = {
        str(path.relative_to(PACKAGE)): count
        for path in sorted(PACKAGE.rglob("*.py"))
        if (count := calls(path.read_text())[name])
        and path.relative_to(PACKAGE).parts[0] != SHOWS.get(name)
    }
    assert found == {file: count for file, (count, _) in CALLS[name].items()}


def test_calls_are_found():
    text = "a.fit(X)\nsuper().fit(X)\nclone(b).fit(X).predict(X)\n'c.fit(X)'  # d.fit(X)\nfit(X)"
    assert calls(text)["fit"] == 3


def test_what_to_install_is_said_in_one_place():
    said = [path for path in PACKAGE.rglob("*.py") if "pip install weald[" in path.read_text()]
    assert [str(path.relative_to(PACKAGE)) for path in said] == ["params/extras.py"]
    caught = [path for path in PACKAGE.rglob("*.py") if "except ImportError" in path.read_text()]
    assert caught == said


def test_the_table_names_the_exceptions():
    """A file that is an exception for a reason users would ask for stands in the table."""
    table = (ROOT / "ARCHITECTURE.md").read_text().split("\n## One of each\n")[1].split("\n## ")[0]
    rows = {row.split("|")[1].strip(): row for row in table.splitlines() if row.startswith("| ")}
    named = {
        "progress displays of a fit": "stacking/voting.py",
        "readers of input": "superlearner/smooth.py",
    }
    for what, file in named.items():
        assert re.search(rf"`{re.escape(file)}`", rows[what]), (what, file)
