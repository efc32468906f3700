"""Targets and weights near the ends of what is accepted: right values, finite importances."""

from fractions import Fraction

import numpy as np
import pytest

from weald import (
    AdaBoostRegressor,
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    StagewiseRegressor,
)

few = {"n_estimators": 4, "random_state": 0}
MODELS = {
    "tree": DecisionTreeRegressor(max_depth=3),
    "medians": DecisionTreeRegressor(max_depth=3, criterion="absolute_error"),
    "poisson": DecisionTreeRegressor(max_depth=3, criterion="poisson"),
    "forest": RandomForestRegressor(max_depth=3, **few),
    "extra-trees": ExtraTreesRegressor(max_depth=3, **few),
    "bag": BaggingRegressor(DecisionTreeRegressor(max_depth=3), **few),
    "AdaBoost.R2, drawn": AdaBoostRegressor(**few),
    "AdaBoost.R2": AdaBoostRegressor(resample=False, **few),
    "stagewise": StagewiseRegressor(DecisionTreeRegressor(max_depth=3), **few),
    "boosting": GradientBoostingRegressor(**few),
}
TREES = ("tree", "medians", "poisson", "forest", "extra-trees", "bag", "AdaBoost.R2")
WEIGHTS = {
    "none": lambda rng, n: None,
    "tiny": lambda rng, n: np.exp(rng.normal(size=n)) * 1e-98,
    "huge": lambda rng, n: np.exp(rng.normal(size=n)) * 1e97,
    "small": lambda rng, n: np.exp(rng.normal(size=n)) * 1e-60,
    "large": lambda rng, n: np.exp(rng.normal(size=n)) * 1e60,
    "of all sizes": lambda rng, n: np.r_[1.0, 10.0 ** rng.uniform(-300, 0, n - 1)],
    "half as good as none": lambda rng, n: np.where(np.arange(n) % 2, 1e-300, 1.0),
}


def trees_of(model):
    if hasattr(model, "tree_"):
        return [model]
    return list(np.ravel(np.array(list(model.estimators_), dtype=object)))


@pytest.mark.parametrize("exponent", [-300, -100, 0, 30, 99])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", MODELS)
def test_predictions_and_importances_are_finite(name, kind, exponent):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (40, 3)).astype(float)
    y = np.abs(X[:, 0] + rng.normal(size=40) + 5)
    y = y / y.max() * 10.0**exponent
    model = MODELS[name].fit(X, y, WEIGHTS[kind](rng, len(y)))
    said = model.predict(X)
    assert np.isfinite(said).all()
    if name in TREES:
        assert y.min() <= said.min()
        assert said.max() <= y.max()
    shares = getattr(model, "feature_importances_", np.zeros(1))
    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1) or not shares.any()
    for member in trees_of(model):
        tree = member.tree_
        assert np.isfinite(member.feature_importances_).all()
        assert (tree.weighted_n_node_samples > 0).all()
        leaves = tree.children_left < 0
        medians = name == "medians"  # those of inner nodes do not follow from the leaves
        for array in (tree.value, tree.weighted_n_node_samples, tree.impurity):
            assert np.isfinite(array[leaves] if medians else array).all()


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("exponent", [-300, 0, 99])
def test_a_leaf_predicts_the_weighted_mean(exponent, kind):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (60, 2)).astype(float)
    y = rng.uniform(-1, 1, 60) * 10.0**exponent
    w = WEIGHTS[kind](rng, len(y))
    tree = DecisionTreeRegressor().fit(X, y, w)
    leaf, said = tree.apply(X), tree.predict(X)
    each = [Fraction(1 if w is None else w[i]) for i in range(len(y))]
    for node in np.unique(leaf):
        rows = np.flatnonzero(leaf == node)
        mean = sum(each[i] * Fraction(y[i]) for i in rows) / sum(each[i] for i in rows)
        spread = max(abs(y[rows]))
        assert abs(said[rows[0]] - float(mean)) <= 1e-14 * spread


def test_members_under_weights_beyond_floats_survive_a_pickle():
    import pickle

    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (40, 3)).astype(float)
    for model, y in (
        (ExtraTreesRegressor(max_depth=3, **few), X[:, 0] * 1e60),
        (ExtraTreesClassifier(max_depth=3, **few), X[:, 0] > 2),
    ):
        model.fit(X, y, np.full(40, 1e-60))
        again = pickle.loads(pickle.dumps(model))
        for a, b in zip(model.estimators_, again.estimators_, strict=True):
            for name in ("value", "impurity", "weighted_n_node_samples"):
                np.testing.assert_array_equal(getattr(a.tree_, name), getattr(b.tree_, name))
            assert a.tree_.weighted_n_node_samples[0] == pytest.approx(40e-60, rel=1e-5)


def test_log_cosh_keeps_its_digits_where_it_is_tiny():
    """There it is half the square, whatever the unit of the targets."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (60, 3)).astype(float)
    y = X[:, 0] + rng.normal(size=60)
    one, two = (
        GradientBoostingRegressor(loss="log_cosh", **few).fit(X, y * unit).predict(X) / unit
        for unit in (2.0**-24, 2.0**-100)
    )
    assert np.ptp(one) > 0.1
    np.testing.assert_allclose(one, two, rtol=1e-9)
