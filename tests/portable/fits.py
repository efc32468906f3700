"""Fits some sixty models and prints a hash of each, so that two builds can be compared.

Targets and columns have few values: nodes are full of cuts that are exactly as good as others, and
a build that rounds differently, or walks in another order, takes others. `make portable` runs this
in the ordinary build and in one without vector instructions.
"""

from hashlib import sha256

import numpy as np

import weald

TREE = ("children_right", "feature", "threshold", "missing_go_to_left", "impurity", "value")


def table(n, d, seed, *, values=6, missing=0.0, dtype=np.float64):
    """Columns of few values, some perhaps missing; two classes, five classes, and numbers."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, size=(n, d)).astype(dtype)
    X[:, d // 2 :] += rng.normal(size=(n, d - d // 2)).astype(dtype).round(1)
    signal = X[:, 0] - X[:, 1] + 0.5 * X[:, d // 2] + rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return {
        "X": X,
        "two": (signal > np.median(signal)).astype(int),
        "five": np.digitize(signal, np.quantile(signal, [0.2, 0.4, 0.6, 0.8])),
        "number": signal.round(1),
        "count": rng.poisson(np.exp(np.clip(signal / 4, -2, 2))).astype(float),
        "whole": rng.integers(1, 4, size=n).astype(float),
        "weight": rng.random(n) + 0.1,
    }


TABLES = {
    "few": table(300, 5, 1, values=3),
    "plain": table(3000, 8, 2),
    "wide": table(800, 40, 3),
    "missing": table(1500, 7, 4, missing=0.1),
    "floats": table(2000, 6, 5, dtype=np.float32),
    "long": table(20000, 6, 6, values=40),
}


def fits():
    """Name, estimator, table, target, weights."""
    yield from trees()
    yield from forests()
    yield from boosted()


def trees():
    tree, extra = weald.DecisionTreeClassifier, weald.ExtraTreeClassifier
    number, extra_number = weald.DecisionTreeRegressor, weald.ExtraTreeRegressor
    for name in TABLES:
        yield f"tree {name}", tree(), name, "two", None
        yield f"tree in bins {name}", tree(max_bins=64), name, "two", None
        yield f"extra tree in bins {name}", extra(max_bins=64, random_state=1), name, "two", None
    for criterion in ("gini", "entropy", "misclassification"):
        yield (
            f"five classes {criterion}",
            tree(criterion=criterion, max_depth=8),
            "plain",
            "five",
            None,
        )
    yield "whole weights", tree(max_bins=255), "plain", "two", "whole"
    yield "weights", tree(max_bins=255), "plain", "two", "weight"
    yield "some columns", tree(max_features=3, max_bins=255, random_state=2), "missing", "two", None
    yield "best first", tree(max_leaf_nodes=60, max_bins=255), "wide", "two", None
    yield "extra five", extra(max_bins=64, random_state=3), "missing", "five", None
    yield "numbers", number(max_depth=9), "plain", "number", "whole"
    yield "numbers in bins", number(max_bins=64, min_samples_leaf=3), "missing", "number", "weight"
    yield "extra numbers", extra_number(random_state=4), "floats", "number", None
    yield "medians", number(criterion="absolute_error", max_depth=5), "few", "number", "weight"
    yield "counts", number(criterion="poisson", max_depth=7), "plain", "count", None


def forests():
    kinds = weald.RandomForestClassifier, weald.ExtraTreesClassifier
    for kind in kinds:
        for name in TABLES:
            yield f"{kind.__name__} {name}", kind(5, random_state=7), name, "two", None
        yield f"{kind.__name__} five", kind(5, random_state=7), "plain", "five", "whole"
    yield (
        "forest of numbers",
        weald.RandomForestRegressor(5, random_state=8),
        "plain",
        "number",
        None,
    )
    yield "bag", weald.BaggingClassifier(n_estimators=5, random_state=9), "plain", "two", None


def boosted():
    two, number = weald.GradientBoostingClassifier, weald.GradientBoostingRegressor
    for name in TABLES:
        yield f"boosting {name}", two(n_estimators=15, random_state=1), name, "two", None
    yield "boosting five", two(n_estimators=6, random_state=1), "plain", "five", "weight"
    yield "boosting numbers", number(n_estimators=15, random_state=1), "missing", "number", None
    for loss in ("absolute_error", "huber", "poisson"):
        yield (
            f"boosting {loss}",
            number(loss=loss, n_estimators=8, random_state=1),
            "plain",
            "count",
            None,
        )
    yield "adaboost", weald.AdaBoostClassifier(n_estimators=20, random_state=1), "long", "two", None
    yield (
        "adaboost five",
        weald.AdaBoostClassifier(n_estimators=10, random_state=1),
        "plain",
        "five",
        None,
    )


def hash_of(model, X):
    found = sha256()
    members = np.ravel(model.estimators_) if hasattr(model, "estimators_") else [model]
    for member in members:
        for name in TREE:
            found.update(np.ascontiguousarray(getattr(member.tree_, name)).tobytes())
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            found.update(np.ascontiguousarray(getattr(model, method)(X)).tobytes())
    return found.hexdigest()[:16]


def main():
    for name, model, where, target, weight in fits():
        data = TABLES[where]
        model.fit(data["X"], data[target], sample_weight=None if weight is None else data[weight])
        print(f"{hash_of(model, data['X'])}  {name}")


if __name__ == "__main__":
    main()
