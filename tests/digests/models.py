"""The cases: for each estimator, tables by name and settings, every one of which meets every other.

See :mod:`digests.data` for the tables, :mod:`digests.objects` for what begins with "@", and
:class:`digests.cases.Case` for what begins with "+".
"""

from digests.boosted import GRADIENT, STAGEWISE
from digests.cases import Case, Drawn

# What all cases of an estimator have, unless they say otherwise.
ALWAYS = {"random_state": 3, "n_estimators": 6}
REFUSED = {14, 96, 123}  # drawn cases that cannot be fitted
DRAWN = [number for number in range(170) if number not in REFUSED]

LISTED = {"categorical_features": [0, 1]}
UP = {"monotonic_cst": [1, 0, 0, 0, -1]}
STOP = {"n_iter_no_change": 2, "n_estimators": 15}

CLASS_TABLES = (
    *("two", "two whole", "two float32", "two holes", "two pandas", "two polars", "two sparse"),
    *("two wide", "two weights", "two zeros", "two tiny", "one class", "three", "many"),
)
NUMBER_TABLES = (
    *("numbers", "numbers float32", "numbers coarse", "numbers holes", "numbers pandas"),
    *("numbers polars", "numbers sparse", "numbers wide", "numbers weights", "numbers zeros"),
    *("numbers tiny", "numbers one row", "constant", "heavy"),
)
SHAPES = [
    {"max_depth": 2},
    {"max_leaf_nodes": 7},
    {"min_samples_split": 0.2, "min_samples_leaf": 4},
    {"min_weight_fraction_leaf": 0.1},
    {"min_impurity_decrease": 0.01},
]
PRUNED = [
    {"ccp_alpha": 0.01},
    {"ccp_alpha": "cv"},
    {"ccp_alpha": "cv_1se"},
    {"+prune": True},
    {"+path": True},
]

TREES = [
    ("DecisionTreeClassifier", CLASS_TABLES, [{}]),
    ("DecisionTreeClassifier", ["classes", "three large", "letter", "adult", "soybean"], [{}]),
    ("DecisionTreeClassifier", ["three"], [
        *SHAPES, *PRUNED, {"criterion": "entropy"}, {"criterion": "log_loss", "max_bins": 8},
        {"criterion": "misclassification"}, {"splitter": "random"}, {"max_features": "sqrt"},
        {"class_weight": "balanced"}, {"class_weight": {0: 3.0, 1: 1.0, 2: 0.5}},
        {"cost_matrix": [[0, 1, 5], [1, 0, 1], [2, 1, 0]]},
    ]),
    ("DecisionTreeClassifier", ["two"], [UP]),
    ("DecisionTreeClassifier", ["two listed"], [LISTED, {**LISTED, "max_bins": 16}]),
    ("DecisionTreeRegressor", NUMBER_TABLES, [{}]),
    ("DecisionTreeRegressor", ["outputs", "outputs holes", "numbers large", "ames"], [{}]),
    ("DecisionTreeRegressor", ["numbers"], [
        *SHAPES, *PRUNED, UP, {"criterion": "absolute_error"}, {"max_bins": 16},
        {"splitter": "random"}, {"max_features": 0.5},
    ]),
    ("DecisionTreeRegressor", ["counts", "counts weights"], [{"criterion": "poisson"}]),
    ("DecisionTreeRegressor", ["numbers listed", "numbers categories"], [LISTED]),
    ("ExtraTreeClassifier", ["two", "two holes", "three", "three pandas", "classes"], [{}]),
    ("ExtraTreeClassifier", ["many"], [{"max_bins": 16}, {"max_features": None, "max_depth": 4}]),
    ("ExtraTreeRegressor", ["numbers", "numbers pandas", "heavy", "outputs"], [{}]),
    ("ExtraTreeRegressor", ["numbers coarse"], [{"max_bins": 16}, {"ccp_alpha": 0.05}]),
]  # fmt: skip

WATCHED = {"oob_score": True, "n_estimators": 12}
FOREST_DRAWS = [
    WATCHED, {"max_samples": 0.3, "oob_score": True}, {"max_samples": 40}, {"bootstrap": False},
    {"n_estimators": 40, "n_iter_no_change": 3, "tol": 0.01}, {"+warm": 2},
    {"max_bins": None, "max_depth": 5}, {"ccp_alpha": 0.01},
]  # fmt: skip
FORESTS = [
    ("RandomForestClassifier", CLASS_TABLES, [{"oob_score": True}]),
    ("RandomForestClassifier", ["classes", "three large", "glass", "votes", "adult"], [WATCHED]),
    ("RandomForestClassifier", ["three"], [
        *FOREST_DRAWS, {"criterion": "entropy"}, {"max_features": 2, "max_leaf_nodes": 9},
        {"class_weight": "balanced_subsample"},
    ]),
    ("RandomForestClassifier", ["two groups"], [WATCHED, {"max_samples": 0.5}]),
    ("RandomForestClassifier", ["two rare"], [
        {"bootstrap": "balanced", "oob_score": True}, {"class_weight": "balanced"},
        {"oob_score": "@agreement"}, UP,
    ]),
    ("RandomForestClassifier", ["two listed"], [LISTED]),
    ("RandomForestClassifier", ["classes"], [{**WATCHED, "oob_score": "@agreement"}]),
    ("RandomForestRegressor", ["outputs"], [{**WATCHED, "oob_score": "@close"}]),
    ("RandomForestRegressor", NUMBER_TABLES, [{"oob_score": True}]),
    ("RandomForestRegressor", ["outputs", "numbers large", "ames", "abalone"], [WATCHED]),
    ("RandomForestRegressor", ["numbers"], [
        *FOREST_DRAWS, {"criterion": "absolute_error"}, {"max_features": "sqrt"}, UP,
        {"oob_score": "@close"}, {"keep_targets": True, **WATCHED},
    ]),
    ("RandomForestRegressor", ["outputs", "numbers weights"], [{"keep_targets": True, **WATCHED}]),
    ("RandomForestRegressor", ["numbers groups"], [WATCHED]),
    ("RandomForestRegressor", ["counts"], [{"criterion": "poisson", "min_samples_leaf": 5}]),
    ("RandomForestRegressor", ["numbers categories"], [LISTED]),
    ("ExtraTreesClassifier", ["two", "two holes", "three pandas", "many", "classes"], [{}]),
    ("ExtraTreesClassifier", ["three"], [
        {"bootstrap": True, "oob_score": True}, {"max_bins": None}, {"+warm": 3},
        {"criterion": "entropy"},
    ]),
    ("ExtraTreesRegressor", ["numbers", "numbers pandas", "outputs", "numbers sparse"], [{}]),
    ("ExtraTreesRegressor", ["heavy"], [
        {"bootstrap": True, "oob_score": True, "keep_targets": True}, {"max_bins": None},
        {"keep_targets": True}, {"criterion": "absolute_error", "max_depth": 4},
    ]),
]  # fmt: skip

BAGS = [
    {"oob_score": True}, {"bootstrap": False, "max_samples": 0.5}, {"max_features": 0.5},
    {"max_samples": 0.6, "max_features": 3, "bootstrap_features": True, "oob_score": True},
    {"weighting": "oob"}, {"weighting": [1, 2, 3, 4, 5, 6]}, {"+warm": 3},
    {"n_estimators": 30, "n_iter_no_change": 2, "tol": 0.01},
]  # fmt: skip
CLASS_MEMBERS = [
    {"estimator": f"@{name}"}
    for name in (
        *("LogisticRegression", "GaussianNB", "KNeighborsClassifier", "their tree", "tree"),
        *("extra tree", "pruned tree", "balanced tree", "boosted"),
    )
]
NUMBER_MEMBERS = [
    {"estimator": f"@{name}"}
    for name in (
        *("LinearRegression", "Ridge", "KNeighborsRegressor", "their regression tree"),
        *("regression tree", "extra regression tree", "pruned regression tree", "median tree"),
        "forest",
    )
]
GRID = {"param_grid": {"max_depth": [1, 2], "min_samples_leaf": [1, 5]}, "n_estimators": None}
BAGGING = [
    ("BaggingClassifier", ["two", "two holes", "three pandas", "many", "two zeros", "two tiny",
                           "two sparse", "german credit"], [{}]),
    ("BaggingClassifier", ["three"], [*BAGS, {"voting": "hard"}]),
    ("BaggingClassifier", ["two weights"], CLASS_MEMBERS),
    ("BaggingClassifier", ["three"], [
        {"estimator": "@GaussianNB", "oob_score": True, "max_features": 3},
        {"estimator": "@KNeighborsClassifier", "voting": "hard", "weighting": "oob"},
        {"estimator": "@their tree", "+warm": 2}, {"estimator": "@extra tree", "oob_score": True},
    ]),
    ("BaggingClassifier", ["two"], [{"estimator": "@costly tree"}]),
    ("BaggingClassifier", ["two groups"], [{"oob_score": True}]),
    ("BaggingClassifier", ["two listed"], [{"estimator": "@listed tree"}]),
    ("BaggingRegressor", ["numbers", "numbers holes", "numbers pandas", "outputs",
                          "numbers weights", "numbers one row", "servo"], [{}]),
    ("BaggingRegressor", ["numbers coarse"], BAGS),
    ("BaggingRegressor", ["numbers weights"], NUMBER_MEMBERS),
    ("BaggingRegressor", ["outputs"], [
        {"estimator": "@Ridge", "oob_score": True, "max_samples": 0.5},
        {"estimator": "@KNeighborsRegressor", "weighting": "oob"},
    ]),
    ("BaggingRegressor", ["numbers groups"], [{"oob_score": True, "estimator": "@Ridge"}]),
    ("BaggingRegressor", ["numbers listed"], [{"estimator": "@listed regression tree"}]),
    ("NaiveEnsembleClassifier", ["three", "two pandas"], [{}, {"estimator": "@extra tree"}]),
    ("NaiveEnsembleClassifier", ["three weights"], [
        GRID, {**GRID, "n_estimators": 3}, {**GRID, "n_estimators": 6, "voting": "hard"},
        {"estimator": "@GaussianNB", "voting": "hard"}, {"estimator": "@drawing tree"},
    ]),
    ("NaiveEnsembleRegressor", ["numbers", "outputs"], [{}, {"estimator": "@Ridge"}, GRID]),
    ("NaiveEnsembleRegressor", ["numbers weights"], [{"estimator": "@extra regression tree"}]),
]  # fmt: skip

VOTED = [
    {"n_estimators": 12, "keep_weights": True}, {"learning_rate": 0.3}, {"resample": True},
    {"resample": True, "when_worse": "redraw"}, {**STOP, "validation_fraction": 0.3},
    {**STOP, "+val": True}, {"estimator": "@small tree"}, {"estimator": "@GaussianNB"},
    {"estimator": "@KNeighborsClassifier"}, {"estimator": "@their stump", "keep_weights": True},
    {"estimator": "@drawing tree", "when_worse": "skip", "min_edge": 0.05},
]  # fmt: skip
ALGORITHMS = [
    {"algorithm": name, "keep_weights": True}
    for name in ("samme", "confidence", "real", "gentle", "logit")
]
ADABOOST = [
    ("AdaBoostClassifier", ["two", "two holes", "two pandas", "two weights", "two zeros"],
     ALGORITHMS),
    ("AdaBoostClassifier", ["many", "three pandas", "two tiny", "two sparse", "one class",
                            "sonar"], [{}]),
    ("AdaBoostClassifier", ["three"], [*VOTED, {"algorithm": "real"}]),
    ("AdaBoostClassifier", ["two"], [
        {"algorithm": "real", "estimator": "@small tree"},
        {"algorithm": "real", "estimator": "@LogisticRegression"},
        {"algorithm": "gentle", "estimator": "@their tree"},
        {"algorithm": "confidence", "estimator": "@entropy tree", "learning_rate": 0.5},
        {"algorithm": "logit", "estimator": "@small regression tree"},
        {"algorithm": "logit", "estimator": "@Ridge"},
        {"estimator": "@pruned tree"}, {"estimator": "@costly tree"},
    ]),
    ("AdaBoostClassifier", ["two listed"], [{"estimator": "@listed tree"}]),
    ("AdaBoostRegressor", ["numbers", "numbers holes", "numbers pandas", "numbers weights",
                           "numbers tiny", "heavy", "constant", "ozone"], [{}]),
    ("AdaBoostRegressor", ["numbers coarse"], [
        {"loss": "square"}, {"loss": "exponential"}, {"resample": False, "keep_weights": True},
        {"learning_rate": 0.3}, {**STOP, "validation_fraction": 0.2}, {**STOP, "+val": True},
        {"when_worse": "skip", "estimator": "@small regression tree"}, *NUMBER_MEMBERS,
    ]),
]  # fmt: skip

TABLE = [*TREES, *FORESTS, *BAGGING, *ADABOOST, *STAGEWISE, *GRADIENT]
WRITTEN = [
    Case(kind, table, settings)
    for kind, tables, every in TABLE
    for table in tables
    for settings in every
]
CASES = {case.name: case for case in [*WRITTEN, *map(Drawn, DRAWN)]}
# The first case of every estimator, for a quick look.
SAMPLE = list({case.kind: case.name for case in reversed(WRITTEN)}.values())
