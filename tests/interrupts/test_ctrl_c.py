"""Ctrl-C at a random time stops everything within a second, and leaves the process usable."""

import inspect
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import weald
from interrupts.cases import CASES, QUICK, QUICK_OF_COMBINED
from interrupts.jobs import COMBINED

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="Windows has no fork, and cannot send SIGINT to one process"
)

# Between them they pass through every loop of the core that others share.
FAST = [
    "the weakest links of a chain",
    "as many draws as can be, by weight",
    "RandomForestRegressor.in_bag_",
    "RandomForestClassifier.fit",
    "GradientBoostingRegressor.predict",
    "BaggingClassifier.fit foreign",
]
SEED = random.SystemRandom().randrange(10**6)


class Server:
    """The process that makes ready what the cases need and forks for each of them."""

    def __init__(self):
        paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "interrupts.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )
        assert self.line() == ["ready"]

    def line(self):
        return self.process.stdout.readline().split()

    def interrupt(self, case, delay):
        """Seconds from the signal to the end of the job, and processor time in between."""
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        word, job = self.line()
        assert word == "running"
        time.sleep(delay)
        before = processor_time(int(job))
        sent = time.monotonic()
        os.kill(int(job), signal.SIGINT)
        answer = self.line()
        assert answer[0] == "stopped", answer
        assert self.line() == ["usable"]
        assert self.line() == ["done"]
        return float(answer[1]) - sent, float(answer[2]) - before

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)  # and the case that may be under way
        self.process.communicate()


def processor_time(process):
    """Seconds that a process has computed; 0 where the system does not tell in this way."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def crowded():
    """More processes want to run than there are cores: seconds on the clock say little."""
    return os.getloadavg()[0] > os.cpu_count()


@pytest.fixture(scope="module")
def server():
    it = Server()
    yield it
    it.close()


def check(server, case, delay):
    wall, computed = server.interrupt(case, delay)
    told = f"seed {SEED}: after {delay:.2f} s, stopped in {wall:.2f} s ({computed:.2f} s computed)"
    print(told)
    # On a crowded machine a second of computing, by all threads together, counts instead.
    assert wall < 1.0 or (crowded() and computed < 1.0 and wall < 20.0), told


@pytest.mark.parametrize("case", FAST)
def test_within_a_second(server, case):
    check(server, case, random.Random(f"{SEED} {case}").uniform(0.1, 1.2))


@pytest.mark.slow
@pytest.mark.parametrize("time", range(3))
@pytest.mark.parametrize("case", CASES)
def test_everything_within_a_second(server, case, time):
    delay = random.Random(f"{SEED} {case} {time}").uniform(0.0, 3.0)
    check(server, case, delay)


def long_methods(kind):
    """The public methods of an estimator that are weald's own, and more than a look-up."""
    for name in dir(kind):
        if name.startswith("_") or name in QUICK:
            continue
        if kind in COMBINED and name in QUICK_OF_COMBINED:
            continue
        found = inspect.getattr_static(kind, name)
        method = found.fget if isinstance(found, property) else getattr(kind, name)
        if callable(method) and inspect.unwrap(method).__module__.startswith("weald"):
            yield name


def estimators():
    for name in weald.__all__:
        kind = getattr(weald, name)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            yield name


@pytest.mark.parametrize("kind", estimators())
def test_no_method_is_forgotten(kind):
    covered = {case.split()[0] for case in CASES}
    methods = {f"{kind}.{name}" for name in long_methods(getattr(weald, kind))}
    assert f"{kind}.fit" in methods
    assert methods <= covered, sorted(methods - covered)
