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
from weald.params.criteria import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "weald"
CORE = ROOT / "cpp" / "weald"

# A room imports from the rooms below it, and never from one beside it.
LAYERS = (
    {"_engine"},
    {"params"},
    {"input"},
    {"combining", "losses", "pruning", "sampling"},
    {"members"},
    {"callbacks"},
    {"fitting"},
    {"explain", "intervals"},
    {"tree"},
    {"adaboost", "bagging", "boosting", "forest", "theory"},
    {"crossfit"},
    {"blending", "conditional", "kernel", "naive", "stacking", "stagewise", "superlearner"},
    {"dataset", "models", "report"},
    {"cli"},
)
HEIGHT = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}
# The rooms of the core, likewise (tests/engine/test_rooms.py).
ROOMS = ("base", "bins", "stats", "search", "tree", "grow", "methods")


CORE_PAGES = sorted(CORE.rglob("*.md"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), *CORE_PAGES]


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


def without_code(document: Path) -> str:
    return re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)


def anchors(document: Path) -> set[str]:
    """Names of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", without_code(document), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
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
    public = {name: getattr(weald, name) for name in weald.__all__}
    classes = {name for name, kind in public.items() if isinstance(kind, type)}
    assert named == classes - {"ModelFileError"}


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
    table = (ROOT / "ARCHITECTURE.md").read_text().split("## Course of a fit")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == {*CLASSIFICATION_CRITERIA, *REGRESSION_CRITERIA}


def rows_of_table(text: str, header: str) -> list[list[str]]:
    """The cells of the table with this header."""
    lines = text.split(f"\n{header}\n")[1].splitlines()[1:]
    rows = takewhile(lambda line: line.startswith("|"), lines)
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]


def test_the_map_names_every_room_with_its_layer():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rows = rows_of_table(text, "| layer | room in src/weald | holds |")
    assert {room.strip("`"): int(layer) - 1 for layer, room, _ in rows} == HEIGHT
    rows = rows_of_table(text, "| room in cpp/weald | holds |")
    assert [re.findall(r"`(\w+)`", room) for room, _ in rows] == [[room] for room in ROOMS]


@pytest.mark.parametrize("document", [ROOT / "ARCHITECTURE.md", *CORE_PAGES], ids=name_of)
def test_files_and_names_in_them_exist(document):
    text = document.read_text()
    for name in re.findall(r"`([\w/]+\.[hcp]*(?:py|pp))`", text):
        assert [*PACKAGE.glob(f"**/{name}"), *CORE.glob(f"**/{name}")], f"there is no {name}"
    for file, name in re.findall(r"`([\w/]+\.[hcp]*(?:py|pp))`: `([\w.:]+)`", text):
        (found,) = (home / file for home in (PACKAGE, CORE) if (home / file).is_file())
        assert re.split(r"\W+", name)[-1] in found.read_text(), f"no {name} in {file}"
    for module, name in re.findall(r"`([a-z_]+/[a-z_]+)\.([A-Z]?[a-z_]\w*)`", text):
        if name not in ("py", "hpp", "cpp"):
            assert name in (PACKAGE / f"{module}.py").read_text(), f"no {name} in {module}"


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_of_the_core_says_what_is_in_its_files(room):
    rows = rows_of_table((CORE / room / "README.md").read_text(), "| file | holds |")
    named = [name for files, _ in rows for name in re.findall(r"`(\w+)`", files)]
    assert sorted(named) == sorted({path.stem for path in (CORE / room).glob("*.?pp")})


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


def module_of(path):
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def imports(path, *, lazy):
    """Modules of weald that a module imports; `lazy`: in functions and for type hints as well."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if lazy else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("weald"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "weald":
            for alias in node.names:  # a module of a package, or a name of a module
                inner = PACKAGE.parent / node.module.replace(".", "/") / alias.name
                is_module = inner.is_dir() or any(inner.parent.glob(f"{alias.name}.*"))
                yield f"{node.module}.{alias.name}" if is_module else node.module


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path):
    home = module_of(path).split(".")[1:2]
    for name in imports(path, lazy=True) if home else ():
        room = [*name.split("."), ""][1]
        fine = room in home or room == "" or HEIGHT[room] < HEIGHT[home[0]]
        assert fine, f"{module_of(path)} imports {name}"


def test_every_room_has_a_layer():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert rooms - {"__init__", "__pycache__"} == set(HEIGHT)


def test_no_modules_import_each_other():
    edges = {module_of(path): set(imports(path, lazy=False)) for path in modules()}
    while free := {module for module, needs in edges.items() if not needs & set(edges) - {module}}:
        edges = {module: needs for module, needs in edges.items() if module not in free}
    assert not edges, f"a circle among {sorted(edges)}"


def test_the_core_knows_no_python():
    for path in CORE.rglob("*.?pp"):
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
