"""A fork by a handler of signals, while the threads of a fit are at work."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

SCRIPT = """
import os, signal, sys
import numpy as np
from weald import GradientBoostingRegressor, RandomForestClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 8))
y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))
kinds = {
    "forest": lambda jobs: RandomForestClassifier(n_estimators=60, n_jobs=jobs, random_state=0),
    "boosting": lambda jobs: GradientBoostingRegressor(
        n_estimators=60, max_leaf_nodes=63, n_jobs=jobs, random_state=0
    ),
}
kind, child_does = sys.argv[1:]
target = y > 0 if kind == "forest" else y
small = kinds[kind](2).set_params(n_estimators=3)
want_small = small.fit(X[:2000], target[:2000]).predict(X[:100])
want = kinds[kind](1).fit(X, target).predict(X)
inside, codes = None, []


def fork(*_):
    global inside
    if len(codes) >= 4:
        return
    child = os.fork()
    if child == 0:
        again = small.fit(X[:2000], target[:2000]).predict(X[:100])
        if not np.array_equal(again, want_small):
            os._exit(1)
        inside = "child"
        if child_does == "exit":
            os._exit(0)
        return
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    signal.setitimer(signal.ITIMER_REAL, 0.03)


signal.signal(signal.SIGALRM, fork)
rounds = 0
while len(codes) < 4 and rounds < 20:
    signal.setitimer(signal.ITIMER_REAL, 0.03)
    try:
        model = kinds[kind](2).fit(X, target)
    except RuntimeError as error:
        os._exit(0 if inside and "forked child" in str(error) else 2)
    if inside:  # the fork came between two steps: the child went on with threads of its own
        os._exit(0 if np.array_equal(model.predict(X), want) else 3)
    signal.setitimer(signal.ITIMER_REAL, 0)
    rounds += 1
    if not np.array_equal(model.predict(X), want):
        os._exit(4)
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize(
    ("kind", "child_does"),
    [
        ("forest", "exit"),
        ("boosting", "return"),
        pytest.param("forest", "return", marks=pytest.mark.slow),
        pytest.param("boosting", "exit", marks=pytest.mark.slow),
    ],
)
def test_a_handler_may_fork_during_a_parallel_fit(kind, child_does):
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, kind, child_does]
    run = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, err = run.communicate(timeout=120)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)  # children that hang as well
    assert out.strip() == "[0, 0, 0, 0]", (run.returncode, err)
