"""A fitted estimator as JSON and arrays.

Every object, an estimator or a part of one, is an entry of a list, and refers to others by their
numbers, which are smaller than its own: so a file can hold what is shared once, and no circles.
All else is a JSON value: itself, or an object with one key that says what it is
(docs/model-files.md has the table).
"""

from __future__ import annotations

import types
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cached_property
from inspect import getattr_static
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from weald.models import compiled, foreign
from weald.models.allowed import name_of_class, name_of_function
from weald.models.container import STORED_DTYPES
from weald.models.errors import ModelFileError

__all__ = [
    "MOST_NESTED",
    "MOST_USES",
    "PLAIN_TYPES",
    "SMALL",
    "Encoder",
    "may_be_item",
    "text_room",
]

MOST_NESTED = 100  # objects and lists inside each other
# An array of more than so many bytes is used so many times; then it is stored again. A reader would
# not believe more: a thousand trees of the same million points take long to build.
SMALL, MOST_USES = 1024, 16
# Types that are parameters, such as the dtype of an encoder.
PLAIN_TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, float, int, object, str)},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in [
            "float16",
            "float32",
            "float64",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "bool_",
            # For a selector of columns by their types.
            "number",
            "integer",
            "floating",
            "object_",
            "str_",
            "datetime64",
            "timedelta64",
        ]
    },
}
_TYPE_NAMES = {kind: name for name, kind in PLAIN_TYPES.items()}
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc, type)


class Encoder:
    """Collects the objects and arrays of a model.

    Attributes
    ----------
    objects : list of dict
    arrays : list of arrays
        In C order, of types that the container knows.
    values : list of dict
        Arrays of text and of objects.
    alive : list
        Objects and arrays that were stored, kept so that no id is used twice.
    """

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[npt.NDArray[Any]] = []
        self.values: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}
        self._array_numbers: dict[int, tuple[int, dict[str, Any]]] = {}
        self.alive: list[Any] = []
        self._open: set[int] = set()
        self._path: list[str] = []

    # --- values ---------------------------------------------------------------------------------

    def value(self, thing: Any) -> Any:
        """A value as JSON."""
        kind = type(thing)
        if thing is None or kind in (bool, int, str):
            return thing
        if kind is float:
            return thing if isfinite(thing) else {"float": repr(thing)}
        if kind is list:
            return self._items(thing)
        if kind is tuple:
            return {"tuple": self._items(thing)}
        if kind is np.ndarray:
            return self.array(thing)
        if isinstance(thing, np.generic):
            return self._scalar(thing)
        if kind in (dict, Bunch):
            return self._dict(thing)
        if kind in (set, frozenset):
            return {"set": sorted(self._items(thing), key=repr)}
        if kind is slice:
            return {"slice": self._items((thing.start, thing.stop, thing.step))}
        if kind is type and thing in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[thing]}
        if isinstance(thing, np.dtype) and thing.kind in "biufmMUO":
            return {"dtype": thing.newbyteorder("<").str}
        name = name_of_function(thing) if callable(thing) else None
        return {"object": self.object(thing)} if name is None else {"function": name}

    def _items(self, things: Any) -> list[Any]:
        with self._inside(things, "[...]"):
            return [self.value(thing) for thing in things]

    def _dict(self, things: dict[Any, Any]) -> dict[str, Any]:
        kind = "bunch" if type(things) is Bunch else "dict"
        if all(type(key) is str for key in things):
            out: Any = {}
            for key, thing in things.items():
                with self._inside(things, f"[{key!r}]"):
                    out[key] = self.value(thing)
            return {kind: out}
        with self._inside(things, "[...]"):
            return {"pairs": [[self.value(k), self.value(v)] for k, v in things.items()]}

    def _scalar(self, thing: Any) -> dict[str, Any]:
        if thing.dtype.kind in "mM":
            return {"scalar": [thing.dtype.str, int(thing.astype(np.int64))]}
        plain = thing.item()
        if type(plain) not in (bool, int, float, str):
            raise self._refusal(f"a number of type {thing.dtype}", "use float64 instead")
        return {"scalar": [thing.dtype.str, self.value(plain)]}

    def array(self, array: npt.NDArray[Any]) -> dict[str, Any]:
        """An array as a reference; the same array is stored once."""
        uses, known = self._array_numbers.get(id(array), (MOST_USES, {}))
        if uses == MOST_USES:
            uses, known = 0, self._stored(array)
            self.alive.append(array)
        small = array.size * array.itemsize <= SMALL
        self._array_numbers[id(array)] = (uses if small else uses + 1), known
        return known

    def _stored(self, array: npt.NDArray[Any]) -> dict[str, Any]:
        kind = array.dtype.kind
        if kind in "UO":
            items = array.ravel().tolist()
            if kind == "U" and array.nbytes > text_room(items):
                array = np.asarray(items, dtype=str).reshape(array.shape)
                if array.nbytes > text_room(items):
                    raise self._refusal(
                        "text of very different lengths in one array", "use dtype=object"
                    )
            dtype = "object" if kind == "O" else array.dtype.newbyteorder("<").str
            values = self._items(items)
            if not all(map(may_be_item, items)):
                raise self._refusal("an array of lists or of other objects", "use text instead")
            self.values.append({"dtype": dtype, "shape": list(array.shape), "items": values})
            return {"values": len(self.values) - 1}
        out: dict[str, Any] = {"array": len(self.arrays)}
        if kind in "mM":
            out["as"], array = array.dtype.str, array.view(np.int64)
        if kind == "f" and np.isfinite(array).all():
            out["finite"] = True
        # Sums over rows or columns may differ in their last bits with the order in memory.
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            out["order"], array = "F", array.T
        plain = np.ascontiguousarray(array).reshape(array.shape)
        little = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        if little.dtype.str not in STORED_DTYPES:
            raise self._refusal(f"an array of type {array.dtype}", "use numbers or text instead")
        self.arrays.append(little)
        return out

    # --- objects --------------------------------------------------------------------------------

    def object(self, thing: Any) -> int:
        """The number of an object in the list."""
        if id(thing) not in self._numbers:
            entry = self._entry(thing)
            self._numbers[id(thing)] = len(self.objects)
            self.objects.append(entry)
            self.alive.append(thing)
        return self._numbers[id(thing)]

    def _entry(self, thing: Any) -> dict[str, Any]:
        sort = compiled.compiled_of(thing)
        if sort is not None:
            parts = compiled.COMPILED[sort].plain(thing)
            return {"compiled": sort, "state": self._attributes(thing, parts)}
        kind: Any = type(thing)
        name = name_of_class(kind)
        if name is None:
            raise self._refused(thing)
        state = dict(thing.__getstate__() or {})
        made = (*foreign.left_out(kind), *(k for k in state if _is_made_again(kind, k)))
        state = {key: part for key, part in state.items() if key not in made}
        entry: dict[str, Any] = {"class": name}
        if issubclass(kind, BaseEstimator):
            given = [key for key in kind._get_param_names() if key in state]
            params = {key: state.pop(key) for key in given}
            entry["params"] = self._attributes(thing, params)
        entry["state"] = self._attributes(thing, state)
        return entry

    def _attributes(self, thing: Any, state: dict[str, Any]) -> dict[str, Any]:
        out = {}
        for key, part in state.items():
            with self._inside(thing, f".{key}" if self._path else f"{type(thing).__name__}.{key}"):
                out[key] = self.value(part)
        return out

    @contextmanager
    def _inside(self, thing: Any, step: str) -> Any:
        """While the parts of a thing are stored."""
        if id(thing) in self._open:
            raise self._refusal("something that contains itself", "it cannot be stored")
        if len(self._path) > MOST_NESTED:
            raise self._refusal("a part nested too deeply", "nest fewer models in each other")
        self._open.add(id(thing))
        self._path.append(step)
        yield
        self._path.pop()
        self._open.discard(id(thing))

    # --- refusals -------------------------------------------------------------------------------

    def _refusal(self, what: str, advice: str) -> ModelFileError:
        where = "".join(self._path) or "the model"
        return ModelFileError(f"Cannot save {where}: it is {what}; {advice}.")

    def _refused(self, thing: Any) -> ModelFileError:
        kind = type(thing)
        if isinstance(thing, np.random.RandomState | np.random.Generator):
            return self._refusal("a random generator", "give random_state as an int")
        if isinstance(thing, _CODE):
            name = getattr(thing, "__name__", kind.__name__)
            return self._refusal(
                f"code ({name}), and a model file holds data only",
                "set it to None if predictions do not need it, else use pickle",
            )
        if kind.__name__ == "OwnLoss" or hasattr(thing, "gradient"):
            return self._refusal(
                "a loss of your own, which is code", "use a loss of weald.losses, or pickle"
            )
        return self._refusal(
            f"of the class {kind.__module__}.{kind.__qualname__}, which is not among those that "
            "can be stored as plain data",
            "use one of those that docs/model-files.md lists, or pickle",
        )


def _is_made_again(kind: Any, name: str) -> bool:
    """Whether an attribute is made on demand, or of the other fields of a dataclass."""
    if is_dataclass(kind) and any(one.name == name and not one.init for one in fields(kind)):
        return True
    return isinstance(getattr_static(kind, name, None), cached_property)


def may_be_item(item: Any) -> bool:
    """Whether something may stand in an array of objects."""
    if isinstance(item, np.ndarray):  # as in the bins of columns
        return bool(item.dtype != object)
    return item is None or isinstance(item, bool | int | float | str | np.generic)


def text_room(items: list[Any]) -> int:
    """Most bytes of an array with such texts, each of which takes the room of the longest."""
    return (1 << 16) + 64 * sum(len(item) + 3 for item in items)
