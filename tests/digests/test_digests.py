"""Models are bit for bit those that were recorded; see :mod:`digests.record`.

Numbers made by NumPy and other libraries may differ in their last bits elsewhere: where these have
other versions, or the processor is another one, models are not compared.
"""

import pytest

from digests.cases import digest_of
from digests.data import MissingTableError
from digests.models import ALWAYS, CASES, SAMPLE
from digests.store import environment, load
from stress.models import public_estimators

RECORDED_IN, RECORDED = load()
HERE = environment()
OTHERS = [f"{k} {HERE[k]!r}, not {v!r}" for k, v in RECORDED_IN.items() if HERE.get(k) != v]
comparable = pytest.mark.skipif(
    bool(OTHERS), reason=f"digests were recorded elsewhere; here is {'; '.join(OTHERS)}"
)


def compare(name):
    try:
        differ = RECORDED[name].differences(digest_of(CASES[name], ALWAYS))
    except MissingTableError as missing:
        pytest.skip(str(missing))
    if "table of inputs" in differ:
        pytest.fail(f"the rows of this case are others than those recorded: {name}")
    assert not differ, f"{name}: a change of {', '.join(differ)}"


@comparable
@pytest.mark.parametrize("name", SAMPLE)
def test_the_first_model_of_every_estimator_is_as_recorded(name):
    compare(name)


@pytest.mark.slow
@comparable
@pytest.mark.parametrize("name", [name for name in CASES if name not in SAMPLE])
def test_models_are_as_recorded(name):
    compare(name)


def test_every_case_is_recorded_and_no_other():
    assert set(RECORDED) == set(CASES)


def test_every_public_estimator_has_a_case():
    named = {case.kind for case in CASES.values() if hasattr(case, "kind")}
    assert named == {kind.__name__ for kind in public_estimators()}
