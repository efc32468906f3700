"""Files of earlier versions load, and their models say what they said."""

import json

import numpy as np
import pytest

import weald
from weald.models import describe

from .make_data import DATA, said

ANSWERS = {
    name: answers
    for file in sorted(DATA.glob("answers-*.json"))
    for name, answers in json.loads(file.read_text()).items()
}
# Sums of members from other libraries may have other last bits with another BLAS.
FOREIGN = ("bag-of-ridges", "stack", "kernel")


def test_there_are_files():
    assert sorted(ANSWERS) == sorted(file.name for file in DATA.glob("*.weald"))
    assert len(ANSWERS) >= 7
    assert all(file.stat().st_size < 20_000 for file in DATA.iterdir())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", ANSWERS)
def test_an_old_file(name):
    model = weald.load(DATA / name)
    told = describe(DATA / name)
    assert told.info == {"made by": "make_data.py"}
    assert told.class_name == type(model).__name__
    now = said(name, model)
    assert now.keys() == ANSWERS[name].keys()
    for method, then in ANSWERS[name].items():
        if (
            name.startswith(FOREIGN)
            and isinstance(then[0], str)
            and then[0].startswith(("0x", "-0x"))
        ):
            one, other = ([float.fromhex(x) for x in part] for part in (now[method], then))
            np.testing.assert_allclose(one, other, rtol=1e-12)
        elif not isinstance(then[0], float):
            assert now[method] == then
