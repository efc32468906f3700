"""The page of the gallery, from the docstrings of the examples and what they print."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("[0-9]*.py"))

INTRODUCTION = """# Gallery

One picture for each theorem or figure of the subject: why ensembles work, to look at and to
change. Each is a short script in [examples](../examples) that runs in seconds and prints the
numbers that make its point:

    python examples/05_adaboost_two_moons.py some/folder

saves the picture there; it needs matplotlib (`pip install ".[plot]"`). `make gallery` draws all
pictures and writes this page.
"""


def text_of(file: Path) -> tuple[str, str]:
    """Title and text of an example: the first line of its docstring, and the rest."""
    title, _, text = (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")
    return title.removesuffix("."), text.strip()


def section(file: Path, point: str) -> str:
    """What the page shows of an example."""
    title, text = text_of(file)
    return (
        f"## {title}\n\n![{title}](gallery/{file.stem}.png)\n\n{text}\n\n"
        f"```text\n{point}\n```\n\n[{file.name}](../examples/{file.name})\n"
    )


def write_page(folder: Path, points: Mapping[str, str]) -> None:
    """Write the page next to the folder of its pictures."""
    sections = [section(file, points[file.stem]) for file in FILES]
    folder.with_suffix(".md").write_text("\n".join([INTRODUCTION, *sections]))
