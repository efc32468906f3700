"""Which cases of a long list the gate takes."""

from zlib import crc32

import pytest


def some(values, one_in=2):
    """All values for ``parametrize``, most of them for `make slow` only.

    The gate takes the first, and about one in so many of the others: always the same, but in no
    order that a grid of settings could have as well.
    """
    return [
        value if i == 0 or crc32(str(i).encode()) % one_in == 0 else _slow(value)
        for i, value in enumerate(values)
    ]


def _slow(value):
    if isinstance(value, tuple) and hasattr(value, "marks"):  # a pytest.param
        return pytest.param(*value.values, id=value.id, marks=[*value.marks, pytest.mark.slow])
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)
