"""More threads than cores must not run at once: they would wait for each other's turn."""

import os
import subprocess
import sys

import pytest

linux_only = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="cores cannot be taken away"
)

FIT = """
import os, sys
if sys.argv[1] == "one core":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np
import weald
from weald._engine import resolve_threads
X = np.random.default_rng(0).normal(size=(3000, 8))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
def count(n_jobs):
    for make in (
        weald.GradientBoostingClassifier, weald.RandomForestClassifier, weald.AdaBoostClassifier
    ):
        make(n_estimators=5, n_jobs=n_jobs).fit(X, y).predict(X)
    return len(os.listdir("/proc/self/task"))
alone = count(1)  # with those of other libraries
print(count(16) - alone, resolve_threads(-1))
"""


def helpers(cores: str) -> tuple[int, int]:
    """How many threads fits with 16 of them have started, and how many cores there are."""
    quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", FIT, cores]
    said = subprocess.run(command, env=quiet, check=True, capture_output=True, text=True).stdout
    started, there = said.split()
    return int(started), int(there)


@linux_only
def test_no_more_threads_are_started_than_there_are_cores():
    started, cores = helpers("all cores")
    assert started <= cores - 1


@linux_only
def test_with_one_core_no_thread_is_started():
    assert helpers("one core") == (0, 1)
