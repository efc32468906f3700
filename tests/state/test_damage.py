"""A damaged pickle is refused in one sentence, or gives a model that works."""

import inspect
import json
import pickle
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import weald

from . import damage
from .models import models

GOOD = ("refused", "works")


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return models()


def test_every_estimator_is_there(fitted):
    public = {getattr(weald, name) for name in weald.__all__}
    kinds = {kind for kind in public if inspect.isclass(kind) and issubclass(kind, BaseEstimator)}
    kinds = {kind for kind in kinds if hasattr(kind, "predict")}
    assert kinds <= {type(model) for model, _ in fitted.values()}


def outcomes(fitted, tmp_path, seed, first, step):
    """What came of the damage, case by case; a child that dies is the outcome of its last case."""
    file = tmp_path / "models.pickle"
    file.write_bytes(pickle.dumps(fitted))
    command = [sys.executable, damage.__file__, str(file), *map(str, (seed, first, step))]
    begin = 0
    while begin is not None:
        done = subprocess.run([*command, str(begin)], capture_output=True, text=True, timeout=900)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        yield from zip(lines[::2], lines[1::2], strict=False)
        begin = None
        if done.returncode != 0:
            assert len(lines) % 2 == 1, done.stderr
            yield lines[-1], f"the process ended with {done.returncode}"
            begin = lines[-1][0] + 1


def test_damaged_states(fitted, tmp_path):
    said = list(outcomes(fitted, tmp_path, seed=0, first=7, step=19))
    assert len(said) > 500
    assert [case for case in said if case[1] not in GOOD] == []
    assert {outcome for _, outcome in said} == set(GOOD)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_all_damaged_states(fitted, tmp_path, seed):
    said = list(outcomes(fitted, tmp_path, seed, first=0, step=1))
    assert len(said) > 10_000
    assert [case for case in said if case[1] not in GOOD] == []


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("balanced forest", ("_members", "sampling", "size"), 2**40),
        ("forest", ("_members", "sampling", "n_rows"), 2**40),
        ("adaboost of numbers", ("alphas_",), np.array([1.0, -1.0, 1.0])),
        ("adaboost of numbers", ("alphas_",), np.array([1.0, np.nan, 1.0])),
        ("mix: stack", ("final_estimator_",), None),
        ("boosting", ("n_estimators_",), 7),
        ("boosting", ("n_features_in_",), 2),
        ("stagewise", ("n_estimators_",), 7),
        ("stagewise", ("n_features_in_",), 2),
        ("adaboost of numbers", ("n_estimators_",), 7),
        ("forest", ("n_estimators_",), 7),
        ("bag", ("n_estimators_",), 7),
        ("bag", ("_weights",), np.array([-1.0, 1.0, 1.0])),
        ("stagewise", ("steps_",), np.array([1.0, np.inf, 1.0])),
        ("boosting", ("_model", "start", "constant"), np.array([np.nan])),
        ("boosting", ("_model", "used"), 4),
        ("boosting", ("_model", "members_vote"), True),
        ("tree", ("tree_", "n_categories"), np.array([0, 0, 7], dtype=np.uint32)),
        ("tree", ("n_features_in_",), 2),
    ],
)
def test_numbers_that_cannot_be_right_are_named(fitted, name, path, value):
    with pytest.raises(ValueError, match=r"^Not a valid \w+: [^\n]*\.$"):
        damage.rebuilt(fitted[name][0], path, value)


@pytest.mark.parametrize("name", ["forest", "forest of classes", "boosting", "many categories"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_leaves_and_thresholds_are_finite(fitted, name, number):
    model, X = fitted[name]
    path = ("_model", "members", "forests", 0, "nodes")
    path = path if name == "boosting" else ("_members", "forests", 0, "nodes")
    nodes = damage.value_at(model, path)
    head = nodes.view(np.uint32)[2::4]
    leaf, categorical = head & 4 > 0, head & 2 > 0
    for node in (np.flatnonzero(leaf)[0], np.flatnonzero(~leaf & ~categorical)[-1]):
        broken = nodes.copy()
        broken.view(np.float64)[2 * node] = number
        if number == np.inf and not leaf[node]:  # all present values go left
            assert np.isfinite(damage.rebuilt(model, path, broken).predict(X)).all()
            continue
        with pytest.raises(ValueError, match=r"not a valid tree: a (leaf|threshold)"):
            damage.rebuilt(model, path, broken)


def test_a_large_number_of_a_stratum_takes_no_memory(fitted):
    model, _ = fitted["balanced forest"]
    path = ("_members", "sampling", "strata")
    strata = damage.value_at(model, path).copy()
    strata[0] = 2**27  # counted, that would be a gigabyte
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="Not a valid Sampling: strata cannot be right"):
            damage.rebuilt(model, path, strata)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
