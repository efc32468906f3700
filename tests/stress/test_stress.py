"""Random cases; see :mod:`stress.run`, which prints how to run one of them again.

The tests run the cases of the day: new ones tomorrow, and today the same for everybody.
``WEALD_STRESS_SEED`` is another first case, ``WEALD_STRESS_CASES`` says how many there are.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stress.models import ROWS, public_estimators


def check(cases):
    """In a process of its own: the threads that other tests have used would not survive a fork."""
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    env.setdefault("WEALD_STRESS_SEED", str(datetime.now(UTC).toordinal() * 20_000))
    command = [sys.executable, "-m", "stress.run", "--cases", str(cases)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hundreds_of_cases():
    check(int(os.environ.get("WEALD_STRESS_CASES", "300")))


@pytest.mark.slow
def test_thousands_of_cases():
    check(10 * int(os.environ.get("WEALD_STRESS_CASES", "1000")))


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_every_public_estimator_has_a_row(kind):
    assert kind in [row.kind for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind.__name__)
def test_every_parameter_in_the_table_exists(row):
    assert set(row.settings) | set(row.always) <= set(row.kind().get_params())
