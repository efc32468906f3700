"""Sparse tables whose parts do not fit: one clear error, or the right result; never a crash.

SciPy trusts what is in them, so every case runs in a child process.
"""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from weald import BaggingClassifier, DecisionTreeClassifier, GradientBoostingRegressor
from weald.input.sparse import check_sparse

SCRIPT = """
import json, sys
import numpy as np
from scipy import sparse
from weald import BaggingClassifier, DecisionTreeClassifier
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(0)
dense = rng.poisson(0.7, size=(60, 5)).astype(float)
y = (dense[:, 0] > dense[:, 1]).astype(int)

def broken(kind, part, value):
    X = getattr(sparse, kind)(dense)
    if part == "shape":
        X._shape = tuple(value)
        return X
    whole = getattr(X, part).copy()
    if value == "shorter":
        whole = whole[:-3]
    elif value == "longer":
        whole = np.append(whole, whole[-1:])
    elif value == "floats":
        whole = whole + 0.5
    elif value == "reversed":
        whole = whole[::-1].copy()
    else:
        whole[len(whole) // 2] = value
    setattr(X, part, whole)
    return X

def ask(X, method):
    tree = DecisionTreeClassifier(random_state=0)
    if method == "fit":
        return tree.fit(X, y)
    if method == "predict":
        return tree.fit(dense, y).predict(X)
    bag = BaggingClassifier(LogisticRegression(), n_estimators=2, random_state=0)
    return bag.fit(X, y)

for kind, part, value in json.loads(sys.stdin.read()):
    for method in ("fit", "predict", "bag"):
        try:
            ask(broken(kind, part, value), method)
            print(json.dumps([kind, part, value, method, "no error"]), flush=True)
        except ValueError as error:
            print(json.dumps([kind, part, value, method, str(error)]), flush=True)
"""
HUGE = 2**31 - 1
CASES = [
    [kind, part, value]
    for kind in ("csr_array", "csc_array", "csr_matrix", "csc_matrix", "bsr_array")
    for part, values in {
        "indices": [60, HUGE, -1, -HUGE, "floats", "shorter"],
        "indptr": [HUGE, -1, "shorter", "longer", "floats", "reversed"],
        "data": ["shorter"],
    }.items()
    for value in values
]
CASES += [["csr_array", "shape", [61, 5]], ["csr_array", "shape", [60, 1]]]
CASES += [
    ["coo_matrix", part, value] for part in ("row", "col") for value in (60, HUGE, -1, "shorter")
]
CASES += [["coo_matrix", "data", "shorter"], ["dia_array", "offsets", "shorter"]]


def test_damaged_parts_are_refused():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        input=json.dumps(CASES),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == 3 * len(CASES)
    for *case, message in said:
        assert message.startswith("X is a damaged sparse matrix: it "), (case, message)
        assert message.count(".") == 1, (case, message)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, np.bool_])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_unsorted_and_repeated_entries_are_added_up(kind, dtype):
    rng = np.random.default_rng(1)
    row, col = rng.integers(0, 80, 500), rng.integers(0, 4, 500)
    value = rng.integers(1, 3, 500).astype(dtype)
    dense = np.zeros((80, 4), dtype=dtype)
    np.add.at(dense, (row, col), value)
    y = dense[:, 0] > dense[:, 1]
    X = sparse.coo_array((value, (row, col)), shape=dense.shape)
    if kind != "coo":  # SciPy's own conversion would put them in order
        major, minor = (row, col) if kind == "csr" else (col, row)
        order = np.argsort(major, kind="stable")
        indptr = np.searchsorted(major[order], np.arange(dense.shape[kind == "csc"] + 1))
        parts = (value[order], minor[order], indptr)
        X = getattr(sparse, f"{kind}_array")(parts, shape=dense.shape)
        assert not X.has_canonical_format
    tree, thin = (DecisionTreeClassifier(random_state=0) for _ in range(2))
    np.testing.assert_array_equal(tree.fit(dense, y).predict(dense), thin.fit(X, y).predict(X))
    np.testing.assert_array_equal(tree.tree_.threshold, thin.tree_.threshold)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sound_matrices_pass(kind):
    for dense in (np.eye(4, 6), np.zeros((3, 2)), np.arange(12.0).reshape(4, 3)):
        check_sparse(sparse.coo_array(dense).asformat(kind), "X")
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, size=(50, 4)), rng.normal(size=50)
    for kind_of_model in (GradientBoostingRegressor, BaggingClassifier):
        model = kind_of_model(n_estimators=2, random_state=0)
        target = y if model.__class__.__name__.endswith("Regressor") else y > 0
        got = model.fit(sparse.coo_array(X).asformat(kind), target).predict(X)
        np.testing.assert_array_equal(got, model.fit(X, target).predict(X))
