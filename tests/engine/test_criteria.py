"""Every criterion keeps its name on the way through the engine, and unknown ones are refused."""

import numpy as np
import pytest

from weald._engine import _core
from weald.params.criteria import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA

CLASSES = sorted(set(CLASSIFICATION_CRITERIA.values()))
NUMBERS = sorted(REGRESSION_CRITERIA.values())


def grown(criterion):
    X = np.arange(12.0)[:, None]
    binned = _core.bin_table(X, [0], 0, False, None, 1)
    if criterion in NUMBERS:
        target = _core.reals(np.arange(12.0)[:, None] // 3, None)
    else:
        target = _core.labels((np.arange(12, dtype=np.int32) // 3)[:, None], [4], None)
    return _core.grow_forest(
        binned, target, criterion, _core.Rules(), _core.Draw(), False, 0, 0, 1, 1, False
    )


@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
def test_a_criterion_keeps_its_name(criterion):
    state = grown(criterion).state()
    assert state["criterion"] == criterion
    assert _core.Forest.from_state(state).state()["criterion"] == criterion


def test_unknown_criteria_are_refused():
    with pytest.raises(ValueError, match="unknown criterion: friedman"):
        grown("friedman")
    state = grown("poisson").state()
    with pytest.raises(ValueError, match="unknown criterion: "):
        _core.Forest.from_state({**state, "criterion": ""})
