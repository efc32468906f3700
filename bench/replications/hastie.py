"""Boosted stumps on ten Gaussian columns (Hastie, Tibshirani & Friedman 2009, figure 10.2)."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_hastie_10_2

from bench.replications.figures import figure
from bench.replications.library import OURS, PEER, Library
from bench.replications.part import Part, Result, say
from bench.report import aligned

STUMPS = 400
TRAIN, TEST = 2_000, 10_000
# One stump, and after 400 of them, in per cent.
PUBLISHED = (45.8, 5.8)
ALGORITHMS = ("samme", "confidence", "real", "gentle", "logit")


def one_run(library: Library, algorithm: str, seed: int) -> tuple[float, float]:
    """Test errors in per cent after one stump and after all of them."""
    X, y = make_hastie_10_2(TRAIN + TEST, random_state=seed)
    settings = {"algorithm": algorithm} if library.name == OURS else {}
    member = library("DecisionTreeClassifier", max_depth=1)
    model = library("AdaBoostClassifier", estimator=member, n_estimators=STUMPS, **settings)
    if algorithm == "logit":
        model.set_params(estimator=library("DecisionTreeRegressor", max_depth=1))
    model.fit(X[:TRAIN], y[:TRAIN])
    errors = [100 * (1 - score) for score in model.staged_score(X[TRAIN:], y[TRAIN:])]
    return errors[0], errors[-1]


def measure(library: Library, quick: bool) -> Result:
    """Errors of every algorithm over seeds of the data; scikit-learn has one algorithm."""
    result: Result = {}
    for algorithm in ALGORITHMS if library.name == OURS else ALGORITHMS[:1]:
        errors = np.array([one_run(library, algorithm, seed) for seed in range(2 if quick else 10)])
        result[algorithm] = {"one": errors[:, 0].tolist(), "all": errors[:, 1].tolist()}
        say(f"{algorithm}: {figure(result[algorithm]['all'])}")
    return result


TEXT = f"""\
{TRAIN:,} training and {TEST:,} test rows, y = 1 if the sum of the ten squares is above its median:
test error in per cent after one stump and after {STUMPS}, mean and standard error over ten seeds of
the data. The book has {PUBLISHED[0]} and {PUBLISHED[1]}. Discrete votes (`samme`, exact stumps, the
same members as scikit-learn's) need more rounds than the real-valued kinds, which come near the
book.
"""


def section(results: dict[str, Result]) -> str:
    """One line per algorithm."""
    ours, peer = results[OURS], results.get(PEER, {})
    lines = []
    for algorithm, errors in ours.items():
        theirs = peer.get(algorithm)
        lines.append(
            [
                algorithm,
                str(figure(errors["one"])),
                str(figure(errors["all"])),
                "" if theirs is None else str(figure(theirs["one"])),
                "" if theirs is None else str(figure(theirs["all"])),
            ]
        )
    head = ["algorithm", "one stump", f"{STUMPS} stumps", "scikit-learn, one", f"{STUMPS}"]
    return "\n".join([TEXT, aligned(head, lines)])


PART = Part("hastie", "Boosted stumps on hastie_10_2", measure, section)
