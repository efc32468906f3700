"""Libraries as contenders: what a job asks of them, and how they get and judge the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from bench.categories import Converter, Inputs, categorical
from bench.data import Data
from bench.task import Contender

Kind: TypeAlias = Literal["classes", "numbers"]

TREES = 100


@dataclass(frozen=True)
class Job:
    """What is to be fitted: the kind of target, with how many threads, trees, and categories.

    Also how many outputs the target has, and how many columns a forest tries at each node.
    """

    kind: Kind = "classes"
    threads: int = 2
    trees: int = TREES
    categorical: tuple[str, ...] = ()
    outputs: int = 1
    columns: float | str = "sqrt"

    @property
    def estimator(self) -> str:
        """How the name of an estimator for this job ends."""
        return "Classifier" if self.kind == "classes" else "Regressor"


Predictor: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""From rows to numbers, or to class shares: of all classes or of the second alone."""


def same(X: Inputs) -> Inputs:
    """Change nothing."""
    return X


@dataclass(frozen=True)
class Library:
    """A peer: how its estimator is made, how inputs get into its form, and its fastest prediction.

    Parameters
    ----------
    make : callable
        Makes an unfitted estimator for a job.
    prepare : callable
        From training inputs to a converter of inputs; its time does not count.
    predictor : callable
        From a fitted estimator and a number of threads to the fastest call that the library
        documents.
    layout : callable
        From training inputs in its form to the order in memory that it likes best; untimed too.
    """

    make: Callable[[Job], Any]
    prepare: Callable[[Inputs], Converter]
    predictor: Callable[[Any, int], Predictor]
    layout: Converter = same


class Judged:
    """A fitted model that takes rows in the form of the data, whatever its library's form is."""

    def __init__(self, library: str, model: Any, convert: Converter) -> None:
        self.library = library
        self.model = model
        self.convert = convert
        self.classes_ = getattr(model, "classes_", None)

    def predict(self, X: Inputs) -> np.ndarray:
        """Predict classes or numbers; one column of either."""
        return np.ravel(self.model.predict(self.convert(X)))

    def predict_proba(self, X: Inputs) -> np.ndarray:
        """Shares of the classes, in double precision."""
        return np.asarray(self.model.predict_proba(self.convert(X)), dtype=np.float64)


def fitting(name: str, library: Library, job: Job, rounds: int | None = None) -> Contender:
    """Take part by fitting a library's model; its form of the rows is made beforehand."""

    def fit(job: Job, X: Inputs, data: Data) -> Any:
        model = library.make(replace(job, categorical=tuple(categorical(data.X))))
        if data.weight is None:
            return model.fit(X, data.y)
        return model.fit(X, data.y, sample_weight=data.weight)

    def prepare(data: Data) -> tuple[Inputs, Converter]:
        convert = library.prepare(data.X)
        few = data.few(500)
        # This loads what is loaded late.
        fit(replace(job, trees=1), library.layout(convert(few.X)), few)
        return library.layout(convert(data.X)), convert

    def run(data: Data, state: tuple[Inputs, Converter]) -> Judged:
        X, convert = state
        return Judged(name, fit(job, X, data), convert)

    return Contender(name, run, prepare, threads=job.threads, rounds=rounds)
