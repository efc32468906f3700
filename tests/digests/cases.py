"""A case: an estimator with settings and a table, by name; and the model that comes of it."""

import warnings
from dataclasses import dataclass
from inspect import signature

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import weald
from digests.data import Data, read
from digests.digest import digest
from digests.objects import OBJECTS
from stress.cases import draw_case

MOST = 150  # rows of the training table that are asked about


@dataclass(frozen=True)
class Case:
    """An estimator, a table by its name, and settings.

    Settings that begin with "@" stand for an object of :mod:`digests.objects`, those whose names
    begin with "+" are about the fit: "+val" gives rows to validate by, "+offset" an offset,
    "+warm" fits so many members first and adds the others, "+prune" prunes by new rows, "+path"
    asks for the path of pruning.
    """

    kind: str
    table: str
    settings: dict

    @property
    def name(self):
        given = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.kind} / {self.table} / {given or 'as it comes'}"

    def estimator(self, always):
        plain = {k: v for k, v in {**always, **self.settings}.items() if k[0] != "+"}
        kind = getattr(weald, self.kind)
        known = kind().get_params()
        given = {k: v for k, v in plain.items() if k in known or k in self.settings}
        return kind(**{name: look_up(value) for name, value in given.items()})

    def fit(self, always):
        """The fitted model, and what it was given."""
        model, data = self.estimator(always), read(self.table)
        known = signature(model.fit).parameters
        given = {name: value for name, value in data.fit.items() if name in known}
        if "+val" in self.settings:
            given |= {"X_val": data.X_new, "y_val": data.y_new}
        if "+offset" in self.settings:
            given["offset"] = np.linspace(-0.5, 0.5, len(data.y))
        if "+warm" in self.settings:
            more = model.n_estimators
            model.set_params(warm_start=True, n_estimators=self.settings["+warm"])
            model.fit(data.X, data.y, **given).set_params(n_estimators=more)
        model.fit(data.X, data.y, **given)
        if "+prune" in self.settings:
            model.prune(data.X_new, data.y_new)
        if "+path" in self.settings:  # is seen among its attributes
            model.path_ = dict(model.cost_complexity_pruning_path(data.X, data.y))
        return model, data


@dataclass(frozen=True)
class Drawn:
    """A case that the stress test draws from a number."""

    number: int

    @property
    def name(self):
        return f"drawn / {self.number}"

    def fit(self, always):
        case = draw_case(self.number)
        table = case.table
        rng = np.random.default_rng(self.number)
        new = table.X[rng.permutation(len(table))] if isinstance(table.X, np.ndarray) else table.X
        if isinstance(new, np.ndarray):
            new = rng.permuted(new, axis=0)
        weights = {} if table.weights is None else {"sample_weight": table.weights}
        model = case.estimator.fit(table.X, table.y, **weights)
        return model, Data(table.X, table.y, new, table.y, weights)


def look_up(value):
    """The object that a word stands for, new each time."""
    if isinstance(value, str) and value.startswith("@"):
        return clone(OBJECTS[value[1:]], safe=False)
    return value


def digest_of(case, always):
    """Fit the model of a case and take its digest; the other libraries' sums have one thread."""
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, data = case.fit(always)
        offset = "+offset" in getattr(case, "settings", {})
        inputs = [plain(data.X), data.y, plain(data.X_new), data.y_new, data.fit]
        return digest(model, head(data.X), head(data.X_new), inputs=inputs, offset=offset)


def plain(X):
    """A table as names and values."""
    if not hasattr(X, "columns"):
        return X
    frame = X.to_pandas() if hasattr(X, "to_pandas") else X
    return [list(frame.columns), frame.astype(object).where(frame.notna(), None).to_numpy()]


def head(X):
    return X.iloc[:MOST] if hasattr(X, "iloc") else X[:MOST]
