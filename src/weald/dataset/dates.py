"""Dates and times: how they are written, and the numbers they are turned into."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from weald.params.words import listed

__all__ = ["PARTS", "PATTERNS", "find_pattern", "in_words", "parse", "parts"]

Times = npt.NDArray[np.datetime64]

_CLOCK = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"


def _dates(year: str, month: str, day: str, first: str) -> re.Pattern[str]:
    """Three numbers between separators, in the order that `first` names, and perhaps a time."""
    parts = {"y": f"(?P<y>{year})", "m": f"(?P<m>{month})", "d": f"(?P<d>{day})"}
    separator = first[1]
    return re.compile(re.escape(separator).join(parts[c] for c in first if c in parts) + _CLOCK)


_Y, _N = r"\d{4}", r"\d{1,2}"
# How dates are written; where two patterns fit, the first is taken.
PATTERNS: dict[str, re.Pattern[str]] = {
    "year-month-day": _dates(_Y, _N, _N, "y-m-d"),
    "year/month/day": _dates(_Y, _N, _N, "y/m/d"),
    "day.month.year": _dates(_Y, _N, _N, "d.m.y"),
    "month/day/year": _dates(_Y, _N, _N, "m/d/y"),
    "day/month/year": _dates(_Y, _N, _N, "d/m/y"),
    "day-month-year": _dates(_Y, _N, _N, "d-m-y"),
    "yyyymmdd": re.compile(r"(?P<y>(?:18|19|20|21)\d{2})(?P<m>\d{2})(?P<d>\d{2})" + _CLOCK),
}

_DAY = np.timedelta64(1, "D")


def _hours(times: Times) -> npt.NDArray[np.float64]:
    return np.asarray((times - times.astype("datetime64[D]")) / np.timedelta64(1, "h"))


# The numbers made of a date; "days" are those since 1970, with fractions.
PARTS: dict[str, Callable[[Times], npt.NDArray[np.float64]]] = {
    "year": lambda times: times.astype("datetime64[Y]").astype(np.float64) + 1970,
    "month": lambda times: (times.astype("datetime64[M]").astype(np.int64) % 12 + 1).astype(float),
    "day": lambda times: (times.astype("datetime64[D]") - times.astype("datetime64[M]")) / _DAY + 1,
    "weekday": lambda times: ((times.astype("datetime64[D]").astype(np.int64) + 3) % 7).astype(
        float
    ),
    "hour": _hours,
    "days": lambda times: times.astype("datetime64[s]").astype(np.float64) / 86400,
}


def find_pattern(labels: Sequence[str]) -> str | None:
    """How the dates are written, if all labels are dates.

    >>> find_pattern(["2024-02-29", "2023-1-5 12:30"])
    'year-month-day'
    >>> find_pattern(["31/12/2024", "1/2/2023"])
    'day/month/year'
    >>> find_pattern(["2024", "yes"])
    """
    if not labels:
        return None
    few = labels[:100]
    return next(
        (
            name
            for name in PATTERNS
            if parse(few, name) is not None and parse(labels, name) is not None
        ),
        None,
    )


def parse(labels: Sequence[str], pattern: str) -> Times | None:
    """The times that labels name; None if one of them names none."""
    found = [PATTERNS[pattern].fullmatch(label) for label in labels]
    texts = []
    for match in found:
        if match is None:
            return None
        hour, minute, second = match.groups()[3:]
        texts.append(
            f"{match['y']}-{int(match['m']):02d}-{int(match['d']):02d}"
            f"T{int(hour or 0):02d}:{minute or '00'}:{second or '00'}"
        )
    try:
        return np.array(texts, dtype="datetime64[s]")
    except ValueError:  # a 13th month, a 30th of February
        return None


def parts(times: Times, names: Sequence[str]) -> list[npt.NDArray[np.float64]]:
    """The numbers made of times, NaN where there is none."""
    missing = np.isnat(times)
    made = []
    for name in names:
        numbers = np.asarray(PARTS[name](np.where(missing, np.datetime64(0, "s"), times)))
        made.append(np.where(missing, np.nan, numbers))
    return made


def in_words(names: Sequence[str]) -> str:
    """The parts of a date as a list of words.

    >>> in_words(["year", "month", "days"])
    'year, month and days since 1970'
    """
    words = ["days since 1970" if name == "days" else name for name in names]
    return listed(words)
