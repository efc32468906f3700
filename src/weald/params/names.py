"""Names that users know, where Python would show those of a base class."""

from __future__ import annotations

import copy
from types import FunctionType
from typing import Any, TypeVar

__all__ = ["own_names"]

C = TypeVar("C", bound=type)


def own_names(cls: C) -> C:
    """Give a class the public methods of weald that it inherits under its own name.

    Python names the class that defines a method when that is called with an unknown parameter, and
    a shared base class means nothing to users.

    Examples
    --------
    >>> class Shared:
    ...     __module__ = "weald.example"
    ...     def __init__(self, *, depth=1):
    ...         self.depth = depth
    >>> @own_names
    ... class Tree(Shared):
    ...     pass
    >>> Tree(width=2)
    Traceback (most recent call last):
    TypeError: Tree.__init__() got an unexpected keyword argument 'width'
    """
    seen = set(vars(cls))
    for base in cls.__mro__[1:]:
        ours = base.__module__.partition(".")[0] == "weald"
        for name, value in list(vars(base).items()):
            if name in seen or (name.startswith("_") and name != "__init__"):
                continue
            seen.add(name)
            if ours:
                _take_over(cls, name, value)
    return cls


def _take_over(cls: type, name: str, value: Any) -> None:
    """Make a method of a base class the class's own; other attributes stay where they are."""
    if isinstance(value, FunctionType):
        type.__setattr__(cls, name, _renamed(value, cls))
    elif isinstance(getattr(value, "fn", None), FunctionType):  # scikit-learn's available_if
        own = copy.copy(value)
        own.fn = _renamed(value.fn, cls)
        type.__setattr__(cls, name, own)


def _renamed(function: FunctionType, cls: type) -> FunctionType:
    own = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    own.__kwdefaults__, own.__annotations__ = function.__kwdefaults__, function.__annotations__
    own.__doc__, own.__module__ = function.__doc__, cls.__module__
    own.__dict__.update(function.__dict__)
    own.__qualname__ = f"{cls.__qualname__}.{function.__name__}"
    return own
