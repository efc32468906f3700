"""What is wrong with the values of a column, in words that say what to do.

The caller says in ``where`` how a message should call the column, for instance ``"Column 'age'"``.
"""

from __future__ import annotations

__all__ = [
    "complex_values",
    "infinite_values",
    "mixed_values",
    "nested_values",
    "odd_values",
    "time_values",
    "wide_integers",
]

# What to do with cells of such types, by the names of these, so that no library need be there.
_ADVICE = {
    "Period": "replace it by numbers such as year and month, or by text if it is a category",
    "DateOffset": "replace it by a number such as its days or seconds",
    "MonthDayNano": "replace it by a number such as its days or seconds",
    "Interval": "replace it by a number such as its middle, or by text if it is a category",
    "bytes": "decode it to text",
    **dict.fromkeys(
        ("dict", "list", "tuple", "set", "frozenset", "ndarray", "Series"),
        "make a plain column of each of its parts, or leave it out",
    ),
}


def wide_integers(where: str) -> ValueError:
    """Make the error for integers that float64 cannot hold."""
    return ValueError(
        f"{where} holds integers beyond 2**53, which float64 cannot hold exactly: scale "
        "the values, convert them to float yourself if rounding does no harm, or name the column "
        "in categorical_features if they are codes."
    )


def infinite_values(where: str) -> ValueError:
    """Make the error for infinite numbers."""
    return ValueError(
        f"{where} contains infinity or a value too large for float64: replace it by a finite "
        f"number, or {_unknown(where, 'by NaN if it is unknown')}."
    )


def mixed_values(where: str) -> ValueError:
    """Make the error for numbers among text."""
    return ValueError(
        f"{where} mixes numbers and text: convert it to numbers "
        f"({_unknown(where, 'with NaN for what is not a number')}) or to text throughout."
    )


def _unknown(where: str, advice: str) -> str:
    """What to do with unknown values: only columns of X may have some."""
    return advice if where.startswith("Column") else "leave the row out if it is unknown"


def time_values(where: str, *, length: bool = False) -> ValueError:
    """Make the error for dates and times, or for lengths of time."""
    if length:
        return ValueError(
            f"{where} holds lengths of time: replace it by numbers such as days or seconds "
            "(in pandas .dt.total_seconds())."
        )
    return ValueError(
        f"{where} holds dates or times: replace it by numbers such as year, month, weekday or the "
        "seconds since a fixed day."
    )


def odd_values(where: str, kind: type) -> TypeError:
    """Make the error for cells that are neither text nor numbers."""
    advice = _ADVICE.get(kind.__name__, "convert or remove it")
    return TypeError(
        f"{where} holds a value of type {kind.__name__!r}, but every argument must be a string, "
        f"a number or missing: {advice}."
    )


def nested_values(where: str, dtype: object) -> ValueError:
    """Make the error for columns whose type has parts."""
    return ValueError(
        f"{where} has the type {dtype}, which is neither numbers nor text: make a plain column of "
        "each of its parts, or leave it out."
    )


def complex_values(where: str) -> ValueError:
    """Make the error for complex numbers."""
    return ValueError(
        f"Complex data not supported: {where} holds complex numbers, pass real and imaginary part "
        "as two columns."
    )
