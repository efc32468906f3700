"""Columns of two values are searched as random cuts are, and give the trees of the usual search.

Without bins columns have ranks, which are searched in the usual way.
"""

import numpy as np
import pytest

import weald

TARGETS = {
    "2 classes": lambda rng, score: (score[:, 0] > 0).astype(int),
    "20 classes": lambda rng, score: np.argsort(np.argsort(score[:, 0])) * 20 // len(score),
    "regression": lambda rng, score: score[:, 0],
    "3 outputs": lambda rng, score: score,
}
SETTINGS = {
    "plain": {},
    "leaves of 3": {"min_samples_leaf": 3},
    "best first": {"max_leaf_nodes": 40},
    "shallow": {"max_depth": 4, "max_features": 3},
    "a gain": {"min_impurity_decrease": 1e-4},
    "all rows": {"bootstrap": False, "max_features": 0.9},
}


def flags(rng, n, columns):
    """Columns of two values: 0 and 1, two odd numbers, one hardly ever, some the same as others."""
    X = (rng.random((n, columns)) < rng.uniform(0.02, 0.98, columns)).astype(float)
    X[:, 1] = np.where(X[:, 1] > 0, 1e9, -0.1)
    X[:, 2] = rng.random(n) < 2 / n
    X[:, 3] = X[:, 4]
    X[:, 5] = 7.0
    return X


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [90, 4_000])
def test_the_forest_is_that_of_the_usual_search(n, target, weighted, setting):
    rng = np.random.default_rng([n, len(target), len(setting)])
    X, new = flags(rng, n, 24), flags(rng, 500, 24)
    score = (X > 0) @ rng.normal(size=(24, 3)) + rng.normal(size=(n, 3))
    y = TARGETS[target](rng, score)
    kind = "Classifier" if "classes" in target else "Regressor"
    forest = getattr(weald, f"RandomForest{kind}")
    weight = rng.random(n) + 0.5 if weighted else None
    quick, usual = (
        forest(n_estimators=5, random_state=0, max_bins=bins, **SETTINGS[setting]).fit(X, y, weight)
        for bins in (255, None)
    )
    said = [getattr(each, "predict_proba", each.predict)(new) for each in (quick, usual)]
    np.testing.assert_array_equal(*said)
    np.testing.assert_array_equal(quick.apply(new), usual.apply(new))
    assert quick.estimators_[0].get_n_leaves() > 2


@pytest.mark.parametrize("l2", [0.0, 5.0])
def test_a_penalty_counts_in_vector_leaves(l2):
    rng = np.random.default_rng(0)
    X = flags(rng, 3_000, 10)
    y = (X[:, :3].argmax(axis=1) + rng.integers(2, size=3_000)) % 3
    settings = {"multi_strategy": "vector_leaves", "max_leaf_nodes": None, "max_depth": 6}
    said = [
        weald.GradientBoostingClassifier(
            n_estimators=5,
            max_features=0.5,
            l2_regularization=l2,
            random_state=0,
            max_bins=bins,
            n_jobs=threads,
            **settings,
        )
        .fit(X, y)
        .predict_proba(X)
        for bins, threads in [(255, 1), (255, 2), (None, 1)]
    ]
    np.testing.assert_array_equal(said[0], said[1])
    np.testing.assert_allclose(said[0], said[2], rtol=0, atol=1e-12)
