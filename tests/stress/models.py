"""Every public estimator, and what its parameters may be: cases are drawn from these tables.

A list says which values a parameter may take; a function draws one for a table.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

import weald
from stress.tables import MOST_ROWS


@dataclass(frozen=True)
class Row:
    """An estimator, the targets it takes, and its parameters.

    `members` are those it may have, each with its own row; None is the default one. `rows` is how
    many rows its tables have at most.
    """

    kind: type
    targets: tuple[str, ...]
    settings: dict
    members: tuple = (None,)
    plain: bool = False
    rows: int = MOST_ROWS
    always: dict = field(default_factory=dict)
    times: int = 1  # how often it is drawn, compared to others


# --- parameters of trees ------------------------------------------------------------------------


def directions(rng, table):
    if table.several or (table.classes and table.n_classes > 2):
        return None
    return [0 if c else int(rng.choice([-1, 0, 1])) for c in table.categorical]


def groups_of_columns(rng, table):
    if rng.random() < 0.4:
        return str(rng.choice(["pairwise", "no_interactions"]))
    group = rng.integers(0, 3, table.n_columns)
    return [np.flatnonzero(group == g).tolist() for g in np.unique(group)]


def weights_of_classes(rng, table):
    if table.several or rng.random() < 0.5:
        return "balanced"
    return {label: float(rng.choice([0.5, 1.0, 2.0])) for label in np.unique(table.y).tolist()}


def costs(rng, table):
    if table.several:
        return None
    k = table.n_classes
    return (rng.integers(1, 4, (k, k)) * (1 - np.eye(k))).tolist()


def for_counts(words):
    """Words for any target, of which "poisson" is for counts only."""

    def choose(rng, table):
        if table.kind in ("counts", "amounts") and table.y[table.w > 0].sum() > 0:
            return str(rng.choice([*words, "poisson"]))
        return str(rng.choice(words))

    return choose


SHAPE = {
    "max_depth": [1, 2, 3, 5, 8, 20],
    "min_samples_split": [3, 7, 20, 0.1],
    "min_samples_leaf": [2, 5, 20, 0.05],
    "min_weight_fraction_leaf": [0.01, 0.1, 0.3],
    "max_leaf_nodes": [2, 3, 8, 31, 100, 255, 1000, 3000],
    "min_impurity_decrease": [1e-4, 0.01],
    "max_bins": [None, None, None, 2, 3, 16, 64, 200, 255],
    "monotonic_cst": directions,
}
TREE = {
    **SHAPE,
    "max_features": [1, 2, "sqrt", "log2", 0.5, None],
    "ccp_alpha": [1e-4, 0.01],
}
CLASS_TREE = {
    **TREE,
    "criterion": ["gini", "entropy", "log_loss", "misclassification"],
    "class_weight": weights_of_classes,
}
NUMBER_TREE = {**TREE, "criterion": for_counts(["squared_error", "absolute_error"])}
SINGLE = {"splitter": ["best", "random"]}

ONE_OUTPUT = ("numbers", "whole", "heavy", "constant", "counts", "amounts")
ANY_NUMBERS = (*ONE_OUTPUT, "outputs")
ANY_CLASSES = ("two", "two", "two", "many", "many", "outputs of classes")

# --- members ------------------------------------------------------------------------------------

FEW = {"max_depth": [1, 2, 3, 6], "max_leaf_nodes": [2, 4, 16], "min_samples_leaf": [2, 5]}
GROWN_CLASSES = {**CLASS_TREE, **SINGLE, "class_weight": [None]}
GROWN_NUMBERS = {**NUMBER_TREE, **SINGLE}
CLASSIFIERS = (
    None,
    None,
    Row(weald.DecisionTreeClassifier, (), GROWN_CLASSES),
    Row(weald.ExtraTreeClassifier, (), GROWN_CLASSES),
    Row(weald.GradientBoostingClassifier, (), FEW, always={"n_estimators": 2}, rows=300),
    Row(GaussianNB, (), {}, plain=True, rows=300),
    Row(TheirClassifier, (), FEW, plain=True, rows=300),
)
REGRESSORS = (
    None,
    None,
    Row(weald.DecisionTreeRegressor, (), GROWN_NUMBERS),
    Row(weald.ExtraTreeRegressor, (), GROWN_NUMBERS),
    Row(weald.RandomForestRegressor, (), FEW, always={"n_estimators": 2}, rows=300),
    Row(Ridge, (), {}, plain=True, rows=300),
    Row(TheirRegressor, (), FEW, plain=True, rows=300),
    Row(KNeighborsRegressor, (), {}, plain=True, rows=300, always={"n_neighbors": 1}),
)
# Members that are fitted to gradients, which have either sign.
LEANING = tuple(
    member
    if member is None or "criterion" not in member.settings
    else replace(member, settings={**member.settings, "criterion": ["squared_error"]})
    for member in REGRESSORS
)
VOTERS = (
    *CLASSIFIERS[:4],
    Row(weald.DecisionTreeRegressor, (), {**TREE, **SINGLE}),
    Row(TheirClassifier, (), FEW, plain=True, rows=300),
    Row(Ridge, (), {}, plain=True, rows=300),
)
WEAK = tuple(
    member
    if member is None or not member.kind.__module__.startswith("weald.tree")
    else replace(member, settings={**member.settings, "max_depth": [1, 2, 3]})
    for member in CLASSIFIERS
)

# --- parameters of ensembles --------------------------------------------------------------------


def members(rng, table):
    return int(rng.integers(1, 7 if len(table) < 1500 else 4))


def rounds(rng, table):
    return int(rng.integers(1, 9 if len(table) < 1500 else 5))


def seed(rng, table):
    return int(rng.integers(1000))


def grid(rng, table):
    return {"max_depth": [1, 2], "min_samples_leaf": [1, 3]}


def number_loss(rng, table):
    words = ["squared_error", "absolute_error", "huber", "quantile", "log_cosh"]
    if table.kind in ("counts", "amounts") and table.y[table.w > 0].sum() > 0:
        words += ["poisson", "tweedie"] * 2
    if table.kind == "amounts":
        words += ["gamma"] * 3
    return str(rng.choice(words))


def class_loss(rng, table):
    words = ["log_loss"]
    if table.n_classes == 2:
        words += ["exponential", "smooth_hinge", "focal"]
    return str(rng.choice(words))


ALWAYS = {"n_estimators": members, "random_state": seed}
BOOSTED = {"n_estimators": rounds, "random_state": seed}
SINGLE_TREE = {"random_state": seed}
WATCH = {
    "bootstrap": [True, False],
    "max_samples": [0.5, 1, 0.1],
    "oob_score": [True],
    "n_iter_no_change": [1, 3],
    "warm_start": [True],
}
FOREST = {**WATCH, "tol": [0.0, 0.1]}
BAGGING = {
    **WATCH,
    "max_features": [1, 0.5, 0.8],
    "bootstrap_features": [True],
    "weighting": ["uniform", "oob"],
}
STOPPING = {"n_iter_no_change": [1, 2], "tol": [0.0, 0.1], "validation_fraction": [0.1, 0.3]}
ADABOOST = {
    "learning_rate": [0.1, 0.5, 1.5],
    "when_worse": ["stop", "skip"],
    "resample": [True, False],
    **STOPPING,
}
ROUNDS = {**BOOSTED, "keep_weights": [True, True, False]}
STAGEWISE = {"learning_rate": [0.1, 0.5], "init": ["zero", "constant"], **STOPPING}
GRADIENT = {
    **SHAPE,
    **STOPPING,
    "learning_rate": [0.05, 0.3, 1.0],
    "max_features": [1, "sqrt", 0.5, None],
    "subsample": [0.5, 0.9],
    "init": ["zero", None],
    "l2_regularization": [0.0, 0.5, 3.0],
    "interaction_cst": groups_of_columns,
    "step": ["newton", "exact", "line_search", "gradient"],
    "order": [1, 2],
    "min_gain": [0.0, 0.1],
    "min_hessian": [0.0, 0.5],
    "categorical_smoothing": [0.0, 2.0, 10.0],
    "max_features_per_tree": [1, 0.5],
    "growth": ["best_first", "by_level"],
    "dropout": [0.1, 0.5],
    "max_drop": [1],
    "multi_strategy": ["vector_leaves"],
    "warm_start": [True],
}
GOSS = {"sampling": ["gradient"], "top_rate": [0.1, 0.3], "other_rate": [0.2]}

ROWS = [
    Row(weald.DecisionTreeClassifier, ANY_CLASSES, {**CLASS_TREE, **SINGLE, "cost_matrix": costs},
        always=SINGLE_TREE, times=6),
    Row(weald.DecisionTreeRegressor, ANY_NUMBERS, {**NUMBER_TREE, **SINGLE},
        always=SINGLE_TREE, times=4),
    Row(weald.ExtraTreeClassifier, ANY_CLASSES, {**CLASS_TREE, **SINGLE}, always=SINGLE_TREE),
    Row(weald.ExtraTreeRegressor, ANY_NUMBERS, {**NUMBER_TREE, **SINGLE}, always=SINGLE_TREE),
    Row(weald.RandomForestClassifier, ANY_CLASSES, {**CLASS_TREE, **FOREST}, always=ALWAYS,
        times=3),
    Row(weald.RandomForestClassifier, ("two", "many"),
        {**CLASS_TREE, **FOREST, "class_weight": ["balanced_subsample", None]},
        always={**ALWAYS, "bootstrap": ["balanced", True]}),
    Row(weald.RandomForestRegressor, ANY_NUMBERS, {**NUMBER_TREE, **FOREST, "keep_targets": [True]},
        always=ALWAYS, times=3),
    Row(weald.ExtraTreesClassifier, ANY_CLASSES, {**CLASS_TREE, **FOREST}, always=ALWAYS, times=2),
    Row(weald.ExtraTreesRegressor, ANY_NUMBERS, {**NUMBER_TREE, **FOREST, "keep_targets": [True]},
        always=ALWAYS, times=2),
    Row(weald.BaggingClassifier, ("two", "many"), {**BAGGING, "voting": ["hard", "soft"]},
        CLASSIFIERS, always=ALWAYS, times=2),
    Row(weald.BaggingRegressor, ANY_NUMBERS, BAGGING, REGRESSORS, always=ALWAYS, times=2),
    Row(weald.NaiveEnsembleClassifier, ("two", "many"), {"voting": ["hard"]}, CLASSIFIERS[:-2],
        always=ALWAYS),
    Row(weald.NaiveEnsembleRegressor, ANY_NUMBERS, {}, REGRESSORS, always=ALWAYS),
    Row(weald.NaiveEnsembleRegressor, ANY_NUMBERS, {}, (None, REGRESSORS[-2]),
        always={**ALWAYS, "param_grid": grid}, rows=500),
    Row(weald.AdaBoostClassifier, ("two", "two", "many"), {**ADABOOST, "min_edge": [0.05]}, WEAK,
        always={**ROUNDS, "algorithm": ["samme", "real"]}, times=2),
    Row(weald.AdaBoostClassifier, ("two",), ADABOOST, WEAK[:4],
        always={**ROUNDS, "algorithm": ["samme", "confidence", "real", "gentle"]}),
    Row(weald.AdaBoostClassifier, ("two",), ADABOOST, (None, None, LEANING[2]),
        always={**ROUNDS, "algorithm": ["logit"]}),
    Row(weald.AdaBoostRegressor, ONE_OUTPUT, {**ADABOOST, "loss": ["square", "exponential"]},
        REGRESSORS, always={**ROUNDS, "resample": [True, False, False]}, times=2),
    Row(weald.StagewiseClassifier, ("two",), {**STAGEWISE, "loss": class_loss}, VOTERS,
        always=BOOSTED),
    Row(weald.StagewiseRegressor, ONE_OUTPUT, {**STAGEWISE, "loss": number_loss},
        (*LEANING, CLASSIFIERS[2]), always=BOOSTED),
    Row(weald.GradientBoostingClassifier, ("two", "many"),
        {**GRADIENT, "loss": class_loss, "class_weight": weights_of_classes}, always=BOOSTED,
        times=4),
    Row(weald.GradientBoostingRegressor, ANY_NUMBERS, {**GRADIENT, "loss": number_loss},
        always=BOOSTED, times=4),
    Row(weald.GradientBoostingRegressor, ONE_OUTPUT, {"max_depth": [2, 5], "max_bins": [None, 7]},
        always={**BOOSTED, "loss": ["quantile"], "alpha": [[0.1, 0.5, 0.9], 0.3]}),
    Row(weald.GradientBoostingRegressor, ONE_OUTPUT, {**GOSS, **FEW},
        always={**BOOSTED, **GOSS}),
    Row(weald.GradientBoostingRegressor, ONE_OUTPUT, {"subsample": [0.5], "order": [1, 2]},
        LEANING[2:], always=BOOSTED, rows=300),
]  # fmt: skip


# Rooms whose estimators grow no trees of their own: they combine others, or are none.
_NO_TREES = ("kernel", "input", "blending", "conditional", "stacking", "superlearner")


def public_estimators():
    """Every class of ``weald.__all__`` that can be fitted and has trees of its own."""
    found = [getattr(weald, name) for name in weald.__all__ if name[0].isupper()]
    return [
        kind
        for kind in found
        if isinstance(kind, type)
        and hasattr(kind, "fit")
        and kind.__module__.split(".")[1] not in _NO_TREES
    ]
