"""The page about losses of one's own shows code that runs, and messages as they are."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from weald import GradientBoostingRegressor

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "own_loss.py"
PAGE = (ROOT / "docs" / "write-your-own-loss.md").read_text()


def regions(path: Path) -> list[str]:
    """What stands between ``# region: name`` and ``# endregion``."""
    found = re.findall(r"^# region: [^\n]+\n(.*?)^# endregion$", path.read_text(), re.M | re.S)
    return [region.strip("\n") for region in found]


def blocks(language: str) -> list[str]:
    return [code.strip("\n") for code in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)]


def test_the_page_shows_the_regions_of_the_example():
    assert blocks("python") == regions(EXAMPLE) != []


def test_the_example_runs_and_prints_what_the_page_shows():
    run = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", EXAMPLE], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert all(text in run.stdout for text in blocks("text"))
    too_low = [int(share) for share in re.findall(r"(\d+)% of the predictions", run.stdout)]
    assert sorted(too_low, reverse=True) == too_low
    off = [int(share) for share in re.findall(r"off by (\d+)%", run.stdout)]
    judged = [float(loss) for loss in re.findall(r"log loss ([\d.]+)", run.stdout)]
    assert off[1] < off[0]
    assert judged[1] < judged[0]


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
    assert without_numbers(f"`{error.value}`") in without_numbers(PAGE)


def test_a_loss_may_not_write_into_what_it_is_given():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="read-only"):
        GradientBoostingRegressor(loss=Careful("writes")).fit(X, y)
