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


WORK = """
import os
from time import process_time
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
import numpy as np
import weald
X = np.random.default_rng(0).normal(size=(20_000, 28))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
least = {2: 1e9, 16: 1e9}
for _ in range(5):
    for n_jobs in least:
        model = weald.GradientBoostingClassifier(
            n_estimators=20, learning_rate=0.1, max_leaf_nodes=31, n_jobs=n_jobs
        )
        before = process_time()
        model.fit(X, y)
        least[n_jobs] = min(least[n_jobs], process_time() - before)
print(least[16] / least[2])
"""


@linux_only
def test_more_threads_than_cores_do_no_more_work():
    quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", WORK]
    said = subprocess.run(command, env=quiet, check=True, capture_output=True, text=True).stdout
    assert float(said) < 1.5
