"""The rooms of the core know those below them and no others, and none of them knows Python."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "cpp" / "weald"
ROOMS = ("base", "bins", "stats", "search", "tree", "grow", "methods")
FILES = sorted(
    path.relative_to(CORE)
    for path in CORE.rglob("*")
    if path.is_file() and path.name != "README.md"
)


def test_every_file_is_in_a_room():
    assert {path.parts[0] for path in FILES} == set(ROOMS)
    assert {len(path.parts) for path in FILES} == {2}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_includes_point_one_way(path):
    text = (CORE / path).read_text()
    below = ROOMS[: ROOMS.index(path.parts[0]) + 1]
    for name in re.findall(r'#include "([^"]+)"', text):
        home, room, *_ = Path(name).parts
        assert home == "weald", f"{path} includes {name} by another name than from cpp/"
        assert room in below, f"{path} includes {name}, which is above it"
    assert "nanobind" not in text
    assert "Python.h" not in text


@pytest.mark.parametrize("path", [p for p in FILES if p.suffix == ".cpp"], ids=str)
def test_no_file_is_too_long_to_read(path):
    assert len((CORE / path).read_text().splitlines()) <= 420
