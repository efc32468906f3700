"""Gradient boosting against its naive twin, on hundreds of small random tables.

Where two splits are (nearly) as good the two may take different ones, so that scores are compared
up to the first round with such a tie.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from gate import some
from oracle.naive_boosting import Settings, naive_boosting
from oracle.random_tables import make_columns, make_weights
from weald import GradientBoostingClassifier, GradientBoostingRegressor, losses
from weald.boosting.units import row_scale

REGRESSION = ["squared_error", "absolute_error", "quantile", "huber", "log_cosh"]
POSITIVE = ["poisson", "gamma", "tweedie"]
BINARY = ["log_loss", "exponential", "smooth_hinge", "focal"]
SMOOTH = [name for name in [*REGRESSION, *POSITIVE, *BINARY, "softmax"] if name not in
          ("absolute_error", "quantile")]  # fmt: skip
FLOORS = dict.fromkeys(("focal", "huber", "log_cosh", "smooth_hinge"), 0.01)
TIE = 1e-6  # splits are searched with sums of 30 bits
SHAPES = [
    {"max_depth": 2},
    {"max_depth": 3, "min_samples_leaf": 3},
    {"max_leaf_nodes": 4},
    {"max_leaf_nodes": 6, "min_samples_leaf": 2},
    {"max_leaf_nodes": 5, "max_depth": 3},
]


@dataclass(frozen=True)
class Case:
    """A loss, a random table, and how to fit them."""

    seed: int
    loss: str
    weights: str
    missing: bool
    categorical: bool
    order: int
    step: str
    l2: float
    min_gain: float
    min_hessian: float
    rate: float
    shape: tuple
    n_classes: int
    smoothing: float = 0.0
    vector: bool = False

    def __str__(self):
        words = [self.seed, self.loss, self.weights, f"order={self.order}", self.step]
        words += [name for name in ("missing", "categorical", "vector") if getattr(self, name)]
        words += [f"{name}={value}" for name, value in self.shape]
        return "-".join(map(str, words))


def cases():
    """Full product of what matters most; the rest is drawn, so that all pairs meet often."""
    rng = np.random.default_rng(11)
    grid = product(
        [*REGRESSION, *POSITIVE, *BINARY, "softmax"],
        ("none", "integer", "real", "zeros"),
        (False, True),
        (False, True),
    )
    for seed, (loss, weights, missing, categorical) in enumerate(list(grid) * 2):
        smooth = loss in SMOOTH
        step = str(rng.choice(["newton", "newton", "exact", "line_search", "gradient"]))
        step = step if smooth or step != "newton" else "exact"
        if loss in ("softmax", "smooth_hinge") and step == "exact":
            step = "newton"  # all classes at once; a flat bottom without end
        order = int(rng.choice([1, 2])) if smooth else 1
        yield Case(
            *(seed, loss, weights, missing, categorical, order, step),
            l2=float(rng.choice([0.0, 0.3, 2.0])),
            min_gain=float(rng.choice([0.0, 0.0, 0.2])),
            min_hessian=float(rng.choice([1e-3, 0.5])),
            rate=float(rng.choice([0.1, 0.5, 0.8])),
            shape=tuple(SHAPES[rng.integers(len(SHAPES))].items()),
            n_classes=int(rng.choice([3, 4])),
            smoothing=float(rng.choice([0.0, 1.0, 10.0])),
        )


def vector_cases():
    """One tree with a leaf value for each class."""
    rng = np.random.default_rng(12)
    grid = product(("none", "integer", "real"), (False, True), ("newton", "gradient"), range(5))
    for seed, (weights, missing, step, shape) in enumerate(grid):
        l2 = float(rng.choice([0.0, 0.3]))
        yield Case(
            *(seed, "softmax", weights, missing, False, 1, step, l2, 0.0, 0.0, 0.5),
            *(tuple(SHAPES[shape].items()), 3, 0.0, True),
        )


def make_problem(case):
    rng = np.random.default_rng([13, case.seed])
    n = int(rng.integers(25, 45))
    X, kinds = make_columns(rng, n, False, case.missing, case.categorical)
    w = make_weights(rng, n, case.weights)
    signal = np.nan_to_num(X[:, 0]) - np.nan_to_num(X[:, 1]) + rng.normal(size=n)
    if case.loss == "softmax":
        y = signal.argsort().argsort() * case.n_classes // n
        if w is not None:  # every class keeps a row that counts
            w[np.unique(y, return_index=True)[1]] = 1.0
    elif case.loss in BINARY:
        y = (signal + rng.normal(size=n) > 0).astype(int)
    elif case.loss in POSITIVE:
        y = rng.poisson(np.exp(np.clip(signal, -2, 2))) + (0.5 if case.loss == "gamma" else 0.0)
    else:
        y = signal
    w = None if w is None else row_scale(w) * w  # as the estimator would, which leaves it at that
    return X, y, w, kinds


def loss_of(case):
    return losses.get_loss(case.loss, **({"quantile": 0.7} if case.loss == "quantile" else {}))


def estimator(case, kinds, **more):
    kind = GradientBoostingRegressor
    if case.loss in [*BINARY, "softmax"]:
        kind = GradientBoostingClassifier
    shape = {"max_leaf_nodes": None, "max_depth": None} | dict(case.shape)
    settings = {
        "loss": "log_loss" if case.loss == "softmax" else loss_of(case),
        "n_estimators": 4,
        "learning_rate": case.rate,
        "order": case.order,
        "step": case.step,
        "l2_regularization": case.l2,
        "max_features": None,
        "min_gain": case.min_gain,
        "min_hessian": case.min_hessian,
        "categorical_smoothing": case.smoothing,
        "categorical_features": [j for j, kind in enumerate(kinds) if kind] or None,
        "multi_strategy": "vector_leaves" if case.vector else "one_tree_per_output",
    }
    if kind is GradientBoostingRegressor:
        settings |= {"calibration": None, "min_samples_leaf": 1}
    return kind(**settings | shape | more)


def twin(case, X, y, w, kinds):
    settings = Settings(
        n_estimators=4,
        learning_rate=case.rate,
        order=case.order,
        step=case.step,
        l2=case.l2,
        min_gain=case.min_gain,
        min_hessian=case.min_hessian if case.order == 2 else 0.0,
        vector=case.vector,
        floor=FLOORS.get(case.loss, 0.0),
        smoothing=case.smoothing,
        **dict(case.shape),
    )
    loss = losses.Softmax(case.n_classes) if case.loss == "softmax" else loss_of(case)
    return naive_boosting(X, y.astype(float), loss, settings, w, kinds)


def staged_scores(est, X):
    """F after each round, shape (n, K)."""
    if hasattr(est, "classes_"):
        said = est.staged_decision_function(X)
    else:
        said = (est.loss_.link.link(mean) for mean in est.staged_predict(X))
    return [np.reshape(F, (len(X), -1)) for F in said]


def rounds_without_ties(ours):
    tied = np.flatnonzero(np.array(ours.leads) < TIE)
    return int(tied[0]) if len(tied) else len(ours.leads)


def all_cases():
    """The second half of the grid has other draws of the rest, and takes its time."""
    every = list(cases())
    half = len(every) // 2
    first = [pytest.param(case, id=str(case)) for case in [*every[:half], *vector_cases()]]
    yield from some(first, one_in=3)
    yield from (pytest.param(case, id=str(case), marks=pytest.mark.slow) for case in every[half:])


@pytest.mark.parametrize("case", list(all_cases()))
def test_scores_are_those_of_the_twin(case):
    X, y, w, kinds = make_problem(case)
    there = slice(None) if w is None else w > 0
    ours = twin(case, X, y, w, kinds)
    est = estimator(case, kinds).fit(X, y, w)
    said = staged_scores(est, X)
    for t in range(min(rounds_without_ties(ours), len(said))):
        expected = ours.scores[t + 1][there]
        if np.abs(expected).max() > 100:
            break  # gradient steps may run away where predictions are exp(F)
        np.testing.assert_allclose(said[t][there], expected, rtol=1e-6, atol=1e-7, err_msg=f"{t=}")


def test_most_rounds_are_compared():
    made = [rounds_without_ties(twin(case, *make_problem(case))) for case in list(cases())[::23]]
    assert np.mean(made) > 2.5


@pytest.mark.parametrize("max_bins", [16, 255])
@pytest.mark.parametrize("growth", ["best_first", "by_level"])
def test_a_depth_limit_alone_does_not_depend_on_the_order_of_growth(growth, max_bins):
    for case in list(cases())[::31]:
        X, y, w, kinds = make_problem(case)
        limits = {"max_depth": 3, "max_leaf_nodes": None, "max_bins": max_bins}
        one = estimator(case, kinds, **limits).fit(X, y, w)
        two = estimator(case, kinds, **limits, growth=growth).fit(X, y, w)
        np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_a_category_of_just_enough_weight_chooses_its_side():
    """Two rows of half a weight are what one row has on average; rounding must not decide."""
    nan = np.nan
    first = [3, nan, 2, 1, 1, 3, 2, 0, 1, nan, 3, nan, nan, nan, nan, 0, 1, nan, 2]
    second = [1, 0, 0, 1, nan, 0, 0, nan, 0, 0, 0, nan, 0, nan, 0, nan, 1, 1, 0]
    X = np.column_stack([first, second]).astype(float)
    y = np.array([2, 0, 2, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 1, 1, 2, 2, 2])
    w = {0: 2.0, 1: 0.5, 2: 2.0}  # of classes: such weights stay as they are
    est = GradientBoostingClassifier(
        n_estimators=1,
        learning_rate=0.5,
        l2_regularization=0.3,
        min_gain=0.0,
        min_hessian=1e-3,
        categorical_smoothing=1.0,
        max_leaf_nodes=6,
        min_samples_leaf=1,
        max_features=None,
        max_bins=None,
        categorical_features=[0],
        random_state=0,
        class_weight=w,
    ).fit(X, y)
    tree = est.estimators_[0][2].tree_
    assert (tree.children_left == -1).sum() == 6  # the last one parts category 0 from the missing
