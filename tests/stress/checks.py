"""What must hold for every case."""

import pickle
import re
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

import weald
from stress.cuts import check_cuts
from stress.finished import check_tree, must
from stress.lessons import BAGS, FORESTS, GRADIENT, NAIVE, SINGLE, lessons_of
from stress.twins import check_twin

THREADS = (1, 2, 3, 8)
SMALL = 800  # rows up to which all numbers of threads are tried
PAIRS = 200_000  # (row, column) pairs of nodes whose cuts are looked at
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
    r"asks for \d+ rows but there are",
    r"takes no sample_weight, and rows cannot be given to it a fraction of a time",
    r"held only missing values in fit but holds text or categories now",  # rows a member drew
    r"as member predicts the shares \[[^]]*nan",  # naive Bayes knows no variance of a single row
]


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


@dataclass(frozen=True)
class Portrait:
    """All that a model says about its training rows, and the arrays of its trees."""

    said: dict
    trees: list

    @staticmethod
    def of(est, case):
        X, said = case.table.X, {}
        for name in METHODS if case.own_trees else METHODS[:-1]:  # leaves are numbered in trees
            if hasattr(est, name):
                answer = getattr(est, name)(X)
                parts = answer if isinstance(answer, list) else [answer]
                said |= {f"{name} {k}": np.asarray(part) for k, part in enumerate(parts)}
        if getattr(est, "keep_targets", False):
            said["quantiles"] = est.predict_quantiles(X[:10])
        return Portrait(said, trees_of(est) if case.own_trees else [])

    def check_same(self, other, what):
        """Two models are the same, bit for bit."""
        must(self.said.keys() == other.said.keys(), f"other methods {what}")
        for name, mine in self.said.items():
            same = mine.dtype == other.said[name].dtype and mine.shape == other.said[name].shape
            must(same and np.array_equal(mine, other.said[name]), f"{name} differs {what}")
        must(len(self.trees) == len(other.trees), f"another number of trees {what}")
        for t, (a, b) in enumerate(zip(self.trees, other.trees, strict=True)):
            for name in ARRAYS:
                mine, its = getattr(a, name), getattr(b, name)
                same = mine.dtype == its.dtype and mine.tobytes() == its.tobytes()
                must(same, f"tree {t} has another {name} {what}")

    def check_says(self, rounding):
        for name, said in self.said.items():
            if said.dtype.kind == "f":
                must(np.isfinite(said), f"{name} says something that is not finite")
            if name.startswith("predict_proba"):
                must((said >= 0) & (said <= 1), "a probability outside of 0 and 1")
                off = np.abs(said.sum(axis=1) - 1)
                must(off <= rounding, "probabilities that do not sum to 1")


def trees_of(est):
    """The arrays of all trees of a model whose trees are grown by the engine."""
    if hasattr(est, "tree_"):
        return [est.tree_]
    if hasattr(est, "n_trees_per_iteration_"):
        K = est.n_trees_per_iteration_
        return [est.estimators_[t, k].tree_ for t in range(est.n_estimators_) for k in range(K)]
    return [member.tree_ for member in est.estimators_]


def check_threads(case, portrait, first):
    rest = [k for k in THREADS if k != first]
    if len(case.table) > SMALL or not case.own_trees:  # one thread, and another number
        rest = [rest[case.rng.integers(len(rest))]] if first == 1 else [1]
    for threads in rest:
        other = Portrait.of(fit(case, threads), case)
        portrait.check_same(other, f"with {threads} threads from {first}")


def check_warm(case, est, portrait):
    """Some members, and then the others, are all of them."""
    if not getattr(est, "warm_start", False) or est.n_iter_no_change is not None:
        return
    whole = est.n_estimators
    if whole == 1:
        return
    part = fit(case, 2, n_estimators=int(case.rng.integers(1, whole)))
    fit_to(part.set_params(n_estimators=whole), case.table)
    portrait.check_same(Portrait.of(part, case), "if members are added later")


def check_trees(case, est, portrait):
    """Every tree against its rows, and the model against what its trees say."""
    budget, said, leaves = PAIRS, [], []
    for lesson in lessons_of(est, case.table):
        row, node, leaf = check_tree(lesson)
        said.append(lesson.tree.value[leaf])
        leaves.append(leaf)
        if lesson.w is not None and lesson.Y is not None:
            budget -= check_cuts(lesson, row, node, case.rng, budget)
    if not said:
        return
    if "apply 0" in portrait.said:
        found = portrait.said["apply 0"].reshape(len(case.table), -1)
        must(found == np.column_stack(leaves), "apply finds other leaves")
    expected = expected_answer(est, np.array(said))
    for name, values in expected.items():
        off = np.abs(portrait.said[name] - values)
        must(off <= 1e-9 * np.abs(values).max(), f"{name} is not what the trees say")


def expected_answer(est, said):
    """What a model must answer, from the values (trees, n, outputs, classes) of its trees."""
    if isinstance(est, GRADIENT):
        plain = est.n_iter_no_change is None and not isinstance(est.init_, BaseEstimator)
        K = est.n_trees_per_iteration_
        if not plain or isinstance(getattr(est, "alpha", None), list) or said[0].shape[1] > 1:
            return {}
        rounds = said[:, :, 0, 0].reshape(-1, K, said.shape[1])
        start = np.asarray(est.init_) + getattr(est, "quantile_shift_", 0.0)
        F = start + np.tensordot(est.member_weights_, rounds, axes=1).T
        F = F[:, 0] if K == 1 else F
        if is_classifier(est):
            return {"decision_function 0": F}
        link = (est.loss_[0] if isinstance(est.loss_, tuple) else est.loss_).link
        return {"predict 0": F if link.name == "identity" else np.exp(F)}
    voted = getattr(est, "voting", "soft") == "hard" or getattr(est, "weighting", "") == "oob"
    if voted or not isinstance(est, (*SINGLE, *FORESTS, *BAGS, *NAIVE)):
        return {}
    mean = said.mean(axis=0)
    if not is_classifier(est):
        return {"predict 0": mean[:, 0, 0] if mean.shape[1] == 1 else mean[..., 0]}
    counts = np.atleast_1d(est.n_classes_)
    return {f"predict_proba {k}": mean[:, k, :n] for k, n in enumerate(counts)}


# --- all of it ----------------------------------------------------------------------------------


def check_case(case):
    """Raise what is wrong; the sentence of a refusal, or None if all is fine."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if not case.foreign:
            warnings.simplefilter("error", RuntimeWarning)
            np.seterr(divide="warn", over="warn", invalid="warn")
        first = THREADS[case.rng.integers(len(THREADS))]
        try:
            est = fit(case, first)
            portrait = Portrait.of(est, case)
        except (ValueError, TypeError) as error:
            return refusal_of(error)
        portrait.check_says(1e-5 if case.foreign else 1e-12)
        check_threads(case, portrait, first)
        check_warm(case, est, portrait)
        if case.rng.random() < 0.5:
            again = Portrait.of(pickle.loads(pickle.dumps(est)), case)
            portrait.check_same(again, "after pickling")
        np.seterr(all="ignore")
        if case.own_trees:
            check_trees(case, est, portrait)
        check_twin(case)
    return None
