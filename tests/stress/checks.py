"""What must hold for every case."""

import pickle
import re
import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import clone

import weald
from stress.cuts import check_cuts
from stress.finished import Wrong, check_tree, must
from stress.lessons import lessons_of
from stress.twins import check_twin

THREADS = (1, 2, 3, 8)
SMALL = 800  # rows up to which all numbers of threads are tried
METHODS = ("predict_proba", "predict", "decision_function", "apply")
ARRAYS = (
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "value",
)
# What may be refused: cases that a table of few rows, or a draw of settings, can bring about.
REFUSALS = [
    r"n_iter_no_change holds out rows for validation, but there is only",
    r"needs trees that sum up weights: use order=1",
    r"needs the second derivative of the loss",
    r"Only binary classification is supported",
    r"^categorical_features has the index",
    r"asks for \d+ rows but there are",
    r"held only missing values in fit but holds text or categories now",  # rows a member drew
    r"as member predicts the shares \[[^]]*nan",  # naive Bayes knows no variance of a single row
]


@dataclass
class Verdict:
    """What came out of a case: a refusal, or nothing at all if it is fine."""

    refusal: str | None = None
    looked_at: list = field(default_factory=list)


# --- fitting ------------------------------------------------------------------------------------


def fit(case, threads, **more):
    """A fresh copy, fitted with so many threads: by parameter, or by the context."""
    est = clone(case.estimator).set_params(**more)
    by_parameter = case.own_trees and "n_jobs" in est.get_params() and case.seed % 2
    if by_parameter:
        return fit_to(est.set_params(n_jobs=threads), case.table)
    with weald.threads(threads):
        return fit_to(est, case.table)


def fit_to(est, table):
    return est.fit(table.X, table.y, sample_weight=table.weights)


def refusal_of(error):
    """The sentence of a documented refusal; other errors are raised again."""
    text = str(error)
    known = any(re.search(pattern, text) for pattern in REFUSALS)
    if isinstance(error, ValueError | TypeError) and known:
        return text
    raise error


# --- the same bits ------------------------------------------------------------------------------


def answers(est, X):
    """What a model says, by method."""
    found = {}
    for name in METHODS:
        if hasattr(est, name) and (name != "apply" or grows_own_trees(est)):
            said = getattr(est, name)(X)
            parts = said if isinstance(said, list) else [said]
            found |= {f"{name} {k}": np.asarray(part) for k, part in enumerate(parts)}
    if getattr(est, "keep_targets", False):
        found["quantiles"] = est.predict_quantiles(X[:10])
    return found


def trees_of(est):
    """The arrays of all trees of a model; none if its members are something else."""
    if hasattr(est, "tree_"):
        members = [est]
    elif hasattr(est, "n_trees_per_iteration_"):
        K = est.n_trees_per_iteration_
        members = [est.estimators_[t, k] for t in range(est.n_estimators_) for k in range(K)]
    else:
        members = list(est.estimators_)
    return [member.tree_ for member in members if isinstance(getattr(member, "tree_", None), TREE)]


TREE = type(weald.DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_)


def check_same(one, two, X, what):
    """Two models are the same, bit for bit."""
    left, right = answers(one, X), answers(two, X)
    must(left.keys() == right.keys(), f"other methods {what}")
    for name, said in left.items():
        must(said.shape == right[name].shape, f"{name} has another shape {what}")
        same = np.array_equal(said, right[name], equal_nan=said.dtype.kind == "f")
        must(same, f"{name} says something else {what}")
    pairs = trees_of(one), trees_of(two)
    must(len(pairs[0]) == len(pairs[1]), f"another number of trees {what}")
    for t, (a, b) in enumerate(zip(*pairs, strict=True)):
        for name in ARRAYS:
            mine, other = getattr(a, name), getattr(b, name)
            same = mine.dtype == other.dtype and mine.tobytes() == other.tobytes()
            must(same, f"tree {t} has another {name} {what}")


def check_threads(case, est, first):
    rest = [k for k in THREADS if k != first]
    if len(case.table) > SMALL:
        rest = [rest[case.rng.integers(len(rest))]]
    for threads in rest:
        what = f"with {threads} threads than with {first}"
        check_same(est, fit(case, threads), case.table.X, what)


def check_warm(case, est):
    """Some members, and then the others, are all of them."""
    if not getattr(est, "warm_start", False) or est.n_iter_no_change is not None:
        return
    whole = est.n_estimators
    if whole == 1:
        return
    part = fit(case, 2, n_estimators=int(case.rng.integers(1, whole)))
    fit_to(part.set_params(n_estimators=whole), case.table)
    check_same(est, part, case.table.X, "if members are added later")


# --- what models say ----------------------------------------------------------------------------


def check_says(est, X, rounding):
    for name, said in answers(est, X).items():
        if said.dtype.kind == "f":
            must(np.isfinite(said), f"{name} says something that is not finite")
        if name.startswith("predict_proba"):
            must((said >= 0) & (said <= 1), "a probability outside of 0 and 1")
            must(np.abs(said.sum(axis=1) - 1) <= rounding, "probabilities that do not sum to 1")


def check_trees(case, est):
    for lesson in lessons_of(est, case.table):
        row, node = check_tree(lesson)
        if lesson.w is not None and lesson.Y is not None and case.rng.random() < 0.5:
            check_cuts(lesson, row, node, case.rng)


def grows_own_trees(est):
    """All members are trees of weald, grown from the table as the ensemble reads it."""
    return hasattr(est, "categories_") and bool(trees_of(est))


# --- all of it ----------------------------------------------------------------------------------


def check_case(case):
    """Raise what is wrong; give a verdict if nothing is."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if case.own_trees:
            warnings.simplefilter("error", RuntimeWarning)
            np.seterr(divide="warn", over="warn", invalid="warn")
        first = THREADS[case.rng.integers(len(THREADS))]
        try:
            est = fit(case, first)
            check_says(est, case.table.X, 1e-12 if case.own_trees else 1e-5)
        except (ValueError, TypeError) as error:
            return Verdict(refusal_of(error))
        check_threads(case, est, first)
        np.seterr(all="ignore")
        if grows_own_trees(est):
            check_trees(case, est)
        if case.rng.random() < 0.5:
            again = pickle.loads(pickle.dumps(est))
            check_same(est, again, case.table.X, "after pickling")
        check_warm(case, est)
        check_twin(case, est)
    return Verdict()


__all__ = ["Verdict", "Wrong", "check_case"]
