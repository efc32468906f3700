"""Who takes part: the super learner, each of its candidates alone, and scikit-learn's forests.

The boosting libraries as they come have been fitted to the same splits by `make defaults`; the
report takes their losses from there.
"""

from __future__ import annotations

from typing import Any

from sklearn import ensemble as sk
from sklearn.base import clone

import weald
from bench.defaults.contenders import Contender
from bench.defaults.tables import Kind
from bench.replications import sets
from bench.task import OURS
from weald.superlearner.library import default_library

SUPER = "super learner"


def _super(kind: Kind, categorical: list[str]) -> Any:
    name = "SuperLearnerClassifier" if "classes" in kind else "SuperLearnerRegressor"
    return getattr(weald, name)(random_state=0, n_jobs=2)


def _alone(name: str) -> Any:
    """A candidate by itself, fitted to all training rows it would get."""

    def make(kind: Kind, categorical: list[str]) -> Any:
        rows = {row[0]: row[1] for row in default_library(classes="classes" in kind)}
        model = clone(rows[name])
        seeds = [key for key in model.get_params() if key.endswith("random_state")]
        return model.set_params(**dict.fromkeys(seeds, 0))

    return make


def _forest(name: str) -> Any:
    def make(kind: Kind, categorical: list[str]) -> Any:
        return getattr(sk, name + ("Classifier" if "classes" in kind else "Regressor"))(
            random_state=0, n_jobs=2
        )

    return make


def _numbers(X: Any) -> Any:
    """scikit-learn's forests take numbers only: categories as codes, missing values as they are."""
    return sets.as_numbers


def everyone(kind: Kind) -> list[Contender]:
    """All contenders for a kind of table; the first is the one in question."""
    names = [row[0] for row in default_library(classes="classes" in kind)]
    return [
        Contender(OURS, "weald", _super, label=SUPER),
        *(Contender(f"{OURS}: {name}", "weald", _alone(name)) for name in names),
        Contender("scikit-learn forest", "scikit-learn", _forest("RandomForest"), _numbers),
        Contender("scikit-learn extra-trees", "scikit-learn", _forest("ExtraTrees"), _numbers),
    ]


__all__ = ["SUPER", "everyone"]
