"""Estimators from JSON and arrays: everything is checked, since a file may come from anybody.

A class comes from the list in ``allowed`` and is never called with code. Its state goes through
the checks that a pickle's goes through (``weald.input.state``), and those of ``compiled`` and
``foreign``.
"""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from functools import cache
from inspect import Parameter, getattr_static, signature
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from weald.models import compiled, foreign
from weald.models.allowed import class_named, function_named
from weald.models.encoding import (
    MOST_NESTED,
    MOST_USES,
    PLAIN_TYPES,
    SMALL,
    may_be_item,
    text_room,
)
from weald.models.errors import ModelFileError, require

__all__ = ["Decoder", "Sketch"]

# Parts may be shared. Whoever asks all members of all members asks a shared one again and again:
# so many times as many questions as there are objects, and these more, are believed.
_SHARED, _SOME = 64, 10_000
_MOST_JOBS = 1024
# Whole numbers beyond 64 bits: thousands of them can be made to have one hash, and a dictionary of
# such numbers takes time that grows with their square.
_LONG, _MOST_LONG = 1 << 64, 4000
_ENGINE = ("Forest", "Tree")  # whose state is no attributes
_DATES = re.compile(r"<[mM]8\[(\d{1,6})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]")
_TEXT = re.compile(r"<U(\d{1,9})")
_NUMBERS = re.compile(r"\|b1|[|<][iuf][1248]")
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": -float("inf")}


class Decoder:
    """Builds the objects of a file, one after the other.

    Parameters
    ----------
    arrays : list of arrays
        Views of the file.
    values : list
        Arrays of text and of objects, as JSON.
    """

    def __init__(self, arrays: list[npt.NDArray[Any]], values: Any) -> None:
        require(isinstance(values, list), "the list of its texts")
        self.built: list[Any] = []
        self._arrays, self._values = arrays, values
        self._copies: dict[Any, npt.NDArray[Any]] = {}
        self._finite: set[int] = set()
        self._uses: dict[tuple[str, int], int] = {}
        self._expanded: list[int] = []  # parts of each object, shared ones as often as they occur
        self._heights: list[int] = []
        self._parts, self._height = 1, 0
        self._n_long = 0
        self._as_views = False

    # --- objects --------------------------------------------------------------------------------

    def build(self, entries: Any) -> Any:
        """Build all objects of a list; the last one is the model."""
        require(isinstance(entries, list) and len(entries) > 0, "the list of its objects")
        for entry in entries:
            require(isinstance(entry, dict), "an object")
            self._parts, self._height = 1, 0
            self.built.append(self._object(entry))
            self._expanded.append(self._parts)
            self._heights.append(self._height + 1)
            require(self._height < MOST_NESTED, "how its objects are nested")
            require(self._parts <= _SHARED * len(entries) + _SOME, "how its objects are shared")
        return self.built[-1]

    def _object(self, entry: dict[str, Any]) -> Any:
        if entry.keys() == {"compiled", "state"}:
            name = entry["compiled"]
            require(isinstance(name, str) and name in compiled.COMPILED, "a compiled object")
            return compiled.COMPILED[name].build(self._plain_dict(entry["state"]))
        require(entry.keys() | {"params"} == {"class", "params", "state"}, "an object")
        name = entry["class"]
        kind = class_named(name) if isinstance(name, str) else None
        if kind is None:
            raise ModelFileError(
                f"Not a valid model file: it names the class {name!r:.80}, which a model file may "
                "not hold, or which this version of a library does not have."
            )
        estimator = issubclass(kind, BaseEstimator)
        require(("params" in entry) == estimator, f"the parameters of {name}")
        self._as_views = name == "Forest"  # the engine takes its own copy
        state = self._plain_dict(entry["state"])
        self._as_views = False
        if name not in _ENGINE:
            for key in state:
                require(_may_be_set(kind, key), f"{key!r:.80} of {name}")
        if estimator:
            params = self._plain_dict(entry["params"])
            known = _parameters(kind)
            require(params.keys() <= known.keys(), f"a parameter of {name}")
            require(not params.keys() & state.keys(), f"a parameter of {name}")
            missing = [key for key in known if key not in params and known[key] is Parameter.empty]
            require(not missing, f"a parameter of {name}")
            _check_jobs({**params, **state})
            state = {**known, **params, **state}
        return _with_state(kind, state)

    def _plain_dict(self, given: Any) -> dict[str, Any]:
        require(isinstance(given, dict), "the state of an object")
        return {key: self.value(part) for key, part in given.items()}

    # --- values ---------------------------------------------------------------------------------

    def value(self, given: Any) -> Any:
        """The value that JSON stands for."""
        if type(given) is int and not -_LONG < given < _LONG:
            self._n_long += 1
            require(self._n_long <= _MOST_LONG, "its whole numbers of many digits")
        if given is None or type(given) in (bool, int, float, str):
            return given
        if type(given) is list:
            return [self.value(item) for item in given]
        [(tag, content), *more] = given.items() if given else [("", None)]
        if tag == "array":
            return self._array(content, **dict(more))
        require(not more and tag in _READERS, "a value")
        return _READERS[tag](self, content)

    def reference(self, number: Any) -> Any:
        """An object that was built before."""
        require(type(number) is int and 0 <= number < len(self.built), "a reference")
        self._parts += self._expanded[number]
        self._height = max(self._height, self._heights[number])
        # Long before memory, or patience, runs out.
        require(self._parts < 1 << 40, "how its objects are shared")
        return self.built[number]

    def _use(self, key: tuple[str, int], size: int) -> None:
        """Count the uses of an array that is not small."""
        self._uses[key] = self._uses.get(key, 0) + (size > SMALL)
        require(self._uses[key] <= 2 * MOST_USES, "how its arrays are shared")

    def _array(self, number: Any, **more: Any) -> npt.NDArray[Any]:
        require(type(number) is int and 0 <= number < len(self._arrays), "an array")
        require(more.keys() <= {"as", "order", "finite"}, "an array")
        kind, order = more.get("as"), more.get("order")
        require(order in (None, "F"), "the order of an array")
        array: Any = self._arrays[number]
        self._use(("array", number), array.nbytes)
        if more.get("finite") and number not in self._finite:
            require(array.dtype.kind == "f" and np.isfinite(array).all(), "a number")
            self._finite.add(number)
        if self._as_views and kind is None and order is None:
            view: npt.NDArray[Any] = array
            return view
        require(kind is None or isinstance(kind, str), "the type of an array")
        if (number, kind, order) not in self._copies:
            if kind is not None:
                dates = _DATES.fullmatch(kind) is not None and array.dtype == np.int64
                require(dates, "the type of an array")
                array = array.view(kind)
            copy = array.copy()
            self._copies[number, kind, order] = copy.T if order == "F" else copy
        made: npt.NDArray[Any] = self._copies[number, kind, order]
        return made

    def _text_or_objects(self, number: Any) -> npt.NDArray[Any]:
        require(type(number) is int and 0 <= number < len(self._values), "an array")
        key = ("values", number)
        if key in self._copies:
            self._use(key, self._copies[key].size * self._copies[key].itemsize)
        else:
            content, self._values[number] = self._values[number], None  # none is inside itself
            self._copies[key] = self._made(content)
        return self._copies[key]

    def _made(self, content: Any) -> npt.NDArray[Any]:
        """An array of text or of objects."""
        require(isinstance(content, dict), "an array")
        require(content.keys() == {"dtype", "shape", "items"}, "an array")
        dtype, shape, items = content["dtype"], content["shape"], content["items"]
        require(isinstance(shape, list) and len(shape) <= 8, "the shape of an array")
        require(all(type(n) is int and 0 <= n < 2**31 for n in shape), "the shape of an array")
        require(isinstance(items, list) and prod(shape) == len(items), "the shape of an array")
        longest = prod(n for n in shape if n)
        require(longest <= max(len(items), 1 << 16), "the shape of an array")
        require(isinstance(dtype, str), "the type of an array")
        if dtype == "object":
            out = np.empty(len(items), dtype=object)
            for k, item in enumerate(items):
                out[k] = self.value(item)
            require(all(map(may_be_item, out)), "an array of objects")
            return out.reshape(shape)
        width = _TEXT.fullmatch(dtype)
        require(width is not None and all(type(item) is str for item in items), "an array of text")
        assert width is not None
        room = 4 * int(width[1]) * len(items)
        require(int(width[1]) > 0 and room <= text_room(items), "an array of text")
        require(all(len(item) <= int(width[1]) for item in items), "an array of text")
        return np.array(items, dtype=dtype).reshape(shape)

    def _scalar(self, content: Any) -> Any:
        require(isinstance(content, list) and len(content) == 2, "a number")
        dtype, given = content
        require(isinstance(dtype, str), "a number")
        plain = self.value(given)
        if _DATES.fullmatch(dtype):
            require(type(plain) is int and -(2**63) <= plain < 2**63, "a date")
            return np.array(plain, dtype=np.int64).view(dtype)[()]
        if _TEXT.fullmatch(dtype):
            require(type(plain) is str, "a text")
            return np.str_(plain)
        require(_NUMBERS.fullmatch(dtype) is not None, "a number")
        kinds = {"b": (bool,), "f": (int, float)}.get(np.dtype(dtype).kind, (int,))
        require(type(plain) in kinds, "a number")
        with np.errstate(over="ignore"):
            return np.dtype(dtype).type(plain)

    def _pairs(self, content: Any) -> dict[Any, Any]:
        require(isinstance(content, list), "a dictionary")
        require(all(isinstance(pair, list) and len(pair) == 2 for pair in content), "a dictionary")
        out = {self.value(key): self.value(part) for key, part in content}
        require(len(out) == len(content), "a dictionary")
        return out

    def _tuple(self, content: Any) -> tuple[Any, ...]:
        require(isinstance(content, list), "a tuple")
        return tuple(self.value(item) for item in content)

    def _slice(self, content: Any) -> slice:
        ends = self._tuple(content)
        plain = all(end is None or type(end) in (int, str) for end in ends)
        require(len(ends) == 3 and plain, "a slice")
        return slice(*ends)

    def _function(self, name: Any) -> Any:
        found = function_named(name) if isinstance(name, str) else None
        require(found is not None, "a function")
        return found


class Sketch(Decoder):
    """Reads values without building anything: objects are told by the names of their classes."""

    def __init__(self, arrays: list[npt.NDArray[Any]], values: Any, entries: Any) -> None:
        super().__init__(arrays, values)
        require(isinstance(entries, list) and len(entries) > 0, "the list of its objects")
        self._entries = entries

    def reference(self, number: Any) -> str:
        """What an object is."""
        require(type(number) is int and 0 <= number < len(self._entries), "a reference")
        entry = self._entries[number]
        require(isinstance(entry, dict), "an object")
        return f"<{str(entry.get('class', entry.get('compiled')))[:80]}>"

    def _function(self, name: Any) -> Any:
        return f"<function {str(name)[:80]}>"


def _lookup(table: dict[str, Any], part: str) -> Any:
    def find(decoder: Decoder, content: Any) -> Any:
        require(isinstance(content, str) and content in table, part)
        return table[content]

    return find


def _dtype(text: Any) -> np.dtype[Any]:
    known = (_NUMBERS, _TEXT, _DATES)
    plain = isinstance(text, str) and (text == "|O" or any(one.fullmatch(text) for one in known))
    require(plain, "a type")
    dtype: np.dtype[Any] = np.dtype(text)
    return dtype


_READERS: dict[str, Any] = {
    "object": lambda decoder, content: decoder.reference(content),
    "tuple": lambda decoder, content: decoder._tuple(content),
    "dict": lambda decoder, content: decoder._plain_dict(content),
    "bunch": lambda decoder, content: Bunch(**decoder._plain_dict(content)),
    "pairs": lambda decoder, content: decoder._pairs(content),
    "set": lambda decoder, content: set(decoder._tuple(content)),
    "slice": lambda decoder, content: decoder._slice(content),
    "scalar": lambda decoder, content: decoder._scalar(content),
    "values": lambda decoder, content: decoder._text_or_objects(content),
    "function": lambda decoder, content: decoder._function(content),
    "float": _lookup(_FLOATS, "a number"),
    "type": _lookup(PLAIN_TYPES, "a type"),
    "dtype": lambda decoder, content: _dtype(content),
}


@cache
def _parameters(kind: Any) -> dict[str, Any]:
    """Parameters of a class with their defaults: an older file may lack some."""
    if kind.__init__ is object.__init__:
        return {}
    given = signature(kind.__init__).parameters
    return {name: given[name].default for name in kind._get_param_names()}


@cache
def _may_be_set(kind: type, name: str) -> bool:
    """Whether a name may be an attribute: it must not hide a method or what is made on demand."""
    if not name.isidentifier() or name.startswith("__"):
        return False
    found = getattr_static(kind, name, None)
    return not hasattr(type(found), "__get__")  # as functions and properties have


def _check_jobs(state: dict[str, Any]) -> None:
    """A file may not ask for a million processes."""
    jobs = state.get("n_jobs")
    if jobs is not None:
        whole = isinstance(jobs, int | np.integer) and -_MOST_JOBS <= jobs <= _MOST_JOBS
        require(whole, "n_jobs")


def _with_state(kind: Any, state: dict[str, Any]) -> Any:
    """An object as a pickle would bring it back, checked."""
    if is_dataclass(kind) and not hasattr(kind, "__setstate__"):
        made: Any = kind  # not an instance
        return made(**state)  # which checks what it is given
    new = kind.__new__(kind)
    if hasattr(new, "__setstate__"):
        new.__setstate__(state)
    else:
        new.__dict__.update(state)
    if not kind.__module__.startswith("weald"):
        foreign.finish(new)
    return new
