"""Names that users know, where Python would show those of a base class."""

from __future__ import annotations

from types import FunctionType
from typing import Any, TypeVar

__all__ = ["own_init"]

C = TypeVar("C", bound=type)


def own_init(cls: C) -> C:
    """Give a class the ``__init__`` it inherits under its own name.

    Python names the class that defines ``__init__`` when it is called with an unknown parameter,
    and a shared base class means nothing to users.

    Examples
    --------
    >>> class Shared:
    ...     def __init__(self, *, depth=1):
    ...         self.depth = depth
    >>> @own_init
    ... class Tree(Shared):
    ...     pass
    >>> Tree(width=2)
    Traceback (most recent call last):
    TypeError: Tree.__init__() got an unexpected keyword argument 'width'
    """
    init: Any = vars(next(base for base in cls.__mro__ if "__init__" in vars(base)))["__init__"]
    own = FunctionType(
        init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__
    )
    own.__kwdefaults__ = init.__kwdefaults__
    own.__annotations__ = init.__annotations__
    own.__doc__, own.__module__ = init.__doc__, cls.__module__
    own.__qualname__ = f"{cls.__qualname__}.__init__"
    type.__setattr__(cls, "__init__", own)
    return cls
