"""Libraries that are not needed to fit models, and how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["axes_or_new", "import_extra"]

# What to install, by the library: an extra of weald.
_EXTRAS = {"matplotlib": "plot", "pandas": "pandas", "pyarrow": "arrow"}


def import_extra(module: str, what: str, kind: type[Exception] = ImportError) -> Any:
    """Import a module of an optional library.

    Parameters
    ----------
    module : str
        Such as "matplotlib.pyplot".
    what : str
        What needs it, for the message.
    kind : class
        Of the error if it is missing, which says what extra of weald to install.
    """
    library = module.split(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise kind(
            f"{what} needs {library}; install it with: pip install weald[{_EXTRAS[library]}]"
        ) from error


def axes_or_new(ax: Any, what: str, size: tuple[float, float]) -> Any:
    """The given axes of matplotlib or, for None, those of a new figure.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    what : str
        What needs them, for the message if matplotlib is missing.
    size : pair of float
        Width and height of the new figure, in inches.
    """
    if ax is not None:
        return ax
    plt = import_extra("matplotlib.pyplot", what)
    return plt.subplots(figsize=size, layout="constrained")[1]
