"""The library under test: weald, or scikit-learn under the same protocol."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from bench.categories import Inputs
from bench.replications.sets import as_numbers

OURS = "weald"
PEER = "scikit-learn"

HOMES = {OURS: ("weald",), PEER: ("sklearn.ensemble", "sklearn.tree")}


@dataclass(frozen=True)
class Library:
    """One library's estimators by name, with its number of threads filled in.

    Parameters
    ----------
    name : {"weald", "scikit-learn"}
        Whose classes to use; both have the same names and parameters.
    threads : int
        Threads for the classes that can use them.
    """

    name: str
    threads: int = 2

    def __call__(self, name: str, **settings: Any) -> Any:
        """Make an unfitted estimator of the class with this name."""
        for home in HOMES[self.name]:
            maker = getattr(import_module(home), name, None)
            if maker is not None:
                if "n_jobs" in inspect.signature(maker).parameters:
                    settings.setdefault("n_jobs", self.threads)
                return maker(**settings)
        raise AttributeError(f"{self.name} has no {name}")

    def inputs(self, X: Inputs) -> Inputs:
        """Inputs as the library takes them: codes for the one that knows no categories."""
        return X if self.name == OURS else as_numbers(X)

    def member_error(self, model: Any, X: Inputs, y: np.ndarray) -> float:
        """Mean error of a forest's single trees, in per cent."""
        if self.name == OURS:
            codes = model.member_predictions(X).argmax(axis=2)
        else:
            codes = np.stack([tree.predict_proba(X).argmax(axis=1) for tree in model.estimators_])
        return 100.0 * float(np.mean(model.classes_[codes] != y))

    @property
    def version(self) -> str:
        """Version of the installed package."""
        package = HOMES[self.name][0].split(".")[0]
        return str(import_module(package).__version__)


def error(model: Any, X: Inputs, y: np.ndarray) -> float:
    """Share of wrong classes in per cent."""
    return 100.0 * float(np.mean(model.predict(X) != y))


def relative_error(predicted: np.ndarray, y: np.ndarray, truth: np.ndarray) -> float:
    """Mean squared error in per cent of the variance of `truth`."""
    return 100.0 * float(np.mean((predicted - y) ** 2) / np.var(truth))
