"""The digest of a fitted model: what it predicts, its trees, and what it says about itself.

Numbers enter with all their bits (but -0.0 is 0.0, and there is one NaN), whatever is in no order
enters sorted, and nothing enters that depends on memory, time, threads or the module a class is in.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from types import FunctionType

import numpy as np
from scipy import sparse

# Names of parameters that change no model, and of attributes that are told by the trees.
NO_EFFECT = {"n_jobs", "verbose", "callbacks"}  # callbacks may remember times
IN_TREES = {"tree_", "forest_"}
TREE = (
    *("children_left", "children_right", "feature", "threshold", "missing_go_to_left"),
    *("impurity", "n_node_samples", "weighted_n_node_samples", "value"),
)
METHODS = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "apply"),
    *("member_predictions", "staged_predict", "staged_decision_function", "predict_quantiles"),
)
WHOLES = ("predictions", "trees", "attributes")
PART = 6  # hexadecimal digits that tell which part differs
WHOLE = 16


@dataclass(frozen=True)
class Digest:
    """Short hashes: of all predictions, trees and attributes, and of each by its name."""

    predictions: str
    trees: str
    attributes: str
    parts: dict

    def differences(self, other):
        """What is not the same in another digest, in words."""
        found = [
            f"{name} of {kind}"
            for kind, name in sorted({*self.parts, *other.parts})
            if self.parts.get((kind, name)) != other.parts.get((kind, name))
        ]
        named = {name.rsplit(" of ", 1)[1] for name in found}
        differ = [kind for kind in WHOLES if getattr(self, kind) != getattr(other, kind)]
        return found + [kind for kind in differ if kind not in named]


def digest(model, *tables, inputs=None, offset=False):
    """The digest of a model that was fitted, asked about the rows of some tables.

    Parameters
    ----------
    model : fitted estimator
    tables : arrays, data frames or sparse matrices
    inputs : optional
        What it was fitted to, so that a case that was changed is not taken for a changed model.
    offset : bool
        Whether to ask for predictions with an offset, too.
    """
    predictions = {}
    for name in METHODS:
        if hasattr(model, name):
            predictions[name] = [said(model, name, X) for X in tables]
    if offset:
        predictions["offset"] = [
            model.predict(X, offset=np.linspace(-1, 1, X.shape[0])) for X in tables
        ]
    for method in ("conformal", "quantile"):
        if hasattr(model, "predict_quantiles"):  # a forest
            predictions[method] = [interval(model, X, method) for X in tables]
    kinds = {
        "predictions": {name: hash_of(what) for name, what in predictions.items()},
        "trees": {"trees": hash_of(list(trees_of(model)))},
        "attributes": {name: hash_of(what) for name, what in attributes_of(model).items()},
    }
    kinds["attributes"]["parameters"] = hash_of(parameters_of(model))
    kinds["inputs"] = {"table": hash_of(inputs)}
    wholes = {kind: hash_of(kinds[kind])[:WHOLE] for kind in WHOLES}
    parts = {
        (kind, name): value[:PART]
        for kind, values in kinds.items()
        for name, value in sorted(values.items())
    }
    return Digest(**wholes, parts=parts)


def said(model, name, X):
    """What a method says, or that it refuses, as some do for some losses and members."""
    method = getattr(model, name)
    try:
        answer = method(X)
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        return type(error).__name__
    return list(answer) if name.startswith("staged") else answer


def interval(model, X, method):
    try:
        return model.predict_interval(X, 0.7, method)
    except ValueError as error:
        return type(error).__name__


# --- what a model consists of -------------------------------------------------------------------


def members_of(model):
    """The fitted members, one after another; none if it is a single tree."""
    found = getattr(model, "estimators_", ())
    for member in found:
        yield from member if isinstance(member, np.ndarray | list | tuple) else [member]


def trees_of(model):
    if hasattr(model, "tree_"):
        yield model.tree_
    for member in members_of(model):
        yield from trees_of(member)


def attributes_of(model):
    """What a fitted estimator says about itself, by name."""
    found = {}
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_") and name not in IN_TREES:
            try:
                found[name] = getattr(model, name)
            except AttributeError:  # of other settings only
                continue
    return found


def parameters_of(model):
    given = model.get_params(deep=False)
    return {name: value for name, value in given.items() if name not in NO_EFFECT}


# --- hashes -------------------------------------------------------------------------------------


def hash_of(thing):
    """A hash of numbers, text, arrays, containers and objects made of them."""
    return sha256(b"".join(pieces(thing))).hexdigest()


def pieces(thing):
    """Bytes that tell a thing from all others, whatever it is."""
    if isinstance(thing, np.generic) and not isinstance(thing, np.void):
        thing = thing.item()
    if thing is None or isinstance(thing, bool | int | str | bytes):
        yield frame(type(thing).__name__, repr(thing).encode())
    elif isinstance(thing, float):
        yield frame("float", bits(np.array(thing)))
    elif isinstance(thing, np.ndarray):
        yield from pieces_of_array(thing)
    elif isinstance(thing, Mapping):
        pairs = sorted((hash_of(key), hash_of(value)) for key, value in thing.items())
        yield frame("dict", repr(pairs).encode())
    elif isinstance(thing, Set):
        yield frame("set", repr(sorted(map(hash_of, thing))).encode())
    elif sparse.issparse(thing):
        rows = sparse.csr_array(thing)
        rows.sort_indices()
        yield frame("sparse", hash_of([rows.shape, rows.data, rows.indices, rows.indptr]).encode())
    elif isinstance(thing, Sequence):
        yield frame("list", repr([hash_of(item) for item in thing]).encode())
    elif isinstance(thing, type | FunctionType):
        yield frame("name", thing.__name__.encode())
    else:
        yield frame(type(thing).__name__, hash_of(contents(thing)).encode())


def frame(kind, content):
    return f"{kind} {len(content)} ".encode() + content


def bits(array):
    """The bytes of floating numbers, of which there is one zero and one NaN."""
    plain = np.ascontiguousarray(array) + np.zeros((), dtype=array.dtype)
    return np.where(np.isnan(plain), np.array(np.nan, dtype=plain.dtype), plain).tobytes()


def pieces_of_array(array):
    kind, shape = array.dtype.kind, list(array.shape)
    if kind in "OUT":
        yield frame("objects", repr([shape, [hash_of(v) for v in array.ravel().tolist()]]).encode())
    elif kind in "biuf":
        content = bits(array) if kind == "f" else np.ascontiguousarray(array).tobytes()
        yield frame(f"{array.dtype.str} {shape}", content)
    else:
        raise TypeError(f"No digest of arrays of {array.dtype}.")


def contents(thing):
    """What an object consists of: a tree, an estimator, a loss, a record."""
    if hasattr(thing, "children_left"):
        arrays = {name: np.asarray(getattr(thing, name)) for name in TREE}
        if hasattr(thing, "left_categories"):
            nodes = np.flatnonzero(thing.is_categorical)
            arrays["sets"] = [thing.left_categories(node) for node in nodes.tolist()]
            arrays["n_categories"] = thing.n_categories
        return arrays
    if hasattr(thing, "get_params"):
        return {"parameters": parameters_of(thing), **attributes_of(thing)}
    if not hasattr(thing, "__dict__"):
        raise TypeError(f"No digest of a {type(thing).__name__}.")
    return {name: value for name, value in vars(thing).items() if not name.startswith("_")}
