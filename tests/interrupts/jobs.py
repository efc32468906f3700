"""Jobs to interrupt: functions without arguments that would take several seconds.

Rows are repeated and trees are few, so that the setup is quick; what was set up is kept for other
jobs.
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
    return partial(explain.column_importance, model, X, y, how, n_repeats=100)


def long_column():
    X = np.random.default_rng(2).random((20_000_000, 1))
    return partial(engine.bin_table, X, [0], 0, False, None, 1)


def draws(weighted):
    weights = table()[0][:, 0] ** 2 if weighted else None
    X, _, numbers = table()
    model = weald.RandomForestRegressor(1, max_samples=2**31 - 1, max_depth=1, random_state=0)
    return partial(model.fit, X, numbers, weights)


# --- makers of jobs, of a kind of model ---------------------------------------------------------


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
