"""Early stopping, the bar, and Ctrl-C."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from forest.cases import LABELS, NEW, NOISY, X, target
from weald import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_growth_stops_when_the_score_rests(kind):
    settings = {"random_state": 0, "oob_score": True, "max_samples": 0.5}
    stopped = kind(500, n_iter_no_change=10, tol=1e-3, **settings).fit(X, target(kind))
    n = stopped.n_estimators_
    assert 10 < n < 200
    whole = kind(500, **settings).fit(X, target(kind))
    np.testing.assert_array_equal(stopped.oob_score_curve_, whole.oob_score_curve_[:n])
    np.testing.assert_array_equal(
        stopped.member_predictions(NEW), whole.member_predictions(NEW)[:n]
    )
    left_out = np.maximum.accumulate(whole.in_bag_ == 0).mean(axis=1)
    begin = int((left_out >= 0.99).argmax())
    best = np.maximum.accumulate(whole.oob_score_curve_[begin:])
    rested = best[10:] <= best[:-10] + 1e-3
    assert n == begin + int(rested.argmax()) + 11
    again = clone(stopped).set_params(n_jobs=1, verbose=0).fit(X, target(kind))
    assert again.n_estimators_ == n
    more = stopped.set_params(warm_start=True).fit(X, target(kind))
    assert more.n_estimators_ == n  # it still rests


def test_no_stop_without_drawn_rows():
    with pytest.warns(UserWarning, match="n_iter_no_change=5"):
        assert len(ExtraTreesClassifier(8, n_iter_no_change=5).fit(X, LABELS)) == 8


def test_a_bar_is_shown_on_request(capsys):
    RandomForestClassifier(20, oob_score=True, verbose=1).fit(X, LABELS)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "20/20" in shown.err
    assert "out-of-bag score 0." in shown.err
    ExtraTreesRegressor(3, verbose=2).fit(X, NOISY)
    assert "3/3" in capsys.readouterr().err
    RandomForestClassifier(20, oob_score=True).fit(X, LABELS)
    assert capsys.readouterr() == ("", "")


STOPPED = """
    import signal, threading, warnings, os, time
    import numpy as np, weald
    X = np.random.default_rng(0).random((20_000, 20)); y = X[:, 0]
    settings = dict(random_state=0, n_jobs=1, max_depth=6)
    forest = weald.RandomForestRegressor(100_000, **settings, **{more})
    asked = []
    def stop():
        time.sleep(0.8)
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=stop, daemon=True).start()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            forest.fit(X, y)
    except KeyboardInterrupt:
        print("stopped", hasattr(forest, "forest_"), time.monotonic() - asked[0] < 1.0)
    else:
        small = weald.RandomForestRegressor(len(forest), **settings).fit(X, y)
        print("kept", (small.predict(X[:9]) == forest.predict(X[:9])).all())
        print(any("growth was stopped" in str(w.message) for w in said))
        print(len(getattr(forest, "oob_score_curve_", forest)) == len(forest))
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "stopped False True"),
        ({"keep_partial": True}, "kept True True True"),
        ({"keep_partial": True, "oob_score": True}, "kept True True True"),
    ],
    ids=str,
)
def test_ctrl_c(more, expected):
    code = textwrap.dedent(STOPPED).replace("{more}", repr(more))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == expected.split(), done.stderr


def test_a_lucky_first_tree_does_not_stop_the_growth():
    """Its score is one of the few rows it left out: a bar that all rows together may not reach."""
    few, y = make_classification(300, n_informative=6, class_sep=0.5, random_state=0)
    for seed in range(5):
        forest = RandomForestClassifier(300, n_iter_no_change=5, random_state=seed).fit(few, y)
        nearly_all = (forest.in_bag_[:-5] == 0).any(axis=0).mean() >= 0.99
        assert nearly_all
        assert 12 < len(forest) < 100


def test_rows_that_are_never_left_out_are_not_waited_for():
    weights = np.where(np.arange(300) < 30, 50.0, 1.0)  # drawn 8 times by each tree, on average
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        forest = RandomForestRegressor(500, n_iter_no_change=5, random_state=0).fit(
            X, NOISY, weights
        )
    assert len(forest) < 200
