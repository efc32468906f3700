"""What the documents say must be true, and imports must point one way."""

import ast
import re
import subprocess
import sys
from inspect import signature
from itertools import takewhile
from pathlib import Path

import pytest
import sklearn.ensemble
import sklearn.tree

import weald
from weald._params import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "weald"

# Who may import whom; a package may always import itself.
ALLOWED = {
    "_engine": set(),
    "_warnings": set(),
    "_state": {"_engine"},
    # reading what users give
    "_bad_values": set(),
    "_sparse": set(),
    "_columns": {"_bad_values", "_sparse"},
    "_labels": {"_bad_values", "_columns", "_warnings"},
    "_data": {"_bad_values", "_columns", "_labels", "_sparse"},
    "_raw_table": {"_columns", "_data", "_sparse"},
    "_params": {"_engine"},
    "_ensemble_params": {"_params", "_warnings"},
    "_targets": {"_engine", "_data", "_params", "_warnings", "_state"},
    # trees
    "pruning": {"_engine"},
    "_tree_base": {"_engine", "_data", "_params", "_targets", "pruning", "explain", "_state"},
    "_tree_kinds": {"_engine", "_data", "_targets", "pruning", "_tree_base"},
    "tree": {"_tree_kinds"},
    # what ensembles share
    "losses": {"_engine", "_sums"},
    "combining": set(),
    "sampling": {"_engine", "_data", "_params", "_warnings", "_state"},
    "_out_of_bag": {"_engine", "_warnings"},
    "_progress": set(),
    "_sums": {"_engine"},
    "_member_trees": {"_engine", "_state"},
    "_forest_growth": {"_engine", "_ensemble_params", "_out_of_bag", "_progress", "_warnings"},
    "_warm_start": {"_targets", "sampling", "_warnings"},
    "intervals": {"_data", "_engine"},
    # forests
    "_forest_base": {
        *("_engine", "_data", "_params", "_ensemble_params", "_targets", "sampling", "_out_of_bag"),
        *("_member_trees", "_forest_growth", "_warm_start", "explain"),
        "_state",
    },
    "_forest_kinds": {
        *("_params", "_targets", "sampling", "_out_of_bag", "_forest_base", "intervals"),
        "_warnings",
    },
    "forest": {"_forest_kinds", "tree"},
    # members of any kind
    "_members": {"_engine", "_raw_table", "combining"},
    "_member_watch": {"_out_of_bag", "combining"},
    "_bag": {"_engine", "_data", "_raw_table", "_member_trees", "_members", "combining", "_state"},
    "_crew": {
        *("_engine", "_data", "_raw_table", "_params", "sampling", "_out_of_bag", "_bag"),
        *("_members", "_member_trees", "_member_watch", "_targets"),
    },
    "_bagging_base": {
        *("_engine", "_params", "_ensemble_params", "_targets", "sampling", "_out_of_bag"),
        *("_forest_growth", "_members", "_member_watch", "_bag", "_crew", "combining"),
        *("_member_trees", "_warm_start", "_warnings"),
        "_state",
    },
    "_bagging_kinds": {"_data", "_params", "_targets", "tree", "_bag", "_bagging_base"},
    "bagging": {"sampling", "_ensemble_params", "_bagging_base", "_bagging_kinds", "_warnings"},
    "naive": {
        *("_params", "_ensemble_params", "sampling", "_members", "_bagging_base", "_bagging_kinds"),
        "_targets",
    },
    # boosting
    "_boost_params": {"_engine", "_ensemble_params", "_params"},
    "_boost_data": {"_boost_params", "_data", "_holdout", "_raw_table"},
    "_boost_rules": {"_engine", "_members", "_state"},
    "_boost_rounds": {
        *("_engine", "_boost_data", "_boost_params", "_boost_rules", "_members", "_params"),
        *("_raw_table", "_sums"),
    },
    "_boost_loop": {
        *("_boost_params", "_boost_rounds", "_boost_rules", "_members", "_out_of_bag", "_progress"),
        "_warnings",
    },
    "_boosted": {
        "_engine",
        "_boost_rules",
        "_data",
        "_member_trees",
        "_members",
        "_raw_table",
        "_state",
    },
    "_boost_r2": {
        *("_engine", "_boost_data", "_boost_params", "_boost_rounds", "_boost_rules", "_members"),
        *("_raw_table", "_sums"),
    },
    "_boosted_numbers": {"_engine", "_boosted", "_members", "combining"},
    "_adaboost_base": {
        *("_boost_data", "_boost_loop", "_boost_params", "_member_trees", "_members", "_params"),
        *("_targets", "tree"),
        "_state",
        "_boosted",
    },
    "_adaboost_classifier": {
        *("_adaboost_base", "_boost_data", "_boost_loop", "_boost_params", "_boost_rounds"),
        *("_boost_rules", "_boosted", "_data", "_params", "tree"),
        "_state",
    },
    "_adaboost_regressor": {
        *("_adaboost_base", "_boost_data", "_boost_loop", "_boost_params", "_boost_r2"),
        *("_boost_rules", "_boosted_numbers", "_holdout", "_params", "combining", "tree"),
        "_state",
    },
    "adaboost": {"_adaboost_classifier", "_adaboost_regressor"},
    # stagewise
    "_step": {"_sums", "losses"},
    "_holdout": {"_out_of_bag", "_raw_table", "_sums", "losses"},
    "_stage_members": {"_data", "_engine", "_member_trees", "_members", "_raw_table", "_state"},
    "_direction": {
        *("_engine", "_data", "_params", "_raw_table", "_members", "_holdout", "_stage_members"),
        "_sums",
    },
    "_additive_model": {"_direction", "_holdout", "_step", "losses"},
    "_stagewise_base": {
        *("_data", "_raw_table", "_params", "_ensemble_params", "_targets", "_progress", "losses"),
        *("_additive_model", "_direction", "_holdout", "_members", "_stage_members", "_warnings"),
        "tree",
        "_state",
    },
    "_stagewise_kinds": {"_data", "_stagewise_base", "losses", "tree"},
    "stagewise": {"_stagewise_kinds"},
    # gradient boosting
    "callbacks": {"_params"},
    "_gradient_defaults": set(),
    "_gradient_objective": {"_gradient_defaults", "_state", "_sums", "losses"},
    "_gradient_params": {
        *("_engine", "_params", "_ensemble_params", "_gradient_defaults", "_gradient_objective"),
    },
    "_gradient_data": {"_data", "_raw_table", "_holdout"},
    "_gradient_pull": {"_gradient_data", "_gradient_objective", "_gradient_params", "losses"},
    "_gradient_members": {
        *("_engine", "_data", "_raw_table", "_params", "_members", "_boost_rounds"),
        *("_gradient_data", "_gradient_params"),
    },
    "_gradient_model": {
        *("_engine", "_data", "_raw_table", "_member_trees", "_members", "_gradient_data"),
        "_state",
    },
    "_gradient_start": {
        *("_engine", "_params", "_gradient_data", "_gradient_model", "_gradient_objective"),
        *("_members", "losses"),
    },
    "_gradient_sampling": {"_engine", "_gradient_params"},
    "_gradient_steps": {
        *("_engine", "_gradient_members", "_gradient_params", "_gradient_pull", "_step", "_sums"),
        "losses",
    },
    "_gradient_dart": {
        *("_gradient_data", "_gradient_members", "_gradient_model", "_gradient_params"),
        "_gradient_sampling",
    },
    "_gradient_watch": {
        *("_params", "_gradient_data", "_gradient_model", "_gradient_objective"),
        *("_gradient_params", "callbacks"),
    },
    "_gradient_loop": {
        *("_progress", "_gradient_dart", "_gradient_members", "_gradient_model"),
        *("_gradient_params", "_gradient_pull", "_gradient_sampling", "_gradient_steps"),
        "_gradient_watch",
    },
    "_gradient_base": {
        *("_data", "_params", "_targets", "_holdout", "_members", "_member_trees", "_warm_start"),
        *("_gradient_dart", "_gradient_data", "_gradient_defaults", "_gradient_loop"),
        *("_gradient_members", "_gradient_model", "_gradient_objective", "_gradient_params"),
        *("_gradient_pull", "_gradient_sampling", "_gradient_start", "_gradient_steps"),
        *("_gradient_watch", "losses", "tree"),
        "_state",
    },
    "_gradient_classifier": {
        *("_data", "_params", "_targets", "_gradient_base", "_gradient_objective", "losses"),
    },
    "_gradient_regressor": {
        *("_data", "_params", "_targets", "_gradient_base", "_gradient_objective", "losses"),
    },
    "boosting": {"_gradient_classifier", "_gradient_regressor"},
    # on top
    "explain": {"_engine", "_data", "_raw_table", "_warnings"},
    "cli": {"", "explain"},
}


DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def without_code(document: Path) -> str:
    return re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)


def anchors(document: Path) -> set[str]:
    """Names of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", without_code(document), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(document)):
        if not re.match(r"\w+:", link):  # https: and the like
            file, _, anchor = link.partition("#")
            target = (document.parent / file).resolve() if file else document
            assert target.exists(), f"{link} leads nowhere"
            assert not anchor or anchor in anchors(target), f"{link} names no heading"


def test_the_index_lists_every_page():
    index = ROOT / "docs" / "index.md"
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index.read_text()))
    assert linked == {page.name for page in index.parent.glob("*.md")} - {"index.md"}


def table_below(document: Path, heading: str) -> list[list[set[str]]]:
    """The names in backticks in each cell of the first table below a heading."""
    lines = document.read_text().split(f"\n## {heading}\n")[1].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|---"))
    rows = takewhile(lambda line: line.startswith("|"), lines[start + 1 :])
    return [[set(re.findall(r"`(\w+)`", cell)) for cell in row.split("|")[1:-1]] for row in rows]


def test_the_readme_lists_every_estimator():
    named = {name for row in table_below(ROOT / "README.md", "Methods") for name in row[1]}
    assert named == {name for name in weald.__all__ if isinstance(getattr(weald, name), type)}


def test_the_parameters_that_differ_from_scikit_learn_are_listed():
    ours, theirs = {}, {}
    for classes, extra, missing in table_below(
        ROOT / "docs" / "differences-from-scikit-learn.md", "Parameters"
    ):
        ours |= dict.fromkeys(classes, extra)
        theirs |= dict.fromkeys(classes, missing)
    namesakes = [
        (name, getattr(home, name))
        for home in (sklearn.tree, sklearn.ensemble)
        for name in weald.__all__
        if isinstance(getattr(home, name, None), type)
    ]
    assert {name for name, _ in namesakes} == set(ours)
    for name, peer in namesakes:
        here, there = (set(signature(kind).parameters) for kind in (getattr(weald, name), peer))
        assert (here - there, there - here) == (ours[name], theirs[name]), name


def test_the_table_of_methods_lists_the_criteria():
    table = (ROOT / "ARCHITECTURE.md").read_text().split("## Walk of a fit")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == {*CLASSIFICATION_CRITERIA, *REGRESSION_CRITERIA}


def test_the_architecture_names_every_file_of_the_core():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    table = text.split("| file in cpp/weald | holds |")[1].split("## Decisions")[0]
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", table))))
    assert named == {path.stem for path in (ROOT / "cpp" / "weald").iterdir()}


def test_the_threat_model_names_tests_and_targets_that_exist():
    text = (ROOT / "docs" / "threat-model.md").read_text()
    files = set(re.findall(r"`(tests/[^`]+)`", text))
    targets = set(re.findall(r"`make ([^`]+)`", text))
    makefile = (ROOT / "Makefile").read_text()
    assert files, "the promises name no test"
    assert {name for name in files if not (ROOT / name).is_file()} == set()
    assert {name for name in targets if f"\n{name}:" not in makefile} == set()


def modules():
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    home = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "weald":
            names = [f"weald.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            first, *rest = name.split(".")
            if first == "weald" and home != "__init__":
                target = rest[0] if rest and (PACKAGE / rest[0]).exists() else ""
                target = rest[0] if rest and (PACKAGE / f"{rest[0]}.py").exists() else target
                assert target in {home, *ALLOWED[home]}, f"{path.name} imports {name}"


def test_the_core_knows_no_python():
    for path in (ROOT / "cpp" / "weald").iterdir():
        assert not re.search(r"nanobind|Python\.h", path.read_text()), path.name


def test_lazy_names_are_the_public_names():
    assert {*weald._HOME, "__version__"} == set(weald.__all__) == set(dir(weald))
    assert all(getattr(weald, name) is not None for name in weald.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        weald.Forest  # noqa: B018


def test_importing_weald_loads_no_heavy_library():
    code = (
        "import weald, sys; print([m for m in ('sklearn', 'pandas', 'numpy') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_docstring_examples_run(path):
    import doctest
    import importlib

    dotted = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    name = dotted.removesuffix(".__init__")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
