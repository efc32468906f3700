"""Fitted models, and copies of them in which one piece of the state is damaged.

Run as a script it damages models one way after another and says what came of it, so that a crash or
an endless loop takes this process down and not the tests:
``python damage.py MODELS SEED FIRST STEP BEGIN``.
"""

import copy
import json
import pickle
import random
import signal
import sys
import warnings
from pathlib import Path

import numpy as np

SECONDS = 20  # for one damaged model


def pieces(thing, path=()):
    """The paths to all plain values and arrays in the state of a thing."""
    parts = parts_of(thing)
    if parts is None:
        yield path
        return
    for key, part in parts:
        yield from pieces(part, (*path, key))


def parts_of(thing):
    if isinstance(thing, dict):
        return list(thing.items())
    if isinstance(thing, list | tuple):
        return list(enumerate(thing))
    if type(thing).__module__.startswith("weald") and not callable(thing):
        state = thing.__getstate__()
        if isinstance(state, dict):
            given = thing.get_params(deep=False) if hasattr(thing, "get_params") else {}
            return [(k, v) for k, v in state.items() if k not in given and k != "_sklearn_version"]
    return None


def value_at(thing, path):
    for key in path:
        thing = dict(parts_of(thing))[key]
    return thing


def rebuilt(thing, path, value):
    """The thing as a pickle would bring it back, with another value at the path."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(thing, dict):
        return {k: rebuilt(v, rest, value) if k == key else v for k, v in thing.items()}
    if isinstance(thing, list | tuple):
        return type(thing)(rebuilt(v, rest, value) if i == key else v for i, v in enumerate(thing))
    state = dict(thing.__getstate__())
    state[key] = rebuilt(state[key], rest, value)
    new = type(thing).__new__(type(thing))
    state = pickle.loads(pickle.dumps(state))
    if hasattr(new, "__setstate__"):
        new.__setstate__(state)
    else:
        new.__dict__.update(state)
    return new


def damaged(value, rng):
    """Other values to stand in the place of one: each with its name."""
    if isinstance(value, np.ndarray):
        return damaged_array(value, rng)
    if isinstance(value, bool):
        return [("other", not value), ("text", "no"), ("none", None)]
    if isinstance(value, int | float):
        wrong = [
            -1,
            0,
            2**40,
            2**70,
            float("nan"),
            float("inf"),
            -float("inf"),
            "1",
            None,
            value + 1,
        ]
        return [(repr(other), other) for other in wrong]
    if isinstance(value, str):
        return [("text", "nonsense"), ("number", 3), ("none", None)]
    if value is None:
        return [("number", 3), ("array", np.arange(3.0)), ("text", "x")]
    return [("none", None), ("number", 7)]


def damaged_array(array, rng):
    out = [
        ("none", None),
        ("list", array.tolist()),
        ("empty", array[:0]),
        ("flat", array.reshape(-1)[:, None]),
        ("longer", np.concatenate([array, array[-1:]])),
        ("floats", array.astype(float) + 0.25)
        if array.dtype.kind in "iu"
        else ("texts", array.astype(str)),
        ("narrow", array.astype(np.int8) if array.dtype.kind in "iuf" else array.astype(object)),
    ]
    if not array.size:
        return [*out, ("grown", np.ones(3, dtype=array.dtype))]
    out += [("shorter", array[:-1]), ("reversed", array[::-1].copy())]
    wrong = [0, 1, -1]
    wrong += [np.nan, np.inf, -np.inf, 1e200, -1e200] if array.dtype.kind == "f" else []
    if array.dtype.kind in "iu":
        most = np.iinfo(array.dtype)
        wrong += [most.max, most.min, most.max // 2, 2**31, 2**32]
    for other in wrong if array.dtype.kind in "iuf" else []:
        whole = array.copy()
        at = rng.randrange(whole.size)
        with np.errstate(all="ignore"):
            whole.reshape(-1)[at] = np.array(other).astype(array.dtype)
        out.append((f"{other} at {at}", whole))
    if array.dtype == np.uint64:  # the nodes of a forest: number, head and next of one of them
        numbers = [np.nan, np.inf, -np.inf, -1.0, 1e300]
        for bits in [*np.array(numbers).view(np.uint64), 1 << 63, 4, 2, (1 << 34) - 1, 7 << 32]:
            whole = array.copy()
            at = rng.randrange(whole.size)
            whole[at] = np.uint64(bits)
            out.append((f"bits {int(bits):x} at {at}", whole))
    if array.ndim and len(array) > 1:
        a, b = rng.sample(range(len(array)), 2)
        whole = array.copy()
        whole[[a, b]] = whole[[b, a]]
        out.append((f"{a} and {b} swapped", whole))
    return out


def wounds(models, seed):
    """All ways to damage the models: (model, path, name, value)."""
    rng = random.Random(seed)
    for name, (model, _) in models.items():
        state = dict(parts_of(model))
        for path in pieces(state):
            for what, value in damaged(value_at(state, path), rng):
                yield name, path, what, value


def numbers_of(said):
    said = np.asarray(said)
    return said if said.dtype.kind in "fiub" else np.zeros(0)


def use(model, X):
    """Ask a model whatever it can tell; its numbers must be finite."""
    said = [model.predict(X)]
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            answer = getattr(model, method)(X)
            said += answer if isinstance(answer, list) else [answer]
    for name in ("feature_importances_", "estimators_samples_", "in_bag_"):
        getattr(model, name, None)
    members = getattr(model, "estimators_", None)
    if members is not None and len(members):
        first = members[0].flat[0] if isinstance(members[0], np.ndarray) else members[0]
        first.predict(X)
    if any(len(part) != len(X) for part in said):
        return "another number of rows"
    if not all(np.isfinite(numbers_of(part)).all() for part in said):
        return "numbers that are not finite"
    return "works"


def try_out(model, path, value, X):
    try:
        return use(rebuilt(model, path, copy.deepcopy(value)), X)
    except (ValueError, TypeError) as error:
        text = str(error)
        return "refused" if text and "\n" not in text else f"unclear: {text!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main(models_file, seed, first, step, begin=0):
    models = pickle.loads(Path(models_file).read_bytes())
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for k, (name, path, what, value) in enumerate(wounds(models, seed)):
        if k < begin or k % step != first % step:
            continue
        model, X = models[name]
        case = [k, name, ".".join(map(str, path)), what]
        print(json.dumps(case), flush=True)
        signal.alarm(SECONDS)
        outcome = try_out(model, path, value, X)
        signal.alarm(0)
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
