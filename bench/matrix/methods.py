"""The methods of the matrix: our estimators, their peers, and the size of their models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, cast

from sklearn import ensemble, tree

import weald
from bench.categories import as_they_are, codes, sparse_by_columns
from bench.matrix.tables import Table
from bench.matrix.targets import Target
from bench.task import OURS
from bench.tasks.boosters import PEERS
from bench.tasks.boosting import LIBRARIES, our_predictor
from bench.tasks.libraries import Job, Library, Predictor

SKLEARN = "scikit-learn"
BOOSTERS = ("LightGBM", "XGBoost", "CatBoost", "scikit-learn HGB")


@dataclass(frozen=True)
class Method:
    """One method.

    Parameters
    ----------
    name : str
        Name within the name of a cell.
    libraries : mapping
        Ours and the peers, by name.
    size : callable
        Trees or rounds for a target and a table.
    loss : {"error", "log loss"}
        What is compared of models of classes; models of numbers have their RMSE.
    """

    name: str
    libraries: Mapping[str, Library]
    size: Callable[[Target, Table], int]
    loss: str = "error"


Settings = Callable[[ModuleType, Job], dict[str, Any]]
"""The parameters beside seed and threads, from the module of the estimator and the job."""


def alone(module: ModuleType, job: Job) -> dict[str, Any]:
    """A fully grown tree has none."""
    return {}


def forest(module: ModuleType, job: Job) -> dict[str, Any]:
    """Fully grown trees that try a part of the columns at each node."""
    return {"n_estimators": job.trees, "max_features": job.columns}


def bags(module: ModuleType, job: Job) -> dict[str, Any]:
    """Fully grown trees that try all columns."""
    return {"n_estimators": job.trees}


def shallow(module: ModuleType, job: Job) -> dict[str, Any]:
    """Trees of depth 3; ours over 255 bins, as our AdaBoost has them by default."""
    if module is weald:
        member = getattr(weald, f"DecisionTree{job.estimator}")(max_depth=3, max_bins=255)
    else:
        member = getattr(tree, f"DecisionTree{job.estimator}")(max_depth=3)
    return {"n_estimators": job.trees, "estimator": member}


def sklearn_predictor(model: Any, threads: int) -> Predictor:
    """Ask the estimator, which keeps its number of threads."""
    return cast(Predictor, getattr(model, "predict_proba", model.predict))


def make(module: ModuleType, name: str, settings: Settings, job: Job) -> Any:
    """An estimator of this name; the ones of scikit-learn that know no threads get none."""
    maker = getattr(module, f"{name}{job.estimator}")
    given = {"random_state": 0, "n_jobs": job.threads, **settings(module, job)}
    known = maker._get_param_names()
    return maker(**{name: value for name, value in given.items() if name in known})


def pair(name: str, settings: Settings, peers: ModuleType = ensemble) -> dict[str, Library]:
    """Our estimator of a name and scikit-learn's."""
    ours = Library(partial(make, weald, name, settings), as_they_are, our_predictor)
    theirs = partial(make, peers, name, settings)
    return {OURS: ours, SKLEARN: Library(theirs, codes, sklearn_predictor, sparse_by_columns)}


def one(target: Target, table: Table) -> int:
    """One tree."""
    return 1


def all_trees(target: Target, table: Table) -> int:
    """As many as by default."""
    return 100


def fewer_trees(target: Target, table: Table) -> int:
    """Those of the table, since every column is tried."""
    return table.trees


def rounds(target: Target, table: Table) -> int:
    """The rounds of gradient boosting."""
    return max(2, table.rounds // target.fewer)


METHODS = (
    Method("tree", pair("DecisionTree", alone, tree), one),
    Method("forest", pair("RandomForest", forest), all_trees),
    Method("extra-trees", pair("ExtraTrees", forest), all_trees),
    Method("bagging", pair("Bagging", bags), fewer_trees),
    Method("AdaBoost", pair("AdaBoost", shallow), fewer_trees),
    Method(
        "boosting",
        {OURS: LIBRARIES[OURS], **{name: PEERS[name] for name in BOOSTERS}},
        rounds,
        loss="log loss",
    ),
)
