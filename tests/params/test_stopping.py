"""The one rule of early stopping, against what it says in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weald.params.stopping import Stopping

NAN = float("nan")


def stops_at(scores, patience, tol=0.0):
    """The round at which the rule says stop, and the best one by then; None if it never does."""
    rule = Stopping(patience, tol)
    for t, score in enumerate(scores, 1):
        rule.note(score)
        if rule.says_stop:
            return t, rule.best_round
    return None, rule.best_round


@pytest.mark.parametrize(
    ("scores", "patience", "tol", "expected"),
    [
        ([1, 2, 3, 4], 1, 0.0, (None, 4)),
        ([1, 2, 2], 1, 0.0, (3, 2)),
        ([1, 2, 2, 3], 2, 0.0, (None, 4)),
        ([1, 2, 2, 2, 3], 2, 0.0, (4, 2)),
        ([3, 1, 2, 3], 3, 0.0, (4, 1)),  # the first of equals
        ([1, 1.4, 1.8, 2.2], 1, 0.5, (2, 2)),  # too little at a time
        ([1, 1.4, 1.8, 2.2], 2, 0.5, (None, 4)),  # but not over two rounds
        ([1, 1.5], 1, 0.5, (2, 2)),  # no more than tol is no gain
        ([NAN, NAN, NAN], 1, 0.0, (None, 1)),  # nothing to compare with
        ([NAN, 1, NAN], 1, 0.0, (3, 2)),
        ([-np.inf, -np.inf, 0], 1, 0.0, (None, 3)),
        ([5, 4, 3], None, 0.0, (None, 1)),
    ],
)
def test_where_it_stops(scores, patience, tol, expected):
    assert stops_at(scores, patience, tol) == expected


def test_note_tells_whether_it_was_the_best():
    rule = Stopping(5)
    assert [rule.note(score) for score in (1, 1, 2, NAN, 0, 3)] == [
        True,
        False,
        True,
        False,
        False,
        True,
    ]


@given(
    scores=st.lists(st.integers(-9, 9).map(float) | st.just(NAN), min_size=1, max_size=30),
    patience=st.integers(1, 5),
    tol=st.sampled_from([0.0, 1.0, 2.5]),
)
def test_the_rule_in_words(scores, patience, tol):
    """Stop when the best has not risen by more than tol over the last rounds."""
    rule = Stopping(patience, tol)
    for t, score in enumerate(scores):
        rule.note(score)
        known = [s for s in scores[: t + 1] if s == s]
        then = [s for s in scores[: t + 1 - patience] if s == s] if t >= patience else []
        assert rule.says_stop == bool(then and max(known) <= max(then) + tol)
        if known:
            assert rule.best_round == scores.index(max(known)) + 1
