"""Small tables, and the naive twins of :mod:`oracle`: the same trees, votes and scores.

A twin knows fewer settings than the estimator, so the case is fitted once more without the others.
"""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone

import weald
from boosting.test_against_oracle import FLOORS, rounds_without_ties, staged_scores
from oracle.cart import Rules, Table
from oracle.naive_adaboost import naive_adaboost
from oracle.naive_boosting import Settings, naive_boosting
from oracle.test_adaboost_oracle import stump_of, worth
from stress.finished import must
from stress.lessons import class_weights, loss_of, order_and_step, step_of, target_of
from tree.test_oracle import check_tree
from weald.boosting.units import row_scale

ROWS = (2, 25)
COLUMNS = 4
CATEGORIES = 5


def check_twin(case):
    """Compare with a twin on the first rows, if there is one for such a case."""
    table = case.table.head(int(case.rng.integers(*ROWS)))
    few = max((len(labels) for labels in table.labels if labels is not None), default=0)
    small = table.n_columns <= COLUMNS and few <= CATEGORIES and table.w.any()
    if not small or table.kind == "heavy" or not case.own_trees:
        return
    est = clone(case.estimator)
    if isinstance(est, weald.DecisionTreeClassifier | weald.DecisionTreeRegressor):
        check_one_tree(est, table)
    elif isinstance(est, weald.AdaBoostClassifier) and case.member is None:
        check_adaboost(est, table)
    elif isinstance(est, weald.GradientBoostingClassifier | weald.GradientBoostingRegressor):
        check_boosting(est, table)


def weights_of(est, table, codes):
    """The weights, and whether every class has some."""
    w = table.w * class_weights(est, table, codes, by_weight=not hasattr(est, "tree_"))
    every = hasattr(est, "classes_") and not table.several
    return w, not every or (np.bincount(codes[:, 0], w) > 0).all()


# --- one tree -----------------------------------------------------------------------------------

PLAIN_TREE = {
    "splitter": "best",
    "max_bins": None,
    "max_features": None,
    "monotonic_cst": None,
    "cost_matrix": None,
    "ccp_alpha": 0.0,
    "n_jobs": 1,
}
LIMITS = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "min_impurity_decrease",
    "max_leaf_nodes",
)


def known(est, settings):
    """Those of the settings that the estimator has."""
    names = est.get_params(deep=False)
    return {name: value for name, value in settings.items() if name in names}


def check_one_tree(est, table):
    if est.criterion == "poisson" and not np.sum(table.y, axis=0).all():
        return  # of the first rows, no count is above 0
    est.set_params(**known(est, PLAIN_TREE))
    limits = {name: getattr(est, name) for name in LIMITS}
    for name in ("min_samples_split", "min_samples_leaf"):
        limits[name] = limits[name] if isinstance(limits[name], int) else 2
    limits["min_weight_fraction_leaf"] *= 0.9999  # a leaf of just this weight is rounding's choice
    est.set_params(**limits).fit(table.X, table.y, sample_weight=table.weights)
    Y, classes = target_of(est, table)
    if not classes and np.ptp(Y) < 1e-3:
        return  # an impurity below 2e-16 is none to the twin
    w, _ = weights_of(est, table, Y)
    X = table.coded(est.categories_)
    kinds = tuple(labels is not None for labels in est.categories_)
    criterion = {"log_loss": "entropy"}.get(est.criterion, est.criterion)
    check_tree(est, Table(X, Y, w, kinds, classes or None), Rules(criterion, **limits))


# --- AdaBoost -----------------------------------------------------------------------------------

PLAIN_ADABOOST = {
    "algorithm": "samme",
    "learning_rate": 1.0,
    "resample": False,
    "n_iter_no_change": None,
    "min_edge": 0.0,
    "keep_weights": True,
    "when_worse": "stop",
}


def check_adaboost(est, table):
    if any(table.categorical) or np.isnan(table.numbers).any() or table.n_classes != 2:
        return
    est.set_params(**PLAIN_ADABOOST).fit(table.X, table.y, sample_weight=table.weights)
    X, y = table.numbers, np.where(table.y == est.classes_[1], 1, -1)
    w, every = weights_of(est, table, (y[:, None] + 1) // 2)
    if not every:
        return
    twin = naive_adaboost(X, y, est.n_estimators, w)
    for t, (stump, tree) in enumerate(zip(twin.stumps, est.estimators_, strict=False)):
        column, threshold, *said = stump_of(tree)
        expected = (stump.column, stump.threshold, stump.left, stump.right)
        if (column, threshold, *said) != pytest.approx(expected, rel=1e-12, abs=1e-300):
            one, other = (
                worth(X, y, twin.weights[t], column, threshold),
                worth(X, y, twin.weights[t], stump.column, stump.threshold),
            )
            must(abs(one - other) <= 1e-7, f"round {t}: a stump of worth {one:g}, not {other:g}")
            return  # a tie, after which they go different ways
        must(abs(est.errors_[t] - twin.errors[t]) <= 1e-9, f"round {t}: another error")
        must(np.abs(est.weights_[t] - twin.weights[t]) <= 1e-9, f"round {t}: other weights")


# --- gradient boosting --------------------------------------------------------------------------

PLAIN_BOOSTING = {
    "n_estimators": 3,
    "subsample": 1.0,
    "sampling": "uniform",
    "dropout": 0.0,
    "max_features": None,
    "max_features_per_tree": None,
    "monotonic_cst": None,
    "interaction_cst": None,
    "min_samples_split": 2,
    "min_weight_fraction_leaf": 0.0,
    "min_impurity_decrease": 0.0,
    "max_bins": None,
    "growth": "best_first",
    "n_iter_no_change": None,
    "multi_strategy": "one_tree_per_output",
}
INSTEAD_OF_AUTO = {
    "learning_rate": 0.5,
    "l2_regularization": 0.3,
    "min_gain": 0.0,
    "min_hessian": 1e-3,
    "categorical_smoothing": 1.0,
    "max_leaf_nodes": 6,
    "min_samples_leaf": 1,
    "calibration": None,
}


def check_boosting(est, table):
    given = est.get_params(deep=False)
    changes = {name: value for name, value in INSTEAD_OF_AUTO.items() if given.get(name) == "auto"}
    if isinstance(given["min_samples_leaf"], float):
        changes["min_samples_leaf"] = 2
    if given["step"] == "line_search":
        changes["step"] = "auto"
    if given["loss"] == "huber" or table.several or isinstance(given.get("alpha"), list):
        return
    if given["loss"] == "log_cosh" and np.ptp(table.y) > 30:
        return  # to rounding flat between two middle targets: any point there does
    est.set_params(**PLAIN_BOOSTING | changes)
    est.fit(table.X, table.y, sample_weight=table.weights)
    Y, _ = target_of(est, table)
    w, every = weights_of(est, table, Y)
    w = w * row_scale(table.w)  # weights that are not whole are 1 on average
    loss, step = loss_of(est), step_of(est)
    if not every or (step == "exact" and loss.name in ("softmax", "smooth_hinge")):
        return
    X = table.coded(est.categories_)
    order = order_and_step(est, loss.has_hessian or None, vector=False)
    settings = Settings(
        n_estimators=est.n_estimators_,
        learning_rate=est.learning_rate,
        order=order,
        step=step,
        l2=est.l2_regularization,
        min_gain=est.min_gain,
        min_hessian=est.min_hessian if order == 2 else 0.0,
        min_samples_leaf=est.min_samples_leaf,
        max_depth=est.max_depth,
        max_leaf_nodes=est.max_leaf_nodes,
        floor=FLOORS.get(loss.name, 0.0),
        smoothing=est.categorical_smoothing,
    )
    kinds = [labels is not None for labels in est.categories_]
    init = np.atleast_1d(np.asarray(est.init_, dtype=float))
    twin = naive_boosting(X, Y[:, 0].astype(float), loss, settings, w, kinds, init)
    rows = table.numbers if issparse(table.X) else table.X
    said, there = staged_scores(est, rows), w > 0
    # A whole exact step brings a row of each leaf to its target, where the loss has its kink.
    meets = table.kind != "numbers" or (step == "exact" and est.learning_rate == 1)
    kinks = loss.name in ("absolute_error", "quantile") and meets
    kinks |= loss.name == "smooth_hinge"  # where scores lie on a kink, rounding decides
    sure = min(rounds_without_ties(twin), 1 if kinks else len(said))
    for t in range(min(sure, len(said))):
        expected = twin.scores[t + 1][there]
        size = np.abs(expected).max()
        if size > 100 and loss.link.name != "identity":
            return  # gradient steps may run away where predictions are exp(F)
        off = np.abs(said[t][there] - expected)
        must(off <= 1e-6 * size + 1e-12, f"round {t}: scores {off.max():g} from the twin's")
