"""Every page shows code that runs, and what it prints."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from typer.testing import CliRunner

from weald import GradientBoostingRegressor
from weald.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OWN_LOSS = ROOT / "docs" / "write-your-own-loss.md"

# A block of code, and the output shown right below it.
BLOCK = re.compile(
    r"^```(?P<language>python|console)\n(?P<code>.*?)^```\n(?:\n?```text\n(?P<output>.*?)^```\n)?",
    re.M | re.S,
)


def blocks(page, begin="", end=None):
    """Language, code, output that is shown (or None), and number of lines above the code."""
    text = page.read_text()
    last = len(text) if end is None else text.index(end)
    for found in BLOCK.finditer(text, text.index(begin), last):
        above = text.count("\n", 0, found.start("code"))
        yield found["language"], found["code"], found["output"], above


def run_python(code, where, above, names):
    """Run code in the names of its page; tracebacks name the line of the page."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * above + code, where, "exec"), names)
    return out.getvalue()


def run_commands(code):
    """The block as it should be: every ``$ weald ...`` with what it prints."""
    shown = ""
    for command in re.findall(r"^\$ weald (.*)$", code, re.M):
        result = CliRunner().invoke(app, shlex.split(command))
        shown += f"$ weald {command}\n{result.output}"
    return shown


def lines(text):
    return [line.rstrip() for line in text.splitlines()]


def without_seconds(text):
    """What commands print, but for how long they took and when."""
    text = re.sub(r"\(\d+ s in all\)|\d{4}-\d\d-\d\dT[\d:+]+", "#", text)
    return re.sub(r" \d+\.\d *$", " #", text, flags=re.M)


def run_page(page, *part):
    """Run the blocks of a page, or of a part of it, as one program; the names it leaves."""
    names = {"__name__": "__main__"}
    for language, code, output, above in blocks(page, *part):
        if language == "python":
            printed = run_python(code, str(page), above, names)
            assert output is None or lines(printed) == lines(output)
        else:
            assert lines(without_seconds(run_commands(code))) == lines(without_seconds(code))
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages may write files
    run_page(page)


# --- the page about losses of one's own ----------------------------------------------------------


def without_numbers(text: str) -> str:
    return re.sub(r"\d[\d.]*\d|\d|\binf\b|\bnan\b", "#", text)


class Careful:
    """Squared error, right but for one mistake."""

    def __init__(self, mistake):
        self.mistake = mistake

    def constant(self, y, sample_weight=None):
        return np.average(y, weights=sample_weight)

    def value(self, y, F):
        return (F - y) ** 2

    def gradient(self, y, F):
        g = 2 * (F - y)
        if self.mistake == "shape":
            return g[:, None]
        if self.mistake == "infinite":
            return np.where(F > 180, np.inf, g)
        return np.where(F > 300, np.inf, g) if self.mistake == "infinite later" else g

    def hessian(self, y, F):
        if self.mistake == "writes":
            F *= 0
        return 2.0 if self.mistake == "constant" else np.full_like(F, 2.0)


@pytest.mark.parametrize("mistake", ["shape", "constant", "infinite", "infinite later"])
def test_the_page_quotes_the_messages(mistake):
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="of Careful") as error:
        GradientBoostingRegressor(loss=Careful(mistake), learning_rate=1.0).fit(X, y)
    assert without_numbers(f"`{error.value}`") in without_numbers(OWN_LOSS.read_text())


def test_a_loss_may_not_write_into_what_it_is_given():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="read-only"):
        GradientBoostingRegressor(loss=Careful("writes")).fit(X, y)
