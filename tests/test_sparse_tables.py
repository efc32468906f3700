"""A sparse table gives the model of the dense one, to the last bit, and takes less memory."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import weald
from weald._engine import Forest, SparseTable, Tree

TREE_C, TREE_R = weald.DecisionTreeClassifier, weald.DecisionTreeRegressor
FOREST_C, FOREST_R = weald.RandomForestClassifier, weald.RandomForestRegressor
EXTRA_C, EXTRA_R = weald.ExtraTreesClassifier, weald.ExtraTreesRegressor
BOOST_C, BOOST_R = weald.GradientBoostingClassifier, weald.GradientBoostingRegressor

CLASSIFIERS = {
    "tree": lambda: TREE_C(random_state=0),
    "tree, few leaves": lambda: TREE_C(max_leaf_nodes=9, criterion="entropy", random_state=0),
    "forest": lambda: FOREST_C(6, random_state=0),
    "forest, ranks": lambda: FOREST_C(4, max_bins=None, random_state=0),
    "forest, out of bag": lambda: FOREST_C(9, oob_score=True, min_samples_leaf=3, random_state=0),
    "extra-trees": lambda: EXTRA_C(6, random_state=0),
    "extra-trees, keys": lambda: EXTRA_C(6, max_bins=None, random_state=0),
    "patches": lambda: weald.BaggingClassifier(n_estimators=4, max_features=0.5, random_state=0),
    "adaboost": lambda: weald.AdaBoostClassifier(n_estimators=6, random_state=0),
    "boosting": lambda: BOOST_C(n_estimators=6, random_state=0),
    "boosting, small leaves": lambda: BOOST_C(
        n_estimators=6, max_features=None, min_samples_leaf=4, random_state=0
    ),
    "boosting, drawn": lambda: BOOST_C(
        n_estimators=6, subsample=0.6, max_features=0.5, min_samples_leaf=6, random_state=0
    ),
}
REGRESSORS = {
    "tree": lambda: TREE_R(random_state=0),
    "tree, absolute": lambda: TREE_R(criterion="absolute_error", max_depth=4, random_state=0),
    "forest": lambda: FOREST_R(4, random_state=0),
    "forest, ranks": lambda: FOREST_R(4, max_bins=None, random_state=0),
    "extra-trees": lambda: EXTRA_R(4, random_state=0),
    "extra-trees, keys": lambda: EXTRA_R(4, max_bins=None, random_state=0),
    "extra-trees, absolute": lambda: EXTRA_R(2, criterion="absolute_error", random_state=0),
    "adaboost": lambda: weald.AdaBoostRegressor(n_estimators=4, random_state=0),
    "stagewise": lambda: weald.StagewiseRegressor(n_estimators=3, random_state=0),
    "boosting": lambda: BOOST_R(n_estimators=6, max_leaf_nodes=20, random_state=0),
    "boosting, ranks": lambda: BOOST_R(n_estimators=5, max_bins=None, random_state=0),
    "boosting, early": lambda: BOOST_R(n_estimators=20, n_iter_no_change=2, random_state=0),
    "boosting, quantile": lambda: BOOST_R(loss="quantile", n_estimators=4, random_state=0),
}
KINDS = ["numbers", "whole", "flags", "missing", "zeros", "some full", "float32"]


def make(kind: str, seed: int) -> sp.csr_array:
    """A table of which a part is filled: with what, the kind says."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(80, 300)), int(rng.integers(6, 60))
    dense = np.where(rng.random((n, d)) < rng.choice([0.03, 0.15]), rng.normal(size=(n, d)), 0)
    if kind == "whole":
        dense = np.round(2 * dense)
    if kind == "flags":
        dense = (dense != 0).astype(np.int8)
    if kind == "some full":
        dense[:, ::4] = rng.normal(size=(n, len(range(0, d, 4))))
    table = sp.csr_array(dense)
    filled = rng.random(table.nnz)
    if kind == "missing":
        table.data[filled < 0.2] = np.nan
    if kind == "zeros":
        table.data[filled < 0.2], table.data[filled > 0.9] = 0.0, -0.0
    return table.astype(np.float32) if kind == "float32" else table


def target(table: sp.csr_array, n_classes: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed + 1)
    X = np.nan_to_num(table.toarray().astype(float))
    y = X @ rng.normal(size=X.shape[1]) + 0.3 * rng.normal(size=len(X))
    return (
        np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y) if n_classes else y
    )


def trees_of(part, seen: dict | None = None) -> list:
    """The arrays of all trees in a fitted model."""
    seen = {} if seen is None else seen
    if id(part) in seen:
        return []
    seen[id(part)] = part  # and kept, so that nothing else gets this number
    if isinstance(part, Forest):
        return [part.__getstate__()]
    if isinstance(part, Tree):
        return [{"feature": part.feature, "threshold": part.threshold, "value": part.value}]
    if isinstance(part, dict):
        return [found for value in part.values() for found in trees_of(value, seen)]
    if isinstance(part, list | tuple):
        return [found for value in part for found in trees_of(value, seen)]
    if type(part).__module__.startswith("weald"):
        slots = {name: getattr(part, name, None) for name in getattr(type(part), "__slots__", ())}
        return trees_of({**slots, **getattr(part, "__dict__", {})}, seen)
    return []


def assert_same_bits(a, b) -> None:
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same_bits(a[key], b[key])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same_bits(one, other)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()


def fit(model, X, y, weights, threads: int):
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=threads)
    return model.fit(X, y, sample_weight=weights)


def assert_dense_is_sparse(make_model, table, y, weights) -> None:
    dense = fit(make_model(), table.toarray(), y, weights, 1)
    ask = "predict_proba" if hasattr(dense, "predict_proba") else "predict"
    known = trees_of(dense)
    assert known
    for threads, form in ((1, "csr"), (2, "csc"), (8, "csr")):
        model = fit(make_model(), table.asformat(form), y, weights, threads)
        assert_same_bits(known, trees_of(model))
        said = getattr(model, ask)
        assert_same_bits(getattr(dense, ask)(table.toarray()), said(table))
        assert_same_bits(said(table), said(table.toarray()))
        if hasattr(dense, "oob_decision_function_"):
            assert_same_bits(dense.oob_decision_function_, model.oob_decision_function_)


WEIGHTS = {
    "no weights": lambda n: None,
    "whole weights": lambda n: np.random.default_rng(5).integers(0, 400, n).astype(float),
    "weights": lambda n: 0.1 + np.random.default_rng(5).random(n),
}


@pytest.mark.parametrize("weighing", WEIGHTS)
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("method", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore")
def test_a_classifier_is_the_one_of_the_dense_table(method, n_classes, weighing):
    for seed, kind in enumerate(KINDS):
        table = make(kind, seed)
        y = target(table, n_classes, seed)
        assert_dense_is_sparse(CLASSIFIERS[method], table, y, WEIGHTS[weighing](len(y)))


@pytest.mark.parametrize("weighing", WEIGHTS)
@pytest.mark.parametrize("method", REGRESSORS)
@pytest.mark.filterwarnings("ignore")
def test_a_regressor_is_the_one_of_the_dense_table(method, weighing):
    for seed, kind in enumerate(KINDS):
        table = make(kind, seed)
        y = target(table, 0, seed)
        assert_dense_is_sparse(REGRESSORS[method], table, y, WEIGHTS[weighing](len(y)))


@pytest.mark.parametrize("method", ["forest", "extra-trees", "tree"])
def test_several_outputs(method):
    for seed, kind in enumerate(KINDS):
        table = make(kind, seed)
        y = np.c_[target(table, 3, seed), target(table, 2, seed + 9)]
        assert_dense_is_sparse(CLASSIFIERS[method], table, y, None)
        assert_dense_is_sparse(REGRESSORS[method], table, y + 0.5, None)


def test_more_rows_than_quantiles_are_found_from():
    table = sp.random_array(
        (420_000, 3), density=0.02, random_state=np.random.default_rng(0), format="csr"
    )
    table.data = np.round(table.data, 3)
    y = (table.sum(axis=1) > 0.3).astype(int)
    assert_dense_is_sparse(lambda: FOREST_C(2, random_state=0), table, y, None)


def test_other_questions_take_sparse_rows():
    table = make("missing", 3)
    y = target(table, 2, 3)
    forest = FOREST_C(5, random_state=0).fit(table, y)
    dense = table.toarray()
    assert_same_bits(forest.apply(dense), forest.apply(table))
    assert (forest.decision_path(dense)[0] != forest.decision_path(table)[0]).nnz == 0
    boosted = BOOST_C(n_estimators=4, random_state=0).fit(table, y)
    for one, other in zip(
        boosted.staged_predict_proba(dense), boosted.staged_predict_proba(table), strict=True
    ):
        assert_same_bits(one, other)
    copy = pickle.loads(pickle.dumps(boosted))
    assert_same_bits(boosted.predict_proba(table), copy.predict_proba(table))


def test_a_warm_start_goes_on_with_sparse_rows():
    table = make("whole", 4)
    y = target(table, 2, 4)
    said = []
    for X in (table, table.toarray()):
        model = BOOST_C(n_estimators=4, random_state=0, warm_start=True).fit(X, y)
        said.append(model.set_params(n_estimators=8).fit(X, y).predict_proba(X))
    assert_same_bits(*said)


def test_what_is_given_stays_as_it_is():
    twice = sp.csr_array((np.ones(3), np.array([2, 0, 0]), np.array([0, 1, 3])), shape=(2, 3))
    before = twice.copy()
    model = TREE_R(random_state=0).fit(twice, [0.0, 1.0])
    assert_same_bits([before.data, before.indices], [twice.data, twice.indices])
    np.testing.assert_array_equal(model.predict(twice), model.predict(twice.toarray()))


def test_a_sparse_table_gives_out_rows_and_cells():
    cells = sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]]))
    table = SparseTable(cells)
    assert len(table) == 3
    np.testing.assert_array_equal(table[1:], [[2, 0], [0, 0]])
    np.testing.assert_array_equal(table[np.array([2, 0])], [[0, 0], [0, 1]])
    np.testing.assert_array_equal(table[table[:, 0] == 0], [[0, 1], [0, 0]])
    np.testing.assert_array_equal(table[1], [2, 0])


WIDE = """
import resource, sys
import numpy as np, scipy.sparse as sp, weald
rng = np.random.default_rng(0)
n, d, filled = 4_000, 100_000, 40
columns = np.sort(rng.integers(0, d, (n, filled)), axis=1)
table = sp.csr_array((rng.random(n * filled), columns.ravel(), np.arange(n + 1) * filled), (n, d))
table.sum_duplicates()
y = rng.integers(0, 2, n)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for model in (
    weald.RandomForestClassifier(4, random_state=0, n_jobs=2),
    weald.GradientBoostingClassifier(n_estimators=2, random_state=0, n_jobs=2),
):
    model.fit(table, y).predict(table)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_wide_table_takes_no_memory_of_a_dense_one():
    """Of 4,000 x 100,000 cells, 3.2 GB as doubles."""
    done = subprocess.run([sys.executable, "-c", WIDE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200_000  # kilobytes
