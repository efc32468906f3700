"""Same seed, same model, bit for bit: any number of threads, after a fork, in a pickle.

Ctrl-C stops a fit and leaves the process as it was. And where a tree is meant to be random,
different seeds differ and the draws are uniform.
"""

import hashlib
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import joblib
import numpy as np
import pytest
from scipy.stats import chisquare, kstest
from sklearn.base import clone, is_classifier

from oracle.cart import split_of, walk
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "value",
    "missing_go_to_left",
    "is_categorical",
)

MODELS = {
    "gini": DecisionTreeClassifier(),
    "entropy": DecisionTreeClassifier(criterion="entropy"),
    "misclassification": DecisionTreeClassifier(criterion="misclassification", max_depth=8),
    "squared_error": DecisionTreeRegressor(),
    "absolute_error": DecisionTreeRegressor(criterion="absolute_error", max_depth=6),
    "poisson": DecisionTreeRegressor(criterion="poisson", min_samples_leaf=3),
    "max_features": DecisionTreeClassifier(max_features="sqrt", random_state=3),
    "max_leaf_nodes": DecisionTreeRegressor(max_leaf_nodes=50),
    "bins": DecisionTreeClassifier(max_bins=64),
    "bins_regression": DecisionTreeRegressor(max_bins=255, max_leaf_nodes=64),
    "monotone": DecisionTreeRegressor(monotonic_cst=[1, 0, -1, 0, 0, 0, 0, 0], max_depth=7),
    "pruned": DecisionTreeRegressor(ccp_alpha=1e-3),
    "extra_classifier": ExtraTreeClassifier(random_state=4),
    "extra_regressor": ExtraTreeRegressor(random_state=5, max_features=3),
}


def table(n=20_000):
    """Large enough that a second thread has something to do; the last column is categorical."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, 8))
    X[:, 6] = np.round(X[:, 6], 1)
    X[:, 7] = rng.integers(0, 12, n)
    y = X[:, 0] + np.sin(3 * X[:, 1]) + np.sin(X[:, 7]) + rng.normal(size=n)
    X[rng.random(n) < 0.1, 1] = np.nan
    return X, y, rng.uniform(0.5, 2, n)


def fit(est, X, y, w, **settings):
    target = np.digitize(y, [-1.0, 0.5, 1.5]) if is_classifier(est) else np.exp(y)
    est = clone(est).set_params(categorical_features=[7], **settings)
    return est.fit(X, target, sample_weight=w)


def assert_same_bits(one, two):
    a, b = one.tree_, two.tree_
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
        assert getattr(a, name).dtype == getattr(b, name).dtype
    for i in np.flatnonzero(a.is_categorical):
        np.testing.assert_array_equal(a.left_categories(i), b.left_categories(i))


# --- threads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_thread_count_changes_nothing(name):
    X, y, w = table()
    one = fit(MODELS[name], X, y, w, n_jobs=1)
    for n_jobs in (2, 8, -1, None):
        other = fit(MODELS[name], X, y, w, n_jobs=n_jobs)
        assert_same_bits(one, other)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("name", ["gini", "squared_error", "extra_classifier", "bins"])
def test_fits_in_several_threads_at_once(name):
    X, y, w = table(6000)
    expected = fit(MODELS[name], X, y, w, n_jobs=1)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(fit, MODELS[name], X, y, w, n_jobs=1 + i % 3) for i in range(8)]
        for job in jobs:
            assert_same_bits(expected, job.result(timeout=60))


@pytest.mark.parametrize("name", ["gini", "squared_error"])
def test_one_model_predicts_in_several_threads_at_once(name):
    X, y, w = table(6000)
    est = fit(MODELS[name], X, y, w)
    expected = est.predict(X)
    with ThreadPoolExecutor(4) as pool:
        for job in [pool.submit(est.predict, X) for _ in range(12)]:
            np.testing.assert_array_equal(job.result(timeout=60), expected)


FORK = """
import os, sys, hashlib
import numpy as np
from weald import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 8))
y = X[:, 0] * X[:, 1] + rng.normal(size=20_000)

def digest():
    bits = hashlib.sha256()
    for kind, target in (
        (DecisionTreeClassifier, (y > 0).astype(int)),
        (DecisionTreeRegressor, y),
        (ExtraTreeClassifier, (y > 0).astype(int)),
    ):
        est = kind(n_jobs=2, random_state=0).fit(X, target)
        for array in (est.tree_.threshold, est.tree_.value, est.predict(X)):
            bits.update(np.ascontiguousarray(array).tobytes())
    return bits.hexdigest()

before = digest()  # the parent's threads exist before the fork
receive, send = os.pipe()
child = os.fork()
if child == 0:
    os.write(send, digest().encode())
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert os.read(receive, 64).decode() == before
assert digest() == before
print("same bits")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_forked_child_grows_the_same_trees():
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "same bits"


def digest(est, X):
    says = est.predict_proba(X) if is_classifier(est) else est.predict(X)
    return hashlib.sha256(np.ascontiguousarray(says).tobytes()).hexdigest()


def test_two_processes_grow_the_same_tree():
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_determinism import MODELS, digest, fit, table\n"
        "X, y, w = table(3000)\n"
        "for est in MODELS.values(): print(digest(fit(est, X, y, w), X))\n"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    X, y, w = table(3000)
    assert done.stdout.split() == [digest(fit(est, X, y, w), X) for est in MODELS.values()]


# --- round trips ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_pickle_and_joblib_keep_every_bit(name):
    X, y, w = table(3000)
    est = fit(MODELS[name], X, y, w)
    stored = BytesIO()
    joblib.dump(est, stored)
    stored.seek(0)
    for copy in (pickle.loads(pickle.dumps(est)), joblib.load(stored)):
        assert_same_bits(est, copy)
        assert digest(copy, X) == digest(est, X)
        np.testing.assert_array_equal(copy.apply(X), est.apply(X))
        np.testing.assert_array_equal(copy.feature_importances_, est.feature_importances_)


@pytest.mark.parametrize("name", MODELS)
def test_a_clone_and_a_second_fit_give_the_same_tree(name):
    X, y, w = table(3000)
    est = fit(MODELS[name], X, y, w)
    assert_same_bits(est, fit(clone(est), X, y, w))
    first = digest(est, X)
    target = np.digitize(y, [-1.0, 0.5, 1.5]) if is_classifier(est) else np.exp(y)
    assert digest(est.fit(X, target, sample_weight=w), X) == first


@pytest.mark.parametrize("layout", ["F", "strided", "read-only"])
def test_the_layout_of_the_input_does_not_matter(layout):
    X, y, w = table(3000)
    expected = fit(MODELS["squared_error"], X, y, w)
    if layout == "F":
        other = np.asfortranarray(X)
    elif layout == "strided":
        other = np.repeat(X, 2, axis=1)[:, ::2]
    else:
        other = X.copy()
        other.flags.writeable = False
    assert_same_bits(expected, fit(MODELS["squared_error"], other, y, w))


def test_fit_leaves_its_input_alone():
    X, y, w = table(1000)
    kept = X.copy(), y.copy(), w.copy()
    for est in MODELS.values():
        fit(est, X, y, w).predict(X)
    for now, before in zip((X, y, w), kept, strict=True):
        np.testing.assert_array_equal(now, before)


# --- Ctrl-C -----------------------------------------------------------------------------------

INTERRUPTED = """
import time
import numpy as np
from weald import DecisionTreeClassifier, DecisionTreeRegressor

rng = np.random.default_rng(0)
X = rng.random((400_000, 20))
y = rng.random(400_000)
small = DecisionTreeClassifier().fit(X[:100], y[:100] > 0.5)
print("ready", flush=True)
try:
    DecisionTreeRegressor({settings}).fit(X, y)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
again = DecisionTreeClassifier().fit(X[:100], y[:100] > 0.5)
assert np.array_equal(again.tree_.threshold, small.tree_.threshold)
print("usable", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize("delay", [0.6, pytest.param(0.1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "parameters", ["n_jobs=1", "n_jobs=2", "criterion='absolute_error'", "max_leaf_nodes=100_000"]
)
def test_ctrl_c_stops_a_fit_within_a_second(parameters, delay):
    script = INTERRUPTED.replace("{settings}", parameters)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout.readline().strip() == "ready"
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            sent = time.perf_counter()
            assert child.stdout.readline().strip() == "interrupted"
            assert time.perf_counter() - sent < 1.0
            assert child.stdout.readline().strip() == "usable"
            assert child.wait(timeout=20) == 0
        finally:
            child.kill()


# --- random thresholds ------------------------------------------------------------------------

RANDOM = (
    (ExtraTreeClassifier, {}),
    (ExtraTreeRegressor, {}),
    (DecisionTreeClassifier, {"splitter": "random"}),
    (DecisionTreeRegressor, {"splitter": "random", "criterion": "absolute_error"}),
)


def mixed_table(rng, n):
    """Columns with real numbers, with gaps, with few values, and with categories (the last)."""
    X = np.c_[rng.normal(size=(n, 2)), rng.integers(0, 4, n), rng.integers(0, 6, n)]
    X[rng.random(n) < 0.2, 1] = np.nan
    X[rng.random(n) < 0.1, 3] = np.nan
    return X


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "settings"), RANDOM)
def test_random_thresholds_lie_inside_the_node(kind, settings, weighted):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = mixed_table(rng, 100), rng.integers(0, 3, 100)
        w = rng.integers(0, 3, 100) if weighted else np.ones(100)
        est = kind(**settings, random_state=seed, categorical_features=[3])
        tree = est.fit(X, y, sample_weight=w).tree_
        for i, _, rows in walk(tree, X, np.flatnonzero(w)):
            assert tree.n_node_samples[i] == len(rows)
            assert tree.weighted_n_node_samples[i] == w[rows].sum()
            split = split_of(tree, i)
            if split is None:
                continue
            x = X[rows, split.feature]
            assert 0 < split.sends_left(x).sum() < len(x)
            if split.left_codes is None and split.threshold != np.inf:
                assert np.nanmin(x) <= split.threshold < np.nanmax(x)


@pytest.mark.parametrize(("kind", "settings"), RANDOM)
def test_full_random_trees_separate_all_rows(kind, settings):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 4, 80)
    est = kind(**settings, random_state=1).fit(X, y)
    np.testing.assert_array_equal(est.predict(X), y)


@pytest.mark.parametrize(("kind", "settings"), RANDOM)
def test_seeds_decide_random_trees(kind, settings):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    one, same, other = (kind(**settings, random_state=s).fit(X, y) for s in (1, 1, 2))
    assert_same_bits(one, same)
    assert one.tree_.threshold[0] != other.tree_.threshold[0]


@pytest.mark.parametrize(("kind", "settings"), RANDOM)
def test_root_thresholds_are_uniform(kind, settings):
    rng = np.random.default_rng(6)
    x, y = rng.uniform(3, 11, 50) ** 2, rng.integers(0, 2, 50)
    thresholds = [
        kind(**settings, max_depth=1, random_state=seed).fit(x[:, None], y).tree_.threshold[0]
        for seed in range(400)
    ]
    spread = x.max() - x.min()
    assert kstest((np.array(thresholds) - x.min()) / spread, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("kind", "settings"), RANDOM)
def test_each_column_is_drawn_equally_often(kind, settings):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(40, 4)), rng.integers(0, 2, 40)
    settings = {**settings, "max_features": 1, "max_depth": 1}
    roots = [kind(**settings, random_state=s).fit(X, y).tree_.feature[0] for s in range(400)]
    assert chisquare(np.bincount(roots, minlength=4)).pvalue > 1e-3
