"""The cases of stagewise and gradient boosting; see :mod:`digests.models`."""

LISTED = {"categorical_features": [0, 1]}
STOP = {"n_iter_no_change": 2, "n_estimators": 15}
NUMBER_LOSSES = ("squared_error", "absolute_error", "huber", "quantile", "log_cosh")
POSITIVE_LOSSES = ("poisson", "gamma", "tweedie")
CLASS_LOSSES = ("exponential", "log_loss", "smooth_hinge", "focal")
SMOOTH = ("squared_error", "huber", "log_cosh")


def each(name, values, **others):
    """Settings in which one parameter has each of the values."""
    return [{name: value, **others} for value in values]


STAGEWISE = [
    ("StagewiseClassifier", ["two", "two weights"], each("loss", CLASS_LOSSES)),
    ("StagewiseClassifier", ["two holes", "two pandas", "two zeros", "two tiny", "one class",
                             "two sparse"], [{}]),
    ("StagewiseClassifier", ["two"], [
        {"init": "constant", "loss": "log_loss", "learning_rate": 0.3},
        {**STOP, "validation_fraction": 0.3}, {**STOP, "validation_fraction": None},
        {**STOP, "+val": True}, {"loss": "@Brier"}, {"loss": "@Focal(1)"},
        {"loss": "@SmoothHinge(0.5)"}, {"estimator": "@Ridge", "loss": "log_loss"},
        {"estimator": "@small regression tree", "loss": "log_loss"},
        {"estimator": "@GaussianNB"}, {"estimator": "@KNeighborsClassifier"},
        {"estimator": "@their stump"}, {"estimator": "@drawing tree"},
    ]),
    ("StagewiseRegressor", ["numbers", "heavy"], each("loss", NUMBER_LOSSES)),
    ("StagewiseRegressor", ["amounts", "counts weights"], each("loss", ("poisson", "tweedie"))),
    ("StagewiseRegressor", ["amounts"], each("loss", ("gamma", "@Tweedie(1.8)"))),
    ("StagewiseRegressor", ["numbers holes", "numbers pandas", "numbers weights",
                            "numbers tiny", "constant", "numbers sparse"], [{}]),
    ("StagewiseRegressor", ["numbers coarse"], [
        {"init": "zero", "learning_rate": 0.2}, {**STOP, "validation_fraction": 0.2},
        {**STOP, "validation_fraction": None}, {**STOP, "+val": True}, {"loss": "@Careful"},
        {"loss": "@Quantile(0.8)"}, {"loss": "@Huber(0.5)"}, {"estimator": "@LinearRegression"},
        {"estimator": "@KNeighborsRegressor"}, {"estimator": "@small tree"},
        {"estimator": "@extra regression tree"}, {"estimator": "@their regression tree"},
        {"estimator": "@pruned regression tree"},
    ]),
    ("StagewiseRegressor", ["numbers listed"], [{"estimator": "@listed regression tree"}]),
]  # fmt: skip

# Settings that classes and numbers share; of five columns of numbers.
SHARED = [
    {"learning_rate": 0.5, "max_depth": 3}, {"max_leaf_nodes": 4, "max_bins": 16},
    {"max_bins": None, "max_depth": 2}, {"min_samples_leaf": 10, "min_samples_split": 0.2},
    {"min_weight_fraction_leaf": 0.1}, {"min_impurity_decrease": 0.05},
    {"subsample": 0.5}, {"sampling": "gradient", "top_rate": 0.3, "other_rate": 0.2},
    {"dropout": 0.5, "n_estimators": 10}, {"dropout": 0.9, "max_drop": 2, "+warm": 4},
    {"max_features": 2, "max_features_per_tree": 0.5}, {"max_features": "sqrt"},
    {"growth": "by_level", "max_leaf_nodes": 6}, {"l2_regularization": 3.0, "min_gain": 0.1},
    {"min_hessian": 4.0}, {"interaction_cst": "pairwise"}, {"interaction_cst": "no_interactions"},
    {"interaction_cst": [[0, 1], [2, 3]]}, {"init": "zero"}, {"+warm": 3},
    {"+warm": 3, "subsample": 0.7},
    {**STOP, "validation_fraction": 0.2}, {**STOP, "validation_fraction": None},
    {**STOP, "+val": True, "n_estimators": 30}, {**STOP, "scoring": None},
    {"callbacks": "@history"}, {"callbacks": "@third round"}, {"callbacks": "@rates"},
    {"callbacks": "@patience", "+val": True, "n_estimators": 20}, {"estimator": "@Ridge"},
    {"estimator": "@KNeighborsRegressor"}, {"estimator": "@their regression tree", "order": 1},
    {"estimator": "@extra regression tree", "subsample": 0.5},
]  # fmt: skip
STEPS = [{"step": step} for step in ("newton", "exact", "line_search", "gradient")]
OTHER_WAYS = [{"estimator": "@Ridge"}, {"step": "exact"}, {"step": "line_search"}]
VECTOR = {"multi_strategy": "vector_leaves"}
ROUNDS = {"n_estimators": "auto"}

GRADIENT = [
    ("GradientBoostingClassifier", ["two", "two whole", "two float32", "two holes", "two pandas",
                                    "two polars", "two sparse", "two wide", "two weights",
                                    "two zeros", "two tiny", "one class", "three", "many"], [{}]),
    ("GradientBoostingClassifier", ["three large", "adult", "hypothyroid", "letter"], [{}]),
    ("GradientBoostingClassifier", ["glass", "vowel", "two"], [ROUNDS]),
    ("GradientBoostingClassifier", ["two"], [
        *({"loss": loss, "order": order} for loss in CLASS_LOSSES for order in (1, 2)),
        *STEPS, *SHARED, {"monotonic_cst": [1, 0, 0, 0, -1]}, {"class_weight": "balanced"},
        {"class_weight": {0: 2.0, 1: 0.5}}, {"loss": "@Brier"}, {"loss": "@Focal(1)"},
        {"init": "@LogisticRegression"}, {"+offset": True}, {**STOP, "scoring": "roc_auc"},
    ]),
    ("GradientBoostingClassifier", ["three"], [
        *STEPS, VECTOR, {"order": 1}, {"subsample": 0.5}, {"dropout": 0.5},
        {"sampling": "gradient"}, {"class_weight": "balanced"}, {**STOP, "+val": True},
        {**VECTOR, "subsample": 0.5, "+warm": 3}, {"init": "@GaussianNB"},
        {"estimator": "@Ridge"}, {**STOP, "scoring": "accuracy"},
    ]),
    ("GradientBoostingClassifier", ["two listed"], [
        LISTED, {**LISTED, "categorical_smoothing": 5.0},
    ]),
    ("GradientBoostingRegressor", ["numbers", "numbers float32", "numbers coarse", "numbers holes",
                                   "numbers pandas", "numbers polars", "numbers sparse",
                                   "numbers wide", "numbers weights", "numbers zeros",
                                   "numbers tiny", "numbers one row", "constant", "heavy",
                                   "outputs", "outputs holes"], [{}]),
    ("GradientBoostingRegressor", ["numbers large", "ames", "california", "servo"], [{}]),
    ("GradientBoostingRegressor", ["ozone", "numbers"], [ROUNDS]),
    ("GradientBoostingRegressor", ["numbers", "heavy"], [
        *each("loss", NUMBER_LOSSES, max_depth=3), *each("loss", SMOOTH, order=1),
        *each("loss", SMOOTH, order=2, step="newton"),
    ]),
    ("GradientBoostingRegressor", ["amounts", "counts weights"], [
        *each("loss", ("poisson", "tweedie"), order=1), *each("loss", ("poisson", "tweedie")),
    ]),
    ("GradientBoostingRegressor", ["amounts"], [
        *each("loss", ("gamma", "@Tweedie(1.8)")), {"loss": "gamma", "order": 1},
    ]),
    ("GradientBoostingRegressor", ["often zero"], [{"loss": "tweedie"}]),
    ("GradientBoostingRegressor", ["claims"], each("loss", POSITIVE_LOSSES[::2])),
    ("GradientBoostingRegressor", ["numbers"], [
        *STEPS, *SHARED, {"monotonic_cst": [1, 0, 0, 0, -1]}, {"loss": "@Careful"},
        {"loss": "@CarefulTwice"}, {"loss": "@Huber(0.5)"}, {"loss": "huber", "alpha": 0.5},
        {"loss": "quantile", "alpha": [0.1, 0.5, 0.9]}, {"loss": "quantile", "alpha": 0.2},
        {"loss": "absolute_error", "monotonic_cst": [1, 1, 0, 0, 0]}, {"init": "@Ridge"},
        {"init": "@regression tree", **STOP}, {"+offset": True},
        {"loss": "absolute_error", "step": "line_search"},
        {"loss": "absolute_error", "subsample": 0.5, "dropout": 0.3},
    ]),
    ("GradientBoostingRegressor", ["outputs"], [
        VECTOR, {**VECTOR, "loss": "huber"}, {"loss": "absolute_error"}, {"subsample": 0.5},
        {**STOP, "+val": True}, {"estimator": "@Ridge"}, {"+warm": 2, "dropout": 0.5},
    ]),
    ("GradientBoostingRegressor", ["numbers listed", "numbers categories"], [
        LISTED, {**LISTED, "categorical_smoothing": 5.0, "order": 1},
    ]),
    # Losses as other members and other steps use them: not only the engine works them out.
    ("GradientBoostingRegressor", ["amounts"], [
        {"loss": loss, **way} for loss in POSITIVE_LOSSES for way in OTHER_WAYS
    ]),
    ("GradientBoostingRegressor", ["heavy"], [
        {"loss": loss, **way} for loss in SMOOTH for way in OTHER_WAYS
    ]),
    ("GradientBoostingClassifier", ["two weights"], [
        {"loss": loss, **way} for loss in CLASS_LOSSES for way in OTHER_WAYS
    ]),
]  # fmt: skip
