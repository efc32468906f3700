"""What a fit takes above its input, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

FIT = """
import numpy as np, scipy.sparse as sp, weald
def field(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))
rng = np.random.default_rng(0)
table = {table}
y = np.asarray(table[:, :5].sum(axis=1)).ravel() + rng.standard_normal(table.shape[0])
model = {model}
model.fit(table[:100], y[:100])
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
before = field("VmRSS")
model.fit(table, y)
print((field("VmHWM") - before) / 1024)
"""

WIDE = "rng.standard_normal((10_000, 1_000), dtype=np.float32)"
SPARSE = "sp.random_array((20_000, 5_000), density=0.01, format='csr', dtype=np.float32, rng=rng)"
FOREST = "weald.RandomForestRegressor(2, max_depth=6, max_features='sqrt', n_jobs=1)"
DEEP = "weald.RandomForestRegressor(4, max_features='sqrt', n_jobs=1, random_state=0)"
BAGGING = "weald.BaggingRegressor(n_estimators=1, n_jobs=1, random_state=0)"
BOOSTING = "weald.GradientBoostingRegressor(n_estimators=2, random_state=0, n_jobs=1)"


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
@pytest.mark.parametrize(
    ("table", "model", "most"),
    [
        pytest.param(WIDE, FOREST, 16, id="the codes, and the ends of bins once, as floats"),
        pytest.param(WIDE, BOOSTING, 45, id="not a histogram for every leaf"),
        pytest.param(WIDE, BAGGING, 42, id="no histogram of more numbers than the node has rows"),
        pytest.param(SPARSE, FOREST, 10, id="an eighth turned at a time, rows in two bytes"),
        pytest.param(SPARSE, DEEP, 18, id="lists of nodes no larger than their cells"),
    ],
)
def test_peak_above_the_input(table, model, most):
    """Megabytes; the tables themselves are there before."""
    code = FIT.format(table=table, model=model)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < most
