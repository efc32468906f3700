"""What is wrong with the values of a column, in words that say what to do.

The caller says in ``where`` how a message should call the column, for instance ``"Column 'age'"``.
"""

from __future__ import annotations

__all__ = ["complex_values", "infinite_values", "mixed_values", "time_values", "wide_integers"]


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


def time_values(where: str) -> ValueError:
    """Make the error for dates and times."""
    return ValueError(
        f"{where} holds dates or times: replace it by numbers such as year, month, weekday or the "
        "seconds since a fixed day."
    )


def complex_values(where: str) -> ValueError:
    """Make the error for complex numbers."""
    return ValueError(
        f"Complex data not supported: {where} holds complex numbers, pass real and imaginary part "
        "as two columns."
    )
