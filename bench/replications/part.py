"""What a replication is: a measurement that a library runs, and the section it fills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.replications.library import Library

Result = dict[str, Any]
"""What one library measured: plain numbers, lists and dicts, as kept in results.json."""


@dataclass(frozen=True)
class Part:
    """One replication.

    Parameters
    ----------
    name : str
        Its key in results.json, matched by `--only`.
    title : str
        Heading of its section.
    measure : callable
        Runs the experiment: takes the library and whether to be quick.
    section : callable
        Writes the text and the tables: takes the results by library, ours among them.
    """

    name: str
    title: str
    measure: Callable[[Library, bool], Result]
    section: Callable[[dict[str, Result]], str]


def say(text: str) -> None:
    """Report progress on the terminal."""
    print(f"  {text}", flush=True)
