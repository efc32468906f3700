"""Random cases from a fresh seed, which the run prints; see :mod:`stress.run`.

``WEALD_STRESS_SEED`` fixes the first case, ``WEALD_STRESS_CASES`` says how many there are.
"""

import os

import pytest

from stress.models import ROWS, public_estimators
from stress.run import fresh_seed, run


def check(cases):
    first = fresh_seed()
    print(f"WEALD_STRESS_SEED={first} WEALD_STRESS_CASES={cases}")
    report = run(first, cases)
    print(report)
    assert report.cases == cases
    assert not report.failed, str(report)


def test_hundreds_of_cases():
    check(int(os.environ.get("WEALD_STRESS_CASES", "700")))


@pytest.mark.slow
def test_thousands_of_cases():
    check(10 * int(os.environ.get("WEALD_STRESS_CASES", "1000")))


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_every_public_estimator_has_a_row(kind):
    assert kind in [row.kind for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind.__name__)
def test_every_parameter_in_the_table_exists(row):
    assert set(row.settings) | set(row.always) <= set(row.kind().get_params())
