"""A row of weight k is k rows, bit for bit, where nothing is drawn.

The tables are full of ties: whole numbers, few distinct values, labels without sense. Of two splits
that are equally good the last bit of a sum would choose, so a sum that is not exact shows here.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
    losses,
)

NUMBERS = ("squared_error", "absolute_error")
CLASSES = ("gini", "entropy", "misclassification")
ATTRIBUTES = (
    "errors_",
    "alphas_",
    "normalizers_",
    "init_",
    "steps_",
    "train_losses_",
    "feature_importances_",
)
NODES = ("feature", "threshold", "value", "impurity", "children_right", "weighted_n_node_samples")


def models():
    """Name, model, number of classes (0: numbers)."""
    for criterion in CLASSES:
        for k in (2, 3, 5):
            yield f"tree {criterion} {k}", DecisionTreeClassifier(criterion=criterion), k
    for criterion in (*NUMBERS, "poisson"):
        yield f"tree {criterion}", DecisionTreeRegressor(criterion=criterion), 0
    for algorithm in ("samme", "real", "confidence", "gentle"):
        for k in (2, 3, 5) if algorithm in ("samme", "real") else (2,):
            for depth in (1, 2, 4):
                member = DecisionTreeClassifier(max_depth=depth, criterion=CLASSES[depth % 2])
                model = AdaBoostClassifier(member, n_estimators=8, algorithm=algorithm)
                yield f"AdaBoost {algorithm} {k} {depth}", model, k
    for criterion in NUMBERS:
        member = DecisionTreeRegressor(max_depth=2, criterion=criterion)
        model = AdaBoostClassifier(member, n_estimators=8, algorithm="logit")
        yield f"AdaBoost logit {criterion}", model, 2
    ones = dict.fromkeys(range(3), 1.0)  # class weights lead to the path of members of any kind
    for algorithm in ("samme", "real"):
        member = DecisionTreeClassifier(max_depth=2, class_weight=ones)
        model = AdaBoostClassifier(member, n_estimators=6, algorithm=algorithm)
        yield f"AdaBoost {algorithm} members", model, 3
    for loss in ("linear", "square", "exponential"):
        for criterion in NUMBERS:
            member = DecisionTreeRegressor(max_depth=3, criterion=criterion)
            model = AdaBoostRegressor(member, n_estimators=6, loss=loss, resample=False)
            yield f"AdaBoost.R2 {loss} {criterion}", model, 0
    stumps = DecisionTreeClassifier(max_depth=1)
    votes = DecisionTreeClassifier(max_depth=3)
    trees = DecisionTreeRegressor(max_depth=2)
    medians = DecisionTreeRegressor(max_depth=3, criterion="absolute_error")
    for loss in ("exponential", "log_loss", "smooth_hinge", "focal"):
        for name, member in {"stumps": stumps, "votes": votes, "trees": trees}.items():
            for init in ("constant", "zero"):
                model = StagewiseClassifier(member, loss=loss, n_estimators=8, init=init)
                yield f"stagewise {loss} {name} {init}", model, 2
    for loss in ("squared_error", "absolute_error", "huber", "log_cosh", losses.Quantile(0.8)):
        for name, member in {"votes": votes, "trees": trees, "medians": medians}.items():
            model = StagewiseRegressor(member, loss=loss, n_estimators=8)
            yield f"stagewise {losses.get_loss(loss).name} {name}", model, 0
    for loss in ("poisson", "gamma", "tweedie"):
        model = StagewiseRegressor(trees, loss=loss, n_estimators=8)
        yield f"stagewise {loss}", model, 0


MODELS = {name: (model, k) for name, model, k in models()}


def table(rng, k):
    """Few rows of whole numbers, targets of k classes or numbers, and how often each row counts."""
    n, d = rng.integers(max(k, 4), 30), rng.integers(1, 4)
    X = rng.integers(0, rng.integers(2, 6), (n, d)).astype(float)
    y = rng.integers(0, k or 5, n)
    y[:k] = np.arange(k)
    if k == 0:
        y = 1 + y * rng.choice([1, 0.1, 1 / 3])
    times = (
        rng.integers(1, 5, n),
        rng.integers(0, 4, n),  # some are not there
        rng.integers(1, 300, n),
        np.full(n, 3),
    )[rng.integers(0, 4)]
    times[: max(k, 1)] = 2
    return X, y, times


def assert_same_bits(one, two, X):
    for name in ATTRIBUTES:
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    trees = [[m] if hasattr(m, "tree_") else list(m.estimators_) for m in (one, two)]
    for a, b in zip(*trees, strict=True):
        for name in NODES:
            of_a, of_b = getattr(a.tree_, name), getattr(b.tree_, name)
            np.testing.assert_array_equal(of_a, of_b, err_msg=name)
    ask = "decision_function" if hasattr(one, "decision_function") else "predict"
    np.testing.assert_array_equal(getattr(one, ask)(X), getattr(two, ask)(X))


def check(name, seed):
    model, k = MODELS[name]
    rng = np.random.default_rng(seed)
    X, y, times = table(rng, k)
    rows = np.repeat(np.arange(len(y)), times)
    if seed % 2:
        rows = rng.permutation(rows)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No (member|step) of")
        weighted = clone(model).fit(X, y, sample_weight=times)
        repeated = clone(model).fit(X[rows], y[rows])
    assert_same_bits(weighted, repeated, X)


@pytest.mark.parametrize("name", MODELS)
def test_a_row_of_weight_k_is_k_rows_in_any_order(name):
    for seed in range(3):
        check(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_row_of_weight_k_is_k_rows_in_thousands_of_tables(name):
    for seed in range(3, 106):
        check(name, seed)


@pytest.mark.parametrize("name", [n for n in MODELS if n.startswith(("AdaBoost", "stagewise"))])
def test_the_order_of_rows_does_not_matter_under_any_weights(name):
    model, k = MODELS[name]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y, _ = table(rng, k)
        weights = rng.choice([0.1, 0.2, 0.3, 0.7], len(y))
        order = rng.permutation(len(y))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="No (member|step) of")
            one = clone(model).fit(X, y, sample_weight=weights)
            two = clone(model).fit(X[order], y[order], sample_weight=weights[order])
        ask = "decision_function" if hasattr(one, "decision_function") else "predict"
        ours, theirs = (getattr(m, ask)(X) for m in (one, two))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
