"""The jobs that are interrupted: one for everything public that can run for more than a second.

A case makes its job, a function without arguments that would take several seconds or, where it
cannot be made to, is called over and over. Rows are repeated and trees are few, so that the setup
is quick; what was set up is kept for the other cases.
"""

import tempfile
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import weald
from weald import _engine as engine
from weald import explain
from weald.cli import app

ENDLESS = 10**6  # members
MANY, MEMBERS = 2_000_000, 100


@cache
def table(n=5000):
    """Rows of eight columns, repeated; their classes and their numbers."""
    rng = np.random.default_rng(0)
    few = min(n, 5000)
    X = rng.normal(size=(few, 8))
    numbers = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + rng.normal(size=few)
    classes = (numbers > 0).astype(np.int64)
    return tuple(np.concatenate([part] * (n // few)) for part in (X, classes, numbers))


@cache
def noise(n, d=4):
    """Rows without a law: a tree has to be grown to the last of them."""
    rng = np.random.default_rng(1)
    return rng.random((n, d)), rng.integers(0, 3, n), rng.random(n)


@cache
def many_columns(n, d):
    """A wide table."""
    rng = np.random.default_rng(3)
    return rng.random((n, d), dtype=np.float32), rng.random(n)


@cache
def chain(depth):
    """The arrays of a tree with one leaf at every depth; cut back, it loses one leaf at a time."""
    right = np.full(2 * depth + 1, -1)
    right[:-1:2] = np.arange(2, 2 * depth + 1, 2)
    height = np.arange(depth, 0, -1.0)
    risk = np.zeros(len(right))
    risk[:-1:2] = np.cumsum(height[::-1])[::-1]
    return right, risk


@cache
def chain_tree(depth):
    """A fitted tree whose nodes are a chain."""
    X = np.arange(depth + 1.0)[:, None]
    right, risk = chain(depth)
    inner = right >= 0
    arrays = {
        "children_right": right,
        "feature": np.where(inner, 0, -2),
        "threshold": np.where(inner, np.arange(len(right)) // 2 + 0.5, -2.0),
        "missing_go_to_left": np.zeros(len(right), dtype=bool),
        "set_begin": np.full(len(right), -1),
        "sets": np.zeros(0, dtype=np.uint32),
        "impurity": risk,
        "n_node_samples": np.ones(len(right), dtype=np.int64),
        "weighted_n_node_samples": np.ones(len(right)),
        "value": risk.reshape(-1, 1, 1).copy(),
    }
    model = weald.DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0])
    model.tree_ = engine.Tree(arrays, [0], [1])
    return model


def is_classifier(kind):
    return kind.__name__.endswith("Classifier")


def seed(kind):
    return {} if kind in KERNEL else {"random_state": 0}


def fitting(kind, data=table, rows=5000, **settings):
    """A fit of some rows."""
    X, classes, numbers = data(rows)
    model = kind(**seed(kind), **settings)
    return partial(model.fit, X, classes if is_classifier(kind) else numbers)


@cache
def fitted(kind, *settings):
    """An ensemble of some members, a tree, or a kernel smoother."""
    X, classes, numbers = table()
    own = {} if kind in TREES + KERNEL else {"n_estimators": MEMBERS}
    model = kind(**seed(kind), **own, **dict(settings))
    return model.fit(X, classes if is_classifier(kind) else numbers)


def asking(kind, method, rows=MANY, /, *settings, targets=False):
    """A method of a fitted model, for many rows."""
    model = fitted(kind, *settings)
    X, classes, numbers = table(rows)
    more = (classes if is_classifier(kind) else numbers,) if targets else ()

    def job():
        said = getattr(model, method)(X, *more)
        if method.startswith("staged"):
            for _ in said:
                pass

    return job


def looking(kind, attribute, *settings):
    """An attribute of a fitted model that is worked out when it is asked for."""
    model = fitted(kind, *settings)
    # As if it had drawn as many rows as can be.
    if attribute == "in_bag_":
        model._members.sampling = replace(model._members.sampling, size=2**31 - 1)
    return lambda: list(getattr(model, attribute))


def weakest_links(kind):
    X, classes, numbers = noise(1_000_000)
    return partial(
        kind().cost_complexity_pruning_path, X, classes if is_classifier(kind) else numbers
    )


def pruned_by_rows(kind):
    """A large tree cut back by rows it has not seen; by itself it stays as it is."""
    X, classes, numbers = noise(200_000)
    y = classes if is_classifier(kind) else numbers
    model = kind(random_state=0).fit(X, y)
    tree = model.tree_

    def job():
        model.tree_ = tree
        model.prune(X, y[::-1])

    return job


def command():
    X, classes, _ = noise(20_000)
    path = Path(tempfile.mkdtemp()) / "rows.csv"
    rows = np.c_[X, classes]
    np.savetxt(path, rows, delimiter=",", header="a,b,c,d,target", comments="", fmt="%.6g")

    def job():
        said = app(["fit", "--data", str(path), "--target", "target"], standalone_mode=False)
        if said == 130:  # what the command line makes of it
            raise KeyboardInterrupt

    return job


def importance(kind, how, *settings):
    model = fitted(kind, *settings)
    X, classes, numbers = table()
    y = classes if is_classifier(kind) else numbers
    return partial(explain.forest_importance, model, X, y, how, n_repeats=100)


def long_column():
    X = np.random.default_rng(2).random((20_000_000, 1))
    return partial(engine.bin_table, X, [0], 0, False, None, 1)


def draws(weighted):
    weights = table()[0][:, 0] ** 2 if weighted else None
    X, _, numbers = table()
    model = weald.RandomForestRegressor(1, max_samples=2**31 - 1, max_depth=1, random_state=0)
    return partial(model.fit, X, numbers, weights)


FOREIGN = {True: GaussianNB(), False: LinearRegression()}
TREES = [
    weald.DecisionTreeClassifier,
    weald.DecisionTreeRegressor,
    weald.ExtraTreeClassifier,
    weald.ExtraTreeRegressor,
]
FORESTS = [
    weald.RandomForestClassifier,
    weald.RandomForestRegressor,
    weald.ExtraTreesClassifier,
    weald.ExtraTreesRegressor,
]
DRAWN = [weald.BaggingClassifier, weald.BaggingRegressor]
NAIVE = [weald.NaiveEnsembleClassifier, weald.NaiveEnsembleRegressor]
BOOSTED = [weald.AdaBoostClassifier, weald.AdaBoostRegressor]
STAGEWISE = [weald.StagewiseClassifier, weald.StagewiseRegressor]
KERNEL = [weald.KernelClassifier, weald.KernelRegressor]
CONDITIONAL = [weald.ConditionalClassifier, weald.ConditionalRegressor]
MIXED = [
    weald.BlendingClassifier,
    weald.BlendingRegressor,
    weald.SuperLearnerClassifier,
    weald.SuperLearnerRegressor,
    *CONDITIONAL,
]
COMBINED = [
    *MIXED,
    weald.StackingClassifier,
    weald.StackingRegressor,
    weald.VotingClassifier,
    weald.VotingRegressor,
]
GRADIENT = [weald.GradientBoostingClassifier, weald.GradientBoostingRegressor]

# Name: a function that makes the job. A name begins with the method it is about, so that a test can
# compare the table with the methods there are.
CASES = {
    "export_text": lambda: partial(explain.export_text, chain_tree(3000), max_depth=None),
    "export_graphviz": lambda: partial(explain.export_graphviz, chain_tree(20_000), None),
    "explain_path": lambda: partial(
        explain.explain_path, chain_tree(3000), np.arange(3000.0)[:, None]
    ),
    "weald fit": command,
    "the weakest links of a chain": lambda: partial(engine.pruning_path, *chain(60_000)),
    "one long column": long_column,
    "very many columns": lambda: partial(
        weald.DecisionTreeRegressor(max_depth=3).fit, *many_columns(2000, 20_000)
    ),
    "a large forest's paths": lambda: partial(
        fitted(weald.RandomForestRegressor).decision_path, table(300_000)[0]
    ),
    "the paths of a chain": lambda: partial(
        chain_tree(20_000).decision_path, np.full((5000, 1), 1e9)
    ),
    "far down a chain": lambda: partial(chain_tree(200_000).apply, np.full((20_000, 1), 1e9)),
    "many residuals": lambda: fitting(
        weald.GradientBoostingRegressor, rows=5_000_000, loss="absolute_error"
    ),
    "many medians": lambda: fitting(
        weald.DecisionTreeRegressor, noise, 3_000_000, criterion="absolute_error"
    ),
    "as many draws as can be": partial(draws, weighted=False),
    "as many draws as can be, by weight": partial(draws, weighted=True),
}


def add(kinds, **methods):
    """For each kind of model and method, its case."""
    for kind in kinds:
        for method, make in methods.items():
            name = f"{kind.__name__}.{method.replace('__', ' ')}"
            assert name not in CASES
            CASES[name] = partial(make, kind)


def of_rows(method, rows=MANY, *settings, targets=False):
    return lambda kind: asking(kind, method, rows, *settings, targets=targets)


def seen(attribute, *settings):
    return lambda kind: looking(kind, attribute, *settings)


def fit(**settings):
    return lambda kind: fitting(kind, **settings)


def foreign_fit(**settings):
    return lambda kind: fitting(kind, estimator=FOREIGN[is_classifier(kind)], **settings)


def calibrated(kind):
    """Intervals of a model that learned its errors from rows of its own."""
    X, _, numbers = table()
    return partial(fitted(kind).calibrate(X, numbers).predict_interval, table(MANY)[0])


def foreign(method, rows=200_000, **settings):
    def make(kind):
        member = ("estimator", FOREIGN[is_classifier(kind)])
        return asking(kind, method, rows, member, **settings)

    return make


add(
    TREES,
    fit=fit(data=noise, rows=1_000_000),
    fit__by_folds=fit(data=noise, rows=100_000, ccp_alpha="cv"),
    cost_complexity_pruning_path=lambda kind: weakest_links(kind),
    prune=lambda kind: pruned_by_rows(kind),
    predict=of_rows("predict", MANY),
    apply=of_rows("apply"),
    decision_path=of_rows("decision_path"),
    explain_path=of_rows("explain_path", 50_000),
    feature_importances_=seen("feature_importances_"),
)
add(
    TREES[1::2],
    fit__to_medians=fit(data=noise, rows=300_000, criterion="absolute_error"),
)
add(
    TREES[::2],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
)
add(
    FORESTS,
    fit=fit(n_estimators=ENDLESS),
    fit__large=fit(data=noise, rows=1_000_000, n_estimators=4),
    fit__out_of_bag=fit(n_estimators=ENDLESS, bootstrap=True, oob_score=True),
    fit__pruned=fit(data=noise, rows=300_000, n_estimators=4, ccp_alpha=1e-9),
    predict=of_rows("predict"),
    apply=of_rows("apply", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    decision_path=of_rows("decision_path", 50_000),
    member_predictions=of_rows("member_predictions", 500_000),
    importance=lambda kind: importance(kind, "permutation", ("bootstrap", True)),
    importance__unbiased=lambda kind: importance(kind, "unbiased", ("bootstrap", True)),
    in_bag_=seen("in_bag_", ("bootstrap", True)),
    estimators_=seen("estimators_"),
    estimators_samples_=seen("estimators_samples_", ("bootstrap", True)),
    feature_importances_=seen("feature_importances_"),
)
add(
    FORESTS[::2],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
)
add(
    FORESTS[1::2],
    calibrate=of_rows("calibrate", targets=True),
    predict_interval=of_rows("predict_interval", MANY, ("bootstrap", True), ("oob_score", True)),
    predict_quantiles=of_rows("predict_quantiles", 100_000, ("keep_targets", True)),
    fit__to_medians=fit(data=noise, rows=100_000, n_estimators=4, criterion="absolute_error"),
)
add(
    DRAWN + NAIVE,
    fit=fit(n_estimators=ENDLESS),
    fit__foreign=foreign_fit(n_estimators=ENDLESS),
    fit__foreign_in_threads=foreign_fit(n_estimators=ENDLESS, n_jobs=2),
    predict=of_rows("predict"),
    predict__foreign=foreign("predict"),
    apply=of_rows("apply", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    member_predictions=of_rows("member_predictions", 500_000),
    member_predictions__foreign=foreign("member_predictions"),
    in_bag_=seen("in_bag_"),
    estimators_=seen("estimators_"),
    estimators_samples_=seen("estimators_samples_"),
    estimators_features_=seen("estimators_features_"),
)
add(
    DRAWN,
    fit__out_of_bag=fit(n_estimators=ENDLESS, oob_score=True),
    fit__foreign_out_of_bag=foreign_fit(n_estimators=ENDLESS, oob_score=True),
    importance=lambda kind: importance(kind, "permutation"),
    importance__foreign=lambda kind: importance(
        kind, "permutation", ("estimator", FOREIGN[is_classifier(kind)])
    ),
)
add(
    [DRAWN[0], NAIVE[0]],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
    predict_log_proba__foreign=foreign("predict_log_proba"),
    decision_function__foreign=lambda kind: asking(
        kind, "decision_function", 200_000, ("estimator", LinearDiscriminantAnalysis())
    ),
)
add(
    BOOSTED,
    fit=fit(n_estimators=ENDLESS),
    fit__foreign=foreign_fit(n_estimators=ENDLESS),
    predict=of_rows("predict"),
    predict__foreign=foreign("predict"),
    staged_predict=of_rows("staged_predict", 500_000),
    staged_score=of_rows("staged_score", 500_000, targets=True),
    member_predictions=of_rows("member_predictions", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    estimators_=seen("estimators_"),
    feature_importances_=seen("feature_importances_"),
)
add(
    STAGEWISE,
    fit=fit(n_estimators=ENDLESS),
    predict=of_rows("predict"),
    staged_predict=of_rows("staged_predict", 500_000),
    staged_score=of_rows("staged_score", 500_000, targets=True),
    member_predictions=of_rows("member_predictions", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    estimators_=seen("estimators_"),
)
add(
    GRADIENT,
    fit=fit(n_estimators=ENDLESS),
    fit__large=fit(rows=MANY, n_estimators=ENDLESS),
    predict=of_rows("predict", 3 * MANY),
    apply=of_rows("apply", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    member_predictions=of_rows("member_predictions", 500_000),
    staged_predict=of_rows("staged_predict"),
    staged_score=of_rows("staged_score", targets=True),
    estimators_=seen("estimators_"),
    feature_importances_=seen("feature_importances_"),
)
add(GRADIENT[1:], score=of_rows("score", targets=True))
add(
    [BOOSTED[1], GRADIENT[1]],
    calibrate=of_rows("calibrate", 3 * MANY, targets=True),
    predict_interval=of_rows("predict_interval", 3 * MANY, ("calibration", 2)),
)
add(
    DRAWN[1:],
    calibrate=of_rows("calibrate", targets=True),
    predict_interval=of_rows("predict_interval", MANY, ("oob_score", True)),
)
add(NAIVE[1:], calibrate=of_rows("calibrate", targets=True), predict_interval=calibrated)
add(
    [BOOSTED[0], STAGEWISE[0], GRADIENT[0]],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
    decision_function=of_rows("decision_function"),
    staged_predict_proba=of_rows("staged_predict_proba", 500_000),
    staged_decision_function=of_rows("staged_decision_function", 500_000),
)
add(
    KERNEL,
    fit=fit(data=noise, rows=1_000_000),
    fit__to_a_rule=fit(data=noise, rows=1_000_000, bandwidth="scott"),
    predict=of_rows("predict"),
    predict__of_near_rows=of_rows("predict", MANY, ("bandwidth", 0.1)),
)
add(
    KERNEL[:1],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
)


def named(kind):
    """Members of both sorts: some that the engine grows, and others."""
    if is_classifier(kind):
        return [("trees", weald.RandomForestClassifier(20)), ("line", LinearDiscriminantAnalysis())]
    return [("trees", weald.RandomForestRegressor(20)), ("line", LinearRegression())]


@cache
def fitted_mixture(kind):
    X, classes, numbers = table()
    return kind(named(kind)).fit(X, classes if is_classifier(kind) else numbers)


def mixture_fit(method="fit", **settings):
    def make(kind):
        X, classes, numbers = table(500_000)
        model = kind(named(kind), **settings)
        return partial(getattr(model, method), X, classes if is_classifier(kind) else numbers)

    return make


def mixture_asked(method, rows=MANY):
    def make(kind):
        model = fitted_mixture(kind)
        return partial(getattr(model, method), table(rows)[0])

    return make


def mixture_calibrated(method):
    def make(kind):
        X, _, numbers = table(500_000)
        model = fitted_mixture(kind)
        if method == "calibrate":
            return partial(model.calibrate, X, numbers)
        return partial(model.calibrate(X[:5000], numbers[:5000]).predict_interval, X)

    return make


def encoded(method):
    def make(kind):
        X = table(1_000_000)[0]
        return partial(getattr(kind(splines=True).fit(X[:5000]), method), X)

    return make


add(
    COMBINED,
    fit=mixture_fit(),
    member_predictions=mixture_asked("member_predictions", 500_000),
    predict=mixture_asked("predict", 500_000),
)
add(MIXED, cv_risk=mixture_fit("cv_risk"))
add(
    [kind for kind in COMBINED if hasattr(kind, "calibrate")],
    calibrate=mixture_calibrated("calibrate"),
    predict_interval=mixture_calibrated("predict_interval"),
)
add(
    MIXED[::2],
    predict_proba=mixture_asked("predict_proba", 500_000),
    predict_log_proba=mixture_asked("predict_log_proba", 500_000),
)
add(
    CONDITIONAL,
    gate_weights=mixture_asked("gate_weights", 500_000),
    ruling_member=mixture_asked("ruling_member", 500_000),
    plot_regions=mixture_asked("plot_regions", 20_000),
)
add([weald.TableEncoder], fit=encoded("fit"), transform=encoded("transform"))

# Of members that are not weald's trees these only look something up.
QUICK_OF_COMBINED = {"estimators_", "gate_", "leaf_index"}

# Methods that only look something up.
QUICK = {
    "get_feature_names_out",
    "get_params",
    "set_params",
    "estimator_",
    "estimator_errors_",
    "estimator_weights_",
    "feature_importances_std_error_",
    "forest_",
    "get_depth",
    "get_metadata_routing",
    "get_n_leaves",
    "member_weights_",
    "n_trees_per_iteration_",
}
